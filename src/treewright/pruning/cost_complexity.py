"""Cost-complexity pruning, and the impurity threshold: one limit for the whole tree, given or cross-validated.

Cross-validation chooses for the tree as it was grown, so a second run on the pruned tree cuts nothing more.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.encoding import Encoded
from treewright.data.number_text import number_text
from treewright.errors import DataError
from treewright.growing.partitions import Partitions
from treewright.growing.progress import UNREPORTED, Stage
from treewright.pruning.cut import cut
from treewright.pruning.model_losses import with_residuals
from treewright.pruning.path import as_grown, choose, cross_validated_path, prices, training_path, validated
from treewright.recipes.leaves import Constant
from treewright.recipes.pruners import CostComplexity, CostComplexityCV, ImpurityThresholdCV
from treewright.tree.shape import is_leaf, topmost
from treewright.tree.tree import Tree


def prune_by_complexity(
    tree: Tree, pruner: CostComplexity, rows: Encoded | Partitions | None, n_threads: int, _stage: Stage = UNREPORTED
) -> Tree:
    """Return the tree of least risk + alpha x leaves."""
    tree = _with_fits(tree, rows, n_threads)
    limit = prices(tree, pruner)
    scale = (training_path(tree, pruner).root_risk or 1.0) if pruner.unit == "root" else 1.0
    unit = " of the root's risk" if pruner.unit == "root" else ""
    why = f"alpha {number_text(pruner.alpha)}{unit} ({pruner.risk})"
    return _cut_at(tree, limit, pruner.alpha * scale, lambda x: f"its leaves save {number_text(x / scale)} each, {why}")


def prune_by_validated_complexity(
    tree: Tree, pruner: CostComplexityCV, rows: Encoded | Partitions | None, n_threads: int, stage: Stage = UNREPORTED
) -> Tree:
    """Return the tree of least risk + alpha x leaves, with the alpha that does best on rows left out of growing."""
    training = _required(rows, pruner)
    tree = _with_fits(tree, training, n_threads)
    grown = _with_fits(as_grown(tree, training, n_threads), training, n_threads)
    path = cross_validated_path(grown, pruner, training, n_threads, stage)
    assert path.held_out is not None
    assert path.error is not None
    step = path.chosen(pruner.rule)
    alpha = path.alpha[step]
    why = (
        f"alpha {number_text(alpha)} ({pruner.risk}) has the held-out risk {number_text(path.held_out[step])} "
        f"± {number_text(path.error[step])}, rule {pruner.rule}"
    )
    limit = prices(tree, pruner)
    return _cut_at(tree, limit, alpha, lambda x: f"its leaves save {number_text(x)} each, {why}")


def prune_by_validated_threshold(
    tree: Tree,
    pruner: ImpurityThresholdCV,
    rows: Encoded | Partitions | None,
    n_threads: int,
    stage: Stage = UNREPORTED,
) -> Tree:
    """Make nodes at or below an impurity leaves; cross-validation chooses the impurity."""
    training = _required(rows, pruner)
    grown = as_grown(tree, training, n_threads)
    given = grown.arrays["impurity"][~is_leaf(grown)] if pruner.thresholds is None else pruner.thresholds
    limits = np.unique(np.append(-1.0 if pruner.thresholds is None else [], given))  # below zero: nothing is cut
    risk, error = validated(grown, pruner, training, limits, _impurity, n_threads, stage)
    step = choose(risk, error, pruner.rule)
    why = (
        f"not above {number_text(float(limits[step]))}, which has the held-out risk {number_text(float(risk[step]))} "
        f"± {number_text(float(error[step]))}, rule {pruner.rule}"
    )
    return _cut_at(tree, _impurity(tree), float(limits[step]), lambda x: f"its impurity is {number_text(x)}, {why}")


def _impurity(tree: Tree) -> FloatArray:
    impurity: FloatArray = tree.arrays["impurity"]
    return impurity


def _cut_at(tree: Tree, limit_of_nodes: FloatArray, limit: float, reason: Callable[[float], str]) -> Tree:
    """Return the tree without what is at or below the limit."""
    places = topmost(tree, (limit_of_nodes <= limit) & ~is_leaf(tree))
    return cut(tree, {int(i): reason(float(limit_of_nodes[i])) for i in places})


def _with_fits(tree: Tree, rows: Encoded | Partitions | None, n_threads: int) -> Tree:
    """Return the tree with the linear models whose errors count, if its recipe has some."""
    if rows is not None:
        return with_residuals(tree, rows, n_threads)
    if not isinstance(tree.recipe.leaves, Constant):
        raise DataError("cost-complexity pruning compares linear models of the training rows; give them as data=")
    return tree


def _required(rows: Encoded | Partitions | None, pruner: object) -> Encoded | Partitions:
    if rows is None:
        raise DataError(f"{type(pruner).__name__} grows trees without some of the training rows; give them as data=")
    return rows
