"""Two trees on the same rows: which node of one holds the rows of a node of the other, and how alike the leaves are."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from treewright.tree.shape import ends
from treewright.tree.tree import Tree
from treewright.uncertainty.resamples import AT_ONCE

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Placed:
    """Where the rows of a table end in a tree."""

    tree: Tree
    leaf: NDArray[np.int32]

    @cached_property
    def leaf_sizes(self) -> IntArray:
        """The rows that end in each node."""
        return np.bincount(self.leaf, minlength=self.tree.n_nodes)

    @property
    def subtree_end(self) -> IntArray:
        """The subtree of node i is nodes i up to, not including, this."""
        return self.tree.keep("subtree_end", lambda: ends(self.tree))


@dataclass(frozen=True, eq=False)
class Overlap:
    """How many rows end in each pair of nodes of two trees: `counts`, if these are few, else a sparse form.

    Rows of the table are counted once for all comparisons of the trees.
    """

    first: Placed
    second: Placed
    counts: IntArray | None

    @classmethod
    def of(cls, first: Placed, second: Placed) -> Overlap:
        """Count the rows of every pair, if a table of all pairs is not much larger than that of the rows."""
        n, m = first.tree.n_nodes, second.tree.n_nodes
        if n * m > 4 * len(first.leaf):
            return cls(first, second, None)
        counts = np.zeros(n * m, dtype=np.int64)
        for start in range(0, len(first.leaf), AT_ONCE):  # so that no array of 64 bits a row is needed
            piece = slice(start, start + AT_ONCE)
            counts += np.bincount(_pair_numbers(first.leaf[piece], second.leaf[piece], m), minlength=n * m)
        return cls(first, second, counts.reshape(n, m))


def _pair_numbers(group: NDArray[np.integer], leaf: NDArray[np.int32], n_nodes: int) -> IntArray:
    """Return one number for the group of each row and its leaf in a tree of so many nodes."""
    numbers = group * np.int64(n_nodes)
    numbers += leaf
    return numbers


def closest_nodes(overlap: Overlap, nodes: IntArray) -> tuple[IntArray, FloatArray]:
    """Return, for some nodes of the first tree, the node of the second that shares most rows, and how many.

    The measure is the Jaccard index: rows in both over rows in either. Of equals the one nearest the root wins.
    Nodes are numbered depth first, so the rows below a node are those whose leaf lies in one run of numbers: sums
    over runs are differences of running sums.
    """
    first, second = overlap.first, overlap.second
    if overlap.counts is not None:
        below = np.zeros((first.tree.n_nodes + 1, second.tree.n_nodes), dtype=np.int64)
        np.cumsum(overlap.counts, axis=0, out=below[1:])
        start, stop = nodes, first.subtree_end[nodes]
    else:
        bounds = np.unique([nodes, first.subtree_end[nodes]])
        run = np.searchsorted(bounds, np.arange(first.tree.n_nodes), side="right")[first.leaf]
        shape = len(bounds) + 1, second.tree.n_nodes
        counts = np.bincount(_pair_numbers(run, second.leaf, shape[1]), minlength=shape[0] * shape[1])
        below = np.cumsum(counts.reshape(shape), axis=0)
        start, stop = (np.searchsorted(bounds, edge) for edge in (nodes, first.subtree_end[nodes]))
    shared = _sums_of_subtrees(below[stop] - below[start], second.subtree_end)
    size = _sums_of_subtrees(second.leaf_sizes[None], second.subtree_end)
    index = shared / np.maximum(shared[:, :1] + size - shared, 1)  # the second tree's root holds all rows
    closest = index.argmax(axis=1)
    return closest, index[np.arange(len(nodes)), closest]


def _sums_of_subtrees(counts: IntArray, end: IntArray) -> IntArray:
    """Return the sums over subtrees, by row, of a number per node."""
    total = np.zeros((len(counts), counts.shape[1] + 1), dtype=np.int64)
    np.cumsum(counts, axis=1, out=total[:, 1:])
    return total[:, end] - total[:, :-1]


def adjusted_rand_index(overlap: Overlap) -> float:
    """Return how far two trees put the same pairs of rows into one leaf: 1 if all, 0 as chance would (Hubert 1985)."""
    first, second = overlap.first, overlap.second
    counts = overlap.counts
    if counts is None:
        counts = np.unique(_pair_numbers(first.leaf, second.leaf, second.tree.n_nodes), return_counts=True)[1]
    together = _pairs(counts)
    own, other = _pairs(first.leaf_sizes), _pairs(second.leaf_sizes)
    chance = own * other / max(_pairs(np.array([len(first.leaf)])), 1.0)
    most = (own + other) / 2
    return 1.0 if most == chance else (together - chance) / (most - chance)


def _pairs(counts: NDArray[np.integer]) -> float:
    return float((counts.astype(np.float64) * (counts - 1.0) / 2).sum())
