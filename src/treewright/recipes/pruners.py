"""The pruning methods as values. What each computes is in `treewright.pruning` and docs/pruning.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, NamedTuple, get_args

from treewright.recipes.choice import (
    AtLeastTwo,
    Choice,
    Count,
    NonNegative,
    PositiveCount,
    Range,
    choices_by_name,
    count_fault,
    is_number,
    require,
)

__all__ = [
    "AdjustedError",
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

#: Loss of a tree on its training rows: misclassification cost, impurity, or deviance.
Risk = Literal["error", "impurity", "deviance"]

#: How the alpha of a node is found: from the weakest links below it, or as rpart does.
WeakestLink = Literal["exact", "rpart"]

#: Which tree is chosen: the smallest within one standard error of the best, or the best.
Rule = Literal["1se", "min"]

#: Bytes needed to deal one row into folds: its random number, class, units of weight and index.
_BYTES_TO_DEAL = 40


class RowMemory(NamedTuple):
    """Memory for rows that a pruner needs in one place: bytes, the reason, and what to use instead."""

    n_bytes: int
    reason: str
    remedy: str


class _Pruner(Choice):
    """Base of every pruner.

    `classes_only`: it counts wrong classes, so it has no meaning for a numeric target. `models_only`: it compares
    linear models. `holds_out`: as part of a recipe it sets aside a `share` of the training rows.
    """

    classes_only: ClassVar[bool] = False
    models_only: ClassVar[bool] = False
    holds_out: ClassVar[bool] = False

    @property
    def n_trees(self) -> int:
        """Number of further trees that are grown."""
        return 0

    def row_memory(self, n_rows: int, row_bytes: int) -> RowMemory | None:  # noqa: ARG002
        """Return the memory needed for rows in one place, given the size of the table; None if none are."""
        return None


# --- by cross-validation, or by its result ----------------------------------------------------------------------------


@dataclass(frozen=True)
class CostComplexity(_Pruner):
    """Minimal cost-complexity pruning: the smallest tree that minimises risk + alpha x leaves.

    Parameters
    ----------
    alpha : float
        Price of a leaf.
    risk : {"error", "impurity", "deviance"}, default="error"
        The loss of a tree: misclassification costs or squared deviations (rpart), the criterion's impurity
        (scikit-learn), or twice the negative log-likelihood.
    weakest_link : {"exact", "rpart"}, default="exact"
        How the alpha of a node is found. rpart compares a node with its children as a whole, never with parts of
        them, and may cut slightly earlier.
    unit : {"weight", "root"}, default="weight"
        `alpha` is a fraction of the total weight (scikit-learn's `ccp_alpha`) or of the root's risk (rpart's `cp`).
    """

    alpha: NonNegative
    risk: Risk = "error"
    weakest_link: WeakestLink = "exact"
    unit: Literal["weight", "root"] = "weight"


@dataclass(frozen=True)
class _CrossValidated(_Pruner):
    """Settings of every pruner that chooses by cross-validation."""

    folds: AtLeastTwo = 10
    rule: Rule = "1se"
    repeats: PositiveCount = 1
    seed: Count = 0
    stratified: bool = True

    @property
    def n_trees(self) -> int:
        return self.folds * self.repeats

    def row_memory(self, n_rows: int, row_bytes: int) -> RowMemory:  # noqa: ARG002
        return RowMemory(_BYTES_TO_DEAL * n_rows, "deals all rows into folds", "CostComplexity(alpha)")


@dataclass(frozen=True)
class CostComplexityCV(_CrossValidated):
    """Cost-complexity pruning with the alpha that cross-validation chooses (CART).

    Parameters
    ----------
    folds : int, default=10
        Number of folds.
    rule : {"1se", "min"}, default="1se"
        Choose the smallest tree within one standard error of the lowest held-out risk, or the lowest.
    repeats : int, default=1
        Number of cross-validations that are averaged.
    seed : int, default=0
        Seed of the folds.
    stratified : bool, default=True
        Give every fold its share of each class.
    risk : {"error", "impurity", "deviance"}, default="error"
        The loss of a tree, as for `CostComplexity`.
    weakest_link : {"exact", "rpart"}, default="exact"
        How the alpha of a node is found, as for `CostComplexity`.
    """

    risk: Risk = "error"
    weakest_link: WeakestLink = "exact"


@dataclass(frozen=True)
class ImpurityThresholdCV(_CrossValidated):
    """Make nodes of low impurity leaves; cross-validation chooses the limit.

    Parameters
    ----------
    folds : int, default=10
        Number of folds.
    rule : {"1se", "min"}, default="min"
        Choose the limit with the lowest held-out risk, or the largest within one standard error of it.
    repeats : int, default=1
        Number of cross-validations that are averaged.
    seed : int, default=0
        Seed of the folds.
    stratified : bool, default=True
        Give every fold its share of each class.
    thresholds : sequence of float, optional
        The limits to try; by default every impurity of the tree itself.
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
    """Reduced-error pruning: a subtree that predicts the validation rows no better than a leaf becomes a leaf.

    Quinlan (1987). `prune` takes the validation rows as `data`; a recipe sets training rows aside.

    Parameters
    ----------
    share : float, default=0.25
        Fraction of the training rows set aside as validation rows, in a recipe.
    seed : int, default=0
        Seed of the choice of these rows.
    """

    share: Annotated[float, Range(0, 1, open_low=True, open_high=True)] = 0.25
    seed: Count = 0
    holds_out: ClassVar[bool] = True

    def row_memory(self, n_rows: int, row_bytes: int) -> RowMemory:
        needed = int((_BYTES_TO_DEAL + self.share * row_bytes) * n_rows)
        return RowMemory(needed, "sets a share of the rows aside", "CostComplexity(alpha), or a smaller share")


# --- by an estimate from the training rows ----------------------------------------------------------------------------


@dataclass(frozen=True)
class ErrorBased(_Pruner):
    """Error-based pruning (C4.5): the upper confidence limit of the training errors decides.

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence level of the limit, above 0 and up to 1; smaller values prune more.
    raising : bool, default=True
        Allow the largest branch to replace its parent (subtree raising).
    deviate : {"table", "exact"}, default="table"
        Interpolate the normal quantile in C4.5's table, or compute it (J48).
    """

    confidence: Annotated[float, Range(0, 1, open_low=True)] = 0.25
    raising: bool = True
    deviate: Literal["table", "exact"] = "table"
    classes_only: ClassVar[bool] = True

    def row_memory(self, n_rows: int, row_bytes: int) -> RowMemory | None:
        if not self.raising:
            return None
        return RowMemory(row_bytes * n_rows, "sends all rows down the tree again", "ErrorBased(raising=False)")


@dataclass(frozen=True)
class Pessimistic(_Pruner):
    """Pessimistic pruning (Quinlan 1987): training errors with a continuity correction per leaf.

    Parameters
    ----------
    correction : float, default=0.5
        Errors added per leaf.
    standard_errors : float, default=1.0
        A subtree stays if its corrected errors are lower than the leaf's by this many standard errors.
    """

    correction: NonNegative = 0.5
    standard_errors: NonNegative = 1.0
    classes_only: ClassVar[bool] = True


@dataclass(frozen=True)
class MinimumError(_Pruner):
    """Minimum-error pruning: expected errors by m-estimates (Niblett and Bratko, Cestnik).

    Parameters
    ----------
    m : float, default=2.0
        Number of rows in the proportions of the whole table that join every leaf.
    """

    m: NonNegative = 2.0
    classes_only: ClassVar[bool] = True


@dataclass(frozen=True)
class CriticalValue(_Pruner):
    """Critical-value pruning (Mingers): a subtree needs a split that reaches a score.

    Parameters
    ----------
    value : float
        Minimum score, in the unit by which columns are compared.
    """

    value: float


@dataclass(frozen=True)
class MinimumDescription(_Pruner):
    """Minimum description length: a subtree must take fewer bits, exceptions included, than a leaf."""

    classes_only: ClassVar[bool] = True


# --- by hand ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CollapseNodes(_Pruner):
    """Make the given nodes leaves.

    Parameters
    ----------
    nodes : sequence of int
        Ids of nodes.
    """

    nodes: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        given: object = self.nodes
        require(
            isinstance(given, (list, tuple, set, frozenset)),
            f"CollapseNodes.nodes must be the ids of nodes, as in (4, 9), not {given!r}",
        )
        for node in self.nodes:
            fault = count_fault(node, Range(0))
            require(fault is None, f"CollapseNodes.nodes must be {fault}")
        object.__setattr__(self, "nodes", tuple(sorted(set(self.nodes))))


@dataclass(frozen=True)
class MergeEqualLeaves(_Pruner):
    """Merge sibling leaves that predict the same, and the same as their parent."""


@dataclass(frozen=True)
class MaxDepth(_Pruner):
    """Cut the tree at a depth.

    Parameters
    ----------
    depth : int
        Maximum depth; the root has depth 0.
    """

    depth: Count


@dataclass(frozen=True)
class MaxLeaves(_Pruner):
    """Keep the subtree of least impurity among those with a limited number of leaves.

    Parameters
    ----------
    leaves : int
        Maximum number of leaves.
    """

    leaves: PositiveCount


@dataclass(frozen=True)
class AdjustedError(_Pruner):
    """Replace a subtree by the linear model of its node if the adjusted error is no larger (M5; linear leaves).

    The root mean squared error on the training rows is multiplied by (n + factor x v) / (n - v): n rows, v parameters,
    which are intercepts, terms, and one for each split.

    Parameters
    ----------
    factor : float, default=2.0
        The price of a parameter; Weka's M5P has 2.
    """

    factor: NonNegative = 2.0
    models_only: ClassVar[bool] = True


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
    | AdjustedError
)

#: Every kind of pruner.
PRUNERS: tuple[type[Pruner], ...] = get_args(Pruner)

#: The pruners that need no setting, by name.
PRUNING_NAMES: dict[str, Pruner] = choices_by_name(Pruner)


def __dir__() -> list[str]:
    return __all__
