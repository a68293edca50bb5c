"""The strength of hierarchical shrinkage, chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.encoding import Encoded
from treewright.data.rows import take, weights_of
from treewright.errors import DataError
from treewright.growing.exact_sums import total
from treewright.growing.partitions import Partitions
from treewright.prediction.probability_scores import row_losses
from treewright.prediction.routing import predict_values
from treewright.training.folds import random_folds
from treewright.tree.leaf_values import shrunk_values, with_values
from treewright.tree.tree import Tree

FOLDS = 5
#: Strengths compared, in units of weight: none, then about two per factor of ten.
STRENGTHS = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)


def chosen_strength(rows: Encoded | Partitions, fit: Callable[[Encoded, int], Tree], seed: int) -> float:
    """Return the strength with the least held-out loss, the smallest of equals.

    The loss is log loss for classes and squared error for numbers. `fit(rows, fold)` learns the tree of a fold by the
    whole recipe, pruning included; its predictions are shrunk by each strength in turn.
    """
    if not isinstance(rows, Encoded):
        raise DataError(
            "smoothing='shrinkage_cv' learns trees on folds of the rows, which must be in memory; choose "
            "smoothing='shrinkage' with a strength m, such as m=10"
        )
    losses: list[list[float]] = [[] for _ in STRENGTHS]
    for i, fold in enumerate(random_folds(rows, FOLDS, seed)):
        if fold.training.any():
            tree, test = fit(take(rows, fold.training), i), take(rows, fold.test)
            for place, strength in enumerate(STRENGTHS):
                losses[place].append(_held_out_loss(with_values(tree, shrunk_values(tree, strength)), test))
    return STRENGTHS[int(np.argmin([sum(each) for each in losses]))]


def _held_out_loss(tree: Tree, rows: Encoded) -> float:
    loss: FloatArray = row_losses(tree.schema.target, rows, predict_values(tree, rows, 1))
    return total(loss * weights_of(rows))
