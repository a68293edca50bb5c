// The linear model of a leaf: its terms, its line through the rows, its residuals, and its arithmetic for one row.

import { modelled, termValue } from "../../../export/route.js";
import { draw, make, scrolled, section, tableOf } from "../base/elements.js";
import { many, number, shortNumber } from "../base/numbers.js";
import { valueText } from "../base/values.js";

const WIDTH = 340;
const HEIGHT = 190;
const FRAME = { left: 52, right: 8, top: 8, bottom: 24 };
/** How far the line is drawn beyond the training range, as a share of it. */
const BEYOND = 0.3;
const STEPS = 120;

/** The model of a node; pictures where the report has its rows. */
export function modelPart(app, node) {
  const model = app.model.tree.models[node];
  const { sample } = model;
  const terms = model.terms.map((term, k) => [model.names[k], number(term.coefficient), meanText(app, term)]);
  const rows = [["intercept", number(model.intercept), ""], ...terms];
  const parts = [
    make("p", { class: "tw-muted" }, model.guard ? `kept ${model.guard}` : "not kept within a range"),
    terms.length ? scrolled("Terms", tableOf(["term", "coefficient", "if missing"], rows, { class: "tw-table tw-terms" })) : null,
    sample?.x ? lineFigure(app, node, model) : null,
    sample && terms.length ? residualFigure(app, node, model) : null,
  ];
  return section("Linear model", ...parts);
}

function meanText(app, { column, fill, levels }) {
  return levels ? number(fill) : shortValue(app.model.report.schema.columns[column], fill);
}

/** A value at a glance: numbers with four digits, moments as they are written. */
function shortValue(spec, value) {
  return spec.kind === "numeric" ? number(value) : valueText(spec, Math.round(value));
}

/** The target by the first number of the model, and its line where all other terms are at their means. */
function lineFigure(app, node, model) {
  const { sample } = model;
  const spec = app.model.report.schema.columns[sample.column];
  const { target } = app.model.report.facts;
  const [from, to] = sample.range;
  const more = (to - from || Math.abs(from) || 1) * BEYOND;
  const row = new Array(app.model.report.schema.columns.length).fill(null);
  const line = Array.from({ length: STEPS + 1 }, (_, i) => {
    row[sample.column] = from - more + ((to - from + 2 * more) * i) / STEPS;
    return [row[sample.column], modelled(model, row)];
  });
  const dots = sample.x.flatMap((x, i) => (x === null ? [] : [[x, sample.truth[i]]]));
  const scale = scales([...line, ...dots]);
  const inside = line.filter(([x]) => x >= from && x <= to);
  const [left, right] = [scale.x(from), scale.x(to)];
  const others = model.terms.length > 1 ? "; other terms at their means" : "";
  return chart(
    [make("bdi", {}, target), " by ", make("bdi", {}, spec.name), ofRows(app, node, dots.length), others],
    `${target} by ${spec.name}, with the line of the model`,
    ...axes(scale, (x) => shortValue(spec, x)),
    draw("rect", { class: "tw-range", x: left, y: FRAME.top, width: Math.max(1, right - left), height: scale.tall }),
    draw("path", { class: "tw-dots", d: dotsPath(scale, dots) }),
    draw("path", { class: "tw-model-line tw-beyond", d: linePath(scale, line) }),
    draw("path", { class: "tw-model-line", d: linePath(scale, inside) }),
  );
}

/** Residuals by predictions: what the line leaves. */
function residualFigure(app, node, { sample }) {
  const dots = sample.residual.map((residual, i) => [sample.truth[i] - residual, residual]);
  const scale = scales([...dots, [dots[0][0], 0]]);
  return chart(
    ["residuals by predictions", ofRows(app, node, dots.length)],
    "Residuals by predictions",
    ...axes(scale, (x) => number(x)),
    draw("path", { class: "tw-diagonal", d: `M${FRAME.left} ${scale.y(0)}H${WIDTH - FRAME.right}` }),
    draw("path", { class: "tw-dots", d: dotsPath(scale, dots) }),
  );
}

