"""The rows of every node, counted for pictures: by the column it splits on, or by the target.

A row counts in the node that predicts it and in all above it; rows without a value of the column are in no bar. Only
what is drawn is kept, never the rows.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Container

import numpy as np

from treewright.data.arrays import Array, FloatArray, IndexArray, Int64Array
from treewright.data.encoding import Encoded
from treewright.data.number_text import amount
from treewright.data.rows import is_missing, weights_of
from treewright.data.schema import TIME_KINDS, ColumnSpec
from treewright.data.value_text import moment
from treewright.errors import DataError
from treewright.prediction.encode_rows import encode_labelled
from treewright.prediction.routing import route
from treewright.render.picture.histogram import Histogram
from treewright.tree.shape import rows_below
from treewright.tree.split import Split
from treewright.tree.text import level_text, name_text
from treewright.tree.tree import Node, Tree

#: At most this share of the values at either end may be put together into the last bar.
_FEW = 0.005
_DAY = 86_400_000_000


def histograms(
    tree: Tree, data: object, target: object = None, weight: object = None, *, bars: int = 24, n_threads: int = 0
) -> dict[int, Histogram]:
    """Count the rows of each inner node by its split column, and of each leaf by a numeric target.

    `target` and `weight` are names of columns of the table, or arrays; without `target`, as in training. The result
    goes to `treewright.render.svg(tree, histograms=...)`.

    >>> import treewright as tw
    >>> table = {"x": [1, 2, 3, 4, 5, 6], "y": ["a", "a", "a", "b", "b", "b"]}
    >>> found = histograms(tw.learn(table, "y", tw.CART), table, bars=2)
    >>> found[0].counts, found[0].cuts
    (((3.0, 0.0), (0.0, 3.0)), (3.5,))
    """
    if bars < 1:
        raise ValueError(f"bars must be at least 1, not {bars}")
    rows = encode_labelled(tree, data, target, weight)
    if rows is None or rows.target is None:
        raise DataError("histograms count rows; give a table with the tree's columns and its target as data")
    return histograms_of(tree, rows, bars=bars, n_threads=n_threads)


def histograms_of(
    tree: Tree, rows: Encoded, *, bars: int, only: Container[int] | None = None, n_threads: int = 0
) -> dict[int, Histogram]:
    """Return the histograms of all nodes, or of `only` some, for labelled rows that have been encoded."""
    assert rows.target is not None
    order, first, last = rows_below(tree, route(tree, rows, n_threads))
    weights = weights_of(rows)
    found: dict[int, Histogram] = {}
    for node in tree.walk():
        if only is not None and node.id not in only:
            continue
        here = order[first[node.id] : last[node.id]]
        drawn = _of_node(node, rows, rows.target[here], weights[here], here, bars)
        if drawn is not None:
            found[node.id] = drawn
    return found


def _of_node(
    node: Node, rows: Encoded, target: Array, weight: FloatArray, here: IndexArray, bars: int
) -> Histogram | None:
    split = node.split
    if split is None:
        if rows.n_classes or not len(here):
            return None
        values = target.astype(np.float64)
        target_spec = ColumnSpec(node.tree.schema.target.name, "numeric")
        return _by_number(target_spec, values, values, weight, 0, (), bars)
    values = np.asarray(rows.columns[split.column_index][here])
    known = ~is_missing(values)
    if not known.any():
        return None
    values, target, weight = values[known], target[known], weight[known]
    if split.spec.has_levels:
        return _by_level(split, values, target, weight, rows.n_classes)
    return _by_number(split.spec, values.astype(np.float64), target, weight, rows.n_classes, split.breaks, bars)


def _by_number(
    spec: ColumnSpec,
    values: FloatArray,
    target: Array,
    weight: FloatArray,
    n_classes: int,
    breaks: tuple[float, ...],
    bars: int,
) -> Histogram:
    low, high = _range(values, breaks)
    inside = np.clip(values, low, high) / 2 - low / 2  # halves: the whole width may be more than a float64 holds
    width = high / 2 - low / 2 or 1.0  # two neighbouring floats may share their half
    places = np.minimum((inside / width * bars).astype(np.int64), bars - 1)
    counts, means = _counted(places, target, weight, n_classes, bars)
    before, after = ("… " if values.min() < low else ""), (" …" if values.max() > high else "")
    ends = (before + _end_text(spec, low), _end_text(spec, high) + after)
    return Histogram(name_text(spec.name), low, high, counts, tuple(c for c in breaks if low <= c <= high), means, ends)


def _range(values: FloatArray, breaks: tuple[float, ...]) -> tuple[float, float]:
    """Return all values and cuts; but where a few values take most of the room, only the others'."""
    low, high = float(values.min()), float(values.max())
    most_low, most_high = np.quantile(values, [_FEW, 1 - _FEW], method="nearest")
    inner = [float(most_low), float(most_high), *(cut for cut in breaks if low <= cut <= high)]
    if max(inner) / 2 - min(inner) / 2 < (high / 2 - low / 2) / 2 and max(inner) > min(inner):
        low, high = min(inner), max(inner)
    if high / 64 - low / 64 > math.ulp(max(abs(low), abs(high))):
        return low, high
    more = max(0.5, 1e-6 * abs(low))  # a single value stands in the middle of its histogram
    return max(low - more, -sys.float_info.max), min(high + more, sys.float_info.max)


def _end_text(spec: ColumnSpec, x: float) -> str:
    if spec.kind not in TIME_KINDS:
        return amount(x)
    return moment(spec.kind, x if spec.kind == "time" else x - x % _DAY)


def _by_level(split: Split, codes: Array, target: Array, weight: FloatArray, n_classes: int) -> Histogram:
    """Return one bar per level that occurs, child by child."""
    levels = split.spec.levels or ()
    there = set(np.unique(codes).tolist())
    groups = [[i for i in held if i in there] for held in split.bins]
    groups.append(sorted(there - {i for group in groups for i in group}))  # levels of no child
    groups = [group for group in groups if group]
    order = [i for group in groups for i in group]
    place = np.zeros(len(levels), np.int64)
    place[order] = np.arange(len(order))
    counts, means = _counted(place[codes], target, weight, n_classes, len(order))
    cuts = tuple(float(cut) for cut in np.cumsum([len(group) for group in groups])[:-1])
    labels = tuple(level_text(levels[i]) for i in order)
    return Histogram(name_text(split.column), 0.0, float(len(order)), counts, cuts, means, labels=labels)


def _counted(
    places: Int64Array, target: Array, weight: FloatArray, n_classes: int, bars: int
) -> tuple[tuple[tuple[float, ...], ...], tuple[float, ...] | None]:
    """Return the weight of each class in each bar; or the weight, and the mean of the target (0 in an empty bar)."""
    if n_classes:
        flat = np.bincount(places * n_classes + target, weight, bars * n_classes)
        return tuple(map(tuple, flat.reshape(bars, n_classes).tolist())), None
    total = np.bincount(places, weight, bars)
    sums = np.bincount(places, weight * target, bars)
    means = np.divide(sums, total, out=np.zeros(bars), where=total > 0)
    return tuple((count,) for count in total.tolist()), tuple(means.tolist())
