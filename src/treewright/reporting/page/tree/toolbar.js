// The tools above the tree, and their keys.

import { button, make } from "../base/elements.js";
import { showAll, showReadable } from "./camera.js";

const LAYOUTS = { right: "To the right", down: "Downwards", outline: "Outline", map: "Map of rows" };

export function toolbar(app) {
  const { tree, state } = app;
  const tool = (text, name, onclick) => button(text, onclick, { "aria-label": name, title: name });
  const layouts = make(
    "select",
    { class: "tw-button tw-layouts", "aria-label": "Layout of the tree" },
    ...Object.entries(LAYOUTS).map(([value, name]) => make("option", { value }, name)),
  );
  layouts.addEventListener("change", () => {
    state.orientation = layouts.value;
    tree.redraw();
    showReadable(tree);
  });
  const histograms = tool("Histograms", "Show or hide histograms in the nodes", async () => {
    await app.loadHistograms();
    state.wantsHistograms = !state.histograms;
    tree.start(state.orientation);
  });
  app.toolbarShows = () => {
    layouts.value = state.orientation;
    histograms.setAttribute("aria-pressed", String(state.histograms));
    histograms.disabled = state.orientation === "map";
  };
  const all = () => {
    for (let i = 0; i < app.model.n; i++) if (tree.cut().leaf[i] === 0) state.expanded.add(i);
    tree.redraw();
    showReadable(tree);
  };
  const reset = () => {
    app.select(0);
    tree.start(state.orientation);
  };
  return make(
    "div",
    { class: "tw-toolbar", role: "group", "aria-label": "Tools of the tree" },
    app.search.element,
    make("span", { class: "tw-space" }),
    make(
      "div",
      { class: "tw-group" },
      app.histograms.length ? histograms : null,
      tool("Expand all", "Expand all nodes", all),
      tool("Reset", "Back to the first view", reset),
    ),
    layouts,
    make(
      "div",
      { class: "tw-group" },
      tool("−", "Zoom out (-)", () => tree.window.zoom(1 / 1.25)),
      tool("+", "Zoom in (+)", () => tree.window.zoom(1.25)),
      tool("Fit", "Fit the tree into view (0)", () => showAll(tree)),
    ),
  );
}

/** Keys that work wherever nothing is being typed. */
export function toolbarKeys(app, element) {
  const actions = {
    "/": () => app.search.focus(),
    "+": () => app.tree.window.zoom(1.25),
    "=": () => app.tree.window.zoom(1.25),
    "-": () => app.tree.window.zoom(1 / 1.25),
    0: () => showAll(app.tree),
  };
  document.addEventListener("keydown", (event) => {
    const inside = element.contains(event.target) || event.target === document.body;
    const typing = event.target.closest?.("input, select, textarea");
    const meant = inside && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!meant || !actions[event.key] || app.views.shown() !== "Tree") return;
    event.preventDefault();
    actions[event.key]();
  });
}
