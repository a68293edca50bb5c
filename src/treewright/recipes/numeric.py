"""How a numeric column is split."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from treewright.recipes.choice import Choice, require, require_count, require_one_of, require_within

__all__ = ["Binned", "CategoricalOnly", "Threshold"]


# --- numeric: how a column of numbers is asked about ------------------------------------------------------------------


@dataclass(frozen=True)
class Threshold(Choice):
    """Two intervals. `at` says which number is stored, `test` which side the number itself belongs to.

    `min_gap`: neighbouring values closer than this are not separated. `min_tenth_per_class`: each side needs a tenth
    of the known weight
    per class, at least the two-branch minimum and at most 25 (C4.5). `mdl_penalty`: log2(cuts tried) / rows is taken
    off
    the gain (C4.5 Release 8).
    """

    at: Literal["midpoint", "observed"] = "midpoint"
    test: Literal["<=", "<"] = "<="
    min_gap: float = 0.0
    min_tenth_per_class: bool = False
    mdl_penalty: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("Threshold", "at", self.at, ("midpoint", "observed"))
        require_one_of("Threshold", "test", self.test, ("<=", "<"))
        require_within("Threshold", "min_gap", self.min_gap, 0, math.inf)
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
class CategoricalOnly(Choice):
    """Columns of numbers are an error (ID3)."""


Numeric = Threshold | Binned | CategoricalOnly

NUMERIC_NAMES: dict[str, Numeric] = {
    "threshold": Threshold(),
    "binned": Binned(),
    "categorical_only": CategoricalOnly(),
}


def __dir__() -> list[str]:
    return __all__
