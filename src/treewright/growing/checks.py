"""Check that a recipe can learn from a table, before growing starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treewright.data.encoding import Encoded
from treewright.data.rows import is_missing
from treewright.data.schema import Schema
from treewright.data.value_text import listed
from treewright.errors import DataError, RecipeError
from treewright.recipes.criterion import AbsoluteError, Poisson
from treewright.recipes.leaves import Constant, Linear
from treewright.recipes.missing import RefuseMissing
from treewright.recipes.numeric import CategoricalOnly
from treewright.recipes.pruners import PRUNERS, Pruner
from treewright.recipes.recipe import Recipe


def check_recipe(recipe: Recipe, schema: Schema) -> None:
    """Raise `DataError` if the recipe cannot learn from such columns and target, whatever their values."""
    regression = schema.target.task == "regression"
    if (recipe.regression if regression else recipe.criterion) is None:
        raise DataError(
            f"the recipe {recipe.name!r} has no criterion for {schema.target.task}, but the target "
            f"{schema.target.name!r} {'is numeric' if regression else 'has classes'}; "
            + (
                "use CART or CHAID, or task='classification' if its numbers are names"
                if regression
                else "use CART, or task='regression' if its classes are numbers"
            )
        )
    criterion, classes = recipe.criterion, schema.target.classes
    most = criterion.max_classes if criterion is not None else None
    if classes is not None and most is not None and len(classes) > most:
        raise DataError(
            f"{type(criterion).__name__} compares {most} classes, but the target {schema.target.name!r} has "
            f"{len(classes)}; use another criterion such as Gini(), or put classes together"
        )
    levels_only = isinstance(recipe.numeric, CategoricalOnly)
    numbers = [column.name for column in schema.columns if not column.has_levels] if levels_only else []
    if numbers:
        raise DataError(
            f"the recipe {recipe.name!r} splits on levels only, but {listed(numbers)} "
            f"{'is numeric' if len(numbers) == 1 else 'are numeric'}; use C45 or CART, give the recipe "
            "numeric=Binned(10), or declare the column nominal with kinds="
        )
    if not isinstance(recipe.leaves, Constant):
        _check_linear(recipe, schema)
    elif regression and isinstance(recipe.regression, AbsoluteError) and "shrinkage" in recipe.leaves.smoothing:
        raise DataError(
            f"shrinkage averages the means of a leaf and its ancestors, but the recipe {recipe.name!r} predicts the "
            f"median of {schema.target.name!r} (AbsoluteError); use regression=Variance() or smoothing='none'"
        )
    if recipe.pruning is not None:
        check_pruner(recipe.pruning, schema)


def _check_linear(recipe: Recipe, schema: Schema) -> None:
    """Raise `DataError` if the leaves of this target cannot have linear models."""
    target = schema.target
    if target.classes is not None:
        raise DataError(
            f"the recipe {recipe.name!r} has linear models in its leaves, which predict numbers, but the target "
            f"{target.name!r} has classes; use leaves=Constant(), or task='regression' if its classes are numbers"
        )
    if isinstance(recipe.regression, (AbsoluteError, Poisson)):
        raise DataError(
            f"leaves=Linear are fitted by least squares, but the recipe {recipe.name!r} compares splits by "
            f"{type(recipe.regression).__name__}; use regression=Variance() or StandardDeviation()"
        )
    only = recipe.leaves.only if isinstance(recipe.leaves, Linear) else None
    unknown = [name for name in only or () if name not in schema.names]
    if unknown:
        raise DataError(f"Linear.only names {listed(unknown)}, but the table has no such column")


def check_pruner(pruner: Pruner, schema: Schema) -> None:
    """Raise `RecipeError` if this is no pruner, `DataError` if it does not suit the target."""
    if not isinstance(pruner, PRUNERS):
        raise RecipeError(f"pruner must be a pruner such as treewright.pruning.CostComplexity(0.01), not {pruner!r}")
    if pruner.classes_only and schema.target.task == "regression":
        raise DataError(
            f"{type(pruner).__name__} counts wrong classes, but the target {schema.target.name!r} is a number; prune "
            "with CostComplexityCV() or ReducedError(), or learn with pruning=None"
        )


@dataclass(frozen=True)
class DataChecks:
    """What `check_values` needs to know of some rows: missing values by column, and the sign of the target.

    `used`: whether a row remains where rows without any value are left out.
    """

    n_rows: int
    missing: tuple[int, ...] = ()
    negative: bool = False
    positive: bool = True
    used: bool = True


def data_checks(encoded: Encoded, recipe: Recipe, schema: Schema) -> DataChecks:
    """Count what the recipe depends on, and nothing else."""
    missing: tuple[int, ...] = ()
    if isinstance(recipe.missing, RefuseMissing):
        missing = tuple(int(np.count_nonzero(is_missing(values))) for values in encoded.columns)
    used = not recipe.drop_blank_rows or _any_used(encoded)
    if not (isinstance(recipe.regression, Poisson) and schema.target.task == "regression"):
        return DataChecks(encoded.n_rows, missing, used=used)
    assert encoded.target is not None
    return DataChecks(encoded.n_rows, missing, bool((encoded.target < 0).any()), bool((encoded.target > 0).any()), used)


def _any_used(encoded: Encoded) -> bool:
    """Return whether a row with weight has any value; usually the first column decides."""
    weighty = True if encoded.weight is None else encoded.weight > 0
    return any(bool(np.any(~is_missing(values) & weighty)) for values in encoded.columns)


def check_values(found: Sequence[DataChecks], recipe: Recipe, schema: Schema) -> None:
    """Raise `DataError` if the recipe cannot learn from the values of all partitions together."""
    for column, counts in zip(schema.columns, zip(*(each.missing for each in found), strict=True), strict=False):
        if any(counts):
            raise DataError(
                f"column {column.name!r} is missing in {sum(counts)} of {sum(each.n_rows for each in found)} rows, and "
                f"the recipe {recipe.name!r} refuses missing values; fill them in, or choose missing=Fractional() or "
                "another policy"
            )
    if not any(each.used for each in found):
        raise DataError(
            f"no row with weight has a value in any column, and the recipe {recipe.name!r} leaves out rows without "
            "values; give rows that have some, or choose drop_blank_rows=False"
        )
    if any(each.negative for each in found) or not any(each.positive for each in found):
        raise DataError(
            f"the target {schema.target.name!r} must not be negative, nor all zero, for the Poisson criterion; "
            "use Variance()"
        )
