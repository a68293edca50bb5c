// What can be done to the selected node, as buttons and as keys.

import { button, make } from "../../reporting/page/base/elements.js";
import { post } from "./api.js";

/** Every action: its key, its words, what it does, and whether it can be done now. */
export function actionsOf(studio) {
  const leaf = () => !studio.model.hasChildren(studio.node);
  const locked = () => Boolean(studio.editAt(studio.node)?.locked);
  /** Grows a leaf; of a node with children the leaves below it, so that splits made by hand stay. */
  const grow = (node, more = {}) => studio.edit({ edit: "Grow", node, ...(studio.model.hasChildren(node) ? { keep: true } : {}), ...more });
  const open = () => !(leaf() && locked());
  return [
    { key: "u", name: "Undo", title: "Undo the last step", run: () => studio.change("undo"), can: () => studio.state.undo > 0 },
    { key: "r", name: "Redo", title: "Do the last undone step again", run: () => studio.change("redo"), can: () => studio.state.redo > 0 },
    { key: "g", name: "Grow a level", title: "Grow the selected leaf, or every leaf below the selected node, by one level", run: () => grow(studio.node, { levels: 1 }), can: open },
    { key: "G", name: "Grow below", title: "Grow everything below the selected node; the splits it has stay", run: () => grow(studio.node), can: open },
    { key: "A", name: "Grow all", title: "Grow every leaf of the tree; the splits it has stay", run: () => grow(0), can: () => true },
    { key: "s", name: "Step", title: "Grow the next leaf by one level and show its arithmetic", run: () => step(studio), can: () => nextLeaf(studio) >= 0 },
    { key: "c", name: "Collapse", title: "Make the selected node a leaf", run: () => studio.edit({ edit: "Collapse", node: studio.node }), can: () => !leaf() && !locked() },
    { key: "P", name: "Prune", title: "Prune what lies below the selected node", run: () => studio.open("Prune"), can: () => !leaf() },
    { key: "l", name: "Lock", title: "Lock or unlock the selected node", run: () => studio.edit({ edit: locked() ? "Unlock" : "Lock", node: studio.node }), can: () => true },
  ];
}

export function actionBar(studio) {
  const actions = actionsOf(studio);
  const buttons = actions.map((action) => button(action.name, action.run, {
    title: `${action.title} (${action.key})`, "aria-keyshortcuts": action.key, "data-action": action.name,
  }));
  const keys = button("Keys", () => dialog.showModal(), { title: "All keys (?)" });
  const dialog = help(actions);
  const group = (from, to) => make("div", { class: "tw-group" }, ...buttons.slice(from, to));
  const element = make("div", { class: "tw-toolbar st-actions", role: "toolbar", "aria-label": "Actions" },
    group(0, 2), group(2, 6), group(6, 9), make("span", { class: "tw-space" }), keys, dialog);
  const show = () => {
    if (!studio.app) return;
    actions.forEach((action, i) => (buttons[i].disabled = !action.can()));
    buttons[actions.findIndex(({ key }) => key === "l")].textContent = studio.editAt(studio.node)?.locked ? "Unlock" : "Lock";
  };
  return { element, show, help: () => dialog.showModal() };
}

function help(actions) {
  const rows = [
    ...actions.map(({ key, title }) => [key, title]),
    ["1 to 9", "Apply the ranked split of that number"],
    ["e", "Edit the split of the selected node"],
    ["arrows", "Go through the tree; Enter folds and unfolds"],
    ["/", "Search"], ["+ - 0", "Zoom; the whole tree"],
    ["p", "Next panel"], ["Esc", "Cancel long work, close messages"], ["?", "This list"],
  ];
  const close = make("button", { type: "button", class: "tw-button", onclick: (event) => event.target.closest("dialog").close() }, "Close");
  return make("dialog", { class: "st-dialog", "aria-label": "Keys" }, make("h2", {}, "Keys"),
    make("dl", { class: "tw-facts" }, ...rows.flatMap(([key, what]) => [make("dt", {}, make("kbd", {}, key)), make("dd", {}, what)])), close);
}

/** Keys that work wherever nothing is being typed. */
export function actionKeys(studio) {
  const byKey = new Map(actionsOf(studio).map((action) => [action.key, action]));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      post("cancel").catch(() => {});
      studio.quiet();
      studio.compared.close();
      return;
    }
    const typing = event.target.closest?.("input, select, textarea, dialog");
    const undo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
    if (typing || ((event.ctrlKey || event.metaKey || event.altKey) && !undo)) return;
    const action = undo ? byKey.get(event.shiftKey ? "r" : "u") : byKey.get(event.key);
    if (action) action.can() && !studio.busy && action.run();
    else if (/^[1-9]$/.test(event.key)) studio.panels[0].apply(Number(event.key) - 1);
    else if (event.key === "e") studio.open("Editor");
    else if (event.key === "p") nextPanel(studio);
    else if (event.key === "?") studio.actions.help();
    else return;
    event.preventDefault();
  });
}

function nextPanel(studio) {
  const names = studio.panels.map(({ name }) => name);
  studio.open(names[(names.indexOf(studio.side.shown()) + 1) % names.length]);
}

/** The next leaf to grow, nearest to the root first; -1 where every leaf was tried. */
function nextLeaf(studio) {
  const { model, stepped } = studio;
  let best = -1;
  for (let i = 0; i < model.n; i++) {
    if (model.hasChildren(i) || stepped.has(pathKey(studio, i)) || model.nodes.impurity[i] === 0) continue;
    if (best < 0 || model.depth[i] < model.depth[best]) best = i;
  }
  return best;
}

/** A leaf by the conditions that lead to it: its number changes when others grow. */
function pathKey({ model }, node) {
  const parts = [];
  for (let i = node; i >= 0; i = model.nodes.parent[i]) parts.push(model.nodes.condition[i]);
  return parts.join("\n");
}

async function step(studio) {
  const node = nextLeaf(studio);
  if (node < 0) return;
  studio.stepped.add(pathKey(studio, node));
  if (!(await studio.change("edit", { edit: "Grow", node, levels: 1 }, node))) studio.app.select(node);
  studio.open("Arithmetic");
}
