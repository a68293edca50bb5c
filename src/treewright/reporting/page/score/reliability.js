// The reliability curve: how often a class is observed among held-out rows, by the probability that the tree gives it.

import { draw, make, muted, scrolled, section, tableOf } from "../base/elements.js";
import { figure, number, percent } from "../base/numbers.js";
import { lineThrough, unitSquare, x, y } from "./unit_square.js";

const MOST_CLASSES = 6;

/** @param {{rows: number, curves: {class: string, bins: object[]}[], scores: object[]}} found on held-out rows */
export function reliabilityPart({ rows, curves, scores }) {
  const shown = curves.slice(0, MOST_CLASSES);
  const line = ({ name, value, baseline }) => [name, figure(value), baseline === null ? "" : figure(baseline)];
  return section(
    "Reliability of the probabilities",
    muted(
      `On ${number(rows)} held-out rows. Points below the diagonal: the tree is too sure of the class; larger points `,
      "have more rows.",
    ),
    make("div", { class: "tw-curves" }, ...shown.map((curve) => curveFigure(curve))),
    curves.length > MOST_CLASSES
      ? muted(`${curves.length - MOST_CLASSES} more classes are in the table.`)
      : null,
    tableOf(["", "tree", "root alone"], scores.map(line), { class: "tw-table tw-narrow" }),
    details(curves),
  );
}

function curveFigure({ class: level, bins }) {
  const most = Math.max(...bins.map((bin) => bin.rows));
  const caption = [make("bdi", {}, level), ": observed by predicted probability"];
  return unitSquare(
    { kind: "tw-reliability", label: `Reliability curve of ${level}`, caption, axis: "predicted" },
    draw("path", { class: "tw-curve-unseen", d: lineThrough(bins.map((bin) => [bin.predicted, bin.observed])) }),
    ...bins.map((bin) => point(bin, most)),
  );
}

function point(bin, most) {
  const title = draw("title");
  title.textContent = `${number(bin.rows)} rows: predicted ${percent(bin.predicted, 1)}, observed ${percent(bin.observed, 1)}`;
  const r = 2.5 + 4 * Math.sqrt(bin.rows / most);
  return draw("circle", { class: "tw-curve-unseen", cx: x(bin.predicted), cy: y(bin.observed), r }, title);
}

function details(curves) {
  const rows = curves.flatMap(({ class: level, bins }) => bins.map((bin) => [
    level, `${percent(bin.low)} to ${percent(bin.high)}`, number(bin.rows), percent(bin.predicted, 1), percent(bin.observed, 1),
  ]));
  const table = tableOf(["class", "probability", "rows", "predicted", "observed"], rows, { class: "tw-table tw-narrow" });
  return make("details", {}, make("summary", {}, "Numbers"), scrolled("Reliability", table));
}
