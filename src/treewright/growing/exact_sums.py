"""Sums that are the same to the last bit in any order and any partitioning of the numbers.

Sums are kept as integers of decreasing units, which add without rounding, and are converted to floats at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from treewright.data.arrays import Array, FloatArray, Int64Array

#: Sums by the unit they are counted in: k stands for 2 ** (BITS * k).
Sums = Mapping[int, Int64Array]

#: A number has fewer than 2 ** BITS of each unit, and so many numbers of so many bits add up exactly in a float.
BITS = 26
AT_ONCE = 1 << 22


def sums_by(place: Array, values: FloatArray, n_places: int) -> Sums:
    """Return the sum of the values of every place. What is beyond all numbers counts as the largest of them.

    >>> halves = sums_by(np.array([0, 0, 1]), np.array([0.1, 0.2, 5.0]), 2)
    >>> as_floats(merged([halves, halves]), 2).tolist()
    [0.6000000000000001, 10.0]
    """
    found: dict[int, Int64Array] = {}
    for start in range(0, len(values), AT_ONCE):
        rest, to = np.nan_to_num(values[start : start + AT_ONCE]), place[start : start + AT_ONCE]
        while largest := np.abs(rest).max(initial=0.0):
            unit = (int(np.frexp(largest)[1]) - 1) // BITS
            digits = np.trunc(np.ldexp(rest, -BITS * unit))
            # Sums of whole numbers this small are exact in any order.
            added = np.bincount(to, weights=digits, minlength=n_places) if n_places > 1 else digits.sum(keepdims=True)
            counted = added.astype(np.int64)
            found[unit] = found[unit] + counted if unit in found else counted
            rest = rest - np.ldexp(digits, BITS * unit)
    return found


def total(values: FloatArray) -> float:
    """Return the sum of all values."""
    return float(as_floats(sums_by(np.zeros(len(values), dtype=np.intp), values, 1), 1)[0])


def merged(parts: Iterable[Sums]) -> Sums:
    """Return the sums of all parts together."""
    found: dict[int, Int64Array] = {}
    for part in parts:
        for unit, counted in part.items():
            found[unit] = found[unit] + counted if unit in found else counted
    return found


def as_floats(sums: Sums, n_places: int) -> FloatArray:
    """Return the sums as floats; from the largest unit to the smallest, so that they are rounded alike."""
    total = np.zeros(n_places)
    with np.errstate(over="ignore"):
        for unit in sorted(sums, reverse=True):
            total += np.ldexp(sums[unit].astype(np.float64), BITS * unit)
    return total
