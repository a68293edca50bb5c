"""The names of each criterion, its formula in words, and the derivation of a score with a formula of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treewright.criteria.statistics import score_of
from treewright.data.schema import TargetSpec
from treewright.inspection.derivation.formula import Fraction, Function, Number, Power, Product, Sum, total
from treewright.inspection.derivation.impurity_steps import DerivationStep, of, shortened, step
from treewright.recipes.criterion import (
    AbsoluteError,
    ChiSquare,
    Criterion,
    Custom,
    FifthRoot,
    FTest,
    GainRatio,
    Gini,
    Hellinger,
    InformationGain,
    Misclassification,
    PiecewiseLinear,
    Poisson,
    StandardDeviation,
    Twoing,
    Variance,
)
from treewright.recipes.recipe import Recipe

if TYPE_CHECKING:
    from treewright.inspection.derivation.split_counts import Division


@dataclass(frozen=True)
class Measure:
    """The names of a criterion.

    `name` is as in `CRITERION_NAMES`, `impurity` as people and the core call it, `words` its formula, `score` the name
    of the criterion's number and `score_words` its formula. `own_steps` derives a score that is no decrease of the
    impurity, ratio or test.
    """

    name: str
    impurity: str
    words: str
    score: str
    score_words: str
    own_steps: Callable[[Division], list[DerivationStep]] | None = None

    @property
    def impurity_name(self) -> str:
        """What the core calls the impurity."""
        return self.impurity.replace(" ", "_")


def _twoing(division: Division) -> list[DerivationStep]:
    left, right = division.children.tolist()
    sizes, known = division.weights.tolist(), division.known
    if min(sizes) <= 0:
        return [step("Twoing", "a branch is empty", None, 0.0)]
    pairs = [(a, b) for a, b in zip(left, right, strict=True) if a > 0 or b > 0]
    apart = [Function("abs", (Sum((("+", of(a, sizes[0])), ("-", of(b, sizes[1])))),)) for a, b in pairs]
    difference = sum(abs(a / sizes[0] - b / sizes[1]) for a, b in pairs)
    words = "over all classes, how far its shares in the two branches are apart"
    first = step("Sum of differences", words, total(shortened(apart)), difference)
    score = score_of("twoing", division.parent, division.children)
    quarter = Fraction(Number("1"), Number("4"))
    numbers = Product((of(sizes[0], known), of(sizes[1], known), quarter, Power(Number(first.shown), 2)))
    return [first, step("Twoing", "share left × share right / 4 × the sum squared", numbers, score)]


def _hellinger(division: Division) -> list[DerivationStep]:
    """Derive the distance; its steps are the difference of each branch and the root of the sum of their squares."""
    first, second = division.children.sum(axis=0).tolist()
    if min(first, second) <= 0:
        return [step("Hellinger distance", "a class is missing", None, 0.0)]
    pairs = [(a, b) for a, b in division.children.tolist() if a > 0 or b > 0]
    apart = [
        Power(Sum((("+", Function("sqrt", (of(a, first),))), ("-", Function("sqrt", (of(b, second),))))), 2)
        for a, b in pairs
    ]
    squares = sum((math.sqrt(a / first) - math.sqrt(b / second)) ** 2 for a, b in pairs)
    words = "over all branches, root of the first class's share that goes there less root of the second's, squared"
    summed = step("Sum of squares", words, total(shortened(apart)), squares)
    score = score_of("hellinger", division.parent, division.children)
    return [summed, step("Hellinger distance", "root of the sum", Function("sqrt", (Number(summed.shown),)), score)]


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
    Twoing: Measure("twoing", *_GINI, "twoing", "share left × share right / 4 × squared sum of differences", _twoing),
    Hellinger: Measure("hellinger", *_GINI, "Hellinger distance", "root of the sum over branches", _hellinger),
    ChiSquare: Measure("chi_square", *_GINI, "-ln p", "minus the natural logarithm of p"),
    Variance: Measure("variance", *_VARIANCE, "reduction of variance", _GAIN),
    StandardDeviation: Measure(
        "standard_deviation",
        "standard deviation",
        "root of (sum of squared deviations from the mean / weight)",
        "reduction of standard deviation",
        _GAIN,
    ),
    FifthRoot: Measure(
        "fifth_root",
        "fifth root",
        "fifth root of (sum of squared deviations from the mean / weight)",
        "reduction of the fifth root of the variance",
        _GAIN,
    ),
    PiecewiseLinear: Measure("variance", *_VARIANCE, "reduction of variance", _GAIN),
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

#: Shown names of the criteria whose score is -ln p.
TESTS = frozenset({"chi_square", "likelihood_ratio", "f"})


def criterion_of(recipe: Recipe, target: TargetSpec) -> Criterion:
    """Return the criterion that a recipe has for such a target; a tree made by hand may come with none."""
    if target.classes is None:
        return recipe.regression or Variance()
    return recipe.criterion or Gini()


def measure_of(criterion: Criterion) -> Measure:
    return _MEASURES[type(criterion)]


def shown_name(criterion: Criterion) -> str:
    """Return the name under which a criterion stands in a table; a user's function has its own."""
    if isinstance(criterion, Custom):
        return str(getattr(criterion.function, "__name__", "custom"))
    name = measure_of(criterion).name
    return "likelihood_ratio" if isinstance(criterion, ChiSquare) and criterion.likelihood_ratio else name
