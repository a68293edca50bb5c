"""Tables as some choices of a recipe need them, before the core sees them, and the grown tree in terms of the old one.

`Imputed` fills missing values in. `Ordered` turns a column of levels into columns of 0 and 1, one for each cut of its
levels in the order of their mean target. `min_deviation` becomes the impurity that it stands for. All of it depends on
exact sums over the table, so neither on the order of rows nor on partitions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.data.arrays import Array, FloatArray
from treewright.data.encoding import Encoded
from treewright.data.rows import is_missing, weights_of
from treewright.growing.exact_sums import BITS, Sums, as_floats, merged, sums_by
from treewright.growing.memory_partitions import as_partitions
from treewright.growing.partitions import Partitions
from treewright.recipes.branching import Binary, Ordered
from treewright.recipes.criterion import FifthRoot, PiecewiseLinear, StandardDeviation, Variance
from treewright.recipes.leaves import Constant
from treewright.recipes.missing import Imputed, LearnedDirection, RefuseMissing
from treewright.recipes.recipe import Recipe

#: Kind codes of columns in `Encoded`.
NUMBER, ORDINAL, NOMINAL = 0, 1, 2


@dataclass(frozen=True)
class Preparation:
    """What is done to a table. `fill`: per column, the value that stands for a missing one; None: nothing does.

    `order`: per column, its levels in the order of their mean target; None for columns that stay as they are.
    """

    fill: tuple[float | None, ...]
    order: tuple[tuple[int, ...] | None, ...]

    @property
    def sources(self) -> list[tuple[int, int | None]]:
        """Per column of the prepared table, the old column and the cut of its levels it stands for."""
        found: list[tuple[int, int | None]] = []
        for column, order in enumerate(self.order):
            found += [(column, None)] if order is None else [(column, cut) for cut in range(1, len(order))]
        return found

    def levels_above(self, column: int, cut: int) -> tuple[int, ...]:
        """Return the levels for which the column of this cut is 1, rising."""
        order = self.order[column]
        assert order is not None
        return tuple(sorted(order[cut:]))


def preparation(rows: Encoded | Partitions, recipe: Recipe) -> Preparation | None:
    """Return what the recipe's choices do to the table; None: nothing."""
    return _preparation(rows, fills=isinstance(recipe.missing, Imputed), orders=isinstance(recipe.branching, Ordered))


def filling(rows: Encoded | Partitions, recipe: Recipe) -> Preparation | None:
    """Return what the recipe's choice for missing values alone does to the table; None: nothing."""
    return _preparation(rows, fills=isinstance(recipe.missing, Imputed), orders=False)


def _preparation(rows: Encoded | Partitions, *, fills: bool, orders: bool) -> Preparation | None:
    if not fills and not orders:
        return None
    parts = as_partitions(rows)
    n = len(parts.kinds)
    fill: tuple[float | None, ...] = tuple(_fills(parts)) if fills else (None,) * n
    none: tuple[tuple[int, ...] | None, ...] = (None,) * n
    order = tuple(_orders(parts, fill)) if orders else none
    return Preparation(fill, order)


def core_recipe(rows: Encoded | Partitions, recipe: Recipe) -> Recipe:
    """Return the recipe for a prepared table, as the core knows it."""
    changes: dict[str, Any] = {}
    if isinstance(recipe.missing, Imputed):
        changes["missing"] = RefuseMissing()
    if isinstance(recipe.branching, Ordered):
        changes["branching"] = Binary()
    if recipe.stopping.min_deviation > 0:
        limit = recipe.stopping.min_deviation * _deviation(as_partitions(rows))
        power = {FifthRoot: 0.4, StandardDeviation: 1.0}.get(type(recipe.regression), 2.0)
        known = recipe.stopping.max_impurity
        changes["stopping"] = replace(recipe.stopping, max_impurity=max(limit**power, 0.0 if known is None else known))
    return replace(recipe, **changes) if changes else recipe


def routing_recipe(recipe: Recipe) -> Recipe:
    """Return the recipe for sending rows down a grown tree, as the core knows it.

    The splits hold where a missing value goes, which is where the value filled in for it goes.
    """
    if not isinstance(recipe.missing, Imputed) and not isinstance(recipe.branching, Ordered):
        return recipe
    missing = LearnedDirection() if isinstance(recipe.missing, Imputed) else recipe.missing
    branching = Binary() if isinstance(recipe.branching, Ordered) else recipe.branching
    by_pieces = isinstance(recipe.regression, PiecewiseLinear)
    regression = Variance() if by_pieces else recipe.regression
    return replace(recipe, missing=missing, branching=branching, regression=regression, leaves=Constant(), pruning=None)


def prepared(rows: Encoded, done: Preparation) -> Encoded:
    """Return the rows of a partition as the core sees them."""
    columns: list[Array] = []
    for (column, cut), values in zip(done.sources, (rows.columns[column] for column, _ in done.sources), strict=True):
        known = filled(values, done.fill[column])
        columns.append(known if cut is None else _above(known, done.levels_above(column, cut)))
    kept = [rows.kinds[column] if cut is None else NUMBER for column, cut in done.sources]
    levels = [rows.levels[column] if cut is None else 0 for column, cut in done.sources]
    return replace(rows, columns=tuple(columns), kinds=tuple(kept), levels=tuple(levels), coded=None)


def filled(values: Array, fill: float | None) -> Array:
    """Return a column with its missing values filled in."""
    if fill is None:
        return values
    missing = is_missing(values)
    return np.where(missing, np.asarray(fill).astype(values.dtype), values) if missing.any() else values


