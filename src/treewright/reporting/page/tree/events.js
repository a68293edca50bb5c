// Pointer and keys on the tree: clicks select and toggle, arrow keys walk, a resting pointer shows a hint.

import { make } from "../base/elements.js";
import { hint } from "./cards.js";

const PAUSE = 200; // milliseconds a pointer rests on a card before its hint is shown

/** Listens to a view. @returns {{hide: () => void}} what hides the hint */
export function listen(view) {
  const { element, app } = view;
  const tip = make("div", { class: "tw-hint", role: "tooltip", hidden: true });
  let hovered = null;
  let pausing = 0;
  const hide = () => (clearTimeout(pausing), (tip.hidden = true));
  element.append(tip);
  element.addEventListener("click", (event) => {
    const toggled = event.target.closest?.("[data-toggle]");
    if (toggled) return view.toggle(Number(toggled.dataset.toggle));
    const node = nodeAt(view, event);
    if (node !== null) app.select(node, true, false);
  });
  element.addEventListener("dblclick", (event) => {
    const node = nodeAt(view, event);
    if (node !== null && !event.target.closest?.("[data-toggle]")) view.toggle(node);
  });
  element.addEventListener("keydown", (event) => pressed(view, event));
  element.addEventListener("pointermove", (event) => {
    if (event.buttons || event.pointerType === "touch") return;
    const node = nodeAt(view, event);
    if (node === hovered) return;
    hide();
    hovered = node;
    if (node !== null) pausing = setTimeout(showHint, PAUSE, view, tip, node);
  });
  element.addEventListener("pointerdown", hide);
  element.addEventListener("pointerleave", () => ((hovered = null), hide()));
  return { hide };
}

/** The node under a pointer, also where no card is drawn. */
function nodeAt({ element, placed, window: { at } }, event) {
  const near = event.target.closest?.("[data-node]");
  if (near) return Number(near.dataset.node);
  const box = element.getBoundingClientRect();
  const [x, y] = [(event.clientX - box.left - at.x) / at.scale, (event.clientY - box.top - at.y) / at.scale];
  const within = (value, start, length) => value >= start && value <= start + length;
  const i = placed.order.findIndex(
    (_, k) => within(x, placed.x[k], placed.w(k)) && within(y, placed.y[k], placed.h(k)),
  );
  return i < 0 ? null : placed.order[i];
}

function showHint({ element, model, placed, window: { at } }, tip, node) {
  const i = placed.place.get(node);
  if (i === undefined) return;
  tip.replaceChildren(hint(model, node));
  tip.hidden = false;
  const below = at.y + (placed.y[i] + placed.h(i)) * at.scale + 8;
  const above = at.y + (placed.y[i] - placed.card.label) * at.scale - tip.offsetHeight - 8;
  const top = below + tip.offsetHeight < element.clientHeight || above < 0 ? below : above;
  const left = Math.max(8, Math.min(element.clientWidth - tip.offsetWidth - 8, at.x + placed.x[i] * at.scale));
  tip.style.transform = `translate(${left}px, ${Math.max(8, top)}px)`;
}

function pressed(view, event) {
  const { app, model, state, placed } = view;
  const node = state.selected;
  const right = state.orientation !== "down";
  const [deeper, higher] = right ? ["ArrowRight", "ArrowLeft"] : ["ArrowDown", "ArrowUp"];
  const [before, after] = right ? ["ArrowUp", "ArrowDown"] : ["ArrowLeft", "ArrowRight"];
  const go = (next) => next !== undefined && next >= 0 && app.select(next, true);
  if (event.key === deeper && !view.isLeaf(node)) {
    if (!state.expanded.has(node)) view.toggle(node, true);
    go(model.children(node)[0]);
  } else if (event.key === higher) go(model.nodes.parent[node]);
  else if (event.key === before) go(neighbour(view, -1));
  else if (event.key === after) go(neighbour(view, 1));
  else if (event.key === "Home") go(0);
  else if (event.key === "End") go(placed.order.at(-1));
  else if (event.key === "Enter" || event.key === " ") view.toggle(node);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** The next visible node of the same depth; in an outline, of any. */
function neighbour({ model, state, placed }, step) {
  const at = placed.place.get(state.selected);
  if (state.orientation === "outline") return placed.order[at + step];
  const depth = model.depth[state.selected];
  for (let i = at + step; i >= 0 && i < placed.order.length; i += step) {
    if (model.depth[placed.order[i]] === depth) return placed.order[i];
  }
  return undefined;
}
