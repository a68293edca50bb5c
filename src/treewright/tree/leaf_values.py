"""What the nodes of a finished tree predict: shares or means as counted, smoothed, or shrunk towards the ancestors.

Hierarchical shrinkage (Agarwal, Tan, Ronen, Singh and Yu 2022): from the root down, each step from a node to its child
moves the prediction by the difference of their shares (or means) divided by 1 + m / weight of the node. It is a
function of the statistics alone, so it commutes with cutting subtrees off.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.recipes.leaves import Constant, LeafChoice
from treewright.tree.shape import levels
from treewright.tree.tree import Tree


def shrunk(tree: Tree) -> Tree:
    """Return the tree with the predictions that its recipe's shrinkage gives; itself, if the recipe has none."""
    leaves = tree.recipe.leaves
    if not is_shrunk(leaves):
        return tree
    return with_values(tree, shrunk_values(tree, leaves.m))


def is_shrunk(leaves: LeafChoice) -> TypeGuard[Constant]:
    """Return whether predictions are shrunk towards those of the ancestors."""
    return isinstance(leaves, Constant) and leaves.smoothing == "shrinkage"


def unshrunk(tree: Tree) -> Tree:
    """Return the tree with the predictions that pruning compares: shares of classes or means, as counted."""
    leaves = tree.recipe.leaves
    if not is_shrunk(leaves) and tree.honest is None:
        return tree
    values, parent = _counted_values(tree, _statistics(tree)), tree.arrays["parent"]
    if tree.schema.target.classes is not None and isinstance(leaves, Constant) and leaves.empty == "majority":
        empty = np.flatnonzero(tree.arrays["weight"] == 0)
        values[empty] = 0.0
        values[empty, tree.arrays["stats"][parent[empty]].argmax(axis=1)] = 1.0
    return with_values(tree, values)


def with_values(tree: Tree, values: FloatArray) -> Tree:
    """Return the tree with other predictions, except where they were set by hand."""
    return replace(tree, arrays={**tree.arrays, "value": keep_set_predictions(tree, values)})


def keep_set_predictions(tree: Tree, values: FloatArray) -> FloatArray:
    """Return these predictions of the tree's nodes, but those set by hand as they are."""
    given = [edit.node for edit in tree.edits if edit.prediction]
    if not given:
        return values
    kept = np.array(values)
    kept[given] = np.asarray(tree.arrays["value"][given])
    return kept


def shrunk_values(tree: Tree, m: float) -> FloatArray:
    """Return what every node predicts with shrinkage of strength `m`, in units of weight; 0 changes nothing."""
    return _shrunk_values(tree, _statistics(tree), m)


def estimated_values(tree: Tree, statistics: FloatArray) -> FloatArray:
    """Return what every node predicts by other rows, estimated by the recipe.

    `statistics`: per node the weight of each class, or weight and mean. A node without rows predicts as its parent.
    """
    leaves = tree.recipe.leaves
    if not isinstance(leaves, Constant):
        return _counted_values(tree, statistics)
    if leaves.smoothing == "shrinkage":
        return _shrunk_values(tree, statistics, leaves.m)
    if tree.schema.target.classes is None or leaves.smoothing == "none":
        return _counted_values(tree, statistics)
    whole, n = statistics[:1], statistics.shape[1]
    added = np.ones((1, n)) if leaves.smoothing == "laplace" else leaves.m * whole / max(whole.sum(), 1e-300)
    return _counted_values(tree, np.where(statistics.sum(axis=1, keepdims=True) > 0, statistics + added, 0.0))


def counted_value(tree: Tree, node: int) -> FloatArray:
    """Return the share of each class, or the mean, of one node with rows, before anything is done to it."""
    value: FloatArray = _counted(tree, _statistics(tree)[node : node + 1])[0]
    return value


def counted_weight(tree: Tree, node: int) -> float:
    """Return the weight of the rows from which the prediction of a node comes."""
    return float(_weights(tree, _statistics(tree)[node : node + 1])[0])


def statistics_of(tree: Tree, node: int) -> list[float]:
    """Return the weight of each class, or weight and mean, from which the prediction of a node comes."""
    statistics: list[float] = _statistics(tree)[node].tolist()
    return statistics


def _statistics(tree: Tree) -> FloatArray:
    """Return, per node, the weight of each class, or weight and mean, of the rows that predictions come from."""
    if tree.honest is not None:
        return np.array(tree.honest.stats)
    statistics: FloatArray = np.asarray(tree.arrays["stats"])
    return statistics if tree.schema.target.classes is not None else statistics[:, :2]


def _weights(tree: Tree, statistics: FloatArray) -> FloatArray:
    weights: FloatArray = statistics[:, 0] if tree.schema.target.classes is None else statistics.sum(axis=1)
    return weights


def _counted_values(tree: Tree, statistics: FloatArray) -> FloatArray:
    """Return the share of each class, or the mean, of every node; a node without rows has its parent's."""
    values, weight = _counted(tree, statistics), _weights(tree, statistics)
    for level in levels(tree)[1:]:
        empty = level[weight[level] == 0]
        values[empty] = values[tree.arrays["parent"][empty]]
    return values


def _counted(tree: Tree, statistics: FloatArray) -> FloatArray:
    if tree.schema.target.classes is None:
        return statistics[:, 1:2].copy()
    weight = statistics.sum(axis=1, keepdims=True)
    even = np.full_like(statistics, 1 / statistics.shape[1])
    shares: FloatArray = np.divide(statistics, weight, out=even, where=weight > 0)
    return shares


def _shrunk_values(tree: Tree, statistics: FloatArray, m: float) -> FloatArray:
    own, parent, weight = _counted_values(tree, statistics), tree.arrays["parent"], _weights(tree, statistics)
    values = own.copy()
    for level in levels(tree)[1:]:
        above = parent[level]
        step = np.divide(weight[above], weight[above] + m, out=np.zeros(len(level)), where=weight[above] > 0)
        values[level] = values[above] + (own[level] - own[above]) * step[:, np.newaxis]
    if tree.schema.target.classes is not None:
        values = np.clip(values, 0.0, 1.0)  # sums of differences may miss a limit by their rounding
    return values
