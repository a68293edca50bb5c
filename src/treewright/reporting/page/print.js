// The page on paper: the tree as it is expanded, fitted to the width, and its rules.
//
// Comes in: the app, when the browser is about to print. Goes out: an element that only print shows.
// Always holds: paper shows what the screen shows, all of it and not just what is in view.

import { card, classLegend } from "./cards.js";
import { edgePaths } from "./edges.js";
import { CARD, layout } from "./layout.js";
import { draw, make, number, percent } from "./words.js";

const MOST_RULES = 200;
const MOST_CARDS = 2000;

/** @returns a function that makes what goes on paper, at once: a browser does not wait when it prints. */
export function printable(app) {
  let rules = [];
  app.paper = (shown) => (rules = shown);
  setTimeout(async () => app.paper(await app.rulesShown()), 1000); // unpacked when the page has long been drawn
  return () => [printedTree(app), printedRules(rules)];
}

function printedTree(app) {
  const { model, state } = app;
  const shown = state.orientation === "map" ? "right" : state.orientation;
  const placed = layout(model, app.tree.cut(), state.expanded, shown);
  const all = placed.order.map((_, i) => i).slice(0, MOST_CARDS);
  const lit = (node) => (state.lit && state.lit.has(node) ? state.lit.get(node) : null);
  const boxes = all.map((i) => {
    const node = placed.order[i];
    const how = {
      leaf: app.tree.isLeaf(node),
      expanded: state.expanded.has(node),
      below: app.tree.cut().below[node],
      lit: lit(node),
      dim: false,
      match: false,
    };
    const drawn = card(model, node, how);
    const place = {
      x: placed.x[i],
      y: placed.y[i] - CARD.label,
      width: CARD.width + 40,
      height: CARD.height + CARD.label + 24,
    };
    drawn.style.transform = `translate(0, ${CARD.label}px)`;
    return draw("foreignObject", place, drawn);
  });
  const [width, height] = [placed.width + 40, placed.height + 24];
  const svg = draw(
    "svg",
    {
      viewBox: `-4 0 ${width} ${height}`,
      class: "tw-printed-tree",
      preserveAspectRatio: "xMinYMin meet",
      style: `max-width:${width}px`,
    },
    ...edgePaths(model, placed, all, lit),
    ...boxes,
  );
  return make("section", {}, classLegend(model), svg);
}

function printedRules(rules) {
  if (!rules.length) return make("div");
  const rows = [...rules].sort((a, b) => b.support - a.support || a.node - b.node).slice(0, MOST_RULES).map((rule) =>
    make("tr", {}, make(
      "td",
      { class: "tw-text" },
      rule.conditions.join(" and ") || "anything",
    ), make("td", { class: "tw-text" }, rule.answer),
      make("td", {}, number(rule.support)), make(
        "td",
        {},
        rule.confidence === null ? "" : percent(rule.confidence, 1),
      )),
  );
  const title = rules.length > MOST_RULES ? `Rules: the ${MOST_RULES} largest of ${number(rules.length)}` : "Rules";
  return make("section", {}, make("h2", {}, title), make("table", { class: "tw-table" },
    make(
      "thead",
      {},
      make("tr", {}, ...[["if", "tw-text"], ["then", "tw-text"], ["rows"], ["confidence"]].map(
        ([name, kind]) => make("th", { scope: "col", class: kind }, name),
      )),
    ), make("tbody", {}, ...rows)));
}
