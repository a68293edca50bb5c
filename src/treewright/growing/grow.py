"""The engine as Python sees it: an encoded table becomes a tree, encoded rows find their nodes and answers.

Comes in: `Encoded` arrays, a schema and a recipe, or a tree. Goes out: a `Tree` as it was grown, or one node or one
answer per row.
Always holds: everything that could be wrong with the input is found before the core starts. The tree does not depend on
the order of rows or on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from treewright import _core
from treewright.data.encoding import Encoded
from treewright.data.schema import Schema
from treewright.data.survey import survey
from treewright.growing.checks import check_recipe, check_values, data_checks
from treewright.growing.weights import altered
from treewright.recipes.criterion import Custom
from treewright.recipes.missing import Surrogates
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree


def grow(
    encoded: Encoded, schema: Schema, recipe: Recipe, n_threads: int, progress: Callable[[float], object] | None = None
) -> Tree:
    """The core's tree of an encoded table, if the recipe can learn from it; `recipe.pruning` is not applied.

    `progress` is told now and then which part of the rows has found its leaf, from 0 to 1.
    """
    check_recipe(recipe, schema)
    missing = survey(encoded, schema, n_threads)
    check_values([data_checks(encoded, recipe, schema)], recipe, schema)
    assert encoded.target is not None
    criterion = recipe.criterion if encoded.n_classes else recipe.regression
    seen = altered(schema.target, encoded.target, encoded.weight)
    arrays = _core.grow(
        columns=encoded.columns,
        kinds=list(encoded.kinds),
        levels=list(encoded.levels),
        target=encoded.target,
        n_classes=encoded.n_classes,
        weight=seen.weight,
        recipe=without_surrogates(recipe, missing).as_dict(),
        n_threads=n_threads,
        custom=criterion.function if isinstance(criterion, Custom) else None,
        factor=seen.factor,
        cost=seen.cost,
        binned=encoded.coded,
        progress=progress,
    )
    return Tree.grown(arrays, schema, recipe)


def coded(encoded: Encoded, n_threads: int) -> Encoded:
    """The same table, coded now: worth it where several trees are grown on its rows."""
    if encoded.coded is not None:
        return encoded
    return replace(encoded, coded=_core.BinnedTable(encoded.columns, list(encoded.kinds), encoded.n_rows, n_threads))


def without_surrogates(recipe: Recipe, missing: bool) -> Recipe:
    """The recipe without a search for surrogates that it does not want in a table without missing values."""
    if missing or not isinstance(recipe.missing, Surrogates) or recipe.missing.search == "always":
        return recipe
    return replace(recipe, missing=replace(recipe.missing, maximum=0))
