// Requests to the server of this page. What it refuses is an Error whose message says what to do.

export async function get(path, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined));
  return answer(await fetch(`/api/${path}?${query}`));
}

export async function post(path, body = {}) {
  const headers = { "Content-Type": "application/json" };
  return answer(await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function answer(response) {
  const text = await response.text();
  let told = null;
  try {
    told = JSON.parse(text);
  } catch {
    throw new Error(response.status === 403 ? text : `The studio failed (${response.status}); its terminal says why.`);
  }
  if (response.ok) return told;
  throw Object.assign(new Error(told.error), { cancelled: Boolean(told.cancelled) });
}

/** Calls back with every event of the server: progress of long work, its end, and changes. */
export function listen(told) {
  const source = new EventSource("/api/events");
  source.onmessage = (event) => told(JSON.parse(event.data));
  source.onerror = () => told({ event: "lost" });
  source.onopen = () => told({ event: "open" });
}
