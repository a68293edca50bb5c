"""The choices a recipe is made of: small frozen classes, one per alternative.

Comes in: settings as keyword arguments. Goes out: a choice, its settings checked.
Always holds: a setting cannot exist without the choice it belongs to; a choice that exists is possible by itself.
Whether choices go together is the recipe's to say. Nothing here computes anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from treewright.choice import Choice, require, require_count, require_one_of, require_within

# --- branching: how the levels of a nominal column become children ---------------------------------------------------


@dataclass(frozen=True)
class EachValue(Choice):
    """One child for every declared level (ID3, C4.5)."""


@dataclass(frozen=True)
class Binary(Choice):
    """Two children, each a set of levels (CART).

    Exact by ordering the levels for a target of two classes and for variance, F and Poisson; otherwise exact by
    enumeration up to `enumerate_up_to` levels present at the node; beyond that the levels are ordered by the share of
    each class in turn (or by the mean target) and the best cut of these orders is taken.
    """

    enumerate_up_to: int = 12

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("Binary", "enumerate_up_to", self.enumerate_up_to, 2)
        require(self.enumerate_up_to <= 20, "Binary.enumerate_up_to above 20 means over a million sets; use at most 20")


@dataclass(frozen=True)
class Grouped(Choice):
    """C4.5's -s: levels merged pair by pair while the criterion improves."""


@dataclass(frozen=True)
class OneVsRest(Choice):
    """One level against all others (J48's -B)."""


@dataclass(frozen=True)
class Merge(Choice):
    """CHAID: levels that do not differ significantly are merged; the number of children follows from the data."""

    alpha_merge: float = 0.05
    alpha_resplit: float | None = None
    alpha_split: float = 0.05
    bonferroni: bool = True
    exhaustive: bool = False
    multiplier: Literal["spss", "biggs"] = "spss"
    min_child: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require_within("Merge", "alpha_merge", self.alpha_merge, 0, 1)
        require_within("Merge", "alpha_resplit", self.alpha_resplit, 0, 1, optional=True)
        require_within("Merge", "alpha_split", self.alpha_split, 0, 1)
        require_one_of("Merge", "multiplier", self.multiplier, ("spss", "biggs"))
        require_count("Merge", "min_child", self.min_child, 1)
        require(
            not (self.exhaustive and self.alpha_resplit is not None),
            "Merge.alpha_resplit has no meaning with exhaustive=True, which tries every number of groups; use None",
        )


Branching = EachValue | Binary | Grouped | OneVsRest | Merge


# --- numeric: how a column of numbers is asked about ------------------------------------------------------------------


@dataclass(frozen=True)
class Threshold(Choice):
    """Two intervals. `at` says which number is stored, `test` which side the number itself belongs to.

    `gap`: neighbouring values closer than this are not separated. `tenth`: each side needs a tenth of the known weight
    per class, at least the two-branch minimum and at most 25 (C4.5). `penalised`: log2(cuts tried) / rows is taken off
    the gain (C4.5 Release 8).
    """

    at: Literal["midpoint", "observed"] = "midpoint"
    test: Literal["<=", "<"] = "<="
    gap: float = 0.0
    tenth: bool = False
    penalised: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("Threshold", "at", self.at, ("midpoint", "observed"))
        require_one_of("Threshold", "test", self.test, ("<=", "<"))
        require_within("Threshold", "gap", self.gap, 0, math.inf)
        require(
            not (self.at == "observed" and self.test == "<"),
            "Threshold.at='observed' stores the largest value of the lower side, so test must be '<='",
        )


@dataclass(frozen=True)
class Binned(Choice):
    """Quantile groups made once from the whole table; then the column is ordinal (CHAID)."""

    groups: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("Binned", "groups", self.groups, 2)


@dataclass(frozen=True)
class Refused(Choice):
    """Columns of numbers are an error (ID3)."""


Numeric = Threshold | Binned | Refused


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


# --- missing: where a row without an answer goes ----------------------------------------------------------------------


@dataclass(frozen=True)
class Spread(Choice):
    """Down every child, with the child's share as weight (C4.5)."""


@dataclass(frozen=True)
class Surrogates(Choice):
    """The next best column that imitates the split; when all are missing, `then` the larger child or stop (rpart).

    `maximum=0, then='stop'` is rpart's usesurrogate=0, `then='stop'` is 1, `then='majority'` is 2. `majority`: the
    larger child by the rows whose answer is `known`, or by all rows that ended there (what rpart's predict does).
    `imperfect_levels`: a nominal surrogate must be wrong about at least two rows (what rpart does, surely by mistake).
    `sought`: always (rpart), or only where they are needed, in tables that have missing values: finding surrogates
    costs more than finding the splits. Without them, a missing value, or a level that no child holds, goes where `then`
    says.
    """

    maximum: int = 5
    then: Literal["majority", "stop"] = "majority"
    majority: Literal["known", "all"] = "known"
    imperfect_levels: bool = False
    sought: Literal["always", "needed"] = "always"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("Surrogates", "sought", self.sought, ("always", "needed"))
        require_count("Surrogates", "maximum", self.maximum, 0)
        require_one_of("Surrogates", "then", self.then, ("majority", "stop"))
        require_one_of("Surrogates", "majority", self.majority, ("known", "all"))


