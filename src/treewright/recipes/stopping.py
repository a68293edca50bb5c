"""When growing stops, and what is collapsed afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from treewright.recipes.choice import (
    AtLeastTwo,
    Choice,
    Count,
    NonNegative,
    PositiveCount,
    Range,
    Share,
    choices_by_name,
)
from treewright.recipes.leaves import Constant

__all__ = ["Collapse", "Complexity", "Stopping"]


@dataclass(frozen=True)
class Stopping(Choice):
    """When a node stays a leaf.

    Parameters
    ----------
    max_depth : int, optional
        Maximum depth of the tree; the root has depth 0. No limit by default.
    min_samples_split : int, default=2
        Minimum number of rows needed to split a node.
    min_samples_leaf : int, default=1
        Minimum number of rows of every child that is not empty.
    min_weight_split : float, default=0.0
        Minimum weight needed to split a node.
    min_weight_leaf : float, default=0.0
        Minimum weight of every child that is not empty.
    min_weight_two : float, default=0.0
        Minimum weight of at least two children (C4.5's option -m).
    max_leaf_nodes : int, optional
        Maximum number of leaves; the split that improves most is made first. No limit by default.
    max_features : int, optional
        Number of columns drawn at random for each node; all by default.
    min_impurity_decrease : float, default=0.0
        Minimum gain of a split, times the node's share of the whole weight.
    max_impurity : float, optional
        A node with at most this impurity is not split.
    significance : float, optional
        Maximum p-value of the chi-square or F test for a split to be accepted.
    zero_gain : bool, default=False
        Allow splits that gain nothing by themselves.
    min_deviation : float, default=0.0
        A node is not split if the standard deviation of its target is at most this share of the whole table's (M5).
    """

    max_depth: Count | None = None
    min_samples_split: AtLeastTwo = 2
    min_samples_leaf: PositiveCount = 1
    min_weight_split: NonNegative = 0.0
    min_weight_leaf: NonNegative = 0.0
    min_weight_two: NonNegative = 0.0
    max_leaf_nodes: AtLeastTwo | None = None
    max_features: PositiveCount | None = None
    min_impurity_decrease: NonNegative = 0.0
    max_impurity: NonNegative | None = None
    significance: Share | None = None
    zero_gain: bool = False
    min_deviation: Share = 0.0


@dataclass(frozen=True)
class Collapse(Choice):
    """Replace a subtree by a leaf if it makes no fewer training errors.

    Parameters
    ----------
    top_down : bool, default=False
        Compare from the root downwards (J48) instead of from the leaves upwards (C4.5).
    """

    top_down: bool = False


@dataclass(frozen=True)
class Complexity(Choice):
    """Replace a subtree by a leaf if its splits reduce the risk too little (rpart).

    Risk is misclassified weight, costs, squared deviations, or the criterion's own loss (AbsoluteError, Poisson).

    Parameters
    ----------
    cp : float, default=0.01
        Minimum reduction of the risk per split, as a fraction of the root's risk.
    """

    cp: Annotated[float, Range(-1, 1)] = 0.01


Simplify = Collapse | Complexity
SIMPLIFY_NAMES: dict[str, Simplify] = choices_by_name(Simplify)


#: The first name of `treewright.leaves.Constant`.
Leaves = Constant


def __dir__() -> list[str]:
    return __all__
