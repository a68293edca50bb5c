"""Check the input of the formulas and convert it to arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treewright.errors import DataError

FloatArray = NDArray[np.float64]


def number_array(numbers: Any, what: str, dimensions: int) -> FloatArray:
    try:
        array = np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} must be numbers, in lists of equal length: {error}") from None
    if array.ndim != dimensions:
        raise DataError(f"{what} must be a list{' of lists' * (dimensions - 1)} of numbers, not of shape {array.shape}")
    if array.size == 0:
        raise DataError(f"{what} must not be empty")
    if not np.isfinite(array).all():
        raise DataError(f"{what} must be finite numbers, not {array[~np.isfinite(array)][0]}")
    return array


def _weights(array: FloatArray, what: str) -> FloatArray:
    if (array < 0).any():
        raise DataError(f"{what} must not be negative, but there is {array[array < 0][0]:g}")
    if not array.sum() > 0:
        raise DataError(f"{what} add up to 0; at least one must be positive")
    return array


def class_counts(counts: ArrayLike) -> FloatArray:
    return _weights(number_array(counts, "counts", 1), "counts")


def class_table(children: Any) -> FloatArray:
    """Children by classes; an empty child is allowed, an empty table is not."""
    return _weights(number_array(children, "children", 2), "children")


def target_values(values: ArrayLike) -> FloatArray:
    return number_array(values, "values", 1)


def target_lists(groups: Sequence[ArrayLike]) -> list[FloatArray]:
    lists = [number_array(group, f"groups[{i}]", 1) for i, group in enumerate(groups)]
    if not lists:
        raise DataError("groups must not be empty; give one list of values per child")
    return lists


def moments(groups: Sequence[ArrayLike]) -> FloatArray:
    """Weight, sum and sum of squares of each group, measured as the core does: from the middle of their range."""
    lists = target_lists(groups)
    origin = min(values.min() for values in lists) / 2 + max(values.max() for values in lists) / 2
    return np.array([[len(values), (values - origin).sum(), ((values - origin) ** 2).sum()] for values in lists])


def check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise DataError(f"confidence must lie between 0 and 1, not {confidence!r}")


def non_negative(values: FloatArray) -> FloatArray:
    if (values < 0).any():
        raise DataError(f"values must not be negative for Poisson, but there is {values[values < 0][0]:g}")
    return values
