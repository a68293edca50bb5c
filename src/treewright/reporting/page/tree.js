// The tree in view: cards, branches, keys, zoom.
//
// Comes in: the app (model and shared state). Goes out: an element, and a few verbs (fit, reveal, zoom).
// Always holds: only what is in view is in the document, so a tree of any size stays smooth; one card can be reached by
// the tab key, the chosen one, and arrow keys go on from there.

import { card, hint } from "./cards.js";
import { edgePaths, farCards, mapParts } from "./edges.js";
import { CARD, firstExpanded, firstView, fitScale, layout, mapLayout } from "./layout.js";
import { answerText, cutAt, pathTo, questionText } from "./model.js";
import { viewport } from "./viewport.js";
import { draw, make, many, number } from "./words.js";

/** Below this scale cards are rectangles. */
const FAR = 0.34;
/** Where a tree is too large to fit, the view is as far away as this and looks at the root. */
const OVERVIEW = 0.05;
const PAUSE = 200; // milliseconds a pointer rests on a card before its numbers are shown
const MARGIN = 240; // pixels around the view that are drawn already

export function treeView(app) {
  const { model, state } = app;
  const edges = draw("svg", { class: "tw-edges", "aria-hidden": "true" });
  const cards = make("div", { class: "tw-cards", role: "tree", "aria-label": `Tree for ${model.report.facts.target}` });
  const stage = make("div", { class: "tw-stage" }, edges, cards);
  const tip = make("div", { class: "tw-hint", role: "tooltip", hidden: true });
  const badge = make("p", { class: "tw-badge", hidden: true });
  const element = make("div", { class: "tw-viewport" }, stage, badge, tip);
  const shown = new Map();
  let placed = null;
  let drawnAt = null;
  let waiting = 0;
  let hovered = null;
  let pausing = 0;

  const window_ = viewport(element, ({ x, y, scale }) => {
    stage.style.transform = `translate(${x}px, ${y}px) scale(${scale})`;
    noHint();
    stage.style.setProperty("--scale", scale);
    schedule();
  }, () => (state.orientation === "map" ? 60 : 2.5));

  const cut = () => cutAt(model, state.alpha);
  const lit = (node) => (state.lit && state.lit.has(node) ? state.lit.get(node) : null);
  const size = () => ({ width: element.clientWidth, height: element.clientHeight });
  const mapWords = (node) => (node > 0 ? `${model.nodes.edge[node]}: ` : "") + (
    isLeaf(node) ? answerText(model, node) : `${questionText(model, node)}?`
  );
  const isLeaf = (node) => cut().leaf[node] > 0;

  /** The node itself, or the leaf of the cut tree in which it has vanished. */
  function standsFor(node) {
    let shown_ = node;
    while (cut().leaf[shown_] > 1) shown_ = model.nodes.parent[shown_];
    return shown_;
  }

  function schedule() {
    if (!waiting) waiting = requestAnimationFrame(() => ((waiting = 0), drawView(false)));
  }

  /** Draws what is in view, unless it is there already. */
  function drawView(anew) {
    const { x, y, scale } = window_.at;
    const moved = drawnAt && Math.max(Math.abs(x - drawnAt.x), Math.abs(y - drawnAt.y)) > MARGIN / 2;
    if (!anew && drawnAt && !moved && drawnAt.scale === scale) return;
    drawnAt = { x, y, scale };
    const far = scale < FAR || state.orientation === "map";
    const seen = placesInView(placed, element, window_.at);
    if (state.orientation === "map") {
      lit.any = state.lit !== null;
      edges.replaceChildren(...mapParts(model, placed, seen.cards, scale, lit, mapWords));
    } else {
      edges.replaceChildren(
        ...edgePaths(model, placed, seen.edges, lit, scale),
        ...(far ? farCards(model, placed, seen.cards) : []),
      );
    }
    const wanted = new Set(far ? [] : seen.cards.map((i) => placed.order[i]));
    if (placed.place.has(state.selected)) wanted.add(state.selected);
    for (const [node, old] of shown) {
      if (!wanted.has(node) && old !== document.activeElement) {
        old.remove();
        shown.delete(node);
      }
    }
    for (const node of wanted) if (!shown.has(node)) addCard(node);
  }

  function addCard(node) {
    const i = placed.place.get(node);
    const fresh = card(model, node, {
      leaf: isLeaf(node), expanded: state.expanded.has(node), below: cut().below[node], lit: lit(node),
      dim: state.lit !== null, match: state.matches.has(node),
    });
    fresh.style.transform = `translate(${placed.x[i]}px, ${placed.y[i]}px)`;
    if (state.orientation === "map") {
      fresh.classList.add("tw-spot");
      Object.assign(fresh.style, { width: `${placed.w(i)}px`, height: `${placed.h(i)}px` });
    }
    fresh.tabIndex = node === state.selected ? 0 : -1;
    fresh.setAttribute("aria-selected", String(node === state.selected));
    const parent = model.nodes.parent[node];
    const siblings = parent >= 0 ? model.children(parent) : [0];
    fresh.setAttribute("aria-setsize", siblings.length);
    fresh.setAttribute("aria-posinset", siblings.indexOf(node) + 1);
    shown.set(node, fresh);
    cards.append(fresh);
  }

  /** Draws everything again: after a change of what is expanded, lit, found or cut. */
  function redraw() {
    const focused = element.contains(document.activeElement);
    const map = state.orientation === "map";
    placed = map ? mapLayout(model, cut(), size()) : layout(model, cut(), state.expanded, state.orientation);
    app.orientationShown?.(state.orientation);
    cards.setAttribute("aria-orientation", state.orientation === "right" ? "horizontal" : "vertical");
    element.dataset.orientation = state.orientation;
    tellWhatIsShown();
    for (const old of shown.values()) old.remove();
    shown.clear();
    drawView(true);
    if (focused && shown.has(state.selected)) shown.get(state.selected).focus({ preventScroll: true });
  }

  /** Says what is not in view because it is collapsed or pruned. */
  function tellWhatIsShown() {
    const { facts } = model.report;
    const parts = [];
    if (state.alpha !== null) parts.push(
      `pruned to ${number(cut().below[0])} of ${many(facts.leaves, "leaf", "leaves")}`
    );
    const all = state.alpha === null ? facts.nodes : cut().leaf.reduce((sum, kind) => sum + (kind < 2), 0);
    if (placed.order.length < all) parts.push(
      `${number(placed.order.length)} of ${many(all, "node")} shown; the rest is collapsed`
    );
    badge.hidden = parts.length === 0;
    badge.textContent = parts.join(" · ");
  }

  function select(node, focus) {
    if (state.orientation === "map") drawView(true);
    for (const [other, old] of shown) {
      old.setAttribute("aria-selected", String(other === node));
      old.tabIndex = other === node ? 0 : -1;
    }
    if (!shown.has(node) && placed.place.has(node)) addCard(node);
    if (focus && shown.has(node)) shown.get(node).focus({ preventScroll: true });
  }

  /** Moves the view so that a node is seen. */
  function reveal(node) {
    const i = placed.place.get(node);
    if (i === undefined) return;
    const { scale } = window_.at;
    const near = readableScale(i, scale);
    const [left, top] = [window_.at.x + placed.x[i] * scale, window_.at.y + placed.y[i] * scale];
    const inside = left > 8 && top > 16 && left + placed.w(i) * scale < element.clientWidth - 8
      && top + placed.h(i) * scale < element.clientHeight - 16;
    if (inside && near === scale) return;
    lookAt(i, near);
  }

  /** The scale at which a place can be read: nearer than now only where it is too small. */
  function readableScale(i, scale) {
    if (state.orientation === "map") return placed.h(i) * scale < 3 ? Math.min(60, 12 / placed.h(i)) : scale;
    return scale < 0.5 ? 0.9 : scale;
  }

  function lookAt(i, scale) {
    const [x, y] = [placed.x[i] + placed.w(i) / 2, placed.y[i] + placed.h(i) / 2];
    window_.place(element.clientWidth / 2 - x * scale, element.clientHeight / 2 - y * scale, scale);
    drawView(true);
  }

  /** Moves the view so that all of some nodes are seen, or else the last of them. */
  function frame(nodes) {
    const places = nodes.map((node) => placed.place.get(node)).filter((i) => i !== undefined);
    const low = (list) => Math.min(...list);
    const [left, top] = [low(places.map((i) => placed.x[i])), low(places.map((i) => placed.y[i] - CARD.label))];
    const right = -low(places.map((i) => -placed.x[i] - placed.w(i)));
    const bottom = -low(places.map((i) => -placed.y[i] - placed.h(i)));
    const { x, y, scale } = window_.at;
    const { width, height } = size();
    const begins = x + left * scale > 0 && y + top * scale > 0;
    if (begins && x + right * scale < width && y + bottom * scale < height && scale > 0.5) return;
    const near = Math.min(1, (width - 48) / (right - left), (height - 48) / (bottom - top));
    if (near < 0.6 || state.orientation === "map") return reveal(nodes.at(-1));
    window_.place((width - (left + right) * near) / 2, (height - (top + bottom) * near) / 2, near);
    drawView(true);
  }

  function fit() {
    if (state.orientation === "map") return window_.place(0, 0, 1);
    const scale = fitScale(placed, size());
    if (scale < OVERVIEW) return lookAt(0, OVERVIEW);
    const top = state.orientation === "outline" ? 12 : (element.clientHeight - placed.height * scale) / 2;
    window_.place((element.clientWidth - placed.width * scale) / 2, top, scale);
    drawView(true);
  }

  /** Expands what is readable at once and fits it. */
  function start(wish = null) {
    const first = wish === "map" ? {
      expanded: state.expanded,
      orientation: wish,
    } : firstView(model, cut(), size(), wish);
    state.expanded = first.expanded;
    state.orientation = first.orientation;
    for (const i of pathTo(model, state.selected).slice(0, -1)) state.expanded.add(i);
    redraw();
    fit();
  }

  /** Expands or collapses a node; its card stays where it is. */
  function toggle(node, open = !state.expanded.has(node)) {
    if (isLeaf(node) || state.orientation === "map") return;
    const before = placed.place.get(node);
    const [x, y] = [placed.x[before], placed.y[before]];
    if (open) for (const i of firstExpanded(model, cut(), 9, node)) state.expanded.add(i);
    else for (const i of [...state.expanded]) if (i >= node && i < model.end[node]) state.expanded.delete(i);
    if (!open && state.selected > node && state.selected < model.end[node]) app.select(node, false);
    redraw();
    const after = placed.place.get(node);
    const { at } = window_;
    window_.place(at.x - (placed.x[after] - x) * at.scale, at.y - (placed.y[after] - y) * at.scale, at.scale);
    drawView(true);
  }

  function key(event) {
    const node = state.selected;
    const right = state.orientation !== "down";
    const deeper = right ? "ArrowRight" : "ArrowDown";
    const higher = right ? "ArrowLeft" : "ArrowUp";
    const [before, after] = right ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
    const go = (next) => next !== undefined && next >= 0 && app.select(next, true);
    if (event.key === deeper && !isLeaf(node)) {
      if (!state.expanded.has(node)) toggle(node, true);
      go(model.children(node)[0]);
    } else if (event.key === higher) go(model.nodes.parent[node]);
    else if (event.key === before) go(neighbour(-1));
    else if (event.key === after) go(neighbour(1));
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(placed.order.at(-1));
    else if (event.key === "Enter" || event.key === " ") toggle(node);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The next visible node of the same depth; in an outline, of any. */
  function neighbour(step) {
    if (state.orientation === "outline") return placed.order[placed.place.get(state.selected) + step];
    const depth = model.depth[state.selected];
    for (let i = placed.place.get(state.selected) + step; i >= 0 && i < placed.order.length; i += step) {
      if (model.depth[placed.order[i]] === depth) return placed.order[i];
    }
    return undefined;
  }

  /** The node under a pointer, where no card is drawn. */
  function nodeAt(event) {
    const near = event.target.closest?.("[data-node]");
    if (near) return Number(near.dataset.node);
    const box = element.getBoundingClientRect();
    const { x, y, scale } = window_.at;
    const [px, py] = [(event.clientX - box.left - x) / scale, (event.clientY - box.top - y) / scale];
    const within = (at, start, length) => at >= start && at <= start + length;
    const i = placed.order.findIndex(
      (_, k) => within(px, placed.x[k], placed.w(k)) && within(py, placed.y[k], placed.h(k)),
    );
    return i < 0 ? null : placed.order[i];
  }

  element.addEventListener("click", (event) => {
    const toggled = event.target.closest?.("[data-toggle]");
    if (toggled) return toggle(Number(toggled.dataset.toggle));
    const node = nodeAt(event);
    if (node !== null) app.select(node, true, false);
  });
  element.addEventListener("dblclick", (event) => {
    const node = nodeAt(event);
    if (node !== null && !event.target.closest?.("[data-toggle]")) toggle(node);
  });
  element.addEventListener("keydown", key);
  element.addEventListener("pointermove", (event) => {
    if (event.buttons || event.pointerType === "touch") return;
    const node = nodeAt(event);
    if (node === hovered) return;
    noHint();
    hovered = node;
    if (node !== null) pausing = setTimeout(showHint, PAUSE, node);
  });
  element.addEventListener("pointerdown", () => noHint());
  element.addEventListener("pointerleave", () => ((hovered = null), noHint()));

  function noHint() {
    clearTimeout(pausing);
    tip.hidden = true;
  }

  function showHint(node) {
    const i = placed.place.get(node);
    if (i === undefined) return;
    const { x, y, scale } = window_.at;
    tip.replaceChildren(hint(model, node));
    tip.hidden = false;
    const below = y + (placed.y[i] + placed.h(i)) * scale + 8;
    const above = y + (placed.y[i] - CARD.label) * scale - tip.offsetHeight - 8;
    const top = below + tip.offsetHeight < element.clientHeight || above < 0 ? below : above;
    const left = Math.max(8, Math.min(element.clientWidth - tip.offsetWidth - 8, x + placed.x[i] * scale));
    tip.style.transform = `translate(${left}px, ${Math.max(8, top)}px)`;
  }

  new ResizeObserver(() => placed && (state.orientation === "map" ? redraw() : schedule())).observe(element);
  return {
    element, redraw, select, reveal, frame, fit, start, toggle, standsFor, isLeaf, cut,
    zoom: window_.zoom,
  };
}

/** Which cards and which branches lie in view. */
function placesInView({ order, x, y, w, h, above }, element, at) {
  const left = (-at.x - MARGIN) / at.scale;
  const top = (-at.y - MARGIN) / at.scale;
  const right = (element.clientWidth - at.x + MARGIN) / at.scale;
  const bottom = (element.clientHeight - at.y + MARGIN) / at.scale;
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
