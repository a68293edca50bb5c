"""Small tables for hypothesis: few distinct values, so that ties, repeats and missing values are the rule.

Weights and numeric targets are dyadic numbers, so that sums are exact in float64.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from oracle_table import NOMINAL, NUMBER, ORDINAL, Problem, Value, plain_column, problem

from treewright import _core
from treewright.recipes.recipe import Custom, Recipe

NUMBERS = (
    (0.0, 1.0, 2.0, 3.0),
    (-1.5, -0.25, 0.0, 0.5, 7.0),
    (1.0, math.nextafter(1.0, 2.0), 1.00000001, 1e9),
    (-1e300, -5e-324, 0.0, 1e-5, 2e-5),
)
COUNTS = (0.0, 0.0, 1.0, 1.0, 2.0, 3.5)
GRID = (-2.0, -0.5, 0.0, 0.25, 1.0, 1.0, 3.75)
WEIGHTS = ((1.0, 2.0, 3.0), (0.5, 1.0, 1.5), (0.25, 1.0, 1.75))


@dataclass(frozen=True)
class Table:
    """What the core is given."""

    columns: list[np.ndarray]
    kinds: list[int]
    levels: list[int]
    target: np.ndarray
    n_classes: int
    weight: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return len(self.target)

    @property
    def rows(self) -> list[tuple[Value, ...]]:
        return list(zip(*(plain_column(c, k) for c, k in zip(self.columns, self.kinds, strict=True)), strict=True))

    def grow(self, recipe: Recipe, n_threads: int = 1) -> dict[str, np.ndarray]:
        criterion = recipe.criterion if self.n_classes else recipe.regression
        custom = criterion.function if isinstance(criterion, Custom) else None
        has_missing, _ = _core.check_values(self.columns, self.kinds, self.n_rows, n_threads, self.weight)
        return _core.grow(
            self.columns, self.kinds, self.levels, self.target, self.n_classes, self.weight, recipe.as_dict(),
            n_threads, custom, has_missing=has_missing,
        )  # fmt: skip

    def problem(self, recipe: Recipe) -> Problem:
        return problem(self.columns, self.kinds, self.levels, self.target, self.n_classes, self.weight, recipe)

    def take(self, rows: Sequence[int]) -> Table:
        """The rows in another order, some of them, or some twice."""
        order = np.array(rows, dtype=np.intp)
        weight = None if self.weight is None else np.ascontiguousarray(self.weight[order])
        columns = [np.ascontiguousarray(c[order]) for c in self.columns]
        return Table(columns, self.kinds, self.levels, np.ascontiguousarray(self.target[order]), self.n_classes, weight)

    def pick(self, columns: Sequence[int]) -> Table:
        """The columns in another order, some of them, or some twice."""
        part = [[everything[j] for j in columns] for everything in (self.columns, self.kinds, self.levels)]
        return Table(*part, self.target, self.n_classes, self.weight)


def column(kind: int, levels: int, pool: Sequence[float], missing: bool, n: int) -> st.SearchStrategy[np.ndarray]:
    values: list[float] = list(pool) if kind == NUMBER else list(range(levels))
    if missing:
        values += [math.nan if kind == NUMBER else -1] * max(1, len(values) // 3)
    dtype = np.float64 if kind == NUMBER else np.int32
    return st.lists(st.sampled_from(values), min_size=n, max_size=n).map(lambda v: np.array(v, dtype=dtype))


@st.composite
def tables(
    draw: st.DrawFn, n_classes: int | None = None, missing: bool = True, numbers: bool = True, most_rows: int = 24,
    counts: bool = False, pools: Sequence[Sequence[float]] = NUMBERS, whole: bool = False,
) -> Table:  # fmt: skip
    """A table. `n_classes`: 0 is a numeric target, None 2 to 4; `counts`: no negative target; `whole`: weights >= 1."""
    n = draw(st.integers(1, most_rows))
    kinds = draw(st.lists(st.sampled_from((NUMBER, NOMINAL, ORDINAL)[not numbers :]), min_size=1, max_size=4))
    levels = [0 if kind == NUMBER else draw(st.integers(2, 5)) for kind in kinds]
    columns = []
    for kind, count in zip(kinds, levels, strict=True):
        columns.append(draw(column(kind, count, draw(st.sampled_from(pools)), missing and draw(st.booleans()), n)))
    classes = draw(st.integers(2, 4)) if n_classes is None else n_classes
    pool: Sequence[float] = range(classes) if classes else (COUNTS if counts else GRID)
    target = draw(st.lists(st.sampled_from(pool), min_size=n, max_size=n))
    choice = draw(st.sampled_from((None, *(WEIGHTS[:1] if whole else WEIGHTS))))
    weight = None if choice is None else np.array(draw(st.lists(st.sampled_from(choice), min_size=n, max_size=n)))
    return Table(columns, kinds, levels, np.array(target, dtype=np.int32 if classes else float), classes, weight)


def strange_rows(table: Table) -> Table:
    """Rows for prediction only: everything missing, levels nobody declared, numbers beyond all others."""
    missing = [np.nan if kind == NUMBER else -1 for kind in table.kinds]
    unseen = [np.nan if kind == NUMBER else -2 for kind in table.kinds]
    low = [-np.inf if kind == NUMBER else 0 for kind in table.kinds]
    high = [np.inf if kind == NUMBER else count - 1 for kind, count in zip(table.kinds, table.levels, strict=True)]
    rows = [missing, unseen, low, high]
    for j in range(len(table.kinds)):
        rows += [[gap if i == j else x for i, x in enumerate(low)] for gap in {missing[j], unseen[j]}]
    columns = [
        np.array([row[j] for row in rows], dtype=float if kind == NUMBER else np.int32)
        for j, kind in enumerate(table.kinds)
    ]
    return Table(columns, table.kinds, table.levels, np.zeros(len(rows)), table.n_classes)
