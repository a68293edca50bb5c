"""Survey the values of encoded rows: missing values and infinite numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np

from treewright import _core
from treewright.data.encoding import Encoded
from treewright.data.kinds import infinity
from treewright.data.schema import Schema
from treewright.errors import DataError

_MOST_THREADS = 2**31 - 1
_WHOLE = (int, np.integer)


def survey(encoded: Encoded, schema: Schema, n_threads: int) -> bool:
    """Return whether any row with weight has a missing value; raise for an infinite number."""
    look = survey_rows(encoded, n_threads)
    return look.missing if look.infinite is None else merge_surveys([look], schema)


@dataclass(frozen=True)
class Survey:
    """What was seen in some rows: whether one with weight lacks a value, and the first infinite number, if any.

    `infinite`: its column, its row and itself.
    """

    n_rows: int
    missing: bool
    infinite: tuple[int, int, float] | None


def check_threads(n_threads: object) -> None:
    """Raise `DataError` for a number of threads that the core cannot take."""
    if not isinstance(n_threads, _WHOLE) or abs(int(n_threads)) > _MOST_THREADS:
        raise DataError(f"n_threads must be a whole number of ordinary size, 0 for all processors, not {n_threads!r}")


def survey_rows(encoded: Encoded, n_threads: int) -> Survey:
    """Return a look at all values of some rows."""
    check_threads(n_threads)
    if encoded.complete:
        return Survey(encoded.n_rows, missing=False, infinite=None)
    missing, infinite = _core.check_values(
        encoded.columns, list(encoded.kinds), encoded.n_rows, n_threads, encoded.weight
    )
    if infinite is None:
        return Survey(encoded.n_rows, bool(missing), None)
    column, row = infinite
    values: Any = encoded.columns
    value = values[row, column] if isinstance(values, np.ndarray) else values[column][row]
    return Survey(encoded.n_rows, bool(missing), (column, row, float(value)))


def merge_surveys(looks: Sequence[Survey], schema: Schema) -> bool:
    """Return whether any row with weight lacks a value, by looks at rows that follow each other; see `survey`."""
    found = [
        (look.infinite[0], n_before + look.infinite[1], look.infinite[2])
        for look, n_before in zip(looks, accumulate((look.n_rows for look in looks), initial=0), strict=False)
        if look.infinite is not None
    ]
    if found:
        column, row, value = min(found)
        raise infinity(schema.columns[column].name, value, row)
    return any(look.missing for look in looks)
