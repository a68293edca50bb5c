// The page on paper: the tree as it is expanded, and its rules. Paper shows all of it, not just what is in view; a tree too
// large for readable text on one page becomes a list, indented by depth.

import { draw, make, tableOf } from "./base/elements.js";
import { certainty, predictionText, sizeText, splitColumn } from "./base/model.js";
import { number, percent } from "./base/numbers.js";
import { bar, card, conditionOf } from "./tree/cards.js";
import { edgePaths } from "./tree/edges.js";
import { legend } from "./tree/histogram.js";
import { cardSize, layout } from "./tree/layout.js";

const MOST_RULES = 200;
const MOST_CARDS = 2000;
/** A tree wider or higher than this, in pixels, would be smaller than two thirds on a page. */
const WIDEST = 1080;
const HIGHEST = 1440;

/** @returns a function that makes what goes on paper, at once: a browser does not wait when it prints. */
export function printable(app) {
  let rules = [];
  app.paper = (shown) => (rules = shown);
  setTimeout(async () => app.paper(await app.rulesShown()), 1000); // unpacked when the page has long been drawn
  return () => [printedTree(app), printedRules(rules)];
}

function printedTree(app) {
  const { model, state } = app;
  const place = (orientation) => layout(model, app.tree.cut(), state.expanded, orientation, cardSize(state.histograms));
  const wished = state.orientation === "down" || state.orientation === "right" ? [state.orientation] : [];
  const fits = [...wished, "right", "down"].map(place).find((placed) => placed.width <= WIDEST && placed.height <= HIGHEST);
  const drawing = fits ? printedCards(app, fits) : printedList(app, place("outline").order.slice(0, MOST_CARDS));
  return make("section", {}, legend(model, Infinity), drawing);
}

function printedCards(app, placed) {
  const { model, state } = app;
  const lit = (node) => (state.lit && state.lit.has(node) ? state.lit.get(node) : null);
  const { width, height, label } = placed.card;
  const boxes = placed.order.map((node, i) => {
    const drawn = card(model, node, {
      leaf: app.tree.isLeaf(node), expanded: state.expanded.has(node), below: app.tree.cut().below[node],
      lit: lit(node), dim: false, match: false, histogram: app.histogramOf(node),
    });
    drawn.style.transform = `translate(0, ${label}px)`;
    drawn.style.height = `${height}px`;
    const box = { x: placed.x[i], y: placed.y[i] - label, width: width + 40, height: height + label + 24 };
    return draw("foreignObject", box, drawn);
  });
  const size = [placed.width + 40, placed.height + 24];
  return draw(
    "svg",
    {
      viewBox: `-4 0 ${size[0]} ${size[1]}`, class: "tw-printed-tree", preserveAspectRatio: "xMinYMin meet",
      style: `max-width:${size[0]}px`,
    },
    ...edgePaths(model, placed, placed.order.map((_, i) => i), lit),
    ...boxes,
  );
}

/** One line per node, indented by depth. */
function printedList(app, order) {
  const { model } = app;
  const line = (node) => {
    const leaf = app.tree.isLeaf(node);
    const what = leaf ? make("b", {}, make("bdi", {}, predictionText(model, node))) : make("bdi", {}, `by ${splitColumn(model, node)}`);
    return make(
      "li",
      { style: `padding-left:${Math.min(20, model.depth[node]) * 14}px` },
      conditionOf(model, node), ": ", what,
      make("span", { class: "tw-muted" }, ` ${sizeText(model, node)}, ${certainty(model, node)}`),
      bar(model, node),
    );
  };
  return make("ol", { class: "tw-printed-list" }, ...order.map(line));
}

function printedRules(rules) {
  if (!rules.length) return make("div");
  const rows = [...rules].sort((a, b) => b.support - a.support || a.node - b.node).slice(0, MOST_RULES).map((rule) => [
    rule.conditions.join(" and ") || "anything", rule.prediction, number(rule.support),
    rule.confidence === null ? "" : percent(rule.confidence, 1),
  ]);
  const title = rules.length > MOST_RULES ? `Rules: the ${MOST_RULES} largest of ${number(rules.length)}` : "Rules";
  return make("section", {}, make("h2", {}, title),
    tableOf(["if", "then", "rows", "confidence"], rows, { kinds: ["tw-text", "tw-text"] }));
}
