// The ranked splits of the selected node: every column's best, with what each child would hold. A click or its number
// applies one.

import { button, link, make } from "../../../reporting/page/base/elements.js";
import { figure, many, number } from "../../../reporting/page/base/numbers.js";
import { get } from "../api.js";
import { childBar, classKey, countsText, latest, nodeHead } from "./parts.js";

export function splitsPanel(studio) {
  const head = make("div");
  const list = make("ol", { class: "st-splits" });
  const rest = make("ul", { class: "st-refused" });
  const note = make("p", { class: "tw-muted" });
  const leaf = make("div");
  const element = make("div", {}, head, note, list, rest, leaf);
  let shown = null;
  const load = latest((node) => studio.request(() => get("splits", { node })), show);

  function refresh(node) {
    head.replaceChildren(nodeHead(studio, node), classKey(studio) ?? "");
    leaf.replaceChildren(...(studio.model.hasChildren(node) ? [] : [prediction(node)]));
    element.setAttribute("aria-busy", "true");
    load(node);
  }

  /** What the leaf predicts, to be set by hand. */
  function prediction(node) {
    const { classes } = studio.model;
    const field = classes
      ? make("select", { "aria-label": "Prediction" }, ...classes.map((name, k) => make("option", { value: k }, name)))
      : make("input", { type: "number", step: "any", "aria-label": "Prediction" });
    field.value = classes ? studio.model.nodes.prediction[node] : studio.model.nodes.value[node];
    const set = () => studio.edit({ edit: "SetPrediction", node,
      prediction: classes ? studio.state.classes[Number(field.value)] : Number(field.value) });
    return make("section", { class: "tw-section" }, make("h3", {}, "This leaf predicts"),
      make("div", { class: "st-set" }, field, button("Set", set)));
  }

  function show(found) {
    shown = found;
    element.removeAttribute("aria-busy");
    element.dataset.node = found.node;
    const can = found.splits.filter((split) => !split.reason);
    const stop = found.stop ? ` The recipe would stop here: ${found.stop}.` : "";
    note.textContent = `${many(can.length, "column")} by ${found.criterion.replaceAll("_", " ")}, best first.${stop}`;
    const top = Math.max(...can.map((split) => split.score), 1e-300);
    list.replaceChildren(...can.map((split, i) => item(split, i, top)));
    rest.replaceChildren(...found.splits.filter((split) => split.reason).map(refused));
  }

  function item(split, i, top) {
    const using = () => split.edit && studio.edit(split.edit);
    const forbid = link("forbid", () => studio.edit({ edit: "Forbid", node: shown.node, columns: [split.column] }), {
      title: `Do not use ${split.column} here and below`, "aria-label": `Forbid ${split.column} here and below` });
    const edit = link("edit", () => studio.panels[1].choose(split.column), { "aria-label": `Edit the split on ${split.column}` });
    const apply = button(split.chosen ? "Apply, the recipe's choice" : "Apply", using, {
      disabled: !split.edit || null, "aria-label": `Apply the split on ${split.column}`, "data-apply": split.column,
      title: split.edit ? (i < 9 ? `Key ${i + 1}` : "") : "Rows without a value are a child of their own, which only the recipe makes" });
    const p = split.p === null ? "" : `, p ${split.p > 0 ? number(split.p) : "< 1e-300"}`;
    const gain = split.p === null && Math.abs(split.gain - split.score) > 1e-9 * Math.abs(split.score) ? `, gain ${figure(split.gain)}` : "";
    return make("li", { "data-column": split.column },
      make("div", { class: "st-split-head" },
        make("span", { class: "st-rank" }, String(i + 1)), make("b", {}, make("bdi", {}, split.column)),
        make("span", { class: "st-track" }, make("i", { style: `width:${Math.max(0, (100 * split.score) / top)}%` })),
        make("span", { class: "st-figure", title: `score ${split.score}, gain ${split.gain}` }, figure(split.score), gain, p)),
      ...split.children.map((child) => make("div", { class: "st-child" },
        make("bdi", { class: "st-words", title: child.words }, child.words), make("span", { class: "st-count" }, number(child.rows)),
        childBar(studio, child), make("span", { class: "tw-muted st-counts" }, countsText(studio, child)))),
      split.missing ? make("p", { class: "tw-muted" }, `${many(split.missing, "row")} without a value`) : null,
      make("div", { class: "st-links" }, apply, edit, forbid));
  }

  function refused(split) {
    const allow = split.forbidden === null || split.forbidden === undefined ? null
      : link("allow again", () => studio.edit({ edit: "Allow", node: split.forbidden, columns: [split.column] }));
    return make("li", {}, make("b", {}, make("bdi", {}, split.column)), make("span", { class: "tw-muted" }, ` ${split.reason} `), allow);
  }

  /** Applies the split of a rank, from 0. */
  function apply(i) {
    const can = shown && shown.node === studio.node ? shown.splits.filter((split) => !split.reason) : [];
    if (can[i]?.edit && !studio.busy) studio.edit(can[i].edit);
  }
  return { name: "Splits", element, refresh, apply, shown: () => shown };
}
