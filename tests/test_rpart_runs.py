"""Our RPART trees against fresh runs of rpart: node for node the same, or an exact tie.

Trees are followed from the root while they hold the same rows, both those they were grown on and, for these differ in
rpart, those that are predicted. Where they part, both splits must be worth the same in fractions (`exact_ties`), or
each must be the best split for some order of the levels whose means are equal, for this order decides which cuts
minbucket allows; surrogates must agree with the split as often; and a node that only one tree divides must have such a
tie below it in the trees that no cp cut back.
"""

from __future__ import annotations

import math
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exact_ties import agreement, best_in_some_order, improvement, target_of
from oracle_missing import STOP
from oracle_table import NOMINAL, NUMBER, Split
from oracle_tables import Table
from oracle_walk import decode, destination
from rpart_runs import DATA, TABLES, RpartNode, read_table, run_rpart, sides, with_holes

from treewright import recipes as r

NEVER = -1.0  # the cp that cuts nothing back
CPS = (0.0, 0.01)
MINBUCKET = 7  # rpart's default, a third of minsplit


@cache
def has_rpart() -> bool:
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(rpart)"], capture_output=True, check=False).returncode == 0


@dataclass(frozen=True)
class Difference:
    """Where the trees part: rpart's number of the node, and what is proven about it."""

    number: int
    what: str
    tie: bool


@pytest.mark.slow
@pytest.mark.parametrize("holes", [False, True], ids=["whole", "holes"])
@pytest.mark.parametrize("name", TABLES)
def test_trees_are_those_of_rpart_but_for_exact_ties(name: str, holes: bool, tmp_path: Path) -> None:
    if not (DATA / f"{name}.parquet").exists():
        pytest.skip("needs shared/data beside the repository")
    if not has_rpart():
        pytest.skip("needs R with rpart")
    table = with_holes(read_table(name)) if holes else read_table(name)
    theirs = run_rpart(table, (NEVER, *CPS), tmp_path)
    grown = list(differences(table, decode(table.grow(recipe_of(NEVER))), theirs[NEVER]))
    ties = [each.number for each in grown if each.tie]
    wrong = [(NEVER, each) for each in grown if not each.tie]
    for cp in CPS:
        for each in differences(table, decode(table.grow(recipe_of(cp))), theirs[cp]):
            follows = each.what == "leaf" and any(is_below(tie, each.number) for tie in ties)
            if not each.tie and not follows:
                wrong.append((cp, each))
    assert wrong == []


def test_an_order_of_equal_means_is_a_proof_only_for_the_best_cut() -> None:
    """Levels 0 and 1 have the same mean."""
    column = np.array([0, 0, 0, 1, 2, 2], dtype=np.int32)
    table = Table([column], [NOMINAL], [3], np.array([1.0, 1, 1, 1, 5, 5]), 0)

    def is_proven(low: set[int], least: int) -> bool:
        return best_in_some_order(table, 0, {row: int(column[row] not in low) for row in range(6)}, range(6), least)

    assert is_proven({0, 1}, 1)
    assert not is_proven({0}, 1)  # a cut, but a worse one
    assert is_proven({0}, 3)  # the only one with three rows on each side, and only if level 0 comes first
    assert not is_proven({0, 1}, 3)  # too few rows on one side


def recipe_of(cp: float) -> r.Recipe:
    return replace(r.RPART, simplify=None if cp == NEVER else r.Complexity(cp))


def is_below(number: int, top: int) -> bool:
    while number > top:
        number //= 2
    return number == top


# --- walking down both trees ------------------------------------------------------------------------------------------


