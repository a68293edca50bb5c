// Tabs: several views, one shown. Arrow keys move between tabs; hidden views stay in the document.

import { make } from "./elements.js";

/** @param {{name: string, element: HTMLElement}[]} views @param {(name: string) => void} changed */
export function tabBar(app, label, views, changed = () => {}) {
  const id = `${app.id}-${label.toLowerCase()}`;
  const buttons = new Map();
  const panels = new Map();
  let current = views[0].name;
  for (const [i, { name, element }] of views.entries()) {
    const ids = { id: `${id}-${i}`, "aria-controls": `${id}-${i}-panel` };
    buttons.set(name, make("button", { type: "button", role: "tab", ...ids, onclick: () => show(name) }, name));
    const panel = { class: "tw-panel", role: "tabpanel", id: `${id}-${i}-panel`, "aria-labelledby": `${id}-${i}` };
    panels.set(name, make("div", panel, element));
  }
  const bar = make("div", { class: "tw-tabs", role: "tablist", "aria-label": label }, ...buttons.values());
  bar.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const names = [...buttons.keys()];
    const next = names[(names.indexOf(current) + step + names.length) % names.length];
    show(next);
    buttons.get(next).focus();
    event.preventDefault();
  });

  function place() {
    for (const [name, tab] of buttons) {
      tab.setAttribute("aria-selected", String(name === current));
      tab.tabIndex = name === current ? 0 : -1;
      panels.get(name).hidden = name !== current;
    }
  }

  function show(name) {
    if (name === current) return;
    current = name;
    place();
    changed(name);
  }
  place();
  return { element: make("div", { class: "tw-tabbed" }, bar, ...panels.values()), show, shown: () => current };
}
