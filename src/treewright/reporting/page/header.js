// The head of the page: title, facts and score of the tree as it is shown, theme and print.

import { button, make } from "./base/elements.js";
import { many, number } from "./base/numbers.js";
import { rareOf, scoreText } from "./tabs/score.js";

export function header(app, element, title) {
  const { facts } = app.model.report;
  const line = make("div");
  const show = (figures) => line.replaceChildren(factsLine(app, figures));
  show(app.model.report);
  const heading = make("h1", {}, make("bdi", {}, title || `Decision tree for ${facts.target}`));
  const tools = make("div", { class: "tw-tools" }, themeButton(element), button("Print", () => print()));
  return { element: make("header", { class: "tw-header" }, make("div", { class: "tw-heading" }, heading, line), tools), show };
}

/** One line: target, algorithm, rows, leaves of the tree that is shown, its certificate, its score beside the baseline. */
function factsLine(app, figures) {
  const { facts } = app.model.report;
  const { leaves, depth } = sizeShown(app);
  const pruned = leaves < facts.leaves ? `, pruned from ${many(facts.leaves, "leaf", "leaves")}` : "";
  const items = [
    ["predicts ", make("b", {}, make("bdi", {}, facts.target))],
    [make("bdi", {}, facts.recipe)],
    [facts.weighted ? `${many(facts.rows, "row")} of weight ${number(facts.weight)}` : many(facts.rows, "row")],
    [`${many(leaves, "leaf", "leaves")}, depth ${depth}${pruned}`],
    ...(facts.certificate && !pruned ? [[make("b", {}, facts.certificate)]] : []),
    ...(figures && scored(figures.scores) ? scoreItems(figures.scores) : []),
  ];
  return make("p", { class: "tw-line" }, ...items.map((item) => make("span", {}, ...item)));
}

/** The scores that head the page; a tree whose source gives no rows has none. */
function scored(scores) {
  return scores.held_out || scores.training;
}

/** The headline; where a class is rare, balanced accuracy too, because accuracy alone means little there. */
function scoreItems(scores) {
  const { headline, measures, classes } = scored(scores);
  const item = (measure) => [
    `${measure.name} `,
    make("b", {}, scoreText(measure)),
    ` (baseline ${scoreText(measure, "baseline")})`,
  ];
  const balanced = rareOf(classes || []).length ? measures.find(({ name }) => name === "balanced accuracy") : null;
  const [name, ...rest] = item(headline);
  return [[`${scores.held_out ? "held-out" : "training"} ${name}`, ...rest], ...(balanced ? [item(balanced)] : [])];
}

/** Leaves and depth of the tree as it is shown. */
function sizeShown({ model, tree }) {
  const { leaf, below } = tree.cut();
  let depth = 0;
  for (let i = 0; i < model.n; i++) if (leaf[i] === 1) depth = Math.max(depth, model.depth[i]);
  return { leaves: below[0], depth };
}

function themeButton(element) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (element.dataset.theme ? element.dataset.theme === "dark" : system.matches);
  const theme = button("", () => {
    element.dataset.theme = dark() ? "light" : "dark";
    show();
  }, { class: "tw-button tw-theme" });
  const show = () => (theme.textContent = dark() ? "Light" : "Dark");
  system.addEventListener("change", show);
  show();
  return theme;
}
