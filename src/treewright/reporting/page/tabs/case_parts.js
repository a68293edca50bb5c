// What the Case tab shows of one row: the prediction and the true value, SHAP values, counterfactuals, the path.

import { valueAt } from "../../../export/route.js";
import { link, make, moreLink, muted, section, shortened, tableOf } from "../base/elements.js";
import { deviationAt, predictionOf, splitColumn } from "../base/model.js";
import { many, number, percent, signed, thresholdText } from "../base/numbers.js";
import { valueText } from "../base/values.js";
import { counterfactuals } from "../explain/counterfactuals.js";
import { shapValues } from "../explain/shap.js";
import { swatch } from "../tree/histogram.js";
import { crumb, truthText } from "./node.js";

const MOST_PATHS = 12;
const MOST_COLUMNS = 8;
/** A tree of more nodes than this is too large to explain a row at every keystroke. */
const MOST_NODES = 20_000;

/** @param {number|null} picked the sampled row that is shown, unchanged */
export function predictionPart(app, values, steps, picked) {
  const { model } = app;
  const predicted = predictionOf(model, values);
  const parts = [
    make("p", { class: "tw-eyebrow" }, "prediction of ", make("bdi", {}, model.report.facts.target)),
    make("p", { class: "tw-prediction" }, make("bdi", {}, predicted)),
  ];
  if (picked !== null) parts.push(truePart(model, predicted, values, picked));
  if (model.classes) parts.push(probabilities(model, values));
  const refused = model.report.facts.refuses_missing ? steps.find((step) => step.how !== "known" && step.how !== "soft") : null;
  if (refused) parts.push(note("This row raises an error: ", make("bdi", {}, splitColumn(model, refused.node)),
    " is missing or unseen."));
  if (steps.some((step) => step.how === "random")) parts.push(note(
    "Where the tree draws a branch by chance, the page takes all branches by share: the expected prediction."));
  return parts;
}

function note(...children) {
  return make("p", { class: "tw-note" }, ...children);
}

function truePart(model, predicted, values, picked) {
  const truth = truthText(model, picked);
  const how = model.classes
    ? (truth === predicted ? "predicted correctly" : "predicted wrongly")
    : `residual ${signed(model.report.rows.truth[picked] - values[0])}`;
  return make("p", { class: "tw-true" }, "true value: ", make("b", {}, make("bdi", {}, truth)), ` (${how})`);
}

function probabilities(model, values) {
  const order = values.map((_, k) => k).sort((a, b) => values[b] - values[a] || a - b);
  const shown = order.slice(0, 6).filter((k) => values[k] > 0);
  return make("ul", { class: "tw-chances" }, ...shown.map((k) => make(
    "li",
    {},
    make("span", { class: "tw-chance-name" }, swatch(model, k), make("bdi", {}, model.classes[k])),
    make("span", { class: "tw-chance-bar" },
      make("i", { style: `width:${100 * values[k]}%;background:${model.report.colours[k]}` })),
    make("span", { class: "tw-chance-value" }, percent(values[k], 1)),
  )));
}

/** What each column adds to the prediction, largest first. */
export function contributionsPart(app, row, values) {
  const { model } = app;
  const title = "Contributions (SHAP values)";
  if (model.n > MOST_NODES) return tooLarge(title, "shap_values(tree, rows)");
  const { base, values: all } = shapValues(model.tree, row, (node) => app.tree.isLeaf(node));
  const k = model.classes ? model.classes.indexOf(predictionOf(model, values)) : 0;
  const list = [...all].map(([column, value]) => [column, value[k]]).filter(([, value]) => Math.abs(value) > 1e-12)
    .sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const shown = (x) => (model.classes ? percent(x, 1) : number(x));
  const change = (x) => (model.classes ? `${x > 0 ? "+" : "-"}${percent(Math.abs(x), 1)}` : signed(x));
  const reach = Math.max(...list.map(([, value]) => Math.abs(value)), 1e-300);
  const line = ([column, value]) => {
    const spec = model.report.schema.columns[column];
    const name = make("span", {}, make("bdi", {}, spec.name), make("span", { class: "tw-muted" }, " = ",
      make("bdi", {}, valueText(spec, row[column]))));
    return [name, contributionBar(value / reach), make("span", { class: "tw-contribution" }, change(value))];
  };
  const table = (some) => tableOf([], some.map(line), { class: "tw-table tw-shap" });
  const body = shortened(list, MOST_COLUMNS, (left) => many(left, "column"), table);
  const what = model.classes ? ["the probability of ", make("bdi", {}, model.classes[k])] : ["the prediction"];
  return section(title, muted("to ", ...what,
    `: ${shown(base[k])} when no column is known, ${shown(values[k])} here`), list.length ? body : null);
}

