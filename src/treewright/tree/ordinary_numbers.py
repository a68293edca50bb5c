"""Numbers of ordinary size: what is computed of a tree's statistics is finite, or refused in plain words.

Comes in: a computation. Goes out: its result. A tree from a file may hold any finite number, such as a weight of 1e308.
Always holds: an overflow or a division by nothing ends in one `DataError`, never in a warning and an answer of NaN.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from treewright.errors import DataError


@contextmanager
def ordinary_numbers() -> Iterator[None]:
    """For a block, or as a decorator for a function."""
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):
            yield
    except (FloatingPointError, OverflowError, ZeroDivisionError) as error:
        raise DataError(
            f"the tree's weights or statistics are too large or too small to compute with ({error}); learn it again "
            "with weights and a target of ordinary size"
        ) from error
