"""The ways to prune: small frozen classes, one per method.

Comes in: settings as keyword arguments. Goes out: a pruner, its settings checked.
Always holds: a pruner that exists is possible by itself; whether a tree and the rows at hand suit it is for `pruning`
to say. Nothing here computes anything: what each does, exactly, is in docs/pruning.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from treewright.recipes.choice import Choice, is_number, require, require_count, require_one_of, require_within

__all__ = [
    "CollapseNodes",
    "CostComplexity",
    "CostComplexityCV",
    "CriticalValue",
    "ErrorBased",
    "ImpurityThresholdCV",
    "MaxDepth",
    "MaxLeaves",
    "MergeEqualLeaves",
    "MinimumDescription",
    "MinimumError",
    "Pessimistic",
    "ReducedError",
]

#: What a tree does wrong on its training rows: what its answers cost, its impurity, or its deviance.
Risk = Literal["error", "impurity", "deviance"]
RISKS: tuple[Risk, ...] = ("error", "impurity", "deviance")

#: How the price of a node is found: by the weakest links below it one after the other, or as rpart finds it.
WeakestLink = Literal["exact", "rpart"]
WEAKEST_LINKS: tuple[WeakestLink, ...] = ("exact", "rpart")

#: Which size wins: the smallest tree within one standard error of the best, or the best itself.
Rule = Literal["1se", "min"]
RULES: tuple[Rule, ...] = ("1se", "min")


class _Pruner(Choice):
    """Base of every pruner. `classes_only`: it counts wrong classes and has no meaning for a numeric target."""

    classes_only: ClassVar[bool] = False


# --- by cross-validation, or by its result ----------------------------------------------------------------------------


@dataclass(frozen=True)
class CostComplexity(_Pruner):
    """The smallest tree of least risk + alpha x leaves (Breiman's weakest links).

    `risk`: "error" is what the answers cost (rpart), "impurity" the criterion's impurity (scikit-learn), "deviance"
    twice the negative log-likelihood. `weakest_link`: a node's price is "exact", or "rpart"'s, who looks at its
    children as a
    whole and never inside them, and so may cut a little earlier. `unit`: alpha is a share of the whole "weight"
    (scikit-learn's ccp_alpha) or of the "root"'s risk (rpart's cp).
    """

    alpha: float
    risk: Risk = "error"
    weakest_link: WeakestLink = "exact"
    unit: Literal["weight", "root"] = "weight"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_within("CostComplexity", "alpha", self.alpha, 0, math.inf)
        require_one_of("CostComplexity", "risk", self.risk, RISKS)
        require_one_of("CostComplexity", "weakest_link", self.weakest_link, WEAKEST_LINKS)
        require_one_of("CostComplexity", "unit", self.unit, ("weight", "root"))


@dataclass(frozen=True)
class _CrossValidated(_Pruner):
    """What all choices by cross-validation share. `stratified`: every fold has its share of each class."""

    folds: int = 10
    rule: Rule = "1se"
    repeats: int = 1
    seed: int = 0
    stratified: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        require_count(owner, "folds", self.folds, 2)
        require_one_of(owner, "rule", self.rule, RULES)
        require_count(owner, "repeats", self.repeats, 1)
        require_count(owner, "seed", self.seed, 0)
        require(isinstance(self.stratified, bool), f"{owner}.stratified must be True or False, not {self.stratified!r}")


@dataclass(frozen=True)
class CostComplexityCV(_CrossValidated):
    """Cost-complexity with the alpha that cross-validation chooses (CART)."""

    risk: Risk = "error"
    weakest_link: WeakestLink = "exact"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("CostComplexityCV", "risk", self.risk, RISKS)
        require_one_of("CostComplexityCV", "weakest_link", self.weakest_link, WEAKEST_LINKS)


@dataclass(frozen=True)
class ImpurityThresholdCV(_CrossValidated):
    """Nodes at or below an impurity stay leaves; cross-validation chooses which impurity.

    `thresholds` are those to try; None tries every impurity of the tree itself.
    """

    rule: Rule = "min"
    thresholds: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.thresholds is None:
            return
        given: object = self.thresholds
        require(
            isinstance(given, (list, tuple)) and len(given) > 0 and all(is_number(x) and x >= 0 for x in given),
            f"ImpurityThresholdCV.thresholds must be numbers from zero up, or None, not {given!r}",
        )
        object.__setattr__(self, "thresholds", tuple(sorted({float(x) for x in self.thresholds})))


# --- by rows the tree has not seen ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReducedError(_Pruner):
    """Bottom-up, a subtree that answers the validation rows no better than a leaf becomes a leaf (Quinlan 1987).

    As part of a recipe, `share` of the training rows is set aside as validation rows; `seed` says which.
    """

    share: float = 0.25
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = is_number(self.share) and 0 < self.share < 1
        require(ok, f"ReducedError.share must be a number above 0 and below 1, not {self.share!r}")
        require_count("ReducedError", "seed", self.seed, 0)


# --- by an estimate from the training rows ----------------------------------------------------------------------------


@dataclass(frozen=True)
class ErrorBased(_Pruner):
    """C4.5: a subtree becomes a leaf, or its largest branch, where that promises fewer errors.

    Errors are taken at the upper limit of their confidence interval. `raising` allows the largest branch to take its
    parent's place. `deviate`: the normal quantile is interpolated in C4.5's "table" or "exact" (J48).
    """

    confidence: float = 0.25
    raising: bool = True
    deviate: Literal["table", "exact"] = "table"
    classes_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        ok = is_number(self.confidence) and 0 < self.confidence <= 1
        require(ok, f"ErrorBased.confidence must be a number above 0 and up to 1, not {self.confidence!r}")
        require_one_of("ErrorBased", "deviate", self.deviate, ("table", "exact"))


@dataclass(frozen=True)
class Pessimistic(_Pruner):
    """A subtree whose errors, half an error added per leaf, are not lower by a standard error (Quinlan 1987)."""

    correction: float = 0.5
    standard_errors: float = 1.0
    classes_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_within("Pessimistic", "correction", self.correction, 0, math.inf)
        require_within("Pessimistic", "standard_errors", self.standard_errors, 0, math.inf)


@dataclass(frozen=True)
class MinimumError(_Pruner):
    """A subtree whose expected error is not lower; probabilities are m-estimates (Niblett and Bratko, Cestnik)."""

    m: float = 2.0
    classes_only: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        require_within("MinimumError", "m", self.m, 0, math.inf)


@dataclass(frozen=True)
class CriticalValue(_Pruner):
    """A subtree none of whose splits reaches `value` by what columns were compared by (Mingers)."""

    value: float

    def __post_init__(self) -> None:
        super().__post_init__()
        require(is_number(self.value), f"CriticalValue.value must be a number, not {self.value!r}")


@dataclass(frozen=True)
class MinimumDescription(_Pruner):
    """A subtree that takes no fewer bits, tree and exceptions together, than a leaf (MDL)."""

    classes_only: ClassVar[bool] = True


# --- by hand ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CollapseNodes(_Pruner):
    """The named nodes become leaves."""

    nodes: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        given: object = self.nodes
        require(
            isinstance(given, (list, tuple, set, frozenset)),
            f"CollapseNodes.nodes must be the ids of nodes, as in (4, 9), not {given!r}",
        )
        for node in self.nodes:
            require_count("CollapseNodes", "nodes", node, 0)
        object.__setattr__(self, "nodes", tuple(sorted(set(self.nodes))))


@dataclass(frozen=True)
class MergeEqualLeaves(_Pruner):
    """Siblings that are leaves and give the same answer, which is their parent's too, are one leaf."""


@dataclass(frozen=True)
class MaxDepth(_Pruner):
    """No path is longer than `depth`."""

    depth: int

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("MaxDepth", "depth", self.depth, 0)


@dataclass(frozen=True)
class MaxLeaves(_Pruner):
    """At most `leaves` leaves: of all such trees the one of least impurity."""

    leaves: int

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("MaxLeaves", "leaves", self.leaves, 1)


Pruner = (
    CostComplexity
    | CostComplexityCV
    | ImpurityThresholdCV
    | ReducedError
    | ErrorBased
    | Pessimistic
    | MinimumError
    | CriticalValue
    | MinimumDescription
    | CollapseNodes
    | MergeEqualLeaves
    | MaxDepth
    | MaxLeaves
)

#: Every kind of pruner.
PRUNERS: tuple[type[Pruner], ...] = get_args(Pruner)

#: The pruners that need no setting, by name.
PRUNING_NAMES: dict[str, Pruner] = {
    "cost_complexity_cv": CostComplexityCV(),
    "impurity_threshold_cv": ImpurityThresholdCV(),
    "reduced_error": ReducedError(),
    "error_based": ErrorBased(),
    "pessimistic": Pessimistic(),
    "minimum_error": MinimumError(),
    "minimum_description": MinimumDescription(),
    "merge_equal_leaves": MergeEqualLeaves(),
}


def __dir__() -> list[str]:
    return __all__
