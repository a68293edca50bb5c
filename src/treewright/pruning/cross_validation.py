"""Cross-validation: assign rows to folds, grow a tree without each fold, and sum its losses on that fold.

A row's fold depends on its values and the seed, never on row order. All folds share one encoded table: held-out rows
have weight zero and do not take part in growing. A row given twice is a row of weight two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.data.arrays import Array, FloatArray, Int32Array, Int64Array
from treewright.data.encoding import Encoded
from treewright.data.rows import blank_rows, take, weights_of
from treewright.data.schema import Schema
from treewright.data.survey import survey
from treewright.fitting.fit_models import with_fits
from treewright.fitting.pilot import grow_by_criterion
from treewright.growing.exact_sums import Sums, as_floats, merged, sums_by
from treewright.growing.grow import grow_with_followers, one_piece
from treewright.growing.memory_partitions import as_partitions
from treewright.growing.partitions import Partitions
from treewright.growing.progress import UNREPORTED, Progress, Stage
from treewright.growing.side_by_side import Task, side_by_side
from treewright.growing.weights import altered_by, class_totals
from treewright.prediction.routing import route
from treewright.pruning.losses import number_loss_name
from treewright.pruning.model_losses import model_loss_sums, with_residuals
from treewright.recipes.criterion import Custom, PiecewiseLinear
from treewright.recipes.leaves import Linear
from treewright.recipes.missing import Fractional
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree, cost_array, predicted_index

Value = TypeVar("Value")

#: A table of fewer values is grown sooner than a thread starts.
_WORTH_THREADS = 1 << 16


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a fold's tree does wrong on the rows it has not seen, as weighted sums per node.

    `as_leaf`: over all rows that come to the node, if the node predicts them. `at_inner`: over those that go no further
    although it has children (no child is given for them). `squares` likewise of squared losses.
    """

    tree: Tree
    as_leaf: FloatArray
    at_inner: FloatArray
    squares_as_leaf: FloatArray
    squares_at_inner: FloatArray


@dataclass(frozen=True, eq=False)
class Folds:
    """Whole weight dealt into folds: row i has `count[i]` units of weight, from the unit numbered `first[i]` on.

    Unit k belongs to fold k % n. A row is one unit, or as many as its weight has.
    """

    n: int
    first: Int64Array
    count: Int64Array

    def share_in(self, fold: int) -> FloatArray:
        """Return how much of each row's weight belongs to a fold, 0 to 1."""
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
    return _dealt(as_partitions(encoded), folds, seed, stratified)


def deal_partitions(parts: Partitions, folds: int, seed: int, stratified: bool) -> tuple[Folds, Partitions]:
    """Return the same for a table in parts: the folds of all rows in the order of parts, and each part with its own."""
    found = _dealt(parts, folds, seed, stratified)
    ends = np.cumsum(parts.sizes)[:-1]
    both = zip(np.split(found.first, ends), np.split(found.count, ends), strict=True)
    return found, parts.changed(_with_turns, each=[np.stack(pair, axis=1) for pair in both])


def _dealt(parts: Partitions, folds: int, seed: int, stratified: bool) -> Folds:
    smallest = min(parts.map(_smallest_weight))
    by_units = all(parts.map(_are_multiples, smallest))
    turns = parts.map(_turns, seed, stratified, smallest if by_units else None)
    order = np.lexsort([np.concatenate(column) for column in zip(*(turn.keys for turn in turns), strict=True)])
    units = np.concatenate([turn.units for turn in turns])
    del turns  # each of these arrays is as large as a column
    ordered = units[order]
    ends = np.cumsum(ordered)
    ends -= ordered
    first = np.empty_like(ends)
    first[order] = ends
    return Folds(max(1, min(folds, int(units.sum()))), first, units)


@dataclass(frozen=True, eq=False)
class _Turns:
    """By what a part's rows are put in order (the last key counts most), and each one's units of weight."""

    keys: tuple[Array, ...]
    units: Int64Array


def _smallest_weight(part: Encoded) -> float:
    weight = weights_of(part)
    return float(weight[weight > 0].min(initial=np.inf))


