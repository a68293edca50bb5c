"""Sums over the leaves of every tree of a nested sequence, for many limits at once.

A node is a leaf of the trees whose limit is in [its own, the least above it), so all trees cost about as much as one.
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
    """Node i is a leaf of the trees with low[i] <= limit < high[i], and is split in those below low[i]."""

    low: FloatArray
    high: FloatArray

    def sums(self, limits: FloatArray, as_leaf: Array, at_inner: Array | None = None) -> FloatArray:
        """Return for each limit (rising) the sum of `as_leaf` over leaves and of `at_inner` over inner nodes."""
        first = np.searchsorted(limits, self.low)
        last = np.where(np.isinf(self.high), len(limits), np.searchsorted(limits, self.high))
        change = np.zeros(len(limits) + 1)
        is_leaf_of = first < last
        np.add.at(change, first[is_leaf_of], as_leaf[is_leaf_of])
        np.add.at(change, last[is_leaf_of], -as_leaf[is_leaf_of])
        if at_inner is not None:
            change[0] += at_inner.sum()
            np.add.at(change, np.minimum(first, last), -at_inner)
        total: FloatArray = np.cumsum(change)[:-1]
        return total


def spans(tree: Tree, limit: FloatArray) -> Spans:
    """Return the limit at which each inner node is cut; leaves are there from the start."""
    low = np.where(is_leaf(tree), -np.inf, limit)
    high = np.full(tree.n_nodes, np.inf)
    parent = tree.arrays["parent"]
    for level in levels(tree)[1:]:
        above = parent[level]
        high[level] = np.minimum(high[above], low[above])
    return Spans(low, high)
