"""The scikit-learn estimators: what all of them share. A subclass learns the tree (`_learn`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from treewright.data.arrays import Array, FloatArray, Int32Array
from treewright.data.encoding import column_count_message
from treewright.data.frame import Frame, RawColumn
from treewright.data.kinds import KindChoice, kinds_from_categorical_features
from treewright.data.reader import read, read_column
from treewright.data.schema import Task
from treewright.errors import DataError
from treewright.estimators.paths import is_sparse, node_indicator, sparse_frame, warn_identifiers
from treewright.inspection.importance import impurity_taken, shares
from treewright.out_of_core.inputs import is_dask, is_large, with_target
from treewright.prediction.predict import apply, class_array, predict
from treewright.prediction.scores import measured_in_batches
from treewright.recipes.missing import RefuseMissing
from treewright.training.learn import FitOptions
from treewright.tree.shape import columns_used
from treewright.tree.tree import Tree

Predictions = TypeVar("Predictions")


# --- what all of them share -------------------------------------------------------------------------------------------


@dataclass(kw_only=True, eq=False, repr=False)
class TreeEstimator(BaseEstimator):
    """Base of all estimators. A dataclass has the constructor that scikit-learn wants: parameters stored untouched."""

    categorical_features: Any = "from_dtype"
    kinds: Mapping[str, KindChoice] | None = None
    n_jobs: int | None = None

    _task: ClassVar[Task]

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn a tree.

        Parameters
        ----------
        X : table
            The training rows. A table that is not in memory may be a Dask collection, a file, a pattern of files, a
            query, a pyarrow dataset, a DuckDB relation or an iterator of tables.
        y : array-like or str
            The target; for a table that is not in memory, the name of its column.
        sample_weight : array-like or str, optional
            The weights of the rows.

        Returns
        -------
        Self
            The estimator, with `tree_`.
        """
        large = is_large(X)
        data, target, weight = with_target(X, y, sample_weight) if large else self._columns(X, y, sample_weight)
        kinds = self._kinds(None if large else data)
        options = FitOptions(weight, kinds, self._task, **self._options(), keep_columns=True)
        self.tree_ = self._learn(data, target, options)
        if large:
            self._keep_names(X)
        classes = self.tree_.schema.target.classes
        if classes is not None:
            self.classes_ = class_array(classes)
            self.n_classes_ = len(classes)
        self.n_outputs_ = 1
        self.max_features_ = self.tree_.recipe.stopping.max_features or self.n_features_in_
        return self

    def _learn(self, data: Any, target: Any, options: FitOptions) -> Tree:
        """Learn the tree with the parameters of the estimator."""
        raise NotImplementedError

    def _columns(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        """Read a table in memory, its target and weights."""
        frame, target = self._frame(X, learning=True), self._target(y)
        return frame, target, None if sample_weight is None else read_column(sample_weight, "sample_weight")

    def _kinds(self, frame: Frame | None) -> Mapping[str, KindChoice] | None:
        if frame is not None:
            kinds = {**kinds_from_categorical_features(self.categorical_features, frame), **(self.kinds or {})}
            warn_identifiers(frame, kinds)
            return kinds
        if not (isinstance(self.categorical_features, str) and self.categorical_features == "from_dtype"):
            raise DataError(
                f"categorical_features={self.categorical_features!r} needs the whole table at hand; where it is read "
                "some rows at a time, give kinds={'column': 'nominal'}"
            )
        return self.kinds

    def _keep_names(self, X: Any) -> None:
        """Keep the names of a large table, which scikit-learn cannot see."""
        names = self.tree_.schema.names
        self.n_features_in_ = len(names)
        self.feature_names_in_ = np.array(names, dtype=object)
        if is_dask(X) and not hasattr(X, "columns"):  # an array has no names
            del self.feature_names_in_

    def predict(self, X: Any) -> Array:
        """Predict the class or the value of each row.

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray
            One prediction per row.
        """
        return self._call(predict, X)

    def apply(self, X: Any) -> Int32Array:
        """Return the id of the leaf in `tree_` that each row reaches.

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of int
            Node ids; for a fractional row the leaf with most of its weight.
        """
        return self._call(apply, X)

    def decision_path(self, X: Any) -> Any:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            1 where a row passes a node on its way to the leaf of `apply`.
        """
        return node_indicator(self.tree_, self.apply(X))

    def get_depth(self) -> int:
        """Return the depth of the tree.

        Returns
        -------
        int
            Length of the longest path from the root to a leaf.
        """
        check_is_fitted(self, "tree_")
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        int
            Number of leaves.
        """
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = not self._refuses_missing()
        return tags

    def _call(self, function: Callable[..., Predictions], X: Any) -> Predictions:
        fitted = vars(self)
        if "tree_" not in fitted:  # a look that costs less than scikit-learn's
            check_is_fitted(self, "tree_")
        tree = self.tree_
        # A plain matrix has no names to compare, so it need not become a frame first.
        plain = type(X) is np.ndarray and X.shape[1:] == (self.n_features_in_,) and X.dtype.kind == "f"
        plain = plain and "feature_names_in_" not in fitted and not isinstance(tree.recipe.missing, RefuseMissing)
        rows = X if plain or is_large(X) else self._frame(X, learning=False)
        return function(tree, rows, n_threads=threads(self.n_jobs))

    @property
    def feature_importances_(self) -> FloatArray:
        """Total impurity decrease of each column's splits, normalised to sum to 1."""
        check_is_fitted(self)
        return shares(impurity_taken(self.tree_))

    def _frame(self, X: Any, *, learning: bool) -> Frame:
        """Read the table; `fit` keeps its names and their number, later calls compare them, in scikit-learn's words."""
        if learning and type(X) is np.ndarray and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        elif not (learning and type(X) is np.ndarray):  # an array has no names, and its width is compared below
            validate_data(self, X, reset=learning, skip_check_array=True, ensure_2d=False)
        named = hasattr(self, "feature_names_in_")
        # scikit-learn goes by place where names are not text, which only pandas allows, and where `fit` saw none.
        if is_sparse(X):
            frame = sparse_frame(X, None if learning else columns_used(self.tree_))
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
        if isinstance(y, (list, tuple)) and len(y) and isinstance(y[0], (list, tuple)):
            y = np.asarray(y)
        shape: tuple[int, ...] = getattr(y, "shape", (0,))
        if len(shape) == 2 and shape[1] > 1 and not is_sparse(y):
            wrapper = "MultiOutputClassifier" if self._task == "classification" else "MultiOutputRegressor"
            raise DataError(
                f"y should be a 1d array, got an array of shape {tuple(shape)} instead: a tree has one target; fit one "
                f"per target, as sklearn.multioutput.{wrapper}({type(self).__name__}()) does"
            )
        if len(shape) != 1:
            y = column_or_1d(y, warn=True)
        return read_column(y, str(getattr(y, "name", None) or "target"))

    def _score_large(self, measure: str, X: Any, y: Any, sample_weight: Any) -> float:
        check_is_fitted(self, "tree_")
        return measured_in_batches(measure, self.tree_, *with_target(X, y, sample_weight), threads(self.n_jobs))

    def _options(self) -> dict[str, Any]:
        """Return the options of `learn` that are parameters of the estimator."""
        return {}

    def _refuses_missing(self) -> bool:
        """Return whether missing values are refused; called before `fit` too, when parameters may be invalid."""
        return False


def threads(n_jobs: int | None) -> int:
    """Return the number of threads for scikit-learn's n_jobs."""
    if n_jobs is None or n_jobs == 0:
        return int(joblib.effective_n_jobs(n_jobs))  # 1 unless a context sets another number; 0 is an error
    return n_jobs if n_jobs > 0 else max(1, joblib.cpu_count() + 1 + n_jobs)


def _refuse_missing(frame: Frame) -> None:
    for column in frame.columns:
        n_missing = int(column.missing.sum())
        if n_missing:
            raise DataError(
                f"Input X contains NaN. Column {column.name!r} is missing in {n_missing} of {frame.n_rows} rows; fill "
                "them in, or fit with missing='fractional' or another policy"
            )