@dataclass(frozen=True)
class OwnCategory(Choice):
    """Missing is an answer like any other: one more level; beside numbers, a child of its own or either side."""


@dataclass(frozen=True)
class MajorityChild(Choice):
    """To the child with most known weight."""


@dataclass(frozen=True)
class RandomChild(Choice):
    """To one child, drawn with the children's shares; the draw depends on the row's values and the seed alone."""


@dataclass(frozen=True)
class LearnedDirection(Choice):
    """To the child where the criterion likes them best; if none were missing there, to the child of most rows.

    Of children of one size it is the last, as in scikit-learn.
    """


@dataclass(frozen=True)
class Ignore(Choice):
    """Nowhere: such rows stay behind in training, and at prediction the node itself answers."""


@dataclass(frozen=True)
class RefuseMissing(Choice):
    """A missing value is an error, in training and at prediction."""


Missing = Spread | Surrogates | OwnCategory | MajorityChild | RandomChild | LearnedDirection | Ignore | RefuseMissing

MISSING_NAMES: dict[str, Missing] = {
    "fractional": Spread(),
    "surrogate": Surrogates(),
    "own": OwnCategory(),
    "majority": MajorityChild(),
    "random": RandomChild(),
    "learned": LearnedDirection(),
    "ignore": Ignore(),
    "error": RefuseMissing(),
}

BRANCHING_NAMES: dict[str, Branching] = {
    "each_value": EachValue(),
    "binary": Binary(),
    "grouped": Grouped(),
    "one_vs_rest": OneVsRest(),
    "merge": Merge(),
}


# --- stopping, simplifying, leaves ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Stopping(Choice):
    """When a node stays a leaf. Sizes named samples count rows, sizes named weight add up weights.

    `min_samples_leaf` and `min_weight_leaf` hold for every child that is not empty, `min_weight_two` for at least two
    children (C4.5's -m). `zero_gain` allows a split that improves nothing by itself. `max_impurity` stops a node whose
    impurity is at or below it; `significance` stops when the chosen split's chi-square (or F) test has a larger p.
    """

    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_split: float = 0.0
    min_weight_leaf: float = 0.0
    min_weight_two: float = 0.0
    max_leaf_nodes: int | None = None
    max_features: int | None = None
    min_impurity_decrease: float = 0.0
    max_impurity: float | None = None
    significance: float | None = None
    zero_gain: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("Stopping", "max_depth", self.max_depth, 0, optional=True)
        require_count("Stopping", "min_samples_split", self.min_samples_split, 2)
        require_count("Stopping", "min_samples_leaf", self.min_samples_leaf, 1)
        for name in ("min_weight_split", "min_weight_leaf", "min_weight_two", "min_impurity_decrease"):
            require_within("Stopping", name, getattr(self, name), 0, math.inf)
        require_count("Stopping", "max_leaf_nodes", self.max_leaf_nodes, 2, optional=True)
        require_count("Stopping", "max_features", self.max_features, 1, optional=True)
        require_within("Stopping", "max_impurity", self.max_impurity, 0, math.inf, optional=True)
        require_within("Stopping", "significance", self.significance, 0, 1, optional=True)


@dataclass(frozen=True)
class Collapse(Choice):
    """A subtree that makes no fewer training errors than a leaf becomes a leaf (C4.5 bottom-up, J48 top-down)."""

    top_down: bool = False


@dataclass(frozen=True)
class Complexity(Choice):
    """A subtree whose splits save less than `cp` of the root's risk each becomes a leaf (rpart).

    Risk is wrong weight, costs, squared deviations, or the criterion's own loss (AbsoluteError, Poisson).
    """

    cp: float = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        require_within("Complexity", "cp", self.cp, -1, 1)


Simplify = Collapse | Complexity


@dataclass(frozen=True)
class Leaves(Choice):
    """What a leaf answers: class shares, smoothed on request; and what a leaf without rows answers.

    `laplace` adds one row per class, `m_estimate` adds `m` rows in the proportions of the whole table. A child that no
    training row reached answers its parent's `majority` class or its parent's whole `distribution`.
    """

    smoothing: Literal["none", "laplace", "m_estimate"] = "none"
    m: float = 2.0
    empty: Literal["majority", "distribution"] = "distribution"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("Leaves", "smoothing", self.smoothing, ("none", "laplace", "m_estimate"))
        require_within("Leaves", "m", self.m, 0, 1e100)  # more could not be multiplied with a weight
        require_one_of("Leaves", "empty", self.empty, ("majority", "distribution"))
