"""The types of arrays, one name for each kind of number; lists of lists as two arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
Int32Array: TypeAlias = NDArray[np.int32]
Int64Array: TypeAlias = NDArray[np.int64]
IndexArray: TypeAlias = NDArray[np.intp]


def starts_of(lengths: Array | Sequence[int]) -> Int32Array:
    """Return where each of the lists of these lengths begins in one array of all items, and the end."""
    return np.append(0, np.cumsum(lengths)).astype(np.int32)
