"""The public names, in one place.

Comes in: the rooms. Goes out: everything that `treewright` offers; whatever is listed here is `treewright.<name>`.
Always holds: scikit-learn is not imported here; the estimators are loaded when first asked for.
"""

from importlib.metadata import version
from typing import TYPE_CHECKING

from treewright import criteria, export, render
from treewright.choices import (
    AbsoluteError,
    Binary,
    Binned,
    ChiSquare,
    Collapse,
    Complexity,
    Custom,
    EachValue,
    FTest,
    GainRatio,
    Gini,
    Grouped,
    Ignore,
    InformationGain,
    LearnedDirection,
    Leaves,
    MajorityChild,
    Merge,
    Misclassification,
    OneVsRest,
    OwnCategory,
    Poisson,
    RandomChild,
    Refused,
    RefuseMissing,
    Spread,
    StandardDeviation,
    Stopping,
    Surrogates,
    Threshold,
    Twoing,
    Variance,
)
from treewright.errors import (
    DataError,
    ExportError,
    FileError,
    RecipeError,
    ScratchError,
    TreewrightError,
    UnseenLevelsWarning,
)
from treewright.explain.changes import changes
from treewright.explain.contributions import contributions
from treewright.explain.correlated import correlated
from treewright.explain.importance import importance
from treewright.explain.path import explain
from treewright.explain.ranking import rank_splits
from treewright.explain.rules import rules
from treewright.explain.worked import worked
from treewright.export.saved import load, save
from treewright.files.named import csv, sql
from treewright.imports.from_j48 import from_j48
from treewright.imports.from_pmml import from_pmml
from treewright.imports.from_rpart import from_rpart
from treewright.imports.from_sklearn import from_sklearn
from treewright.learn import learn
from treewright.predict import apply, predict, predict_batches, predict_proba
from treewright.pruners import (
    BestLeaves,
    ByNodes,
    CostComplexity,
    CostComplexityCV,
    CriticalValue,
    ErrorBased,
    ImpurityThresholdCV,
    MinimumDescription,
    MinimumError,
    Pessimistic,
    ReducedError,
    SameAnswer,
    ToDepth,
)
from treewright.pruning import prune, pruning_path
from treewright.pruning.path import PruningPath
from treewright.recipe import (
    C45,
    CART,
    CHAID,
    EXHAUSTIVE_CHAID,
    ID3,
    J48,
    RPART,
    SKLEARN,
    Recipe,
)
from treewright.report import report
from treewright.schema import ColumnSpec, Schema, TargetSpec
from treewright.tree import Tree

if TYPE_CHECKING:
    from treewright import lessons
    from treewright.estimators import (
        C45Classifier,
        CARTClassifier,
        CARTRegressor,
        CHAIDClassifier,
        CHAIDRegressor,
        ID3Classifier,
        TreeClassifier,
        TreeRegressor,
    )

__version__ = version("treewright")

__all__ = [
    "C45",
    "CART",
    "CHAID",
    "EXHAUSTIVE_CHAID",
    "ID3",
    "J48",
    "RPART",
    "SKLEARN",
    "AbsoluteError",
    "BestLeaves",
    "Binary",
    "Binned",
    "ByNodes",
    "C45Classifier",
    "CARTClassifier",
    "CARTRegressor",
    "CHAIDClassifier",
    "CHAIDRegressor",
    "ChiSquare",
    "Collapse",
    "ColumnSpec",
    "Complexity",
    "CostComplexity",
    "CostComplexityCV",
    "CriticalValue",
    "Custom",
    "DataError",
    "EachValue",
    "ErrorBased",
    "ExportError",
    "FTest",
    "FileError",
    "GainRatio",
    "Gini",
    "Grouped",
    "ID3Classifier",
    "Ignore",
    "ImpurityThresholdCV",
    "InformationGain",
    "LearnedDirection",
    "Leaves",
    "MajorityChild",
    "Merge",
    "MinimumDescription",
    "MinimumError",
    "Misclassification",
    "OneVsRest",
    "OwnCategory",
    "Pessimistic",
    "Poisson",
    "PruningPath",
    "RandomChild",
    "Recipe",
    "RecipeError",
    "ReducedError",
    "RefuseMissing",
    "Refused",
    "SameAnswer",
    "Schema",
    "ScratchError",
    "Spread",
    "StandardDeviation",
    "Stopping",
    "Surrogates",
    "TargetSpec",
    "Threshold",
    "ToDepth",
    "Tree",
    "TreeClassifier",
    "TreeRegressor",
    "TreewrightError",
    "Twoing",
    "UnseenLevelsWarning",
    "Variance",
    "__version__",
    "apply",
    "changes",
    "contributions",
    "correlated",
    "criteria",
    "csv",
    "explain",
    "export",
    "from_j48",
    "from_pmml",
    "from_rpart",
    "from_sklearn",
    "importance",
    "learn",
    "lessons",
    "load",
    "predict",
    "predict_batches",
    "predict_proba",
    "prune",
    "pruning_path",
    "rank_splits",
    "render",
    "report",
    "rules",
    "save",
    "sql",
    "worked",
]

_ESTIMATORS = frozenset(name for name in __all__ if name.endswith(("Classifier", "Regressor")))


def __getattr__(name: str) -> object:
    if name in _ESTIMATORS:
        import treewright.estimators

        return getattr(treewright.estimators, name)
    if name == "lessons":
        import treewright.lessons

        return treewright.lessons
    raise AttributeError(f"module 'treewright' has no attribute {name!r}")
