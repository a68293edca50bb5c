// The panels at the side, in order. A panel has a name, an element, and `refresh(node)`, which is called when it is open
// and another node or another tree is shown.

import { arithmeticPanel } from "./arithmetic.js";
import { casePanel } from "./case.js";
import { columnsPanel } from "./columns.js";
import { editorPanel } from "./editor.js";
import { prunePanel } from "./prune.js";
import { rowsPanel } from "./rows.js";
import { scatterPanel } from "./scatter.js";
import { scoresPanel } from "./scores.js";
import { splitsPanel } from "./splits.js";
import { takePanel } from "./take.js";

export const PANELS = [
  splitsPanel, editorPanel, prunePanel, scoresPanel, columnsPanel, rowsPanel, scatterPanel, arithmeticPanel, casePanel,
  takePanel,
];
