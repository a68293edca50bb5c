// The split editor: a column, where it is cut or how its levels are grouped, where missing values go; children, score and
// held-out score follow every move.

import { button, make } from "../../../reporting/page/base/elements.js";
import { figure, many, number, percent } from "../../../reporting/page/base/numbers.js";
import { get, post } from "../api.js";
import { cutEditor } from "./cut.js";
import { groupsEditor } from "./groups.js";
import { childTable, latest, nodeHead } from "./parts.js";

export function editorPanel(studio) {
  const head = make("div");
  const column = make("select", { "aria-label": "Column to split on" });
  const missing = make("select", { "aria-label": "Where missing values go" });
  const place = make("div", { class: "st-editor" });
  const result = make("div", { class: "st-result", "aria-live": "polite" });
  const apply = button("Apply this split", () => edit && studio.edit(edit), { class: "tw-button st-main-button" });
  const element = make("div", {}, head,
    make("div", { class: "tw-filters" }, label("column", column), label("missing values", missing), apply), place, result);
  let wanted = null;
  let edit = null;
  let part = null;
  let best = null;

  const attempt = latest((tried) => studio.request(() => post("try", tried)), showResult);
  const load = latest(async (node, name) => {
    const spec = studio.state.report.schema.columns.find((one) => one.name === name);
    const [found, ranked] = await Promise.all([
      studio.request(() => get(spec.levels ? "levels" : "curve", { node, column: name })), studio.request(() => get("splits", { node })),
    ]);
    return found && { found, ranked, spec };
  }, start);

  column.addEventListener("change", () => choose(column.value));
  missing.addEventListener("change", () => part && changed(part.value()));

  function refresh(node) {
    const names = studio.state.report.schema.columns.map(({ name }) => name);
    const own = studio.model.nodes.column[node];
    if (!names.includes(wanted)) wanted = own >= 0 ? names[own] : null;
    wanted ??= studio.panels[0].shown()?.splits[0]?.column ?? names[0];
    column.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
    column.value = wanted;
    head.replaceChildren(nodeHead(studio, node));
    element.setAttribute("aria-busy", "true");
    load(node, wanted);
  }

  /** Edits the split on a column; opens the panel. */
  function choose(name) {
    wanted = name;
    studio.open("Editor");
  }

  function start({ found, ranked, spec }, node) {
    element.removeAttribute("aria-busy");
    best = ranked?.splits.find((split) => split.score !== undefined) ?? null;
    const first = ranked?.splits.find((split) => split.column === spec.name)?.edit ?? null;
    const own = ownSplit(node, spec);
    part = (spec.levels ? groupsEditor : cutEditor)(studio, found, spec, own ?? first, changed);
    place.replaceChildren(part.element);
    choices(part.children());
    changed(part.value());
  }

  /** The split that the node has, if it is on this column. */
  function ownSplit(node, spec) {
    const { model } = studio;
    const place_ = model.nodes.column[node];
    if (place_ < 0 || studio.state.report.schema.columns[place_].name !== spec.name) return null;
    const { splits } = studio.state.report;
    const i = splits.start[node];
    if (spec.levels) return { bins: splits.child_of_bin.slice(splits.bin_start[i], splits.bin_start[i] + spec.levels.length) };
    return { threshold: splits.breaks.slice(splits.break_start[i], splits.break_start[i + 1]) };
  }

  function choices(children) {
    const before = missing.value;
    missing.replaceChildren(make("option", { value: "" }, "as the recipe says"),
      ...Array.from({ length: children }, (_, i) => make("option", { value: i }, `to child ${i + 1}`)),
      make("option", { value: "spread" }, "to every child, by share"), make("option", { value: "stop" }, "stop here"),
      make("option", { value: "random" }, "to a child by chance"));
    missing.value = before;
    if (missing.selectedIndex < 0) missing.value = "";
  }

  function changed(value) {
    if (part) choices(part.children());
    edit = { edit: "Split", node: studio.node, column: wanted, ...value };
    if (missing.value !== "") edit.missing = /^\d+$/.test(missing.value) ? Number(missing.value) : missing.value;
    attempt(edit);
  }

  function showResult(found) {
    element.dataset.tried = JSON.stringify(edit.threshold ?? edit.groups);
    apply.disabled = Boolean(found.impossible);
    const lines = [];
    if (found.score !== null && found.score !== undefined) lines.push(["score", `${figure(found.score)} (${found.measure})`]);
    if (found.ratio) lines.push(["gain ratio", figure(found.ratio)]);
    const score = found.ratio ?? found.score;
    if (best && score !== null && score !== undefined) {
      const cost = best.score - score;
      lines.push(["against the best split", cost > 1e-12 ? `${figure(cost)} less than ${best.column} with ${figure(best.score)}` : "as good as the best"]);
    }
    if (found.held_out) lines.push([`held-out ${found.held_out.measure}`, heldText(found.held_out)]);
    if (found.missing) lines.push(["without a value", many(found.missing, "row")]);
    result.replaceChildren(childTable(studio, found.children),
      make("dl", { class: "tw-facts st-tried" }, ...lines.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, make("bdi", {}, value))])),
      ...(found.impossible ? [make("p", { class: "tw-note" }, found.impossible)] : []));
  }
  return { name: "Editor", element, refresh, choose };
}

function heldText({ measure, now, then, about }) {
  const text = (x) => (measure === "accuracy" ? percent(x, 1) : number(x));
  return `${about ? "about " : ""}${text(then)}, now ${text(now)}`;
}

function label(text, field) {
  return make("label", { class: "tw-filter" }, text, field);
}
