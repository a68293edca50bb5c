// The Node tab: the selected node, its path, numbers, histogram, arithmetic, surrogates and rows.

import {
  button, copyButton, factList, link, make, moreLink, muted, scrolled, section, shortened, tableOf,
} from "../base/elements.js";
import {
  colourAt, deviationAt, handText, pathTo, predictionText, shareOf, splitColumn, statsAt, valuesAt,
} from "../base/model.js";
import { figure, many, number, percent } from "../base/numbers.js";
import { valueText } from "../base/values.js";
import { bar, classOrder, conditionOf } from "../tree/cards.js";
import { histogramFigure, swatch } from "../tree/histogram.js";
import { modelPart } from "./leaf_model.js";

const MOST_CLASSES = 12;
const MOST_ROWS = 8;
/** Characters of a linear model that stand where a class or number would. */
const LONGEST_MODEL = 100;
/** How treewright.tree.text cuts a long list of levels. */
const CUT_SHORT = /… (\d+) more/;

export function nodeTab(app) {
  const element = make("div", { class: "tw-inspector" });
  let current = -1;

  /** Shows a node; what is kept compressed follows, unless another node was selected meanwhile. */
  async function show(node = app.state.selected) {
    current = node;
    element.replaceChildren(...about(app, node));
    const [detail, histogram] = await Promise.all([app.details.at(node), app.histograms.at(node)]);
    if (current !== node) return;
    element.append(...later(app, node, detail || {}, histogram));
    openLongConditions(app, element);
  }
  return { name: "Node", element, selected: show, treeChanged: () => show(), started: () => show() };
}

function about(app, node) {
  const { model } = app;
  const leaf = app.tree.isLeaf(node);
  const pruned = leaf && model.nodes.column[node] >= 0;
  const title = leaf ? briefPrediction(model, node) : splitColumn(model, node);
  const kind = pruned ? "leaf at this alpha" : leaf ? `leaf: ${model.nodes.stop[node]}` : "splits on";
  const prediction = leaf ? null : muted("prediction: ", make("bdi", {}, briefPrediction(model, node)));
  return [
    make(
      "header",
      { class: "tw-node-head", style: `--colour:${colourAt(model, node)}` },
      make("p", { class: "tw-eyebrow" }, `Node ${node} · ${kind}`),
      make("h2", {}, make("bdi", {}, title)),
      prediction,
      honestEstimate(model, node),
      newRows(model, node),
    ),
    make(
      "div",
      { class: "tw-actions" },
      copyButton(app, "Copy rule", () => ruleText(app, node)),
      leaf ? null : expandButton(app, node),
    ),
    breadcrumb(app, node),
    model.tree.models && (leaf || isLong(model, node)) ? modelPart(app, node) : null,
    model.classes ? distribution(model, node) : numbers(model, node),
    measures(model, node, leaf),
  ].filter(Boolean);
}

/** A linear model with many terms is named; the section on it lists them. */
function briefPrediction(model, node) {
  return isLong(model, node) ? `linear model of ${model.tree.models[node].terms.length} terms` : predictionText(model, node);
}

function isLong(model, node) {
  return Boolean(model.tree.models) && predictionText(model, node).length > LONGEST_MODEL;
}

/** The estimate by the other rows of an honest tree, which its predictions come from. */
function honestEstimate(model, node) {
  const estimate = model.report.sure?.honest?.estimates[node];
  return estimate ? make("p", { class: "tw-muted" }, "honest estimate: ", make("bdi", {}, estimate)) : null;
}

/** What covers new rows that come here, where the tree is calibrated. */
function newRows(model, node) {
  const range = model.report.sure?.calibration?.ranges[node];
  return range ? muted("new rows, ", make("bdi", {}, range)) : null;
}

/** The rule in full, also where a card cuts a long list of levels short. */
async function ruleText(app, node) {
  const path = pathTo(app.model, node).slice(1);
  const parts = await Promise.all(path.map((i) => fullCondition(app, i)));
  const conditions = parts.length ? parts.join(" and ") : "anything";
  return `if ${conditions} then ${app.model.report.facts.target} = ${predictionText(app.model, node)}`;
}

