"""Impurity of one node, from class counts or target values."""

from __future__ import annotations

from numpy.typing import ArrayLike

from treewright import _core
from treewright.criteria.checks import class_counts, non_negative, target_values


def entropy(counts: ArrayLike) -> float:
    """Compute the entropy of class counts, in bits.

    Parameters
    ----------
    counts : array-like
        Counts, weights or shares per class.

    Returns
    -------
    float
        The impurity.

    Examples
    --------
    >>> round(entropy([9, 5]), 4)
    0.9403
    >>> entropy([1/4, 1/4, 1/4, 1/4]), entropy([1/2, 1/4, 1/8, 1/8]), entropy([0.5, 0.5])
    (2.0, 1.75, 1.0)
    >>> round(entropy([0.2, 0.8]), 4)
    0.7219
    """
    return float(_core.impurity("entropy", class_counts(counts)))


def gini(counts: ArrayLike) -> float:
    """Compute the Gini impurity: the probability that two draws with replacement differ in class.

    Parameters
    ----------
    counts : array-like
        Counts, weights or shares per class.

    Returns
    -------
    float
        The impurity.

    Examples
    --------
    >>> round(gini([0.4, 0.3, 0.2, 0.1]), 4)
    0.7
    >>> gini([15, 15])
    0.5
    """
    return float(_core.impurity("gini", class_counts(counts)))


def misclassification(counts: ArrayLike) -> float:
    """Compute the share that is not of the majority class.

    Parameters
    ----------
    counts : array-like
        Counts, weights or shares per class.

    Returns
    -------
    float
        The impurity.

    Examples
    --------
    >>> misclassification([15, 15])
    0.5
    """
    return float(_core.impurity("misclassification", class_counts(counts)))


def variance(values: ArrayLike) -> float:
    """Compute the mean squared deviation from the mean.

    Parameters
    ----------
    values : array-like
        Values of a numeric target.

    Returns
    -------
    float
        The impurity.

    Examples
    --------
    >>> variance([1] * 15 + [0] * 15)
    0.25
    """
    return float(_core.impurity_of_values("variance", target_values(values)))


def standard_deviation(values: ArrayLike) -> float:
    """Compute the square root of the variance.

    Parameters
    ----------
    values : array-like
        Values of a numeric target.

    Returns
    -------
    float
        The impurity.

    Examples
    --------
    >>> round(standard_deviation([25, 30, 46, 45, 52, 23, 43, 35, 38, 46, 48, 52, 44, 30]), 4)
    9.3211
    """
    return float(_core.impurity_of_values("standard_deviation", target_values(values)))


def absolute_error(values: ArrayLike) -> float:
    """Compute the mean absolute deviation from the median.

    Parameters
    ----------
    values : array-like
        Values of a numeric target.

    Returns
    -------
    float
        The impurity.

    Examples
    --------
    >>> absolute_error([1, 2, 9])
    2.6666666666666665
    """
    return float(_core.impurity_of_values("absolute_error", target_values(values)))


def poisson(values: ArrayLike) -> float:
    """Compute half the mean Poisson deviance around the mean.

    Parameters
    ----------
    values : array-like
        Counts or rates, never negative.

    Returns
    -------
    float
        The impurity.

    Examples
    --------
    >>> round(poisson([0, 1, 2, 5]), 4)
    0.9721
    """
    return float(_core.impurity_of_values("poisson", non_negative(target_values(values))))
