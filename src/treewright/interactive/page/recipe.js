// The recipe bar: the algorithm and its choices; begin anew with them, grow by them, or compare with what they learn.

import { button, make } from "../../reporting/page/base/elements.js";

const NAMES = { cart: "CART", c45: "C4.5", id3: "ID3", chaid: "CHAID", exhaustive_chaid: "Exhaustive CHAID", j48: "J48",
  rpart: "rpart", sklearn: "scikit-learn", m5: "M5", pilot: "PILOT", model_tree: "model tree", none: "no pruning", f: "F test" };

export function recipeBar(studio) {
  const fields = new Map();
  const choice = (name, label) => {
    const field = make("select", { "aria-label": label });
    fields.set(name, field);
    return make("label", { class: "st-choice", "data-choice": name }, make("span", { class: "tw-eyebrow" }, label), field);
  };
  const element = make("div", { class: "st-recipe", role: "group", "aria-label": "Recipe" },
    choice("algorithm", "algorithm"), choice("criterion", "criterion"), choice("regression", "criterion"),
    choice("missing", "missing values"), choice("pruning", "pruning"),
    make("div", { class: "tw-group" },
      button("Begin anew", () => studio.change("start", { ...studio.state.start, recipe: chosen() }, 0), {
        title: "One node again, ranked and grown by this recipe; can be undone" }),
      button("Grow by it", () => studio.change("grow", { node: studio.node, recipe: chosen() }, studio.node), {
        title: "Replace what is below the selected node by what this recipe grows there, whatever the session's" }),
      button("Compare", () => studio.compared.open(chosen()), { title: "The tree that this recipe learns, beside yours" })));
  let shown = null;
  let filled = null; // whether the choices are those for numbers

  /** The recipe as it is chosen: an algorithm, with other choices where they were made. */
  function chosen() {
    const found = {};
    for (const [name, field] of fields) if (field.value && !field.closest("[hidden]")) found[name] = field.value;
    return found;
  }

  function fill() {
    for (const [name, field] of fields) {
      const options = studio.state.choices[name].map((value) => make("option", { value }, NAMES[value] ?? value.replaceAll("_", " ")));
      const before = field.value;
      field.replaceChildren(...(name === "algorithm" ? [] : [make("option", { value: "" }, "its own")]), ...options);
      if (options.some(({ value }) => value === before)) field.value = before;
    }
  }

  function show() {
    const { start, report } = studio.state;
    const numbers = report.facts.task === "regression";
    if (numbers !== filled) fill();
    filled = numbers;
    element.querySelector('[data-choice="criterion"]').hidden = numbers;
    element.querySelector('[data-choice="regression"]').hidden = !numbers;
    const written = JSON.stringify(start.recipe);
    if (shown !== written && typeof start.recipe === "string") fields.get("algorithm").value = start.recipe;
    shown = written;
  }
  return { element, show, chosen };
}
