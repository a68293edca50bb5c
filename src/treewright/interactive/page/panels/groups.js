// The editor of a split on levels: groups of levels, dragged from one to another, or moved by a key.

import { button, make } from "../../../reporting/page/base/elements.js";
import { number } from "../../../reporting/page/base/numbers.js";
import { childBar } from "./parts.js";

export function groupsEditor(studio, found, spec, first, changed) {
  const n = found.levels.length;
  let group = firstGroups();
  const element = make("div", { class: "st-groups" });

  /** The group of each level as the split has it, or the first level against all others. */
  function firstGroups() {
    const there = found.rows.map((rows) => rows > 0);
    if (first?.bins) return first.bins.map((child, i) => (child >= 0 ? child : there[i] ? 0 : -1));
    const held = first?.groups ?? null;
    return found.levels.map((level, i) => {
      const child = held ? held.findIndex((levels) => levels.includes(level)) : i === 0 ? 0 : 1;
      return child >= 0 ? child : there[i] ? 0 : -1;
    });
  }

  const count = () => Math.max(...group, 0) + 1;
  const value = () => ({ groups: Array.from({ length: count() }, (_, k) => found.levels.filter((_level, i) => group[i] === k)).filter((levels) => levels.length) });

  function move(i, to) {
    group[i] = to;
    const used = [...new Set(group.filter((k) => k >= 0))].sort((a, b) => a - b);
    group = group.map((k) => (k < 0 ? k : used.indexOf(k)));
    draw();
    element.querySelector(`[data-level="${i}"]`)?.focus();
    if (value().groups.length > 1) changed(value());
  }

  function draw() {
    const groups = Array.from({ length: count() + 1 }, (_, k) => k);
    element.replaceChildren(...groups.map((k) => {
      const levels = group.flatMap((g, i) => (g === k ? [i] : []));
      const fresh = k === count();
      const box = make("div", { class: "st-group", role: "list", "aria-label": fresh ? "A new child" : `Child ${k + 1}`,
        ondragover: (event) => event.preventDefault(),
        ondrop: (event) => (event.preventDefault(), move(Number(event.dataTransfer.getData("text/plain")), k)) },
      make("h3", {}, fresh ? "drop a level here for another child" : `child ${k + 1}`), ...levels.map((i) => level(i, k)));
      return box;
    }), group.some((k) => k < 0) ? make("p", { class: "tw-muted" }, `${group.filter((k) => k < 0).length} levels do not occur in this node.`) : "");
  }

  function level(i, k) {
    const child = found.counts ? { counts: found.counts[i] } : { mean: found.mean[i] };
    const to = (step) => (event) => (event.stopPropagation(), move(i, Math.min(Math.max(k + step, 0), count())));
    return make("div", { class: "st-level", draggable: "true", role: "listitem", tabindex: 0, "data-level": i,
      "aria-label": `${found.levels[i]}, ${found.rows[i]} rows, child ${k + 1}; arrow keys move it to another child`,
      ondragstart: (event) => event.dataTransfer.setData("text/plain", String(i)),
      onkeydown: (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        to(step)(event);
      } },
    button("‹", to(-1), { "aria-label": "To the child before", tabindex: -1, disabled: k === 0 || null }),
    make("bdi", {}, String(found.levels[i])), make("span", { class: "st-count" }, number(found.rows[i])), childBar(studio, child),
    button("›", to(1), { "aria-label": "To the next child", tabindex: -1 }));
  }
  draw();
  return { element, value, children: () => value().groups.length };
}
