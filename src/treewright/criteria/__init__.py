"""The formulas of the criteria, for calling by hand: `entropy([9, 5])`.

Each formula exists once, in the core; here the input is checked. The parent of a split is its children put together.
"""

from __future__ import annotations

from treewright.criteria.gains import (
    absolute_error_reduction,
    gain_ratio,
    gini_gain,
    information_gain,
    misclassification_gain,
    poisson_reduction,
    standard_deviation_reduction,
    twoing,
    variance_reduction,
)
from treewright.criteria.impurities import (
    absolute_error,
    entropy,
    gini,
    misclassification,
    poisson,
    standard_deviation,
    variance,
)
from treewright.criteria.significance import ChiSquareResult, FResult, binomial_limits, chi_square, extra_errors, f

__all__ = [
    "ChiSquareResult",
    "FResult",
    "absolute_error",
    "absolute_error_reduction",
    "binomial_limits",
    "chi_square",
    "entropy",
    "extra_errors",
    "f",
    "gain_ratio",
    "gini",
    "gini_gain",
    "information_gain",
    "misclassification",
    "misclassification_gain",
    "poisson",
    "poisson_reduction",
    "standard_deviation",
    "standard_deviation_reduction",
    "twoing",
    "variance",
    "variance_reduction",
]


def __dir__() -> list[str]:
    return __all__
