// Large parts of a report, which a page keeps compressed until they are looked at.
//
// Comes in: a list, or what html.py made of one ({packed: [base64, ...], size}). Goes out: verbs that find entries.
// Always holds: a part is unpacked once, and only the chunk that holds the entry.

/** @returns {{length: number, at: (i: number) => Promise<any>, all: () => Promise<any[]>}} */
export function entries(part) {
  if (part === null || part === undefined) return entries([]);
  if (Array.isArray(part)) return { length: part.length, at: async (i) => part[i], all: async () => part };
  const kept = new Map();
  const chunk = (k) => {
    if (!kept.has(k)) kept.set(k, unpack(part.packed[k]));
    return kept.get(k);
  };
  return {
    length: part.length,
    at: async (i) => (await chunk(Math.floor(i / part.size)))[i % part.size],
    // One chunk after the other, so that the page goes on meanwhile.
    all: async () => {
      const found = [];
      for (let k = 0; k < part.packed.length; k++) found.push(...(await chunk(k)));
      return found;
    },
  };
}

async function unpack(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}
