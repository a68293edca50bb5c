"""What may enter the linear model of each node: numbers as they are, levels as one indicator each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from treewright.data.arrays import Int32Array, starts_of
from treewright.recipes.leaves import Linear
from treewright.tree.tree import Tree


@dataclass(frozen=True)
class Regressor:
    """A number, or whether a level is one of `levels` (places in the schema)."""

    column: int
    levels: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Wanted:
    """The regressors of a tree and, per node, the places of those that may enter its model.

    `slots`: per node, those whose sums it needs: its own and those of the nodes above it, rising.
    """

    regressors: tuple[Regressor, ...]
    own: tuple[tuple[int, ...], ...]
    slots: tuple[tuple[int, ...], ...]


def wanted_regressors(tree: Tree, choice: Linear) -> Wanted:
    """Return what may enter the model of each node by the choice of the recipe."""
    if choice.columns == "subtree":
        allowed = _tested_below(tree, choice)
        found = sorted(set().union(*allowed), key=lambda one: (one.column, -len(one.levels or ()), one.levels or ()))
        own = tuple(tuple(i for i, one in enumerate(found) if one in some) for some in allowed)
        return Wanted(tuple(found), own, _with_those_above(tree, own))
    regressors = tuple(one for column in range(len(tree.schema.columns)) for one in _of_column(tree, column, choice))
    columns = _all(tree) if choice.columns == "all" else _tested_above(tree)
    of_columns = {some: tuple(i for i, one in enumerate(regressors) if one.column in some) for some in set(columns)}
    own = tuple(of_columns[some] for some in columns)
    return Wanted(regressors, own, _with_those_above(tree, own))


def flat(lists: tuple[tuple[int, ...], ...], *, end: int | None = None) -> tuple[Int32Array, Int32Array]:
    """Return lists of numbers as starts and numbers, as the core reads them; `end` comes after each list."""
    closing = () if end is None else (end,)
    numbers = chain.from_iterable(chain(one, closing) for one in lists)
    return starts_of([len(one) + len(closing) for one in lists]), np.fromiter(numbers, dtype=np.int32)


def _of_column(tree: Tree, place: int, choice: Linear) -> list[Regressor]:
    column = tree.schema.columns[place]
    if choice.only is not None and column.name not in choice.only:
        return []
    if not column.has_levels:
        return [Regressor(place)]
    n = len(column.levels or ())
    if n < 2 or n > choice.max_levels:
        return []
    # Of two levels, one suffices.
    return [Regressor(place, (level,)) for level in range(1 if n == 2 else 0, n)]


def _all(tree: Tree) -> list[frozenset[int]]:
    return [frozenset(range(len(tree.schema.columns)))] * tree.n_nodes


def _tested_above(tree: Tree) -> list[frozenset[int]]:
    found: list[frozenset[int]] = []
    for node, parent in enumerate(tree.arrays["parent"].tolist()):
        found.append(frozenset() if node == 0 else found[parent] | {_column(tree, parent)})
    return found


def _tested_below(tree: Tree, choice: Linear) -> list[set[Regressor]]:
    """Return per node what its subtree tests: numbers, and of two sets of levels the second."""
    found: list[set[Regressor]] = [set() for _ in range(tree.n_nodes)]
    for node in range(tree.n_nodes - 1, -1, -1):
        if not tree.arrays["stop"][node]:
            found[node] |= _tested_at(tree, node, choice)
        if node:
            found[int(tree.arrays["parent"][node])] |= found[node]
    return found


def _tested_at(tree: Tree, node: int, choice: Linear) -> set[Regressor]:
    split = tree[node].split
    assert split is not None
    if not split.spec.has_levels or split.n_children > 2:
        return set(_of_column(tree, split.column_index, choice))
    if choice.only is not None and split.column not in choice.only:
        return set()
    second = tuple(level for level, child in enumerate(split.child_of_bin) if child == 1)
    return {Regressor(split.column_index, second)}


def _column(tree: Tree, node: int) -> int:
    return int(tree.arrays["column"][tree.arrays["split_start"][node]])


def _with_those_above(tree: Tree, own: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    found: list[tuple[int, ...]] = []
    for node, parent in enumerate(tree.arrays["parent"].tolist()):
        above = () if node == 0 else found[parent]
        here = own[node]
        found.append(above if here is above or set(here) <= set(above) else tuple(sorted({*above, *here})))
    return tuple(found)
