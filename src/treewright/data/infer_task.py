"""Infer the task of a numeric target: classification or regression.

The rule uses the set of values and the number of rows only, so row order, partitions and dtype do not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treewright.data.frame import RawColumn
from treewright.data.schema import Task

#: At most so many different whole numbers are classes: the ten digits still are.
MOST_CLASSES = 10

#: Classes have so many rows each, on average. Two values need not: they are yes and no in the smallest table too.
ROWS_PER_CLASS = 5

#: Whole numbers that are learned as numbers are mentioned up to so many of them, if they have two rows each on average.
MOST_DOUBTED = 20

_BLOCK = 1 << 16


@dataclass(frozen=True)
class Inferred:
    """A task, and whether a user may have meant the other one."""

    task: Task
    doubtful: bool


def infer_task(target: RawColumn, n_rows: int) -> Inferred:
    """Return the task of a target of numbers: few different whole numbers are classes, all others are numbers."""
    count = None if target.crowded else _whole_values(target)
    if count is None:
        return Inferred("regression", doubtful=False)
    if are_few(count, n_rows):
        return Inferred("classification", doubtful=True)
    return Inferred("regression", doubtful=2 * count <= n_rows)


def are_few(n_values: int, n_rows: int) -> bool:
    """Return whether so many different whole numbers in so many rows are names rather than amounts.

    >>> are_few(2, 4), are_few(10, 50), are_few(10, 49), are_few(11, 1000)
    (True, True, False, False)
    """
    return n_values <= 2 or (n_values <= MOST_CLASSES and n_values * ROWS_PER_CLASS <= n_rows)


def _whole_values(target: RawColumn) -> int | None:
    """Return how many different values there are; None if one has a fraction, or if they are more than would matter."""
    found = np.empty(0)
    for start in range(0, target.n_rows, _BLOCK):  # prices and measurements differ in the first rows already
        found = np.union1d(found, target.values[start : start + _BLOCK])
        if len(found) > MOST_DOUBTED:
            return None
    if target.levels is None and not (np.isfinite(found) & (found == np.floor(found))).all():
        return None
    return len(found)
