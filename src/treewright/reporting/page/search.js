// Search: columns, levels, answers and node numbers, one match after the other.
//
// Comes in: what is typed. Goes out: matches marked in the tree, the chosen one shown.
// Always holds: a number finds the node of that number first; every node that is shown to match does contain the text.

import { answerText, questionText } from "./model.js";
import { make, number } from "./words.js";

export function searchBar(app) {
  const { model, state } = app;
  const input = make(
    "input",
    {
      type: "search",
      class: "tw-search",
      placeholder: "Search  ( / )",
      "aria-label": "Search columns, levels, answers, node numbers",
      autocomplete: "off",
      spellcheck: "false",
    },
  );
  const told = make("span", { class: "tw-found", "aria-live": "polite" });
  const step = (text, name, way) => make(
    "button",
    { type: "button", class: "tw-button", "aria-label": name, title: name, onclick: () => go(way) },
    text,
  );
  const buttons = make(
    "span",
    { class: "tw-group", hidden: true },
    step("‹", "Previous match", -1),
    step("›", "Next match", 1),
  );
  const element = make("div", { class: "tw-searching", role: "search" }, input, buttons, told);
  let found = [];
  let at = -1;
  let texts = null;

  function search() {
    const query = input.value.trim().toLowerCase();
    texts ??= Array.from({ length: model.n }, (_, i) => textOf(app, i));
    found = query ? matches(model, texts, query) : [];
    const own = /^#?\d+$/.test(query) ? Number(query.replace("#", "")) : -1;
    if (own >= 0 && own < model.n) found = [own, ...found.filter((node) => node !== own)];
    found = found.filter((node) => app.tree.cut().leaf[node] < 2); // what pruning cut off is not there to be found
    at = -1;
    state.matches = new Set(found);
    buttons.hidden = found.length === 0;
    told.textContent = query ? (found.length ? `${number(found.length)} found` : "nothing found") : "";
    app.tree.redraw();
  }

  function go(way) {
    if (!found.length) return;
    at = at < 0 && way < 0 ? found.length - 1 : (at + way + found.length) % found.length;
    told.textContent = `${number(at + 1)} of ${number(found.length)}`;
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
    if (model.nodes.asks[node] < 0) continue;
    for (const code of codes[model.nodes.asks[node]]) {
      const child = splits.child_of_bin[splits.bin_start[splits.start[node]] + code];
      if (child >= 0) found.add(model.children(node)[child]);
    }
  }
  return found;
}

/** What is written on a node: its condition, its question, or a leaf's answer. */
function textOf({ model, tree }, node) {
  const what = !tree.isLeaf(node) ? questionText(model, node) : answerText(model, node);
  return `${model.nodes.condition[node]}\n${what}`.toLowerCase();
}
