// The Importance tab: which columns matter, by each measure of the report.

import { make, moreLink, section, tableOf } from "../base/elements.js";
import { many, number } from "../base/numbers.js";
import { figuresTab } from "./score.js";

const MOST_COLUMNS = 30;

export function importanceTab(app) {
  const shuffled = app.model.report.importances.some(({ low }) => low);
  return figuresTab(app, "Importance", ({ importances }, whole) => [
    importances.length ? null : make("p", { class: "tw-muted" }, "This tree has no splits."),
    make("div", { class: "tw-columns" }, ...importances.map(importancePart)),
    shuffled && !whole ? make("p", { class: "tw-muted" }, "Permutation is measured for the whole tree only.") : null,
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
  const table = (most) => tableOf([], columns.slice(0, most).map(line), { kinds: [null, "tw-importance"] });
  const body = make("div", {}, table(MOST_COLUMNS));
  const left = columns.length - MOST_COLUMNS;
  if (left > 0) body.append(moreLink(`${many(left, "column")} more`, () => body.replaceChildren(table(columns.length))));
  return section(title, make("p", { class: "tw-muted" }, about), body);
}
