// A case: one row typed or picked, its path through the tree, its answer.
//
// Comes in: the app. Goes out: a form; what is typed goes down the tree at once.
// Always holds: an empty field is a missing value; the answer is that of the tree as it is shown, cut or whole.

import { conditionOf, swatch } from "./cards.js";
import { section } from "./inspector.js";
import { answerOf, pathTo, questionText } from "./model.js";
import { answerAt, follow, UNSEEN } from "./route.js";
import { inputText, inputValue, make, many, number, percent } from "./words.js";

const ANOTHER = "another";
const INPUTS = { numeric: "number", date: "date", datetime: "datetime-local", time: "time", duration: "number" };

export function caseForm(app) {
  const { model } = app;
  const { schema, rows: sample } = model.report;
  const row = new Array(schema.columns.length).fill(null);
  const fields = new Map(
    usedColumns(model).map((column) => [column, field(schema.columns[column], `${app.id}-field-${column}`, typed)])
  );
  const result = make("div", { class: "tw-result", "aria-live": "polite" });
  const picker = sample && sample.row.length ? rowPicker(sample, useRow) : null;
  const form = make(
    "form",
    { class: "tw-form", onsubmit: (event) => event.preventDefault() },
    ...[...fields.values()].map((f) => f.element),
  );
  const element = make(
    "div",
    { class: "tw-case" },
    result,
    section("Values", make("p", { class: "tw-muted" }, introduction(model)), picker?.element, form,
      make("button", { type: "button", class: "tw-button", onclick: clear }, "Clear")),
  );

  function typed() {
    for (const [column, f] of fields) row[column] = f.value();
    app.follow();
  }

  function clear() {
    for (const f of fields.values()) f.set(null);
    typed();
  }

  function useRow(i) {
    row.fill(null);
    sample.columns.forEach((column, c) => (row[column] = sample.values[c][i]));
    for (const [column, f] of fields) f.set(row[column]);
    picker?.show(i);
    typed();
  }

  /** Sends the case down the tree and tells the result. @returns the weight of each node on its paths */
  function run() {
    const { ends, steps } = follow(model.tree, row, (node) => app.tree.isLeaf(node));
    const values = answerAt(model.tree, ends);
    const lit = new Map();
    for (const { node, weight } of ends) for (const i of pathTo(model, node)) lit.set(
      i,
      Math.min(1, (lit.get(i) || 0) + weight),
    );
    result.replaceChildren(...answer(app, row, values, ends, steps));
    return { lit, ends };
  }

  const start = () => (picker ? useRow(0) : typed());
  return { element, run, start, useRow };
}

function introduction(model) {
  const { facts: about } = model.report;
  if (!usedColumns(model).length) return "This tree asks nothing: every row gets the same answer.";
  return about.refuses_missing
    ? "This tree was learned to refuse missing values: fill in every field it asks about."
    : "An empty field is a missing value.";
}

/** The columns that the tree asks about, in the order in which a row meets them. */
function usedColumns(model) {
  const used = new Map();
  for (let i = 0; i < model.n; i++) {
    const column = model.nodes.asks[i];
    if (column >= 0) used.set(column, Math.min(used.get(column) ?? Infinity, model.depth[i]));
  }
  const main = [...used].sort((a, b) => a[1] - b[1]).map(([column]) => column);
  const others = new Set(model.report.splits.column.filter((column) => !used.has(column)));
  return [...main, ...[...others].sort((a, b) => a - b)];
}

function field(column, id, changed) {
  const input = column.levels ? choice(column, id) : entry(column, id);
  input.addEventListener("input", changed);
  const unit = column.kind === "duration" ? " (seconds)" : "";
  return {
    element: make("div", { class: "tw-field" }, make("label", { for: id }, make("bdi", {}, column.name), unit), input),
    value() {
      if (!column.levels) return inputValue(column, input.value);
      return input.value === "" ? null : input.value === ANOTHER ? UNSEEN : Number(input.value);
    },
    set(value) {
      input.value = column.levels ? (
        value === null ? "" : value === UNSEEN ? ANOTHER : String(value)
      ) : inputText(column, value);
    },
  };
}

function entry(column, id) {
  return make(
    "input",
    {
      id,
      type: INPUTS[column.kind],
      step: column.kind === "datetime" || column.kind === "time" ? 1 : column.kind === "date" ? null : "any",
      placeholder: "missing",
      autocomplete: "off",
    },
  );
}

