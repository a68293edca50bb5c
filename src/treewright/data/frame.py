"""The `Frame`: a table as it was read, as frozen columns.

A numeric column is float64 or float32 with NaN for missing; a column of levels is int32 codes into `levels` with -1 for
missing. The arrays may be views of the user's table and not contiguous, so they are never written to.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treewright.data.arrays import Array, BoolArray
from treewright.data.number_text import MISSING, exact_number
from treewright.data.schema import NO_TEXT_FORM, TIME_KINDS, Kind, Level, TextForm
from treewright.data.value_text import moment, name_hint
from treewright.errors import DataError


@dataclass(frozen=True, eq=False)
class RawColumn:
    """One column as it came.

    `kind` is what its type suggests. `levels` is None for numbers and times (times are microseconds; moments count from
    1970 in UTC). `declared`: the levels and their order come from the table itself; otherwise they are the values that
    were found, sorted. `whole`: the numbers came as integers. One special case: integers that no float64 can hold
    exactly keep the kind numeric but arrive as levels, so that nothing is lost before it is known whether they are
    wanted as levels.

    `stand_in`: only representative values of a longer column that lies elsewhere (out_of_core.column_summary), so
    that row numbers mean nothing; `crowded`: it has more different values than a column of levels may have.
    """

    name: str
    kind: Kind
    values: Array
    levels: tuple[Level, ...] | None = None
    declared: bool = False
    whole: bool = False
    stand_in: bool = False
    crowded: bool = False
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # what was worked out from the values

    @property
    def n_rows(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> BoolArray:
        """True where there is no value."""
        mask: BoolArray = np.isnan(self.values) if self.levels is None else self.values < 0
        return mask

    @property
    def all_missing(self) -> bool:
        """Whether there is no value at all."""
        if self.levels is None:
            return not len(self.values) or bool(self.values[0] != self.values[0] and np.isnan(self.values).all())
        return not self.levels or not bool((self.values >= 0).any())

    def text(self, row: int) -> str:
        """Return the value in a row, as it would be typed: for messages."""
        value = self.values[row]
        if self.levels is not None:
            return repr(self.levels[value]) if value >= 0 else MISSING
        return moment(self.kind, value) if self.kind in TIME_KINDS else exact_number(value)

    def place(self, row: int) -> str:
        """Return where a value stands, for messages: " in row 7"."""
        return "" if self.stand_in else f" in row {row}"

    def example(self) -> str:
        """Return the first value that is there."""
        return self.text(int(np.argmin(self.missing)))


@dataclass(frozen=True, eq=False)
class Frame:
    """Columns in order.

    `named` is False when the names x0, x1, ... were only made up for an array. `skipped` names columns that were there
    but not read, because they are not needed. `text_form` is how the text file it came from was read.
    """

    columns: tuple[RawColumn, ...]
    n_rows: int
    named: bool = True
    skipped: tuple[str, ...] = ()
    text_form: TextForm = NO_TEXT_FORM

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)


def pop_column(frame: Frame, name: str, role: str = "target") -> tuple[RawColumn, Frame]:
    """Return the column called `name`, and the frame without it; `role` names its use in messages."""
    found = [column for column in frame.columns if column.name == name]
    if not found:
        there = (*frame.names, *frame.skipped)
        raise DataError(f"the {role} {name!r} is not a column of the table; {name_hint(name, there, 'the table')}")
    return found[0], replace(frame, columns=tuple(column for column in frame.columns if column.name != name))
