// The scores of the tree in full, and its cross-validation beside that of the recipe.

import { make, section } from "../../../reporting/page/base/elements.js";
import { scorePart } from "../../../reporting/page/tabs/score.js";
import { validation } from "../validation.js";

export function scoresPanel(studio) {
  const validated = validation(studio, () => studio.state.start.recipe);
  const parts = make("div");
  const element = make("div", {}, make("h2", {}, "Scores"), section("Cross-validation", validated.element), parts);

  function refresh() {
    const { scores } = studio.state.report;
    const shown = [["Held-out rows", scores.held_out], ["Training rows", scores.training]].filter(([, score]) => score);
    validated.show();
    parts.replaceChildren(...shown.map(([title, score], i) => scorePart(studio.app, title, score, `score-${i}`)),
      scores.held_out ? "" : make("p", { class: "tw-note" },
        "No row is held out, and a tree fits its training rows better than new ones: hold a share out under Columns, or cross-validate."));
  }
  return { name: "Scores", element, refresh };
}
