"""Means and products of deviations of every node, in three passes over the rows wherever they lie.

Every pass gives integers, or the least and the largest of numbers, so its results merge in any order; the moments
depend neither on threads nor on the order of rows nor on the partitions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from treewright import _core
from treewright.data.arrays import FloatArray, Int32Array, Int64Array
from treewright.data.encoding import Encoded
from treewright.fitting.regressors import Regressor, Wanted, flat
from treewright.growing.grow import one_piece
from treewright.growing.memory_partitions import as_partitions
from treewright.growing.partitions import Partitions
from treewright.prediction.routing import path_ends
from treewright.tree.models import members_of
from treewright.tree.tree import Tree

Ranges = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Slots:
    """The regressors whose sums each node needs, the target (-1) last, as the core reads them."""

    regressors: tuple[Regressor, ...]
    start: Int32Array
    regressor: Int32Array


def node_moments(tree: Tree, rows: Encoded | Partitions, wanted: Wanted, n_threads: int = 0) -> Any:
    """Return the core's moments of every node, for the regressors that it needs."""
    slots = Slots(wanted.regressors, *flat(wanted.slots, end=-1))
    passes = _passes(rows, tree, slots, n_threads)
    found = passes(_ranges, n_threads)
    low = reduce(np.minimum, (part[0] for part in found))
    high = reduce(np.maximum, (part[1] for part in found))
    ranges = (low, high, reduce(np.maximum, (part[2] for part in found)))
    sum_, known = (reduce(add, each) for each in zip(*passes(_means, ranges, n_threads), strict=True))
    mean = _filled(np.asarray(_core.slot_means(*ranges[:2], sum_, known)), known, slots.regressor)
    passed = zip(*passes(_products, ranges, mean, n_threads), strict=True)
    product, total, weight, counted = (reduce(add, each) for each in passed)
    sums = product, total, weight, counted
    return _core.NodeMoments(tree.arrays["parent"], slots.start, slots.regressor, *ranges, mean, *sums, n_threads)


def _passes(rows: Encoded | Partitions, tree: Tree, slots: Slots, n_threads: int) -> Callable[..., list[Any]]:
    """Return what applies a function to the core's view of each partition: where it ends is found once, in memory."""
    parts = as_partitions(rows)
    here = one_piece(parts)
    if here is None:
        return lambda look, *arguments: parts.map(_seen, tree, slots, n_threads, look, arguments)
    view = _linear_rows(here, tree, slots, n_threads)
    return lambda look, *arguments: [look(view, *arguments)]


def _seen(
    rows: Encoded, tree: Tree, slots: Slots, n_threads: int, look: Callable[..., Any], arguments: tuple[Any, ...]
) -> Any:
    return look(_linear_rows(rows, tree, slots, n_threads), *arguments)


def _linear_rows(rows: Encoded, tree: Tree, slots: Slots, n_threads: int) -> Any:
    """Return the core's view of a partition: its rows, and where each ends."""
    target: Any = rows.target
    row, node, fraction = path_ends(tree, rows, n_threads)
    weight = None
    if rows.weight is not None or (fraction != 1).any():
        weight = fraction if rows.weight is None else rows.weight[row] * fraction
        heavy = weight > 0
        row, node, weight = row[heavy], node[heavy], np.ascontiguousarray(weight[heavy])
    regressors = [(one.column, members_of(one.column, one.levels, tree.schema)) for one in slots.regressors]
    table = rows.columns, list(rows.kinds), target
    return _core.LinearRows(*table, regressors, slots.start, slots.regressor, row, node, weight)


def _ranges(view: Any, n_threads: int) -> Any:
    return view.ranges(n_threads)


def _means(view: Any, ranges: Ranges, n_threads: int) -> Any:
    return view.means(*ranges, n_threads)


def _products(view: Any, ranges: Ranges, mean: FloatArray, n_threads: int) -> Any:
    return view.products(*ranges, mean, n_threads)


def _filled(mean: FloatArray, known: Int64Array, regressor: Int32Array) -> FloatArray:
    """Return the means of slots; where a node has no value of a regressor, its mean over all nodes, or 0."""
    unknown = np.isnan(mean)
    if not unknown.any():
        return mean
    filled, weight = mean.copy(), known @ np.array([2.0**-96, 2.0**-64, 2.0**-32, 1.0])
    for one in np.unique(regressor[unknown]):
        others = (regressor == one) & ~unknown
        total = math.fsum(weight[others])
        filled[unknown & (regressor == one)] = math.fsum(weight[others] * mean[others]) / total if total > 0 else 0.0
    return filled
