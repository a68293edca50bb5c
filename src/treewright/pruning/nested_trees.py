"""Sums over the leaves of every tree of a nested sequence, for many limits at once.

A node is a leaf of the trees whose limit is in [its own, the least above it), so all trees cost about as much as one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.data.arrays import Array, FloatArray, IndexArray
from treewright.tree.shape import is_leaf, levels
from treewright.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class NestedTrees:
    """The trees of rising limits: nodes[i] is a leaf of trees first[i] to last[i] - 1 and is split in those before."""

    n: int
    nodes: IndexArray
    first: IndexArray
    last: IndexArray

    def sums(self, as_leaf: Array, at_inner: Array | None = None) -> FloatArray:
        """Return for each tree the sum of `as_leaf` over leaves and of `at_inner` over inner nodes."""
        change = np.zeros(self.n + 1)
        is_leaf_of = self.first < self.last
        given = as_leaf[self.nodes[is_leaf_of]]
        np.add.at(change, self.first[is_leaf_of], given)
        np.add.at(change, self.last[is_leaf_of], -given)
        if at_inner is not None:
            change[0] += at_inner.sum()
            np.add.at(change, np.minimum(self.first, self.last), -at_inner[self.nodes])
        total: FloatArray = np.cumsum(change)[:-1]
        return total


def nested_trees(tree: Tree, limit: FloatArray, limits: FloatArray, counted: Array | None = None) -> NestedTrees:
    """Return the trees of each of `limits` (rising); inner nodes are cut at their `limit`, leaves are always there.

    `counted`: for each node whether there is anything to add up; by default everywhere.
    """
    low = np.where(is_leaf(tree), -np.inf, limit)
    high = np.full(tree.n_nodes, np.inf)
    parent = tree.arrays["parent"]
    for level in levels(tree)[1:]:
        above = parent[level]
        high[level] = np.minimum(high[above], low[above])
    nodes = np.arange(tree.n_nodes) if counted is None else np.flatnonzero(counted)
    last = np.where(np.isinf(high[nodes]), len(limits), np.searchsorted(limits, high[nodes]))
    return NestedTrees(len(limits), nodes, np.searchsorted(limits, low[nodes]), last)
