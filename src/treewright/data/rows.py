"""Rows of an `Encoded` table: some of them, several tables as one, and their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from treewright.data.arrays import Array, BoolArray, FloatArray
from treewright.data.encoding import Encoded


def take(rows: Encoded, chosen: slice | Array) -> Encoded:
    """Return the chosen rows: by slice (not copied), by mask or by index. The binned form is dropped."""

    def some(array: Array | None) -> Any:
        return None if array is None else array[chosen]

    if isinstance(chosen, slice):
        n_rows = len(range(*chosen.indices(rows.n_rows)))
    else:
        n_rows = int(np.count_nonzero(chosen)) if chosen.dtype == bool else len(chosen)
    columns: Any = rows.columns  # may be a matrix, which the core reads in place
    columns = columns[chosen] if isinstance(columns, np.ndarray) else tuple(map(some, columns))
    return replace(
        rows,
        columns=columns,
        n_rows=n_rows,
        target=some(rows.target),
        weight=some(rows.weight),
        repeats=some(rows.repeats),
        dealt=some(rows.dealt),
        coded=None,
    )


def counting(rows: Encoded, chosen: BoolArray) -> Encoded:
    """Return all rows, of which only the chosen count: the others have the weight 0. No column is copied."""
    repeats = chosen.astype(np.int32)
    return replace(rows, repeats=repeats, weight=repeats * weights_of(rows))


def concat(pieces: Sequence[Encoded]) -> Encoded:
    """Return the rows of all pieces, in order. The pieces share one schema."""
    if len(pieces) == 1:
        return pieces[0]

    def joined(arrays: Sequence[Array | None]) -> Any:
        present = [array for array in arrays if array is not None]
        return np.concatenate(present) if len(present) == len(arrays) else None

    return replace(
        pieces[0],
        columns=tuple(joined(column) for column in zip(*(piece.columns for piece in pieces), strict=True)),
        n_rows=sum(piece.n_rows for piece in pieces),
        target=joined([piece.target for piece in pieces]),
        weight=joined([piece.weight for piece in pieces]),
        repeats=joined([piece.repeats for piece in pieces]),
        dealt=joined([piece.dealt for piece in pieces]),
        complete=all(piece.complete for piece in pieces),
        coded=None,
    )


def is_missing(values: Array) -> BoolArray:
    """Return where an encoded column has no value: NaN, or no code of a level."""
    missing: BoolArray = np.isnan(values) if values.dtype.kind == "f" else values < 0
    return missing


def blank_rows(rows: Encoded) -> BoolArray:
    """Return which rows have no value in any column."""
    blank: BoolArray = np.logical_and.reduce([is_missing(column) for column in rows.columns])
    return blank


def weights_of(rows: Encoded) -> FloatArray:
    """Return the weight of each row; one where none were given."""
    return np.ones(rows.n_rows) if rows.weight is None else rows.weight


def total_weight(rows: Encoded) -> float:
    """Return the sum of the weights of all rows."""
    return float(rows.n_rows if rows.weight is None else rows.weight.sum())


def itself(rows: Encoded) -> Encoded:
    """Return the rows unchanged: `Partitions.map` with this fetches them."""
    return rows