function tooLarge(title, call) {
  return section(title, muted(`This tree is too large for the page; in Python, ${call}.`));
}

/** A bar from the middle: to the right for more, to the left for less. */
function contributionBar(share) {
  const wide = Math.max(0.5, 50 * Math.abs(share));
  const style = share > 0 ? `left:50%;width:${wide}%` : `left:${50 - wide}%;width:${wide}%`;
  return make("div", { class: "tw-signed", "aria-hidden": "true" }, make("i", { class: share > 0 ? "tw-plus" : "tw-minus", style }));
}

/** The nearest changes that lead to another prediction. */
export function changesPart(app, row, apply) {
  const { model } = app;
  const { schema } = model.report;
  const title = "What would change the prediction";
  if (model.n > MOST_NODES) return tooLarge(title, "counterfactuals(tree, row)");
  const found = counterfactuals(model.tree, schema, row, (node) => app.tree.isLeaf(node), deviationAt(model, 0) / 2);
  const items = found.map(({ changes, values, group }) => make(
    "li",
    {},
    ...changes.flatMap(({ column, value, text }, i) => [
      i ? make("span", { class: "tw-and" }, " and ") : "if ", make("bdi", {}, schema.columns[column].name),
      changeText(schema.columns[column], value, text),
      make("span", { class: "tw-muted" }, " instead of ", make("bdi", {}, valueText(schema.columns[column], row[column]))),
    ]),
    ": ", make("b", {}, make("bdi", {}, predictionOf(model, values))),
    model.classes ? ` (${percent(values[group], 1)}) ` : " ",
    link("try", () => apply(changes), { title: "Put these values into the fields" }),
  ));
  const none = muted("No change of this row leads to another prediction.");
  return section(title, items.length ? make("ul", { class: "tw-changes" }, ...items) : none);
}

function changeText(column, value, text) {
  if (!text) return ` = ${valueText(column, value)}`;
  return ` ${text.sign} ${column.kind === "numeric" ? thresholdText(text.bound) : valueText(column, text.bound)}`;
}

const HOWS = {
  known: "",
  surrogate: "by a surrogate split",
  unseen: "unseen level",
  missing: "missing",
  stop: "missing: stops here",
};

export function pathPart(app, steps, ends, row) {
  return ends.length === 1 ? onePath(app, steps, ends[0]) : severalPaths(app, ends, row);
}

function onePath(app, steps, end) {
  const { model } = app;
  const items = steps.map((step) => {
    const next = step.child >= 0 ? model.children(step.node)[step.child] : step.node;
    const name = make("bdi", {}, splitColumn(model, step.node));
    const condition = step.child >= 0 ? crumb(app, next) : link(name, () => app.select(next, false), { class: "tw-crumb" });
    return make("li", {}, condition, HOWS[step.how] ? make("span", { class: "tw-muted" }, ` ${HOWS[step.how]}`) : null);
  });
  if (!items.length) items.push(make("li", { class: "tw-muted" }, "no split"));
  return section(`Path to node ${end.node}`, make("ol", { class: "tw-path" }, ...items));
}

function severalPaths(app, ends, row) {
  const { model } = app;
  const order = [...ends].sort((a, b) => b.weight - a.weight);
  const item = ({ node, weight }) => make(
    "li",
    {},
    link(make("span", {}, `node ${node}: `, make("bdi", {}, predictionOf(model, valueAt(model.tree, [{ node, weight }], row)))),
      () => app.select(node, false), { class: "tw-crumb" }),
    make("span", { class: "tw-muted" }, ` ${percent(weight, 1)}`),
  );
  const list = make("ol", { class: "tw-path tw-plain" }, ...order.slice(0, MOST_PATHS).map(item));
  const more = order.length > MOST_PATHS ? moreLink(`${many(order.length - MOST_PATHS, "path")} more`, () =>
    list.append(...order.slice(MOST_PATHS).map(item))) : null;
  return section(`${many(ends.length, "path")}, by share`, list, more);
}
