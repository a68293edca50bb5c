"""The oracle's values: a table of plain lists, a split, and the one rule that sends a value to a child.

None is the only missing value in here; an entry of a node is (row, weight).
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treewright import recipes as r

NUMBER, ORDINAL, NOMINAL = 0, 1, 2

Value = float | int | None
Node = list[tuple[int, float]]


@dataclass(frozen=True)
class Problem:
    """A table, a recipe and what follows from the whole table: bounds of binned columns, root weight, class shares."""

    columns: list[list[Value]]
    kinds: list[int]
    levels: list[int]
    target: list[float]
    n_classes: int
    weight: list[float]
    recipe: r.Recipe
    bounds: list[list[float] | None]

    @property
    def criterion(self) -> object:
        return self.recipe.criterion if self.n_classes else self.recipe.regression

    @property
    def root(self) -> Node:
        rows = range(len(self.target))
        if self.recipe.drop_blank_rows:
            rows = [i for i in rows if any(column[i] is not None for column in self.columns)]
        return [(i, self.weight[i]) for i in rows]

    def known(self, node: Node, column: int) -> Node:
        return [e for e in node if self.columns[column][e[0]] is not None]

    def absent(self, node: Node, column: int) -> Node:
        return [e for e in node if self.columns[column][e[0]] is None]

    def pairs(self, node: Node) -> list[tuple[float, float]]:
        return [(self.target[row], weight) for row, weight in node]


def weigh(node: Node) -> float:
    return math.fsum(weight for _, weight in node)


def problem(
    columns: Sequence[np.ndarray], kinds: Sequence[int], levels: Sequence[int], target: np.ndarray, n_classes: int,
    weight: np.ndarray | None, recipe: r.Recipe,
) -> Problem:  # fmt: skip
    """The oracle's form of what `_core.grow` is given."""
    plain = [plain_column(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    weights = [1.0] * len(target) if weight is None else [float(w) for w in weight]
    bounds: list[list[float] | None] = [None] * len(plain)
    if isinstance(recipe.numeric, r.Binned):
        used = [
            i for i in range(len(target))
            if not recipe.drop_blank_rows or any(column[i] is not None for column in plain)
        ]  # fmt: skip
        for j, kind in enumerate(kinds):
            if kind == NUMBER:
                bounds[j] = bin_bounds([(plain[j][i], weights[i]) for i in used], recipe.numeric.groups)
    return Problem(
        plain, list(kinds), list(levels), [float(y) for y in target], n_classes, weights, recipe, bounds,
    )  # fmt: skip


def plain_column(column: np.ndarray, kind: int) -> list[Value]:
    if kind == NUMBER:
        return [None if math.isnan(x) else float(x) for x in column]
    return [None if code == -1 else int(code) for code in column]


def bin_bounds(values: Sequence[tuple[Value, float]], groups: int) -> list[float]:
    """Inner bounds of the quantile groups: a bin is (previous bound, bound], a bound is a value of the table."""
    known = [(x, w) for x, w in values if x is not None]
    total = math.fsum(w for _, w in known)
    distinct = sorted({x for x, _ in known})
    place = {
        x: math.ceil(groups * math.fsum(w for v, w in known if v <= x) / total - 1e-8) for x in distinct
    }  # fmt: skip
    return [a for a, b in itertools.pairwise(distinct) if place[a] != place[b]]


# --- splits -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Split:
    """Bins to children. `missing` is the child the division itself gives to missing entries, None if it gives none."""

    column: int
    breaks: tuple[float, ...]
    child_of_bin: tuple[int, ...]
    closed: bool
    n_children: int
    missing: int | None = None


def route(split: Split, kind: int, value: float) -> int:
    """The child of a known value, or -1 where no child holds the level."""
    if kind == NUMBER:
        find = bisect.bisect_left if split.closed else bisect.bisect_right
        return split.child_of_bin[find(split.breaks, value)]
    return split.child_of_bin[int(value)] if value >= 0 else -1


def children_of(p: Problem, split: Split, node: Node) -> list[Node]:
    """The entries scored, child by child: known ones, and missing ones where the division places them."""
    children: list[Node] = [[] for _ in range(split.n_children)]
    for row, weight in node:
        value = p.columns[split.column][row]
        child = split.missing if value is None else route(split, p.kinds[split.column], value)
        if child is not None and child >= 0:
            children[child].append((row, weight))
    return children
