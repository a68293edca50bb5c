// Requests to the server of this page. What it refuses is an Error whose message is what to do.

export async function get(path, parameters = {}) {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== null && value !== undefined));
  return parsed(await fetch(`/api/${path}?${query}`));
}

export async function post(path, body = {}) {
  const headers = { "Content-Type": "application/json" };
  return parsed(await fetch(`/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) }));
}

async function parsed(response) {
  const text = await response.text();
  let body = null;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Error(response.status === 403 ? text : `The studio failed (${response.status}); its terminal shows why.`);
  }
  if (response.ok) return body;
  throw Object.assign(new Error(body.error), { cancelled: Boolean(body.cancelled) });
}

/** Calls back with every event of the server: progress of long work, its end, and changes. */
export function listen(onEvent) {
  const source = new EventSource("/api/events");
  source.onmessage = (event) => onEvent(JSON.parse(event.data));
  source.onerror = () => onEvent({ event: "lost" });
  source.onopen = () => onEvent({ event: "open" });
}
