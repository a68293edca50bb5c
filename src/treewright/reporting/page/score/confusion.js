// The confusion matrix: the true class in rows, the predicted class in columns; shade by the share of the row.

import { make, moreLink, scrolled } from "../base/elements.js";
import { many, number, percent } from "../base/numbers.js";

const MOST_CLASSES = 40;

export function confusion(matrix, classes, most = MOST_CLASSES) {
  const totals = matrix.map((row) => row.reduce((a, b) => a + b, 0));
  const predicted = classes.map((_, j) => matrix.reduce((sum, row) => sum + row[j], 0));
  const used = classes.map((_, k) => k).filter((k) => totals[k] > 0 || predicted[k] > 0);
  const shown = [...used].sort((a, b) => totals[b] - totals[a]).slice(0, most).sort((a, b) => a - b);
  const cell = (i, j) => {
    const share = totals[i] > 0 ? matrix[i][j] / totals[i] : 0;
    const title = `true ${classes[i]}, predicted ${classes[j]}: ${number(matrix[i][j])}`;
    const properties = { class: i === j ? "tw-right" : "tw-wrong", style: `--share:${Math.round(60 * share)}%`, title };
    return make("td", properties, matrix[i][j] ? number(matrix[i][j]) : "·");
  };
  const rate = (part, whole) => make("td", { class: "tw-rate" }, whole > 0 ? percent(part / whole) : "");
  const name = (k, scope) => make("th", { scope }, make("bdi", {}, classes[k]));
  const rows = shown.map((i) =>
    make("tr", {}, name(i, "row"), ...shown.map((j) => cell(i, j)), rate(matrix[i][i], totals[i])),
  );
  const recall = make("th", { scope: "col", class: "tw-rate" }, make("span", {}, "recall"));
  const precision = make("th", { scope: "row", class: "tw-rate" }, "precision");
  const table = make(
    "table",
    { class: `tw-confusion${shown.length > 8 ? " tw-crowded" : ""}` },
    make("caption", {}, "true class in rows, predicted class in columns"),
    make("thead", {}, make("tr", {}, make("td"), ...shown.map((j) => name(j, "col")), recall)),
    make("tbody", {}, ...rows),
    make("tfoot", {}, make("tr", {}, precision, ...shown.map((j) => rate(matrix[j][j], predicted[j])), make("td"))),
  );
  const element = make("div", {}, scrolled("Confusion matrix", table));
  const left = used.length - shown.length;
  if (left > 0) element.append(moreLink(`${many(left, "rarer class", "rarer classes")} more`, () =>
    element.replaceChildren(confusion(matrix, classes, Infinity))));
  return element;
}
