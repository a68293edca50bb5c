"""Scores of classes beyond accuracy, for classes of unequal size: recall and precision, ROC AUC, average precision.

Comes in: a confusion matrix; the truth, the probabilities and the weight of each row. Goes out: plain numbers, None
where a score is not defined.
Always holds: the definitions are scikit-learn's (`sklearn.metrics`), which the tests compare with; rows of equal
probability share a rank, so their order does not matter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

#: A class with a smaller share of the rows than this is rare: accuracy hardly sees it.
RARE = 0.1


def per_class(matrix: FloatArray) -> list[dict[str, Any]]:
    """Rows, recall and precision of each class, from a matrix with the truth in its rows."""
    rows, answers, right = matrix.sum(axis=1), matrix.sum(axis=0), np.diagonal(matrix)
    return [
        {"rows": float(n), "recall": _ratio(hit, n), "precision": _ratio(hit, given)}
        for n, given, hit in zip(rows, answers, right, strict=True)
    ]


def balanced_accuracy(matrix: FloatArray) -> float:
    """The mean of the recalls of the classes that have rows."""
    rows = matrix.sum(axis=1)
    return float((np.diagonal(matrix)[rows > 0] / rows[rows > 0]).mean())


def roc_aucs(truth: NDArray[Any], probabilities: FloatArray, weight: FloatArray) -> list[float | None]:
    """For each class against all others, how likely a row of the class has the higher probability; ties count half."""
    return [
        _roc_auc(*_steps(truth == place, probabilities[:, place], weight)) for place in range(probabilities.shape[1])
    ]


def average_precisions(truth: NDArray[Any], probabilities: FloatArray, weight: FloatArray) -> list[float | None]:
    """For each class the precision at every threshold, weighted by the recall that it adds."""
    return [
        _average_precision(*_steps(truth == place, probabilities[:, place], weight))
        for place in range(probabilities.shape[1])
    ]


def has_rare_class(rows: list[float]) -> bool:
    """Whether some class has few of the rows."""
    return min(rows) < RARE * sum(rows)


def _steps(positive: NDArray[np.bool_], score: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weight of the positive and of the other rows at each different score, from the highest score down."""
    levels, place = np.unique(-score, return_inverse=True)
    found = np.bincount(place, np.where(positive, weight, 0.0), len(levels)).astype(np.float64)
    others = np.bincount(place, np.where(positive, 0.0, weight), len(levels)).astype(np.float64)
    return found, others


def _roc_auc(found: FloatArray, others: FloatArray) -> float | None:
    above = np.cumsum(found) - found / 2
    return _ratio(float(others @ above), float(found.sum() * others.sum()))


def _average_precision(found: FloatArray, others: FloatArray) -> float | None:
    hits = np.cumsum(found)
    answered = hits + np.cumsum(others)
    precision = np.divide(hits, answered, out=np.zeros_like(hits), where=answered > 0)
    return _ratio(float(found @ precision), float(found.sum()))


def _ratio(part: float, whole: float) -> float | None:
    return float(part / whole) if whole > 0 else None
