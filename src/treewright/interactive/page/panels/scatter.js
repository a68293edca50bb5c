// Two columns of the selected node's rows as points, with the cuts below it; of held-out rows, where mistakes lie.

import { draw, make } from "../../../reporting/page/base/elements.js";
import { scaleColour } from "../../../reporting/page/base/model.js";
import { many, number, percent, shortNumber } from "../../../reporting/page/base/numbers.js";
import { get } from "../api.js";
import { classKey, latest, nodeHead } from "./parts.js";

const [SIDE, LEFT, BOTTOM] = [460, 44, 28];
/** Numbers of so few different values have places, as levels have. */
const FEW = 8;

export function scatterPanel(studio) {
  const head = make("div");
  const axes = ["x", "y"].map((name) => make("select", { "aria-label": `Column of the ${name} axis`, onchange: () => load(studio.node) }));
  const held = make("input", { type: "checkbox", onchange: () => load(studio.node) });
  const place = make("div");
  const worst = make("div");
  const element = make("div", {}, head, make("div", { class: "tw-filters" },
    ...axes.map((axis, i) => make("label", { class: "tw-filter" }, "xy"[i], axis)),
    make("label", { class: "st-check" }, held, "held-out mistakes")), place, worst);
  const load = latest(async (node) => {
    const found = await studio.request(() => get("scatter", { node, x: axes[0].value, y: axes[1].value, held_out: held.checked ? 1 : 0 }));
    if (!found) return null;
    found.mistakes = held.checked ? await studio.request(() => get("mistakes")) : null;
    return found;
  }, show);

  function refresh(node) {
    head.replaceChildren(nodeHead(studio, node), classKey(studio) ?? "");
    held.disabled = !studio.state.rows.held_out;
    const names = studio.state.report.schema.columns.map(({ name }) => name);
    const numbers = studio.state.report.schema.columns.filter(({ levels }) => !levels).map(({ name }) => name);
    const first = [...numbers, ...names];
    axes.forEach((axis, i) => {
      const before = axis.value;
      axis.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
      axis.value = names.includes(before) ? before : first[Math.min(i, first.length - 1)];
    });
    load(node);
  }

  function show(found) {
    const x = scaleOf(found.x, LEFT, SIDE - 8);
    const y = scaleOf(found.y, SIDE - BOTTOM, 8);
    const { colours } = studio.state.report;
    const usual = found.loss && !studio.model.classes ? found.loss.reduce((a, b) => a + b, 0) / found.loss.length || 1 : 0;
    const radius = (i) => (usual ? 1.5 + 1.5 * Math.sqrt(Math.min(found.loss[i] / usual, 9)) : 3); // of numbers, by the loss
    const points = found.row.flatMap((row, i) => {
      const [a, b] = [found.x.values[i], found.y.values[i]];
      if (a === null || b === null) return [];
      const fill = studio.model.classes ? colours[found.truth[i]] : scaleColour(studio.model, found.truth[i]);
      const wrong = found.loss && found.loss[i] > 0 && studio.model.classes;
      const at = [x.at(a) + x.jitter(i), y.at(b) + y.jitter(i * 7 + 3)];
      return [wrong
        ? draw("path", { class: "st-wrong-point", d: `M${at[0] - 4} ${at[1] - 4}l8 8m0 -8l-8 8`, style: `stroke:${fill}` }, draw("title", {}, `row ${row}, a mistake`))
        : draw("circle", { cx: at[0], cy: at[1], r: radius(i), style: `fill:${fill}`, class: found.loss ? "st-right-point" : "st-point" })];
    });
    const cuts = found.cuts.map((cut) => {
      const along = cut.axis === 0 ? [y, 1] : [x, 0];
      const [from, to] = cut.box[along[1]];
      const ends = [from === null ? along[0].low : along[0].at(from), to === null ? along[0].high : along[0].at(to)];
      const d = cut.axis === 0 ? `M${x.at(cut.at)} ${ends[0]}V${ends[1]}` : `M${ends[0]} ${y.at(cut.at)}H${ends[1]}`;
      return draw("path", { class: "st-boundary", d });
    });
    place.replaceChildren(draw("svg", { viewBox: `0 0 ${SIDE} ${SIDE}`, class: "tw-chart st-scatter", role: "img",
      "aria-label": `${found.x.column} against ${found.y.column}, ${found.row.length} rows, ${found.cuts.length} cuts` },
    ...x.axis(true), ...y.axis(false), ...points, ...cuts));
    worst.replaceChildren(...(found.mistakes ? worstLeaves(found.mistakes) : []));
  }

  /** The leaves that most of the held-out loss lies in. */
  function worstLeaves({ measure, nodes }) {
    const { model } = studio;
    const total = nodes[0][1] || 1e-300;
    const leaves = nodes.flatMap(([weight, loss], i) => (model.hasChildren(i) || !loss ? [] : [{ i, weight, loss }]))
      .sort((a, b) => b.loss - a.loss).slice(0, 6);
    const squared = measure === "root mean squared error";
    const each = (loss, weight) => (measure === "accuracy" ? `${number(loss)} of ${many(weight, "row")} wrong`
      : `${measure} ${number(squared ? Math.sqrt(loss / weight) : loss / weight)} over ${many(weight, "row")}`);
    return [make("h3", {}, model.classes ? "Where held-out mistakes lie" : "Where the held-out loss lies"), make("ul", { class: "st-worst" }, ...leaves.map(({ i, weight, loss }) =>
      make("li", {}, make("button", { type: "button", class: "tw-link", onclick: () => studio.app.select(i, false) }, `node ${i}`),
        ` ${percent(loss / total)} of all; ${each(loss, weight)}`)))];
  }
  return { name: "Scatter", element, refresh };
}

