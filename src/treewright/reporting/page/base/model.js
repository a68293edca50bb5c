// The tree as the page reads it: shape, sizes, predictions, colours. The report is never changed; every walk is a loop,
// as trees may be deep.

import { childLists, classAt, router, valueAt } from "../../../export/route.js";
import { number, percent, shortNumber } from "./numbers.js";

/** @returns the model of a report, uncut. */
export function modelOf(report) {
  const { nodes } = report;
  const n = nodes.parent.length;
  const [first, children] = childLists(nodes.parent);
  const depth = new Int32Array(n);
  for (let i = 1; i < n; i++) depth[i] = depth[nodes.parent[i]] + 1;
  const end = new Int32Array(n); // a node's subtree is the run of nodes from it to its end
  for (let i = n - 1; i >= 0; i--) {
    if (end[i] === 0) end[i] = i + 1;
    if (i > 0) end[nodes.parent[i]] = Math.max(end[nodes.parent[i]], end[i]);
  }
  return {
    report,
    nodes,
    n,
    depth,
    end,
    tree: router(report),
    classes: report.schema.target.classes,
    range: report.schema.target.classes ? null : rangeOf(report, n),
    kept: new Map(),
    children: (node) => children.subarray(first[node], first[node + 1]),
    hasChildren: (node) => first[node + 1] > first[node],
  };
}

/** The node and all above it, root first. */
export function pathTo(model, node) {
  const path = [];
  for (let i = node; i >= 0; i = model.nodes.parent[i]) path.push(i);
  return path.reverse();
}

/** Which nodes are leaves at an alpha: 1 for leaves of the cut tree and all below them; kept for the last alpha. */
export function cutAt(model, alpha) {
  if (model.kept.get("alpha") === alpha) return model.kept.get("cut");
  const price = model.report.pruning ? model.report.pruning.price : null;
  const below = new Int32Array(model.n); // leaves below each node, of the cut tree
  const leaf = new Uint8Array(model.n);
  for (let i = 0; i < model.n; i++) {
    const parent = model.nodes.parent[i];
    const inside = i > 0 && leaf[parent] > 0;
    if (inside) leaf[i] = 2;
    else if (!model.hasChildren(i) || (alpha !== null && price && price[i] <= alpha)) leaf[i] = 1;
  }
  for (let i = model.n - 1; i >= 0; i--) {
    if (leaf[i] === 1) below[i] = 1;
    if (i > 0 && leaf[i] < 2) below[model.nodes.parent[i]] += below[i];
  }
  const cut = { leaf, below };
  model.kept.set("alpha", alpha).set("cut", cut);
  return cut;
}

function rangeOf(report, n) {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < n; i++) {
    const mean = report.nodes.value[i];
    low = Math.min(low, mean);
    high = Math.max(high, mean);
  }
  return [low, high];
}

/** The probability of each class at a node, or [number]. */
export function valuesAt(model, node) {
  return valueAt(model.tree, [{ node, weight: 1 }]);
}

/** The weight per class at a node. */
export function statsAt(model, node) {
  const width = model.classes ? model.classes.length : 3;
  return model.nodes.stats.slice(node * width, (node + 1) * width);
}

export function deviationAt(model, node) {
  const [weight, , squares] = statsAt(model, node);
  return weight > 0 ? Math.sqrt(squares / weight) : 0;
}

/** The prediction of a node: a class, a number or a linear model. */
export function predictionText(model, node) {
  if (model.tree.models) return model.tree.models[node].text;
  return model.classes ? model.classes[model.nodes.prediction[node]] : number(model.nodes.value[node]);
}

/** The class or number that class probabilities, or one number, stand for. */
export function predictionOf(model, values) {
  return model.classes ? model.classes[classAt(model.tree, values)] : number(values[0]);
}

/** The share of the predicted class, or the standard deviation; of a linear model that of the residuals, if known. */
export function certainty(model, node) {
  const residual = model.tree.models?.[node].residual;
  if (model.tree.models) return residual === undefined ? "" : `± ${number(residual)}`;
  if (!model.classes) return `± ${number(deviationAt(model, node))}`;
  const stats = statsAt(model, node);
  const total = stats.reduce((a, b) => a + b, 0);
  return total > 0 ? percent(stats[model.nodes.prediction[node]] / total) : "";
}

/** The share of the training weight at a node, 0 to 1. */
export function shareOf(model, node) {
  return model.nodes.weight[0] > 0 ? model.nodes.weight[node] / model.nodes.weight[0] : 0;
}

export function sizeText(model, node) {
  const { facts } = model.report;
  const rows = model.nodes.rows[node];
  const weight = model.nodes.weight[node];
  if (facts.weighted) return `weight ${number(weight)}`;
  return Math.abs(weight - rows) < 1e-9 * Math.max(1, rows) ? number(rows) : number(weight);
}

/** The same as words: rows, or their weight. */
export function rowsText(model, node) {
  return model.report.facts.weighted ? sizeText(model, node) : `${sizeText(model, node)} rows`;
}

/** The size for little room: a large weight is rounded. */
export function shortSizeText(model, node) {
  const weight = model.nodes.weight[node];
  return model.report.facts.weighted && weight >= 1e6 ? `weight ${shortNumber(weight)}` : sizeText(model, node);
}

/** From 0 (all classes equal, or the deviation of the root) to 1 (one class, one value). */
export function purity(model, node) {
  if (!model.classes) {
    const whole = deviationAt(model, 0);
    return whole > 0 ? Math.max(0, 1 - deviationAt(model, node) / whole) : 1;
  }
  const stats = statsAt(model, node);
  const total = stats.reduce((a, b) => a + b, 0);
  const k = stats.length;
  if (total <= 0 || k < 2) return 0;
  return Math.max(0, (stats[model.nodes.prediction[node]] / total - 1 / k) / (1 - 1 / k));
}

/** The colour of a node's prediction. */
export function colourAt(model, node) {
  return model.classes ? model.report.colours[model.nodes.prediction[node]] : scaleColour(model, model.nodes.value[node]);
}

/** The colour of a number: its place on the scale from low to high. */
export function scaleColour(model, value) {
  const [low, high] = model.range;
  const { colours } = model.report;
  const at = high > low ? Math.max(0, Math.min(1, (value - low) / (high - low))) * (colours.length - 1) : 0;
  const below = Math.min(colours.length - 2, Math.floor(at));
  const part = Math.round(100 * (at - below));
  return `color-mix(in oklab, ${colours[below + 1]} ${part}%, ${colours[below]})`;
}

/** What was done to a node by hand; "" where nothing was. */
export function handText(model, node) {
  return model.nodes.by_hand?.[node] ?? "";
}

/** The column a node splits on; "" for a leaf. */
export function splitColumn(model, node) {
  const column = model.nodes.column[node];
  return column < 0 ? "" : model.report.schema.columns[column].name;
}
