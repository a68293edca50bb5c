"""The estimators: one class per recipe, and two that take any recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from treewright.estimators.base import _ChaidEstimator, _Classifier, _Regressor
from treewright.recipes.named import C45, CART, ID3, named_recipe
from treewright.recipes.numeric import Numeric
from treewright.recipes.recipe import Recipe
from treewright.training.parameters import documented

# --- the public classes -----------------------------------------------------------------------------------------------


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class TreeClassifier(_Classifier):
    """A tree for classes by any recipe.

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

    recipe: Recipe | str | None = None

    def _base_recipe(self) -> Recipe:
        return CART if self.recipe is None else named_recipe(self.recipe)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class TreeRegressor(_Regressor):
    """A tree for a number by any recipe that has a criterion for numbers."""

    recipe: Recipe | str | None = None

    def _base_recipe(self) -> Recipe:
        return CART if self.recipe is None else named_recipe(self.recipe)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class ID3Classifier(_Classifier):
    """Quinlan's ID3: one child per level, by information gain; missing values are refused.

    The textbook's ID3 knows no numbers. So that it works on any table, they are cut into ten quantile groups first;
    numeric='categorical_only' gives the textbook's behaviour, numeric=treewright.numeric.Binned(5) other groups.
    """

    numeric: str | Numeric | None = "binned"

    _recipe: ClassVar[Recipe] = ID3


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class C45Classifier(_Classifier):
    """Quinlan's C4.5: one child per level, thresholds for numbers, gain ratio, missing values spread.

    Pruned by its estimate of errors; pruning=None leaves the tree as it was grown.
    """

    _recipe: ClassVar[Recipe] = C45


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class CARTClassifier(_Classifier):
    """Breiman's CART for classes: two children, by gini; surrogate splits for missing values.

    Pruned by cost-complexity, with ten-fold cross-validation and the one-standard-error rule; pruning=None leaves the
    tree as it was grown.
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class CARTRegressor(_Regressor):
    """Breiman's CART for a number: two children, by variance; surrogate splits for missing values.

    Pruned as CARTClassifier is.
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class CHAIDClassifier(_ChaidEstimator, _Classifier):
    """Kass's CHAID for classes: levels merged by chi-square tests, as many children as the data ask for.

    Numbers are cut into ten quantile groups; missing values are a group of their own. As in SPSS, a node of fewer than
    100 rows is not split and a child has at least 50: small tables need smaller min_samples_split and min_child.
    """


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class CHAIDRegressor(_ChaidEstimator, _Regressor):
    """CHAID for a number: as CHAIDClassifier, by F tests."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # by scikit-learn's measure: 50 rows per child are many of its 200
        return tags
