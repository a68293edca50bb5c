// The rows of the selected node as a table, page by page, sorted by any column; training rows or those held out.

import { button, link, make } from "../../../reporting/page/base/elements.js";
import { number } from "../../../reporting/page/base/numbers.js";
import { get } from "../api.js";
import { latest, nodeHead } from "./parts.js";

const PAGE = 50;

export function rowsPanel(studio) {
  const head = make("div");
  const place = make("div", { class: "tw-scroll st-rows", tabindex: 0, role: "group", "aria-label": "Rows of this node" });
  const where = make("span", { class: "tw-muted" });
  const held = make("input", { type: "checkbox", onchange: () => go(0) });
  const before = button("‹", () => go(query.first - PAGE), { "aria-label": "Rows before" });
  const after = button("›", () => go(query.first + PAGE), { "aria-label": "Rows after" });
  const element = make("div", {}, head, make("div", { class: "tw-filters" },
    make("label", { class: "st-check" }, held, "held-out rows"), before, where, after), place);
  const query = { sort: "", down: false, first: 0 };
  const load = latest((node) => studio.request(() => get("rows", {
    node, held_out: held.checked ? 1 : 0, sort: query.sort, down: query.down ? 1 : 0, first: query.first, n: PAGE,
  })), show);

  function refresh(node) {
    head.replaceChildren(nodeHead(studio, node));
    held.disabled = !studio.state.rows.held_out;
    query.first = 0;
    load(node);
  }

  function go(first) {
    query.first = Math.max(0, first);
    load(studio.node);
  }

  function show(found) {
    const last = Math.min(found.first + PAGE, found.total);
    where.textContent = found.total ? `${number(found.first + 1)} to ${number(last)} of ${number(found.total)}` : "no row";
    before.disabled = found.first === 0;
    after.disabled = last >= found.total;
    const { target } = studio.state.report.facts;
    const names = [target, "predicted", ...found.columns];
    const cells = (i) => [found.truth[i], found.predicted[i], ...found.cells.map((column) => column[i])];
    const sorter = (name) => {
      if (name === "predicted") return make("th", { scope: "col" }, name);
      const mine = query.sort === name;
      const sort = link(make("bdi", {}, name), () => {
        Object.assign(query, { sort: name, down: mine && !query.down, first: 0 });
        load(studio.node);
      }, { class: "tw-sort" });
      return make("th", { scope: "col", "aria-sort": mine ? (query.down ? "descending" : "ascending") : null }, sort);
    };
    const row = (number_, i) => make("tr", { class: found.truth[i] !== found.predicted[i] && studio.model.classes ? "st-mistake" : "" },
      make("th", { scope: "row" }, number(number_)),
      ...cells(i).map((cell) => make("td", { class: cell === null ? "tw-muted" : "" }, make("bdi", {}, cell ?? "missing"))));
    place.replaceChildren(make("table", { class: "tw-table" },
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "row"), ...names.map(sorter))),
      make("tbody", {}, ...found.row.map(row))));
  }
  return { name: "Rows", element, refresh };
}
