"""The held-out score beside every edit: of the tree as it is, and of a split that is only tried.

The loss of each held-out row is kept, so a trial changes those of one node's rows and adds up again. A row with a
missing value is sent with most of the training rows where the real split might use a surrogate: such a figure is
marked as about.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from treewright.data.arrays import Array, FloatArray, IndexArray
from treewright.data.encoding import Encoded
from treewright.data.rows import weights_of
from treewright.editing.edits import Split
from treewright.inspection.derivation.split_counts import alteration
from treewright.interactive.cuts import Trial, children_of
from treewright.interactive.plain import summed
from treewright.interactive.ranges import Ranges
from treewright.prediction.routing import predict_values
from treewright.recipes.criterion import AbsoluteError
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree, cost_array, predicted_index


@dataclass(frozen=True, eq=False)
class Losses:
    """The loss of every held-out row under a tree, and their weights; `measure` is what their mean is shown as."""

    loss: FloatArray
    weight: FloatArray
    measure: str

    @cached_property
    def total(self) -> float:
        """The sum of the losses."""
        return summed(self.weight, self.loss)

    @cached_property
    def _whole(self) -> float:
        return float(self.weight.sum())

    def score(self, loss: float | None = None) -> float:
        """Return the score for a sum of losses; by default that of the tree itself."""
        mean = (self.total if loss is None else loss) / self._whole
        if self.measure == "accuracy":
            return 1.0 - mean
        return math.sqrt(max(0.0, mean)) if self.measure == "root mean squared error" else mean


def losses_of(tree: Tree, rows: Encoded) -> Losses:
    """Return the losses of held-out rows: errors, costs, squared or absolute differences."""
    assert rows.target is not None
    given = predict_values(tree, rows, 0)
    target = tree.schema.target
    if target.classes is None:
        return Losses(_differences(tree, rows.target - given[:, 0]), weights_of(rows), _measure(tree))
    predicted = predicted_index(target, given)
    return Losses(_class_losses(tree, rows.target, predicted), weights_of(rows), _measure(tree))


def _measure(tree: Tree) -> str:
    if tree.schema.target.classes is not None:
        return "accuracy" if tree.schema.target.costs is None else "cost per row"
    return "mean absolute error" if isinstance(tree.recipe.regression, AbsoluteError) else "root mean squared error"


def _differences(tree: Tree, away: FloatArray) -> FloatArray:
    found: FloatArray = np.abs(away) if isinstance(tree.recipe.regression, AbsoluteError) else away**2
    return found


def _class_losses(tree: Tree, truth: Array, predicted: Array) -> FloatArray:
    if tree.schema.target.costs is not None:
        found: FloatArray = cost_array(tree.schema.target)[truth, predicted]
        return found
    wrong: FloatArray = np.asarray(truth != predicted, dtype=np.float64)
    return wrong


def trial_score(
    tree: Tree, node: int, edit: Split, trial: Trial, rows: Encoded, ranges: Ranges, losses: Losses, recipe: Recipe
) -> dict[str, Any]:
    """Return the held-out score if the node had this split and leaves below it, beside that of the tree."""
    row, fraction = ranges.at(node)
    if fraction is not None:
        row = row[fraction >= 0.5]
    column = tree.schema.names.index(edit.column)
    spec = tree.schema.columns[column]
    child, _ = children_of(edit, spec, rows.columns[column][row], recipe)
    lacking = child < 0
    largest = int(np.argmax(trial.division.weights))
    child = np.where(lacking, largest if trial.missing is None else trial.missing, child)
    assert rows.target is not None
    target = rows.target[row]
    if tree.schema.target.classes is not None:
        loss = _class_losses(tree, target, _predictions(tree, trial)[child])
    else:
        means = trial.division.origin + trial.division.moments[:, 1] / np.maximum(trial.division.moments[:, 0], 1e-300)
        loss = _differences(tree, target - means[child])
    weight = losses.weight[row]
    changed = losses.total + summed(weight, loss - losses.loss[row])
    found = {"measure": losses.measure, "now": losses.score(), "then": losses.score(changed), "rows": len(row)}
    return found | {"about": bool(lacking.any()) or fraction is not None}


def _predictions(tree: Tree, trial: Trial) -> IndexArray:
    """Return the class that each child would predict."""
    counts = trial.division.moments
    if tree.schema.target.costs is not None:
        counts = counts / alteration(tree)  # growing saw other weights
    total = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, total, out=np.full_like(counts, 1 / counts.shape[1]), where=total > 0)
    return predicted_index(tree.schema.target, shares)
