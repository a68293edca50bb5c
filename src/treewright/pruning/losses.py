"""Losses of a tree: of each node as a leaf.

Risks add up over leaves, in units of weight, so risks of unweighted rows are integers and ties are exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from treewright.data.arrays import Array, FloatArray
from treewright.data.schema import TargetSpec
from treewright.data.sparse_rows import SparseRows
from treewright.recipes.criterion import AbsoluteError, Poisson
from treewright.recipes.pruners import Risk
from treewright.tree.tree import Tree, cost_array, node_classes


def node_risk(tree: Tree, risk: Risk) -> tuple[FloatArray, float]:
    """Return what each node does wrong as a leaf, in units of weight, and the whole weight."""
    weight = growing_weight(tree) if risk == "impurity" else tree.arrays["weight"]
    return _RISKS[risk](tree), float(weight[0]) or 1.0  # a tree whose source has no weights has no risk either


def growing_weight(tree: Tree) -> FloatArray:
    """Return the weight that growing saw: costs alter the weight of each class."""
    costs = tree.schema.target.costs
    weight: FloatArray = tree.arrays["weight"] if costs is None else tree.arrays["stats"] @ np.sum(costs, axis=1)
    return weight


def _error(tree: Tree) -> FloatArray:
    """Return the cost of the predictions: wrong classes, or deviations as the regression criterion takes them.

    Nodes with linear models: their squared residuals.
    """
    if tree.models:
        return np.array([model.residual for model in tree.models])
    stats: Any = tree.arrays["stats"]
    weight = tree.arrays["weight"]
    if tree.schema.target.classes is None:
        own = isinstance(tree.recipe.regression, _OWN_LOSS)
        deviation: FloatArray = weight * tree.arrays["impurity"] if own else stats[:, 2]
        return deviation
    predicted = node_classes(tree)
    if isinstance(stats, SparseRows):  # a matrix of nodes by classes would not fit
        return stats.row_sums(stats.value * _class_costs(tree.schema.target, stats.column, predicted[stats.rows()]))
    wrong: FloatArray = np.einsum("nk,kn->n", stats, cost_array(tree.schema.target)[:, predicted])
    return wrong


def _class_costs(target: TargetSpec, truth: Array, predicted: Array) -> FloatArray:
    """Return the cost of each prediction, given the true class."""
    return (truth != predicted).astype(np.float64) if target.costs is None else cost_array(target)[truth, predicted]


def _impurity(tree: Tree) -> FloatArray:
    wrong: FloatArray = growing_weight(tree) * tree.arrays["impurity"]
    return wrong


def _deviance(tree: Tree) -> FloatArray:
    """Twice the negative log-likelihood of the classes; of numbers the error."""
    if tree.schema.target.classes is None:
        return _error(tree)
    stats: Any = tree.arrays["stats"]
    total = stats.sum(axis=1)
    if isinstance(stats, SparseRows):
        return stats.row_sums(-2.0 * stats.value * np.log(stats.value / total[stats.rows()]))
    share = np.divide(stats, total[:, None], out=np.ones_like(stats), where=stats > 0)
    deviance: FloatArray = -2.0 * np.sum(stats * np.log(share), axis=1)
    return deviance


_OWN_LOSS = (AbsoluteError, Poisson)
_RISKS: dict[Risk, Callable[[Tree], FloatArray]] = {"error": _error, "impurity": _impurity, "deviance": _deviance}


def number_loss_name(tree: Tree) -> str:
    """Name the loss of numeric predictions under the tree's criterion."""
    criterion = tree.recipe.regression
    if isinstance(criterion, AbsoluteError):
        return "absolute error"
    return "half Poisson deviance" if isinstance(criterion, Poisson) else "squared error"
