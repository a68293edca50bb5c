"""Cross-validation: rows dealt into folds, a tree grown without each fold, and what it does wrong on that fold.

Comes in: an encoded table, a recipe, how many folds. Goes out: for every fold a tree and sums of losses per node.
Always holds: which rows share a fold depends on their values and the seed, never on their order. All folds use one
encoded table: a row that is left out has weight zero, and rows of weight zero take no part in growing. A row given
twice is a row of weight two, here too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.data.encoding import Encoded
from treewright.data.schema import Schema
from treewright.growing.exact_sums import Sums, as_floats, merged, sums_by
from treewright.growing.grow_partitions import grow_table
from treewright.growing.memory_partitions import MemoryPartitions
from treewright.growing.partitions import Partitions
from treewright.growing.progress import UNREPORTED, Stage
from treewright.growing.weights import added_up, altered_by, class_weights
from treewright.prediction.routing import route
from treewright.pruning.losses import row_losses
from treewright.recipes.recipe import Recipe
from treewright.tree.shape import is_leaf
from treewright.tree.tree import Tree

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
    return deal_partitions(MemoryPartitions([encoded]), folds, seed, stratified)[0]


def deal_partitions(parts: Partitions, folds: int, seed: int, stratified: bool) -> tuple[Folds, Partitions]:
    """The same for a table in parts: the folds of all rows in the order of parts, and each part with its own."""
    smallest = min(parts.map(_smallest_weight))
    by_units = all(parts.map(_are_multiples, smallest))
    dealt = parts.map(_turns, seed, stratified, smallest if by_units else None)
    keys = [np.concatenate(column) for column in zip(*(turn.keys for turn in dealt), strict=True)]
    units = np.concatenate([turn.units for turn in dealt])
    order = np.lexsort(keys)
    first = np.empty(len(units), dtype=np.int64)
    first[order] = np.cumsum(units[order]) - units[order]
    found = Folds(max(1, min(folds, int(units.sum()))), first, units)
    ends = np.cumsum(parts.sizes)[:-1]
    each = [np.stack(pair) for pair in zip(np.split(first, ends), np.split(units, ends), strict=True)]
    return found, parts.changed(_with_turns, each=each)


@dataclass(frozen=True, eq=False)
class _Turns:
    """By what a part's rows are put in order (the last key counts most), and each one's units of weight."""

    keys: tuple[Array, ...]
    units: NDArray[np.int64]


def _weights(part: Encoded) -> FloatArray:
    return np.ones(part.n_rows) if part.weight is None else part.weight


def _smallest_weight(part: Encoded) -> float:
    weight = _weights(part)
    return float(weight[weight > 0].min(initial=np.inf))


def _are_multiples(part: Encoded, smallest: float) -> bool:
    weight = _weights(part)
    count = np.rint(weight / smallest)
    return bool((np.abs(count * smallest - weight) <= 1e-9 * weight).all()) and bool(count.max(initial=0) < 2**31)


def _turns(part: Encoded, seed: int, stratified: bool, unit: float | None) -> _Turns:
    keys: tuple[Array, ...] = (row_draws(part if unit is None else replace(part, weight=None), seed),)
    if stratified and part.n_classes:
        assert part.target is not None
        keys += (part.target,)
    weight = _weights(part)
    return _Turns(keys, (weight > 0 if unit is None else np.rint(weight / unit)).astype(np.int64))


def _with_turns(part: Encoded, dealt: NDArray[np.int64]) -> Encoded:
    return replace(part, dealt=dealt)


def _share_in(part: Encoded, n: int, fold: int) -> FloatArray:
    assert part.dealt is not None
    return Folds(n, part.dealt[0], part.dealt[1]).share_in(fold)


def held_out(
    parts: Partitions, n: int, schema: Schema, recipe: Recipe, n_threads: int, stage: Stage = UNREPORTED
) -> Iterator[HeldOut]:
    """One of `n` folds after the other, of parts that are dealt. A single fold leaves nothing to grow from."""
    by_class = real_by_class(parts, schema)
    recipe = replace(recipe, rivals=0)  # which only readers of a tree would miss
    for fold in range(n if n > 1 else 0):
        training = parts.changed(_without_fold, n, fold)
        tree = grow_table(training, schema, recipe, n_threads, stage.part(fold, n))
        training.close()
        yield _added_up(tree, parts.map(_losses_of_fold, tree, by_class, n, fold))


def _without_fold(part: Encoded, n: int, fold: int) -> Encoded:
    return without(part, _share_in(part, n, fold))


def _losses_of_fold(part: Encoded, tree: Tree, by_class: FloatArray | None, n: int, fold: int) -> dict[str, Sums]:
    share = _share_in(part, n, fold)
    left_out = share > 0
    weight = weight_by_class(part, by_class) * share
    return _loss_sums(tree, some_rows(part, left_out), weight[left_out], 0)


def _added_up(tree: Tree, found: Sequence[Mapping[str, Sums]]) -> HeldOut:
    return HeldOut(tree, **{name: as_floats(merged(part[name] for part in found), tree.n_nodes) for name in found[0]})


def without(part: Encoded, share: Array) -> Encoded:
    """The rows without this share (or whether any) of each one's weight."""
    return replace(part, weight=_weights(part) * (1.0 - share))