export async function fullCondition(app, node) {
  return (await app.details.at(node))?.condition || app.model.nodes.condition[node];
}

function expandButton(app, node) {
  const all = [];
  for (let i = node; i < app.model.end[node]; i++) if (app.tree.cut().leaf[i] === 0) all.push(i);
  const open = all.every((i) => app.state.expanded.has(i));
  const text = open ? "Collapse subtree" : `Expand subtree (${many(app.tree.cut().below[node], "leaf", "leaves")})`;
  return button(text, () => app.expand(all, !open));
}

function breadcrumb(app, node) {
  const items = pathTo(app.model, node).map((i) => make("li", {}, crumb(app, i, i === node)));
  return section("Path", make("ol", { class: "tw-path" }, ...items));
}

/** A condition of a path that selects its node; `data-cut` marks one whose list of levels is cut short. */
export function crumb(app, node, isCurrent = false) {
  const text = app.model.nodes.condition[node];
  const short = text.replace(CUT_SHORT, "…");
  const cut = short === text ? null : node;
  const properties = { class: "tw-crumb", "aria-current": isCurrent ? "true" : null, "data-cut": cut };
  return link(conditionOf(app.model, node, short), () => app.select(node, false), properties);
}

/** Puts "N more" after conditions that are cut short; it opens the whole list. */
export function openLongConditions(app, element) {
  for (const short of element.querySelectorAll("[data-cut]")) {
    const node = Number(short.dataset.cut);
    short.removeAttribute("data-cut");
    const left = app.model.nodes.condition[node].match(CUT_SHORT)[1];
    short.after(" ", moreLink(`${left} more`, async () => {
      short.replaceChildren(conditionOf(app.model, node, await fullCondition(app, node)));
    }));
  }
}

function distribution(model, node) {
  const stats = statsAt(model, node);
  const values = valuesAt(model, node);
  const total = stats.reduce((a, b) => a + b, 0);
  const smoothed = stats.some((weight, k) => Math.abs(total > 0 ? weight / total - values[k] : values[k]) > 1e-9);
  const order = classOrder(smoothed ? values : stats);
  const row = (k) => [
    make("span", {}, swatch(model, k), make("bdi", {}, model.classes[k])), number(stats[k]),
    total > 0 ? percent(stats[k] / total, 1) : "", ...(smoothed ? [percent(values[k], 1)] : []),
  ];
  const size = model.report.facts.weighted ? "weight" : "rows";
  const table = (classes) => tableOf(["class", size, "share", ...(smoothed ? ["predicted"] : [])], classes.map(row));
  const shown = shortened(order, MOST_CLASSES, (left) => many(left, "class", "classes"), table);
  const none = stats.length - order.length;
  const absent = none > 0 && order.length > 0 ? `${many(none, "class", "classes")} without rows here` : null;
  return section("Distribution", bar(model, node), shown, absent && muted(absent));
}

function numbers(model, node) {
  const [, mean] = statsAt(model, node);
  const prediction = model.tree.models ? [] : [["prediction", number(model.nodes.value[node])]];
  const list = [...prediction, ["mean", number(mean)], ["standard deviation", number(deviationAt(model, node))]];
  return section("Distribution", bar(model, node), factList(list));
}

/** `leaf`: whether the node is a leaf of the tree as it is shown, pruned or whole. */
function measures(model, node, leaf) {
  const { nodes, report } = model;
  const list = [["rows", number(nodes.rows[node])]];
  if (report.facts.weighted || Math.abs(nodes.weight[node] - nodes.rows[node]) > 1e-9) list.push(
    ["weight", number(nodes.weight[node])]
  );
  list.push(["share of all rows", percent(shareOf(model, node), 1)]);
  list.push([report.facts.impurity, figure(nodes.impurity[node])]);
  if (!leaf) list.push(["gain", figure(nodes.gain[node])]);
  if (report.pruning && nodes.column[node] >= 0) list.push(["pruned from alpha", figure(report.pruning.price[node])]);
  if (!leaf) list.push(["missing", missingText(model, node)]);
  if (handText(model, node)) list.push(["done", handText(model, node)]);
  return section("Numbers", factList(list));
}