def _are_multiples(part: Encoded, smallest: float) -> bool:
    if part.repeats is not None:  # a row that was drawn twice must not be learned from and tested too
        return False
    weight = weights_of(part)
    count = np.rint(weight / smallest)
    return bool((np.abs(count * smallest - weight) <= 1e-9 * weight).all()) and bool(count.max(initial=0) < 2**31)


def _turns(part: Encoded, seed: int, stratified: bool, unit: float | None) -> _Turns:
    keys: tuple[Array, ...] = (row_draws(part if unit is None else replace(part, weight=None), seed),)
    if stratified and part.n_classes:
        assert part.target is not None
        keys += (part.target,)
    weight = weights_of(part)
    return _Turns(keys, (weight > 0 if unit is None else np.rint(weight / unit)).astype(np.int64))


def _with_turns(part: Encoded, dealt: Int64Array) -> Encoded:
    return replace(part, dealt=dealt)


def _share_in(part: Encoded, n: int, fold: int) -> FloatArray:
    assert part.dealt is not None
    return Folds(n, part.dealt[:, 0], part.dealt[:, 1]).share_in(fold)


def held_out(
    parts: Partitions,
    n: int,
    schema: Schema,
    recipe: Recipe,
    judge: Callable[[HeldOut], Value],
    n_threads: int,
    stage: Stage = UNREPORTED,
) -> Iterator[Value]:
    """Yield the result of `judge` for one of `n` folds after the other, of parts that are dealt.

    Folds of one table in memory are grown side by side. A single fold leaves nothing to grow from.
    """
    if n <= 1:
        return
    by_class = real_by_class(parts, schema)
    recipe = replace(recipe, rivals=0)  # which only readers of a tree would miss
    rows = one_piece(parts)
    if rows is None or isinstance(recipe.missing, Fractional) or isinstance(recipe.regression, PiecewiseLinear):
        for fold in range(n):
            training = parts.changed(_without_fold, n, fold)
            tree = grow_by_criterion(training, schema, recipe, n_threads, stage.part(fold, n))
            tree = with_residuals(tree, training, n_threads)
            training.close()
            yield judge(_added_up(tree, parts.map(_losses_of_fold, tree, by_class, n, fold)))
        return

    complete = not survey(rows, schema, n_threads)

    def judged(fold: int, n_threads: int, progress: Progress) -> Value:
        share = _share_in(rows, n, fold)
        return judge(_fold_in_memory(rows, share, schema, recipe, by_class, n_threads, progress, complete=complete))

    tasks: list[Task[Value]] = [partial(judged, fold) for fold in range(n)]
    yield from side_by_side(tasks, n_threads if _worth_threads(rows, recipe) else 1, stage)


def _worth_threads(rows: Encoded, recipe: Recipe) -> bool:
    """Return whether trees are large enough to be grown in threads; a user's function is called by one."""
    custom = any(isinstance(criterion, Custom) for criterion in (recipe.criterion, recipe.regression))
    return not custom and rows.n_rows * len(rows.kinds) >= _WORTH_THREADS


def _fold_in_memory(
    rows: Encoded,
    share: FloatArray,
    schema: Schema,
    recipe: Recipe,
    by_class: FloatArray | None,
    n_threads: int,
    progress: Progress,
    *,
    complete: bool,
) -> HeldOut:
    """Return a fold, this share of each row: its rows go down the tree while that is grown from the others."""
    left_out = np.flatnonzero(share > 0).astype(np.int32)
    training = without(rows, share)
    tree, end = grow_with_followers(training, left_out, schema, recipe, n_threads, progress, complete=complete)
    assert rows.target is not None
    weight = (weight_by_class(rows, by_class) * share)[left_out]
    if isinstance(recipe.leaves, Linear):
        tree = with_fits(tree, training, n_threads)
        return _added_up(tree, [model_loss_sums(tree, take(rows, left_out), weight, n_threads)])
    return _added_up(tree, [_loss_sums(tree, end, rows.target[left_out], weight)])


def _without_fold(part: Encoded, n: int, fold: int) -> Encoded:
    return without(part, _share_in(part, n, fold))


