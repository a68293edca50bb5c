"""Worked arithmetic ends in what the tree stores, for every criterion, branching and missing policy.

Comes in: random tables and recipes of `oracle_recipes`. Always holds: with the rows given, every inner node of a tree is
worked out completely; without them it is so wherever nothing is missing, and otherwise says that it is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from oracle_recipes import cases, possible_recipes
from oracle_table import NUMBER, ORDINAL
from oracle_tables import Table

import treewright as tw
from treewright.recipe import Recipe
from treewright.schema import ColumnSpec, Schema, TargetSpec
from treewright.tree import Tree

TRIPLES = [parameters.values for parameters in possible_recipes()]
SETTINGS = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def described(table: Table) -> Schema:
    columns = [
        ColumnSpec(f"x{i}", "numeric")
        if kind == NUMBER
        else ColumnSpec(f"x{i}", "ordinal" if kind == ORDINAL else "nominal", tuple(f"level {j}" for j in range(count)))
        for i, (kind, count) in enumerate(zip(table.kinds, table.levels, strict=True))
    ]
    classes = tuple(f"class {j}" for j in range(table.n_classes)) or None
    return Schema(tuple(columns), TargetSpec("y", "classification" if classes else "regression", classes))


def written(table: Table, schema: Schema) -> dict[str, list[Any]]:
    """The table as a user has it."""
    data: dict[str, list[Any]] = {}
    for spec, values in zip(schema.columns, table.columns, strict=True):
        levels = spec.levels
        if levels is None:
            data[spec.name] = [None if x != x else x for x in values.tolist()]
        else:
            data[spec.name] = [None if code < 0 else levels[code] for code in values.tolist()]
    classes = schema.target.classes
    data["y"] = [classes[code] for code in table.target.tolist()] if classes else table.target.tolist()
    return data


def grown(table: Table, recipe: Recipe) -> tuple[Tree, dict[str, Any]]:
    schema = described(table)
    return Tree.grown(table.grow(recipe), schema, recipe), written(table, schema)


@SETTINGS
@given(data=st.data())
def test_steps_end_in_what_the_tree_stores(data: st.DataObject) -> None:
    table, recipe = data.draw(st.sampled_from(TRIPLES).flatmap(lambda triple: cases(*triple)))
    tree, rows = grown(table, recipe)
    whole = not any((values < 0).any() if kind != NUMBER else np.isnan(values).any()
                    for values, kind in zip(table.columns, table.kinds, strict=True))  # fmt: skip
    for node in tree.walk():
        alone = tw.worked(tree, node.id)
        if node.split is None:
            assert alone.steps
            continue
        assert alone.complete or (not whole and alone.remarks and not alone.steps and alone.score is None)
        counted = tw.worked(tree, node.id, rows, weight=table.weight)
        assert counted.complete, counted.remarks
        for each in (alone, counted) if alone.complete else (counted,):
            assert each.score == pytest.approx(node.split.score, rel=1e-9, abs=1e-9)
            assert each.gain == pytest.approx(node.gain, rel=1e-9, abs=1e-9)
            assert each.steps[-1].result == pytest.approx(each.score, rel=1e-9, abs=1e-9)
        if counted.curve is not None and counted.curve.best is not None and node.split.threshold is not None:
            assert counted.curve.cuts[counted.curve.best] == pytest.approx(node.split.threshold)
        for form in (str(counted), counted.markdown(), counted.html()):
            assert form


@SETTINGS
@given(data=st.data())
def test_rankings_are_what_the_engine_chose(data: st.DataObject) -> None:
    table, recipe = data.draw(st.sampled_from(TRIPLES).flatmap(lambda triple: cases(*triple)))
    assume(table.n_classes or not isinstance(recipe.regression, tw.Poisson) or table.target.sum() > 0)
    tree, rows = grown(table, recipe)
    for node in tree.walk():
        ranking = tw.rank_splits(rows, tree=tree, node=node.id, weight=table.weight)
        assert sorted(ranking.columns) == sorted(tree.schema.names)
        assert all((candidate.split is None) == (candidate.score is None) for candidate in ranking)
        assert all(candidate.reason for candidate in ranking if candidate.split is None)
        known = ((node.split,) if node.split is not None else ()) + node.rivals
        for place, split in enumerate(known):
            same = ranking.of(split.column)
            assert same.score == pytest.approx(split.score, rel=1e-9, abs=1e-9)
            assert same.gain == pytest.approx(split.gain, rel=1e-9, abs=1e-9)
            if place == 0 and node.split is not None and ranking[0].column != split.column:
                assert ranking[0].score == pytest.approx(
                    split.score, rel=1e-9
                )  # a tie, or an average taken over fewer rows
        if node.split is not None:
            own = ranking.of(node.split.column).split
            assert own is not None
            assert own.child_of_bin == node.split.child_of_bin
            assert own.breaks == pytest.approx(node.split.breaks)
            assert own.share == pytest.approx(node.split.share)
        assert str(ranking)
