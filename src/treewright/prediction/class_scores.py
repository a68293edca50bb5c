"""Scores for classes of unequal size: recall, precision, ROC AUC, average precision; None where a score is undefined.

The definitions are those of `sklearn.metrics`. Rows of equal probability share a rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from treewright.data.arrays import Array, BoolArray, FloatArray

Steps = tuple[FloatArray, FloatArray, FloatArray]

#: A class with a smaller share of the rows than this is rare: accuracy hardly sees it.
RARE = 0.1


def per_class(matrix: FloatArray) -> list[dict[str, Any]]:
    """Return rows, recall and precision of each class, from a matrix with the truth in its rows."""
    rows, predicted, right = matrix.sum(axis=1), matrix.sum(axis=0), np.diagonal(matrix)
    return [
        {"rows": float(n), "recall": _ratio(hit, n), "precision": _ratio(hit, given)}
        for n, given, hit in zip(rows, predicted, right, strict=True)
    ]


def balanced_accuracy(matrix: FloatArray) -> float:
    """Return the mean of the recalls of the classes that have rows."""
    rows = matrix.sum(axis=1)
    return float((np.diagonal(matrix)[rows > 0] / rows[rows > 0]).mean())


def roc_aucs(truth: Array, probabilities: FloatArray, weight: FloatArray) -> list[float | None]:
    """Return the ROC AUC of each class against all others; ties count half."""
    return [_roc_auc(*steps) for steps in _steps_by_class(truth, probabilities, weight)]


def average_precisions(truth: Array, probabilities: FloatArray, weight: FloatArray) -> list[float | None]:
    """Return for each class the precision at every threshold, weighted by the recall that it adds."""
    return [_average_precision(*steps) for steps in _steps_by_class(truth, probabilities, weight)]


def _steps_by_class(truth: Array, probabilities: FloatArray, weight: FloatArray) -> Iterator[Steps]:
    return (threshold_steps(truth == k, column, weight) for k, column in enumerate(probabilities.T))


def has_rare_class(rows: list[float]) -> bool:
    """Return whether some class has few of the rows."""
    return min(rows) < RARE * sum(rows)


def threshold_steps(positive: BoolArray, score: FloatArray, weight: FloatArray) -> Steps:
    """Return the distinct scores from the highest down, and the weight of positive and of other rows at each."""
    levels, place = np.unique(-score, return_inverse=True)
    found = np.bincount(place, np.where(positive, weight, 0.0), len(levels)).astype(np.float64)
    others = np.bincount(place, np.where(positive, 0.0, weight), len(levels)).astype(np.float64)
    return -levels, found, others


def _roc_auc(_: FloatArray, found: FloatArray, others: FloatArray) -> float | None:
    above = np.cumsum(found) - found / 2
    return _ratio(float(others @ above), float(found.sum() * others.sum()))


def _average_precision(_: FloatArray, found: FloatArray, others: FloatArray) -> float | None:
    hits = np.cumsum(found)
    predicted = hits + np.cumsum(others)
    precision = np.divide(hits, predicted, out=np.zeros_like(hits), where=predicted > 0)
    return _ratio(float(found @ precision), float(found.sum()))


def _ratio(part: float, whole: float) -> float | None:
    return float(part / whole) if whole > 0 else None
