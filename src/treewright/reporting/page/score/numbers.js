// A numeric target: predicted against actual values, and the residuals.

import { draw, make, scrolled, tableOf } from "../base/elements.js";
import { many, number, shortNumber } from "../base/numbers.js";

const SIZE = 260;
const FRAME = { left: 56, top: 8, right: 8, bottom: 40 };
const QUANTILES = ["minimum", "5 %", "25 %", "median", "75 %", "95 %", "maximum"];

/** Predicted against actual: one dot per row of a sample. */
export function predictedChart({ points: { predicted, actual }, n }) {
  const all = [...predicted, ...actual];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const at = (value) => ((value - low) / (high - low || 1)) * SIZE;
  const x = (value) => FRAME.left + at(value);
  const y = (value) => FRAME.top + SIZE - at(value);
  const dots = predicted.map((value, i) => `M${x(value).toFixed(1)} ${y(actual[i]).toFixed(1)}h0`).join("");
  const ticks = [low, (low + high) / 2, high].flatMap((value) => [
    draw("path", { class: "tw-grid", d: `M${x(low)} ${y(value)}H${x(high)}M${x(value)} ${y(low)}V${y(high)}` }),
    tick(shortNumber(round(value)), x(value), y(low) + 16, "middle"),
    tick(shortNumber(round(value)), x(low) - 6, y(value) + 4, "end"),
  ]);
  const [width, height] = [FRAME.left + SIZE + FRAME.right, FRAME.top + SIZE + FRAME.bottom];
  const sample = predicted.length < n ? `, ${number(predicted.length)} of ${many(n, "row")}` : "";
  const properties = { class: "tw-chart", role: "img", "aria-label": "Predicted and actual values" };
  return make(
    "figure",
    { class: "tw-predicted" },
    make("figcaption", {}, `Actual by predicted values${sample}; the line is a perfect prediction`),
    draw(
      "svg",
      { viewBox: `0 0 ${width} ${height}`, width, height, ...properties },
      ...ticks,
      draw("path", { class: "tw-diagonal", d: `M${x(low)} ${y(low)}L${x(high)} ${y(high)}` }),
      draw("path", { class: "tw-dots", d: dots }),
      tick("predicted", x((low + high) / 2), y(low) + 34, "middle"),
    ),
  );
}

function round(value) {
  return Number(value.toPrecision(3));
}

function tick(text, x, y, anchor) {
  const element = draw("text", { x, y, "text-anchor": anchor });
  element.textContent = text;
  return element;
}

/** The histogram of residuals and their quantiles. */
export function residuals({ histogram: { counts, edges }, quantiles }) {
  const [width, height, foot] = [340, 140, 22];
  const highest = Math.max(...counts, 1);
  const step = width / counts.length;
  const x = (value) => ((value - edges[0]) / (edges.at(-1) - edges[0] || 1)) * width;
  const bars = counts.map((count, i) => {
    const tall = (count / highest) * (height - foot - 8);
    return draw("rect", { x: i * step + 1, y: height - foot - tall, width: step - 2, height: tall });
  });
  const foot_ = (value, anchor, at) => tick(number(value), at, height - 6, anchor);
  const zero = edges[0] < 0 && edges.at(-1) > 0
    ? [draw("path", { class: "tw-now", d: `M${x(0)} 0V${height - foot}` }), foot_(0, "middle", x(0))] : [];
  return make(
    "figure",
    {},
    make("figcaption", {}, "Residuals: actual minus predicted"),
    draw(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`, width, height, class: "tw-chart tw-residuals", role: "img",
        "aria-label": "Histogram of residuals",
      },
      ...bars, ...zero, foot_(edges[0], "start", 0), foot_(edges.at(-1), "end", width),
    ),
    scrolled("Quantiles of the residuals", tableOf(QUANTILES, [quantiles.map(number)])),
  );
}