def used_rows(encoded: Encoded, recipe: Recipe) -> Encoded:
    """The rows with weight zero for those that the recipe leaves out of growing."""
    if not recipe.drop_blank_rows:
        return encoded
    blank = np.all([np.isnan(c) if c.dtype.kind == "f" else c < 0 for c in encoded.columns], axis=0)
    return replace(encoded, weight=np.where(blank, 0.0, _weights(encoded))) if blank.any() else encoded


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
    return weight_by_class(encoded, real_by_class(MemoryPartitions([encoded]), schema))


def real_by_class(parts: Partitions, schema: Schema) -> FloatArray | None:
    """What the weight of each class's rows is multiplied by then; None: nothing."""
    if schema.target.priors is None:
        return None
    return altered_by(replace(schema.target, costs=None), added_up(parts.map(class_weights), parts.n_classes)).seen


def weight_by_class(part: Encoded, by_class: FloatArray | None) -> FloatArray:
    """The weights of a part's rows, multiplied by those of their classes."""
    return _weights(part) if by_class is None else _weights(part) * by_class[part.target]


def total_weight(parts: Partitions, by_class: FloatArray | None) -> float:
    """All of it."""
    return float(as_floats(merged(parts.map(_weight_of, by_class)), 1)[0])


def _weight_of(part: Encoded, by_class: FloatArray | None) -> Sums:
    return sums_by(np.zeros(part.n_rows, dtype=np.intp), weight_by_class(part, by_class), 1)


def losses_on(tree: Tree, rows: Encoded, weight: FloatArray, n_threads: int) -> HeldOut:
    """What the tree does wrong on rows that have these weights."""
    return _added_up(tree, [_loss_sums(tree, rows, weight, n_threads)])


def _loss_sums(tree: Tree, rows: Encoded, weight: FloatArray, n_threads: int) -> dict[str, Sums]:
    """The sums of `HeldOut`, by name. Every row counts at each node from where it ends up to the root."""
    loss_at, n = row_losses(tree, rows), tree.n_nodes
    end = route(tree, rows, n_threads)
    parent = tree.arrays["parent"]
    as_leaf: list[Sums] = []
    squares: list[Sums] = []
    node, counted = end.astype(np.int64), np.arange(rows.n_rows)
    while len(counted):
        loss = loss_at(node)[counted]
        here, heavy = node[counted], weight[counted]
        as_leaf.append(sums_by(here, heavy * loss, n))
        squares.append(sums_by(here, heavy * loss * loss, n))
        node = np.maximum(parent[node], 0)
        counted = counted[parent[here] >= 0]
    own, stays = loss_at(end), ~is_leaf(tree)[end]
    asking, squares_asking = (sums_by(end[stays], part[stays], n) for part in (weight * own, weight * own * own))
    return {
        "as_leaf": merged(as_leaf),
        "asking": asking,
        "squares_as_leaf": merged(squares),
        "squares_asking": squares_asking,
    }


def row_draws(encoded: Encoded, seed: int) -> NDArray[np.uint64]:
    """A random number per row, by its values, answer and weight and the seed; equal rows have equal numbers."""
    extra = [column for column in (encoded.target, encoded.weight) if column is not None]
    kinds = [*encoded.kinds, *(0 if column.dtype.kind == "f" else 2 for column in extra)]
    draws: Any = _core.row_draws((*encoded.columns, *extra), kinds, encoded.n_rows, seed)
    return np.asarray(draws, dtype=np.uint64)
