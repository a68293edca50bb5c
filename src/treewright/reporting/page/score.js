// How well the tree answers, and which columns it lives by.
//
// Comes in: the report's scores and importances. Goes out: two views.
// Always holds: a score stands beside its baseline, the root's answer for every row; training is never shown as if it
// were held out.

import { facts, section } from "./inspector.js";
import { draw, make, many, number, percent } from "./words.js";

const MOST_CLASSES = 40;

/** A headline as words: "accuracy 81.2 %". */
export function scoreText(headline, which = "value") {
  return headline.name.endsWith("accuracy") ? percent(headline[which], 1) : number(headline[which]);
}

/** A view that shows figures of the tree in view; without them, what to do instead. */
function figuresView(app, title, parts, ...below) {
  const body = make("div");
  const show = (figures) => {
    const whole = app.state.step === 0;
    const notes = {
      pruned: "Of the pruned tree, as it is shown.",
      unknown:
        "The page holds no figures of this step of a long pruning path. " +
        "In Python, prune(tree, CostComplexity(alpha)) makes this tree.",
    };
    const note = whole ? null : make("p", { class: "tw-note" }, figures ? notes.pruned : notes.unknown);
    body.replaceChildren(...[note, ...(figures ? parts(figures, whole) : [])].filter(Boolean));
  };
  const { scores, importances } = app.model.report;
  show({ scores, importances });
  return { element: make("div", { class: "tw-page" }, make("h2", {}, title), body, ...below), show };
}

export function scoreView(app) {
  return figuresView(app, "Score", ({ scores }) => scoreParts(scores, app.model.report.schema), grownView(app));
}

function scoreParts(scores, schema) {
  const parts = [["Held-out rows", scores.held_out], ["Training rows", scores.training]].filter(([, score]) => score);
  const flattered = scores.held_out ? null : make(
    "p",
    { class: "tw-note" },
    "Only training rows are known here, and they flatter a tree; ",
    "render.html(tree, data, held_out=...) shows rows it has not seen.",
  );
  const columns = make(
    "div",
    { class: "tw-columns" },
    ...parts.map(([title, score]) => scorePart(title, score, schema.target.classes)),
  );
  return [flattered, columns];
}

function scorePart(title, score, classes) {
  const { headline } = score;
  const list = [[headline.name, scoreText(headline)], ["baseline", scoreText(headline, "baseline")]];
  for (const measure of score.measures || []) if (measure.name !== headline.name) list.push(
    [measure.name, `${scoreText(measure)} (baseline ${scoreText(measure, "baseline")})`]
  );
  for (const [k, one] of rareClasses(score.classes || [])) if (one.average_precision !== null) list.push(
    [`average precision of ${classes[k]}`, percent(one.average_precision, 1)]
  );
  list.push([score.told === "rows" ? "rows" : "weight, as the leaves tell it", number(score.n)]);
  return section(
    title,
    facts(list),
    score.matrix ? confusion(score.matrix, classes) : null,
    score.histogram ? histogram(score) : null,
  );
}

/** The classes that accuracy hardly sees: below a tenth of the rows, as in prediction/class_scores.py. */
function rareClasses(all) {
  const whole = all.reduce((sum, one) => sum + one.rows, 0);
  return [...all.entries()].filter(([, one]) => one.rows > 0 && one.rows < 0.1 * whole).slice(0, MOST_CLASSES);
}

/** Truth in rows, answers in columns; shade by the share of the row. */
function confusion(matrix, classes) {
  const totals = matrix.map((row) => row.reduce((a, b) => a + b, 0));
  const answered = classes.map((_, j) => matrix.reduce((sum, row) => sum + row[j], 0));
  const used = classes.map((_, k) => k).filter((k) => totals[k] > 0 || answered[k] > 0);
  const shown = [...used].sort((a, b) => totals[b] - totals[a]).slice(0, MOST_CLASSES).sort((a, b) => a - b);
  const cell = (i, j) => {
    const share = totals[i] > 0 ? matrix[i][j] / totals[i] : 0;
    const kind = i === j ? "tw-right" : "tw-wrong";
    return make("td", {
      class: kind,
      style: `--share:${Math.round(60 * share)}%`,
      title: `true ${classes[i]}, answered ${classes[j]}: ${number(matrix[i][j])}`,
    },
      matrix[i][j] ? number(matrix[i][j]) : "·");
  };
  const rows = shown.map((i) =>
    make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, classes[i])), ...shown.map((j) => cell(i, j)),
      make("td", { class: "tw-rate" }, totals[i] > 0 ? percent(matrix[i][i] / totals[i]) : "")),
  );
  const found = shown.map(
    (j) => make("td", { class: "tw-rate" }, answered[j] > 0 ? percent(matrix[j][j] / answered[j]) : "")
  );
  const crowded = shown.length > 8;
  const table = make(
    "table",
    { class: `tw-confusion${crowded ? " tw-crowded" : ""}` },
    make("caption", {}, "true class in rows, answer in columns"),
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        make("td"),
        ...shown.map((j) => make("th", { scope: "col" }, make("bdi", {}, classes[j]))),
        make("th", { scope: "col", class: "tw-rate" }, make("span", {}, "recall")),
      ),
    ),
    make("tbody", {}, ...rows),
    make(
      "tfoot",
      {},
      make("tr", {}, make("th", { scope: "row", class: "tw-rate" }, "precision"), ...found, make("td")),
    ),
  );
  const left = used.length - shown.length;
  return make("div", {}, make(
    "div",
    { class: "tw-scroll", tabindex: 0, role: "group", "aria-label": "Confusion matrix" },
    table,
  ),
    left > 0 ? make("p", { class: "tw-muted" }, `${many(left, "rarer class", "rarer classes")} not shown`) : null);
}

