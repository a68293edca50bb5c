"""The scikit-learn estimators. The only package that imports scikit-learn."""

from treewright.estimators.optimal import OptimalTreeClassifier, OptimalTreeRegressor
from treewright.estimators.trees import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CHAIDClassifier,
    CHAIDRegressor,
    ID3Classifier,
    ModelTreeRegressor,
    TreeClassifier,
    TreeRegressor,
)

__all__ = [
    "C45Classifier", "CARTClassifier", "CARTRegressor", "CHAIDClassifier", "CHAIDRegressor", "ID3Classifier",
    "ModelTreeRegressor", "OptimalTreeClassifier", "OptimalTreeRegressor", "TreeClassifier", "TreeRegressor",
]  # fmt: skip
