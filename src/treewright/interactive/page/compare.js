// A second tree beside the first: what a recipe learns from the same rows, with the nodes marked where the two differ.

import { App } from "../../reporting/page/app.js";
import { button, make } from "../../reporting/page/base/elements.js";
import { modelOf, pathTo } from "../../reporting/page/base/model.js";
import { many, number, percent } from "../../reporting/page/base/numbers.js";
import { showAll, showReadable } from "../../reporting/page/tree/camera.js";
import { fitScale } from "../../reporting/page/tree/layout.js";
import { TreeView } from "../../reporting/page/tree/tree.js";
import { post } from "./api.js";
import { markNodes } from "./marks.js";
import { validation } from "./validation.js";

/** Paths to so many nodes that differ are opened at once. */
const MOST_OPENED = 40;
/** From this scale on cards show their titles, and a tree that fits is shown whole. */
const LEGIBLE = 0.46;

export function comparison(studio) {
  const title = make("h2");
  const place = make("div", { class: "st-other" });
  const note = make("p", { class: "tw-muted" });
  const validated = validation(studio, () => found.recipe);
  const element = make("section", { class: "st-compared", hidden: true, "aria-label": "The recipe's own tree" },
    make("div", { class: "st-compared-head" }, make("div", {}, title, note, validated.element), button("Close", close)), place);
  let found = null;

  async function open(recipe) {
    studio.quiet();
    found = await studio.request(() => post("compare", { recipe }));
    if (!found) return;
    element.hidden = false;
    validated.clear();
    studio.root.classList.add("st-comparing");
    draw();
    studio.app.tree.start(studio.app.state.orientation);
    mark();
  }

  function draw() {
    const { report, differ } = found;
    const app = new App(modelOf(report), report);
    app.announce = () => {};
    app.side = app.views = { show: () => {}, shown: () => "" };
    app.tabs = [];
    app.tree = new TreeView(app);
    place.replaceChildren(app.tree.element);
    app.tree.start(studio.app.state.orientation);
    laidOut(app, differ.theirs);
    title.replaceChildren(make("bdi", {}, `${report.facts.recipe}: ${many(report.facts.leaves, "leaf", "leaves")}`));
    const held = report.scores.held_out ?? report.scores.training;
    const text = held.headline.name === "accuracy" ? percent(held.headline.value, 1) : number(held.headline.value);
    const where = report.scores.held_out ? "held-out" : "training";
    note.textContent = differ.ours.length
      ? `${where} ${held.headline.name} ${text}; the trees part at ${many(differ.ours.length, "node")}, marked in both`
      : `${where} ${held.headline.name} ${text}; both trees have the same splits`;
    studio.app.announce(note.textContent);
  }

  /** Opens a tree as far as the nodes that differ, and marks these. */
  function laidOut(app, nodes) {
    for (const node of nodes.slice(0, MOST_OPENED)) for (const i of pathTo(app.model, node).slice(0, -1)) app.state.expanded.add(i);
    const fits = (orientation) => {
      app.state.orientation = orientation;
      app.tree.redraw();
      return fitScale(app.tree.placed, app.tree.size());
    };
    const [down, right] = [fits("down"), fits("right")];
    if (down > right) fits("down");
    if (Math.max(down, right) >= LEGIBLE) showAll(app.tree);
    else showReadable(app.tree);
    markNodes(app, nodes, "st-differs");
  }

  function mark() {
    if (found && !element.hidden) laidOut(studio.app, found.differ.ours);
  }

  function close() {
    if (element.hidden) return;
    found = null;
    element.hidden = true;
    studio.root.classList.remove("st-comparing");
    studio.show(studio.state);
  }

  /** After an edit the trees differ elsewhere: compare again. */
  async function show() {
    if (!found || element.hidden) return;
    const again = await studio.request(() => post("compare", { recipe: found.recipe }));
    if (!again) return;
    found = again;
    validated.show();
    draw();
    mark();
  }
  return { element, open, close, show };
}
