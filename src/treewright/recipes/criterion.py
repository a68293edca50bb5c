"""How a split is scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from treewright.recipes.choice import Choice, require, require_one_of

__all__ = [
    "AbsoluteError",
    "ChiSquare",
    "Custom",
    "FTest",
    "GainRatio",
    "Gini",
    "InformationGain",
    "Misclassification",
    "Poisson",
    "StandardDeviation",
    "Twoing",
    "Variance",
]


# --- criterion: what makes a split good -------------------------------------------------------------------------------


@dataclass(frozen=True)
class InformationGain(Choice):
    """Entropy of the node minus the weighted entropy of its children, in bits."""

    task: ClassVar[str] = "classification"


@dataclass(frozen=True)
class GainRatio(Choice):
    """Information gain divided by the entropy of the division itself.

    Inside a column cuts and subsets are compared by gain, columns among each other by ratio. `average_rule`: only
    columns of at least average gain compete, and columns with very many levels do not enter that average (C4.5).
    """

    average_rule: bool = True
    task: ClassVar[str] = "classification"


@dataclass(frozen=True)
class Gini(Choice):
    """Chance that two draws with replacement differ in class."""

    task: ClassVar[str] = "classification"


@dataclass(frozen=True)
class Misclassification(Choice):
    """Share of rows that are not of the most frequent class (training error)."""

    task: ClassVar[str] = "classification"


@dataclass(frozen=True)
class Twoing(Choice):
    """Breiman's twoing rule; two children only."""

    task: ClassVar[str] = "classification"


@dataclass(frozen=True)
class ChiSquare(Choice):
    """Smallest p of the test of independence; Pearson's statistic, or the likelihood ratio G²."""

    likelihood_ratio: bool = False
    task: ClassVar[str] = "classification"


@dataclass(frozen=True)
class Variance(Choice):
    """Reduction of the mean squared deviation."""

    task: ClassVar[str] = "regression"


@dataclass(frozen=True)
class StandardDeviation(Choice):
    """Reduction of the standard deviation (M5, the textbook's SDR)."""

    task: ClassVar[str] = "regression"


@dataclass(frozen=True)
class AbsoluteError(Choice):
    """Reduction of the mean absolute deviation from the median; leaves answer the median."""

    task: ClassVar[str] = "regression"


@dataclass(frozen=True)
class Poisson(Choice):
    """Reduction of the half Poisson deviance; the target is a count or rate and never negative."""

    task: ClassVar[str] = "regression"


@dataclass(frozen=True)
class FTest(Choice):
    """Smallest p of the one-way analysis of variance (CHAID for a numeric target)."""

    task: ClassVar[str] = "regression"


@dataclass(frozen=True)
class Custom(Choice):
    """A function `score(parent, children)`: larger is better.

    `parent` has shape (width,), `children` (candidates, children, width); it returns one number per candidate and is
    called once per node and column. Width is the number of classes (weights per class), or 3 for a numeric target
    (weight, sum, sum of squares).
    """

    function: Callable[[Any, Any], Any]
    task: Literal["classification", "regression"] = "classification"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(callable(self.function), f"Custom.function must be callable, not {self.function!r}")
        require_one_of("Custom", "task", self.task, ("classification", "regression"))


ClassificationCriterion = InformationGain | GainRatio | Gini | Misclassification | Twoing | ChiSquare | Custom
RegressionCriterion = Variance | StandardDeviation | AbsoluteError | Poisson | FTest | Custom
Criterion = ClassificationCriterion | RegressionCriterion

CRITERION_NAMES: dict[str, Criterion] = {
    "information_gain": InformationGain(),
    "entropy": InformationGain(),
    "log_loss": InformationGain(),
    "gain_ratio": GainRatio(),
    "gini": Gini(),
    "misclassification": Misclassification(),
    "twoing": Twoing(),
    "chi_square": ChiSquare(),
    "variance": Variance(),
    "squared_error": Variance(),
    "standard_deviation": StandardDeviation(),
    "absolute_error": AbsoluteError(),
    "poisson": Poisson(),
    "f": FTest(),
}


def __dir__() -> list[str]:
    return __all__
