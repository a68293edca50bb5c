"""Folds: which rows are learned from and which are tested.

A row's fold depends on its values (or its group, or its time) and the seed, never on the order of rows.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from treewright.data.arrays import BoolArray, IndexArray
from treewright.data.encoding import Encoded
from treewright.data.frame import RawColumn
from treewright.data.kinds import levels_of, numbers_of
from treewright.data.number_text import many
from treewright.errors import DataError
from treewright.pruning.cross_validation import deal

Mask = BoolArray


@dataclass(frozen=True, eq=False)
class Fold:
    """The rows a tree is learned from, and the rows it is tested on: those of the fold's number.

    `of_row` has the fold of every row and is shared by all folds. `in_order`: only rows of folds before are learned
    from.
    """

    of_row: IndexArray
    number: int
    in_order: bool = False

    @property
    def training(self) -> Mask:
        chosen: Mask = self.of_row < self.number if self.in_order else self.of_row != self.number
        return chosen

    @property
    def test(self) -> Mask:
        chosen: Mask = self.of_row == self.number
        return chosen


def set_aside(rows: Encoded, share: float, seed: int) -> Mask:
    """Return which rows are kept for testing: the share of each class."""
    order = _order(rows, 2, seed, stratified=True)
    chosen: Mask = np.floor((order + 1) * share) > np.floor(order * share)
    return chosen


def random_folds(rows: Encoded, n: int, seed: int, *, repeats: int = 1, stratified: bool = True) -> list[Fold]:
    """Return folds of equal size, no more than rows; if `stratified`, each has its share of every class."""
    n = min(n, rows.n_rows)
    orders = (_order(rows, n, seed + repeat, stratified) for repeat in range(repeats))
    return [Fold(of_row, fold) for of_row in (order % n for order in orders) for fold in range(n)]


def _order(rows: Encoded, n: int, seed: int, stratified: bool) -> IndexArray:
    """Return each row's place when all are put in an order by class and chance."""
    first = deal(replace(rows, weight=None), n, seed, stratified=stratified).first
    order = np.argsort(first, kind="stable")
    place: IndexArray = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return place


def grouped_folds(groups: RawColumn, n: int, seed: int, *, repeats: int = 1) -> list[Fold]:
    """Return folds that keep the rows of a group together: the largest group first, into the smallest fold."""
    codes, levels = levels_of(groups)
    if groups.missing.any():
        raise DataError(f"groups {groups.name!r} is missing in {int(groups.missing.sum())} rows; give each row a group")
    if len(levels) < n:
        raise DataError(
            f"groups {groups.name!r} has {many(len(levels), 'group')}, fewer than the {n} folds; use fewer folds"
        )
    if len(levels) == len(codes):
        raise DataError(f"every group of {groups.name!r} has one row, so it groups nothing; leave groups out")
    size = np.bincount(codes, minlength=len(levels))
    found = []
    for repeat in range(repeats):
        draw = [hashlib.blake2b(f"{seed + repeat} {level!r}".encode()).digest() for level in levels]
        held, fold_of = np.zeros(n), np.empty(len(levels), dtype=np.intp)
        for group in sorted(range(len(levels)), key=lambda i: (-size[i], draw[i])):
            fold_of[group] = held.argmin()
            held[fold_of[group]] += size[group]
        of_row = fold_of[codes]
        found += [Fold(of_row, fold) for fold in range(n)]
    return found


def ordered_folds(time: RawColumn, n: int) -> list[Fold]:
    """Return folds in time order: each tests the rows that follow those it learns from; equal times stay together."""
    if time.missing.any():
        raise DataError(f"time {time.name!r} is missing in {int(time.missing.sum())} rows; drop those rows first")
    values = numbers_of(time)
    place = np.searchsorted(np.sort(values), values, side="left")
    block = place * (n + 1) // len(values)
    folds = [Fold(block, i, in_order=True) for i in range(1, n + 1)]
    if not all(fold.training.any() and fold.test.any() for fold in folds):
        raise DataError(f"time {time.name!r} has too few distinct values for {n} folds; use fewer folds")
    return folds
