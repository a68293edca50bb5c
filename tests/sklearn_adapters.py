"""Our estimators under scikit-learn's names and parameters, for scikit-learn's own tests of its trees.

Nothing is learned or predicted here. ExtraTree's adapters search all thresholds: there is no random splitter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

import treewright as tw


class _Adapter(BaseEstimator):
    own: Any

    def __init__(
        self,
        *,
        criterion: Any = None,
        splitter: str = "best",
        max_depth: Any = None,
        min_samples_split: Any = 2,
        min_samples_leaf: Any = 1,
        min_weight_fraction_leaf: Any = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: Any = None,
        min_impurity_decrease: Any = 0.0,
        ccp_alpha: Any = 0.0,
        monotonic_cst: Any = None,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst

    def _made(self) -> Any:
        given = {name: value for name, value in self.get_params().items() if name not in ("splitter", "monotonic_cst")}
        if given["criterion"] == "friedman_mse":  # what scikit-learn does with it
            given["criterion"] = "squared_error"
        return self.own(recipe=tw.SKLEARN, **given)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, check_input: bool = True) -> Any:  # noqa: ARG002
        self.fitted_ = self._made().fit(as_sklearn_reads(X), y, sample_weight)
        self.exported_ = tw.export.sklearn(self.fitted_.tree_)
        for name in ("n_features_in_", "n_outputs_", "max_features_", "classes_", "n_classes_"):
            if hasattr(self.fitted_, name):
                setattr(self, name, getattr(self.fitted_, name))
        return self

    @property
    def tree_(self) -> Any:
        return self.exported_.tree_

    @property
    def feature_importances_(self) -> Any:
        check_is_fitted(self, "fitted_")
        return self.fitted_.feature_importances_

    def _answered(self, method: str, X: Any) -> Any:
        check_is_fitted(self, "fitted_")
        return getattr(self.fitted_, method)(as_sklearn_reads(X))

    def predict(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002
        return self._answered("predict", X)

    def apply(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002
        return self._answered("apply", X)

    def decision_path(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002
        return self._answered("decision_path", X)

    def get_depth(self) -> int:
        return int(self.fitted_.get_depth())

    def get_n_leaves(self) -> int:
        return int(self.fitted_.get_n_leaves())

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        return self._made().cost_complexity_pruning_path(as_sklearn_reads(X), y, sample_weight)


class Classifier(ClassifierMixin, _Adapter):
    own = tw.TreeClassifier

    def __init__(self, *, class_weight: Any = None, **given: Any) -> None:
        super().__init__(**given)
        self.class_weight = class_weight

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*_Adapter._get_param_names(), "class_weight"])

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:  # noqa: ARG002
        return self._answered("predict_proba", X)

    def predict_log_proba(self, X: Any) -> Any:
        return self._answered("predict_log_proba", X)


class Regressor(RegressorMixin, _Adapter):
    own = tw.TreeRegressor


class ExtraClassifier(Classifier):
    """Stands for ExtraTreeClassifier."""


class ExtraRegressor(Regressor):
    """Stands for ExtraTreeRegressor."""


ADAPTERS = {
    "DecisionTreeClassifier": Classifier,
    "DecisionTreeRegressor": Regressor,
    "ExtraTreeClassifier": ExtraClassifier,
    "ExtraTreeRegressor": ExtraRegressor,
}


def as_sklearn_reads(X: Any) -> Any:
    """scikit-learn rounds every table to float32 first."""
    if hasattr(X, "tocsc"):
        return X.astype(np.float32)
    return np.asarray(X, dtype=np.float32)
