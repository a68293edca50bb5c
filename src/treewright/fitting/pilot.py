"""Grow a tree by linear pieces (PILOT): the call into the core, and the tree of what it returns.

A node's pieces are taken off the target before its children look at the rest, so the model of a leaf is the sum of all
pieces on its way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright import _core
from treewright.data.arrays import FloatArray
from treewright.data.encoding import Encoded
from treewright.data.rows import take
from treewright.data.schema import Schema
from treewright.data.survey import survey
from treewright.data.value_text import size_text
from treewright.errors import DataError
from treewright.growing.checks import check_recipe
from treewright.growing.exact_sums import total
from treewright.growing.grow import grow
from treewright.growing.memory_partitions import gathered
from treewright.growing.partitions import Partitions
from treewright.growing.prepared import NUMBER, Preparation, preparation, prepared
from treewright.growing.progress import Progress
from treewright.importers.build import Draft, DraftSplit, assembled
from treewright.recipes.criterion import PiecewiseLinear
from treewright.recipes.leaves import Pieces
from treewright.recipes.recipe import Recipe
from treewright.tree.models import FREE, LinearModel, Term
from treewright.tree.tree import Tree
from treewright.tree.validation import AS_MISSING

#: Why a leaf stopped: no piece is worth its parameters.
NO_GAIN = 5

#: Memory per row and column, a level being one: the encoded value, and twice the value with its row while it is sorted.
BYTES_PER_VALUE = 40

#: Parameters that each model counts for in its BIC: constant, line, two constants, broken line, two lines.
PARAMETERS = {"pilot": (1.0, 2.0, 5.0, 5.0, 7.0), "coefficients": (1.0, 2.0, 2.0, 3.0, 4.0)}


def grow_by_criterion(
    rows: Encoded | Partitions, schema: Schema, recipe: Recipe, n_threads: int = 0, progress: Progress | None = None
) -> Tree:
    """Grow a tree by splits or, where the recipe's criterion compares them, by linear pieces; it is not pruned."""
    if isinstance(recipe.regression, PiecewiseLinear):
        return grow_by_pieces(rows, schema, recipe, n_threads)
    return grow(rows, schema, recipe, n_threads, progress)


def grow_by_pieces(rows: Encoded | Partitions, schema: Schema, recipe: Recipe, n_threads: int = 0) -> Tree:
    """Grow a tree by the five models of PILOT.

    Every node has the sum of the pieces on its way as its model, unless the recipe asks for another.
    """
    check_recipe(recipe, schema)
    criterion = recipe.regression
    assert isinstance(criterion, PiecewiseLinear)
    here = _in_memory(rows, recipe)
    survey(here, schema, n_threads)
    if here.weight is not None and not (here.weight > 0).all():
        here = take(here, here.weight > 0)
    done = preparation(here, recipe)
    assert done is not None
    table = prepared(here, done)
    target: Any = table.target
    weight = None if table.weight is None or (table.weight == 1).all() else table.weight
    limits = recipe.stopping
    depth = 2**31 - 1 if limits.max_depth is None else min(limits.max_depth, 2**31 - 1)
    found = _core.grow_pilot(
        table.columns,
        list(table.kinds),
        target,
        weight,
        depth,
        limits.min_samples_split,
        limits.min_samples_leaf,
        list(PARAMETERS[criterion.price]),
        n_threads,
    )
    return _tree(found, done, table, schema, recipe)


def _in_memory(rows: Encoded | Partitions, recipe: Recipe) -> Encoded:
    """Return the rows in one place, where each column is put in order; partitions are fetched if there is room."""
    if isinstance(rows, Encoded):
        return rows
    columns = sum(1 if kind == NUMBER else levels for kind, levels in zip(rows.kinds, rows.levels, strict=True))
    needed, limit = sum(rows.sizes) * columns * BYTES_PER_VALUE, rows.limits.memory
    if 0 < limit < needed:
        raise DataError(
            f"the recipe {recipe.name!r} puts the rows of each column in order (PiecewiseLinear), which takes "
            f"{size_text(needed)} of memory here, and memory_limit is {size_text(limit)}; allow more memory, or use "
            "the recipe M5"
        )
    return gathered(rows)


