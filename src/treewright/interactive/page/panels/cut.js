// The editor of a numeric split: the score over all cuts as a curve, the distribution of the values below it, and the cut
// as a line to drag, to move by arrow keys, or to type.

import { draw, make } from "../../../reporting/page/base/elements.js";
import { figure, number, shortNumber } from "../../../reporting/page/base/numbers.js";
import { inputText, inputValue } from "../../../reporting/page/base/values.js";
import { scaleColour } from "../../../reporting/page/base/model.js";

const [WIDE, TALL, BARS, LEFT] = [480, 150, 70, 8];
const INPUTS = { numeric: "number", date: "date", datetime: "datetime-local", time: "time", duration: "number" };

export function cutEditor(studio, found, spec, first, changed) {
  const { low, high } = found;
  const span = high - low || 1;
  const x = (value) => LEFT + ((value - low) / span) * (WIDE - 2 * LEFT);
  const best = found.best === null ? (low + high) / 2 : found.cuts[found.best];
  let at = first?.threshold === undefined ? best : [first.threshold].flat()[0];
  const line = draw("path", { class: "st-cut" });
  const grip = draw("circle", { class: "st-grip", r: 7 });
  const svg = draw("svg", {
    class: "tw-chart st-curve", viewBox: `0 0 ${WIDE} ${TALL + BARS + 20}`, tabindex: 0, role: "slider",
    "aria-label": `Threshold of ${spec.name}`, "aria-valuemin": low, "aria-valuemax": high,
  }, ...curve(found, x), ...bars(studio, found, x), ...axis(spec, low, high), line, grip);
  const typed = make("input", { type: INPUTS[spec.kind] ?? "number", step: "any", "aria-label": "Threshold" });
  const element = make("div", {}, svg, make("div", { class: "st-links" },
    make("label", { class: "tw-filter" }, "threshold", typed),
    make("button", { type: "button", class: "tw-button", onclick: () => move(best) }, "Best cut"),
    make("button", { type: "button", class: "tw-button", onclick: () => move(rounder(at, span)) }, "Rounder")),
  found.thinned ? make("p", { class: "tw-muted" }, "The curve shows some of very many cuts; any can be chosen.") : null);

  function place() {
    const inside = Math.min(Math.max(at, low), high);
    line.setAttribute("d", `M${x(inside)} 0V${TALL + BARS}`);
    grip.setAttribute("cx", x(inside));
    grip.setAttribute("cy", TALL);
    svg.setAttribute("aria-valuenow", at);
    svg.setAttribute("aria-valuetext", number(at));
    if (document.activeElement !== typed) typed.value = inputText(spec, at);
  }

  function move(value) {
    at = value;
    place();
    changed({ threshold: at });
  }
  const dragged = (event) => {
    const box = svg.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width) * WIDE;
    const value = low + (Math.min(Math.max(share, LEFT), WIDE - LEFT) - LEFT) / (WIDE - 2 * LEFT) * span;
    move(nearest(found.cuts, value, span));
  };
  svg.addEventListener("pointerdown", (event) => {
    svg.setPointerCapture(event.pointerId);
    dragged(event);
  });
  svg.addEventListener("pointermove", (event) => svg.hasPointerCapture(event.pointerId) && dragged(event));
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[event.key];
    if (event.key === "Home") move(best);
    else if (step) move(beside(found.cuts, at, step, span));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  typed.addEventListener("input", () => {
    const value = inputValue(spec, typed.value);
    if (value !== null) move(value);
  });
  place();
  return { element, value: () => ({ threshold: at }), children: () => 2 };
}

function curve(found, x) {
  const usable = found.scores.filter((score) => score !== null);
  const top = Math.max(...usable, 1e-300);
  const bottom = Math.min(...usable, 0);
  const y = (score) => 14 + (1 - (score - bottom) / (top - bottom || 1)) * (TALL - 20);
  const points = found.cuts.map((cut, i) => (found.scores[i] === null ? null : `${x(cut).toFixed(1)} ${y(found.scores[i]).toFixed(1)}`));
  const parts = [draw("path", { class: "tw-grid", d: `M0 ${TALL}H${WIDE}` })];
  if (points.length) parts.push(draw("path", { class: "st-line", d: `M${points.filter(Boolean).join("L")}` }));
  const refused = found.cuts.filter((_, i) => !found.allowed[i]);
  if (refused.length) parts.push(draw("path", { class: "st-refused-cuts", d: refused.slice(0, 500).map((cut) => `M${x(cut).toFixed(1)} ${TALL - 4}v4`).join("") }));
  if (found.best !== null) {
    const at = found.cuts[found.best];
    parts.push(draw("circle", { class: "st-best", cx: x(at), cy: y(found.scores[found.best]), r: 4 }),
      draw("text", { x: x(at) + (x(at) > WIDE - 110 ? -10 : 10), y: 12, "text-anchor": x(at) > WIDE - 110 ? "end" : "start" }, `best ${figure(found.scores[found.best])}`));
  }
  return parts;
}

function bars(studio, found, x) {
  const { edges, counts, weight, mean } = found.bars;
  const totals = counts ? counts.map((bar) => bar.reduce((a, b) => a + b, 0)) : weight;
  const top = Math.max(...totals, 1e-300);
  const { colours } = studio.state.report;
  return totals.flatMap((total, i) => {
    let y = TALL + BARS;
    const wide = Math.max(0.5, x(edges[i + 1]) - x(edges[i]) - 0.6);
    const rect = (share, fill) => {
      const tall = (share / top) * (BARS - 4);
      y -= tall;
      return draw("rect", { x: x(edges[i]), y, width: wide, height: tall, style: `fill:${fill}` });
    };
    if (!counts) return total > 0 ? [rect(total, scaleColour(studio.model, mean[i]))] : [];
    return counts[i].flatMap((count, k) => (count > 0 ? [rect(count, colours[k])] : []));
  });
}

function axis(spec, low, high) {
  const text = (value) => (spec.kind === "numeric" ? shortNumber(value) : inputText(spec, value));
  const y = TALL + BARS + 15;
  return [draw("path", { class: "tw-grid", d: `M0 ${TALL + BARS}H${WIDE}` }),
    draw("text", { x: LEFT, y }, text(low)), draw("text", { x: WIDE - LEFT, y, "text-anchor": "end" }, text(high))];
}

function nearest(cuts, value, span) {
  if (!cuts.length) return value;
  let [from, to] = [0, cuts.length - 1];
  while (to - from > 1) {
    const middle = (from + to) >> 1;
    if (cuts[middle] <= value) from = middle;
    else to = middle;
  }
  const near = Math.abs(cuts[from] - value) <= Math.abs(cuts[to] - value) ? cuts[from] : cuts[to];
  return Math.abs(near - value) < span / 100 ? near : value;
}

function beside(cuts, at, step, span) {
  if (!cuts.length) return at + (step * span) / 100;
  const here = cuts.findIndex((cut) => cut >= at - 1e-12 * span);
  const i = here < 0 ? cuts.length - 1 : here + (step > 0 || cuts[here] > at ? 0 : 0);
  return cuts[Math.min(Math.max(i + step, 0), cuts.length - 1)];
}

/** The number with one digit less that is near: a round number. */
function rounder(at, span) {
  for (let digits = -12; digits <= 12; digits++) {
    const unit = 10 ** -digits;
    const round = Math.round(at / unit) * unit;
    if (Math.abs(round - at) < span / 20) return Number(round.toPrecision(12));
  }
  return at;
}
