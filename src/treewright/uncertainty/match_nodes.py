"""Two trees on the same rows: which node of one holds the rows of a node of the other, and how alike the leaves are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treewright.tree.shape import ends
from treewright.tree.tree import Tree

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Placed:
    """Where the rows of a table end in a tree."""

    tree: Tree
    leaf: NDArray[np.int32]

    @property
    def subtree_end(self) -> IntArray:
        """The subtree of node i is nodes i up to, not including, this."""
        return self.tree.keep("subtree_end", lambda: ends(self.tree))


def closest_nodes(first: Placed, nodes: IntArray, second: Placed) -> tuple[IntArray, FloatArray]:
    """Return, for some nodes of the first tree, the node of the second that shares most rows, and how many.

    The measure is the Jaccard index: rows in both over rows in either. Of equals the one nearest the root wins.
    Nodes are numbered depth first, so the rows below a node are those whose leaf lies in one run of numbers: sums
    over runs are differences of running sums.
    """
    n = second.tree.n_nodes
    bounds = np.unique([nodes, first.subtree_end[nodes]])
    run = np.searchsorted(bounds, np.arange(first.tree.n_nodes), side="right")[first.leaf]
    run *= n  # in place: rows may be many
    run += second.leaf
    counts = np.bincount(run, minlength=(len(bounds) + 1) * n).reshape(-1, n)
    below = np.cumsum(counts, axis=0)
    start, stop = (np.searchsorted(bounds, edge) for edge in (nodes, first.subtree_end[nodes]))
    shared = _sums_of_subtrees(below[stop] - below[start], second.subtree_end)
    size = _sums_of_subtrees(np.bincount(second.leaf, minlength=n)[None], second.subtree_end)
    index = shared / np.maximum(shared[:, :1] + size - shared, 1)  # the second tree's root holds all rows
    closest = index.argmax(axis=1)
    return closest, index[np.arange(len(nodes)), closest]


def _sums_of_subtrees(counts: IntArray, end: IntArray) -> IntArray:
    """Return the sums over subtrees, by row, of a number per node."""
    total = np.zeros((len(counts), counts.shape[1] + 1), dtype=np.int64)
    np.cumsum(counts, axis=1, out=total[:, 1:])
    return total[:, end] - total[:, :-1]


def adjusted_rand_index(first: Placed, second: Placed) -> float:
    """Return how far two trees put the same pairs of rows into one leaf: 1 if all, 0 as chance would (Hubert 1985)."""
    n_rows, n = len(first.leaf), second.tree.n_nodes
    both = first.leaf * np.int64(n)
    both += second.leaf
    is_small = first.tree.n_nodes * n <= 4 * n_rows  # then counting is faster than sorting
    together = _pairs(np.bincount(both) if is_small else np.unique(both, return_counts=True)[1])
    own, other = (_pairs(np.bincount(leaf)) for leaf in (first.leaf, second.leaf))
    chance = own * other / max(_pairs(np.array([n_rows])), 1.0)
    most = (own + other) / 2
    return 1.0 if most == chance else (together - chance) / (most - chance)


def _pairs(counts: NDArray[np.integer]) -> float:
    return float((counts.astype(np.float64) * (counts - 1.0) / 2).sum())
