// The tree on the screen: what is in view is drawn, and nothing else, so a tree of any size stays fast. The selected card
// can be reached by the tab key; arrow keys go on from there. Text is never smaller than readable: at a small scale cards
// show their title alone, farther away they are rectangles.

import { draw, make } from "../base/elements.js";
import { cutAt, pathTo, predictionText, splitColumn } from "../base/model.js";
import { many, number } from "../base/numbers.js";
import { showReadable } from "./camera.js";
import { card } from "./cards.js";
import { edgePaths, farCards, mapParts } from "./edges.js";
import { listen } from "./events.js";
import { cardSize, firstExpanded, firstView, layout, mapLayout, READABLE } from "./layout.js";
import { viewport } from "./viewport.js";

/** Below this scale a title has no room: cards are rectangles. */
const FAR = 0.45;
const MARGIN = 240; // pixels around the view that are drawn already

export class TreeView {
  constructor(app) {
    const name = `Tree for ${app.model.report.facts.target}`;
    Object.assign(this, { app, model: app.model, state: app.state, placed: null, drawnAt: null, waiting: 0 });
    this.edges = draw("svg", { class: "tw-edges", "aria-hidden": "true" });
    this.cards = make("div", { class: "tw-cards", role: "tree", "aria-label": name });
    this.stage = make("div", { class: "tw-stage" }, this.edges, this.cards);
    this.badge = make("p", { class: "tw-badge", hidden: true });
    this.element = make("div", { class: "tw-viewport" }, this.stage, this.badge);
    this.shown = new Map(); // the cards in the document, by node
    this.window = viewport(this.element, (at) => this.moved(at), () => (this.isMap() ? 60 : 2.5));
    this.hints = listen(this);
    new ResizeObserver(() => this.placed && (this.isMap() ? this.redraw() : this.schedule())).observe(this.element);
  }

  isMap() {
    return this.state.orientation === "map";
  }

  cut() {
    return cutAt(this.model, this.state.alpha);
  }

  isLeaf(node) {
    return this.cut().leaf[node] > 0;
  }

  /** The weight of a node on the paths of a row; null where it is on none. */
  lit(node) {
    return this.state.lit?.get(node) ?? null;
  }

  size() {
    return { width: this.element.clientWidth, height: this.element.clientHeight, nearest: this.state.nearest };
  }

  /** The node itself, or the leaf of the pruned tree that it is part of. */
  standsFor(node) {
    let leaf = node;
    while (this.cut().leaf[leaf] > 1) leaf = this.model.nodes.parent[leaf];
    return leaf;
  }

  moved({ x, y, scale }) {
    this.stage.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    this.stage.style.setProperty("--scale", scale);
    this.hints.hide();
    this.schedule();
  }

  schedule() {
    if (!this.waiting) this.waiting = requestAnimationFrame(() => ((this.waiting = 0), this.drawView(false)));
  }

  /** Draws what is in view, unless it is there already. */
  drawView(anew) {
    const { placed, drawnAt, state } = this;
    const { x, y, scale } = this.window.at;
    const near = drawnAt && Math.max(Math.abs(x - drawnAt.x), Math.abs(y - drawnAt.y)) <= MARGIN / 2;
    if (!anew && near && drawnAt.scale === scale) return;
    this.drawnAt = { x, y, scale };
    const far = scale < FAR || this.isMap();
    this.element.classList.toggle("tw-small", scale < READABLE);
    const seen = placesInView(placed, this.size(), this.window.at);
    this.edges.replaceChildren(...this.background(seen, far, scale));
    const wanted = new Set(far ? [] : seen.cards.map((i) => placed.order[i]));
    if (placed.place.has(state.selected)) wanted.add(state.selected);
    for (const [node, old] of this.shown) {
      if (!wanted.has(node) && old !== document.activeElement) {
        old.remove();
        this.shown.delete(node);
      }
    }
    for (const node of wanted) if (!this.shown.has(node)) this.addCard(node);
  }

  /** What lies behind the cards: branches, and what stands for cards where there is no room for them. */
  background(seen, far, scale) {
    const { model, placed } = this;
    const lit = (node) => this.lit(node);
    if (!this.isMap()) {
      return [...edgePaths(model, placed, seen.edges, lit, scale), ...(far ? farCards(model, placed, seen.cards) : [])];
    }
    const title = (node) => (this.isLeaf(node) ? predictionText(model, node) : splitColumn(model, node));
    const text = (node) => (node > 0 ? `${model.nodes.edge[node]}: ${title(node)}` : title(node));
    lit.any = this.state.lit !== null;
    return mapParts(model, placed, seen.cards, scale, lit, text);
  }

