// Tabs: several views, one shown.
//
// Comes in: names and elements. Goes out: an element, and verbs to show one and to ask which.
// Always holds: arrow keys move between tabs; hidden views stay in the document, so what was typed there stays too.

import { make } from "./words.js";

export function tabs(app, label, views, changed = () => {}) {
  const id = `${app.id}-${label.toLowerCase()}`;
  const buttons = new Map();
  const panels = new Map();
  let current = views[0][0];
  for (const [i, [name, view]] of views.entries()) {
    buttons.set(
      name,
      make(
        "button",
        {
          type: "button",
          role: "tab",
          id: `${id}-${i}`,
          "aria-controls": `${id}-${i}-panel`,
          onclick: () => show(name),
        },
        name,
      ),
    );
    panels.set(
      name,
      make(
        "div",
        { class: "tw-panel", role: "tabpanel", id: `${id}-${i}-panel`, "aria-labelledby": `${id}-${i}` },
        view,
      ),
    );
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
    for (const [name, button] of buttons) {
      button.setAttribute("aria-selected", String(name === current));
      button.tabIndex = name === current ? 0 : -1;
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
