"""Cross-validation: rows dealt into folds, a tree grown without each fold, and what it does wrong on that fold.

Comes in: an encoded table, a recipe, how many folds. Goes out: for every fold a tree and sums of losses per node.
Always holds: which rows share a fold depends on their values and the seed, never on their order. All folds use one
encoded table: a row that is left out has weight zero, and rows of weight zero take no part in growing. A row given
twice is a row of weight two, here too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.costs import altered
from treewright.encode import Encoded
from treewright.engine import coded, grow, route
from treewright.pruning.risk import row_losses
from treewright.pruning.shape import is_leaf
from treewright.recipe import Recipe
from treewright.schema import Schema
from treewright.tree import Tree

Array = NDArray[Any]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a fold's tree does wrong on the rows it has not seen, as weighted sums per node.

    `as_leaf`: over all rows that come to the node, if the node answers them. `asking`: over those that go no further
    although it asks (nothing says where they belong). `squares` likewise of squared losses.
    """

    tree: Tree
    as_leaf: FloatArray
    asking: FloatArray
    squares_as_leaf: FloatArray
    squares_asking: FloatArray


@dataclass(frozen=True, eq=False)
class Folds:
    """Whole weight dealt into folds: row i has `count[i]` units of weight, from the unit numbered `first[i]` on.

    Unit k belongs to fold k % n. A row is one unit, or as many as its weight has.
    """

    n: int
    first: NDArray[np.int64]
    count: NDArray[np.int64]

    def share_in(self, fold: int) -> FloatArray:
        """How much of each row's weight belongs to a fold, 0 to 1."""
        units = (self.first + self.count - 1 - fold) // self.n - (self.first - 1 - fold) // self.n
        return units / np.maximum(self.count, 1)

    @property
    def units(self) -> int:
        return int(self.count.sum())


def deal(encoded: Encoded, folds: int, seed: int, stratified: bool) -> Folds:
    """Deals rows into folds, in an order that depends on their values and the seed alone.

    If `stratified`, classes come one after the other, so every fold has its share of each. Where all weights are
    multiples of the smallest, a row of weight two is dealt as two rows, for that is what it means; other weights are
    dealt row by row. Rows of weight zero are in no fold. There are no more folds than units to deal.
    """
    assert encoded.target is not None
    weight = np.ones(encoded.n_rows) if encoded.weight is None else encoded.weight
    count = np.rint(weight / weight[weight > 0].min())
    by_units = bool((np.abs(count * weight[weight > 0].min() - weight) <= 1e-9 * weight).all()) and count.max() < 2**31
    keys: list[Array] = [row_draws(encoded if not by_units else replace(encoded, weight=None), seed)]
    if stratified and encoded.n_classes:
        keys.append(encoded.target)
    units = (count if by_units else weight > 0).astype(np.int64)
    order = np.lexsort(keys)
    first = np.empty(encoded.n_rows, dtype=np.int64)
    first[order] = np.cumsum(units[order]) - units[order]
    return Folds(max(1, min(folds, int(units.sum()))), first, units)


def held_out(encoded: Encoded, schema: Schema, recipe: Recipe, folds: Folds, n_threads: int) -> Iterator[HeldOut]:
    """One fold after the other. A single fold leaves nothing to grow from, so there is none."""
    weight = real_weight(encoded, schema)
    encoded = coded(encoded, n_threads)
    recipe = replace(recipe, rivals=0)  # which only readers of a tree would miss
    for fold in range(folds.n if folds.n > 1 else 0):
        share = folds.share_in(fold)
        tree = grow_without(encoded, schema, recipe, share, n_threads)
        left_out = share > 0
        yield losses_on(tree, some_rows(encoded, left_out), (weight * share)[left_out], n_threads)


def grow_without(encoded: Encoded, schema: Schema, recipe: Recipe, share: Array, n_threads: int) -> Tree:
    """The tree of the rows without this share (or whether any) of each one's weight."""
    weight = np.ones(encoded.n_rows) if encoded.weight is None else encoded.weight
    return grow(replace(encoded, weight=weight * (1.0 - share)), schema, recipe, n_threads)


def used_rows(encoded: Encoded, recipe: Recipe) -> Encoded:
    """The rows with weight zero for those that the recipe leaves out of growing."""
    if not recipe.drop_blank_rows:
        return encoded
    blank = np.all([np.isnan(c) if c.dtype.kind == "f" else c < 0 for c in encoded.columns], axis=0)
    weight = np.ones(encoded.n_rows) if encoded.weight is None else encoded.weight
    return replace(encoded, weight=np.where(blank, 0.0, weight)) if blank.any() else encoded


def some_rows(encoded: Encoded, chosen: Array) -> Encoded:
    """The chosen rows by themselves."""
    return replace(
        encoded,
        columns=tuple(column[chosen] for column in encoded.columns),
        n_rows=int(np.count_nonzero(chosen)),
        target=None if encoded.target is None else encoded.target[chosen],
        weight=None if encoded.weight is None else encoded.weight[chosen],
        coded=None,
    )


def real_weight(encoded: Encoded, schema: Schema) -> FloatArray:
    """What each row counts for when losses are added up: its weight, by the priors if there are any."""
    assert encoded.target is not None
    rows = np.ones(encoded.n_rows) if encoded.weight is None else encoded.weight
    seen = altered(replace(schema.target, costs=None), encoded.target, rows).weight
    assert seen is not None
    return seen


def losses_on(tree: Tree, rows: Encoded, weight: FloatArray, n_threads: int) -> HeldOut:
    """Every row counts at each node from where it ends up to the root."""
    loss_at, n = row_losses(tree, rows), tree.n_nodes
    end = route(tree, rows, n_threads)
    parent = tree.arrays["parent"]
    as_leaf, squares = np.zeros(n), np.zeros(n)
    node, counted = end.astype(np.int64), np.arange(rows.n_rows)
    while len(counted):
        loss = loss_at(node)[counted]
        here, heavy = node[counted], weight[counted]
        as_leaf += _per_node(here, heavy * loss, n)
        squares += _per_node(here, heavy * loss * loss, n)
        node = np.maximum(parent[node], 0)
        counted = counted[parent[here] >= 0]
    own, stays = loss_at(end), ~is_leaf(tree)[end]
    asking, squares_asking = (_per_node(end[stays], part[stays], n) for part in (weight * own, weight * own * own))
    return HeldOut(tree, as_leaf, asking, squares, squares_asking)


def _per_node(node: Array, values: FloatArray, n_nodes: int) -> FloatArray:
    return np.bincount(node, weights=values, minlength=n_nodes).astype(np.float64)  # of no rows, numpy gives integers


def row_draws(encoded: Encoded, seed: int) -> NDArray[np.uint64]:
    """A random number per row, by its values, answer and weight and the seed; equal rows have equal numbers."""
    extra = [column for column in (encoded.target, encoded.weight) if column is not None]
    kinds = [*encoded.kinds, *(0 if column.dtype.kind == "f" else 2 for column in extra)]
    draws: Any = _core.row_draws((*encoded.columns, *extra), kinds, encoded.n_rows, seed)
    return np.asarray(draws, dtype=np.uint64)
