// The Pruning tab: a slider from the whole tree to its root, the risk of each tree, and how to get that tree.

import { button, copyButton, draw, factList, make, muted, section } from "../base/elements.js";
import { figure, many, number, shortNumber } from "../base/numbers.js";

const WIDTH = 320;
const HEIGHT = 150;
const FRAME = { left: 48, right: 10, top: 10, bottom: 26 };
const TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000];

export function pruningTab(app) {
  const { pruning } = app.model.report;
  if (!pruning) return null; // the pruning path compares constant leaves
  const steps = pruning.alpha.length;
  const id = `${app.id}-alpha`;
  const slider = make("input", { type: "range", min: 0, max: steps - 1, step: 1, value: 0, id, disabled: steps < 2 });
  const figures = make("div", { "aria-live": "polite" });
  const command = make("div", { class: "tw-command" });
  const marker = draw("g", { class: "tw-marker" });
  const chart = riskChart(pruning, marker);
  const best = pruning.held_out ? lastOfLeast(pruning.held_out) : null;
  const element = make(
    "div",
    { class: "tw-pruning" },
    muted("Each step removes the splits that reduce the risk least per leaf."),
    make("label", { for: id, class: "tw-eyebrow" }, "Step"),
    slider,
    figures,
    make(
      "div",
      { class: "tw-actions" },
      button("Whole tree", () => go(0)),
      best === null ? null : button("Least held-out risk", () => go(best)),
    ),
    section("Risk by leaves", chart),
    command,
  );

  function go(step) {
    slider.value = String(step);
    show();
    return app.prune(step);
  }

  function show() {
    const step = Number(slider.value);
    const alpha = pruning.alpha[step];
    const upTo = step + 1 < steps ? `to ${figure(pruning.alpha[step + 1])}` : "on";
    const list = [
      ["leaves", `${number(pruning.leaves[step])} of ${number(pruning.leaves[0])}`],
      ["alpha", alpha < 0 ? "none" : `from ${figure(alpha)} ${upTo}`],
      ["training risk", figure(pruning.risk[step])],
    ];
    if (pruning.held_out) list.push(["held-out risk", figure(pruning.held_out[step])]);
    figures.replaceChildren(factList(list));
    const leaves = many(pruning.leaves[step], "leaf", "leaves");
    slider.setAttribute("aria-valuetext", `step ${step + 1} of ${steps}: ${leaves}`);
    marker.replaceChildren(...chart.mark(step));
    command.replaceChildren(...(step === 0 ? [] : [commandPart(app, alpha)]));
  }

  slider.addEventListener("input", () => go(Number(slider.value)));
  show();
  return { name: "Pruning", element };
}

/** How to save the tree that is shown, from the shell and in Python. */
function commandPart(app, alpha) {
  const exact = String(Math.max(alpha, 0));
  const lines = [
    `treewright prune tree.json --method cost-complexity --alpha ${exact} --save pruned.json`,
    `pruned = tw.prune(tree, tw.pruning.CostComplexity(alpha=${exact}))`,
  ];
  return section("Save this tree", ...lines.map((text) => make(
    "div",
    { class: "tw-command-line" },
    make("code", {}, text),
    copyButton(app, "Copy", () => text),
  )));
}

/** The last step of least risk: the smallest such tree. */
export function lastOfLeast(risks) {
  const least = Math.min(...risks);
  return risks.findLastIndex((risk) => risk <= least * (1 + 1e-10));
}

/** Risk against leaves (on a logarithmic scale, where most of the path happens). */
export function riskChart(pruning, marker) {
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
  const ticks = TICKS.filter((t) => t <= pruning.leaves[0]);
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
