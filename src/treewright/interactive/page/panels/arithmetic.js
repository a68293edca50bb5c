// The arithmetic of the selected node, large enough for a projector.

import { button, make } from "../../../reporting/page/base/elements.js";
import { get } from "../api.js";
import { latest, nodeHead } from "./parts.js";

export function arithmeticPanel(studio) {
  const head = make("div");
  const column = make("select", { "aria-label": "Column to work out", onchange: () => load(studio.node) });
  const place = make("div", { class: "tw-derivation st-derivation" });
  const sheet = make("dialog", { class: "st-dialog st-sheet", "aria-label": "Arithmetic" });
  const element = make("div", {}, head, make("div", { class: "tw-filters" },
    make("label", { class: "tw-filter" }, "split", column), button("Large", project, { title: "On the whole screen" })), place, sheet);
  const load = latest((node) => studio.request(() => get("arithmetic", { node, column: column.value })), (found) => {
    place.innerHTML = found.html; // escaped by treewright.inspection.derivation.html
  });

  function refresh(node) {
    const before = column.value;
    head.replaceChildren(nodeHead(studio, node));
    const names = studio.state.report.schema.columns.map(({ name }) => name);
    column.replaceChildren(make("option", { value: "" }, studio.model.hasChildren(node) ? "the split it has" : "the prediction"),
      ...names.map((name) => make("option", { value: name }, `best of ${name}`)));
    column.value = names.includes(before) ? before : "";
    load(node);
  }

  function project() {
    const copy = place.cloneNode(true);
    sheet.replaceChildren(button("Close", () => sheet.close()), copy);
    sheet.showModal();
  }
  return { name: "Arithmetic", element, refresh };
}
