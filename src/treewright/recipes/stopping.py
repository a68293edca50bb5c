"""The choices a recipe is made of: small frozen classes, one per alternative.

Comes in: settings as keyword arguments. Goes out: a choice, its settings checked.
Always holds: a setting cannot exist without the choice it belongs to; a choice that exists is possible by itself.
Whether choices go together is the recipe's to say. Nothing here computes anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from treewright.recipes.choice import Choice, require_count, require_one_of, require_within

__all__ = ["Collapse", "Complexity", "Leaves", "Stopping"]


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

SIMPLIFY_NAMES: dict[str, Simplify] = {"collapse": Collapse(), "complexity": Complexity()}


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


def __dir__() -> list[str]:
    return __all__
