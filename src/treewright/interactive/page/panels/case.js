// One row, typed or picked: the Case tab of the report page, for the tree as it is now.

import { make } from "../../../reporting/page/base/elements.js";
import { caseTab } from "../../../reporting/page/tabs/case.js";

export function casePanel(studio) {
  const element = make("div");
  let shown = null;

  function refresh() {
    if (shown?.app === studio.app) return void shown.tab.shown();
    shown = { app: studio.app, tab: caseTab(studio.app) };
    element.replaceChildren(shown.tab.element);
    shown.tab.shown();
  }
  const hidden = () => shown?.app === studio.app && shown.tab.hidden();
  return { name: "Case", element, refresh, hidden };
}
