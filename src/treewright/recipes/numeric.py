"""How a numeric column is split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treewright.recipes.choice import AtLeastTwo, Choice, NonNegative, choices_by_name, require

__all__ = ["Binned", "CategoricalOnly", "Threshold"]


@dataclass(frozen=True)
class Threshold(Choice):
    """Two children, below and above a threshold.

    Parameters
    ----------
    at : {"midpoint", "observed"}, default="midpoint"
        The stored threshold: midway between two values, or the largest value of the lower side.
    test : {"<=", "<"}, default="<="
        The test that leads to the lower side.
    min_gap : float, default=0.0
        Neighbouring values closer than this are not separated.
    min_tenth_per_class : bool, default=False
        Each side needs a tenth of the known weight per class, at least `min_weight_two` and at most 25 (C4.5).
    mdl_penalty : bool, default=False
        Subtract log2(number of cuts tried) / rows from the gain (C4.5 Release 8).
    """

    at: Literal["midpoint", "observed"] = "midpoint"
    test: Literal["<=", "<"] = "<="
    min_gap: NonNegative = 0.0
    min_tenth_per_class: bool = False
    mdl_penalty: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            not (self.at == "observed" and self.test == "<"),
            "Threshold.at='observed' stores the largest value of the lower side, so test must be '<='",
        )


@dataclass(frozen=True)
class Binned(Choice):
    """Quantile groups, made once from the whole table; the column is then ordinal (CHAID).

    Parameters
    ----------
    groups : int, default=10
        Number of groups.
    """

    groups: AtLeastTwo = 10


@dataclass(frozen=True)
class CategoricalOnly(Choice):
    """Numeric columns are refused (ID3)."""


Numeric = Threshold | Binned | CategoricalOnly
NUMERIC_NAMES: dict[str, Numeric] = choices_by_name(Numeric)


def __dir__() -> list[str]:
    return __all__
