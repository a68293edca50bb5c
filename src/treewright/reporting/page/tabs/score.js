// The Score tab: how well the tree predicts, beside a baseline (the most frequent class, or the mean), and its settings.

import { factList, make, moreLink, scrolled, section, tableOf } from "../base/elements.js";
import { fixed, number, percent } from "../base/numbers.js";
import { confusion } from "../score/confusion.js";
import { predictedChart, residuals } from "../score/numbers.js";
import { thresholdPart } from "../score/threshold.js";

const MOST_CLASSES = 8;

/** A score as text: accuracies are percentages, ROC AUC and R² have three decimals; `score_text` in Python. */
export function scoreText(headline, which = "value") {
  if (headline.name.endsWith("accuracy")) return percent(headline[which], 1);
  return ["ROC AUC", "R²"].includes(headline.name) ? fixed(headline[which], 3) : number(headline[which]);
}

/** A tab that shows figures of the tree in view; where the report has none of this step, what to do instead. */
export function figuresTab(app, name, parts, ...below) {
  const body = make("div");
  const notes = {
    pruned: "Of the pruned tree, as it is shown.",
    unknown:
      "The page has no figures of this step of a long pruning path. " +
      "In Python, prune(tree, CostComplexity(alpha)) returns this tree.",
  };
  function treeChanged(figures = app.model.report) {
    const whole = app.state.step === 0;
    const note = whole ? null : make("p", { class: "tw-note" }, figures ? notes.pruned : notes.unknown);
    body.replaceChildren(...[note, ...(figures ? parts(figures, whole) : [])].filter(Boolean));
  }
  treeChanged();
  return { name, element: make("div", { class: "tw-page" }, make("h2", {}, name), body, ...below), treeChanged };
}

export function scoreTab(app) {
  return figuresTab(app, "Score", ({ scores }) => scoreParts(app, scores), settings(app));
}

function scoreParts(app, scores) {
  const parts = [["Held-out rows", scores.held_out], ["Training rows", scores.training]].filter(([, score]) => score);
  const optimistic = scores.held_out ? null : make(
    "p",
    { class: "tw-note" },
    "These are training rows, which a tree fits better than new rows; ",
    "render.html(tree, data, held_out=...) adds rows it has not seen.",
  );
  const columns = parts.map(([title, score], i) => scorePart(app, title, score, `${app.id}-threshold-${i}`));
  return [optimistic, make("div", { class: "tw-columns" }, ...columns)];
}

/** The figures of some rows, under a title. */
export function scorePart(app, title, score, id) {
  const { classes } = app.model;
  const { headline } = score;
  const list = [[headline.name, scoreText(headline)], ["baseline", scoreText(headline, "baseline")]];
  for (const measure of score.measures || []) if (measure.name !== headline.name) list.push(
    [measure.name, `${scoreText(measure)} (baseline ${scoreText(measure, "baseline")})`]
  );
  list.push([score.source === "rows" ? "rows" : "weight of the leaves", number(score.n)]);
  return section(
    title,
    factList(list),
    score.curve ? thresholdPart(id, score, classes) : score.matrix ? confusion(score.matrix, classes) : null,
    rareClasses(score.classes || [], classes),
    score.points ? predictedChart(score) : null,
    score.histogram ? residuals(score) : null,
  );
}

/** The classes that accuracy hardly reflects, with their places: below a tenth of the rows (prediction/class_scores.py). */
export function rareOf(all) {
  const whole = all.reduce((sum, one) => sum + one.rows, 0);
  return [...all.entries()].filter(([, one]) => one.rows > 0 && one.rows < 0.1 * whole);
}

function rareClasses(all, classes) {
  const rare = rareOf(all);
  if (!rare.length) return null;
  const share = (x) => (x === null ? "" : percent(x, 1));
  const row = ([k, one]) => [classes[k], number(one.rows), share(one.recall), share(one.average_precision)];
  const heads = ["rare class", "rows", "recall", "average precision"];
  const table = (some) => scrolled("Rare classes", tableOf(heads, some.map(row)));
  const element = make("div", { class: "tw-rare" }, table(rare.slice(0, MOST_CLASSES)));
  if (rare.length > MOST_CLASSES) element.append(moreLink(`${rare.length - MOST_CLASSES} more`, () =>
    element.replaceChildren(table(rare))));
  return element;
}

/** The recipe and what was pruned, to grow the same tree again. */
function settings(app) {
  const { facts } = app.model.report;
  const list = (lines, kind) => make("ul", { class: kind }, ...lines.map((line) => make("li", {}, line)));
  return make(
    "details",
    { class: "tw-section tw-settings" },
    make("summary", {}, facts.certificate ? "How it was found" : "How it was grown"),
    list(facts.settings, "tw-sentences"),
    facts.cuts.length ? make("h3", {}, "Pruned subtrees") : null,
    facts.cuts.length ? list(facts.cuts, "tw-cuts") : null,
  );
}