def _tree(found: dict[str, Any], done: Preparation, table: Encoded, schema: Schema, recipe: Recipe) -> Tree:
    order = _depth_first(found)
    place = {old: new for new, old in enumerate(order)}
    drafts, models = [], []
    leaves = recipe.leaves
    assert table.target is not None
    target: FloatArray = np.asarray(table.target, dtype=np.float64)
    at_node = {0: np.arange(table.n_rows)}
    pieces: dict[int, list[tuple[int, float, float]]] = {0: []}
    for old in order:
        here, above = at_node.pop(old), pieces.pop(old)
        own = [*above, *_pieces(found, old)]
        if isinstance(leaves, Pieces):
            models.append(_model(own, float(found["rest"][old]), done, target[here], leaves.margin))
        stats = _statistics(target[here], None if table.weight is None else table.weight[here])
        column = int(found["column"][old])
        if column < 0:
            drafts.append(Draft(stats, stats[1:2], len(here)))
            continue
        threshold, children = float(found["threshold"][old]), (int(found["low"][old]), int(found["high"][old]))
        low = table.columns[column][here] <= threshold
        for child, rows in zip(children, (here[low], here[~low]), strict=True):
            at_node[child], pieces[child] = rows, own
        split = _split(column, threshold, done, schema)
        drafts.append(Draft(stats, stats[1:2], len(here), split, (place[children[0]], place[children[1]])))
    tree = assembled(drafts, schema, recipe)
    stop = np.where(tree.arrays["stop"] != 0, NO_GAIN, 0).astype(np.int32)
    return Tree({**tree.arrays, "stop": stop}, schema, recipe, models=tuple(models))


def _depth_first(found: dict[str, Any]) -> list[int]:
    order, pending = [], [0]
    while pending:
        node = pending.pop()
        order.append(node)
        if found["column"][node] >= 0:
            pending += [int(found["high"][node]), int(found["low"][node])]
    return order


def _pieces(found: dict[str, Any], node: int) -> list[tuple[int, float, float]]:
    span = range(found["piece_start"][node], found["piece_start"][node + 1])
    return [(int(found["piece_column"][i]), float(found["intercept"][i]), float(found["slope"][i])) for i in span]


def _model(
    pieces: list[tuple[int, float, float]], rest: float, done: Preparation, target: FloatArray, margin: float | None
) -> LinearModel:
    """Return the sum of the pieces and what they leave on average, within the guard of the node's rows."""
    slopes: dict[int, float] = {}
    intercept = rest
    for column, constant, slope in pieces:
        intercept += constant
        slopes[column] = slopes.get(column, 0.0) + slope
    terms = [_term(column, slope, done) for column, slope in sorted(slopes.items()) if slope != 0]
    if margin is None:
        return LinearModel(intercept, tuple(terms))
    low, high = float(target.min()), float(target.max())
    room = margin * (high - low)
    return LinearModel(intercept, tuple(terms), max(low - room, -FREE), min(high + room, FREE))


def _term(new: int, slope: float, done: Preparation) -> Term:
    column, cut = done.sources[new]
    fill = done.fill[column]
    assert fill is not None
    if cut is None:
        return Term(column, slope, fill)
    levels = done.levels_above(column, cut)
    return Term(column, slope, float(int(fill) in levels), levels)


def _split(new: int, threshold: float, done: Preparation, schema: Schema) -> DraftSplit:
    column, cut = done.sources[new]
    fill = done.fill[column]
    assert fill is not None
    if cut is None:
        return DraftSplit(column, (0, 1), (threshold,), missing=int(fill > threshold), unseen=AS_MISSING)
    above = done.levels_above(column, cut)
    child = tuple(int(level in above) for level in range(len(schema.columns[column].levels or ())))
    return DraftSplit(column, child, missing=child[int(fill)], unseen=AS_MISSING)


def _statistics(target: FloatArray, weight: FloatArray | None) -> tuple[float, float, float]:
    """Return weight, mean and sum of squared deviations, whatever the order of the rows."""
    share = np.ones(len(target)) if weight is None else weight
    whole = total(share)
    mean = total(share * target) / whole
    return whole, min(max(mean, float(target.min())), float(target.max())), total(share * (target - mean) ** 2)
