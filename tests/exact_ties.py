"""What a split is worth, in whole numbers and fractions, so that a tie can be proven.

Nothing is rounded. A number counts as the decimal it is written as, for that is what a table means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction

from oracle_tables import Table


def improvement(table: Table, child_of: Mapping[int, int]) -> Fraction:
    """What the split takes off the node's impurity (gini, or squares), times the rows it sends."""
    groups: dict[int, list[int]] = {}
    for row, child in child_of.items():
        groups.setdefault(child, []).append(row)
    return impurity(table, child_of) - sum(impurity(table, rows) for rows in groups.values())


def impurity(table: Table, rows: Iterable[int]) -> Fraction:
    """Rows times gini, or the sum of squares around the mean."""
    answers = [answer(table, row) for row in rows]
    n = len(answers)
    if table.n_classes:
        return n - Fraction(sum(count * count for count in Counter(answers).values()), n)
    total = sum(answers, Fraction(0))
    return sum((y * y for y in answers), Fraction(0)) - total * total / n


def mean_answer(table: Table, rows: Collection[int]) -> Fraction:
    """Of two classes it is the share of the second."""
    return sum((answer(table, row) for row in rows), Fraction(0)) / len(rows)


def answer(table: Table, row: int) -> Fraction:
    return Fraction(repr(table.target[row].item()))


def agreement(chosen: Mapping[int, int], other: Mapping[int, int]) -> int:
    """Rows that both splits send, and to the same child."""
    return sum(other.get(row) == child for row, child in chosen.items())
