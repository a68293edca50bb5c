"""The split of a node: a column, its bins, and the child of each bin."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from treewright.data.arrays import Array, IndexArray
from treewright.data.schema import ColumnSpec, Level, Schema
from treewright.tree.conditions import Condition, intervals_of
from treewright.tree.text import break_text
from treewright.tree.validation import FRACTIONAL, RANDOM, STOP_HERE

_MISSING: dict[int, Literal["spread", "stop", "random"]] = {FRACTIONAL: "spread", STOP_HERE: "stop", RANDOM: "random"}


@dataclass(frozen=True)
class Split:
    """A split: which column, and which value leads to which child.

    Attributes
    ----------
    spec : ColumnSpec
        The column; `column` is its name, `column_index` its index in the schema.
    column_index : int
        The index of the column in the schema.
    breaks : tuple of float
        Breakpoints of a numeric column, ascending; times are in microseconds. Empty for levels.
    child_of_bin : tuple of int
        The child of each interval or level; -1 for a level that no child holds.
    test : {"<=", "<"}
        Whether a value equal to a breakpoint lies below it ("<=") or above ("<").
    share : tuple of float
        The share of the known training weight in each child.
    missing : int or {"spread", "stop", "random"}
        The child of a missing value; or "spread": every child by share, "stop": this node predicts, "random": a child
        drawn by share.
    unseen : int or "missing"
        The child of a level that no child holds; or such a level counts as missing.
    score, gain : float
        The number by which columns were compared, and the decrease of impurity.
    statistic, degrees, log_p : float or None
        The test statistic, its degrees of freedom and the logarithm of its p-value; None without a test.
    log_multiplier : float
        The logarithm of the Bonferroni multiplier.
    agreement, adjusted : float or None
        For a surrogate: the share of rows sent as the split sends them, and the same adjusted for the largest child.
    band : tuple of float or None
        Of a soft threshold, the values between which a row follows both children; None for others.
    """

    spec: ColumnSpec
    column_index: int
    breaks: tuple[float, ...]
    child_of_bin: tuple[int, ...]
    test: Literal["<=", "<"]
    share: tuple[float, ...]
    missing: int | Literal["spread", "stop", "random"]
    unseen: int | Literal["missing"]
    score: float
    gain: float
    statistic: float | None = None
    degrees: float | None = None
    log_p: float | None = None
    log_multiplier: float = 0.0
    agreement: float | None = None
    adjusted: float | None = None
    band: tuple[float, float] | None = None

    @property
    def column(self) -> str:
        """The name of the column."""
        return self.spec.name

    @property
    def n_children(self) -> int:
        """The number of children."""
        return len(self.share)

    @property
    def threshold(self) -> float | None:
        """The breakpoint of a split into two intervals; for times, in microseconds."""
        return self.breaks[0] if len(self.breaks) == 1 else None

    @property
    def threshold_text(self) -> str | None:
        """The threshold as text: a number, or a date or time."""
        return break_text(self.spec, self.breaks[0], self.test == "<=") if len(self.breaks) == 1 else None

    @property
    def groups(self) -> tuple[tuple[Level, ...], ...] | None:
        """The levels of each child; None for a numeric column."""
        if not self.spec.has_levels:
            return None
        levels = self.spec.levels or ()
        return tuple(tuple(levels[i] for i in held) for held in self.bins)

    @property
    def p(self) -> float | None:
        """The p-value of the test; None without a test."""
        return None if self.log_p is None else math.exp(min(0.0, self.log_p))

    @property
    def p_adjusted(self) -> float | None:
        """The p-value times the Bonferroni multiplier, at most 1."""
        return None if self.log_p is None else math.exp(min(0.0, self.log_p + self.log_multiplier))

    @cached_property
    def bins(self) -> tuple[tuple[int, ...], ...]:
        """The bins of each child, ascending: indices of intervals or codes of levels."""
        bins: list[list[int]] = [[] for _ in range(self.n_children)]
        for i, child in enumerate(self.child_of_bin):
            if child >= 0:
                bins[child].append(i)
        return tuple(map(tuple, bins))

    @property
    def branches(self) -> tuple[Condition, ...]:
        """The condition of each child as a value: column, intervals or levels, missing and unseen values."""
        exact = len({break_text(self.spec, x, self.test == "<=") for x in self.breaks}) < len(self.breaks)
        return tuple(
            Condition(
                self.spec,
                self.column_index,
                () if self.spec.has_levels else intervals_of(self.breaks, held, self.test == "<="),
                held if self.spec.has_levels else (),
                missing=self.missing == child,
                unseen=self.unseen == child,
                mentions_missing=True,
                exact=exact,
                about=frozenset() if self.band is None else frozenset(self.breaks),
            )
            for child, held in enumerate(self.bins)
        )

    @property
    def conditions(self) -> tuple[str, ...]:
        """The condition of each child as text."""
        return self.words()

    def words(self, *, most: int | None = None, with_missing: bool = True, named: bool = True) -> tuple[str, ...]:
        """Return the condition of each child as text.

        Parameters
        ----------
        most : int, optional
            Longer lists of levels are cut after so many.
        with_missing : bool, default=True
            Whether "or missing" is added to the child of missing values.
        named : bool, default=True
            False leaves out the column's name where it stands first.
        """
        branches = (replace(branch, mentions_missing=with_missing) for branch in self.branches)
        return tuple(branch.words("listed", most, named=named) for branch in branches)

    def child_of(self, values: Array) -> IndexArray:
        """Return the child of each encoded value; -1 for missing values and levels that no child holds."""
        breaks = None if self.spec.has_levels else self.breaks
        return child_of_values(values, breaks, self.test == "<=", self.child_of_bin)


def child_of_values(
    values: Array, breaks: Sequence[float] | None, closed: bool, child_of_bin: Sequence[int]
) -> IndexArray:
    """Return the child of each encoded value, by the bins of a split; -1 for missing values and levels of no child.

    `breaks`: of numbers, None for levels. `closed`: a value equal to a break is below it.
    """
    children = np.array((*child_of_bin, -1), dtype=np.intp)
    if breaks is None:
        return children[np.where(values < 0, -1, values).astype(np.intp)]
    bins = np.searchsorted(np.asarray(breaks), values, side="left" if closed else "right")
    return children[np.where(np.isnan(values), -1, bins)]


def items_of(arrays: Mapping[str, Array], start: str, items: str, i: int) -> Array:
    """Return the items of entry i of a list of lists stored as two arrays."""
    return arrays[items][arrays[start][i] : arrays[start][i + 1]]


def split_at(arrays: Mapping[str, Array], schema: Schema, i: int, surrogate: bool = False) -> Split:
    """Return row i of the split table of a tree's arrays."""
    column, missing, unseen = (int(arrays[name][i]) for name in ("column", "missing", "unseen"))
    score, degrees = float(arrays["score"][i]), float(arrays["degrees"][i])
    tested = degrees > 0
    return Split(
        spec=schema.columns[column],
        column_index=column,
        breaks=tuple(items_of(arrays, "break_start", "breaks", i).tolist()),
        child_of_bin=tuple(items_of(arrays, "bin_start", "child_of_bin", i).tolist()),
        test="<=" if arrays["closed"][i] else "<",
        share=tuple(items_of(arrays, "share_start", "share", i).tolist()),
        missing=missing if missing >= 0 else _MISSING[missing],
        unseen=unseen if unseen >= 0 else "missing",
        score=score,
        gain=float(arrays["split_gain"][i]),
        statistic=float(arrays["statistic"][i]) if tested else None,
        degrees=degrees if tested else None,
        log_p=float(arrays["log_p"][i]) if tested else None,
        log_multiplier=float(arrays["log_multiplier"][i]),
        agreement=score if surrogate else None,
        adjusted=float(arrays["adjusted"][i]) if surrogate else None,
    )
