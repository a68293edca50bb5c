"""What estimators of classes, and those of numbers, add to the base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from treewright.data.arrays import FloatArray
from treewright.data.frame import RawColumn
from treewright.data.schema import Task
from treewright.errors import DataError
from treewright.estimators.base import TreeEstimator
from treewright.out_of_core.inputs import is_dask, is_large
from treewright.prediction.predict import predict_proba


def _logarithm(shares: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        return np.log(shares)


@dataclass(kw_only=True, eq=False, repr=False)
class ClassifierBase(ClassifierMixin, TreeEstimator):
    """What estimators of classes share: class weights, costs, priors and probabilities."""

    class_weight: Any = None
    costs: Any = None
    priors: Any = None

    _task: ClassVar[Task] = "classification"

    def predict_proba(self, X: Any) -> FloatArray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities in the order of `classes_`.
        """
        return self._call(predict_proba, X)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Predict the natural logarithm of the probability of each class.

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Log-probabilities in the order of `classes_`.
        """
        shares = self.predict_proba(X)
        if is_dask(shares):
            from treewright.out_of_core.dask_lazy import each

            logarithms: FloatArray = each(shares, _logarithm)
            return logarithms
        return _logarithm(shares)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the accuracy.

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`.
        y : array-like or str
            The target; for a table that is not in memory, the name of its column.
        sample_weight : array-like or str, optional
            The weights of the rows.

        Returns
        -------
        float
            Fraction of the weight that is predicted correctly.
        """
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

    def _options(self) -> dict[str, Any]:
        return super()._options() | {"class_weight": self.class_weight, "costs": self.costs, "priors": self.priors}


@dataclass(kw_only=True, eq=False, repr=False)
class RegressorBase(RegressorMixin, TreeEstimator):
    """What estimators of numbers share."""

    _task: ClassVar[Task] = "regression"

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Compute the fraction of the variance that is explained, R².

        Parameters
        ----------
        X : table
            Rows with the columns of `fit`.
        y : array-like or str
            The target; for a table that is not in memory, the name of its column.
        sample_weight : array-like or str, optional
            The weights of the rows.

        Returns
        -------
        float
            R².
        """
        if is_large(X):
            return self._score_large("variance explained", X, y, sample_weight)
        return float(super().score(X, y, sample_weight))
