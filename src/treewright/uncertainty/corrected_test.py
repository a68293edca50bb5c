"""The corrected t statistic for scores of folds whose training rows overlap (Nadeau and Bengio 2003).

The variance of a mean over folds is underestimated by their spread alone, because the trees share training rows; the
correction adds the ratio of test rows to training rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def corrected_error(values: Sequence[float], test_ratio: float) -> float:
    """Return the standard error of the mean of fold scores; of infinite scores it is unknown (NaN).

    >>> round(corrected_error([0.8, 0.7, 0.9, 0.8], 1 / 3), 4)
    0.0624
    """
    if len(values) < 2:
        return math.nan
    with np.errstate(over="ignore", invalid="ignore"):
        variance = float(np.var(values, ddof=1))
    return math.sqrt((1 / len(values) + test_ratio) * variance)


def interval(values: Sequence[float], test_ratio: float, confidence: float) -> tuple[float, float]:
    """Return the confidence interval of the mean, by Student's distribution with one degree less than folds."""
    from scipy.special import stdtrit

    mean = float(np.mean(values))
    half = float(stdtrit(len(values) - 1, (1 + confidence) / 2)) * corrected_error(values, test_ratio)
    return mean - half, mean + half


def paired_p(first: Sequence[float], second: Sequence[float], test_ratio: float) -> float:
    """Return the two-sided p-value of the difference of two recipes on the same folds."""
    from scipy.special import stdtr

    with np.errstate(invalid="ignore"):  # the difference of two infinite scores is unknown
        differences = np.subtract(first, second)
    error = corrected_error(differences.tolist(), test_ratio)
    mean = float(differences.mean())
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    return float(np.minimum(1.0, 2 * stdtr(len(differences) - 1, -abs(mean) / error)))
