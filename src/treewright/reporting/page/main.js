// The page as a whole: `mount(element, report)` fills an element with a tree to explore.
//
// Comes in: an element and a report (treewright.report, as it is or as html.py packed it). Goes out: a living page in
// that element. Always holds: nothing is fetched, nothing is stored; several pages may live in one document.

import { classLegend } from "./cards.js";
import { caseForm } from "./case.js";
import { inspector } from "./inspector.js";
import { modelOf, pathTo } from "./model.js";
import { entries } from "./packed.js";
import { printable } from "./print.js";
import { pruningPanel } from "./pruning.js";
import { rulesView } from "./rules.js";
import { importanceView, scoreText, scoreView } from "./score.js";
import { searchBar } from "./search.js";
import { tabs } from "./tabs.js";
import { treeView } from "./tree.js";
import { freshId, make, many, number } from "./words.js";

/** @param {HTMLElement} element @param {object} report @param {{title?: string}} options */
export async function mount(element, report, options = {}) {
  const parts = { ...report };
  for (const name of ["nodes", "splits", "rows"]) parts[name] = await whole(report[name]);
  const app = appOf(modelOf(parts), report);
  const live = make("p", { class: "tw-unseen", "aria-live": "polite" });
  app.say = (text) => (live.textContent = text);
  app.tree = treeView(app);
  app.inspector = inspector(app);
  app.case = caseForm(app);
  app.pruning = pruningPanel(app);
  app.search = searchBar(app);
  app.views_ = { rules: rulesView(app), importance: importanceView(app), score: scoreView(app) };
  app.header = header(app, element, options.title);
  app.side = tabs(
    app,
    "About",
    [["Node", app.inspector.element], ["Case", app.case.element], ["Pruning", app.pruning.element]],
    sideChanged,
  );
  const hero = make(
    "div",
    { class: "tw-hero" },
    make("div", { class: "tw-main" }, toolbar(app), classLegend(app.model), app.tree.element),
    make("aside", { class: "tw-side", "aria-label": "Details" }, app.side.element),
  );
  app.views = tabs(app, "Views", [
    ["Tree", hero],
    ["Rules", app.views_.rules.element],
    ["Importance", app.views_.importance.element],
    ["Score", app.views_.score.element],
  ],
    (name) => name === "Rules" && app.views_.rules.open());
  const paper = make("div", { class: "tw-paper" });
  element.classList.add("treewright");
  element.replaceChildren(app.header.element, app.views.element, paper, live);

  function sideChanged(name) {
    if (name === "Case") app.follow();
    else if (app.state.lit) app.unfollow();
  }

  app.tree.start();
  app.inspector.show(0);
  app.started = app.case.start;
  keys(app, element);
  const sheets = printable(app);
  const toPaper = () => paper.replaceChildren(...sheets());
  addEventListener("beforeprint", toPaper);
  matchMedia("print").addEventListener("change", (event) => event.matches && toPaper());
  element.dataset.ready = "true";
  return app;
}

/** A dictionary of lists that may be packed as one entry. */
async function whole(part) {
  return part && part.packed ? entries(part).at(0) : part;
}

/** What all parts share: the model, the state, and the verbs that change it. */
function appOf(model, report) {
  const state = {
    selected: 0, expanded: new Set(), orientation: "right", alpha: null, step: 0, lit: null, matches: new Set(),
  };
  const [details, rules, inner, pruned] = ["details", "rules", "inner_rules", "pruned"].map((n) => entries(report[n]));
  const app = { id: freshId(), model, state, details };

  /** The rules of the tree as it is shown, cut or whole. */
  app.rulesShown = async () => {
    const all = [...(await rules.all()), ...(state.alpha === null ? [] : await inner.all())];
    return all.filter((rule) => app.tree.cut().leaf[rule.node] === 1);
  };
  /** Scores and importances of the tree as it is shown; null where the report has none of this step. */
  app.figuresShown = async () => {
    const { scores, importances } = model.report;
    return state.step === 0 ? { scores, importances } : (await pruned.at(state.step - 1)) || null;
  };

  /** Chooses a node; `move` shows it in the tree. */
  app.select = (node, focus = false, move = true) => {
    state.selected = node;
    const hidden = pathTo(model, node).slice(0, -1).filter((i) => !state.expanded.has(i));
    if (hidden.length) {
      hidden.forEach((i) => state.expanded.add(i));
      app.tree.redraw();
    }
    app.tree.select(node, focus);
    if (move) app.tree.reveal(node);
    app.inspector.show(node);
  };
  app.expand = (nodes, open) => {
    nodes.forEach((node) => (open ? state.expanded.add(node) : state.expanded.delete(node)));
    app.tree.redraw();
    app.inspector.show(state.selected);
  };
  app.showNode = (node) => {
    app.views.show("Tree");
    app.side.show("Node");
    app.select(node, true);
  };
  /** Sends the case of the form down the tree and lights its path. */
  app.follow = () => {
    if (app.started) {
      const start = app.started;
      app.started = null;
      return start(); // which follows by itself
    }
    const { lit, ends } = app.case.run();
    if (app.side.shown() !== "Case") return;
    state.lit = lit;
    const heaviest = [...ends].sort((a, b) => b.weight - a.weight).slice(0, 6);
    for (const end of heaviest) pathTo(model, end.node).slice(0, -1).forEach((i) => state.expanded.add(i));
    app.tree.redraw();
    app.tree.frame(pathTo(model, heaviest[0].node));
  };
  app.unfollow = () => {
    state.lit = null;
    app.tree.redraw();
  };
  app.useRow = (i) => {
    app.started = null;
    app.side.show("Case");
    app.case.useRow(i);
  };
  /** Cuts the tree at a step of the pruning path; step 0 is the whole tree. Every part shows the same tree. */
  app.cut = async (step) => {
    state.step = step;
    state.alpha = step === 0 ? null : model.report.pruning.alpha[step];
    state.selected = app.tree.standsFor(state.selected);
    app.tree.start(state.orientation);
    app.inspector.show(state.selected);
    app.search.refresh();
    if (!app.started) app.case.run();
    const [figures, shown] = await Promise.all([app.figuresShown(), app.rulesShown()]);
    if (state.step !== step) return; // the slider has moved on
    app.header.show(figures);
    app.views_.importance.show(figures);
    app.views_.score.show(figures);
    app.views_.rules.show(shown);
    app.paper(shown);
  };
  return app;
}

