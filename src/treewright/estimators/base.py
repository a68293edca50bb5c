"""The scikit-learn classes: trees that work in pipelines, grid searches and cross-validation.

Comes in: scikit-learn's parameters, `fit(X, y)`. Goes out: fitted estimators; `tree_` is the `Tree` that
`treewright.learn` gives.
Always holds: a constructor only stores; `fit` turns the parameters into a `Recipe` and walks the same road as `learn`.
This is the only room that meets scikit-learn, and the only one that speaks its words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from numbers import Integral
from typing import Any, ClassVar, Self, TypeVar

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils import Bunch, check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from treewright.data.encoding import Encoded, column_count_message, describe, encode
from treewright.data.frame import FloatArray, Frame, RawColumn
from treewright.data.kinds import KindChoice, kinds_from_categorical_features
from treewright.data.reader import read, read_column
from treewright.data.schema import Schema, Task
from treewright.errors import DataError, RecipeError
from treewright.estimators.paths import (
    ccp_path,
    columns_asked,
    is_sparse,
    node_indicator,
    sparse_frame,
    warn_identifiers,
)
from treewright.growing.weights import target_with, weighted
from treewright.inspection.importance import impurity_taken, shares
from treewright.out_of_core.inputs import is_dask, is_large, with_target
from treewright.prediction.predict import apply, class_array, predict, predict_proba
from treewright.prediction.scores import measured_in_batches
from treewright.pruning.prune import grow_and_prune
from treewright.recipes.branching import Branching
from treewright.recipes.criterion import Criterion
from treewright.recipes.missing import Missing, RefuseMissing
from treewright.recipes.named import CART, CHAID
from treewright.recipes.numeric import Numeric
from treewright.recipes.recipe import Recipe
from treewright.recipes.variants import field_choice
from treewright.training.learn import learn_from
from treewright.training.learn_large import FitOptions
from treewright.training.parameters import recipe_with

Answer = TypeVar("Answer")


# --- what all of them share -------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False, repr=False)
class _TreeEstimator(BaseEstimator):
    """A dataclass, because its constructor is what scikit-learn asks for: named defaults, stored untouched."""

    criterion: str | Criterion | Callable[[Any, Any], Any] | None = None
    branching: str | Branching | None = None
    numeric: str | Numeric | None = None
    missing: str | Missing | None = None
    unseen: str | None = None
    max_depth: int | None = None
    min_samples_split: float | None = None
    min_samples_leaf: float | None = None
    min_weight_fraction_leaf: float | None = None
    max_leaf_nodes: int | None = None
    max_features: float | str | None = None
    min_impurity_decrease: float | None = None
    max_impurity: float | None = None
    significance: float | None = None
    pruning: Any = "recipe"
    ccp_alpha: float | None = None
    smoothing: str | None = None
    m: float | None = None
    categorical_features: Any = "from_dtype"
    kinds: Mapping[str, KindChoice] | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None

    _task: ClassVar[Task]
    _recipe: ClassVar[Recipe] = CART

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a tree from a table and one answer per row.

        X may be beyond memory: a dask collection, with y and sample_weight likewise or named, or a file, a pattern of
        files, a query, a pyarrow dataset, a DuckDB relation or an iterator of tables, with y the name of a column.
        """
        if is_large(X):
            return self._fit_large(X, y, sample_weight)
        frame = self._frame(X, learning=True)
        target = self._target(y)
        kinds = {**kinds_from_categorical_features(self.categorical_features, frame), **(self.kinds or {})}
        warn_identifiers(frame, kinds)
        schema = self._costly(describe(frame, target, self._task, kinds, keep_empty=True))
        encoded = encode(frame, schema, training=True, target=target, weight=self._weight(sample_weight))
        self._keep_classes(schema)
        rows = self._weighted(encoded, schema)
        total = float(frame.n_rows if rows.weight is None else rows.weight.sum())
        recipe = self._chosen_recipe(n_rows=frame.n_rows, n_columns=len(frame.columns), total_weight=total)
        self.tree_ = grow_and_prune(rows, schema, recipe, _threads(self.n_jobs))
        self._keep_sizes()
        return self

    def _fit_large(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """The same by `learn`, which reads such inputs; columns go by name."""
        if not (isinstance(self.categorical_features, str) and self.categorical_features == "from_dtype"):
            raise DataError(
                f"categorical_features={self.categorical_features!r} needs the whole table at hand; where it is read "
                "some rows at a time, say kinds={'column': 'nominal'}"
            )
        recipe = self._chosen_recipe(n_rows=None, n_columns=None, total_weight=None)
        data, target, weight = with_target(X, y, sample_weight)
        options = FitOptions(target, weight, self.kinds, self._task, **self._costs(), keep_columns=True)
        tree = learn_from(data, target, recipe, options, weight, _threads(self.n_jobs))
        self._keep_classes(tree.schema)
        self.n_features_in_ = len(tree.schema.names)
        self.feature_names_in_ = np.array(tree.schema.names, dtype=object)
        if is_dask(X) and not hasattr(X, "columns"):  # an array has no names
            del self.feature_names_in_
        self.tree_ = tree
        self._keep_sizes()
        return self

    def _keep_sizes(self) -> None:
        self.n_outputs_ = 1
        self.max_features_ = self.tree_.recipe.stopping.max_features or self.n_features_in_

    def predict(self, X: Any) -> NDArray[Any]:
        """The answer for each row: the most probable class, or a number."""
        return self._ask(predict, X)

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The id of each row's leaf in `tree_`; where a row goes down several branches, the heaviest."""
        return self._ask(apply, X)

    def decision_path(self, X: Any) -> Any:
        """A sparse matrix with a column per node of `tree_`: 1 where a row passes on its way to the leaf of `apply`."""
        return node_indicator(self.tree_, self.apply(X))

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """The alphas at which pruning by impurity changes the grown tree, and the impurity of its leaves at each.

        `ccp_alphas` and `impurities` as in scikit-learn; each alpha can be given as `ccp_alpha`.
        """
        grown = clone(self).set_params(ccp_alpha=None, pruning=None).fit(X, y, sample_weight)
        alphas, impurities = ccp_path(grown.tree_)
        return Bunch(ccp_alphas=alphas, impurities=impurities)

    def get_depth(self) -> int:
        """The longest path from the root to a leaf."""
        check_is_fitted(self, "tree_")
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """The number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = not self._refuses_missing()
        return tags

    def _ask(self, question: Callable[..., Answer], X: Any) -> Answer:
        check_is_fitted(self, "tree_")
        # A plain matrix has no names to compare, so it need not become a frame first.
        plain = type(X) is np.ndarray and X.shape[1:] == (self.n_features_in_,) and X.dtype.kind == "f"
        as_it_is = plain and not hasattr(self, "feature_names_in_") and not self._refuses_missing()
        rows = X if as_it_is or is_large(X) else self._frame(X, learning=False)
        return question(self.tree_, rows, n_threads=_threads(self.n_jobs))

    @property
    def feature_importances_(self) -> FloatArray:
        """How much each column lowers the impurity, as shares."""
        check_is_fitted(self)
        return shares(impurity_taken(self.tree_))

    def _frame(self, X: Any, *, learning: bool) -> Frame:
        """The table. Its names and their number are kept in `fit` and compared later, in scikit-learn's words."""
        if learning and type(X) is np.ndarray and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        elif not (learning and type(X) is np.ndarray):  # an array has no names, and its width is compared below
            validate_data(self, X, reset=learning, skip_check_array=True, ensure_2d=False)
        named = hasattr(self, "feature_names_in_")
        # scikit-learn goes by place where names are not text, which only pandas allows, and where `fit` saw none.
        if is_sparse(X):
            frame = sparse_frame(X, None if learning else columns_asked(self.tree_))
        else:
            frame = read(X, nameless=not named and (not learning or hasattr(X, "iloc")))
        if learning and frame.named and not named:
            raise DataError(
                f"scikit-learn finds no column names in a {type(X).__name__}; give X as a pandas, polars or pyarrow "
                "table, or use treewright.learn, which takes any table"
            )
        if learning:
            self.n_features_in_ = len(frame.columns)
        elif len(frame.columns) != self.n_features_in_:
            raise DataError(column_count_message(len(frame.columns), self.n_features_in_, type(self).__name__))
        if self._refuses_missing():
            _refuse_missing(frame)
        return frame

    def _target(self, y: Any) -> RawColumn:
        if y is None:
            raise DataError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        if len(getattr(y, "shape", (0,))) != 1:
            y = column_or_1d(y, warn=True)
        return read_column(y, str(getattr(y, "name", None) or "target"))

    def _weight(self, sample_weight: Any) -> RawColumn | None:
        return None if sample_weight is None else read_column(sample_weight, "sample_weight")

    def _chosen_recipe(self, **size: Any) -> Recipe:
        """The recipe with the parameters; `size` is what shares are of."""
        parameters = {**{f.name: getattr(self, f.name) for f in fields(self)}, "seed": self._seed()}
        return recipe_with(self._base_recipe(), self._task, parameters, **size)

    def _keep_classes(self, schema: Schema) -> None:
        if schema.target.classes is not None:
            self.classes_ = class_array(schema.target.classes)
            self.n_classes_ = len(self.classes_)

    def _score_large(self, measure: str, X: Any, y: Any, sample_weight: Any) -> float:
        check_is_fitted(self, "tree_")
        return measured_in_batches(measure, self.tree_, *with_target(X, y, sample_weight), _threads(self.n_jobs))

    def _costs(self) -> dict[str, Any]:
        """What `learn` is told about classes."""
        return {}

    def _costly(self, schema: Schema) -> Schema:
        """The schema with what wrong answers cost."""
        return schema

    def _weighted(self, rows: Encoded, schema: Schema) -> Encoded:  # noqa: ARG002
        """The rows with the weights of their classes."""
        return rows

    def _base_recipe(self) -> Recipe:
        return self._recipe

    def _refuses_missing(self) -> bool:
        """Asked before `fit` too, when parameters may still be anything."""
        try:
            given = self._base_recipe().missing if self.missing is None else self.missing
            missing = field_choice("missing", given, None)
        except RecipeError:
            return False
        return isinstance(missing, RefuseMissing)

    def _seed(self) -> int | None:
        if self.random_state is None:
            return None
        if isinstance(self.random_state, (int, Integral)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))


