// The Rules tab: one rule per leaf, filtered and sorted; a click on a rule shows its leaf.

import { button, link, make, moreLink, muted } from "../base/elements.js";
import { many, number, percent } from "../base/numbers.js";
import { swatch } from "../tree/histogram.js";

const PAGE = 100;
const MOST_LEVELS = 6;
const COLUMNS = [["support", "rows"], ["coverage", "coverage"], ["confidence", "confidence"], ["lift", "lift"],
  ["deviation", "± deviation"]];
const SHARES = ["coverage", "confidence"];

export function rulesTab(app) {
  const filters = { text: "", prediction: "", confidence: 0, support: 0 };
  const order = { by: "support", falling: true };
  const body = make("tbody");
  const count = make("p", { class: "tw-muted", "aria-live": "polite" });
  const more = button("Show more", () => fill(shown + PAGE));
  const heads = make("tr");
  const remarks = app.model.report.facts.remarks.map((text) => muted(text));
  const table = make("table", { class: "tw-table tw-rules" }, make("thead", {}, heads), body);
  const scroll = make("div", { class: "tw-scroll" }, table);
  const controls = filterBar(app.model, filters, refresh);
  const element = make("div", { class: "tw-page" }, make("h2", {}, "Rules"), controls, count, scroll, more, ...remarks);
  let rules = null;
  let found = [];
  let shown = 0;

  async function show() {
    rules = await app.rulesShown();
    refresh();
  }

  function refresh() {
    if (!rules) return;
    found = matching(app.model, rules, filters);
    const sign = order.falling ? -1 : 1;
    found.sort((a, b) => sign * (a[order.by] - b[order.by]) || a.node - b.node);
    const focused = [...heads.children].indexOf(document.activeElement?.parentElement);
    const covered = rules.some((rule) => rule.covered) ? [make("th", { scope: "col" }, "new rows")] : [];
    heads.replaceChildren(...headings(columnsOf(rules), order, refresh), ...covered);
    heads.children[focused]?.firstChild.focus?.(); // the button that sorted
    count.textContent = countText(app, rules, found);
    body.replaceChildren();
    shown = 0;
    fill(PAGE);
  }

  function fill(upTo) {
    body.append(...found.slice(shown, upTo).map((rule) => ruleRow(app, rule, columnsOf(rules))));
    shown = Math.min(found.length, upTo);
    more.hidden = shown >= found.length;
  }
  const changed = () => rules !== null && show();
  return { name: "Rules", element, shown: () => rules === null && show(), treeChanged: changed };
}

function filterBar(model, filters, refresh) {
  const field = (text, input) => make("label", { class: "tw-filter" }, make("span", {}, text), input);
  const listen = (name, read) => ({ oninput: (event) => ((filters[name] = read(event.target.value)), refresh()) });
  const least = (name, scale, limits = {}) => make(
    "input",
    { type: "number", min: 0, placeholder: "0", ...limits, ...listen(name, (x) => Number(x) / scale) },
  );
  const contains = { type: "search", placeholder: "column, level, class", ...listen("text", (x) => x.toLowerCase()) };
  const options = (model.classes || []).map((name, k) => make("option", { value: k }, name));
  const predictions = make("select", listen("prediction", String), make("option", { value: "" }, "any"), ...options);
  return make(
    "div",
    { class: "tw-filters" },
    field("Contains", make("input", contains)),
    model.classes ? field("Prediction", predictions) : null,
    model.classes ? field("Confidence at least, %", least("confidence", 100, { max: 100, step: 5 })) : null,
    field("Rows at least", least("support", 1)),
  );
}

function matching(model, rules, { text, prediction, confidence, support }) {
  const contains = (words) => words.toLowerCase().includes(text);
  return rules.filter((rule) =>
    (prediction === "" || rule.prediction === model.classes[Number(prediction)]) &&
    (rule.confidence ?? 1) >= confidence &&
    rule.support >= support &&
    (!text || rule.conditions.some(contains) || contains(rule.prediction)),
  );
}

function countText(app, rules, found) {
  if (app.model.report.rules === null) {
    return "This tree is too deep for a table of rules; in Python, rules(tree) lists them.";
  }
  const all = many(rules.length, "rule");
  const empty = app.tree.cut().below[0] - rules.length;
  const none = empty > 0 ? `; ${many(empty, "leaf", "leaves")} without training rows` : "";
  return (found.length === rules.length ? all : `${number(found.length)} of ${all}`) + none;
}

/** The measures that some rule has. */
function columnsOf(rules) {
  return COLUMNS.filter(([name]) => rules.some((rule) => rule[name] !== null && rule[name] !== undefined));
}

/** The heads of the table; those of measures sort it. */
function headings(columns, order, refresh) {
  const plain = ["if", "then"].map((text) => make("th", { scope: "col", class: "tw-text" }, text));
  return [...plain, ...columns.map(([name, text]) => {
    const sort = make("button", { type: "button", class: "tw-sort" }, text);
    sort.addEventListener("click", () => {
      order.falling = order.by === name ? !order.falling : true;
      order.by = name;
      refresh();
    });
    const way = order.by === name ? (order.falling ? "descending" : "ascending") : "none";
    return make("th", { scope: "col", "aria-sort": way }, sort);
  })];
}

function ruleRow(app, rule, columns) {
  const { model } = app;
  const show = { title: "Show this leaf in the tree" };
  const parts = rule.conditions.length ? rule.conditions : ["anything"];
  const and = () => make("span", { class: "tw-and" }, " and ");
  const k = model.classes ? model.classes.indexOf(rule.prediction) : -1;
  const value = (name) => (SHARES.includes(name) ? percent(rule[name], 1) : number(rule[name]));
  return make(
    "tr",
    {},
    make("td", { class: "tw-text" }, ...parts.flatMap((text, i) => [i ? and() : null, shortened(text)])),
    make("td", { class: model.tree.models ? "tw-text tw-then tw-sum" : "tw-text tw-then" }, k >= 0 ? swatch(model, k) : null,
      link(make("bdi", {}, rule.prediction), () => app.showNode(rule.node), show)),
    ...columns.map(([name]) => make("td", {}, value(name))),
    rule.covered ? make("td", {}, make("bdi", {}, rule.covered)) : null,
  );
}

/** A condition; of a long list of levels the first ones, and a link that opens it. */
function shortened(text) {
  const [, before, list, after] = text.match(/^(.*?\{)(.*)(\}.*)$/s) ?? [];
  const levels = list ? list.split(", ") : [];
  if (levels.length <= MOST_LEVELS + 2) return make("bdi", {}, text);
  const element = make("bdi", {}, before, levels.slice(0, MOST_LEVELS).join(", "), " … ");
  const open = () => (element.textContent = text);
  element.append(moreLink(`${levels.length - MOST_LEVELS} more`, open), after);
  return element;
}
