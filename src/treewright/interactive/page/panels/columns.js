// The columns at the selected node, and what the session starts from: target, kinds, columns left out, weights, costs.

import { button, draw, make } from "../../../reporting/page/base/elements.js";
import { scaleColour } from "../../../reporting/page/base/model.js";
import { percent } from "../../../reporting/page/base/numbers.js";
import { get } from "../api.js";
import { classKey, latest, nodeHead } from "./parts.js";

/** So many names of levels stand below their bars. */
const MOST_NAMES = 6;
const KINDS = ["numeric", "nominal", "ordinal", "boolean", "date", "datetime", "time", "duration"];

export function columnsPanel(studio) {
  const head = make("div");
  const list = make("div", { class: "st-columns" });
  const settings = make("div");
  const element = make("div", {}, head, list, settings);
  let draft = null; // the start as it is being changed
  let formOf = null; // the start that the form was made for; what is typed stays while another node is looked at
  const load = latest((node) => studio.request(() => get("columns", { node })), show);

  function refresh(node) {
    head.replaceChildren(nodeHead(studio, node), classKey(studio) ?? "");
    draft = structuredClone(studio.state.start);
    if (formOf !== studio.state.start) settings.replaceChildren(form());
    formOf = studio.state.start;
    load(node);
  }

  function show(found) {
    const byName = new Map(found.map((column) => [column.name, column]));
    const order = [...studio.state.columns].sort((a, b) => (byName.get(b.name)?.explains ?? -1) - (byName.get(a.name)?.explains ?? -1));
    list.replaceChildren(...order.map((column) => item(column, byName.get(column.name))));
  }

  function item(column, here) {
    const kind = make("select", { "aria-label": `Kind of ${column.name}` }, ...KINDS.map((name) => make("option", { value: name }, name)));
    kind.value = draft.kinds?.[column.name] && typeof draft.kinds[column.name] === "string" ? draft.kinds[column.name] : here?.kind ?? column.kind;
    kind.addEventListener("change", () => begin({ kinds: { ...draft.kinds, [column.name]: kind.value } }));
    const role = column.left_out === "the target" || column.left_out === "the weight";
    const used = !column.left_out;
    const leave = button(used ? "Leave out" : "Take in", () => begin({
      left_out: used ? [...(draft.left_out ?? []), column.name] : (draft.left_out ?? []).filter((name) => name !== column.name),
      ...(used || draft.left_out?.includes(column.name) ? {} : { kinds: { ...draft.kinds, [column.name]: column.kind } }),
    }), { "aria-label": `${used ? "Leave out" : "Take in"} ${column.name}` });
    return make("div", { class: "st-column", "data-column": column.name },
      make("div", { class: "st-split-head" }, make("b", {}, make("bdi", {}, column.name)),
        column.left_out ? make("span", { class: "tw-muted" }, column.left_out) : null,
        make("span", { class: "tw-space" }),
        here?.explains === undefined || here.explains === null ? null
          : make("span", { class: "st-figure", title: "Share of the target's variance here that groups of this column's values explain" }, `explains ${percent(here.explains, 1)}`),
        here?.missing ? make("span", { class: "tw-muted" }, `${percent(here.missing, 1)} missing`) : null),
      here?.counts || here?.weight ? distribution(here) : null,
      role ? null : make("div", { class: "st-links" }, kind, leave));
  }

  function distribution(here) {
    const { colours } = studio.state.report;
    const [wide, tall] = [440, 44];
    const totals = here.counts ? here.counts.map((bar) => bar.reduce((a, b) => a + b, 0)) : here.weight;
    const top = Math.max(...totals, 1e-300);
    const step = wide / totals.length;
    const parts = totals.flatMap((total, i) => {
      let y = tall;
      const rect = (share, fill) => {
        y -= (share / top) * tall;
        return draw("rect", { x: i * step, y, width: Math.max(0.5, step - 1), height: (share / top) * tall, style: `fill:${fill}` });
      };
      if (!here.counts) return total > 0 ? [rect(total, scaleColour(studio.model, here.mean[i]))] : [];
      return here.counts[i].flatMap((count, k) => (count > 0 ? [rect(count, colours[k])] : []));
    });
    const names = here.ends ?? here.labels;
    const below = names.length <= MOST_NAMES ? names : [`${names.slice(0, MOST_NAMES).join(", ")}, …`];
    return make("figure", {}, draw("svg", { viewBox: `0 0 ${wide} ${tall}`, class: "tw-chart", role: "img", "aria-label": `Distribution of ${here.name}` }, ...parts),
      make("figcaption", { class: here.ends ? "st-ends" : "st-names" }, ...below.map((name) => make("bdi", { title: name }, name))));
  }

  /** Target, weights, rows held out and costs. */
  function form() {
    const names = studio.state.columns.map(({ name }) => name);
    const options = (list_) => list_.map((name) => make("option", { value: name }, name));
    const target = make("select", { "aria-label": "Target" }, ...options(names));
    target.value = draft.target;
    const weight = make("select", { "aria-label": "Weights" }, make("option", { value: "" }, "none"),
      ...options(studio.state.columns.filter(({ kind }) => kind === "numeric").map(({ name }) => name)));
    weight.value = draft.weight ?? "";
    const holdout = make("input", { type: "number", min: 0, max: 0.9, step: 0.05, value: draft.holdout ?? 0, "aria-label": "Share held out",
      disabled: (draft.holdout === null && studio.state.rows.held_out > 0) || null }); // rows of their own are held out
    const costs = costTable();
    const field = (label, input) => make("label", { class: "tw-filter" }, label, input);
    return make("section", { class: "tw-section" }, make("h3", {}, "The session"),
      make("div", { class: "tw-filters" }, field("target", target), field("weights", weight), field("share held out", holdout)), costs?.element,
      button("Begin anew with these", () => {
        const share = Number(holdout.value);
        const other = target.value !== draft.target;
        begin({ target: target.value, weight: weight.value || undefined, holdout: share > 0 ? share : null,
          costs: other ? undefined : costs?.value(), left_out: (draft.left_out ?? []).filter((name) => name !== target.value) });
      }), make("p", { class: "tw-muted" }, "The tree starts again from one node; undo brings it back."));
  }

  function costTable() {
    const { classes } = studio.model;
    if (!classes || classes.length > 6) return null;
    const cells = classes.map((_, i) => classes.map((_c, j) => make("input", {
      type: "number", min: 0, step: "any", value: draft.costs?.[i]?.[j] ?? (i === j ? 0 : 1), disabled: i === j || null,
      "aria-label": `Cost of predicting ${classes[j]} for ${classes[i]}` })));
    const plain = () => cells.every((row, i) => row.every((cell, j) => Number(cell.value) === (i === j ? 0 : 1)));
    const row = (name, parts) => make("tr", {}, make("th", { scope: "row" }, make("bdi", {}, name)), ...parts.map((part) => make("td", {}, part)));
    return {
      element: make("details", {}, make("summary", {}, "Costs of mistakes"),
        make("table", { class: "tw-table st-costs" }, make("caption", { class: "tw-muted" }, "truth in rows, prediction in columns"),
          make("tbody", {}, row("", classes.map((name) => make("bdi", {}, name))), ...cells.map((cellsOf, i) => row(classes[i], cellsOf))))),
      value: () => (plain() ? undefined : cells.map((cellsOf) => cellsOf.map((cell) => Number(cell.value)))),
    };
  }

  const begin = (changes) => studio.change("start", { ...draft, ...changes }, 0);
  return { name: "Columns", element, refresh };
}
