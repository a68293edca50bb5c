"""Drop columns that nothing can be learned from: row identifiers and columns without values.

The rule counts values and rows, so it does not depend on the order of rows or on partitions. A column whose kind the
user gives is never dropped. Row numbers are kept, since they may mean an order in time, but pointed out.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from treewright.data.arrays import Array
from treewright.data.frame import Frame, RawColumn
from treewright.data.kinds import MOST_LEVELS, KindChoice
from treewright.data.number_text import number_text
from treewright.data.value_text import listed
from treewright.errors import DataError

_PACKAGE = __name__.partition(".")[0]

#: Text with fewer rows for each of its values than this identifies a row and does not describe it.
ROWS_PER_LEVEL = 3

#: So few levels are no identifier, however few the rows.
FEW_LEVELS = 20

#: In a shorter table whole numbers without a gap may well be measurements.
FEWEST_NUMBERED = 200


def identifier(n_levels: int, n_known: int) -> str | None:
    """Return why text with so many levels in so many rows is an identifier; None if it is not.

    >>> identifier(800, 891), identifier(20, 21), identifier(300, 900)
    ('text, 800 different in 891 rows', None, None)
    """
    if n_levels > MOST_LEVELS:
        return f"text, more than {MOST_LEVELS:,} different"
    if n_levels > FEW_LEVELS and n_levels * ROWS_PER_LEVEL > n_known:
        return f"text, {n_levels:,} different in {n_known:,} rows"
    return None


def identifier_column(column: RawColumn) -> str | None:
    """Return why a column is an identifier; levels that the table declares are not."""
    if column.kind != "nominal" or column.levels is None or column.declared:
        return None
    return identifier(len(column.levels), int((~column.missing).sum()))


def useless_columns(frame: Frame, kinds: Mapping[str, KindChoice] | None = None) -> dict[str, str]:
    """Return the columns to leave out, each with the reason."""
    reasons = {}
    for column in frame.columns:
        why = "no values" if column.all_missing else identifier_column(column)
        if why is not None and column.name not in (kinds or {}):
            reasons[column.name] = why
    return reasons


def row_numbers(frame: Frame, kinds: Mapping[str, KindChoice] | None = None) -> dict[str, str]:
    """Return the columns that number the rows, each with its range: consecutive whole numbers, each once.

    The only column of a table is no numbering.

    >>> from treewright.data.reader import read
    >>> row_numbers(read({"id": range(1000, 1200), "x": [0.5] * 200}))
    {'id': '1000 to 1199, each once'}
    """
    numbered = {}
    for column in frame.columns:
        countable = column.kind == "numeric" and column.levels is None and column.n_rows >= FEWEST_NUMBERED
        if countable and len(frame.columns) > 1 and column.name not in (kinds or {}) and _is_numbering(column.values):
            low, high = (number_text(float(end)) for end in (column.values.min(), column.values.max()))
            numbered[column.name] = f"{low} to {high}, each once"
    return numbered


def _is_numbering(values: Array) -> bool:
    """Return whether the values are consecutive whole numbers, each once; cheap where they are not."""
    low, high = float(values.min()), float(values.max())  # NaN if a value is missing
    if high - low != len(values) - 1 or low != np.floor(low):
        return False
    return bool((values == np.floor(values)).all()) and len(np.unique(values)) == len(values)


def without_useless(frame: Frame, kinds: Mapping[str, KindChoice] | None = None) -> Frame:
    """Drop useless columns and warn about them. Arrays are matched by position and keep all columns."""
    if not frame.named:
        return frame
    reasons = useless_columns(frame, kinds)
    warn_dropped(reasons, len(frame.columns))
    for name, values in row_numbers(frame, kinds).items():
        warnings.warn(
            f"column {name!r} seems to number the rows ({values}); leave it out if that is all it does, or give "
            f"kinds={{{name!r}: 'numeric'}}",
            UserWarning,
            stacklevel=_level_of_caller(),
        )
    return replace(frame, columns=tuple(column for column in frame.columns if column.name not in reasons))


def warn_dropped(reasons: Mapping[str, str], n_columns: int) -> None:
    """Warn about every dropped column; raise if none remains."""
    if reasons and len(reasons) == n_columns:
        name, why = next(iter(reasons.items()))
        raise DataError(
            f"no column is left to learn from: {listed(tuple(reasons))} would be left out ({name!r}: {why}); give "
            f"columns that describe rows, or keep one with kinds={{{name!r}: 'nominal'}}"
        )
    for name, why in reasons.items():
        keep = "" if why == "no values" else f"; kinds={{{name!r}: 'nominal'}} keeps it"
        warnings.warn(f"column {name!r} is left out: {why}{keep}", UserWarning, stacklevel=_level_of_caller())


def _level_of_caller() -> int:
    """Return the stack level, as `warnings.warn` counts, of the first frame that is not the library's."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        frame, level = frame.f_back, level + 1
    return level
