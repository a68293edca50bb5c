// What all parts of the page share: the model, the state, and the functions that change it.

import { freshId } from "./base/elements.js";
import { pathTo } from "./base/model.js";
import { entries } from "./base/packed.js";
import { showNode, showNodes } from "./tree/camera.js";

export class App {
  /** @param {object} report as it came, with its large lists packed */
  constructor(model, report) {
    Object.assign(this, { id: freshId(), model, hasHistograms: false, loaded: null });
    this.state = {
      selected: 0, expanded: new Set(), orientation: "right", alpha: null, step: 0, lit: null, matches: new Set(),
      histograms: false, wantsHistograms: null,
    };
    for (const name of ["details", "histograms", "rules", "inner_rules", "pruned"]) this[name] = entries(report[name]);
  }

  async loadHistograms() {
    this.loaded ??= await this.histograms.all();
    this.hasHistograms = this.loaded.length > 0;
  }

  /** The histogram of a node for its card; null for none, undefined where cards show none. */
  histogramOf(node) {
    if (!this.state.histograms) return undefined;
    const pruned = !this.model.classes && this.model.nodes.column[node] >= 0 && this.tree.isLeaf(node);
    return (!pruned && this.loaded?.[node]) || null;
  }

  /** The rules of the tree as it is shown, pruned or whole. */
  async rulesShown() {
    const inner = this.state.alpha === null ? [] : await this.inner_rules.all();
    return [...(await this.rules.all()), ...inner].filter((rule) => this.tree.cut().leaf[rule.node] === 1);
  }

  /** Scores and importances of the tree as it is shown; null where the report has none of this step. */
  async figuresShown() {
    const { step } = this.state;
    return step === 0 ? this.model.report : (await this.pruned.at(step - 1)) || null;
  }

  /** Selects a node; `move` shows it in the tree. */
  select(node, focus = false, move = true) {
    const { state, tree } = this;
    state.selected = node;
    const hidden = pathTo(this.model, node).slice(0, -1).filter((i) => !state.expanded.has(i));
    if (hidden.length) {
      hidden.forEach((i) => state.expanded.add(i));
      tree.redraw();
    }
    tree.select(node, focus);
    if (move) showNode(tree, node);
    for (const tab of this.tabs) tab.selected?.(node);
  }

  expand(nodes, open) {
    nodes.forEach((node) => (open ? this.state.expanded.add(node) : this.state.expanded.delete(node)));
    this.tree.redraw();
    this.select(this.state.selected, false, false);
  }

  /** Opens the Node tab at a node. */
  showNode(node) {
    this.views.show("Tree");
    this.side.show("Node");
    this.select(node, true);
  }

  /** Lights nodes with their weights and shows the paths to some of them; null: lights nothing. */
  light(lit, ends = []) {
    this.state.lit = lit;
    for (const end of ends) pathTo(this.model, end).slice(0, -1).forEach((i) => this.state.expanded.add(i));
    this.tree.redraw();
    if (ends.length) showNodes(this.tree, pathTo(this.model, ends[0]));
  }

  /** Prunes the tree to a step of the pruning path; step 0 is the whole tree. Every part shows the same tree. */
  async prune(step) {
    const { state, tree } = this;
    state.step = step;
    state.alpha = step === 0 ? null : this.model.report.pruning.alpha[step];
    state.selected = tree.standsFor(state.selected);
    tree.start(state.orientation);
    this.search.refresh();
    const figures = await this.figuresShown();
    if (state.step !== step) return; // the slider has moved on
    this.header.show(figures);
    for (const tab of this.tabs) tab.treeChanged?.(figures);
    this.paper(await this.rulesShown());
  }
}
