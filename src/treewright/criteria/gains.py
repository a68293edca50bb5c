"""Gain of a split, from the class counts or target values of its children; larger is better."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from treewright import _core
from treewright.criteria.checks import FloatArray, class_table, moments, non_negative, target_lists


def information_gain(children: ArrayLike) -> float:
    """Compute the entropy before a split minus the weighted entropy after it.

    Parameters
    ----------
    children : array-like
        Class counts of each child, one list per child.

    Returns
    -------
    float
        The gain.

    Examples
    --------
    >>> outlook = [[2, 3], [4, 0], [3, 2]]
    >>> round(information_gain(outlook), 4)
    0.2467
    """
    return _score("information_gain", class_table(children))


def gain_ratio(children: ArrayLike) -> float:
    """Compute the information gain divided by the entropy of the children's sizes.

    Parameters
    ----------
    children : array-like
        Class counts of each child, one list per child.

    Returns
    -------
    float
        The gain ratio.

    Examples
    --------
    >>> round(gain_ratio([[2, 3], [4, 0], [3, 2]]), 4)
    0.1564
    """
    return _score("gain_ratio", class_table(children))


def gini_gain(children: ArrayLike) -> float:
    """Compute the Gini impurity before a split minus the weighted impurity after it.

    Parameters
    ----------
    children : array-like
        Class counts of each child, one list per child.

    Returns
    -------
    float
        The gain.

    Examples
    --------
    >>> from treewright.criteria import gini
    >>> past_trend = [[4, 2], [0, 4]]
    >>> round(gini([4, 6]) - gini_gain(past_trend), 4)
    0.2667
    """
    return _score("gini", class_table(children))


def misclassification_gain(children: ArrayLike) -> float:
    """Compute the training error before a split minus the error after it.

    Parameters
    ----------
    children : array-like
        Class counts of each child, one list per child.

    Returns
    -------
    float
        The gain.

    Examples
    --------
    >>> from treewright.criteria import misclassification
    >>> gender = [[2, 8], [13, 7]]
    >>> round(misclassification([15, 15]) - misclassification_gain(gender), 4)
    0.3
    """
    return _score("misclassification", class_table(children))


def twoing(left: ArrayLike, right: ArrayLike) -> float:
    """Compute Breiman's twoing rule for two children.

    Parameters
    ----------
    left : array-like
        Class counts of one child.
    right : array-like
        Class counts of the other.

    Returns
    -------
    float
        The score.

    Examples
    --------
    >>> twoing([5, 0], [0, 5])
    0.25
    """
    return _score("twoing", class_table([left, right]))


def variance_reduction(groups: Sequence[ArrayLike]) -> float:
    """Compute the variance before a split minus the weighted variance after it.

    Parameters
    ----------
    groups : sequence of array-like
        Values of the target, one list per child.

    Returns
    -------
    float
        The gain.

    Examples
    --------
    >>> variance_reduction([[1, 1], [3, 3]])
    1.0
    """
    return _score("variance", moments(groups))


def standard_deviation_reduction(groups: Sequence[ArrayLike]) -> float:
    """Compute the standard deviation before a split minus the weighted one after it.

    Parameters
    ----------
    groups : sequence of array-like
        Values of the target, one list per child.

    Returns
    -------
    float
        The gain.

    Examples
    --------
    >>> sunny, overcast, rain = [25, 30, 35, 38, 48], [46, 43, 52, 44], [45, 52, 23, 46, 30]
    >>> round(standard_deviation_reduction([sunny, overcast, rain]), 4)
    1.6622
    """
    return _score("standard_deviation", moments(groups))


def absolute_error_reduction(groups: Sequence[ArrayLike]) -> float:
    """Compute the mean absolute deviation from the median before a split minus after it.

    Parameters
    ----------
    groups : sequence of array-like
        Values of the target, one list per child.

    Returns
    -------
    float
        The gain.

    Examples
    --------
    >>> absolute_error_reduction([[1, 1], [3, 3]])
    1.0
    """
    lists = target_lists(groups)
    # The core rates weight, median and sum of deviations; the median itself has no part in the score.
    stats = [[len(v), 0.0, _deviations(v)] for v in (np.concatenate(lists), *lists)]
    return float(_core.score("absolute_error", np.array(stats[0]), np.array(stats[1:])))


def poisson_reduction(groups: Sequence[ArrayLike]) -> float:
    """Compute half the mean Poisson deviance before a split minus after it.

    Parameters
    ----------
    groups : sequence of array-like
        Values of the target, one list per child.

    Returns
    -------
    float
        The gain.

    Examples
    --------
    >>> round(poisson_reduction([[1, 1], [3, 3]]), 4)
    0.2616
    """
    return _score("poisson", np.array([_deviance(non_negative(values)) for values in target_lists(groups)]))


def _score(name: str, children: FloatArray) -> float:
    return float(_core.score(name, children.sum(axis=0), children))


def _deviations(values: FloatArray) -> float:
    """Return the sum of absolute deviations from the lower median."""
    return float(np.abs(values - np.sort(values)[(len(values) - 1) // 2]).sum())


def _deviance(values: FloatArray) -> FloatArray:
    """Weight, sum, sum of y ln y: what the core adds up for Poisson."""
    logs = np.log(values, out=np.zeros_like(values), where=values > 0)
    return np.array([len(values), values.sum(), (values * logs).sum()])
