"""Estimators of recipes: `fit` turns the parameters into a recipe and calls `learn_from`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, dataclass, fields
from functools import cache
from numbers import Integral
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch, check_random_state

from treewright.data.encoding import Encoded
from treewright.data.rows import total_weight
from treewright.errors import RecipeError
from treewright.estimators.base import TreeEstimator, threads
from treewright.estimators.paths import ccp_path
from treewright.recipes.branching import Branching
from treewright.recipes.criterion import Criterion
from treewright.recipes.missing import Missing, RefuseMissing
from treewright.recipes.named import CART
from treewright.recipes.numeric import Numeric
from treewright.recipes.recipe import Recipe
from treewright.recipes.variants import field_choice
from treewright.training.learn import FitOptions, learn_from
from treewright.training.parameters import recipe_with
from treewright.tree.tree import Tree


@dataclass(kw_only=True, eq=False, repr=False)
class RecipeEstimator(TreeEstimator):
    """Base of the estimators that grow a tree by a recipe.

    "recipe" means: as the recipe has it. Estimators of one recipe have its values as defaults instead (`trees`).
    """

    criterion: str | Criterion | Callable[[Any, Any], Any] | None = "recipe"
    branching: str | Branching | None = "recipe"
    numeric: str | Numeric | None = "recipe"
    missing: str | Missing | None = "recipe"
    unseen: str | None = "recipe"
    max_depth: int | str | None = "recipe"
    min_samples_split: float | str | None = "recipe"
    min_samples_leaf: float | str | None = "recipe"
    min_weight_fraction_leaf: float | str | None = "recipe"
    max_leaf_nodes: int | str | None = "recipe"
    max_features: float | str | None = "recipe"
    min_impurity_decrease: float | str | None = "recipe"
    max_impurity: float | str | None = "recipe"
    significance: float | str | None = "recipe"
    pruning: Any = "recipe"
    ccp_alpha: float | None = None
    smoothing: str | None = "recipe"
    m: float | str | None = "recipe"
    honest: bool = False
    random_state: int | np.random.RandomState | None = None

    _recipe: ClassVar[Recipe] = CART

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Compute the alphas at which pruning by impurity changes the grown tree.

        Parameters
        ----------
        X : table
            The training rows.
        y : array-like or str
            The target; for a table that is not in memory, the name of its column.
        sample_weight : array-like or str, optional
            The weights of the rows.

        Returns
        -------
        Bunch
            `ccp_alphas` and `impurities` as in scikit-learn; each alpha can be given as `ccp_alpha`.
        """
        grown = clone(self).set_params(ccp_alpha=None, pruning=None).fit(X, y, sample_weight)
        alphas, impurities = ccp_path(grown.tree_)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def _learn(self, data: Any, target: Any, options: FitOptions) -> Tree:
        return learn_from(data, target, self._recipes_for, options, threads(self.n_jobs))

    def _options(self) -> dict[str, Any]:
        return super()._options() | {"honest": self.honest}

    def _recipes_for(self, rows: Encoded | None) -> tuple[Recipe, ...]:
        """Return the recipes with the parameters; fractions refer to the rows, and are refused without them."""
        own, estimator = vars(self), cast(Any, type(self))
        parameters = {
            f.name: getattr(self, f.name)
            for f in _parameters(estimator)
            if own.get(f.name) is not f.default and not _is_default(self, f)
        }
        parameters["seed"] = self._seed()
        sizes: dict[str, Any] = {
            "n_rows": None if rows is None else rows.n_rows,
            "n_columns": None if rows is None else len(rows.columns),
            "total_weight": None if rows is None else total_weight(rows),
        }
        return tuple(recipe_with(base, self._task, parameters, **sizes) for base in self._base_recipes())

    def _base_recipes(self) -> tuple[Recipe, ...]:
        return (self._recipe,)

    def _refuses_missing(self) -> bool:
        try:
            as_recipe = self.missing is None or (isinstance(self.missing, str) and self.missing == "recipe")
            bases = self._base_recipes()
            found = [field_choice("missing", base.missing if as_recipe else self.missing, None) for base in bases]
        except RecipeError:
            return False
        return any(isinstance(missing, RefuseMissing) for missing in found)

    def _seed(self) -> int | None:
        if self.random_state is None:
            return None
        if isinstance(self.random_state, (int, Integral)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


@cache
def _parameters(estimator: type[RecipeEstimator]) -> tuple[Field[Any], ...]:
    return fields(estimator)


def _is_default(estimator: object, field: Field[Any]) -> bool:
    value = getattr(estimator, field.name)
    return value is field.default or (type(value) is type(field.default) and bool(value == field.default))
