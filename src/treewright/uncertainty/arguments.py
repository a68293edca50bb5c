"""Checks of the numbers that these functions take."""

from __future__ import annotations

import numpy as np

from treewright.errors import DataError


def check_whole(**limits: tuple[object, int]) -> None:
    """Raise `DataError` unless each argument, given as its value and the least allowed, is such a whole number."""
    for name, (value, least) in limits.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise DataError(f"{name} must be a whole number of at least {least}, not {value!r}")