function histogram({ histogram: { counts, edges }, quantiles }) {
  const [width, height, foot] = [420, 150, 22];
  const highest = Math.max(...counts, 1);
  const step = width / counts.length;
  const x = (value) => ((value - edges[0]) / (edges.at(-1) - edges[0] || 1)) * width;
  const bars = counts.map((count, i) => {
    const tall = (count / highest) * (height - foot - 8);
    return draw("rect", { x: i * step + 1, y: height - foot - tall, width: step - 2, height: tall });
  });
  const text = (value, anchor, at) => {
    const label = draw("text", { x: at, y: height - 6, "text-anchor": anchor });
    label.textContent = number(value);
    return label;
  };
  const zero = edges[0] < 0 && edges.at(-1) > 0 ? [
    draw("path", { class: "tw-now", d: `M${x(0)} 0V${height - foot}` }),
    text(0, "middle", x(0)),
  ] : [];
  const names = ["least", "5 %", "25 %", "median", "75 %", "95 %", "most"];
  return make(
    "div",
    {},
    make("h4", {}, "Residuals: truth less answer"),
    draw("svg", {
      viewBox: `0 0 ${width} ${height}`,
      class: "tw-chart tw-histogram",
      role: "img",
      "aria-label": "Histogram of residuals",
    },
      ...bars, ...zero, text(edges[0], "start", 0), text(edges.at(-1), "end", width)),
    make("table", { class: "tw-table" }, make(
      "thead",
      {},
      make("tr", {}, ...names.map((name) => make("th", { scope: "col" }, name))),
    ),
      make("tbody", {}, make("tr", {}, ...quantiles.map((q) => make("td", {}, number(q)))))),
  );
}

/** Which columns the tree lives by. */
export function importanceView(app) {
  const shuffled = app.model.report.importances.some(({ low }) => low);
  return figuresView(app, "Importance", ({ importances }, whole) => [
    importances.length ? null : make("p", { class: "tw-muted" }, "This tree has no splits."),
    make("div", { class: "tw-columns" }, ...importances.map(importancePart)),
    shuffled && !whole ? make("p", { class: "tw-muted" }, "Shuffling is measured for the whole tree only.") : null,
  ]);
}

function importancePart({ title, about, columns, values, low, high }) {
  const reach = Math.max(...values, ...(high || []), 1e-12);
  const at = (value) => Math.max(0, Math.min(100, (100 * value) / reach));
  const most = 30;
  const rows = columns.slice(0, most).map((name, i) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("bdi", {}, name)),
      make("td", { class: "tw-importance" }, make("div", { class: "tw-track" }, make(
        "i",
        { style: `width:${at(values[i])}%` },
      ),
        low ? make("b", { style: `left:${at(low[i])}%;width:${at(high[i]) - at(low[i])}%` }) : null)),
      make("td", {}, number(Number(values[i].toPrecision(3)))),
    ),
  );
  const left = columns.length - most;
  return section(title, make("p", { class: "tw-muted" }, about), make(
    "table",
    { class: "tw-table" },
    make("tbody", {}, ...rows),
  ),
    left > 0 ? make("p", { class: "tw-muted" }, `${many(left, "column")} more`) : null);
}

/** The recipe and what was cut, for those who want to grow the same tree again. */
function grownView(app) {
  const { facts: told } = app.model.report;
  const text = (value) => (value === null ? "none" : typeof value === "object" ? settingsText(value) : String(value));
  const settingsText = (value) => {
    const { name, ...rest } = Array.isArray(value) ? { ...value } : value;
    const inner = Object.entries(rest).map(([key, item]) => `${key} ${text(item)}`).join(", ");
    return [name, inner && name ? `(${inner})` : inner].filter(Boolean).join(" ");
  };
  const list = Object.entries(told.settings).map(([name, value]) => [name.replaceAll("_", " "), text(value)]);
  return make(
    "details",
    { class: "tw-section" },
    make("summary", {}, "How it was grown"),
    facts(list),
    told.cuts.length ? make("ul", { class: "tw-cuts" }, ...told.cuts.map((cut) => make("li", {}, cut))) : null,
  );
}
