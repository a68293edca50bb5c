// The Case tab: one row, typed or picked, with its prediction, path, SHAP values and counterfactuals. An empty field is a
// missing value; the prediction is that of the tree as it is shown, pruned or whole.

import { follow, UNSEEN, valueAt } from "../../../export/route.js";
import { button, make, muted, section } from "../base/elements.js";
import { pathTo } from "../base/model.js";
import { number } from "../base/numbers.js";
import { inputText, inputValue } from "../base/values.js";
import { changesPart, contributionsPart, pathPart, predictionPart } from "./case_parts.js";
import { arithmeticPart } from "./leaf_model.js";
import { openLongConditions } from "./node.js";

const UNSEEN_OPTION = "unseen";
const INPUTS = { numeric: "number", date: "date", datetime: "datetime-local", time: "time", duration: "number" };

export function caseTab(app) {
  const { model } = app;
  const { schema, rows: sample } = model.report;
  const row = new Array(schema.columns.length).fill(null);
  const fields = new Map(
    usedColumns(model).map((column) => [column, field(schema.columns[column], `${app.id}-field-${column}`, typed)])
  );
  const head = make("div", { class: "tw-result", "aria-live": "polite" });
  const body = make("div");
  const picker = sample && sample.row.length ? rowPicker(sample, useRow) : null;
  const form = make(
    "form",
    { class: "tw-form", onsubmit: (event) => event.preventDefault() },
    ...[...fields.values()].map((f) => f.element),
  );
  const values = section("Values", muted(introduction(model)), form, button("Clear", clear));
  const element = make("div", { class: "tw-case" }, picker?.element, head, body, values);
  let picked = null; // the sampled row in the fields, until one of them is changed
  let begun = false;

  function typed() {
    picked = null;
    picker?.show(null);
    read();
  }

  function read() {
    for (const [column, f] of fields) row[column] = f.value();
    if (app.side.shown() === "Case") light();
    else run();
  }

  function clear() {
    for (const f of fields.values()) f.set(null);
    typed();
  }

  function useRow(i) {
    begun = true;
    row.fill(null);
    sample.columns.forEach((column, c) => (row[column] = sample.values[c][i]));
    for (const [column, f] of fields) f.set(row[column]);
    picked = i;
    picker?.show(i);
    read();
  }

  /** Puts changed values into the fields. */
  function apply(changes) {
    for (const { column, value } of changes) fields.get(column)?.set(value);
    typed();
  }

  /** Follows the row and shows the result. @returns the weight of each node on its paths, and the ends */
  function run() {
    const isLeaf = (node) => app.tree.isLeaf(node);
    const { ends, steps } = follow(model.tree, row, isLeaf);
    const predicted = valueAt(model.tree, ends, row);
    const lit = new Map();
    for (const { node, weight } of ends) for (const i of pathTo(model, node)) lit.set(
      i,
      Math.min(1, (lit.get(i) || 0) + weight),
    );
    head.replaceChildren(...predictionPart(app, predicted, steps, picked));
    // SHAP values and counterfactuals are those of constant leaves.
    const explained = model.tree.models
      ? [arithmeticPart(app, row, ends)] : [contributionsPart(app, row, predicted), changesPart(app, row, apply)];
    body.replaceChildren(...explained, pathPart(app, steps, ends, row));
    openLongConditions(app, body);
    return { lit, ends };
  }

  /** Runs the row and lights its paths in the tree. */
  function light() {
    const { lit, ends } = run();
    const heaviest = [...ends].sort((a, b) => b.weight - a.weight).slice(0, 6);
    app.light(lit, heaviest.map(({ node }) => node));
  }

  function shown() {
    if (begun) return light();
    begun = true;
    return picker ? useRow(0) : read();
  }
  app.useRow = (i) => {
    begun = true;
    app.side.show("Case");
    useRow(i);
  };
  return { name: "Case", element, shown, hidden: () => app.light(null), treeChanged: () => begun && run() };
}

function introduction(model) {
  if (!usedColumns(model).length) return "This tree has no splits: every row gets the same prediction.";
  return model.report.facts.refuses_missing
    ? "Missing values raise an error in this tree: fill in every field."
    : "An empty field is a missing value.";
}

/** The columns of the splits, in the order in which a row meets them, then those of surrogates and models alone. */
function usedColumns(model) {
  const used = new Map();
  for (let i = 0; i < model.n; i++) {
    const column = model.nodes.column[i];
    if (column >= 0) used.set(column, Math.min(used.get(column) ?? Infinity, model.depth[i]));
  }
  const main = [...used].sort((a, b) => a[1] - b[1]).map(([column]) => column);
  const terms = (model.tree.models || []).flatMap((one) => one.terms.map((term) => term.column));
  const others = new Set([...model.report.splits.column, ...terms].filter((column) => !used.has(column)));
  return [...main, ...[...others].sort((a, b) => a - b)];
}

function field(column, id, changed) {
  const input = column.levels ? levelInput(column, id) : numberInput(column, id);
  input.addEventListener("input", changed);
  const unit = column.kind === "duration" ? " (seconds)" : "";
  return {
    element: make("div", { class: "tw-field" }, make("label", { for: id }, make("bdi", {}, column.name), unit), input),
    value() {
      if (!column.levels) return inputValue(column, input.value);
      return input.value === "" ? null : input.value === UNSEEN_OPTION ? UNSEEN : Number(input.value);
    },
    set(value) {
      input.value = column.levels ? (
        value === null ? "" : value === UNSEEN ? UNSEEN_OPTION : String(value)
      ) : inputText(column, value);
    },
  };
}

function numberInput(column, id) {
  const step = column.kind === "datetime" || column.kind === "time" ? 1 : column.kind === "date" ? null : "any";
  return make("input", { id, type: INPUTS[column.kind], step, placeholder: "missing", autocomplete: "off" });
}

function levelInput(column, id) {
  return make(
    "select",
    { id },
    make("option", { value: "" }, "(missing)"),
    ...column.levels.map((level, code) => make("option", { value: code }, level)),
    make("option", { value: UNSEEN_OPTION }, "(an unseen level)"),
  );
}

function rowPicker(sample, use) {
  let at = 0;
  const label = make("span", { class: "tw-picked" });
  const go = (step) => use((at + step + sample.row.length) % sample.row.length);
  return {
    element: make(
      "div",
      { class: "tw-picker" },
      button("‹", () => go(-1), { "aria-label": "Previous row" }),
      label,
      button("›", () => go(1), { "aria-label": "Next row" }),
    ),
    show(i) {
      at = i ?? at;
      label.textContent = `Row ${number(sample.row[at])} of the table${i === null ? ", changed" : ""}`;
    },
  };
}
