"""Conditions: which values of one column lead to a child of a split, as plain values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

import numpy as np

from treewright.data.arrays import Array, BoolArray
from treewright.data.schema import ColumnSpec

Style = Literal["listed", "formal", "plain"]


@dataclass(frozen=True, order=True)
class Interval:
    """The numbers from `low` to `high`; `with_low` and `with_high` include the bounds."""

    low: float = -inf
    high: float = inf
    with_low: bool = False
    with_high: bool = False

    def __contains__(self, x: float) -> bool:
        above = x >= self.low if self.with_low else x > self.low
        return above and (x <= self.high if self.with_high else x < self.high)

    @property
    def is_empty(self) -> bool:
        """Whether no number lies between the bounds."""
        return self.low > self.high or (self.low == self.high and not (self.with_low and self.with_high))

    def within(self, other: Interval) -> Interval:
        """Return the numbers that both intervals hold."""
        low, without_low = max((self.low, not self.with_low), (other.low, not other.with_low))
        high, with_high = min((self.high, self.with_high), (other.high, other.with_high))
        return Interval(low, high, not without_low, with_high)

    def holds(self, values: Array) -> BoolArray:
        """Return which of an array of numbers lie in the interval; NaN does not."""
        above = values >= self.low if self.with_low else values > self.low
        below = values <= self.high if self.with_high else values < self.high
        inside: BoolArray = above & below & ~np.isnan(values)
        return inside


@dataclass(frozen=True)
class Condition:
    """A condition on one column: `intervals` for numbers and times, `codes` of levels otherwise.

    Attributes
    ----------
    spec : ColumnSpec
        The column.
    column_index : int
        Its index in the schema.
    intervals : tuple of Interval
        The numbers that meet the condition; empty for a column of levels.
    codes : tuple of int
        The codes of the levels that meet it; empty for a numeric column.
    missing, unseen : bool
        Whether a missing value, or a level unknown to the tree, meets it too.
    mentions_missing : bool
        Whether the text mentions missing values: some were present where the condition was learned.
    exact : bool
        Whether bounds are written with all digits, because two bounds of the split would otherwise read the same.
    about : frozenset of float
        The bounds that are soft thresholds.
    """

    spec: ColumnSpec
    column_index: int
    intervals: tuple[Interval, ...] = ()
    codes: tuple[int, ...] = ()
    missing: bool = False
    unseen: bool = False
    mentions_missing: bool = False
    exact: bool = False
    about: frozenset[float] = frozenset()

    @property
    def column(self) -> str:
        """The name of the column."""
        return self.spec.name

    def words(self, style: Style = "formal", most: int | None = None, *, named: bool = True) -> str:
        """Return the condition as text.

        Parameters
        ----------
        style : {"listed", "formal", "plain"}, default="formal"
            "listed" names every level ("outlook in {sunny, rain}"); "formal" may name those left out, or the ends of
            an ordinal range ("size >= medium"); "plain" is a sentence ("the age is above 34 and at most 60").
        most : int, optional
            Longer lists of levels are cut after so many.
        named : bool, default=True
            False leaves out the column's name where it stands first: "<= 3", "{sunny, rain}".
        """
        from treewright.tree.condition_text import condition_text

        return condition_text(self, style, most, named)

    def holds(self, values: Array) -> BoolArray:
        """Return which values of the encoded column meet the condition."""
        if self.spec.has_levels:
            table = np.zeros(len(self.spec.levels or ()) + 2, dtype=np.bool_)
            table[list(self.codes)] = True
            table[-1], table[-2] = self.missing, self.unseen  # the codes of a missing value and of an unseen level
            met: BoolArray = table[values]
            return met
        met = np.isnan(values) if self.missing else np.zeros(len(values), dtype=np.bool_)
        for interval in self.intervals:
            met |= interval.holds(values)
        return met

    def joined(self, other: Condition) -> Condition:
        """Return the condition met by exactly the values that meet both."""
        both = (a.within(b) for a in self.intervals for b in other.intervals)
        allowed = set(other.codes)
        return replace(
            self,
            intervals=tuple(sorted(interval for interval in both if not interval.is_empty)),
            codes=tuple(code for code in self.codes if code in allowed),
            missing=self.missing and other.missing,
            unseen=self.unseen and other.unseen,
            mentions_missing=self.mentions_missing or other.mentions_missing,
            exact=self.exact or other.exact,
            about=self.about | other.about,
        )

    @property
    def bounds(self) -> int:
        """The number of bounds or sets in the condition, at least 1."""
        return max(1, sum((one.low > -inf) + (one.high < inf) for one in self.intervals))


def intervals_of(breaks: Sequence[float], bins: Iterable[int], closed: bool) -> tuple[Interval, ...]:
    """Return the intervals of some bins, ascending; neighbours become one."""
    edges = (-inf, *breaks, inf)
    found: list[Interval] = []
    last = -2
    for i in bins:
        low = found.pop().low if i == last + 1 else edges[i]
        found.append(Interval(low, edges[i + 1], not closed and low > -inf, closed and edges[i + 1] < inf))
        last = i
    return tuple(found)
