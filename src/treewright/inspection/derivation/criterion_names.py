"""What each criterion is called, by the core and by people.

Comes in: a choice of criterion. Goes out: its `Measure`: names and the formula in words.
Always holds: every criterion a recipe accepts has one; no formula is computed here.
"""

from __future__ import annotations

from dataclasses import dataclass

from treewright.data.schema import TargetSpec
from treewright.recipes.criterion import (
    AbsoluteError,
    ChiSquare,
    Criterion,
    Custom,
    FTest,
    GainRatio,
    Gini,
    InformationGain,
    Misclassification,
    Poisson,
    StandardDeviation,
    Twoing,
    Variance,
)
from treewright.recipes.recipe import Recipe


@dataclass(frozen=True)
class Measure:
    """`name` as in `CRITERION_NAMES`; `impurity` as people and the core call it; `words`: its formula; `score`: what
    the criterion's own number is called, `score_words` how it comes about."""

    name: str
    impurity: str
    words: str
    score: str
    score_words: str

    @property
    def impurity_name(self) -> str:
        """What the core calls the impurity."""
        return self.impurity.replace(" ", "_")

    @property
    def averages(self) -> bool:
        """Whether the score is an impurity before minus its weighted mean after."""
        return self.name not in ("gain_ratio", "twoing", "chi_square", "f", "custom")


_ENTROPY = ("entropy", "minus the sum over classes of share × log2(share)")
_GINI = ("gini", "one minus the sum of squared shares")
_VARIANCE = ("variance", "sum of squared deviations from the mean / weight")
_GAIN = "before the split minus after it"

_MEASURES: dict[type, Measure] = {
    InformationGain: Measure("information_gain", *_ENTROPY, "information gain", _GAIN),
    GainRatio: Measure("gain_ratio", *_ENTROPY, "gain ratio", "information gain / split information"),
    Gini: Measure("gini", *_GINI, "gini gain", _GAIN),
    Misclassification: Measure(
        "misclassification", "misclassification", "one minus the largest share", "decrease of misclassification", _GAIN
    ),
    Twoing: Measure("twoing", *_GINI, "twoing", "share left × share right / 4 × squared sum of differences"),
    ChiSquare: Measure("chi_square", *_GINI, "-ln p", "minus the natural logarithm of p"),
    Variance: Measure("variance", *_VARIANCE, "reduction of variance", _GAIN),
    StandardDeviation: Measure(
        "standard_deviation",
        "standard deviation",
        "root of (sum of squared deviations from the mean / weight)",
        "reduction of standard deviation",
        _GAIN,
    ),
    AbsoluteError: Measure(
        "absolute_error",
        "absolute error",
        "sum of absolute deviations from the median / weight",
        "reduction of absolute error",
        _GAIN,
    ),
    Poisson: Measure(
        "poisson", "poisson", "mean of y ln y minus mean × ln(mean)", "reduction of half the Poisson deviance", _GAIN
    ),
    FTest: Measure("f", *_VARIANCE, "-ln p", "minus the natural logarithm of p"),
    Custom: Measure("custom", *_GINI, "score", "the user's own formula"),
}


def criterion_of(recipe: Recipe, target: TargetSpec) -> Criterion:
    """The criterion that a recipe has for such a target; a tree made by hand may come with none."""
    if target.classes is None:
        return recipe.regression or Variance()
    return recipe.criterion or Gini()


def measure_of(criterion: Criterion) -> Measure:
    return _MEASURES[type(criterion)]


def shown_name(criterion: Criterion) -> str:
    """The name under which a criterion stands in a table; a user's function has its own."""
    if isinstance(criterion, Custom):
        return str(getattr(criterion.function, "__name__", "custom"))
    name = measure_of(criterion).name
    return "likelihood_ratio" if isinstance(criterion, ChiSquare) and criterion.likelihood_ratio else name
