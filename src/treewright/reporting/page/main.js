// The page as a whole: `mount(element, report)` fills an element with a tree to explore. Nothing is fetched or stored;
// several pages may live in one document.

import { App } from "./app.js";
import { make } from "./base/elements.js";
import { modelOf } from "./base/model.js";
import { entries } from "./base/packed.js";
import { tabBar } from "./base/tab_bar.js";
import { header } from "./header.js";
import { printable } from "./print.js";
import { SIDE_TABS, VIEW_TABS } from "./tabs/index.js";
import { legend } from "./tree/histogram.js";
import { searchBar } from "./tree/search.js";
import { toolbar, toolbarKeys } from "./tree/toolbar.js";
import { TreeView } from "./tree/tree.js";

/** Trees of at most so many nodes have their histograms at once; others when the page is drawn. */
const FEW_NODES = 100;

/**
 * @param {object} report of treewright.report, as it is or as html_page.py packed it
 * @param {{title?: string}} options
 */
export async function mount(element, report, options = {}) {
  const large = [report.nodes, report.splits, report.rows, report.models];
  const [nodes, splits, rows, models] = await Promise.all(large.map(whole));
  const app = new App(modelOf({ ...report, nodes, splits, rows, models }), report);
  const live = make("p", { class: "tw-unseen", "aria-live": "polite" });
  app.announce = (text) => (live.textContent = text);
  if (app.model.n <= FEW_NODES) await app.loadHistograms();
  app.tree = new TreeView(app);
  app.search = searchBar(app);
  const sides = SIDE_TABS.map((tab) => tab(app)).filter(Boolean);
  app.header = header(app, element, options.title);
  app.side = tabBar(app, "About", sides, changeTo(sides));
  const hero = make(
    "div",
    { class: "tw-hero" },
    make("div", { class: "tw-main" }, toolbar(app), legend(app.model), app.tree.element),
    make("aside", { class: "tw-side", "aria-label": "Details" }, app.side.element),
  );
  const views = [{ name: "Tree", element: hero }, ...VIEW_TABS.map((tab) => tab(app))];
  app.views = tabBar(app, "Views", views, changeTo(views));
  app.tabs = [...sides, ...views];
  const paper = make("div", { class: "tw-paper" });
  element.classList.add("treewright");
  element.replaceChildren(app.header.element, app.views.element, paper, live);
  app.tree.start();
  for (const tab of app.tabs) tab.started?.();
  toolbarKeys(app, element);
  const sheets = printable(app);
  const toPaper = () => paper.replaceChildren(...sheets());
  addEventListener("beforeprint", toPaper);
  matchMedia("print").addEventListener("change", (event) => event.matches && toPaper());
  element.dataset.ready = "true";
  setTimeout(() => app.loadHistograms(), 500);
  return app;
}

/** What happens when another tab of these is opened. */
function changeTo(tabs) {
  let last = tabs[0];
  return (name) => {
    last.hidden?.();
    last = tabs.find((tab) => tab.name === name);
    last.shown?.();
  };
}

/** A dictionary of lists that may be packed as one entry. */
async function whole(part) {
  return part && part.packed ? entries(part).at(0) : part;
}
