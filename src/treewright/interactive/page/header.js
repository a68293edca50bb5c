// The head of the studio: the table, the score of the tree beside that of the step before, the recipe, the theme.

import { button, make } from "../../reporting/page/base/elements.js";
import { many, number, percent } from "../../reporting/page/base/numbers.js";
import { recipeBar } from "./recipe.js";

/** The scale up to which a small tree grows when the page is for a projector. */
const LARGE = 1.8;

export function header(studio) {
  const title = make("h1");
  const line = make("p", { class: "tw-line" });
  const scores = make("div", { class: "st-scores", role: "group", "aria-label": "Scores" });
  const recipe = recipeBar(studio);
  const theme = button("", () => {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    studio.root.dataset.theme = (studio.root.dataset.theme ?? system) === "dark" ? "light" : "dark";
    named();
  });
  const large = button("A+", () => {
    studio.nearest = studio.app.state.nearest = studio.root.classList.toggle("st-large") ? LARGE : undefined;
    studio.app.tree.start(studio.app.state.orientation);
  }, {
    title: "Larger, for a projector", "aria-label": "Larger, for a projector",
  });
  const named = () => {
    const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    theme.textContent = (studio.root.dataset.theme ?? system) === "dark" ? "Light" : "Dark";
  };
  named();

  function show() {
    const { facts } = studio.state.report;
    const { rows, table } = studio.state;
    title.replaceChildren(make("bdi", {}, table));
    document.title = `${facts.target}, ${table}: treewright studio`;
    line.replaceChildren(...[
      ["predicts ", make("b", {}, make("bdi", {}, facts.target))],
      [`${many(rows.training, "row")}${rows.held_out ? ` and ${number(rows.held_out)} held out` : ""}`],
      [many(facts.leaves, "leaf", "leaves")],
      [many(studio.state.undo, "step")],
    ].map((item) => make("span", {}, ...item)));
    scores.replaceChildren(...["training", "held_out"].map(score).filter(Boolean));
    recipe.show();
  }

  function score(side) {
    const found = studio.state.report.scores[side];
    if (!found) return null;
    const { name, value, baseline } = found.headline;
    const share = name === "accuracy";
    const text = (x) => (share ? percent(x, 1) : number(x));
    const earlier = studio.before?.report.scores[side]?.headline;
    const change = earlier && earlier.name === name ? value - earlier.value : 0;
    const better = share ? change > 0 : change < 0;
    const size = share ? `${number(Math.round(1000 * Math.abs(change)) / 10)} points` : number(Math.abs(change));
    const moved = Math.abs(change) < 1e-12 ? "" : `${change > 0 ? "+" : "−"}${size}`;
    return make("div", { class: "st-score", "data-side": side },
      make("span", { class: "tw-eyebrow" }, `${side === "training" ? "training" : "held-out"} ${name}`),
      make("b", {}, text(value)),
      moved ? make("span", { class: better ? "st-better" : "st-worse" }, `${moved} ${better ? "better" : "worse"}`)
        : make("span", { class: "tw-muted" }, `baseline ${text(baseline)}`));
  }

  const element = make("header", { class: "tw-header st-header" },
    make("div", { class: "tw-heading" }, title, line), scores, recipe.element, make("div", { class: "tw-tools" }, large, theme));
  return { element, show };
}
