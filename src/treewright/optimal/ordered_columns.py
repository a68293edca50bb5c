"""Columns as orderings of the rows, so that every split the search knows is a cut of one of them.

A numeric or ordinal column is one ordering; a nominal column one of two codes per set of levels. Where values are
missing, each comes twice: with the missing rows below all others and above.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from treewright.data.arrays import BoolArray, FloatArray, IndexArray, Int32Array
from treewright.data.encoding import Encoded
from treewright.data.rows import is_missing
from treewright.importers.build import DraftSplit


@dataclass(frozen=True, eq=False)
class OrderedColumn:
    """An ordering of the rows by one column.

    `column` is an index in the schema; `levels` are the levels on the low side of a nominal column, None for others;
    `missing_code` is the code of rows without a value, None if there are none.
    """

    column: int
    codes: Int32Array
    n_codes: int
    levels: tuple[int, ...] | None
    missing_code: int | None


def ordered_columns(rows: Encoded, max_levels: int, ranks: Iterator[Int32Array]) -> list[OrderedColumn]:
    """Return every ordering of the rows that the search may cut.

    A nominal column of at most `max_levels` levels is split into any two sets of levels, others into one level against
    the rest. `ranks`: the codes of each numeric column, by value.
    """
    found: list[OrderedColumn] = []
    for column, (values, kind) in enumerate(zip(rows.columns, rows.kinds, strict=True)):
        missing = is_missing(values)
        coded = [(next(ranks), None)] if kind == 0 else _known_codes(values, kind, missing, max_levels)
        for known, levels in coded:
            if known.max(initial=-1) > 0 or missing.any():
                found += _with_missing(column, known, missing, levels)
    return found


def _known_codes(
    values: FloatArray | Int32Array, kind: int, missing: BoolArray, max_levels: int
) -> Iterator[tuple[Int32Array, tuple[int, ...] | None]]:
    """Yield codes of the rows with a value, and the levels on the low side."""
    codes = np.zeros(len(values), dtype=np.int32)
    if kind != 2:
        codes[~missing] = np.unique(values[~missing], return_inverse=True)[1]
        yield codes, None
        return
    present = np.unique(values[~missing]).tolist()
    largest = len(present) // 2 if len(present) <= max_levels else 1
    for size in range(1, largest + 1):
        for levels in combinations(present, size):
            if 2 * size == len(present) and levels[0] != present[0]:
                continue  # the complement is there already
            codes = (~np.isin(values, levels)).astype(np.int32)
            codes[missing] = 0
            yield codes, levels
    if len(present) < 2:  # known against missing
        yield codes, tuple(present)


def _with_missing(
    column: int, known: Int32Array, missing: BoolArray, levels: tuple[int, ...] | None
) -> list[OrderedColumn]:
    n_codes = int(known.max(initial=0)) + 1
    if not missing.any():
        return [OrderedColumn(column, known, n_codes, levels, None)]
    below, above = known + np.int32(1), known.copy()
    below[missing], above[missing] = 0, n_codes
    return [
        OrderedColumn(column, below, n_codes + 1, levels, 0),
        OrderedColumn(column, above, n_codes + 1, levels, n_codes),
    ]


def split_at(ordered: OrderedColumn, cut: int, rows: Encoded, at_node: IndexArray) -> DraftSplit:
    """Return the split of the rows of a node at a cut of the ordering; child 0 is the low side."""
    codes = ordered.codes[at_node]
    low = codes <= cut
    known = np.ones(len(codes), dtype=bool) if ordered.missing_code is None else codes != ordered.missing_code
    larger = int(2 * np.count_nonzero(low) < len(low))
    missing = larger if known.all() else int(ordered.missing_code is not None and ordered.missing_code > cut)
    n_low, n_known = np.count_nonzero(low[known]), np.count_nonzero(known)
    only = None if 0 < n_low < n_known else int(n_low == 0)  # known values all go to one child
    values = rows.columns[ordered.column][at_node]
    if rows.kinds[ordered.column] == 0:
        if only is not None:
            return DraftSplit(ordered.column, (only,), missing=missing)
        at = _between(float(values[known & low].max()), float(values[known & ~low].min()))
        return DraftSplit(ordered.column, (0, 1), (at,), missing=missing)
    n_levels = rows.levels[ordered.column]
    if only is not None:
        return DraftSplit(ordered.column, (only,) * n_levels, missing=missing)
    if ordered.levels is not None:
        children = tuple(0 if level in ordered.levels else 1 for level in range(n_levels))
    else:
        last = int(values[known & low].max())
        children = tuple(0 if level <= last else 1 for level in range(n_levels))
    return DraftSplit(ordered.column, children, missing=missing)


def _between(low: float, high: float) -> float:
    """Return the middle of two values, at least `low` and below `high`."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low
