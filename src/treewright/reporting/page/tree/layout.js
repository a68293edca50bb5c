// Where cards stand: a tidy tree of what is expanded, and which nodes to expand at first. Linear in the number of
// visible nodes, without recursion; siblings never overlap, a parent stands in the middle of its children.

/** Sizes of a card in pixels; `label` is the height of the condition above it. */
const PLAIN_CARD = { width: 184, height: 48, label: 18 };
const HISTOGRAM_CARD = { width: 184, height: 84, label: 18 };

const GAPS = {
  right: { breadth: 12, depth: 56 },
  down: { breadth: 18, depth: 52 },
  outline: { breadth: 10, depth: -156 },
};

/** What a map leaves free around it. */
const EDGE = 24;
/** Views narrower than this show an outline: cards below each other, indented by depth. */
const NARROW = 560;
/** The smallest scale at which the text of a card, 12 pixels and more, is readable. */
export const READABLE = 0.875;
/** A tree of at most so many nodes is shown as a whole, even where that takes more room than the view has. */
const SMALL = 31;

export function cardSize(histograms) {
  return histograms ? HISTOGRAM_CARD : PLAIN_CARD;
}

/**
 * @param {{width: number, height: number, label: number}} card its size
 * @param {"right"|"down"|"outline"} orientation
 * @returns {{order: number[], x: Float64Array, y: Float64Array, w: function, h: function, above: Int32Array,
 *   place: Map<number, number>, width: number, height: number, orientation: string, card: object}} `order`: the visible
 *   nodes, a parent before its children; x, y, w, h and `above` (the parent's place) go by the place in it.
 */
export function layout(model, cut, expanded, orientation, card) {
  const order = [];
  const stack = [0];
  while (stack.length) {
    const node = stack.pop();
    order.push(node);
    if (cut.leaf[node] || !expanded.has(node)) continue;
    const children = model.children(node);
    for (let c = children.length - 1; c >= 0; c--) stack.push(children[c]);
  }
  const place = new Map(order.map((node, i) => [node, i]));
  const gap = GAPS[orientation];
  const right = orientation !== "down";
  const breadth = orientation === "outline" ? order.map((_, i) => i) : middles(model, order, place);
  const step = right ? card.height + card.label + gap.breadth : card.width + gap.breadth;
  const deep = right ? card.width + gap.depth : card.height + card.label + gap.depth;
  const x = new Float64Array(order.length);
  const y = new Float64Array(order.length);
  let width = 0;
  let height = 0;
  order.forEach((node, i) => {
    const along = breadth[i] * step;
    const down = model.depth[node] * deep;
    x[i] = right ? down : along;
    y[i] = (right ? along : down) + card.label;
    width = Math.max(width, x[i] + card.width);
    height = Math.max(height, y[i] + card.height);
  });
  const above = Int32Array.from(order, (node) => (node > 0 ? place.get(model.nodes.parent[node]) : 0));
  return { order, x, y, w: () => card.width, h: () => card.height, place, above, width, height, orientation, card };
}

/** The whole tree as a map of its rows: a column per depth, a node as tall as its weight. It fills the view. */
export function mapLayout(model, cut, view) {
  const order = [];
  let deepest = 0;
  for (let i = 0; i < model.n; i++) {
    if (cut.leaf[i] > 1) continue;
    order.push(i);
    deepest = Math.max(deepest, model.depth[i]);
  }
  const place = new Map(order.map((node, i) => [node, i]));
  const above = Int32Array.from(order, (node) => (node > 0 ? place.get(model.nodes.parent[node]) : 0));
  const step = (view.width - 2 * EDGE) / (deepest + 1);
  const x = Float64Array.from(order, (node) => EDGE + model.depth[node] * step);
  const y = new Float64Array(order.length).fill(EDGE);
  const tall = new Float64Array(order.length).fill(view.height - 3 * EDGE);
  order.forEach((node, i) => {
    if (cut.leaf[node]) return;
    const children = model.children(node);
    const total = children.reduce((sum, child) => sum + model.nodes.weight[child], 0);
    let top = y[i];
    for (const child of children) {
      const j = place.get(child);
      y[j] = top;
      tall[j] = tall[i] * (total > 0 ? model.nodes.weight[child] / total : 1 / children.length);
      top += tall[j];
    }
  });
  return {
    ...{ order, x, y, place, above, orientation: "map", card: PLAIN_CARD },
    ...{ w: () => step * 0.98, h: (i) => tall[i], width: view.width, height: view.height },
  };
}

