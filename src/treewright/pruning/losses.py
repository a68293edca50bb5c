"""What a tree does wrong: per node as a leaf, and per row where it ends.

Comes in: a tree, and rows with their answers. Goes out: one number per node, or one per row.
Always holds: risks of nodes add up over leaves; a wrong class costs one, or what the target's costs say. They are in
units of weight, so that those of unweighted rows are whole numbers and equal ones are equal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.encoding import Encoded
from treewright.recipes.criterion import AbsoluteError, Poisson
from treewright.recipes.pruners import Risk
from treewright.tree.tree import Tree, cost_array, predicted_index

Array = NDArray[Any]
FloatArray = NDArray[np.float64]


def node_risk(tree: Tree, risk: Risk) -> tuple[FloatArray, float]:
    """What each node does wrong as a leaf, in units of weight, and the whole weight."""
    weight = growing_weight(tree) if risk == "impurity" else tree.arrays["weight"]
    return _RISKS[risk](tree), float(weight[0]) or 1.0  # a tree whose source told no weights has no risk either


def growing_weight(tree: Tree) -> FloatArray:
    """The weight that growing saw: costs alter the weight of each class."""
    costs = tree.schema.target.costs
    weight: FloatArray = tree.arrays["weight"] if costs is None else tree.arrays["stats"] @ np.sum(costs, axis=1)
    return weight


def _error(tree: Tree) -> FloatArray:
    """What the answers cost: wrong classes, or deviations as the regression criterion takes them."""
    stats, weight = tree.arrays["stats"], tree.arrays["weight"]
    if tree.schema.target.classes is None:
        own = isinstance(tree.recipe.regression, _OWN_LOSS)
        deviation: FloatArray = weight * tree.arrays["impurity"] if own else stats[:, 2]
        return deviation
    answer = predicted_index(tree.schema.target, tree.arrays["value"])
    wrong: FloatArray = np.einsum("nk,kn->n", stats, cost_array(tree.schema.target)[:, answer])
    return wrong


def _impurity(tree: Tree) -> FloatArray:
    wrong: FloatArray = growing_weight(tree) * tree.arrays["impurity"]
    return wrong


def _deviance(tree: Tree) -> FloatArray:
    """Twice the negative log-likelihood of the classes; of numbers the error."""
    if tree.schema.target.classes is None:
        return _error(tree)
    stats = tree.arrays["stats"]
    total = stats.sum(axis=1, keepdims=True)
    share = np.divide(stats, total, out=np.ones_like(stats), where=stats > 0)
    deviance: FloatArray = -2.0 * np.sum(stats * np.log(share), axis=1)
    return deviance


_OWN_LOSS = (AbsoluteError, Poisson)
_RISKS: dict[Risk, Callable[[Tree], FloatArray]] = {"error": _error, "impurity": _impurity, "deviance": _deviance}


def row_losses(tree: Tree, rows: Encoded) -> Callable[[Array], FloatArray]:
    """A function: what it costs when each row is answered by the node given for it."""
    assert rows.target is not None
    truth, value = rows.target, tree.arrays["value"]
    if tree.schema.target.classes is not None:
        answer, costs = predicted_index(tree.schema.target, value), cost_array(tree.schema.target)
        return lambda node: costs[truth, answer[node]]
    number = value[:, 0]
    if isinstance(tree.recipe.regression, AbsoluteError):
        return lambda node: np.abs(truth - number[node])
    if isinstance(tree.recipe.regression, Poisson):
        return lambda node: _half_poisson_deviance(truth, number[node])
    return lambda node: (truth - number[node]) ** 2


def _half_poisson_deviance(truth: Array, mean: FloatArray) -> FloatArray:
    floor = np.maximum(mean, np.finfo(np.float64).tiny)
    log = np.log(np.where(truth > 0, truth, 1.0)) - np.log(floor)
    deviance: FloatArray = np.where(truth > 0, truth * log, 0.0) - truth + mean
    return deviance
