"""Where in the plane of one or two columns each node predicts: exact boxes, read off the splits.

Every place lies in exactly one box, and the node there is the one that predicts a row with these values. A column that
neither varies nor is given is missing, and the tree treats it so; where it would send a row down several branches or
draw one, the heaviest is followed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import numpy as np

from treewright.data.schema import TIME_KINDS, ColumnSpec
from treewright.data.value_text import listed, name_hint
from treewright.errors import DataError
from treewright.tree.conditions import Interval, intervals_of
from treewright.tree.split import Split
from treewright.tree.tree import Node, Tree

#: What is possible on an axis: an interval of numbers, or codes of levels.
Extent = Interval | frozenset[int]


@dataclass(frozen=True)
class Region:
    """A box: per axis an interval of numbers or a set of levels; and the node that predicts there."""

    extents: tuple[Extent, ...]
    node: int


def column_index(tree: Tree, name: str) -> int:
    """Return the index of a column of the tree; an unknown name is an error with a hint."""
    names = tree.schema.names
    if name not in names:
        raise DataError(f"the tree has no column {name!r}; {name_hint(name, names)}")
    return names.index(name)


def regions(tree: Tree, columns: tuple[str, ...], fixed: Mapping[str, object] | None = None) -> list[Region]:
    """Return all boxes over the columns, the others being fixed or missing.

    >>> import treewright as tw
    >>> tree = tw.learn({"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}, "y", tw.CART)
    >>> [(one.extents[0].low, one.extents[0].high, tree[one.node].prediction) for one in regions(tree, ("x",))]
    [(-inf, 2.5, 'a'), (2.5, inf, 'b')]
    """
    axes = {column_index(tree, name): k for k, name in enumerate(columns)}
    if len(axes) < len(columns):
        raise DataError(f"the axes must be different columns, not {listed(columns)}")
    for name in fixed or {}:
        if column_index(tree, name) in axes:
            raise DataError(f"column {name!r} is an axis and cannot be fixed")
    values = fixed_values(tree, fixed)
    whole = tuple(_whole(tree.schema.columns[column]) for column in axes)
    found, stack = [], [(0, whole)]
    while stack:
        i, box = stack.pop()
        node = tree[i]
        if node.is_leaf:
            found.append(Region(box, i))
            continue
        parts = list(_divided(node, box, axes, values))
        found += [Region(part, i) for child, part in parts if child is None]
        stack += [(node.children[child], part) for child, part in reversed(parts) if child is not None]
    return found


def fixed_values(tree: Tree, fixed: Mapping[str, object] | None) -> dict[int, float]:
    """Return the values of fixed columns as the core has them: numbers, microseconds, codes of levels."""
    known = {column_index(tree, name): value for name, value in (fixed or {}).items()}
    return {column: _coded(tree.schema.columns[column], value) for column, value in known.items() if value is not None}


Box = tuple[Extent, ...]


def _divided(
    node: Node, box: Box, axes: Mapping[int, int], values: Mapping[int, float]
) -> Iterator[tuple[int | None, Box]]:
    """Yield the parts of a box and the child each goes to; None: the node itself predicts."""
    split = node.split
    assert split is not None
    open_parts: list[Box] = []
    for child, part, unseen in _known_children(split, box, axes, values):
        if child is None and unseen and isinstance(split.unseen, int):
            yield split.unseen, part
        elif child is None:
            open_parts.append(part)
        else:
            yield child, part
    for surrogate in node.surrogates:
        still_open: list[Box] = []
        for part in open_parts:
            for child, smaller, _ in _known_children(surrogate, part, axes, values):
                if child is None:
                    still_open.append(smaller)
                else:
                    yield child, smaller
        open_parts = still_open
    last = _missing_child(split)
    yield from ((last, part) for part in open_parts)


def _missing_child(split: Split) -> int | None:
    if isinstance(split.missing, int):
        return split.missing
    if split.missing == "stop":
        return None
    return max(range(split.n_children), key=lambda child: (split.share[child], -child))


def _known_children(
    split: Split, box: Box, axes: Mapping[int, int], values: Mapping[int, float]
) -> Iterator[tuple[int | None, Box, bool]]:
    """Yield parts of a box with their child (None: no value), and whether a level is unseen."""
    axis = axes.get(split.column_index)
    if axis is None:
        value = values.get(split.column_index)
        if value is None:
            yield None, box, False
        else:
            found = int(split.child_of(np.array([value]))[0])
            child = None if found < 0 else found
            yield child, box, child is None
        return
    extent = box[axis]
    parts = _of_interval(split, extent) if isinstance(extent, Interval) else _of_levels(split, extent)
    for child, part in parts:
        yield child, (*box[:axis], part, *box[axis + 1 :]), child is None


def _of_interval(split: Split, interval: Interval) -> Iterator[tuple[int | None, Extent]]:
    for bin_, child in enumerate(split.child_of_bin):
        part = interval.within(intervals_of(split.breaks, [bin_], split.test == "<=")[0])
        if not part.is_empty:
            yield None if child < 0 else child, part


def _of_levels(split: Split, held: frozenset[int]) -> Iterator[tuple[int | None, Extent]]:
    groups: dict[int, list[int]] = {}
    for code in sorted(held):
        groups.setdefault(split.child_of_bin[code], []).append(code)
    for child, codes in groups.items():
        yield None if child < 0 else child, frozenset(codes)


def _whole(spec: ColumnSpec) -> Extent:
    return frozenset(range(len(spec.levels or ()))) if spec.has_levels else Interval()


#: A level the tree has never seen.
_UNSEEN = -2.0


def _coded(spec: ColumnSpec, value: Any) -> float:
    """Return a value given by hand as the core would hold it: a number, microseconds, a level's code."""
    if spec.has_levels:
        levels = spec.levels or ()
        return float(levels.index(value)) if value in levels else _UNSEEN
    if spec.kind in TIME_KINDS and isinstance(value, (date, time, timedelta)):
        return microseconds(value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise DataError(
            f"column {spec.name!r} is {spec.kind} and cannot be fixed at {value!r}; give a number"
        ) from None
    if math.isnan(number):
        raise DataError(f"column {spec.name!r} cannot be fixed at NaN; leave it out to treat it as missing")
    return number


def microseconds(value: date | time | timedelta) -> float:
    """Return a moment or duration as a number; moments without a time zone are taken as UTC."""
    if isinstance(value, timedelta):
        return value / timedelta(microseconds=1)
    if isinstance(value, time):
        seconds = 3600 * value.hour + 60 * value.minute + value.second
        return 1e6 * seconds + value.microsecond
    if isinstance(value, datetime):
        moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1)
    return (value - date(1970, 1, 1)) / timedelta(microseconds=1)
