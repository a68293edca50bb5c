"""Codes and distinct values of columns of numbers: counted by the core, or sorted where counting does not pay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treewright import _core
from treewright.data.arrays import Array, FloatArray, Int32Array
from treewright.data.columns import READ_IN_PLACE, is_strided


def level_codes(columns: Sequence[FloatArray]) -> list[tuple[Int32Array, FloatArray]]:
    """Return for each column of one table the codes of its rows, -1 for NaN, and the values of the codes, rising.

    The columns of a matrix are read together: one by one, each would fetch nearly all of it into the cache.
    """
    if not all(values.dtype in READ_IN_PLACE and is_strided(values) for values in columns):
        return [_sorted(values) for values in columns]
    counted = _core.count_levels(list(columns), len(columns[0]) if columns else 0)
    return [_sorted(values) if found is None else found for values, found in zip(columns, counted, strict=True)]


def _sorted(values: FloatArray) -> tuple[Int32Array, FloatArray]:
    missing = np.isnan(values)
    distinct, inverse = np.unique(values[~missing], return_inverse=True)
    codes: Int32Array = np.full(len(values), -1, dtype=np.int32)
    codes[~missing] = inverse
    unsigned: Array = distinct + 0.0  # -0.0 is 0.0, whichever of them numpy kept
    return codes, unsigned
