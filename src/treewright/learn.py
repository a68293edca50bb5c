"""Learning: read, describe, encode, grow. The composition of the house's arrows, on one screen.

Comes in: any table, a target, a recipe. Goes out: a `Tree`.
Always holds: everything that could be wrong with the input is found before the core starts; nothing is left half-done.
The tree does not depend on the order of rows or on the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from treewright import _core
from treewright.choices import Custom, Poisson, Refused, RefuseMissing
from treewright.encode import Encoded, describe, encode, refuse_infinite
from treewright.errors import DataError, RecipeError
from treewright.frame import Frame, RawColumn, pop_column
from treewright.kinds import KindChoice
from treewright.recipe import CART, Recipe
from treewright.schema import Schema, Task
from treewright.table import read, read_column
from treewright.tree import Tree
from treewright.wording import listed


def learn(
    data: object,
    target: object,
    recipe: Recipe = CART,
    *,
    weight: object = None,
    kinds: Mapping[str, KindChoice] | None = None,
    task: Task | None = None,
    n_threads: int = 0,
) -> Tree:
    """Learn a tree.

    `target` and `weight` are names of columns, or arrays with one value per row. `kinds` says what columns are where
    their type does not: "numeric", "nominal", "ordinal", "date", ..., or a list of levels in order. `n_threads=0` means
    all processors; the tree is the same for any number.

    >>> import treewright as tw
    >>> sky, wind = ["sun", "sun", "rain", "rain"], ["no", "yes", "no", "yes"]
    >>> table = {"sky": sky, "wind": wind, "play": ["yes", "yes", "yes", "no"]}
    >>> tree = tw.learn(table, "play", tw.ID3)
    >>> tree.n_leaves
    3
    """
    if not isinstance(recipe, Recipe):
        raise RecipeError(f"recipe must be a Recipe such as treewright.C45, not {recipe!r}")
    frame = read(data)
    answers, frame = _taken(frame, target, "target")
    weights = None
    if weight is not None:
        weights, frame = _taken(frame, weight, "weight")
    schema = describe(frame, answers, task, kinds)
    encoded = encode(frame, schema, training=True, target=answers, weight=weights)
    return grow(encoded, schema, recipe, n_threads)


def grow(encoded: Encoded, schema: Schema, recipe: Recipe, n_threads: int) -> Tree:
    """The core's tree of an encoded table, if the recipe can learn from it."""
    _refuse_recipe(recipe, schema)
    kinds = list(encoded.kinds)
    refuse_infinite(_core.first_infinite(encoded.columns, kinds, encoded.n_rows, n_threads), encoded, schema)
    _refuse_values(recipe, schema, encoded)
    criterion = recipe.criterion if encoded.n_classes else recipe.regression
    arrays = _core.grow(
        columns=encoded.columns,
        kinds=kinds,
        levels=list(encoded.levels),
        target=encoded.target,
        n_classes=encoded.n_classes,
        weight=encoded.weight,
        recipe=recipe.as_dict(),
        n_threads=n_threads,
        custom=criterion.function if isinstance(criterion, Custom) else None,
    )
    return Tree(arrays, schema, recipe)


def _taken(frame: Frame, what: object, role: str) -> tuple[RawColumn, Frame]:
    """A column of the frame by its name, or one that comes by itself."""
    if isinstance(what, str):
        return pop_column(frame, what, role)
    return read_column(what, str(getattr(what, "name", None) or role)), frame


def _refuse_recipe(recipe: Recipe, schema: Schema) -> None:
    """What this recipe cannot learn from, whatever the values."""
    regression = schema.target.task == "regression"
    if (recipe.regression if regression else recipe.criterion) is None:
        raise DataError(
            f"the recipe {recipe.name!r} has no criterion for {schema.target.task}, but the target "
            f"{schema.target.name!r} {'is numeric' if regression else 'has classes'}; "
            + ("use CART or CHAID, or task='classification' if its numbers are names" if regression else "use CART")
        )
    numbers = [column.name for column in schema.columns if not column.has_levels]
    if isinstance(recipe.numeric, Refused) and numbers:
        raise DataError(
            f"the recipe {recipe.name!r} asks about levels only, but {listed(numbers)} "
            f"{'is numeric' if len(numbers) == 1 else 'are numeric'}; use C45 or CART, give the recipe "
            "numeric=Binned(10), or declare the column nominal with kinds="
        )


def _refuse_values(recipe: Recipe, schema: Schema, encoded: Encoded) -> None:
    """What this recipe cannot learn from, given the values."""
    if isinstance(recipe.missing, RefuseMissing):
        for column, values in zip(schema.columns, encoded.columns, strict=True):
            missing = int(np.count_nonzero(values < 0 if column.has_levels else np.isnan(values)))
            if missing:
                raise DataError(
                    f"column {column.name!r} is missing in {missing} of {encoded.n_rows} rows, and the recipe "
                    f"{recipe.name!r} refuses missing values; fill them in, or choose missing=Spread() or another "
                    "policy"
                )
    if isinstance(recipe.regression, Poisson) and schema.target.task == "regression":
        assert encoded.target is not None
        if encoded.target.min() < 0 or encoded.target.sum() <= 0:
            raise DataError(
                f"the target {schema.target.name!r} must not be negative, nor all zero, for the Poisson criterion; "
                "use Variance()"
            )
