"""A tree's shape as whole arrays: subtrees, sums over them, and what stands above.

Numpy works level by level, so a hundred thousand nodes cost milliseconds; children are added up in their order, so a
sum over a subtree does not depend on what the rest of the tree looks like.
"""

from __future__ import annotations

import numpy as np

from treewright.data.arrays import Array, BoolArray, Int64Array
from treewright.tree.models import LinearModel
from treewright.tree.tree import Tree
from treewright.tree.validation import STOP_HERE


def is_leaf(tree: Tree) -> BoolArray:
    """Return whether each node is a leaf."""
    leaf: BoolArray = tree.arrays["stop"] != 0
    return leaf


def routing_splits(tree: Tree) -> Array:
    """Return the splits that route rows, node by node: each node's own and then its surrogates, without rivals."""
    start = tree.arrays["split_start"]
    used = np.where(is_leaf(tree), 0, 1 + tree.arrays["n_surrogates"])
    position = np.arange(start[-1]) - np.repeat(start[:-1], np.diff(start))
    return np.flatnonzero(position < np.repeat(used, np.diff(start)))


def columns_used(tree: Tree) -> list[int]:
    """Return the columns that a prediction depends on: those of splits, surrogates and linear models of ends."""
    found: list[int] = np.unique(tree.arrays["column"][routing_splits(tree)]).tolist()
    terms = (term.column for model in end_models(tree).values() for term in model.terms)
    return sorted({*found, *terms})


def end_models(tree: Tree) -> dict[int, LinearModel]:
    """Return the linear models of the nodes where rows may end, by node; nothing for constant leaves."""
    arrays, ends = tree.arrays, is_leaf(tree)
    inner = np.flatnonzero(~ends)
    ends[inner] = arrays["missing"][arrays["split_start"][inner]] == STOP_HERE
    return {int(node): tree.models[node] for node in np.flatnonzero(ends)} if tree.models else {}


def levels(tree: Tree) -> list[Array]:
    """Return the nodes of each depth, root first, in their order."""
    depth = tree.arrays["depth"]
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def sums_below(tree: Tree, values: Array) -> Array:
    """Return for each node the sum of `values` over its leaves (itself, if it is one); rows are summed by row."""
    return subtree_sums(tree, np.where(is_leaf(tree).reshape(-1, *[1] * (values.ndim - 1)), values, 0))


def subtree_sums(tree: Tree, values: Array) -> Array:
    """Return for each node the sum of `values` over all nodes of its subtree."""
    parent, total = tree.arrays["parent"], values.copy()
    for level in reversed(levels(tree)[1:]):
        np.add.at(total, parent[level], total[level])
    return total


def leaves_below(tree: Tree) -> Int64Array:
    """Return how many leaves each node's subtree has."""
    return sums_below(tree, np.ones(tree.n_nodes, dtype=np.int64))


def ends(tree: Tree) -> Int64Array:
    """Return the end of each subtree: that of node i is nodes i up to, not including, ends[i]."""
    return np.arange(tree.n_nodes) + subtree_sums(tree, np.ones(tree.n_nodes, dtype=np.int64))


def rows_below(tree: Tree, end: Array) -> tuple[Array, Array, Array]:
    """Return the rows in an order in which those of a subtree are one run, and where each node's run begins and ends.

    `end`: the node where each row ends. The rows of node i are `order[first[i] : last[i]]`.
    """
    order = np.argsort(end, kind="stable")  # nodes are numbered depth first
    first, last = np.searchsorted(end[order], (np.arange(tree.n_nodes), ends(tree)))
    return order, first, last


def topmost(tree: Tree, chosen: Array) -> Int64Array:
    """Return those of the chosen nodes (a truth value per node) that have no chosen node above them."""
    inside, end = np.flatnonzero(chosen), ends(tree)
    reach = np.maximum.accumulate(np.append(0, end[inside]))[:-1]  # depth first: a subtree is a run of nodes
    return inside[inside >= reach]
