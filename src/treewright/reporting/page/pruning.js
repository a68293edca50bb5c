// The pruning path: a slider from the whole tree to its root, and what each tree does wrong.
//
// Comes in: the app. Goes out: a panel; moving the slider cuts the tree in view.
// Always holds: the first step is the whole tree; a step shows the tree whose leaves save more than alpha each.

import { facts, section } from "./inspector.js";
import { draw, make, many, number, shortNumber } from "./words.js";

const WIDTH = 320;
const HEIGHT = 150;
const FRAME = { left: 44, right: 10, top: 10, bottom: 26 };

export function pruningPanel(app) {
  const { pruning } = app.model.report;
  const steps = pruning.alpha.length;
  const slider = make(
    "input",
    { type: "range", min: 0, max: steps - 1, step: 1, value: 0, id: `${app.id}-alpha`, disabled: steps < 2 },
  );
  const told = make("div", { "aria-live": "polite" });
  const marker = draw("g", { class: "tw-marker" });
  const chart = riskChart(pruning, marker);
  const best = pruning.held_out ? lastOfLeast(pruning.held_out) : null;
  const element = make(
    "div",
    { class: "tw-pruning" },
    make(
      "p",
      { class: "tw-muted" },
      "Each step cuts the splits whose leaves save the least. Drag to see the tree at that point.",
    ),
    make("label", { for: `${app.id}-alpha`, class: "tw-eyebrow" }, "Step"),
    slider,
    told,
    make(
      "div",
      { class: "tw-actions" },
      button("Whole tree", () => go(0)),
      best === null ? null : button("Least held-out risk", () => go(best)),
    ),
    section("Risk by leaves", chart),
  );

  function go(step) {
    slider.value = String(step);
    show();
    return app.cut(step);
  }

  function show() {
    const step = Number(slider.value);
    const alpha = pruning.alpha[step];
    const upTo = step + 1 < steps ? `to ${number(pruning.alpha[step + 1])}` : "on";
    const list = [
      ["leaves", `${number(pruning.leaves[step])} of ${number(pruning.leaves[0])}`],
      [
        "alpha",
        alpha < 0 ? "none" : `from ${number(alpha)} ${upTo}`,
      ],
      ["training risk", number(pruning.risk[step])],
    ];
    if (pruning.held_out) list.push(["held-out risk", number(pruning.held_out[step])]);
    told.replaceChildren(facts(list));
    slider.setAttribute(
      "aria-valuetext",
      `step ${step + 1} of ${steps}: ${many(pruning.leaves[step], "leaf", "leaves")}`,
    );
    marker.replaceChildren(...chart.mark(step));
  }

  slider.addEventListener("input", () => go(Number(slider.value)));
  show();
  return { element, go };
}

function button(text, onclick) {
  return make("button", { type: "button", class: "tw-button", onclick }, text);
}

function lastOfLeast(risks) {
  const least = Math.min(...risks);
  return risks.findLastIndex((risk) => risk <= least * (1 + 1e-10));
}

/** Risk against leaves (on a logarithmic scale, where most of the path happens). */
function riskChart(pruning, marker) {
  const curves = [
    ["tw-curve-training", pruning.risk],
    ["tw-curve-unseen", pruning.held_out],
  ].filter(([, risks]) => risks);
  const highest = Math.max(...curves.flatMap(([, risks]) => [Math.max(...risks)]), 1e-12);
  const most = Math.log(Math.max(2, pruning.leaves[0]));
  const x = (leaves) => FRAME.left + (Math.log(leaves) / most) * (WIDTH - FRAME.left - FRAME.right);
  const y = (risk) => HEIGHT - FRAME.bottom - (risk / highest) * (HEIGHT - FRAME.bottom - FRAME.top);
  const lines = curves.map(([name, risks]) =>
    draw(
      "path",
      {
        class: name,
        d: risks.map((risk, i) => `${i ? "L" : "M"}${x(pruning.leaves[i]).toFixed(1)} ${y(risk).toFixed(1)}`).join(""),
      },
    ),
  );
  const label = (text, at, anchor, extra = {}) => {
    const element = draw("text", { x: at[0], y: at[1], "text-anchor": anchor, ...extra });
    element.textContent = text;
    return element;
  };
  const ticks = [
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    1000,
    2000,
    5000,
    10000,
    20000,
  ].filter((t) => t <= pruning.leaves[0]);
  const spare = Math.ceil(ticks.length / 6);
  const svg = draw(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: "tw-chart",
      role: "img",
      "aria-label": "Risk of the tree at each step, by its leaves",
    },
    ...[0, highest / 2, highest].flatMap((risk) => [
      draw("path", { class: "tw-grid", d: `M${FRAME.left} ${y(risk)}H${WIDTH - FRAME.right}` }),
      label(shortNumber(Number(risk.toPrecision(2))), [FRAME.left - 6, y(risk) + 4], "end"),
    ]),
    ...ticks.filter((_, i) => i % spare === 0).map((t) => label(number(t), [x(t), HEIGHT - 10], "middle")),
    ...lines,
    marker,
  );
  const key = make(
    "p",
    { class: "tw-key" },
    make("i", { class: "tw-key-training" }),
    "training",
    pruning.held_out ? make("i", { class: "tw-key-unseen" }) : null,
    pruning.held_out ? "held out" : null,
  );
  const element = make("div", {}, svg, key);
  element.mark = (step) => [
    draw("path", { class: "tw-now", d: `M${x(pruning.leaves[step])} ${FRAME.top}V${HEIGHT - FRAME.bottom}` }),
    ...curves.map(
      ([name, risks]) => draw("circle", { class: name, cx: x(pruning.leaves[step]), cy: y(risks[step]), r: 4 })
    ),
  ];
  return element;
}