  addCard(node) {
    const { app, model, state, placed } = this;
    const i = placed.place.get(node);
    const fresh = card(model, node, {
      leaf: this.isLeaf(node), expanded: state.expanded.has(node), below: this.cut().below[node], lit: this.lit(node),
      dim: state.lit !== null, match: state.matches.has(node), histogram: app.histogramOf(node),
    });
    fresh.style.transform = `translate(${placed.x[i]}px, ${placed.y[i]}px)`;
    Object.assign(fresh.style, { width: `${placed.w(i)}px`, height: `${placed.h(i)}px` });
    fresh.classList.toggle("tw-spot", this.isMap());
    fresh.tabIndex = node === state.selected ? 0 : -1;
    fresh.setAttribute("aria-selected", String(node === state.selected));
    const parent = model.nodes.parent[node];
    const siblings = parent >= 0 ? model.children(parent) : [0];
    fresh.setAttribute("aria-setsize", siblings.length);
    fresh.setAttribute("aria-posinset", siblings.indexOf(node) + 1);
    this.shown.set(node, fresh);
    this.cards.append(fresh);
  }

  /** Draws everything again: after a change of what is expanded, lit, found or pruned. */
  redraw() {
    const { app, model, state } = this;
    const focused = this.element.contains(document.activeElement);
    this.placed = this.isMap()
      ? mapLayout(model, this.cut(), this.size())
      : layout(model, this.cut(), state.expanded, state.orientation, cardSize(state.histograms));
    app.toolbarShows?.();
    this.cards.setAttribute("aria-orientation", state.orientation === "right" ? "horizontal" : "vertical");
    this.element.dataset.orientation = state.orientation;
    this.reportHidden();
    for (const old of this.shown.values()) old.remove();
    this.shown.clear();
    this.drawView(true);
    if (focused) this.shown.get(state.selected)?.focus({ preventScroll: true });
  }

  /** Reports what is not shown because it is collapsed or pruned. */
  reportHidden() {
    const { facts } = this.model.report;
    const { leaf, below } = this.cut();
    const pruned = this.state.alpha !== null;
    const parts = pruned ? [`pruned to ${number(below[0])} of ${many(facts.leaves, "leaf", "leaves")}`] : [];
    const all = pruned ? leaf.reduce((sum, kind) => sum + (kind < 2), 0) : facts.nodes;
    const shown = this.placed.order.length;
    if (shown < all) parts.push(`${number(shown)} of ${many(all, "node")} shown; the rest is collapsed`);
    this.badge.hidden = parts.length === 0;
    this.badge.textContent = parts.join(" · ");
  }

  select(node, focus) {
    if (this.isMap()) this.drawView(true);
    for (const [other, old] of this.shown) {
      old.setAttribute("aria-selected", String(other === node));
      old.tabIndex = other === node ? 0 : -1;
    }
    if (!this.shown.has(node) && this.placed.place.has(node)) this.addCard(node);
    if (focus) this.shown.get(node)?.focus({ preventScroll: true });
  }

  /** Expands what is readable at once and shows it. */
  start(wish = null) {
    const { app, model, state } = this;
    if (wish !== "map") {
      const histograms = app.hasHistograms ? state.wantsHistograms : false;
      const first = firstView(model, this.cut(), this.size(), wish, histograms);
      Object.assign(state, { expanded: first.expanded, histograms: first.histograms, orientation: first.orientation });
    }
    for (const i of pathTo(model, state.selected).slice(0, -1)) state.expanded.add(i);
    this.redraw();
    showReadable(this);
  }

  /** Expands or collapses a node; its card stays where it is. */
  toggle(node, open = !this.state.expanded.has(node)) {
    const { app, model, state } = this;
    if (this.isLeaf(node) || this.isMap()) return;
    const at = () => [this.placed.x, this.placed.y].map((axis) => axis[this.placed.place.get(node)]);
    const before = at();
    if (open) for (const i of firstExpanded(model, this.cut(), 9, node)) state.expanded.add(i);
    else for (const i of [...state.expanded]) if (i >= node && i < model.end[node]) state.expanded.delete(i);
    if (!open && state.selected > node && state.selected < model.end[node]) app.select(node, false);
    this.redraw();
    const after = at();
    const { x, y, scale } = this.window.at;
    this.window.place(x - (after[0] - before[0]) * scale, y - (after[1] - before[1]) * scale, scale);
    this.drawView(true);
  }
}

/** Which cards and which branches lie in view. */
function placesInView({ order, x, y, w, h, above }, size, at) {
  const left = (-at.x - MARGIN) / at.scale;
  const top = (-at.y - MARGIN) / at.scale;
  const right = (size.width - at.x + MARGIN) / at.scale;
  const bottom = (size.height - at.y + MARGIN) / at.scale;
  const cards = [];
  const edges = [];
  const seen = (x1, y1, x2, y2) => x2 >= left && x1 <= right && y2 >= top && y1 <= bottom;
  for (let i = 0; i < order.length; i++) {
    const [x2, y2] = [x[i] + w(i), y[i] + h(i)];
    if (seen(x[i], y[i], x2, y2)) cards.push(i);
    const j = above[i];
    if (seen(Math.min(x[i], x[j]), Math.min(y[i], y[j]), Math.max(x2, x[j]), Math.max(y2, y[j]))) edges.push(i);
  }
  return { cards, edges };
}
