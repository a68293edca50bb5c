"""Prune from the leaves upwards by an additive cost: a node becomes a leaf where that costs no more.

A node is compared with its pruned subtree, so pruning twice changes nothing. Rows that stop at an inner node count
there as one more leaf.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from treewright.data.arrays import Array
from treewright.pruning.cut import cut
from treewright.tree.shape import is_leaf, levels
from treewright.tree.tree import Tree, node_classes
from treewright.tree.validation import STOP_HERE

#: Cost of leaves: weight per class (one row per leaf) and each leaf's label come in.
LeafCost = Callable[[Array, Array], Array]


def cut_where_no_better(
    tree: Tree,
    leaf_cost: LeafCost,
    reason: Callable[[float, float], str],
    *,
    split_cost: Array | None = None,
    margin: float = 0.0,
) -> Tree:
    """Return every node whose cost as a leaf is at most that of its subtree, plus `margin`, becomes a leaf.

    `split_cost`: the cost of each node's split itself. `reason`: words for the two costs.
    """
    alone, below = leaf_cost(tree.arrays["stats"], node_classes(tree)), np.zeros(tree.n_nodes)
    own = staying_cost(tree, leaf_cost) + (0.0 if split_cost is None else split_cost)
    leaf, parent = is_leaf(tree), tree.arrays["parent"]
    cost, reasons = np.where(leaf, alone, 0.0), {}
    for level in reversed(levels(tree)):
        inner = level[~leaf[level]]
        below[inner] += own[inner]
        for node in inner[alone[inner] <= below[inner] + margin].tolist():
            reasons[node] = reason(float(alone[node]), float(below[node]))
        cost[inner] = np.where(alone[inner] <= below[inner] + margin, alone[inner], below[inner])
        under = level[parent[level] >= 0]
        np.add.at(below, parent[under], cost[under])
    return cut(tree, reasons)


def staying(tree: Tree) -> Array:
    """Return the weight per class of the rows that stop at each node with children."""
    arrays, parent = tree.arrays, tree.arrays["parent"]
    stays = np.zeros_like(arrays["stats"])
    inner = np.flatnonzero(~is_leaf(tree))
    halts = inner[arrays["missing"][arrays["split_start"][:-1][inner]] == STOP_HERE]
    if len(halts):
        gone = np.zeros_like(stays)
        np.add.at(gone, parent[1:], arrays["stats"][1:])
        rest = arrays["stats"][halts] - gone[halts]
        stays[halts] = np.where(rest > 1e-9 * arrays["weight"][halts, None], rest, 0.0)
    return stays


def staying_cost(tree: Tree, leaf_cost: LeafCost) -> Array:
    """Return the cost of those rows, each predicted by its node."""
    stays = staying(tree)
    some = stays.sum(axis=1) > 0
    cost = np.zeros(tree.n_nodes)
    if some.any():
        cost[some] = leaf_cost(stays[some], node_classes(tree)[some])
    return cost
