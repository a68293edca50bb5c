// The rows of a node as a histogram: of the column it splits on; in a leaf, of the target. A bar is stacked by class, or
// coloured by the mean of the target.

import { draw, make, moreLink } from "../base/elements.js";
import { scaleColour, statsAt } from "../base/model.js";
import { shortNumber } from "../base/numbers.js";

const MOST_LEVELS = 12;
/** Lines between children closer together than this, in pixels, would cover the bars. */
const CLOSEST_CUTS = 6;

/** The bars of a node without words, as a card has them; null where nothing is known. */
export function bars(model, node, leaf, histogram, width, height) {
  const shown = leaf && model.classes ? classBars(model, node) : histogram;
  if (!shown) return null;
  const { counts, means, low, high, cuts } = shown;
  const totals = counts.map((bar) => bar.reduce((a, b) => a + b, 0));
  const highest = Math.max(...totals, 1e-300);
  const step = width / counts.length;
  const gap = Math.min(1, step / 4);
  const parts = [];
  counts.forEach((bar, i) => {
    let top = height;
    bar.forEach((weight, k) => {
      if (weight <= 0) return;
      const tall = (weight / highest) * height;
      top -= tall;
      const fill = means ? scaleColour(model, means[i]) : model.report.colours[shown.onlyClass ? i : k];
      parts.push(draw("rect", { x: i * step + gap / 2, y: top, width: step - gap, height: tall, style: `fill:${fill}` }));
    });
  });
  const at = (cut) => ((cut - low) / (high - low || 1)) * width;
  const lines = leaf || cuts.length * CLOSEST_CUTS > width ? [] : cuts;
  parts.push(...lines.map((cut) => draw("path", { class: "tw-cut", d: `M${at(cut)} 0V${height}` })));
  parts.push(draw("path", { class: "tw-grid", d: `M0 ${height}H${width}` }));
  return draw("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, class: "tw-histogram", "aria-hidden": "true",
  }, ...parts);
}

/** Of a leaf the classes themselves are the bars. */
function classBars(model, node) {
  const counts = statsAt(model, node).map((weight) => [weight]);
  return { counts, means: null, low: 0, high: counts.length, cuts: [], onlyClass: true };
}

/** The histogram of a node with its axis and its table of levels. */
export function histogramFigure(model, node, leaf, histogram) {
  if (!histogram || (leaf && model.classes)) return null;
  const drawing = bars(model, node, leaf, histogram, 340, 96);
  drawing.removeAttribute("width");
  drawing.removeAttribute("height");
  const { labels, ends, cuts, of, cut_texts: cutTexts } = histogram;
  const span = (text) => make("bdi", {}, text);
  const axis = labels
    ? make("p", { class: "tw-axis-levels" }, ...levelTexts(labels, cuts))
    : make("p", { class: "tw-axis" }, span(ends[0]), cutTexts.length ? span(`split at ${cutTexts.join(", ")}`) : null,
      span(ends[1]));
  const what = model.classes ? "rows by class" : "rows, coloured by the mean of the target";
  const of_ = make("figcaption", { class: "tw-muted" }, make("bdi", {}, of), `: ${what}`);
  return make("figure", { class: "tw-node-histogram" }, of_, drawing, axis);
}

/** The levels in the order of the bars, children separated by a line; of very many the first. */
function levelTexts(labels, cuts, most = MOST_LEVELS) {
  const texts = labels.slice(0, most).flatMap((label, i) => [
    i === 0 ? null : cuts.includes(i) ? make("b", {}, " | ") : ", ", make("bdi", {}, label),
  ]);
  if (labels.length <= most) return texts;
  const more = make("span", {}, " … ");
  more.append(moreLink(`${labels.length - most} more`, () =>
    more.parentElement.replaceChildren(...levelTexts(labels, cuts, labels.length).filter(Boolean))));
  return [...texts, more];
}

/** A legend of the colours: classes, or the scale of numbers. Null for a single class. */
export function legend(model, most = 12) {
  const label = `Colours of ${model.report.facts.target}`;
  if (!model.classes) {
    const [low, high] = model.range;
    const scale = make("i", { class: "tw-scale-bar", style: `background:linear-gradient(to right, ${model.report.colours})` });
    return make("ul", { class: "tw-legend", "aria-label": label }, make("li", {}, shortNumber(low), scale, shortNumber(high)));
  }
  const items = model.classes.map((name, k) => make("li", {}, swatch(model, k), make("bdi", {}, name)));
  const list = make("ul", { class: "tw-legend", "aria-label": label }, ...items.slice(0, most));
  if (items.length <= most) return list;
  list.append(make("li", {}, moreLink(`${items.length - most} more`, () => list.replaceChildren(...items))));
  return list;
}

/** A small square in the colour of a class. */
export function swatch(model, k) {
  return make("i", { class: "tw-swatch", style: `background:${model.report.colours[k]}`, "aria-hidden": "true" });
}
