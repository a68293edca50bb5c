// Search: columns, levels, predictions and node numbers, one match after the other. A number finds the node of that
// number first.

import { button, make } from "../base/elements.js";
import { predictionText, splitColumn } from "../base/model.js";
import { number } from "../base/numbers.js";

export function searchBar(app) {
  const { model, state } = app;
  const input = make(
    "input",
    {
      type: "search",
      class: "tw-search",
      placeholder: "Search  ( / )",
      "aria-label": "Search columns, levels, predictions, node numbers",
      autocomplete: "off",
      spellcheck: "false",
    },
  );
  const count = make("span", { class: "tw-found", "aria-live": "polite" });
  const step = (text, name, way) => button(text, () => go(way), { "aria-label": name, title: name });
  const buttons = make(
    "span",
    { class: "tw-group", hidden: true },
    step("‹", "Previous match", -1),
    step("›", "Next match", 1),
  );
  const element = make("div", { class: "tw-searching", role: "search" }, input, buttons, count);
  let found = [];
  let at = -1;
  let texts = null;

  function search() {
    const query = input.value.trim().toLowerCase();
    texts ??= Array.from({ length: model.n }, (_, i) => textOf(app, i));
    found = query ? matches(model, texts, query) : [];
    const own = /^#?\d+$/.test(query) ? Number(query.replace("#", "")) : -1;
    if (own >= 0 && own < model.n) found = [own, ...found.filter((node) => node !== own)];
    found = found.filter((node) => app.tree.cut().leaf[node] < 2); // not those that pruning removed
    at = -1;
    state.matches = new Set(found);
    buttons.hidden = found.length === 0;
    count.textContent = query ? (found.length ? `${number(found.length)} found` : "nothing found") : "";
    app.tree.redraw();
  }

  function go(way) {
    if (!found.length) return;
    at = at < 0 && way < 0 ? found.length - 1 : (at + way + found.length) % found.length;
    count.textContent = `${number(at + 1)} of ${number(found.length)}`;
    app.side.show("Node");
    app.select(found[at], false);
  }

  input.addEventListener("input", search);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") go(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      input.value = "";
      search();
      app.select(state.selected, true);
    } else return;
    event.preventDefault();
  });
  const refresh = () => {
    texts = null;
    if (input.value.trim()) search();
  };
  return { element, focus: () => (input.focus(), input.select()), refresh };
}

function matches(model, texts, query) {
  const found = withLevels(model, query);
  texts.forEach((text, node) => text.includes(query) && found.add(node));
  return [...found].sort((a, b) => a - b);
}

/** The nodes that hold a level with this text, also where their condition is cut short. */
function withLevels(model, query) {
  const { schema, splits } = model.report;
  const codes = schema.columns.map(({ levels }) =>
    (levels || []).flatMap((level, code) => (level.toLowerCase().includes(query) ? [code] : [])),
  );
  const found = new Set();
  for (let node = 0; node < model.n; node++) {
    if (model.nodes.column[node] < 0) continue;
    for (const code of codes[model.nodes.column[node]]) {
      const child = splits.child_of_bin[splits.bin_start[splits.start[node]] + code];
      if (child >= 0) found.add(model.children(node)[child]);
    }
  }
  return found;
}

/** What is written on a node: its condition, the column it splits on, or a leaf's prediction. */
function textOf({ model, tree }, node) {
  const what = !tree.isLeaf(node) ? splitColumn(model, node) : predictionText(model, node);
  return `${model.nodes.condition[node]}\n${what}`.toLowerCase();
}
