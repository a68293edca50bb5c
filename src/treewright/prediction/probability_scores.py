"""How well probabilities, or numbers, fit rows whose target is known: one loss per row.

Log loss and Brier score are those of `sklearn.metrics`: probabilities are clipped by the precision of a float, so that
a class that was ruled out costs 36 and not infinity.
"""

from __future__ import annotations

import numpy as np

from treewright.data.arrays import Array, FloatArray
from treewright.data.encoding import Encoded
from treewright.data.schema import TargetSpec

_LEAST = float(np.finfo(np.float64).eps)


def log_losses(truth: Array, probabilities: FloatArray) -> FloatArray:
    """Return the negative logarithm of the probability of each row's class.

    >>> log_losses(np.array([1, 0]), np.array([[0.5, 0.5], [1.0, 0.0]])).round(4) + 0.0
    array([0.6931, 0.    ])
    """
    given: FloatArray = probabilities[np.arange(len(truth)), truth.astype(np.intp)]
    losses: FloatArray = -np.log(np.clip(given, _LEAST, 1.0))
    return losses


def brier_losses(truth: Array, probabilities: FloatArray) -> FloatArray:
    """Return the squared distance of each row's probabilities from its class; of two classes, of the second alone.

    >>> brier_losses(np.array([1, 0]), np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([0.25, 0.  ])
    """
    right = truth[:, np.newaxis] == np.arange(probabilities.shape[1])
    squares = (probabilities - right) ** 2
    losses: FloatArray = squares[:, 1] if probabilities.shape[1] == 2 else squares.sum(axis=1)
    return losses


def row_losses(target: TargetSpec, rows: Encoded, values: FloatArray) -> FloatArray:
    """Return the loss of each labelled row by what was predicted: log loss for classes, squared error for numbers."""
    assert rows.target is not None
    if target.classes is not None:
        return log_losses(rows.target, values)
    squares: FloatArray = (rows.target - values[:, 0]) ** 2
    return squares