def differences(table: Table, ours: dict[str, Any], theirs: RpartNode) -> Iterator[Difference]:
    """Every place where the trees part; `theirs` and `ours` hold the same rows."""
    rows, number = theirs.rows, theirs.number
    if ours["rows"] != len(rows) or theirs.n != len(rows):
        yield Difference(number, f"{ours['rows']} rows, not {theirs.n}", False)
        return
    if not same_prediction(table, ours, rows):
        yield Difference(number, f"answers {ours['value']}", False)
    if (ours["split"] is None) != (theirs.split is None):
        yield Difference(number, "leaf", False)
        return
    if theirs.split is None:
        return
    mine, other = sides(table, ours["split"], rows), sides(table, theirs.split, rows)
    matched = match(mine, other)
    if ours["split"].column != theirs.split.column or matched is None:
        tie = improvement(table, mine) == improvement(table, other)
        by_order = (
            not tie
            and table.n_classes <= 2
            and all(
                best_in_some_order(table, split.column, sent, rows, MINBUCKET)
                for split, sent in ((ours["split"], mine), (theirs.split, other))
            )
        )
        yield Difference(number, f"{ours['split']}, not {theirs.split}", tie or by_order)
        return
    if not same_cut(table, ours["split"], theirs.split):
        yield Difference(number, f"cut at {ours['split'].breaks}, not {theirs.split.breaks}", False)
    grown = ours | {"missing": larger_side(mine)}
    went = {row: destination(grown, row_of(table, row), table.kinds) for row in rows}
    sent = {row: destination(ours, row_of(table, row), table.kinds) for row in theirs.predicted}
    for place, child in enumerate(theirs.children):
        held = frozenset(row for row in went if went[row] == matched[place])
        predicted = frozenset(row for row in sent if sent[row] == matched[place])
        if held != child.rows or predicted != child.predicted:
            yield surrogate_difference(table, ours, theirs, mine, matched)
            return
    for place, child in enumerate(theirs.children):
        yield from differences(table, ours["children"][matched[place]], child)


def larger_side(sent: Mapping[int, int]) -> int:
    """Where growing sends rows that no surrogate helps: the child of more known rows, of equals none."""
    right = sum(sent.values())
    return STOP if 2 * right == len(sent) else int(2 * right > len(sent))


def row_of(table: Table, row: int) -> list[Any]:
    cells = [column[row].item() for column in table.columns]
    return [
        None if (math.isnan(cell) if kind == NUMBER else cell == -1) else cell
        for cell, kind in zip(cells, table.kinds, strict=True)
    ]


def match(ours: Mapping[int, int], theirs: Mapping[int, int]) -> tuple[int, int] | None:
    """Our child for rpart's left and right, if both divide the same rows in the same way."""
    for left, right in ((0, 1), (1, 0)):
        if ours == {row: (left, right)[child] for row, child in theirs.items()}:
            return left, right
    return None


def same_cut(table: Table, ours: Split, theirs: Split) -> bool:
    if table.kinds[ours.column] != NUMBER:
        return True  # the levels of the rows are compared, and no others were there to divide
    return bool(np.isclose(ours.breaks[0], theirs.breaks[0], rtol=1e-12, atol=0))


def same_prediction(table: Table, ours: dict[str, Any], rows: frozenset[int]) -> bool:
    """Shares of classes, or the mean, from the rows that rpart has here."""
    targets = [target_of(table, row) for row in rows]
    if not table.n_classes:
        return math.isclose(ours["value"][0], sum(targets) / len(targets), rel_tol=1e-12, abs_tol=1e-12)
    counts = [targets.count(code) for code in range(table.n_classes)]
    return ours["stats"] == counts and np.allclose(ours["value"], np.array(counts) / len(targets), rtol=1e-14)


def surrogate_difference(
    table: Table, ours: dict[str, Any], theirs: RpartNode, mine: Mapping[int, int], matched: tuple[int, int]
) -> Difference:
    """The first surrogates that differ must agree with the split as often."""
    chosen = {row: matched.index(child) for row, child in mine.items()}
    pairs = zip(ours["surrogates"], theirs.surrogates, strict=False)
    for place, (one, other) in enumerate(pairs):
        mine = {row: matched.index(child) for row, child in sides(table, one.split, theirs.rows).items()}
        yours = sides(table, other, theirs.rows)
        if mine != yours:
            tie = agreement(chosen, mine) == agreement(chosen, yours)
            return Difference(theirs.number, f"surrogate {place}: {one.split}, not {other}", tie)
    return Difference(theirs.number, f"{len(ours['surrogates'])} surrogates, not {len(theirs.surrogates)}", False)