/** The values of a column of numbers that has only a few, in order; null where there are more. */
function fewValues(known) {
  const values = [...new Set(known)].sort((a, b) => a - b);
  return values.length > 1 && values.length <= FEW ? values : null;
}

function scaleOf(axis, from, to) {
  const known = axis.values.filter((value) => value !== null);
  const few = axis.levels ? null : fewValues(known);
  const around = few ? (few.at(-1) - few[0]) / (2 * few.length) : 0;
  const low = axis.levels ? -0.5 : Math.min(...known, Infinity) - around;
  const high = axis.levels ? axis.levels.length - 0.5 : Math.max(...known, -Infinity) + around;
  const span = high - low || 1;
  const at = (value) => from + ((value - low) / span) * (to - from);
  const places = axis.levels?.length ?? few?.length ?? 0;
  const wide = places ? Math.min(36, (Math.abs(to - from) / places) * 0.6) : 0;
  const spread = (i) => ((((i + 1) * 0.618034) % 1) - 0.5) * wide; // levels have a place, not a line
  const labels = axis.levels ? axis.levels.slice(0, 12).map((name, i) => [i, name]) : few ? few.map((value) => [value, number(value)]) : known.length ? [[low, shortNumber(low)], [high, shortNumber(high)]] : [];
  return {
    at, jitter: spread, low: from, high: to,
    axis: (flat) => [
      draw("path", { class: "tw-grid", d: flat ? `M${from} ${SIDE - BOTTOM}H${to}` : `M${LEFT} ${from}V${to}` }),
      ...labels.map(([value, text]) => draw("text", flat
        ? { x: at(value), y: SIDE - BOTTOM + 14, "text-anchor": places ? "middle" : value === low ? "start" : "end" }
        : { x: LEFT - 4, y: at(value) + 4, "text-anchor": "end" }, text.length > 9 ? `${text.slice(0, 8)}…` : text)),
      draw("text", flat ? { x: (from + to) / 2, y: SIDE - 2, "text-anchor": "middle" }
        : { x: 10, y: (from + to) / 2, transform: `rotate(-90 10 ${(from + to) / 2})`, "text-anchor": "middle" }, axis.column),
    ],
  };
}
