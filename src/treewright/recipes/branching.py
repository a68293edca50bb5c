"""How the levels of a nominal column become children."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treewright.recipes.choice import Choice, require, require_count, require_one_of, require_within

__all__ = ["Binary", "EachValue", "Grouped", "Merge", "OneVsRest"]


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

BRANCHING_NAMES: dict[str, Branching] = {
    "each_value": EachValue(),
    "binary": Binary(),
    "grouped": Grouped(),
    "one_vs_rest": OneVsRest(),
    "merge": Merge(),
}


def __dir__() -> list[str]:
    return __all__
