"""How a split is scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from treewright.recipes.choice import Choice, Share, choices_by_name, require

__all__ = [
    "AbsoluteError",
    "ChiSquare",
    "Custom",
    "FTest",
    "FifthRoot",
    "GainRatio",
    "Gini",
    "Hellinger",
    "InformationGain",
    "Misclassification",
    "PiecewiseLinear",
    "Poisson",
    "StandardDeviation",
    "Twoing",
    "Variance",
]


class CriterionChoice(Choice):
    """Base of every criterion."""

    max_classes: ClassVar[int | None] = None


@dataclass(frozen=True)
class InformationGain(CriterionChoice):
    """Entropy of the node minus the weighted entropy of its children, in bits."""

    task: ClassVar[str] = "classification"
    names: ClassVar[tuple[str, ...]] = ("information_gain", "entropy", "log_loss")


@dataclass(frozen=True)
class GainRatio(CriterionChoice):
    """Information gain divided by the entropy of the split itself.

    Within a column, cuts and subsets are compared by gain; columns are compared by gain ratio.

    Parameters
    ----------
    average_rule : bool, default=True
        Only columns of at least average gain compete; columns with very many levels do not enter the average (C4.5).
    """

    average_rule: bool = True
    task: ClassVar[str] = "classification"


@dataclass(frozen=True)
class Gini(CriterionChoice):
    """Probability that two draws with replacement differ in class."""

    task: ClassVar[str] = "classification"


@dataclass(frozen=True)
class Misclassification(CriterionChoice):
    """Share of rows that are not of the majority class (training error)."""

    task: ClassVar[str] = "classification"


@dataclass(frozen=True)
class Twoing(CriterionChoice):
    """Breiman's twoing rule; two children only."""

    task: ClassVar[str] = "classification"


@dataclass(frozen=True)
class Hellinger(CriterionChoice):
    """Hellinger distance between the distributions of two classes over the children; insensitive to rare classes."""

    task: ClassVar[str] = "classification"
    max_classes: ClassVar[int | None] = 2


@dataclass(frozen=True)
class ChiSquare(CriterionChoice):
    """Smallest p-value of the chi-square test of independence.

    Parameters
    ----------
    likelihood_ratio : bool, default=False
        Use the likelihood ratio G² instead of Pearson's statistic.
    """

    likelihood_ratio: bool = False
    task: ClassVar[str] = "classification"


@dataclass(frozen=True)
class Variance(CriterionChoice):
    """Reduction of the mean squared deviation."""

    task: ClassVar[str] = "regression"
    names: ClassVar[tuple[str, ...]] = ("variance", "squared_error")


@dataclass(frozen=True)
class StandardDeviation(CriterionChoice):
    """Reduction of the standard deviation (M5)."""

    task: ClassVar[str] = "regression"


@dataclass(frozen=True)
class FifthRoot(CriterionChoice):
    """Reduction of the fifth root of the variance, which favours small even children less (Weka's M5P).

    Parameters
    ----------
    min_share : float, default=0.2
        Each child must have more than this share of the rows of its node, rounded down.
    """

    min_share: Share = 0.2
    task: ClassVar[str] = "regression"


@dataclass(frozen=True)
class PiecewiseLinear(CriterionChoice):
    """The best of five models of one column by BIC: constant, line, two constants, broken line, two lines (PILOT).

    A line keeps the node whole and explains a part of the target, two pieces split it, a constant makes it a leaf. With
    leaves=Pieces() or Linear(), branching=Ordered() and missing=Imputed(). Rows in partitions are fetched into memory.

    Parameters
    ----------
    price : {"pilot", "coefficients"}, default="pilot"
        Parameters that BIC counts for the five models: 1, 2, 5, 5 and 7 as PILOT does, which charges for a cut; or
        their coefficients alone, 1, 2, 2, 3 and 4, which grows larger trees, for a pruner to cut.
    """

    price: Literal["pilot", "coefficients"] = "pilot"
    task: ClassVar[str] = "regression"


@dataclass(frozen=True)
class AbsoluteError(CriterionChoice):
    """Reduction of the mean absolute deviation from the median; leaves predict the median."""

    task: ClassVar[str] = "regression"


@dataclass(frozen=True)
class Poisson(CriterionChoice):
    """Reduction of the half Poisson deviance; the target is a count or rate and never negative."""

    task: ClassVar[str] = "regression"


@dataclass(frozen=True)
class FTest(CriterionChoice):
    """Smallest p-value of the one-way analysis of variance (CHAID for a numeric target)."""

    task: ClassVar[str] = "regression"
    names: ClassVar[tuple[str, ...]] = ("f",)


@dataclass(frozen=True)
class Custom(CriterionChoice):
    """A criterion of your own.

    Parameters
    ----------
    function : callable
        `function(parent, children)` returns one score per candidate; larger is better. It is called once per node and
        column. `parent` has the shape (width,), `children` (candidates, children, width). Width is the number of
        classes (weights per class), or 3 for a numeric target (weight, sum, sum of squares).
    task : {"classification", "regression"}, default="classification"
        The task that the function serves.
    """

    function: Callable[[Any, Any], Any]
    task: Literal["classification", "regression"] = "classification"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(callable(self.function), f"Custom.function must be callable, not {self.function!r}")


ClassificationCriterion = (
    InformationGain | GainRatio | Gini | Misclassification | Twoing | Hellinger | ChiSquare | Custom
)
RegressionCriterion = (
    Variance | StandardDeviation | FifthRoot | PiecewiseLinear | AbsoluteError | Poisson | FTest | Custom
)
Criterion = ClassificationCriterion | RegressionCriterion
CRITERION_NAMES: dict[str, Criterion] = choices_by_name(Criterion)


def __dir__() -> list[str]:
    return __all__
