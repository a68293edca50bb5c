"""What leaves predict: a constant, or a short line in the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from treewright.recipes.choice import Choice, NonNegative, PositiveCount, Range, choices_by_name, require

__all__ = ["Constant", "Linear", "Pieces"]


@dataclass(frozen=True)
class Constant(Choice):
    """A leaf predicts the shares of its classes, or the mean (median, rate) of its targets.

    Parameters
    ----------
    smoothing : {"none", "laplace", "m_estimate", "shrinkage", "shrinkage_cv"}, default="none"
        Laplace smoothing adds one row per class; the m-estimate adds `m` rows in the proportions of the whole table.
        Shrinkage draws probabilities and means towards those of the ancestors, with strength `m` (hierarchical
        shrinkage, Agarwal et al. 2022); "shrinkage_cv" chooses the strength by cross-validation, and the recipe of the
        tree then has "shrinkage" and that `m`. The others do not change means.
    m : float, default=2.0
        Number of rows added by the m-estimate; strength of the shrinkage.
    empty : {"majority", "distribution"}, default="distribution"
        A leaf without training rows predicts its parent's majority class, or its parent's class distribution.
    """

    smoothing: Literal["none", "laplace", "m_estimate", "shrinkage", "shrinkage_cv"] = "none"
    m: Annotated[float, Range(0, 1e100)] = 2.0  # more could not be multiplied with a weight
    empty: Literal["majority", "distribution"] = "distribution"


@dataclass(frozen=True)
class Linear(Choice):
    """A leaf predicts a number by a line in some columns, fitted by least squares to the rows of the leaf.

    A column of levels enters as one indicator per level. In training and prediction, a missing value and an unseen
    level count as the mean in the node.

    Parameters
    ----------
    columns : {"all", "path", "subtree"}, default="all"
        Columns that may enter: all, those tested above the node, or those tested below it before pruning (M5).
    only : tuple of str, optional
        Names of the columns that may enter; no other does.
    max_terms : int, optional, default=3
        Maximum number of terms; None for no limit.
    select : {"bic", "aic", "cp", "none"}, default="bic"
        Terms enter one after the other, the one that reduces the squared residuals most first, as long as the Bayesian
        or Akaike's information criterion falls; "none": up to `max_terms`. "cp" begins with all terms and drops those
        that M5 drops, whatever `max_terms` and `min_rows_per_term` allow.
    ridge : float, default=0.0
        Added to the sum of squares of every term, as a share of it.
    ridge_rows : float, default=0.0
        The same in rows: as if so many more, each at one standard deviation, were there. M5 has 1e-8, which settles
        what columns that give each other share.
    min_rows_per_term : int, default=5
        Rows of the node for every term and the intercept.
    max_levels : int, default=12
        Columns with more levels do not enter.
    smoothing_rows : float, default=0.0
        M5's smoothing: the model of a node of n rows is averaged with its parent's, with weights n and this number, and
        so on up to the root.
    margin : float, optional, default=0.5
        Range guard: a prediction goes beyond the targets of the node's training rows by at most this share of their
        range. 0 keeps it within the range; None sets no limit.
    """

    columns: Literal["all", "path", "subtree"] = "all"
    only: tuple[str, ...] | None = None
    max_terms: PositiveCount | None = 3
    select: Literal["bic", "aic", "cp", "none"] = "bic"
    ridge: NonNegative = 0.0
    ridge_rows: NonNegative = 0.0
    min_rows_per_term: PositiveCount = 5
    max_levels: PositiveCount = 12
    smoothing_rows: NonNegative = 0.0
    margin: Annotated[float, Range(0, 1e6)] | None = 0.5

    def __post_init__(self) -> None:
        given: Any = self.only
        if isinstance(given, list):
            given = tuple(given)
            object.__setattr__(self, "only", given)
        super().__post_init__()
        fine = given is None or (isinstance(given, tuple) and all(isinstance(name, str) for name in given))
        require(fine, f"Linear.only must be a tuple of column names, not {given!r}")


@dataclass(frozen=True)
class Pieces(Choice):
    """A leaf predicts the sum of the linear pieces on its way (`treewright.criterion.PiecewiseLinear`).

    Parameters
    ----------
    margin : float, optional, default=0.5
        Range guard, as of `Linear`.
    """

    margin: Annotated[float, Range(0, 1e6)] | None = 0.5


LeafChoice = Constant | Linear | Pieces
LEAF_NAMES: dict[str, LeafChoice] = choices_by_name(LeafChoice)


def __dir__() -> list[str]:
    return __all__
