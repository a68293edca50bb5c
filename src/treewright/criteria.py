"""The formulas behind the trees, for calling by hand: `entropy([9, 5])`.

Comes in: counts (or weights, or shares) per class; for a numeric target the values themselves; for a split one list
per child. Goes out: the number the engine would compute.
Always holds: a formula exists once, in the core; here the input is checked and laid out for it, nothing more. A split's
parent is always its children put together, so it need not be given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from treewright import _core
from treewright.errors import DataError

FloatArray = NDArray[np.float64]


class ChiSquareTest(NamedTuple):
    """A test of independence."""

    statistic: float
    degrees: float
    p: float


class FTest(NamedTuple):
    """A one-way analysis of variance."""

    statistic: float
    degrees_between: float
    degrees_within: float
    p: float


# --- how mixed one node is --------------------------------------------------------------------------------------------


def entropy(counts: ArrayLike) -> float:
    """Entropy in bits.

    >>> round(entropy([9, 5]), 4)
    0.9403
    >>> entropy([1/4, 1/4, 1/4, 1/4]), entropy([1/2, 1/4, 1/8, 1/8]), entropy([0.5, 0.5])
    (2.0, 1.75, 1.0)
    >>> round(entropy([0.2, 0.8]), 4)
    0.7219
    """
    return float(_core.impurity("entropy", _counts(counts)))


def gini(counts: ArrayLike) -> float:
    """The chance that two draws with replacement differ in class.

    >>> round(gini([0.4, 0.3, 0.2, 0.1]), 4)
    0.7
    >>> gini([15, 15])
    0.5
    """
    return float(_core.impurity("gini", _counts(counts)))


def misclassification(counts: ArrayLike) -> float:
    """The share that is not of the most frequent class.

    >>> misclassification([15, 15])
    0.5
    """
    return float(_core.impurity("misclassification", _counts(counts)))


def variance(values: ArrayLike) -> float:
    """The mean squared deviation from the mean.

    >>> variance([1] * 15 + [0] * 15)
    0.25
    """
    return float(_core.impurity_of_values("variance", _values(values)))


def standard_deviation(values: ArrayLike) -> float:
    """The root of the variance.

    >>> round(standard_deviation([25, 30, 46, 45, 52, 23, 43, 35, 38, 46, 48, 52, 44, 30]), 4)
    9.3211
    """
    return float(_core.impurity_of_values("standard_deviation", _values(values)))


def absolute_error(values: ArrayLike) -> float:
    """The mean absolute deviation from the median.

    >>> absolute_error([1, 2, 9])
    2.6666666666666665
    """
    return float(_core.impurity_of_values("absolute_error", _values(values)))


def poisson(values: ArrayLike) -> float:
    """Half the mean Poisson deviance around the mean; the values are counts or rates.

    >>> round(poisson([0, 1, 2, 5]), 4)
    0.9721
    """
    return float(_core.impurity_of_values("poisson", _positive(_values(values))))


# --- how good a split is: larger is better ----------------------------------------------------------------------------


def information_gain(children: ArrayLike) -> float:
    """Entropy before minus weighted entropy after, for one list of class counts per child.

    >>> outlook = [[2, 3], [4, 0], [3, 2]]
    >>> round(information_gain(outlook), 4)
    0.2467
    """
    return _score("information_gain", _table(children))


def gain_ratio(children: ArrayLike) -> float:
    """Information gain divided by the entropy of the children's sizes.

    >>> round(gain_ratio([[2, 3], [4, 0], [3, 2]]), 4)
    0.1564
    """
    return _score("gain_ratio", _table(children))


def gini_gain(children: ArrayLike) -> float:
    """Gini before minus weighted gini after.

    >>> past_trend = [[4, 2], [0, 4]]
    >>> round(gini([4, 6]) - gini_gain(past_trend), 4)
    0.2667
    """
    return _score("gini", _table(children))


def misclassification_gain(children: ArrayLike) -> float:
    """Training error before minus training error after.

    >>> gender = [[2, 8], [13, 7]]
    >>> round(misclassification([15, 15]) - misclassification_gain(gender), 4)
    0.3
    """
    return _score("misclassification", _table(children))


def twoing(left: ArrayLike, right: ArrayLike) -> float:
    """Breiman's twoing rule for two children.

    >>> twoing([5, 0], [0, 5])
    0.25
    """
    return _score("twoing", _table([left, right]))


def chi_square(children: ArrayLike, *, likelihood_ratio: bool = False) -> ChiSquareTest:
    """Pearson's test (or the likelihood ratio G²) that class and child are independent.

    >>> chi_square([[10, 20], [20, 10]]).degrees
    1.0
    >>> round(chi_square([[10, 20], [20, 10]]).statistic, 4), round(chi_square([[10, 20], [20, 10]]).p, 4)
    (6.6667, 0.0098)
    """
    statistic, degrees, log_p = _core.chi_square(_table(children), bool(likelihood_ratio))
    return ChiSquareTest(float(statistic), float(degrees), math.exp(log_p))


def variance_reduction(groups: Sequence[ArrayLike]) -> float:
    """Variance before minus weighted variance after, for one list of values per child.

    >>> variance_reduction([[1, 1], [3, 3]])
    1.0
    """
    return _score("variance", _moments(groups))


def standard_deviation_reduction(groups: Sequence[ArrayLike]) -> float:
    """Standard deviation before minus weighted standard deviation after.

    >>> sunny, overcast, rain = [25, 30, 35, 38, 48], [46, 43, 52, 44], [45, 52, 23, 46, 30]
    >>> round(standard_deviation_reduction([sunny, overcast, rain]), 4)
    1.6622
    """
    return _score("standard_deviation", _moments(groups))


def absolute_error_reduction(groups: Sequence[ArrayLike]) -> float:
    """Mean absolute deviation from the median before minus after.

    >>> absolute_error_reduction([[1, 1], [3, 3]])
    1.0
    """
    lists = _lists(groups)
    # The core rates weight, median and sum of deviations; the median itself has no part in the score.
    stats = [[len(v), 0.0, _deviations(v)] for v in (np.concatenate(lists), *lists)]
    return float(_core.score("absolute_error", np.array(stats[0]), np.array(stats[1:])))


def poisson_reduction(groups: Sequence[ArrayLike]) -> float:
    """Half the mean Poisson deviance before minus after.

    >>> round(poisson_reduction([[1, 1], [3, 3]]), 4)
    0.2616
    """
    return _score("poisson", np.array([_deviance(_positive(values)) for values in _lists(groups)]))


def f(groups: Sequence[ArrayLike]) -> FTest:
    """The one-way analysis of variance: do the groups differ in their mean?

    >>> test = f([[1, 2, 3], [2, 3, 4]])
    >>> round(test.statistic, 4), test.degrees_between, test.degrees_within, round(test.p, 4)
    (1.5, 1.0, 4.0, 0.2879)
    """
    statistic, between, within, log_p = _core.f_test(_moments(groups))
    # The core writes an infinite statistic as a huge number, because it must fit into a file.
    return FTest(math.inf if statistic >= 1e300 else float(statistic), float(between), float(within), math.exp(log_p))


# --- how far a count of errors can be trusted -------------------------------------------------------------------------


def extra_errors(cases: ArrayLike, errors: ArrayLike, confidence: float = 0.25, *, exact: bool = False) -> FloatArray:
    """What is added to the errors seen among so many cases to reach their upper confidence limit, as C4.5 does.

    `exact` uses J48's normal deviate instead of C4.5's table.

    >>> extra_errors([6, 16, 100], [0, 1, 10]).round(4).tolist()
    [1.2378, 1.5069, 2.8147]
    """
    seen, wrong = _array(cases, "cases", 1), _array(errors, "errors", 1)
    if seen.shape != wrong.shape or (wrong < 0).any() or (seen < wrong).any():
        raise DataError("extra_errors needs one number of errors per number of cases, from 0 to all of them")
    if not 0 < confidence < 1:
        raise DataError(f"confidence must lie between 0 and 1, not {confidence!r}")
    extra: Any = _core.extra_errors(seen, wrong, confidence, exact)
    return np.asarray(extra, dtype=np.float64)


# --- the same formulas on statistics ----------------------------------------------------------------------------------
# For those who hold what the core itself reads and have checked it: class weights; or weight, sum and sum of squares;
# for the absolute error weight, median, sum of deviations; for Poisson weight, sum, sum of y ln y.


class Significance(NamedTuple):
    """A test as the core makes it; `log_p` still tells apart what would all be zero as p. `degrees_within`: F only."""

    statistic: float
    degrees: float
    degrees_within: float
    log_p: float


def impurity_of(name: str, statistics: FloatArray) -> float:
    """How mixed one node is, by the impurity or criterion of that name."""
    return float(_core.impurity(name, statistics))


def score_of(name: str, parent: FloatArray, children: FloatArray) -> float:
    """How good a split is, by the criterion of that name."""
    return float(_core.score(name, parent, children))


def significance_of(children: FloatArray, *, numeric: bool = False, likelihood_ratio: bool = False) -> Significance:
    """The test that goes with a criterion: chi-square for classes, F for a numeric target."""
    if numeric:
        return Significance(*_core.f_test(children))
    statistic, degrees, log_p = _core.chi_square(children, likelihood_ratio)
    return Significance(statistic, degrees, 0.0, log_p)


def spread_of(name: str, values: FloatArray, weight: FloatArray) -> float:
    """The impurity of weighted values themselves, for what no sums can tell (the absolute error)."""
    return float(_core.impurity_of_values(name, values, weight))


# --- checking and laying out ------------------------------------------------------------------------------------------


def _score(name: str, children: FloatArray) -> float:
    return float(_core.score(name, children.sum(axis=0), children))


def _array(numbers: Any, what: str, dimensions: int) -> FloatArray:
    try:
        array = np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{what} must be numbers, in lists of equal length: {error}") from None
    if array.ndim != dimensions:
        raise DataError(f"{what} must be a list{' of lists' * (dimensions - 1)} of numbers, not of shape {array.shape}")
    if array.size == 0:
        raise DataError(f"{what} must not be empty")
    if not np.isfinite(array).all():
        raise DataError(f"{what} must be finite numbers, not {array[~np.isfinite(array)][0]}")
    return array


def _weights(array: FloatArray, what: str) -> FloatArray:
    if (array < 0).any():
        raise DataError(f"{what} must not be negative, but there is {array[array < 0][0]:g}")
    if not array.sum() > 0:
        raise DataError(f"{what} add up to 0; at least one must be positive")
    return array


def _counts(counts: ArrayLike) -> FloatArray:
    return _weights(_array(counts, "counts", 1), "counts")


def _table(children: Any) -> FloatArray:
    """Children by classes; an empty child is allowed, an empty table is not."""
    return _weights(_array(children, "children", 2), "children")


def _values(values: ArrayLike) -> FloatArray:
    return _array(values, "values", 1)


def _lists(groups: Sequence[ArrayLike]) -> list[FloatArray]:
    lists = [_array(group, f"groups[{i}]", 1) for i, group in enumerate(groups)]
    if not lists:
        raise DataError("groups must not be empty; give one list of values per child")
    return lists


def _moments(groups: Sequence[ArrayLike]) -> FloatArray:
    """Weight, sum and sum of squares of each group, measured as the core does: from the middle of their range."""
    lists = _lists(groups)
    origin = min(values.min() for values in lists) / 2 + max(values.max() for values in lists) / 2
    return np.array([[len(values), (values - origin).sum(), ((values - origin) ** 2).sum()] for values in lists])


def _deviations(values: FloatArray) -> float:
    """The sum of absolute deviations from the lower median."""
    return float(np.abs(values - np.sort(values)[(len(values) - 1) // 2]).sum())


def _positive(values: FloatArray) -> FloatArray:
    if (values < 0).any():
        raise DataError(f"values must not be negative for Poisson, but there is {values[values < 0][0]:g}")
    return values


def _deviance(values: FloatArray) -> FloatArray:
    """Weight, sum, sum of y ln y: what the core adds up for Poisson."""
    logs = np.log(values, out=np.zeros_like(values), where=values > 0)
    return np.array([len(values), values.sum(), (values * logs).sum()])
