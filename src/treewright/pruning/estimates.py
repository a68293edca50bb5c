"""Prune by estimates from the tree alone: pessimistic, minimum error, critical value, description length.

No rows are needed, so a saved tree can be pruned. docs/pruning.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, factorial, lgamma, log, log2

import numpy as np

from treewright.data.arrays import Array
from treewright.pruning.bottom_up import cut_where_no_better, staying
from treewright.pruning.cut import cut
from treewright.recipes.pruners import CriticalValue, MinimumDescription, MinimumError, Pessimistic
from treewright.tree.shape import is_leaf, levels, subtree_sums, sums_below, topmost
from treewright.tree.tree import Tree, node_classes


def _errors(counts: Array, label: Array) -> Array:
    """Return the weight that is not of the label's class."""
    wrong: Array = np.maximum(0.0, counts.sum(axis=1) - counts[np.arange(len(counts)), label])
    return wrong


# --- pessimistic ------------------------------------------------------------------------------------------------------


def prune_pessimistic(tree: Tree, pruner: Pessimistic) -> Tree:
    """Quinlan's rule: from the root down, each node against its subtree as it was grown; empty leaves do not count."""
    label, stays = node_classes(tree), staying(tree)
    alone = _errors(tree.arrays["stats"], label) + pruner.correction
    here = _errors(stays, label)
    halts = stays.sum(axis=1) > 0
    extra = subtree_sums(tree, np.where(is_leaf(tree), 0.0, here + pruner.correction * halts))
    seen = sums_below(tree, _errors(tree.arrays["stats"], label)) + extra
    weight = tree.arrays["weight"]
    below = seen + pruner.correction * sums_below(tree, (weight > 0).astype(np.float64))
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(np.where(weight > 0, below * np.maximum(0.0, weight - below) / weight, 0.0))
    limit = below + pruner.standard_errors * spread
    places = topmost(tree, ~is_leaf(tree) & (alone <= limit))
    return cut(
        tree,
        {
            int(i): f"pessimistic: {alone[i]:.4g} corrected errors as a leaf, {below[i]:.4g} below with a standard "
            f"error of {spread[i]:.4g}"
            for i in places
        },
    )


# --- minimum error ----------------------------------------------------------------------------------------------------


def prune_minimum_error(tree: Tree, pruner: MinimumError) -> Tree:
    """Return expected errors by the m-estimate: `m` rows in the proportions of the whole table join every leaf."""
    whole = tree.arrays["stats"][0]
    prior = whole / (whole.sum() or 1.0)

    def expected(counts: Array, label: Array) -> Array:
        weight = counts.sum(axis=1)
        right = (counts + pruner.m * prior)[np.arange(len(counts)), label]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(weight > 0, weight * (1 - right / (weight + pruner.m)), 0.0)

    def reason(leaf: float, below: float) -> str:
        return f"minimum error: {leaf:.4g} expected errors as a leaf, {below:.4g} below"

    return cut_where_no_better(tree, expected, reason, margin=_rounding(tree))


def _rounding(tree: Tree) -> float:
    """Equal estimates of fractional rows differ by this at most."""
    return 1e-12 * float(tree.arrays["weight"][0])


# --- critical value ---------------------------------------------------------------------------------------------------


def prune_critical_value(tree: Tree, pruner: CriticalValue) -> Tree:
    """Keep a node if its split, or any split below it, reaches the value."""
    leaf, parent = is_leaf(tree), tree.arrays["parent"]
    best = np.full(tree.n_nodes, -np.inf)
    inner = np.flatnonzero(~leaf)
    best[inner] = tree.arrays["score"][tree.arrays["split_start"][:-1][inner]]
    for level in reversed(levels(tree)[1:]):
        np.maximum.at(best, parent[level], best[level])
    places = topmost(tree, ~leaf & (best < pruner.value))
    return cut(
        tree,
        {
            int(i): f"critical value: the best split here or below has {best[i]:.4g}, not {pruner.value:g}"
            for i in places
        },
    )


# --- description length -----------------------------------------------------------------------------------------------


def prune_minimum_description(tree: Tree, _pruner: MinimumDescription) -> Tree:
    """Bits for the tree and for the classes of the rows, given the tree (Quinlan and Rivest)."""
    split_bits = np.zeros(tree.n_nodes)
    for node, bits in _question_bits(tree):
        split_bits[node] = 1 + bits

    def leaf_bits(counts: Array, label: Array) -> Array:
        return 1 + _exception_bits(counts, label)

    def reason(leaf: float, below: float) -> str:
        return f"description length: {leaf:.4g} bits as a leaf, {below:.4g} below"

    return cut_where_no_better(tree, leaf_bits, reason, split_cost=split_bits, margin=_rounding(tree))


def _exception_bits(counts: Array, label: Array) -> Array:
    """Bits for a leaf's class, then how many rows are exceptions, which they are, and their classes."""
    classes, weight, wrong = counts.shape[1], counts.sum(axis=1), _errors(counts, label)
    which = _log_gamma(weight + 1) - _log_gamma(wrong + 1) - _log_gamma(np.maximum(0.0, weight - wrong) + 1)
    bits: Array = log2(classes) + np.log2(weight + 1) + which / log(2) + wrong * log2(max(classes - 1, 1))
    return bits


def _log_gamma(values: Array) -> Array:
    """Of every value; most counts occur many times, so each is worked out once."""
    distinct, place = np.unique(values, return_inverse=True)
    return np.array([lgamma(x) for x in distinct.tolist()])[place].reshape(values.shape)


def _question_bits(tree: Tree) -> Iterator[tuple[int, float]]:
    """Return for each node with children the bits that name its question among all of its kind."""
    columns, rows = log2(max(len(tree.schema.columns), 1)), tree.arrays["rows"]
    for node in np.flatnonzero(~is_leaf(tree)).tolist():
        split = tree[node].split
        assert split is not None
        if split.groups is None:  # some cuts of at most one less than there are rows
            ways = comb(max(int(rows[node]) - 1, len(split.breaks)), len(split.breaks))
        elif split.spec.kind == "ordinal":
            ways = comb(max(len(split.child_of_bin) - 1, 1), min(split.n_children, len(split.child_of_bin)) - 1)
        else:
            ways = _partitions(sum(map(len, split.groups)), split.n_children)
        yield node, columns + log2(max(ways, 1))


def _partitions(things: int, parts: int) -> int:
    """Return the number of partitions of things into so many non-empty parts (Stirling's second kind)."""
    if parts >= things:
        return 1
    signed = sum((-1 if i % 2 else 1) * comb(parts, i) * int((parts - i) ** things) for i in range(parts + 1))
    return signed // factorial(parts)
