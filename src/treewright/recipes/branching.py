"""How the levels of a nominal column become children."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treewright.recipes.choice import AtLeastTwo, Choice, PositiveCount, Share, choices_by_name, require

__all__ = ["Binary", "EachValue", "Grouped", "Merge", "OneVsRest", "Ordered"]


@dataclass(frozen=True)
class EachValue(Choice):
    """One child for every declared level (ID3, C4.5)."""


@dataclass(frozen=True)
class Binary(Choice):
    """Two children, each a set of levels (CART).

    The best set is found by ordering the levels for two classes and for variance, F test and Poisson deviance, and
    by enumeration for few levels. Otherwise the levels are ordered by the share of each class in turn (or by the mean
    target), and the best cut of these orders is taken.

    Parameters
    ----------
    enumerate_up_to : int, default=12
        Largest number of levels present at a node for which all sets are tried; at most 20.
    """

    enumerate_up_to: AtLeastTwo = 12

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.enumerate_up_to <= 20, "Binary.enumerate_up_to above 20 means over a million sets; use at most 20")


@dataclass(frozen=True)
class Grouped(Choice):
    """Levels merged pair by pair while the criterion improves (C4.5's option -s)."""


@dataclass(frozen=True)
class OneVsRest(Choice):
    """One level against all others (J48's option -B)."""


@dataclass(frozen=True)
class Merge(Choice):
    """Levels that do not differ significantly are merged; each group is a child (CHAID).

    Parameters
    ----------
    alpha_merge : float, default=0.05
        Groups of levels are merged while the p-value of their difference exceeds this.
    alpha_resplit : float, optional
        A merged group is split again if the p-value of the best division is at most this; by default never.
    alpha_split : float, default=0.05
        Maximum adjusted p-value of a split.
    bonferroni : bool, default=True
        Multiply p-values by the number of ways in which the levels can be merged.
    exhaustive : bool, default=False
        Merge down to two groups and keep the best of all groupings on the way (exhaustive CHAID).
    multiplier : {"spss", "biggs"}, default="spss"
        How the Bonferroni multiplier of exhaustive CHAID is counted: as SPSS does or as Biggs et al. (1991).
    min_child : int, default=1
        Minimum number of rows of a child; a smaller group is merged with the most similar one.
    """

    alpha_merge: Share = 0.05
    alpha_resplit: Share | None = None
    alpha_split: Share = 0.05
    bonferroni: bool = True
    exhaustive: bool = False
    multiplier: Literal["spss", "biggs"] = "spss"
    min_child: PositiveCount = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            not (self.exhaustive and self.alpha_resplit is not None),
            "Merge.alpha_resplit has no meaning with exhaustive=True, which tries every number of groups; use None",
        )


@dataclass(frozen=True)
class Ordered(Choice):
    """Two children, a cut of the levels in the order of their mean target in the training table (M5; numeric targets).

    In the order of the table, a column of k levels is k - 1 columns of 0 and 1: the levels after the first, after the
    second, and so on. Splits and linear models use these.
    """


Branching = EachValue | Binary | Grouped | OneVsRest | Merge | Ordered
BRANCHING_NAMES: dict[str, Branching] = choices_by_name(Branching)


def __dir__() -> list[str]:
    return __all__