function choice(column, id) {
  return make(
    "select",
    { id },
    make("option", { value: "" }, "— missing —"),
    ...column.levels.map((level, code) => make("option", { value: code }, level)),
    make("option", { value: ANOTHER }, "— another value —"),
  );
}

function rowPicker(sample, use) {
  let at = 0;
  const label = make("span", { class: "tw-picked" });
  const go = (step) => use((at + step + sample.row.length) % sample.row.length);
  const button = (text, name, step) => make(
    "button",
    { type: "button", class: "tw-button", "aria-label": name, onclick: () => go(step) },
    text,
  );
  return {
    element: make(
      "div",
      { class: "tw-picker" },
      button("‹", "Previous row", -1),
      label,
      button("›", "Next row", 1),
    ),
    show(i) {
      at = i;
      label.textContent = `Row ${number(sample.row[i])} of the table`;
    },
  };
}

function answer(app, row, values, ends, steps) {
  const { model } = app;
  const parts = [
    make("p", { class: "tw-eyebrow" }, model.report.facts.target),
    make("p", { class: "tw-answer" }, make("bdi", {}, answerOf(model, values))),
  ];
  if (model.classes) parts.push(probabilities(model, values));
  const gaps = model.report.facts.refuses_missing ? steps.filter((step) => step.how !== "known") : [];
  if (gaps.length) {
    const name = questionText(model, gaps[0].node);
    parts.push(
      make(
        "p",
        { class: "tw-note" },
        "The tree itself would refuse this row: ",
        make("bdi", {}, name),
        " is missing or unknown.",
      )
    );
  }
  if (steps.some((step) => step.how === "random")) {
    parts.push(
      make(
        "p",
        { class: "tw-note" },
        "Where the tree draws a branch by chance, this page shows what is expected of the draw: ",
        "all branches by share. The draw itself is not repeated.",
      )
    );
  }
  parts.push(ends.length === 1 ? onePath(app, steps, ends[0]) : severalPaths(app, ends));
  return parts;
}

function probabilities(model, values) {
  const order = values.map((_, k) => k).sort((a, b) => values[b] - values[a] || a - b);
  const shown = order.slice(0, 6).filter((k) => values[k] > 0);
  return make(
    "ul",
    { class: "tw-chances" },
    ...shown.map((k) =>
      make(
        "li",
        {},
        make("span", { class: "tw-chance-name" }, swatch(model, k), make("bdi", {}, model.classes[k])),
        make(
          "span",
          { class: "tw-chance-bar" },
          make("i", { style: `width:${100 * values[k]}%;background:${model.report.colours[k]}` }),
        ),
        make("span", { class: "tw-chance-value" }, percent(values[k], 1)),
      ),
    ),
  );
}

const HOWS = {
  known: "",
  surrogate: "by a surrogate",
  unseen: "an unknown level",
  missing: "missing",
  stop: "missing: ends here",
};

function onePath(app, steps, end) {
  const { model } = app;
  const items = steps.map((step) => {
    const next = step.child >= 0 ? model.children(step.node)[step.child] : step.node;
    const words = step.child >= 0 ? conditionOf(model, next) : make("bdi", {}, questionText(model, step.node));
    return make(
      "li",
      {},
      make(
        "button",
        { type: "button", class: "tw-crumb", onclick: () => app.select(next, false) },
        words,
      ),
      HOWS[step.how] ? make("span", { class: "tw-muted" }, ` ${HOWS[step.how]}`) : null,
    );
  });
  if (!items.length) items.push(make("li", { class: "tw-muted" }, "no questions asked"));
  return section(`Path to node ${end.node}`, make("ol", { class: "tw-path" }, ...items));
}

function severalPaths(app, ends) {
  const { model } = app;
  const heaviest = [...ends].sort((a, b) => b.weight - a.weight).slice(0, 12);
  const list = heaviest.map(({ node, weight }) =>
    make("li", {}, make("button", { type: "button", class: "tw-crumb", onclick: () => app.select(node, false) },
      `node ${node}: `, make(
        "bdi",
        {},
        answerOf(model, answerAt(model.tree, [{ node, weight }])),
      )), make("span", { class: "tw-muted" }, ` ${percent(weight, 1)}`)),
  );
  return section(`${many(ends.length, "path")}, by share`, make("ol", { class: "tw-path tw-plain" }, ...list));
}
