// One node as a card, and its numbers as a hint.
//
// Comes in: the model, a node, how it stands (leaf of the cut tree, expanded, on the path of a case). Goes out: an
// element. Always holds: a card says its question or answer, its count and its distribution; colour is never the only
// carrier of meaning, the answer stands there as a word.

import {
  answerText, certainty, colourAt, deviationAt, purity, questionText, shareOf, sizeText, statsAt, valuesAt,
} from "./model.js";
import { make, many, number, percent } from "./words.js";

/** @param {{leaf: boolean, expanded: boolean, below: number, lit: number|null, dim: boolean, match: boolean}} how */
export function card(model, node, how) {
  const title = how.leaf ? answerText(model, node) : questionText(model, node);
  const face = make(
    "div",
    { class: "tw-face", style: `--answer:${colourAt(model, node)};--strength:${strength(model, node, how.leaf)}%` },
    make(
      "div",
      { class: "tw-card-line" },
      make("bdi", { class: "tw-card-title" }, title),
      how.leaf ? null : make("span", { class: "tw-asks" }, "?"),
      make(
        "span",
        { class: "tw-card-count" },
        how.lit !== null && how.lit < 1 ? percent(how.lit, 1) : sizeText(model, node),
      ),
    ),
    make(
      "div",
      { class: "tw-card-line" },
      bar(model, node),
      make("span", { class: "tw-card-sure" }, certainty(model, node)),
    ),
  );
  const more = how.leaf
    ? null
    : make(
        "button",
        {
          class: "tw-more", type: "button", tabindex: -1, "data-toggle": node, "aria-hidden": "true",
          title: how.expanded ? "Collapse" : `Expand: ${many(how.below, "leaf", "leaves")} below`,
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
    more,
  );
}

/** What a screen reader says. */
function spoken(model, node, how) {
  const where = node === 0 ? "All rows" : model.nodes.condition[node];
  const answer_ = `answers ${answerText(model, node)}, ${certainty(model, node)}`;
  const what = how.leaf ? answer_ : `asks ${questionText(model, node)}`;
  const size = model.report.facts.weighted ? sizeText(model, node) : `${sizeText(model, node)} rows`;
  return `${where}: ${what}, ${size}${how.leaf || how.expanded ? "" : `, ${many(how.below, "leaf", "leaves")} below`}`;
}

/** How strong the colour is, in percent: faint where answers are mixed; a question is fainter than an answer. */
function strength(model, node, leaf) {
  return Math.round((leaf ? 12 : 5) + (leaf ? 26 : 15) * purity(model, node));
}

/** The distribution at a node: a stacked bar of classes, or the mean and its deviation on the range of answers. */
export function bar(model, node) {
  if (!model.classes) return scale(model, node);
  const stats = statsAt(model, node);
  const parts = stats.map((weight, k) => [weight, k]).filter(([weight]) => weight > 0);
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
  rows.push([model.report.facts.impurity, number(model.nodes.impurity[node])]);
  if (model.nodes.asks[node] >= 0) rows.push(["gain", number(model.nodes.gain[node])]);
  const facts = rows.map(([name, value]) => make("tr", {}, make("th", {}, name), make("td", {}, value)));
  return make(
    "div",
    {},
    make("p", { class: "tw-hint-title" }, conditionOf(model, node)),
    make("table", {}, make("tbody", {}, ...facts, ...answerRows(model, node, 6))),
  );
}

function answerRows(model, node, most) {
  if (!model.classes) {
    return [["mean", number(model.nodes.stats[3 * node + 1])], ["deviation", number(deviationAt(model, node))]].map(
      ([name, value]) => make("tr", {}, make("th", {}, name), make("td", {}, value)),
    );
  }
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
  if (left > 0) rows.push(make("tr", {}, make("th", {}, `and ${many(left, "class", "classes")} more`), make("td")));
  return rows;
}

/** The condition that leads to a node; a name that is read from right to left does not turn the whole of it round. */
export function conditionOf(model, node) {
  if (node === 0) return make("bdi", {}, "all rows");
  const text = model.nodes.condition[node];
  const name = questionText(model, model.nodes.parent[node]);
  const at = Math.max(0, text.indexOf(name));
  return make("bdi", { dir: "ltr" }, text.slice(0, at), make("bdi", {}, name), text.slice(at + name.length));
}

/** The classes that occur, most frequent first. */
export function classOrder(stats) {
  return stats.map((_, k) => k).filter((k) => stats[k] > 0).sort((a, b) => stats[b] - stats[a] || a - b);
}

/** Which colour is which class; null where there are no classes, or too many to be told apart. */
export function classLegend(model) {
  if (!model.classes || model.classes.length > 12) return null;
  const items = model.classes.map((name, k) => make("li", {}, swatch(model, k), make("bdi", {}, name)));
  return make("ul", { class: "tw-legend", "aria-label": `Colours of ${model.report.facts.target}` }, ...items);
}

/** A small square in the colour of a class. */
export function swatch(model, k) {
  return make("i", { class: "tw-swatch", style: `background:${model.report.colours[k]}`, "aria-hidden": "true" });
}
