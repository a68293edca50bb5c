// One node as a card, and its numbers as a hint. Colour is never the only carrier of meaning: the prediction is there as
// text.

import { make } from "../base/elements.js";
import {
  certainty, colourAt, deviationAt, handText, predictionText, purity, rowsText, shareOf, shortSizeText, splitColumn, statsAt,
  valuesAt,
} from "../base/model.js";
import { figure, many, number, percent } from "../base/numbers.js";
import { bars, swatch } from "./histogram.js";

/**
 * @param {{leaf: boolean, expanded: boolean, below: number, lit: number|null, dim: boolean, match: boolean,
 *   histogram: object|null|undefined}} how the node's state; `histogram` undefined: cards show none
 */
export function card(model, node, how) {
  const title = how.leaf ? predictionText(model, node) : splitColumn(model, node);
  const count = how.lit !== null && how.lit < 1 ? percent(how.lit, 1) : shortSizeText(model, node);
  const face = make(
    "div",
    { class: "tw-face", style: `--colour:${colourAt(model, node)};--strength:${strength(model, node, how.leaf)}%` },
    make(
      "div",
      { class: "tw-card-line" },
      handText(model, node) ? make("span", { class: "tw-hand", title: handText(model, node) }, "✎") : null,
      make("bdi", { class: "tw-card-title" }, title),
      make("span", { class: "tw-card-count" }, count),
    ),
    how.histogram === undefined ? null : bars(model, node, how.leaf, how.histogram, 166, 30),
    make(
      "div",
      { class: "tw-card-line" },
      bar(model, node),
      make("span", { class: "tw-card-sure" }, certainty(model, node)),
    ),
  );
  const hidden = many(how.below, "leaf", "leaves");
  const toggle = how.leaf ? null : make(
    "button",
    {
      class: "tw-toggle", type: "button", tabindex: -1, "data-toggle": node, "aria-hidden": "true",
      title: how.expanded ? "Collapse" : `Expand: ${hidden} below`,
    },
    how.expanded ? "−" : `+${how.below}`,
  );
  const classes = ["tw-card", how.leaf ? "tw-leaf" : "", how.expanded ? "tw-open" : "", how.match ? "tw-match" : ""];
  if (how.lit !== null) classes.push("tw-lit");
  else if (how.dim) classes.push("tw-dim");
  return make(
    "div",
    {
      class: classes.filter(Boolean).join(" "), role: "treeitem", "data-node": node,
      "aria-level": model.depth[node] + 1, "aria-expanded": how.leaf ? null : String(how.expanded),
      "aria-label": spoken(model, node, how),
    },
    make("bdi", { class: "tw-label", dir: "ltr" }, model.nodes.edge[node]),
    face,
    toggle,
  );
}

/** The label for screen readers. */
function spoken(model, node, how) {
  const where = node === 0 ? "All rows" : model.nodes.condition[node];
  const prediction = `predicts ${[predictionText(model, node), certainty(model, node)].filter(Boolean).join(", ")}`;
  const what = how.leaf ? prediction : `splits on ${splitColumn(model, node)}`;
  const hand = handText(model, node) ? `, ${handText(model, node)}` : "";
  return `${where}: ${what}${hand}, ${rowsText(model, node)}${how.leaf || how.expanded ? "" : `, ${many(how.below, "leaf", "leaves")} below`}`;
}

/** How strong the colour is, in percent: faint where classes are mixed; an inner node is fainter than a leaf. */
function strength(model, node, leaf) {
  return Math.round((leaf ? 12 : 5) + (leaf ? 26 : 15) * purity(model, node));
}

/** The distribution at a node: a stacked bar of classes, or the mean and its deviation on the range of predictions. */
export function bar(model, node) {
  if (!model.classes) return scale(model, node);
  const parts = statsAt(model, node).map((weight, k) => [weight, k]).filter(([weight]) => weight > 0);
  const segments = parts.map(([weight, k]) =>
    make("i", { style: `flex:${weight} 1 0;background:${model.report.colours[k]}` }),
  );
  return make("div", { class: "tw-bar", "aria-hidden": "true" }, ...segments);
}

function scale(model, node) {
  const [low, high] = model.range;
  const width = high > low ? high - low : 1;
  const at = (x) => Math.max(0, Math.min(100, (100 * (x - low)) / width));
  const mean = model.nodes.value[node];
  const deviation = deviationAt(model, node);
  const from = at(mean - deviation);
  return make(
    "div",
    { class: "tw-bar tw-scale", "aria-hidden": "true" },
    make("i", { class: "tw-reach", style: `left:${from}%;width:${at(mean + deviation) - from}%` }),
    make("i", { class: "tw-mean", style: `left:${at(mean)}%` }),
  );
}

/** The numbers of a node, for hovering. */
export function hint(model, node) {
  const rows = [["rows", number(model.nodes.rows[node])]];
  if (model.report.facts.weighted || Math.abs(model.nodes.weight[node] - model.nodes.rows[node]) > 1e-9) {
    rows.push(["weight", number(model.nodes.weight[node])]);
  }
  rows.push(["share of all", percent(shareOf(model, node), 1)]);
  rows.push([model.report.facts.impurity, figure(model.nodes.impurity[node])]);
  if (handText(model, node)) rows.push(["done", handText(model, node)]);
  if (model.nodes.column[node] >= 0) rows.push(["gain", figure(model.nodes.gain[node])]);
  if (!model.classes) {
    rows.push(["mean", number(model.nodes.stats[3 * node + 1])], ["deviation", number(deviationAt(model, node))]);
  }
  const facts = rows.map(([name, value]) => make("tr", {}, make("th", {}, name), make("td", {}, value)));
  return make(
    "div",
    {},
    make("p", { class: "tw-hint-title" }, conditionOf(model, node)),
    make("table", {}, make("tbody", {}, ...facts, ...(model.classes ? classRows(model, node, 6) : []))),
  );
}

function classRows(model, node, most) {
  const stats = statsAt(model, node);
  const order = classOrder(stats).slice(0, most);
  const rows = order.map((k) =>
    make(
      "tr",
      {},
      make("th", {}, swatch(model, k), make("bdi", {}, model.classes[k])),
      make("td", {}, `${number(stats[k])} · ${percent(valuesAt(model, node)[k])}`),
    ),
  );
  const left = stats.filter((weight) => weight > 0).length - order.length;
  if (left > 0) rows.push(make("tr", {}, make("th", {}, many(left, "rarer class", "rarer classes")), make("td")));
  return rows;
}

/** The condition that leads to a node; a name that is read from right to left does not turn the whole of it round. */
export function conditionOf(model, node, text = model.nodes.condition[node]) {
  if (node === 0) return make("bdi", {}, "all rows");
  const name = splitColumn(model, model.nodes.parent[node]);
  const at = Math.max(0, text.indexOf(name));
  return make("bdi", { dir: "ltr" }, text.slice(0, at), make("bdi", {}, name), text.slice(at + name.length));
}

/** The classes that occur, most frequent first. */
export function classOrder(stats) {
  return stats.map((_, k) => k).filter((k) => stats[k] > 0).sort((a, b) => stats[b] - stats[a] || a - b);
}
