"""Tests of a split (chi-square, F), and confidence limits of counts: C4.5's and the exact binomial ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from treewright import _core
from treewright.criteria.checks import FloatArray, check_confidence, class_table, moments, number_array
from treewright.errors import DataError


class ChiSquareResult(NamedTuple):
    """Result of a test of independence.

    Parameters
    ----------
    statistic : float
        The chi-square statistic.
    degrees : float
        Degrees of freedom.
    p : float
        The p-value.
    """

    statistic: float
    degrees: float
    p: float


class FResult(NamedTuple):
    """Result of a one-way analysis of variance.

    Parameters
    ----------
    statistic : float
        The F statistic.
    degrees_between : float
        Degrees of freedom between groups.
    degrees_within : float
        Degrees of freedom within groups.
    p : float
        The p-value.
    """

    statistic: float
    degrees_between: float
    degrees_within: float
    p: float


def chi_square(children: ArrayLike, *, likelihood_ratio: bool = False) -> ChiSquareResult:
    """Test whether class and child are independent.

    Parameters
    ----------
    children : array-like
        Class counts of each child, one list per child.
    likelihood_ratio : bool, default=False
        Use the likelihood ratio G² instead of Pearson's statistic.

    Returns
    -------
    ChiSquareResult
        Statistic, degrees of freedom and p-value.

    Examples
    --------
    >>> chi_square([[10, 20], [20, 10]]).degrees
    1.0
    >>> round(chi_square([[10, 20], [20, 10]]).statistic, 4), round(chi_square([[10, 20], [20, 10]]).p, 4)
    (6.6667, 0.0098)
    """
    statistic, degrees, log_p = _core.chi_square(class_table(children), bool(likelihood_ratio))
    return ChiSquareResult(float(statistic), float(degrees), math.exp(log_p))


def f(groups: Sequence[ArrayLike]) -> FResult:
    """Test whether groups differ in their mean: one-way analysis of variance.

    Parameters
    ----------
    groups : sequence of array-like
        Values of the target, one list per child.

    Returns
    -------
    FResult
        Statistic, degrees of freedom and p-value.

    Examples
    --------
    >>> test = f([[1, 2, 3], [2, 3, 4]])
    >>> round(test.statistic, 4), test.degrees_between, test.degrees_within, round(test.p, 4)
    (1.5, 1.0, 4.0, 0.2879)
    """
    statistic, between, within, log_p = _core.f_test(moments(groups))
    # The core writes an infinite statistic as a huge number, because it must fit into a file.
    return FResult(math.inf if statistic >= 1e300 else float(statistic), float(between), float(within), math.exp(log_p))


def extra_errors(cases: ArrayLike, errors: ArrayLike, confidence: float = 0.25, *, exact: bool = False) -> FloatArray:
    """Compute C4.5's correction from observed errors to their upper confidence limit.

    Parameters
    ----------
    cases : array-like
        Number of cases.
    errors : array-like
        Number of errors among them.
    confidence : float, default=0.25
        Confidence level.
    exact : bool, default=False
        Use the exact normal quantile (J48) instead of C4.5's table.

    Returns
    -------
    ndarray
        Errors to add.

    Examples
    --------
    >>> extra_errors([6, 16, 100], [0, 1, 10]).round(4).tolist()
    [1.2378, 1.5069, 2.8147]
    """
    seen, wrong = number_array(cases, "cases", 1), number_array(errors, "errors", 1)
    if seen.shape != wrong.shape or (wrong < 0).any() or (seen < wrong).any():
        raise DataError("extra_errors needs one number of errors per number of cases, from 0 to all of them")
    check_confidence(confidence)
    extra: Any = _core.extra_errors(seen, wrong, confidence, exact)
    return np.asarray(extra, dtype=np.float64)


def binomial_limits(successes: ArrayLike, trials: ArrayLike, confidence: float = 0.95) -> FloatArray:
    """Compute exact confidence limits of probabilities (Clopper and Pearson 1934).

    Parameters
    ----------
    successes : array-like
        Number of successes.
    trials : array-like
        Number of trials of each.
    confidence : float, default=0.95
        The probability, above 0 and below 1, with which the limits hold the true probability, at least.

    Returns
    -------
    ndarray of shape (n, 2)
        The lower and the upper limit of each probability.

    Examples
    --------
    >>> binomial_limits([0, 9, 14], [14, 14, 14]).round(3).tolist()
    [[0.0, 0.232], [0.351, 0.872], [0.768, 1.0]]
    """
    from scipy.special import betaincinv

    hits, n = number_array(successes, "successes", 1), number_array(trials, "trials", 1)
    if hits.shape != n.shape or (hits < 0).any() or (n < hits).any():
        raise DataError("binomial_limits needs one number of successes per number of trials, from 0 to all of them")
    check_confidence(confidence)
    tail, misses = (1 - confidence) / 2, n - hits
    low = np.where(hits > 0, betaincinv(np.where(hits > 0, hits, 1), misses + 1, tail), 0.0)
    high = np.where(misses > 0, betaincinv(hits + 1, np.where(misses > 0, misses, 1), 1 - tail), 1.0)
    return np.stack([low, high], axis=1)
