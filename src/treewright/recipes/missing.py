"""Where a row with a missing value goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from treewright.recipes.choice import Choice, require_count, require_one_of

__all__ = [
    "Fractional",
    "Ignore",
    "LearnedDirection",
    "MajorityChild",
    "OwnCategory",
    "RandomChild",
    "RefuseMissing",
    "Surrogates",
]


# --- missing: where a row without an answer goes ----------------------------------------------------------------------


@dataclass(frozen=True)
class Fractional(Choice):
    """Down every child, with the child's share as weight (C4.5)."""


@dataclass(frozen=True)
class Surrogates(Choice):
    """The next best column that imitates the split; when all are missing, `then` the larger child or stop (rpart).

    `maximum=0, then='stop'` is rpart's usesurrogate=0, `then='stop'` is 1, `then='majority'` is 2. `majority`: the
    larger child by the rows whose answer is `known`, or by all rows that ended there (what rpart's predict does).
    `imperfect_levels`: a nominal surrogate must be wrong about at least two rows (what rpart does, surely by mistake).
    `search`: always (rpart), or only where they are needed, in tables that have missing values: finding surrogates
    costs more than finding the splits. Without them, a missing value, or a level that no child holds, goes where `then`
    says.
    """

    maximum: int = 5
    then: Literal["majority", "stop"] = "majority"
    majority: Literal["known", "all"] = "known"
    imperfect_levels: bool = False
    search: Literal["always", "needed"] = "always"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_one_of("Surrogates", "search", self.search, ("always", "needed"))
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


Missing = (
    Fractional | Surrogates | OwnCategory | MajorityChild | RandomChild | LearnedDirection | Ignore | RefuseMissing
)

MISSING_NAMES: dict[str, Missing] = {
    "fractional": Fractional(),
    "surrogate": Surrogates(),
    "own": OwnCategory(),
    "majority": MajorityChild(),
    "random": RandomChild(),
    "learned": LearnedDirection(),
    "ignore": Ignore(),
    "error": RefuseMissing(),
}


def __dir__() -> list[str]:
    return __all__