def _losses_of_fold(part: Encoded, tree: Tree, by_class: FloatArray | None, n: int, fold: int) -> dict[str, Sums]:
    share = _share_in(part, n, fold)
    left_out = share > 0
    weight = weight_by_class(part, by_class) * share
    rows = take(part, left_out)
    assert rows.target is not None
    if tree.models:
        return model_loss_sums(tree, rows, weight[left_out], 0)
    return _loss_sums(tree, route(tree, rows, 0), rows.target, weight[left_out])


def _added_up(tree: Tree, found: Sequence[Mapping[str, Sums]]) -> HeldOut:
    return HeldOut(tree, **{name: as_floats(merged(part[name] for part in found), tree.n_nodes) for name in found[0]})


def without(part: Encoded, share: Array) -> Encoded:
    """Return the rows without this share (or whether any) of each one's weight."""
    return replace(part, weight=weights_of(part) * (1.0 - share))


def used_rows(encoded: Encoded, recipe: Recipe) -> Encoded:
    """Return the rows with weight zero for those that the recipe leaves out of growing."""
    if not recipe.drop_blank_rows:
        return encoded
    blank = blank_rows(encoded)
    return replace(encoded, weight=np.where(blank, 0.0, weights_of(encoded))) if blank.any() else encoded


def real_weight(encoded: Encoded, schema: Schema) -> FloatArray:
    """Return what each row counts for when losses are added up: its weight, by the priors if there are any."""
    return weight_by_class(encoded, real_by_class(encoded, schema))


def real_by_class(rows: Encoded | Partitions, schema: Schema) -> FloatArray | None:
    """Return what the weight of each class's rows is multiplied by then; None: nothing."""
    if schema.target.priors is None:
        return None
    return altered_by(replace(schema.target, costs=None), class_totals(rows)).seen


def weight_by_class(part: Encoded, by_class: FloatArray | None) -> FloatArray:
    """Return the weights of a part's rows, multiplied by those of their classes."""
    return weights_of(part) if by_class is None else weights_of(part) * by_class[part.target]


def total_weight(parts: Partitions, by_class: FloatArray | None) -> float:
    """Return all of it."""
    return float(as_floats(merged(parts.map(_weight_of, by_class)), 1)[0])


def _weight_of(part: Encoded, by_class: FloatArray | None) -> Sums:
    return sums_by(np.zeros(part.n_rows, dtype=np.intp), weight_by_class(part, by_class), 1)


def losses_on(tree: Tree, rows: Encoded, weight: FloatArray, n_threads: int) -> HeldOut:
    """Return what the tree does wrong on rows that have these weights."""
    assert rows.target is not None
    return _added_up(tree, [_loss_sums(tree, route(tree, rows, n_threads), rows.target, weight)])


def _loss_sums(tree: Tree, end: Int32Array, truth: Array, weight: FloatArray) -> dict[str, Sums]:
    """Return the sums of `HeldOut`, by name. Every row counts at each node from where it ends up to the root."""
    target, value = tree.schema.target, tree.arrays["value"]
    classes = target.classes is not None
    sums: dict[str, Sums] = _core.loss_sums(
        parent=tree.arrays["parent"],
        stop=tree.arrays["stop"],
        predicted=predicted_index(target, value).astype(np.int32) if classes else None,
        number=None if classes else np.ascontiguousarray(value[:, 0]),
        cost=None if target.costs is None else cost_array(target),
        loss="classes" if classes else number_loss_name(tree),
        end=end,
        classes=truth if classes else None,
        numbers=None if classes else truth,
        weight=weight,
    )
    return sums


def row_draws(encoded: Encoded, seed: int) -> NDArray[np.uint64]:
    """Return a random number per row, by its values, target, weight and the seed; equal rows have equal numbers."""
    extra = [column for column in (encoded.target, encoded.weight) if column is not None]
    kinds = [*encoded.kinds, *(0 if column.dtype.kind == "f" else 2 for column in extra)]
    draws: Any = _core.row_draws((*encoded.columns, *extra), kinds, encoded.n_rows, seed)
    return np.asarray(draws, dtype=np.uint64)
