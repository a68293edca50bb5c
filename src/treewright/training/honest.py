"""Honest trees: one half of the rows chooses the splits, the other half gives the predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from treewright.data.arrays import FloatArray, Int64Array
from treewright.data.encoding import Encoded
from treewright.data.rows import take
from treewright.errors import DataError
from treewright.fitting.fit_models import with_models
from treewright.growing.exact_sums import as_floats, sums_by
from treewright.growing.partitions import Partitions
from treewright.prediction.routing import path_ends
from treewright.pruning.cross_validation import real_weight
from treewright.recipes.criterion import AbsoluteError
from treewright.training.folds import set_aside
from treewright.tree.honest import Honest
from treewright.tree.leaf_values import estimated_values
from treewright.tree.shape import subtree_sums
from treewright.tree.tree import Tree


def learn_honestly(rows: Encoded | Partitions, fit: Callable[[Encoded], Tree], seed: int, n_threads: int = 0) -> Tree:
    """Learn a tree with `fit` from one half of the rows and fill its leaves with the other.

    The halves depend on the values of the rows and the seed, never on their order, and have the same share of each
    class.
    """
    if not isinstance(rows, Encoded):
        raise DataError("honest=True draws a half of the rows, which must be in memory; give a smaller table")
    filling = set_aside(rows, 0.5, seed)
    return filled(fit(take(rows, ~filling)), take(rows, filling), seed, n_threads)


def filled(tree: Tree, rows: Encoded, seed: int = 0, n_threads: int = 0) -> Tree:
    """Return the tree with the predictions that these rows give, estimated by its recipe."""
    if tree.schema.target.classes is None and isinstance(tree.recipe.regression, AbsoluteError):
        raise DataError(
            f"honest=True fills leaves with means, but the recipe {tree.recipe.name!r} predicts the median of "
            f"{tree.schema.target.name!r} (AbsoluteError); use regression=Variance()"
        )
    statistics = _statistics(tree, rows, n_threads)
    honest = Honest(rows.n_rows, seed, tuple(map(tuple, statistics.tolist())))
    arrays = {**tree.arrays, "value": estimated_values(tree, statistics)}
    return with_models(replace(tree, arrays=arrays, honest=honest, models=()), rows, n_threads)


def _statistics(tree: Tree, rows: Encoded, n_threads: int) -> FloatArray:
    """Return for each node the weight of each class, or weight and mean, of the rows that come there."""
    assert rows.target is not None
    row, node, fraction = path_ends(tree, rows, n_threads)
    weight = real_weight(rows, tree.schema)[row] * fraction
    if tree.schema.target.classes is not None:
        n = len(tree.schema.target.classes)
        place = node * n + rows.target[row].astype(np.int64)
        return subtree_sums(tree, _summed(place, weight, tree.n_nodes * n).reshape(-1, n))
    total = subtree_sums(tree, _summed(node, weight, tree.n_nodes))
    sums = subtree_sums(tree, _summed(node, weight * rows.target[row], tree.n_nodes))
    return np.stack([total, np.divide(sums, total, out=np.zeros(tree.n_nodes), where=total > 0)], axis=1)


def _summed(place: Int64Array, values: FloatArray, n: int) -> FloatArray:
    return as_floats(sums_by(place, values, n), n)
