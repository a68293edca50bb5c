// The Importance tab: which columns matter, by each measure of the report.

import { make, muted, section, shortened, tableOf } from "../base/elements.js";
import { many, number } from "../base/numbers.js";
import { figuresTab } from "./score.js";

const MOST_COLUMNS = 30;

export function importanceTab(app) {
  const shuffled = app.model.report.importances.some(({ low }) => low);
  return figuresTab(app, "Importance", ({ importances }, whole) => [
    importances.length ? null : muted("This tree has no splits."),
    make("div", { class: "tw-columns" }, ...importances.map(importancePart)),
    shuffled && !whole ? muted("Permutation is measured for the whole tree only.") : null,
  ]);
}

function importancePart({ title, about, columns, values, low, high }) {
  const reach = Math.max(...values, ...(high || []), 1e-12);
  const at = (value) => Math.max(0, Math.min(100, (100 * value) / reach));
  const line = (name, i) => [
    name,
    make(
      "div",
      { class: "tw-track" },
      make("i", { style: `width:${at(values[i])}%` }),
      low ? make("b", { style: `left:${at(low[i])}%;width:${at(high[i]) - at(low[i])}%` }) : null,
    ),
    number(values[i]),
  ];
  const table = (some) => tableOf([], some.map(line), { kinds: [null, "tw-importance"] });
  return section(title, muted(about), shortened(columns, MOST_COLUMNS, (left) => many(left, "column"), table));
}
