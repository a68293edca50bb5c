// Branches as curves, and cards as rectangles where the view is far away. The number of elements does not grow with the
// tree; a branch is as thick as its weight.

import { colourAt, purity, shareOf } from "../base/model.js";
import { draw } from "../base/elements.js";

/** The widest branch, that of all rows; of a case, that of the whole case. */
const WIDEST = 14;
const WIDEST_LIT = 6;

/**
 * @param {number[]} seen places in the layout's order
 * @param {(node: number) => number|null} lit a node's weight on the paths of a case
 */
export function edgePaths(model, placed, seen, lit, scale = 1) {
  const thinnest = Math.max(1, 0.6 / scale); // from afar a branch is still a line
  const groups = new Map();
  for (const i of seen) {
    const node = placed.order[i];
    if (node === 0) continue;
    const onPath = lit(node);
    const full = onPath === null ? WIDEST * shareOf(model, node) : WIDEST_LIT * onPath;
    const thick = Math.max(onPath === null ? thinnest : 1.5 * thinnest, Math.round(2 * full) / 2);
    const key = `${onPath === null ? "" : "lit"} ${thick}`;
    groups.set(key, (groups.get(key) || "") + curve(placed, placed.above[i], i));
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, d]) => {
      const [onPath, thick] = key.split(" ");
      return draw("path", { class: onPath ? "tw-edge tw-edge-lit" : "tw-edge", d, "stroke-width": thick });
    });
}

function curve({ x, y, orientation, card }, from, to) {
  if (orientation === "right") {
    const [x1, y1] = [x[from] + card.width, y[from] + card.height / 2];
    const [x2, y2] = [x[to], y[to] + card.height / 2];
    const middle = (x1 + x2) / 2;
    return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
  }
  if (orientation === "outline") {
    const [x1, y1] = [x[from] + 12, y[from] + card.height];
    const [x2, y2] = [x[to], y[to] + card.height / 2];
    return `M${x1} ${y1}V${y2 - 12}Q${x1} ${y2} ${x2} ${y2}`;
  }
  const [x1, y1] = [x[from] + card.width / 2, y[from] + card.height];
  const [x2, y2] = [x[to] + card.width / 2, y[to] - card.label];
  const middle = (y1 + y2) / 2;
  return `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
}

/** The map: one path per colour and strength, and the words that have room. */
export function mapParts(model, placed, seen, scale, lit, words) {
  const groups = new Map();
  const texts = [];
  const box = (i) => {
    const tall = placed.h(i) - Math.min(0.1 * placed.h(i), 1 / scale); // a line of ground between neighbours
    return `M${placed.x[i]} ${placed.y[i]}h${placed.w(i)}v${tall}h${-placed.w(i)}z`;
  };
  for (const i of seen) {
    const node = placed.order[i];
    if (placed.h(i) * scale < 0.2) continue;
    const faint = lit.any && lit(node) === null ? 0.35 : 1;
    const key = `${colourAt(model, node)}|${(faint * (0.28 + 0.22 * Math.round(2 * purity(model, node)))).toFixed(2)}`;
    groups.set(key, (groups.get(key) || "") + box(i));
    const room = Math.floor((placed.w(i) * scale - 10) / 7);
    if (placed.h(i) * scale < 16 || room < 7) continue;
    const text = draw(
      "text",
      {
        class: "tw-map-text",
        x: placed.x[i] + 5 / scale,
        y: placed.y[i] + Math.min(placed.h(i) / 2 + 4 / scale, 60 / scale),
        "font-size": 12 / scale,
      },
    );
    const all = words(node);
    text.textContent = all.length > room ? `${all.slice(0, room - 1)}…` : all;
    texts.push(text);
  }
  const path = seen.filter((i) => lit(placed.order[i]) !== null).map(box).join("");
  return [
    ...filledPaths(groups),
    ...(path ? [draw("path", { class: "tw-map-lit", d: path, "stroke-width": 2 / scale })] : []),
    ...texts,
  ];
}

/** Cards from afar: one path per colour and strength; they fill the room of their labels, so that they are seen. */
export function farCards(model, placed, seen) {
  const groups = new Map();
  for (const i of seen) {
    const node = placed.order[i];
    const key = `${colourAt(model, node)}|${0.35 + 0.3 * Math.round(2 * purity(model, node))}`;
    const { width, height, label } = placed.card;
    const box = `M${placed.x[i]} ${placed.y[i] - label}h${width}v${height + label}h${-width}z`;
    groups.set(key, (groups.get(key) || "") + box);
  }
  return filledPaths(groups);
}

/** One path per colour and strength ("colour|opacity"). */
function filledPaths(groups) {
  return [...groups].map(([key, d]) => {
    const [colour, opacity] = key.split("|");
    return draw("path", { d, style: `fill:${colour}`, "fill-opacity": opacity });
  });
}
