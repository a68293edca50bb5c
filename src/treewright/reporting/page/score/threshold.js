// Two classes: the ROC curve, and a slider for the threshold with the confusion matrix that it gives.

import { button, draw, make } from "../base/elements.js";
import { number, percent } from "../base/numbers.js";
import { confusion } from "./confusion.js";
import { lineThrough, unitSquare, x, y } from "./unit_square.js";

/**
 * @param {{threshold: number[], hits: number[], alarms: number[]}} curve at each threshold, from the highest down, the
 *   rows of the second class and of the first whose probability is at least that
 */
export function thresholdPart(id, score, classes) {
  const { curve, matrix } = score;
  const [negative, positive] = matrix.map((row) => row.reduce((a, b) => a + b, 0));
  const own = ownStep(curve, matrix);
  const steps = curve.threshold.length;
  const slider = make("input", { type: "range", min: 0, max: steps - 1, step: 1, value: own, id });
  const label = make("label", { for: id });
  const table = make("div");
  const marker = draw("circle", { class: "tw-marker-dot", r: 5 });
  const reset = button("Threshold of the tree", () => go(own));
  const at = (step) => [
    negative > 0 ? curve.alarms[step] / negative : 0, positive > 0 ? curve.hits[step] / positive : 0,
  ];

  function go(step) {
    slider.value = String(step);
    const [hits, alarms] = [curve.hits[step], curve.alarms[step]];
    const cells = [[negative - alarms, alarms], [positive - hits, hits]];
    const right = percent((negative - alarms + hits) / (negative + positive), 1);
    const from = number(curve.threshold[step]);
    label.replaceChildren(
      "predict ", make("b", {}, make("bdi", {}, classes[1])), ` from a probability of ${from}: accuracy ${right}`
    );
    slider.setAttribute("aria-valuetext", `threshold ${from}`);
    table.replaceChildren(confusion(cells, classes));
    const [across, up] = at(step);
    marker.setAttribute("cx", x(across));
    marker.setAttribute("cy", y(up));
    reset.disabled = step === own;
  }

  slider.addEventListener("input", () => go(Number(slider.value)));
  go(own);
  const points = curve.threshold.map((_, i) => at(i));
  return make(
    "div",
    { class: "tw-threshold" },
    make("div", {}, label, slider, make("div", { class: "tw-actions" }, reset), table),
    rocChart(lineThrough([[0, 0], ...points, [1, 1]]), marker, classes[1]),
  );
}

/** The step at which the threshold predicts as the tree does. */
function ownStep({ threshold, hits, alarms }, matrix) {
  const same = threshold.findIndex((_, i) => hits[i] === matrix[1][1] && alarms[i] === matrix[0][1]);
  if (same >= 0) return same;
  return threshold.reduce((best, t, i) => (Math.abs(t - 0.5) < Math.abs(threshold[best] - 0.5) ? i : best), 0);
}

function rocChart(line, marker, positive) {
  const caption = ["ROC curve of ", make("bdi", {}, positive), ": recall by false positive rate"];
  return unitSquare(
    { kind: "tw-roc", label: "ROC curve", caption, axis: "false positive rate" },
    draw("path", { class: "tw-curve-unseen", d: line }),
    marker,
  );
}
