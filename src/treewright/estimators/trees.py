"""The estimators: one class per recipe, and two that take any recipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

from treewright.estimators.recipe_estimator import RecipeEstimator
from treewright.estimators.tasks import ClassifierBase, RegressorBase
from treewright.recipes.named import C45, CART, CHAID, ID3, M5, named_recipes
from treewright.recipes.recipe import Recipe
from treewright.training.parameters import defaults_of, documented


@dataclass(kw_only=True, eq=False, repr=False)
class _ChaidEstimator(RecipeEstimator):
    alpha_merge: float | str | None = "recipe"
    alpha_split: float | str | None = "recipe"
    bonferroni: bool | str | None = "recipe"
    exhaustive: bool | str | None = "recipe"
    min_child: int | str | None = "recipe"


@dataclass(kw_only=True, eq=False, repr=False)
class _Classifier(ClassifierBase, RecipeEstimator):
    pass


@dataclass(kw_only=True, eq=False, repr=False)
class _Regressor(RegressorBase, RecipeEstimator):
    pass


Estimator = TypeVar("Estimator", bound=type[RecipeEstimator])


@dataclass_transform(kw_only_default=True, eq_default=False)
def _of_recipe(recipe: Recipe | None) -> Callable[[Estimator], Estimator]:
    """Make an estimator whose defaults are those of a recipe; None, for any recipe, leaves them "recipe"."""

    def made(estimator: Estimator) -> Estimator:
        if recipe is not None:
            estimator._recipe = recipe
            inherited = estimator.__dataclass_fields__
            for name, value in defaults_of(recipe, estimator._task).items():
                estimator.__annotations__[name] = inherited[name].type
                setattr(estimator, name, value)
        dataclass(kw_only=True, eq=False, repr=False)(estimator)  # which changes the class itself
        return documented(estimator)

    return made


@_of_recipe(None)
class TreeClassifier(_Classifier):
    """A tree for classes by any recipe.

    A parameter that is "recipe" is as the recipe has it.

    Examples
    --------
    >>> import treewright as tw
    >>> X = [["sun", "calm"], ["sun", "windy"], ["rain", "calm"], ["rain", "windy"]]
    >>> estimator = tw.TreeClassifier(recipe=tw.ID3).fit(X, ["yes", "yes", "yes", "no"])
    >>> print(estimator.tree_)
    ID3 tree for target: 4 rows, 3 leaves, depth 2
    ├─ x0 = rain
    │  ├─ x1 = calm: yes  (1 row, 100 %)
    │  └─ x1 = windy: no  (1 row, 100 %)
    └─ x0 = sun: yes  (2 rows, 100 %)
    >>> estimator.predict([["rain", "calm"]])
    array(['yes'], dtype='<U3')
    """

    recipe: Recipe | str | Sequence[Recipe | str] | None = None

    def _base_recipes(self) -> tuple[Recipe, ...]:
        return (CART,) if self.recipe is None else named_recipes(self.recipe)


@_of_recipe(None)
class TreeRegressor(_Regressor):
    """A tree for a number by any recipe that has a criterion for numbers.

    A parameter that is "recipe" is as the recipe has it.
    """

    recipe: Recipe | str | Sequence[Recipe | str] | None = None

    def _base_recipes(self) -> tuple[Recipe, ...]:
        return (CART,) if self.recipe is None else named_recipes(self.recipe)


@_of_recipe(ID3.with_(numeric="binned"))
class ID3Classifier(_Classifier):
    """Quinlan's ID3: one child per level, by information gain; missing values are refused.

    The textbook's ID3 has no rule for numbers. So that it works on any table, they are binned into ten quantile groups
    first; numeric='categorical_only' gives the textbook's behaviour, numeric=treewright.numeric.Binned(5) other groups.
    """


@_of_recipe(C45)
class C45Classifier(_Classifier):
    """Quinlan's C4.5: one child per level, thresholds for numbers, gain ratio, fractional rows for missing values.

    Error-based pruning; pruning=None keeps the tree as it was grown.
    """


@_of_recipe(CART)
class CARTClassifier(_Classifier):
    """Breiman's CART for classes: two children, by gini; surrogate splits for missing values.

    Cost-complexity pruning with ten-fold cross-validation and the one-standard-error rule; pruning=None keeps the tree
    as it was grown.
    """


@_of_recipe(CART)
class CARTRegressor(_Regressor):
    """Breiman's CART for a number: two children, by variance; surrogate splits for missing values.

    Pruned as CARTClassifier is.
    """


@_of_recipe(M5)
class ModelTreeRegressor(_Regressor):
    """A tree for a number whose leaves are linear models: Quinlan's M5, as Weka's M5P has it.

    For PILOT: TreeRegressor(recipe=treewright.PILOT). For the model tree that cross-validation chooses:
    TreeRegressor(recipe=treewright.MODEL_TREES).
    """


@_of_recipe(CHAID)
class CHAIDClassifier(_ChaidEstimator, _Classifier):
    """Kass's CHAID for classes: levels merged by chi-square tests, as many children as there are groups.

    Numbers are binned into ten quantile groups; missing values are a group of their own. As in SPSS, a node of fewer
    than 100 rows is not split and a child has at least 50: small tables need smaller min_samples_split and min_child.
    """


@_of_recipe(CHAID)
class CHAIDRegressor(_ChaidEstimator, _Regressor):
    """CHAID for a number: as CHAIDClassifier, by F tests."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # by scikit-learn's measure: 50 rows per child are many of its 200
        return tags
