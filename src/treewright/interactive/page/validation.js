// Cross-validation of the tree by hand and of a recipe, on the same five folds, one line each.

import { button, make, tableOf } from "../../reporting/page/base/elements.js";
import { many, number, percent } from "../../reporting/page/base/numbers.js";
import { post } from "./api.js";

/** The part of a page with the button and the results; `recipeOf` gives the recipe to compare with. */
export function validation(studio, recipeOf) {
  const results = make("div", { "aria-live": "polite" });
  const run = button("Cross-validate", start, {
    title: "Score your steps, replayed, and the recipe over five folds, in the background; Esc cancels" });
  const element = make("div", { class: "st-validation" },
    make("p", { class: "tw-muted" }, "Your steps are replayed on four fifths of the rows and scored on the rest, five times. You chose them ",
      "having seen the rows, so their score is a little too good; the recipe chooses anew in every fold."),
    make("div", { class: "tw-actions" }, run), results);
  let of = null; // the tree that the results are about

  /** Takes results away that are about another tree. */
  function show() {
    if (of !== null && of !== studio.state.version) results.replaceChildren();
  }

  async function start() {
    const version = studio.state.version;
    const recipe = recipeOf();
    of = version;
    run.disabled = true;
    results.replaceChildren(make("p", { class: "tw-muted" }, "Cross-validating …"));
    const found = [];
    for (const body of [{}, { recipe }]) {
      const one = await studio.request(() => post("cross_validate", body));
      if (!one) break;
      found.push(one);
      if (studio.state.version === version) results.replaceChildren(table(found));
    }
    run.disabled = false;
    if (!found.length || studio.state.version !== version) results.replaceChildren();
  }
  return { element, show, clear: () => results.replaceChildren() };
}

function table(found) {
  const { measure } = found[0];
  const text = (x) => (measure === "accuracy" ? percent(x, 1) : number(x));
  const rows = found.map(({ of, mean, values }) => [of, text(mean), `${text(Math.min(...values))} to ${text(Math.max(...values))}`]);
  rows.push(["baseline", text(found[0].baseline), ""]);
  const [{ steps, passed_over: passed }] = found;
  return make("div", {}, tableOf(["five folds", measure, "lowest to highest"], rows),
    steps ? make("p", { class: "tw-muted" }, passedText(passed, steps)) : null);
}

/** In how many folds steps had nothing to act on. */
function passedText(passed, steps) {
  const folds = passed.filter((n) => n > 0).length;
  if (!folds) return "Every step found its place in every fold.";
  return `In ${many(folds, "fold")} up to ${number(Math.max(...passed))} of ${many(steps, "step")} had no place in the tree and were passed over.`;
}
