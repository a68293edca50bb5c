"""How many rivals a node remembers changes nothing else about a tree.

In memory and in parts, trees are compared as they are, their rivals left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle_recipes import cases
from oracle_tables import Table, tables
from oracle_walk import decode
from partition_cases import cut_up
from pruning_cases import encoded, schema_of
from test_partition_trees import NAMED, POSSIBLE, settings, settled

import treewright as tw
from treewright import recipes as r
from treewright.errors import TreewrightError
from treewright.growing.grow import grow
from treewright.growing.partitions import Limits
from treewright.tree.tree import Tree

MANY = 50


def widened(table: Table, order: list[int]) -> Table:
    return table.pick([place % len(table.columns) for place in order])


orders = st.lists(st.integers(0, 11), min_size=1, max_size=10)


def check_rivals(table: Table, recipe: r.Recipe) -> None:
    whole, schema = encoded(table), schema_of(table)
    grown = {
        rivals: [
            without_rivals(lambda one=one: grow(whole, schema, one, 1)),
            without_rivals(lambda one=one: grow(cut_up(whole, [0.4], Limits(apart=0)), schema, one, 1)),
        ]
        for rivals in (0, 1, MANY)
        for one in [replace(recipe, rivals=rivals)]
    }
    assert grown[0] == grown[MANY]
    assert grown[1] == grown[MANY]


def without_rivals(work: Any) -> Any:
    """The tree as nested dictionaries, or what is said against growing it."""
    try:
        tree: Tree = work()
    except TreewrightError as error:
        return str(error)
    return _without_rivals(decode(tree.arrays))


def _without_rivals(node: dict[str, Any]) -> dict[str, Any]:
    return node | {"rivals": None, "children": [_without_rivals(child) for child in node["children"]]}


@pytest.mark.parametrize(("criterion", "branching", "missing"), POSSIBLE)
def test_no_recipe_depends_on_them(criterion: Any, branching: Any, missing: Any) -> None:
    @settings(settled, max_examples=3)
    @given(cases(criterion, branching, missing), orders)
    def compare(case: tuple[Table, r.Recipe], order: list[int]) -> None:
        table, recipe = case
        check_rivals(widened(table, order), recipe)

    compare()


@pytest.mark.parametrize("recipe", NAMED, ids=lambda recipe: recipe.name)
def test_no_named_recipe_depends_on_them(recipe: r.Recipe) -> None:
    strict = isinstance(recipe.missing, r.RefuseMissing)

    @settings(settled, max_examples=20)
    @given(tables(missing=not strict, numbers=recipe is not r.ID3), orders)
    def compare(table: Table, order: list[int]) -> None:
        check_rivals(widened(table, order), recipe)

    compare()


def test_a_penalty_that_makes_another_column_best() -> None:
    """A has more gain than B, but eleven cuts to choose from: what is left of it is less."""
    a = [9.0, 2, 7, 4, 5, 11, 0, 3, 6, 10, 8, 1]
    b = [0.0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1, 1]
    table = {f"a{i}": a for i in range(6)} | {"b": b, "y": ["a"] * 6 + ["b"] * 6}
    recipe = replace(tw.C45, criterion="information_gain", pruning=None, simplify=None)
    grown = [tw.learn(table, "y", replace(recipe, rivals=rivals)) for rivals in (0, 1, 4, 5, MANY)]
    assert [tree.root.split.column if tree.root.split else None for tree in grown] == ["b"] * 5
    assert {tree.n_leaves for tree in grown} == {3}