def _threads(n_jobs: int | None) -> int:
    """scikit-learn's n_jobs. Threads need no processes, so what joblib forbids there does not matter here."""
    if n_jobs is None or n_jobs == 0:
        return int(joblib.effective_n_jobs(n_jobs))  # 1 unless a context says otherwise; 0 is an error
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


def _refuse_missing(frame: Frame) -> None:
    for column in frame.columns:
        n_missing = int(column.missing.sum())
        if n_missing:
            raise DataError(
                f"Input X contains NaN. Column {column.name!r} is missing in {n_missing} of {frame.n_rows} rows; fill "
                "them in, or fit with missing='fractional' or another policy"
            )


def _logarithm(shares: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(shares)


# --- classes and numbers ----------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False, repr=False)
class _Classifier(ClassifierMixin, _TreeEstimator):
    class_weight: Any = None
    costs: Any = None
    priors: Any = None

    _task: ClassVar[Task] = "classification"

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class, in the order of `classes_`."""
        return self._ask(predict_proba, X)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The natural logarithm of `predict_proba`."""
        shares = self.predict_proba(X)
        if is_dask(shares):
            from treewright.out_of_core.dask_lazy import each

            logarithms: FloatArray = each(shares, _logarithm)
            return logarithms
        return _logarithm(shares)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are answered rightly."""
        if is_large(X):
            return self._score_large("accuracy", X, y, sample_weight)
        return float(super().score(X, y, sample_weight))

    def _target(self, y: Any) -> RawColumn:
        target = super()._target(y)
        fractions = target.levels is None and target.kind == "numeric" and not target.whole
        if fractions and (target.values != np.floor(target.values))[~target.missing].any():
            raise DataError(
                "Unknown label type: continuous. Maybe you are trying to fit a classifier, which expects discrete "
                f"classes on a regression target with continuous values: {target.name!r} has fractions; use a "
                "regressor, or turn the numbers into text if they are names"
            )
        return target

    def _costs(self) -> dict[str, Any]:
        return {"class_weight": self.class_weight, "costs": self.costs, "priors": self.priors}

    def _costly(self, schema: Schema) -> Schema:
        return replace(schema, target=target_with(schema.target, self.costs, self.priors))

    def _weighted(self, rows: Encoded, schema: Schema) -> Encoded:
        return weighted(rows, schema, self.class_weight)


@dataclass(kw_only=True, eq=False, repr=False)
class _Regressor(RegressorMixin, _TreeEstimator):
    _task: ClassVar[Task] = "regression"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the variance that the answers explain, R²."""
        if is_large(X):
            return self._score_large("variance explained", X, y, sample_weight)
        return float(super().score(X, y, sample_weight))


@dataclass(kw_only=True, eq=False, repr=False)
class _ChaidEstimator(_TreeEstimator):
    alpha_merge: float | None = None
    alpha_split: float | None = None
    bonferroni: bool | None = None
    exhaustive: bool | None = None
    min_child: int | None = None

    _recipe: ClassVar[Recipe] = CHAID
