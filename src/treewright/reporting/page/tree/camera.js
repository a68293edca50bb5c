// Where the view of the tree looks: at a node, at a path, at all of it. It moves rather than shrinks text.

import { fitScale, READABLE } from "./layout.js";

/** Where a tree is too large to fit, the view is as far away as this and looks at the root. */
const OVERVIEW = 0.05;

/** Shows the whole tree; where it is too large even for that, its root. */
export function showAll(view) {
  if (view.isMap()) return view.window.place(0, 0, 1);
  return placeTree(view, Math.max(OVERVIEW, fitScale(view.placed, view.size())));
}

/** Shows as much of the tree as is readable, its root at least. */
export function showReadable(view) {
  if (view.isMap()) return showAll(view);
  return placeTree(view, Math.max(READABLE, fitScale(view.placed, view.size())));
}

/** Centres the tree at a scale, or begins at its root where there is no room for it. */
function placeTree(view, scale) {
  const { placed } = view;
  const { orientation } = view.state;
  const { width, height } = view.size();
  const [wide, tall] = [placed.width * scale, placed.height * scale];
  const [rootX, rootY] = [(placed.x[0] + placed.w(0) / 2) * scale, (placed.y[0] + placed.h(0) / 2) * scale];
  const across = orientation === "down" ? width / 2 - rootX : 24;
  const down = orientation === "right" ? height / 2 - rootY : 12;
  view.window.place(wide <= width ? (width - wide) / 2 : across,
    tall <= height && orientation !== "outline" ? (height - tall) / 2 : down, scale);
  view.drawView(true);
}

/** Moves the view so that a node is seen and readable. */
export function showNode(view, node) {
  const { placed } = view;
  const i = placed.place.get(node);
  if (i === undefined) return;
  const { x, y, scale } = view.window.at;
  const { width, height } = view.size();
  const near = readableScale(view, i, scale);
  const [left, top] = [x + placed.x[i] * scale, y + placed.y[i] * scale];
  const [right, bottom] = [left + placed.w(i) * scale, top + placed.h(i) * scale];
  if (left > 8 && top > 16 && right < width - 8 && bottom < height - 16 && near === scale) return;
  const middle = [placed.x[i] + placed.w(i) / 2, placed.y[i] + placed.h(i) / 2];
  view.window.place(width / 2 - middle[0] * near, height / 2 - middle[1] * near, near);
  view.drawView(true);
}

/** The scale at which a place can be read: nearer than now only where it is too small. */
function readableScale(view, i, scale) {
  if (!view.isMap()) return Math.max(scale, READABLE);
  return view.placed.h(i) * scale < 3 ? Math.min(60, 12 / view.placed.h(i)) : scale;
}

/** Moves the view so that all of some nodes are seen, or else the last of them. */
export function showNodes(view, nodes) {
  const { placed } = view;
  const places = nodes.map((node) => placed.place.get(node)).filter((i) => i !== undefined);
  const low = (list) => Math.min(...list);
  const [left, top] = [low(places.map((i) => placed.x[i])), low(places.map((i) => placed.y[i] - placed.card.label))];
  const right = -low(places.map((i) => -placed.x[i] - placed.w(i)));
  const bottom = -low(places.map((i) => -placed.y[i] - placed.h(i)));
  const { x, y, scale } = view.window.at;
  const { width, height } = view.size();
  const begins = x + left * scale > 0 && y + top * scale > 0;
  if (begins && x + right * scale < width && y + bottom * scale < height && scale >= READABLE) return;
  const near = Math.min(1, (width - 48) / (right - left), (height - 48) / (bottom - top));
  if (near < READABLE || view.isMap()) return showNode(view, nodes.at(-1));
  view.window.place((width - (left + right) * near) / 2, (height - (top + bottom) * near) / 2, near);
  view.drawView(true);
}
