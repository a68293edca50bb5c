// What several panels show: the selected node, the children that a split would make, and requests of which the last counts.

import { make, tableOf } from "../../../reporting/page/base/elements.js";
import { pathTo, predictionText, rowsText } from "../../../reporting/page/base/model.js";
import { number, percent } from "../../../reporting/page/base/numbers.js";
import { swatch } from "../../../reporting/page/tree/histogram.js";

/** The head of a panel: which node it is about. */
export function nodeHead(studio, node) {
  const { model } = studio;
  const path = pathTo(model, node).slice(1).map((i) => model.nodes.condition[i]);
  const edit = studio.editAt(node);
  const marks = [
    edit?.split ? `split by hand${edit.against ? `; the recipe says: ${edit.against}` : ""}` : null,
    edit?.locked ? "locked" : null,
    edit?.prediction ? "prediction set by hand" : null,
    ...studio.state.report.cuts.filter(([i]) => i === node && model.nodes.stop[node] === "pruned").map(([, text]) => text.replace(/^node \d+ /, "")),
    edit?.forbidden.length ? `forbidden: ${edit.forbidden.join(", ")}` : null,
  ].filter(Boolean);
  return make("div", { class: "st-node" },
    make("h2", {}, `Node ${node}`, make("span", { class: "tw-muted" }, `  ${rowsText(model, node)}, predicts `,
      make("bdi", {}, predictionText(model, node)))),
    path.length ? make("p", { class: "tw-muted" }, make("bdi", {}, path.join(" and "))) : null,
    marks.length ? make("p", { class: "st-marks" }, "✎ ", make("bdi", {}, marks.join("; "))) : null);
}

/** A stacked bar of class counts; for numbers the mean, which `countsText` adds the deviation to. */
export function childBar(studio, child) {
  const { colours } = studio.state.report;
  if (!child.counts) return make("span", { class: "st-mean" }, `mean ${number(child.mean)}`);
  return make("div", { class: "tw-bar st-bar", role: "img", "aria-label": countsText(studio, child) },
    ...child.counts.map((weight, k) => (weight > 0 ? make("i", { style: `flex:${weight} 1 0;background:${colours[k]}` }) : null)));
}

export function countsText(studio, child) {
  const { classes } = studio.model;
  if (!child.counts) return `± ${number(child.deviation)}`;
  const total = child.counts.reduce((a, b) => a + b, 0);
  const order = child.counts.map((_, k) => k).sort((a, b) => child.counts[b] - child.counts[a]).slice(0, 3);
  return order.filter((k) => child.counts[k] > 0).map((k) => `${classes[k]} ${percent(child.counts[k] / total)}`).join(", ");
}

/** The children of a split as a table. */
export function childTable(studio, children) {
  const rows = children.map((child) => [child.words, number(child.rows), childBar(studio, child), countsText(studio, child)]);
  return tableOf(["child", "rows", "", "target"], rows, { kinds: [null, null, "st-wide", "tw-text"] });
}

/** A function that sends a request and shows its result, unless a later request was sent meanwhile. */
export function latest(send, show) {
  let number_ = 0;
  return async (...parameters) => {
    const mine = ++number_;
    const result = await send(...parameters);
    if (mine === number_ && result !== null) show(result, ...parameters);
  };
}

export function classKey(studio) {
  const { model } = studio;
  if (!model.classes) return null;
  return make("p", { class: "st-key" }, ...model.classes.slice(0, 12).map((name, k) =>
    make("span", {}, swatch(model, k), make("bdi", {}, name))));
}