/** The breadth of each visible node, in cards: ends one after the other, parents between first and last child. */
function middles(model, order, place) {
  const low = new Float64Array(order.length).fill(NaN);
  const high = new Float64Array(order.length);
  const middle = new Float64Array(order.length);
  let next = 0;
  let previous = -1;
  const shown = (node) => model.hasChildren(node) && place.has(model.children(node)[0]);
  order.forEach((node, i) => {
    if (shown(node)) return;
    // A little air between cousins makes families visible.
    if (previous >= 0 && model.nodes.parent[previous] !== model.nodes.parent[node]) next += 0.14;
    middle[i] = next++;
    previous = node;
  });
  for (let i = order.length - 1; i >= 0; i--) {
    if (!Number.isNaN(low[i])) middle[i] = (low[i] + high[i]) / 2;
    const parent = i > 0 ? place.get(model.nodes.parent[order[i]]) : undefined;
    if (parent === undefined) continue;
    low[parent] = Number.isNaN(low[parent]) ? middle[i] : Math.min(low[parent], middle[i]);
    high[parent] = Math.max(high[parent], middle[i]);
  }
  return middle;
}

/** The nodes to expand so that about `most` cards are seen: whole levels first, then the heaviest nodes. */
export function firstExpanded(model, cut, most, start = 0) {
  const expanded = new Set();
  let shown = 1;
  let level = [start];
  while (level.length) {
    const open = level.filter((node) => !cut.leaf[node]);
    open.sort((a, b) => model.nodes.weight[b] - model.nodes.weight[a] || a - b);
    const next = [];
    for (const node of open) {
      const children = model.children(node);
      if (shown + children.length > most && expanded.size > 0) continue;
      expanded.add(node);
      shown += children.length;
      next.push(...children);
    }
    level = next;
  }
  return expanded;
}

/** The scale at which a layout fits into a view. */
export function fitScale(placed, view, margin = 32) {
  const across = (view.width - 2 * margin) / Math.max(placed.width, 1);
  const up = (view.height - 2 * margin) / Math.max(placed.height, 1);
  const fits = placed.orientation === "outline" ? across : Math.min(across, up); // an outline is read from its top
  return Math.max(0.02, Math.min(view.nearest ?? 1.15, fits));
}

/**
 * What to show first: a small tree as a whole, else the most cards that are readable, in the orientation that shows them
 * larger; with histograms where all nodes have room for them.
 * @param {string|null} wish an orientation to keep
 * @param {boolean|null} histograms whether to show them; null: where they fit
 */
export function firstView(model, cut, view, wish, histograms) {
  if (wish === "outline" || (wish === null && view.width < NARROW)) {
    return { expanded: firstExpanded(model, cut, Math.max(25, SMALL)), orientation: "outline", histograms: !!histograms };
  }
  const tried = (most, shown) => {
    const expanded = firstExpanded(model, cut, most);
    const scales = (wish ? [wish] : ["down", "right"]).map((orientation) => ({
      expanded, orientation, histograms: shown,
      scale: fitScale(layout(model, cut, expanded, orientation, cardSize(shown)), view),
    }));
    return scales.reduce((a, b) => (b.scale > a.scale ? b : a));
  };
  const small = cut.leaf.reduce((sum, kind) => sum + (kind < 2), 0) <= SMALL;
  if (small && histograms === null) {
    const best = tried(SMALL, true);
    if (best.scale >= READABLE) return best;
  }
  if (small) return tried(SMALL, !!histograms);
  for (const most of [40, 32, 25, 19, 15, 11, 8]) {
    const best = tried(most, !!histograms);
    if (best.scale >= READABLE) return best;
  }
  return tried(5, !!histograms);
}
