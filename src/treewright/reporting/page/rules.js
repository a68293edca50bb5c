// The rules table: one rule per leaf, filtered and sorted.
//
// Comes in: the app, whose report holds the rules. Goes out: a table; a click on a rule shows its leaf.
// Always holds: no more rows in the document than a person reads; how many there are in all is said.

import { make, many, number, percent } from "./words.js";

const PAGE = 100;
const COLUMNS = [["support", "rows"], ["coverage", "coverage"], ["confidence", "confidence"], ["lift", "lift"],
  ["deviation", "± deviation"]];

export function rulesView(app) {
  const { model } = app;
  const filters = { text: "", answer: "", confidence: 0, support: 0 };
  const order = { by: "support", falling: true };
  const body = make("tbody");
  const told = make("p", { class: "tw-muted", "aria-live": "polite" });
  const more = make("button", { type: "button", class: "tw-button", onclick: () => fill(shown + PAGE) }, "Show more");
  const heads = make("tr");
  const table = make("table", { class: "tw-table tw-rules" }, make("thead", {}, heads), body);
  const element = make(
    "div",
    { class: "tw-page" },
    make("h2", {}, "Rules"),
    controls(),
    told,
    make("div", { class: "tw-scroll" }, table),
    more,
    ...model.report.facts.remarks.map((text) => make("p", { class: "tw-muted" }, text)),
  );
  let rules = null;
  let found = [];
  let shown = 0;

  async function open() {
    if (rules === null) show(await app.rulesShown());
  }

  /** Shows these rules: those of the tree in view. */
  function show(fresh) {
    rules = fresh;
    heading();
    refresh();
  }

  function controls() {
    const field = (text, input) => make("label", { class: "tw-filter" }, make("span", {}, text), input);
    const listen = (name, read) => ({ oninput: (event) => ((filters[name] = read(event.target.value)), refresh()) });
    const bar = make("div", { class: "tw-filters" });
    bar.append(
      field(
        "Contains",
        make(
          "input",
          { type: "search", placeholder: "column, level, answer", ...listen("text", (text) => text.toLowerCase()) },
        ),
      )
    );
    if (model.classes) {
      const options = model.classes.map((name, k) => make("option", { value: k }, name));
      bar.append(
        field("Answer", make("select", listen("answer", String), make("option", { value: "" }, "any"), ...options))
      );
      bar.append(
        field(
          "Confidence at least, %",
          make(
            "input",
            {
              type: "number",
              min: 0,
              max: 100,
              step: 5,
              placeholder: "0",
              ...listen("confidence", (x) => Number(x) / 100),
            },
          ),
        )
      );
    }
    bar.append(
      field("Rows at least", make("input", { type: "number", min: 0, placeholder: "0", ...listen("support", Number) }))
    );
    return bar;
  }

  function columns() {
    return COLUMNS.filter(([name]) => rules.some((rule) => rule[name] !== null && rule[name] !== undefined));
  }

  function heading() {
    const sortable = columns().map(([name, text]) => {
      const button = make("button", { type: "button", class: "tw-sort" }, text);
      button.addEventListener("click", () => {
        order.falling = order.by === name ? !order.falling : true;
        order.by = name;
        heading();
        refresh();
      });
      const way = order.by === name ? (order.falling ? "descending" : "ascending") : "none";
      return make("th", { scope: "col", "aria-sort": way }, button);
    });
    const plain = ["if", "then"].map((text) => make("th", { scope: "col", class: "tw-text" }, text));
    heads.replaceChildren(...plain, ...sortable);
  }

  function refresh() {
    if (!rules) return;
    const wanted = (rule) =>
      (filters.answer === "" || rule.answer === model.classes[Number(filters.answer)]) &&
      (rule.confidence ?? 1) >= filters.confidence &&
      rule.support >= filters.support &&
      (
        !filters.text || rule.conditions.some(
          (c) => c.toLowerCase().includes(filters.text)
        ) || rule.answer.toLowerCase().includes(filters.text)
      );
    found = rules.filter(wanted);
    const sign = order.falling ? -1 : 1;
    found.sort((a, b) => sign * (a[order.by] - b[order.by]) || a.node - b.node);
    if (model.report.rules === null) {
      told.textContent = "This tree is too deep for its rules to be read here; in Python, rules(tree) tells them.";
      more.hidden = true;
      return;
    }
    const all = many(rules.length, "rule");
    told.textContent = found.length === rules.length ? all : `${number(found.length)} of ${all}`;
    body.replaceChildren();
    shown = 0;
    fill(PAGE);
  }

  function fill(upTo) {
    const tell = columns();
    body.append(...found.slice(shown, upTo).map((rule) => row(rule, tell)));
    shown = Math.min(found.length, upTo);
    more.hidden = shown >= found.length;
  }

  function row(rule, tell) {
    const open = make(
      "button",
      { type: "button", class: "tw-link", title: "Show this leaf in the tree", onclick: () => app.showNode(rule.node) },
    );
    open.append(make("bdi", {}, rule.answer));
    const parts = rule.conditions.length ? rule.conditions : ["anything"];
    const conditions = parts.flatMap(
      (text, i) => [i ? make("span", { class: "tw-and" }, " and ") : "", make("bdi", {}, text)]
    );
    const swatches = model.classes ? model.classes.indexOf(rule.answer) : -1;
    const square = swatches >= 0 ? make(
      "i",
      { class: "tw-swatch", style: `background:${model.report.colours[swatches]}` },
    ) : null;
    return make(
      "tr",
      {},
      make("td", { class: "tw-text" }, ...conditions),
      make("td", { class: "tw-text tw-then" }, square, open),
      ...tell.map(
        ([name]) => make(
          "td",
          {},
          name === "confidence" || name === "coverage" ? percent(rule[name], 1) : number(rule[name]),
        )
      ),
    );
  }
  return { element, open, show };
}
