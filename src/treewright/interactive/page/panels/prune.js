// Prune what lies below the selected node: by the price of a leaf, along the pruning path with its held-out risk, or by
// another rule. What would go is dimmed in the tree.

import { button, factList, make, section } from "../../../reporting/page/base/elements.js";
import { figure, many, number } from "../../../reporting/page/base/numbers.js";
import { lastOfLeast, riskChart } from "../../../reporting/page/tabs/pruning.js";
import { get } from "../api.js";
import { markNodes } from "../marks.js";
import { latest, nodeHead } from "./parts.js";

export function prunePanel(studio) {
  const head = make("div");
  const path = make("div", { class: "tw-pruning" });
  const rules = make("div");
  const element = make("div", {}, head, path, rules);
  let unmark = () => {};
  const load = latest((node) => studio.request(() => get("pruning", { node })), showPath);

  function refresh(node) {
    hidden();
    head.replaceChildren(nodeHead(studio, node));
    if (!studio.model.hasChildren(node)) {
      path.replaceChildren(make("p", { class: "tw-muted" }, "This node is a leaf, so nothing lies below it to prune."),
        studio.model.n > 1 ? button("Select the root", () => studio.app.select(0, false)) : "");
      return rules.replaceChildren();
    }
    rules.replaceChildren(rulePart(node));
    element.setAttribute("aria-busy", "true");
    load(node);
  }

  function hidden() {
    unmark();
    unmark = () => {};
  }

  function showPath(found, node) {
    element.removeAttribute("aria-busy");
    if (node !== studio.node) return;
    const steps = found.alpha.length;
    const marker = chartMarker();
    const chart = riskChart(found, marker);
    const slider = make("input", { type: "range", min: 0, max: steps - 1, step: 1, value: 0, disabled: steps < 2 || null,
      "aria-label": "Step of the pruning path", oninput: () => show() });
    const figures = make("div", { "aria-live": "polite" });
    const apply = button("Prune", () => prune(node, { choice: "CostComplexity", alpha: Math.max(found.alpha[step()], 0) }),
      { class: "tw-button st-main-button" });
    const best = found.held_out ? lastOfLeast(found.held_out) : null;
    const step = () => Number(slider.value);
    const go = (to) => {
      slider.value = to;
      show();
    };

    function show() {
      const i = step();
      const list = [
        ["leaves", `${number(found.leaves[i])} of ${number(found.leaves[0])}`],
        ["price of a leaf", found.alpha[i] < 0 ? "none" : `alpha ${figure(found.alpha[i])}`],
        ["training risk", figure(found.risk[i])],
      ];
      if (found.held_out) list.push(["held-out risk", figure(found.held_out[i])]);
      figures.replaceChildren(factList(list));
      apply.disabled = i === 0;
      apply.textContent = i === 0 ? "Prune" : `Prune to ${many(found.leaves[i], "leaf", "leaves")}`;
      slider.setAttribute("aria-valuetext", `step ${i + 1} of ${steps}: ${many(found.leaves[i], "leaf", "leaves")}`);
      marker.replaceChildren(...chart.mark(i));
      hidden();
      unmark = markNodes(studio.app, going(found, node, found.alpha[i]), "st-going");
    }
    path.replaceChildren(section("By the price of a leaf",
      make("p", { class: "tw-muted" }, "Each step takes away the splits that reduce the risk least per leaf",
        node ? "; alpha is a fraction of the rows of this node." : "."),
      slider, figures,
      best === null ? null : make("p", { class: "tw-muted" }, "Choosing by the held-out risk makes the held-out score a little too good."),
      make("div", { class: "tw-actions" }, apply, best === null ? null : button("Least held-out risk", () => go(best)),
        button("Keep all", () => go(0))), chart));
    show();
  }

  /** The nodes that would go: all below a node whose price is not above the alpha. */
  function going({ price }, node, alpha) {
    const { parent } = studio.model.nodes;
    const gone = new Set();
    price.forEach((_, i) => {
      const above = parent[node + i] - node;
      if (i > 0 && (gone.has(node + above) || (alpha >= 0 && price[above] <= alpha))) gone.add(node + i);
    });
    return gone;
  }

  /** The other pruners: some need a number, some the whole tree. */
  function rulePart(node) {
    const numbers = studio.state.report.facts.task === "regression";
    const usable = studio.state.pruners.filter((one) => !(numbers && one.classes_only));
    const field = make("select", { "aria-label": "Rule" }, ...usable.map((one, i) => make("option", { value: i,
      disabled: (node > 0 && one.whole) || null }, one.name + (node > 0 && one.whole ? " (of the whole tree)" : ""))));
    const setting = make("input", { type: "number", min: 0, step: "any", "aria-label": "Setting" });
    const label = make("label", { class: "tw-filter", hidden: true }, "", setting);
    const chosen = () => usable[Number(field.value)];
    const changed = () => {
      const { setting: name, pruner } = chosen();
      label.hidden = !name;
      label.replaceChildren(name ?? "", setting);
      setting.value = name ? pruner[name] : "";
    };
    field.addEventListener("change", changed);
    field.selectedIndex = usable.findIndex((one) => !(node > 0 && one.whole));
    changed();
    return section("By another rule", make("div", { class: "tw-filters" }, make("label", { class: "tw-filter st-rule" }, "rule", field), label,
      button("Prune by it", () => prune(node, { ...chosen().pruner,
        ...(chosen().setting ? { [chosen().setting]: Number(setting.value) } : {}) }))));
  }

  const prune = (node, pruner) => studio.edit({ edit: "Prune", node, pruner });
  return { name: "Prune", element, refresh, hidden };
}

function chartMarker() {
  return document.createElementNS("http://www.w3.org/2000/svg", "g");
}
