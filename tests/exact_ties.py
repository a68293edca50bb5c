"""What a split is worth, in whole numbers and fractions, so that a tie can be proven.

A cut of levels in order of their means may lie between equal means: then rounding decides which of several cuts exist,
and `best_in_some_order` proves that the split is the best one for some order of such levels.

Nothing is rounded. A number counts as the decimal it is written as, for that is what a table means.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import chain, groupby, permutations, product

from oracle_table import NUMBER, Value, plain_column
from oracle_tables import Table


def improvement(table: Table, child_of: Mapping[int, int]) -> Fraction:
    """What the split takes off the node's impurity (gini, or squares), times the rows it sends."""
    groups: dict[int, list[int]] = {}
    for row, child in child_of.items():
        groups.setdefault(child, []).append(row)
    return impurity(table, child_of) - sum(impurity(table, rows) for rows in groups.values())


def impurity(table: Table, rows: Iterable[int]) -> Fraction:
    """Rows times gini, or the sum of squares around the mean."""
    targets = [target_of(table, row) for row in rows]
    n = len(targets)
    if table.n_classes:
        return n - Fraction(sum(count * count for count in Counter(targets).values()), n)
    total = sum(targets, Fraction(0))
    return sum((y * y for y in targets), Fraction(0)) - total * total / n


def mean_answer(table: Table, rows: Collection[int]) -> Fraction:
    """Of two classes it is the share of the second."""
    return sum((target_of(table, row) for row in rows), Fraction(0)) / len(rows)


def target_of(table: Table, row: int) -> Fraction:
    return Fraction(repr(table.target[row].item()))


def agreement(chosen: Mapping[int, int], other: Mapping[int, int]) -> int:
    """Rows that both splits send, and to the same child."""
    return sum(other.get(row) == child for row, child in chosen.items())


# --- levels of equal means --------------------------------------------------------------------------------------------


def best_in_some_order(
    table: Table, column: int, child_of: Mapping[int, int], rows: Collection[int], least: int
) -> bool:
    """Whether no cut with at least `least` rows in each child takes off more than this one, for some order of the
    levels whose means are equal. `rows` are those at the node, of numbers or two classes.
    """
    assert table.n_classes <= 2
    worth, wanted, is_there = improvement(table, child_of), _division(child_of), False
    for place, kind in enumerate(table.kinds):
        cells = plain_column(table.columns[place], kind)
        known = {row: cells[row] for row in rows if cells[row] is not None}
        found = [list(_cuts(order, known, least)) for order in _orders(table, kind, known)]
        beaten_by_none = [cuts for cuts in found if all(improvement(table, cut) <= worth for cut in cuts)]
        if not beaten_by_none:
            return False
        if place == column:
            is_there = any(_division(cut) == wanted for cuts in beaten_by_none for cut in cuts)
    return is_there


def _orders(table: Table, kind: int, known: Mapping[int, Value]) -> Iterator[list[Value]]:
    """Orders of the values: of numbers one, of levels all that have ascending means."""
    values = sorted(set(known.values()), key=lambda value: value or 0)
    if kind == NUMBER:
        yield values
        return
    means = {value: mean_answer(table, [row for row in known if known[row] == value]) for value in values}
    groups = [list(group) for _, group in groupby(sorted(values, key=means.__getitem__), means.__getitem__)]
    for chosen in product(*map(permutations, groups)):
        yield list(chain.from_iterable(chosen))


def _cuts(order: list[Value], known: Mapping[int, Value], least: int) -> Iterator[dict[int, int]]:
    rank = {value: place for place, value in enumerate(order)}
    for cut in range(1, len(order)):
        child_of = {row: int(rank[value] >= cut) for row, value in known.items()}
        if least <= sum(child_of.values()) <= len(child_of) - least:
            yield child_of


def _division(child_of: Mapping[int, int]) -> set[frozenset[int]]:
    return {frozenset(row for row in child_of if child_of[row] == child) for child in (0, 1)}
