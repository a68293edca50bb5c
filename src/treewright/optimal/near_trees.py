"""Count the trees whose loss comes near the best: every tree over a few cuts of each column, by recursion.

A tree is a choice of column and cut at every node. Cuts are those between quantile bins of a column, so that cuts that
lie close together count once. A split that does not lower the loss of its node is not a choice of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from treewright.data.arrays import BoolArray, FloatArray, IndexArray, Int64Array
from treewright.optimal.objective import RowLoss
from treewright.optimal.ordered_columns import OrderedColumn
from treewright.optimal.settings import SearchSettings

MOST_COLUMNS = 63  # bits of a mask
_SPLITS = 1 << 63  # the bit of every tree that is not a single leaf
_MOST_LISTED = 5_000_000  # trees of one subset of rows that are kept at a time


class TooManyError(Exception):
    """More trees than are counted."""


@dataclass(frozen=True, eq=False)
class Bins:
    """An ordering with its rows in bins; a cut separates the bins up to it from those above."""

    ordering: OrderedColumn
    bin: Int64Array
    n_bins: int
    known: BoolArray | None


@dataclass
class NearTrees:
    """The number of trees within the limit, by the column of the root and by the columns they use."""

    total: int = 0
    by_root: dict[int, int] = field(default_factory=dict)
    using: dict[int, int] = field(default_factory=dict)
    complete: bool = True


def binned(columns: Sequence[OrderedColumn], bins: int, kept: Collection[tuple[int, int]]) -> list[Bins]:
    """Return the orderings in at most `bins` bins of about equal rows; `kept` are (ordering, cut) that stay cuts."""
    found = []
    for place, each in enumerate(columns):
        rows = np.cumsum(np.bincount(each.codes, minlength=each.n_codes))
        cuts = np.searchsorted(rows, rows[-1] * np.arange(1, bins) / bins)
        if each.n_codes <= bins:
            cuts = np.arange(each.n_codes)
        own = [cut for ordering, cut in kept if ordering == place]
        cuts = np.unique(np.concatenate([cuts, own]).astype(np.int64))
        cuts = cuts[cuts < each.n_codes - 1]
        known = None if each.missing_code is None else each.codes != each.missing_code
        found.append(Bins(each, np.searchsorted(cuts, each.codes), len(cuts) + 1, known))
    return found


@dataclass(frozen=True, eq=False)
class NearTreeCounter:
    """Counts the trees of at most a depth and a loss. All losses are sums, with the penalty of the leaves."""

    bins: Sequence[Bins]
    loss: RowLoss
    settings: SearchSettings
    until: float | None = None  # a perf_counter time

    def count(self, limit: float) -> NearTrees:
        """Return the number of trees; not complete where time or room ran out."""
        found = NearTrees()
        rows = np.arange(len(self.bins[0].bin))
        leaf = self._leaf(rows)
        depth = self.settings.max_depth
        try:
            if leaf <= limit:
                found.total += 1
            for ordering, cut in self._cuts(rows) if depth else []:
                self._check_time()
                low = self.bins[ordering].bin[rows] <= cut
                self._add(found, ordering, rows[low], rows[~low], leaf, limit)
        except TooManyError:
            found.complete = False
        return found

    def _add(
        self, found: NearTrees, ordering: int, low: IndexArray, high: IndexArray, leaf: float, limit: float
    ) -> None:
        below, above = self._sides(low, high, self.settings.max_depth - 1, limit)
        column = self.bins[ordering].ordering.column
        alone = int(self._leaf(low) + self._leaf(high) >= leaf and self._leaf(low) + self._leaf(high) <= limit)
        total = _pairs(below[0], above[0], limit) - alone
        found.total += total
        found.by_root[column] = found.by_root.get(column, 0) + total
        used = int(np.bitwise_or.reduce(np.concatenate([below[1], above[1]]), initial=np.uint64(0)))
        for other in range(MOST_COLUMNS):
            if other == column:
                found.using[other] = found.using.get(other, 0) + total
            elif used >> other & 1:
                bit = np.uint64(1 << other)
                neither = _pairs(below[0][below[1] & bit == 0], above[0][above[1] & bit == 0], limit) - alone
                found.using[other] = found.using.get(other, 0) + total - neither

    def _sides(self, low: IndexArray, high: IndexArray, depth: int, limit: float) -> tuple[_Listed, _Listed]:
        below = self._listed(low, depth, limit - self._penalty)
        above = self._listed(high, depth, limit - (below[0].min() if len(below[0]) else 0.0))
        return below, above

    def _listed(self, rows: IndexArray, depth: int, limit: float) -> _Listed:
        """Return the losses of all trees of these rows up to the limit, and the columns they use as bits."""
        leaf = self._leaf(rows)
        losses, masks = [np.array([leaf])], [np.zeros(1, np.uint64)]
        if depth == 1:
            for place, each in enumerate(self.bins):
                found = self._split_losses(place, rows, leaf)
                losses.append(found)
                masks.append(np.full(len(found), self._bit(each), np.uint64))
        elif depth > 1:
            for place, cut in self._cuts(rows):
                self._check_time()
                low = self.bins[place].bin[rows] <= cut
                below, above = self._sides(rows[low], rows[~low], depth - 1, limit)
                sums = (below[0][:, None] + above[0][None, :]).ravel()
                used = (below[1][:, None] | above[1][None, :]).ravel()
                kept = (sums <= limit) & ((used != 0) | (sums < leaf))  # two leaves must gain something
                losses.append(sums[kept])
                masks.append(used[kept] | np.uint64(self._bit(self.bins[place])))
                if sum(map(len, losses)) > _MOST_LISTED:
                    raise TooManyError
        every, columns = np.concatenate(losses), np.concatenate(masks)
        return every[every <= limit], columns[every <= limit]

    def _split_losses(self, place: int, rows: IndexArray, leaf: float) -> FloatArray:
        """Return the losses of the useful splits of one ordering into two leaves."""
        each = self.bins[place]
        allowed = self._allowed(each, rows)
        if not allowed.any():
            return np.empty(0)
        sums = self.loss.sums(each.bin[rows], each.n_bins, rows).cumsum(axis=1)
        low, high = sums[:, :-1], sums[:, -1:] - sums[:, :-1]
        losses = self.loss.of_sums(low) + self.loss.of_sums(high) + 2 * self._penalty
        return np.asarray(losses[allowed & (losses < leaf)])

    def _cuts(self, rows: IndexArray) -> list[tuple[int, int]]:
        return [(i, int(cut)) for i, each in enumerate(self.bins) for cut in np.flatnonzero(self._allowed(each, rows))]

    def _allowed(self, each: Bins, rows: IndexArray) -> BoolArray:
        """Return which cuts divide these rows as the settings allow, each division once."""
        here = np.bincount(each.bin[rows], minlength=each.n_bins)
        low = here.cumsum()[:-1]
        least = self.settings.min_samples_leaf
        allowed = (here[:-1] > 0) & (low >= least) & (len(rows) - low >= least)
        if each.known is None:
            return np.asarray(allowed)
        weight = np.ones(len(rows)) if self.loss.weight is None else self.loss.weight[rows]
        known = np.bincount(each.bin[rows], weights=weight * each.known[rows], minlength=each.n_bins).cumsum()
        first = each.ordering.missing_code == 0
        if not first and each.known[rows].all():
            return np.zeros(len(allowed), dtype=bool)  # the same cuts as with missing values first
        if self.settings.to_majority:
            return np.asarray(allowed & ((2 * known[:-1] >= known[-1]) == first))
        return np.asarray(allowed if first else allowed & (known[:-1] < known[-1]))

    def _bit(self, each: Bins) -> int:
        return _SPLITS | (1 << each.ordering.column if each.ordering.column < MOST_COLUMNS else 0)

    @property
    def _penalty(self) -> float:
        return self.settings.leaf_penalty * self.loss.unit

    def _leaf(self, rows: IndexArray) -> float:
        return float(self.loss.of_sums(self.loss.sums(np.zeros(len(rows), np.int64), 1, rows))[0]) + self._penalty

    def _check_time(self) -> None:
        if self.until is not None and perf_counter() > self.until:
            raise TooManyError


_Listed = tuple[FloatArray, NDArray[np.uint64]]


def _pairs(low: FloatArray, high: FloatArray, limit: float) -> int:
    """Return how many pairs add up to no more than the limit."""
    return int(np.searchsorted(np.sort(high), limit - low, side="right").sum())
