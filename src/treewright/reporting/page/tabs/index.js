// The tabs of the page. To add one, write a module here and add it to a list below.
//
// A tab is a function of the app that returns {name, element} (beside the tree also null: nothing to show) and, where it needs them: shown() when it is opened,
// hidden() when another one is, started() once the page is ready, selected(node) when a node is selected,
// treeChanged(figures) after pruning, with the scores and importances of the tree in view (null where the report has
// none).

import { caseTab } from "./case.js";
import { howSureTab } from "./how_sure.js";
import { importanceTab } from "./importance.js";
import { nodeTab } from "./node.js";
import { pruningTab } from "./pruning.js";
import { rulesTab } from "./rules.js";
import { scoreTab } from "./score.js";

/** Beside the tree. */
export const SIDE_TABS = [nodeTab, caseTab, pruningTab];
/** Instead of the tree. */
export const VIEW_TABS = [rulesTab, importanceTab, scoreTab, howSureTab];
