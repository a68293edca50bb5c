"""Hierarchical shrinkage: what a node predicts is drawn towards what its ancestors predict.

Agarwal, Tan, Ronen, Singh and Yu (2022): from the root down, each step from a node to its child moves the prediction by
the difference of their shares (or means) divided by 1 + m / weight of the node. A function of the statistics alone, so
it commutes with cutting subtrees off.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from treewright.tree.shape import levels
from treewright.tree.tree import Tree

FloatArray = NDArray[np.float64]


def shrunk(tree: Tree) -> Tree:
    """Return the tree with the predictions that its recipe's shrinkage gives; itself, if the recipe has none."""
    leaves = tree.recipe.leaves
    return with_values(tree, shrunk_values(tree, leaves.m)) if leaves.smoothing == "shrinkage" else tree


def unshrunk(tree: Tree) -> Tree:
    """Return the tree with the predictions that pruning compares: shares of classes or means, as counted."""
    if tree.recipe.leaves.smoothing != "shrinkage":
        return tree
    values, parent = _counted_values(tree), tree.arrays["parent"]
    if tree.schema.target.classes is not None and tree.recipe.leaves.empty == "majority":
        empty = np.flatnonzero(tree.arrays["weight"] == 0)
        values[empty] = 0.0
        values[empty, tree.arrays["stats"][parent[empty]].argmax(axis=1)] = 1.0
    return with_values(tree, values)


def with_values(tree: Tree, values: FloatArray) -> Tree:
    """Return the tree with other predictions."""
    return replace(tree, arrays={**tree.arrays, "value": values})


def counted_value(tree: Tree, node: int) -> FloatArray:
    """Return the share of each class, or the mean, of one node with rows."""
    value: FloatArray = _counted(tree, tree.arrays["stats"][node : node + 1])[0]
    return value


def _counted_values(tree: Tree) -> FloatArray:
    """Return the share of each class, or the mean, of every node; a node without rows has its parent's."""
    arrays, values = tree.arrays, _counted(tree, np.asarray(tree.arrays["stats"]))
    for level in levels(tree)[1:]:
        empty = level[arrays["weight"][level] == 0]
        values[empty] = values[arrays["parent"][empty]]
    return values


def _counted(tree: Tree, stats: FloatArray) -> FloatArray:
    if tree.schema.target.classes is None:
        return stats[:, 1:2].copy()
    weight = stats.sum(axis=1, keepdims=True)
    shares: FloatArray = np.divide(stats, weight, out=np.full_like(stats, 1 / stats.shape[1]), where=weight > 0)
    return shares


def shrunk_values(tree: Tree, m: float) -> FloatArray:
    """Return what every node predicts with shrinkage of strength `m`, in units of weight; 0 changes nothing."""
    own, parent, weight = _counted_values(tree), tree.arrays["parent"], tree.arrays["weight"]
    values = own.copy()
    for level in levels(tree)[1:]:
        above = parent[level]
        step = np.divide(weight[above], weight[above] + m, out=np.zeros(len(level)), where=weight[above] > 0)
        values[level] = values[above] + (own[level] - own[above]) * step[:, np.newaxis]
    if tree.schema.target.classes is not None:
        values = np.clip(values, 0.0, 1.0)  # sums of differences may miss a limit by their rounding
    return values
