// Large lists of a report, kept compressed until they are needed.

/**
 * A list, or what html_page.py packed ({packed: [base64, ...], size, length}). A chunk is unpacked once, when needed.
 * @returns {{length: number, at: (i: number) => Promise<any>, all: () => Promise<any[]>}}
 */
export function entries(list) {
  if (list === null || list === undefined) return entries([]);
  if (Array.isArray(list)) return { length: list.length, at: async (i) => list[i], all: async () => list };
  const kept = new Map();
  const chunk = (k) => {
    if (!kept.has(k)) kept.set(k, unpack(list.packed[k]));
    return kept.get(k);
  };
  return {
    length: list.length,
    at: async (i) => (await chunk(Math.floor(i / list.size)))[i % list.size],
    // One chunk after the other, so that the page stays responsive.
    all: async () => {
      const found = [];
      for (let k = 0; k < list.packed.length; k++) found.push(...(await chunk(k)));
      return found;
    },
  };
}

async function unpack(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
