"""A family of nested trees, from the whole tree down to its root, as spans of a limit.

Comes in: from which limit on each node is cut (a leaf, or inside one). Goes out: sums over the leaves of the tree of
any limit, for many limits at once.
Always holds: a node is a leaf of the trees whose limit is in [its own, the least above it); nothing is looked at twice,
so all trees of a path cost about as much as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.tree.shape import is_leaf, levels
from treewright.tree.tree import Tree

Array = NDArray[Any]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spans:
    """Node i is a leaf of the trees with low[i] <= limit < high[i], and asks in those below low[i]."""

    low: FloatArray
    high: FloatArray

    def sums(self, limits: FloatArray, as_leaf: Array, asking: Array | None = None) -> FloatArray:
        """For each limit (rising) the sum of `as_leaf` over the leaves and of `asking` over the nodes that ask."""
        first = np.searchsorted(limits, self.low)
        last = np.where(np.isinf(self.high), len(limits), np.searchsorted(limits, self.high))
        change = np.zeros(len(limits) + 1)
        answers = first < last
        np.add.at(change, first[answers], as_leaf[answers])
        np.add.at(change, last[answers], -as_leaf[answers])
        if asking is not None:
            change[0] += asking.sum()
            np.add.at(change, np.minimum(first, last), -asking)
        total: FloatArray = np.cumsum(change)[:-1]
        return total


def spans(tree: Tree, limit: FloatArray) -> Spans:
    """From the limit at which each asking node is cut; leaves are there from the start."""
    low = np.where(is_leaf(tree), -np.inf, limit)
    high = np.full(tree.n_nodes, np.inf)
    parent = tree.arrays["parent"]
    for level in levels(tree)[1:]:
        above = parent[level]
        high[level] = np.minimum(high[above], low[above])
    return Spans(low, high)
