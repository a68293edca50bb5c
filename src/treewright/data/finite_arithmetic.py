"""Arithmetic on the statistics of a tree: finite results, or one `DataError`; never a warning and a NaN."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from treewright.errors import DataError


@contextmanager
def finite_arithmetic() -> Iterator[None]:
    """Raise `DataError` where arithmetic in a block, or in a decorated function, overflows or divides by zero."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except (FloatingPointError, OverflowError, ZeroDivisionError) as error:
        raise DataError(
            f"the tree's weights or statistics are too large or too small to compute with ({error}); learn it again "
            "with weights and a target of ordinary size"
        ) from error
