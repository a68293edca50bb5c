"""Where a row with a missing value goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from treewright.recipes.choice import Choice, Count, choices_by_name

__all__ = [
    "Fractional",
    "Ignore",
    "Imputed",
    "LearnedDirection",
    "MajorityChild",
    "OwnCategory",
    "RandomChild",
    "RefuseMissing",
    "Surrogates",
]


@dataclass(frozen=True)
class Fractional(Choice):
    """Send the row to every child, weighted by the child's share of the known weight (C4.5)."""


@dataclass(frozen=True)
class Surrogates(Choice):
    """Use the next best column that imitates the split (CART, rpart).

    rpart's `usesurrogate` is 0 with `maximum=0, then="stop"`, 1 with `then="stop"` and 2 with `then="majority"`.

    Parameters
    ----------
    maximum : int, default=5
        Maximum number of surrogate splits per node.
    then : {"majority", "stop"}, default="majority"
        Where all surrogates are missing too: go to the larger child, or stop at the node.
    majority : {"known", "all"}, default="known"
        The larger child by the rows whose value is known, or by all rows that ended there (rpart's prediction).
    imperfect_levels : bool, default=False
        Require that a nominal surrogate is wrong about at least two rows (as rpart does, probably unintentionally).
    search : {"always", "needed"}, default="always"
        Search surrogates always (rpart), or only in tables that have missing values: the search costs more than the
        search for splits.
    """

    maximum: Count = 5
    then: Literal["majority", "stop"] = "majority"
    majority: Literal["known", "all"] = "known"
    imperfect_levels: bool = False
    search: Literal["always", "needed"] = "always"
    names: ClassVar[tuple[str, ...]] = ("surrogate",)


@dataclass(frozen=True)
class OwnCategory(Choice):
    """Treat missing as one more level; beside numbers, as a child of its own or on either side."""

    names: ClassVar[tuple[str, ...]] = ("own",)


@dataclass(frozen=True)
class MajorityChild(Choice):
    """Send the row to the child with most known weight."""

    names: ClassVar[tuple[str, ...]] = ("majority",)


@dataclass(frozen=True)
class RandomChild(Choice):
    """Send the row to one child, drawn by the children's shares from the row's values and the seed."""

    names: ClassVar[tuple[str, ...]] = ("random",)


@dataclass(frozen=True)
class LearnedDirection(Choice):
    """Send missing values to the child for which the criterion is best (scikit-learn).

    If none were missing in training, to the child with most rows; of several the last, as in scikit-learn.
    """

    names: ClassVar[tuple[str, ...]] = ("learned",)


@dataclass(frozen=True)
class Ignore(Choice):
    """Drop rows with a missing value below this split; at prediction, return the node's own value."""


@dataclass(frozen=True)
class RefuseMissing(Choice):
    """Raise `DataError` for a missing value, in training and at prediction."""

    names: ClassVar[tuple[str, ...]] = ("error",)


@dataclass(frozen=True)
class Imputed(Choice):
    """A missing number counts as the mean of its column in the training table, a missing level as its most frequent.

    It goes where that value goes, in training and at prediction (Weka's M5P).
    """


Missing = (
    Fractional
    | Surrogates
    | OwnCategory
    | MajorityChild
    | RandomChild
    | LearnedDirection
    | Ignore
    | RefuseMissing
    | Imputed
)
MISSING_NAMES: dict[str, Missing] = choices_by_name(Missing)


def __dir__() -> list[str]:
    return __all__