function header(app, element, title) {
  const { facts, scores } = app.model.report;
  const line = make("div");
  const show = (figures) => line.replaceChildren(factsLine(app, figures));
  show({ scores });
  const shown = make(
    "header",
    { class: "tw-header" },
    make(
      "div",
      { class: "tw-heading" },
      make("h1", {}, make("bdi", {}, title || `Decision tree for ${facts.target}`)),
      line,
    ),
    make(
      "div",
      { class: "tw-tools" },
      themeButton(element),
      make("button", { type: "button", class: "tw-button", onclick: () => print() }, "Print"),
    ),
  );
  return { element: shown, show };
}

/** One line: target, algorithm, rows, leaves of the tree that is shown, and its score beside the baseline. */
function factsLine(app, figures) {
  const { facts } = app.model.report;
  const { leaves, depth } = sizeShown(app);
  const pruned = leaves < facts.leaves ? `, pruned from ${many(facts.leaves, "leaf", "leaves")}` : "";
  const items = [
    ["predicts ", make("b", {}, make("bdi", {}, facts.target))],
    [make("bdi", {}, facts.recipe)],
    [facts.weighted ? `${many(facts.rows, "row")} of weight ${number(facts.weight)}` : many(facts.rows, "row")],
    [`${many(leaves, "leaf", "leaves")}, depth ${depth}${pruned}`],
    ...(figures && scored(figures.scores) ? [scoreItem(figures.scores)] : []),
  ];
  return make("p", { class: "tw-line" }, ...items.map((item) => make("span", {}, ...item)));
}

/** The scores that head the page; a tree whose source gives no rows has none. */
function scored(scores) {
  return scores.held_out || scores.training;
}

function scoreItem(scores) {
  const { headline } = scored(scores);
  return [
    `${scores.held_out ? "held-out" : "training"} ${headline.name} `,
    make("b", {}, scoreText(headline)),
    ` (baseline ${scoreText(headline, "baseline")})`,
  ];
}

/** Leaves and depth of the tree as it is shown. */
function sizeShown({ model, tree }) {
  const { leaf, below } = tree.cut();
  let depth = 0;
  for (let i = 0; i < model.n; i++) if (leaf[i] === 1) depth = Math.max(depth, model.depth[i]);
  return { leaves: below[0], depth };
}

function themeButton(element) {
  const dark = () => (
    element.dataset.theme ? element.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches
  );
  const button = make("button", { type: "button", class: "tw-button tw-theme" });
  const tell = () => (button.textContent = dark() ? "Light" : "Dark");
  button.addEventListener("click", () => {
    element.dataset.theme = dark() ? "light" : "dark";
    tell();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", tell);
  tell();
  return button;
}

function toolbar(app) {
  const button = (text, name, onclick) => make(
    "button",
    { type: "button", class: "tw-button", "aria-label": name, title: name, onclick },
    text,
  );
  const { tree, state } = app;
  const names = { right: "To the right", down: "Downwards", outline: "Outline", map: "Map of rows" };
  const layouts = make(
    "select",
    { class: "tw-button tw-layouts", "aria-label": "Layout of the tree" },
    ...Object.entries(names).map(([value, name]) => make("option", { value }, name)),
  );
  layouts.addEventListener("change", () => {
    state.orientation = layouts.value;
    tree.redraw();
    tree.fit();
  });
  app.orientationShown = (orientation) => (layouts.value = orientation);
  const all = () => {
    for (let i = 0; i < app.model.n; i++) if (tree.cut().leaf[i] === 0) state.expanded.add(i);
    tree.redraw();
    tree.fit();
  };
  const reset = () => {
    app.select(0);
    tree.start(state.orientation);
  };
  return make(
    "div",
    { class: "tw-toolbar", role: "group", "aria-label": "Tools of the tree" },
    app.search.element,
    make("span", { class: "tw-space" }),
    make(
      "div",
      { class: "tw-group" },
      button("Expand all", "Expand all nodes", all),
      button("Reset", "Back to the first view", reset),
    ),
    layouts,
    make(
      "div",
      { class: "tw-group" },
      button("−", "Zoom out (-)", () => tree.zoom(1 / 1.25)),
      button("+", "Zoom in (+)", () => tree.zoom(1.25)),
      button("Fit", "Fit the tree into view (0)", () => tree.fit()),
    ),
  );
}

/** Keys that work wherever nothing is being typed. */
function keys(app, element) {
  const actions = {
    "/": () => app.search.focus(),
    "+": () => app.tree.zoom(1.25),
    "=": () => app.tree.zoom(1.25),
    "-": () => app.tree.zoom(1 / 1.25),
    0: () => app.tree.fit(),
  };
  document.addEventListener("keydown", (event) => {
    const inside = element.contains(event.target) || event.target === document.body;
    const typing = event.target.closest?.("input, select, textarea");
    const meant = inside && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!meant || !actions[event.key] || app.views.shown() !== "Tree") return;
    event.preventDefault();
    actions[event.key]();
  });
}
