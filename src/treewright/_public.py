"""The public names: whatever is listed here is `treewright.<name>`.

Choices are in the namespaces of their kind: `treewright.missing.Fractional()`. The estimators are loaded when first
used, because they import scikit-learn.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING

from treewright import criteria, export, pruning, render
from treewright import editing as edit
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.data.sources.named_tables import csv, sql
from treewright.errors import (
    DataError,
    ExportError,
    FileError,
    RecipeError,
    ScratchError,
    TreewrightError,
    UnseenLevelsWarning,
)
from treewright.importers.j48 import from_j48
from treewright.importers.pmml import from_pmml
from treewright.importers.rpart import from_rpart
from treewright.importers.sklearn import from_sklearn
from treewright.inspection.counterfactuals import counterfactuals
from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.explain_row import explain_row
from treewright.inspection.importance import importance
from treewright.inspection.masking import masking
from treewright.inspection.ranking import rank_splits
from treewright.inspection.rules.rules import rules
from treewright.inspection.shap import shap_values
from treewright.interactive.serve import studio
from treewright.optimal.alternatives import alternatives
from treewright.optimal.learn_optimal import learn_optimal
from treewright.prediction.intervals import predict_interval, predict_set
from treewright.prediction.predict import apply, predict, predict_batches, predict_proba
from treewright.pruning.path import PruningPath
from treewright.pruning.prune import prune, pruning_path
from treewright.recipes import branching, criterion, leaves, missing, numeric, stopping
from treewright.recipes.named import (
    C45,
    CART,
    CHAID,
    EXHAUSTIVE_CHAID,
    ID3,
    J48,
    M5,
    MODEL_TREE,
    MODEL_TREES,
    PILOT,
    RPART,
    SKLEARN,
)
from treewright.recipes.recipe import Recipe
from treewright.reporting.report import report
from treewright.training.learn import learn
from treewright.tree.saved import load, save
from treewright.tree.tree import Tree
from treewright.uncertainty.calibrate import calibrate
from treewright.uncertainty.cross_validate import cross_validate
from treewright.uncertainty.leaf_limits import leaf_limits
from treewright.uncertainty.permutation_test import permutation_test
from treewright.uncertainty.reliability import reliability
from treewright.uncertainty.soften import soften
from treewright.uncertainty.stability import stability

if TYPE_CHECKING:
    from treewright import lessons
    from treewright.estimators import (
        C45Classifier,
        CARTClassifier,
        CARTRegressor,
        CHAIDClassifier,
        CHAIDRegressor,
        ID3Classifier,
        ModelTreeRegressor,
        OptimalTreeClassifier,
        OptimalTreeRegressor,
        TreeClassifier,
        TreeRegressor,
    )  # fmt: skip

__version__ = version("treewright")

__all__ = [
    "C45", "CART", "CHAID", "EXHAUSTIVE_CHAID", "ID3", "J48", "M5", "MODEL_TREE", "MODEL_TREES", "PILOT", "RPART",
    "SKLEARN", "C45Classifier", "CARTClassifier", "CARTRegressor", "CHAIDClassifier", "CHAIDRegressor",
    "ColumnSpec", "DataError", "ExportError", "FileError", "ID3Classifier", "ModelTreeRegressor",
    "OptimalTreeClassifier", "OptimalTreeRegressor", "PruningPath", "Recipe", "RecipeError", "Schema",
    "ScratchError", "TargetSpec", "Tree", "TreeClassifier", "TreeRegressor", "TreewrightError",
    "UnseenLevelsWarning", "__version__", "alternatives", "apply", "branching", "calibrate", "counterfactuals",
    "criteria", "criterion", "cross_validate", "csv", "edit", "explain_node", "explain_row", "export", "from_j48",
    "from_pmml", "from_rpart", "from_sklearn", "importance", "leaf_limits", "learn", "learn_optimal", "leaves",
    "lessons", "load", "masking", "missing", "numeric", "permutation_test", "predict", "predict_batches",
    "predict_interval", "predict_proba", "predict_set", "prune", "pruning", "pruning_path", "rank_splits",
    "reliability", "render", "report", "rules", "save", "shap_values", "soften", "sql", "stability", "stopping",
    "studio",
]  # fmt: skip

_ESTIMATORS = frozenset(name for name in __all__ if name.endswith(("Classifier", "Regressor")))


def __getattr__(name: str) -> object:
    if name in _ESTIMATORS:
        import treewright.estimators

        return getattr(treewright.estimators, name)
    if name == "lessons":
        import treewright.lessons

        return treewright.lessons
    raise AttributeError(f"module 'treewright' has no attribute {name!r}")