def restored(arrays: Mapping[str, Any], done: Preparation, levels: Sequence[int]) -> dict[str, Any]:
    """Return the arrays of a grown tree with splits of the old columns, and a place for missing values."""
    sources, breaks, bins, out = done.sources, [], [], dict(arrays)
    columns, missing = arrays["column"].copy(), arrays["missing"].copy()
    for split, new in enumerate(arrays["column"].tolist()):
        column, cut = sources[new]
        own = arrays["breaks"][arrays["break_start"][split] : arrays["break_start"][split + 1]]
        child = arrays["child_of_bin"][arrays["bin_start"][split] : arrays["bin_start"][split + 1]]
        if cut is not None:
            # One bin alone sends every known level one way and missing values another.
            above = done.levels_above(column, cut) if len(own) else ()
            child = np.array([child[int(level in above)] for level in range(levels[column])], dtype=np.int32)
            own = own[:0]
        columns[split] = column
        fill = done.fill[column]
        if fill is not None:
            below = (own < fill) if arrays["closed"][split] else (own <= fill)
            missing[split] = child[int(fill) if levels[column] else np.count_nonzero(below)]
        breaks.append(own)
        bins.append(child)
    out |= {"column": columns, "missing": missing}
    for name, start, each, dtype in (
        ("breaks", "break_start", breaks, np.float64),
        ("child_of_bin", "bin_start", bins, np.int32),
    ):
        out[name] = np.concatenate(each).astype(dtype) if each else np.empty(0, dtype)
        out[start] = np.append(0, np.cumsum([len(one) for one in each])).astype(np.int32)
    return out


# --- facts of the table -----------------------------------------------------------------------------------------------


def _above(codes: Array, levels: tuple[int, ...]) -> FloatArray:
    found = np.isin(codes, levels).astype(np.float64)
    return np.where(codes < 0, np.nan, found)


def _sums(parts: Partitions, function: Any, *arguments: object, n: int) -> FloatArray:
    return as_floats(merged(parts.map(function, *arguments)), n)


def _fills(parts: Partitions) -> list[float | None]:
    """Return the mean of each numeric column, and the heaviest level (the first of equals) of the others."""
    fills: list[float | None] = []
    for column, kind in enumerate(parts.kinds):
        if kind == NUMBER:
            fills.append(_mean(*(merged(each) for each in zip(*parts.map(_number_sums, column), strict=True))))
        else:
            fills.append(float(np.argmax(_sums(parts, _level_weights, column, n=max(parts.levels[column], 1)))))
    return fills


def _mean(weights: Sums, totals: Sums) -> float:
    """Return the mean by sums of weights and of weighted values, also where the second is beyond all numbers."""
    (weight,), (total,) = as_floats(weights, 1).tolist(), as_floats(totals, 1).tolist()
    if weight <= 0:
        return 0.0
    if math.isfinite(total):
        return float(total / weight)
    smaller = as_floats({unit - 2: counted for unit, counted in totals.items()}, 1)[0] / weight
    with np.errstate(over="ignore"):  # rounded up, the mean of the largest numbers is larger than they are
        return float(np.nan_to_num(np.ldexp(smaller, 2 * BITS)))


def _number_sums(part: Encoded, column: int) -> tuple[Sums, Sums]:
    values, weight = part.columns[column], weights_of(part)
    known = ~np.isnan(values)
    nowhere = np.zeros(len(values), dtype=np.int64)
    with np.errstate(over="ignore"):  # a product beyond all numbers counts as the largest of them
        weighted = np.where(known, weight * values, 0.0)
    return sums_by(nowhere, np.where(known, weight, 0.0), 1), sums_by(nowhere, weighted, 1)


def _level_weights(part: Encoded, column: int) -> Any:
    codes, weight = part.columns[column], weights_of(part)
    known = codes >= 0
    return sums_by(codes[known], weight[known], max(part.levels[column], 1))


def _orders(parts: Partitions, fill: tuple[float | None, ...]) -> list[tuple[int, ...] | None]:
    orders: list[tuple[int, ...] | None] = []
    for column, kind in enumerate(parts.kinds):
        levels = parts.levels[column]
        if kind == NUMBER:
            orders.append(None)
            continue
        if kind == ORDINAL or levels < 2:
            orders.append(tuple(range(levels)))  # of fewer than two levels there is no cut
            continue
        found = _sums(parts, _target_sums, column, fill[column], n=2 * levels)
        weight, total = found[:levels], found[levels:]
        # A level without rows stands where the mean of the table does.
        overall = float(total.sum() / weight.sum()) if weight.sum() > 0 else 0.0
        mean = np.divide(total, weight, out=np.full(levels, overall), where=weight > 0)
        orders.append(tuple(np.argsort(mean, kind="stable").tolist()))
    return orders


def _target_sums(part: Encoded, column: int, fill: float | None) -> Any:
    assert part.target is not None
    codes, weight, levels = filled(part.columns[column], fill), weights_of(part), part.levels[column]
    known = codes >= 0
    place = np.concatenate([codes[known], codes[known] + levels])
    return sums_by(place, np.concatenate([weight[known], weight[known] * part.target[known]]), 2 * levels)


def _deviation(parts: Partitions) -> float:
    """Return the standard deviation of the target."""
    weight, total = _sums(parts, _target_total, n=2)
    mean = float(total / weight) if weight > 0 else 0.0
    (squares,) = _sums(parts, _target_squares, mean, n=1)
    return math.sqrt(squares / weight) if weight > 0 else 0.0


def _target_total(part: Encoded) -> Any:
    assert part.target is not None
    weight = weights_of(part)
    return sums_by(np.repeat([0, 1], part.n_rows), np.concatenate([weight, weight * part.target]), 2)


def _target_squares(part: Encoded, mean: float) -> Any:
    assert part.target is not None
    return sums_by(np.zeros(part.n_rows, dtype=np.int64), weights_of(part) * (part.target - mean) ** 2, 1)