/** Where a row with a missing value goes: "2 surrogate splits, then male". */
function missingText(model, node) {
  const { facts, splits } = model.report;
  if (facts.refuses_missing) return "raises an error";
  const own = splits.start[node];
  const surrogates = splits.start[node + 1] - own - 1;
  const missing = splits.missing[own];
  const last =
    missing >= 0
      ? model.nodes.edge[model.children(node)[missing]].replace(/ or missing$/, "")
      : { "-1": "all branches, by share", "-2": "stops here", "-3": "one branch, drawn by share" }[missing];
  return surrogates > 0 ? `${many(surrogates, "surrogate split")}, then ${last}` : last;
}

function later(app, node, detail, histogram) {
  const leaf = app.tree.isLeaf(node);
  const pruned = leaf && app.model.nodes.column[node] >= 0;
  const drawing = pruned ? null : histogramFigure(app.model, node, leaf, histogram);
  const parts = [drawing && section("Histogram", drawing)];
  if (detail.derivation) {
    const derivation = make("div", { class: "tw-derivation" });
    derivation.innerHTML = detail.derivation; // escaped by treewright.inspection.derivation.html
    parts.push(section(pruned ? "The pruned split" : leaf ? "Prediction" : "Choice of the split", derivation));
  } else if (app.model.nodes.column[node] >= 0 && !detail.rivals) {
    const why =
      "This tree is large: the page has the arithmetic of its heaviest nodes. " +
      "In Python, explain_node(tree, node) gives that of any node.";
    parts.push(section("Choice of the split", muted(why)));
  }
  if (detail.surrogates?.length) {
    const rows = detail.surrogates.map((split) => [split.condition, figure(split.agreement), figure(split.adjusted)]);
    parts.push(section("Surrogate splits", tableOf(["split", "agreement", "adjusted"], rows)));
  }
  parts.push(rowsTable(app, node));
  return parts.filter(Boolean);
}

/** Some rows of the table that reach a node. */
function rowsTable(app, node) {
  const { model } = app;
  const sample = model.report.rows;
  if (!sample) return null;
  const inside = sample.node.flatMap((at, i) => (at >= node && at < model.end[node] ? [i] : []));
  if (!inside.length) return null;
  const step = Math.max(1, inside.length / MOST_ROWS);
  const chosen = Array.from({ length: Math.min(MOST_ROWS, inside.length) }, (_, i) => inside[Math.floor(i * step)]);
  const used = new Set(pathTo(model, node).map((i) => model.nodes.column[i]));
  const order = sample.columns.map((_, c) => c).sort(
    (a, b) => used.has(sample.columns[b]) - used.has(sample.columns[a]) || a - b
  );
  const columns = order.map((c) => [model.report.schema.columns[sample.columns[c]], sample.values[c]]);
  const row = (i) => [
    link(number(sample.row[i]), () => app.useRow(i), { title: "Follow this row through the tree" }),
    truthText(model, i), ...columns.map(([column, values]) => valueText(column, values[i])),
  ];
  const kinds = [null, "tw-text", ...columns.map(([column]) => (column.levels ? "tw-text" : null))];
  const heads = ["row", model.report.facts.target, ...columns.map(([column]) => column.name)];
  return section(
    `Rows, ${chosen.length} of ${number(model.nodes.rows[node])}`,
    scrolled("Rows of this node", tableOf(heads, chosen.map(row), { kinds })),
  );
}

/** The true value of a sampled row. */
export function truthText(model, i) {
  const truth = model.report.rows.truth[i];
  return model.classes ? model.classes[truth] : number(truth);
}
