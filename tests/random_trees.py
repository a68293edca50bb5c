"""Random trees with the tables they came from, for tests of what explains a tree.

The tree is the core's own, and the table has the target in column "y".
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from oracle_recipes import cases, possible_recipes
from oracle_table import NUMBER, ORDINAL
from oracle_tables import Table

from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.recipes.criterion import Poisson, StandardDeviation
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree

TRIPLES = [parameters.values for parameters in possible_recipes()]


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


@st.composite
def grown_trees(draw: st.DrawFn) -> tuple[Tree, dict[str, list[Any]], Table, Recipe]:
    """A tree by any criterion, branching and missing policy; its table for a user and as it was drawn; its recipe."""
    table, recipe = draw(
        st.sampled_from(TRIPLES)
        .flatmap(lambda triple: cases(*triple))
        .filter(lambda case: not isinstance(case[1].regression, Poisson) or case[0].target.sum() > 0)
    )
    schema = described(table)
    return Tree.grown(table.grow(recipe), schema, recipe), written(table, schema), table, recipe


def has_missing(rows: dict[str, list[Any]]) -> bool:
    return any(value is None for column in rows.values() for value in column)


def near(recipe: Recipe) -> float:
    """How close numbers must be; the root of a trace of rounding is no longer a trace."""
    return 1e-7 if isinstance(recipe.regression, StandardDeviation) else 1e-9
