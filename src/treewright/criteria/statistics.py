"""The formulas on statistics that are already checked, as the core reads them.

Class weights; or weight, sum and sum of squares; for the absolute error weight, median, sum of deviations; for Poisson
weight, sum, sum of y ln y.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright import _core

FloatArray = NDArray[np.float64]


class Significance(NamedTuple):
    """A test as the core computes it; `log_p` stays finite where p underflows. `degrees_within`: F test only."""

    statistic: float
    degrees: float
    degrees_within: float
    log_p: float


def impurity_of(name: str, statistics: FloatArray) -> float:
    """Return how mixed one node is, by the impurity or criterion of that name."""
    return float(_core.impurity(name, statistics))


def score_of(name: str, parent: FloatArray, children: FloatArray) -> float:
    """Return how good a split is, by the criterion of that name."""
    return float(_core.score(name, parent, children))


def significance_of(children: FloatArray, *, numeric: bool = False, likelihood_ratio: bool = False) -> Significance:
    """Return the test that goes with a criterion: chi-square for classes, F for a numeric target."""
    if numeric:
        return Significance(*_core.f_test(children))
    statistic, degrees, log_p = _core.chi_square(children, likelihood_ratio)
    return Significance(statistic, degrees, 0.0, log_p)


def spread_of(name: str, values: FloatArray, weight: FloatArray) -> float:
    """Return the impurity of weighted values themselves, for what sums do not determine (the absolute error)."""
    return float(_core.impurity_of_values(name, values, weight))
