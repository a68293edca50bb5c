"""The arithmetic of the chi-square and F tests: steps with their numbers put in.

Statistic, degrees and p are the core's; expected counts are row total × column total / all, shown so that the statistic
can be followed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from treewright.criteria.statistics import score_of, significance_of
from treewright.data.number_text import count_text, figure, p_text
from treewright.inspection.derivation.formula import Expression, Fraction, Function, Number, Power, Product, Sum, total
from treewright.inspection.derivation.impurity_steps import DerivationStep, figures_of, shortened, step
from treewright.inspection.derivation.split_counts import Division


@dataclass(frozen=True)
class Expected:
    """Observed and expected weight, by branch and class."""

    observed: tuple[tuple[float, ...], ...]
    expected: tuple[tuple[float, ...], ...]


def significance_steps(
    division: Division, likelihood_ratio: bool = False
) -> tuple[list[DerivationStep], float, Expected | None]:
    """Return the steps of the test that goes with the target, the logarithm of its p, and the table for classes."""
    if division.numeric:
        steps, log_p = _f(division)
        return steps, log_p, None
    return _chi_square(division, likelihood_ratio)


def _chi_square(division: Division, likelihood_ratio: bool) -> tuple[list[DerivationStep], float, Expected]:
    observed = division.moments
    test = significance_of(np.ascontiguousarray(observed), likelihood_ratio=likelihood_ratio)
    rows, columns = observed.sum(axis=1), observed.sum(axis=0)
    expected = np.outer(rows, columns) / max(observed.sum(), 1e-300)
    cells = [(o, e) for o, e in zip(observed.ravel().tolist(), expected.ravel().tolist(), strict=True) if e > 0]
    table = Expected(*(tuple(map(tuple, part.tolist())) for part in (observed, expected)))
    if likelihood_ratio:
        words = "twice the sum over cells of observed × ln(observed / expected)"
        parts = [_log_cell(o, e) for o, e in cells if o > 0]
        numbers: Expression = Product((Number("2"), total(shortened(parts))))
        label = "G²"
    else:
        words = "sum over cells of (observed - expected)² / expected"
        numbers = total(shortened([_square_cell(o, e) for o, e in cells]))
        label = "Chi-square"
    filled, present = int(np.count_nonzero(rows > 0)), int(np.count_nonzero(columns > 0))
    factors = tuple(Sum((("+", Number(str(n))), ("-", Number("1")))) for n in (filled, present))
    steps = [
        step(label, words, numbers, test.statistic),
        step("Degrees of freedom", "(branches - 1) × (classes - 1)", Product(factors), test.degrees),
        _p(
            test.log_p,
            f"chance of a statistic of {figure(test.statistic)} or more if branch and class were independent",
        ),
    ]
    return steps, test.log_p, table


def _square_cell(observed: float, expected: float) -> Expression:
    apart = Sum((("+", Number(count_text(observed))), ("-", Number(count_text(expected)))))
    return Fraction(Power(apart, 2), Number(count_text(expected)))


def _log_cell(observed: float, expected: float) -> Expression:
    ratio = Fraction(Number(count_text(observed)), Number(count_text(expected)))
    return Product((Number(count_text(observed)), Function("ln", (ratio,))))


def _f(division: Division) -> tuple[list[DerivationStep], float]:
    """Return the one-way analysis of variance."""
    test = significance_of(np.ascontiguousarray(division.moments), numeric=True)
    filled = division.moments[division.moments[:, 0] > 0]
    whole = filled.sum(axis=0)
    assert division.centred is not None
    squares = [square for weight, _, square in division.centred[1:].tolist() if weight > 0]
    within = math.fsum(squares)
    between = float(whole[0]) * score_of("variance", whole, np.ascontiguousarray(filled))
    mean = division.origin + float(whole[1] / whole[0])
    means = [(float(w), division.origin + float(s / w)) for w, s, _ in filled]
    apart = [
        Product((Number(count_text(w)), Power(Sum((("+", figures_of(m)), ("-", figures_of(mean)))), 2)))
        for w, m in means
    ]
    top = Fraction(figures_of(between), Number(count_text(test.degrees)))
    bottom = Fraction(figures_of(within), Number(count_text(test.degrees_within)))
    infinite = test.statistic >= 1e300
    steps = [
        step("Squares between branches", "weight × (mean of branch - mean)²", total(shortened(apart)), between),
        step(
            "Squares within branches",
            "squared deviations from each branch's own mean",
            total(shortened([figures_of(square) for square in squares])),
            within,
        ),
        step(
            "F",
            f"between / (branches - 1), over within / (weight - branches): {count_text(test.degrees)} and "
            f"{count_text(test.degrees_within)} degrees of freedom",
            None if infinite else Fraction(top, bottom),
            test.statistic,
            "∞" if infinite else "",
        ),
        _p(test.log_p, "chance of such an F or a larger one if all branches had one mean"),
    ]
    return steps, test.log_p


def _p(log_p: float, words: str) -> DerivationStep:
    return step("p", words, None, math.exp(min(0.0, log_p)), p_text(log_p))