function ofRows(app, node, shown) {
  const all = app.model.nodes.rows[node];
  return shown < all ? `, ${number(shown)} of ${many(all, "row")}` : "";
}

function chart(caption, label, ...parts) {
  const properties = { class: "tw-chart", role: "img", "aria-label": label };
  return make(
    "figure",
    { class: "tw-leaf-model" },
    make("figcaption", { class: "tw-muted" }, ...caption),
    draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, ...properties }, ...parts),
  );
}

function scales(points) {
  const span = (values) => [Math.min(...values), Math.max(...values)];
  const [[left, right], [low, high]] = [span(points.map(([x]) => x)), span(points.map(([, y]) => y))];
  const wide = WIDTH - FRAME.left - FRAME.right;
  const tall = HEIGHT - FRAME.top - FRAME.bottom;
  return {
    left, right, low, high, tall,
    x: (value) => FRAME.left + ((value - left) / (right - left || 1)) * wide,
    y: (value) => FRAME.top + tall - ((value - low) / (high - low || 1)) * tall,
  };
}

function axes(scale, text) {
  const word = (words, x, y, anchor) => {
    const element = draw("text", { x, y, "text-anchor": anchor });
    element.textContent = words;
    return element;
  };
  const round = (value) => Number(value.toPrecision(3));
  return [
    ...[scale.low, (scale.low + scale.high) / 2, scale.high].flatMap((value) => [
      draw("path", { class: "tw-grid", d: `M${FRAME.left} ${scale.y(value)}H${WIDTH - FRAME.right}` }),
      word(shortNumber(round(value)), FRAME.left - 6, scale.y(value) + 4, "end"),
    ]),
    word(text(scale.left), FRAME.left, HEIGHT - 8, "start"),
    word(text(scale.right), WIDTH - FRAME.right, HEIGHT - 8, "end"),
  ];
}

function linePath(scale, points) {
  return points.map(([x, y], i) => `${i ? "L" : "M"}${scale.x(x).toFixed(1)} ${scale.y(y).toFixed(1)}`).join("");
}

function dotsPath(scale, points) {
  return points.map(([x, y]) => `M${scale.x(x).toFixed(1)} ${scale.y(y).toFixed(1)}h0`).join("");
}

/** How the model of each end gets its prediction from one row. */
export function arithmeticPart(app, row, ends) {
  const { models } = app.model.tree;
  const { columns } = app.model.report.schema;
  const parts = ends.slice(0, 3).flatMap(({ node, weight }) => {
    const model = models[node];
    const total = model.terms.reduce((sum, term) => sum + term.coefficient * termValue(term, row), model.intercept);
    const predicted = modelled(model, row);
    const line = (term, k) => {
      const value = termValue(term, row);
      const shown = term.levels ? number(value) : shortValue(columns[term.column], value);
      const isKnown = row[term.column] !== null && !(term.levels && row[term.column] < 0);
      return [model.names[k], number(term.coefficient), isKnown ? shown : `${shown} (mean)`,
        number(term.coefficient * value)];
    };
    const table = tableOf(["term", "coefficient", "value", "product"], [
      ["intercept", "", "", number(model.intercept)], ...model.terms.map(line), ["sum", "", "", number(total)],
    ]);
    const held = predicted === total ? null : make(
      "p", { class: "tw-note" }, `The sum is beyond the range guard (${model.guard}): ${number(predicted)}`);
    const title = ends.length > 1 ? make("p", { class: "tw-muted" }, `node ${node}, share ${number(weight)}`) : null;
    return [title, scrolled(`Terms of node ${node}`, table), held];
  });
  return section(ends.length > 1 ? "Linear models" : `Linear model of node ${ends[0].node}`, ...parts);
}
