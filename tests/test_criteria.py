"""The formulas against numpy and scipy, and against the digits of the worked examples."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

import treewright as tw
from treewright import criteria
from treewright.criteria.statistics import score_of
from treewright.errors import DataError

counts = st.lists(st.integers(0, 1000) | st.floats(0, 1000, allow_subnormal=False), min_size=1, max_size=8).filter(
    lambda c: sum(c) > 1e-3
)
# Not so small that squares vanish: there float64 itself has no digits left to compare.
values = st.lists(st.floats(-1e6, 1e6).map(lambda x: x if abs(x) > 1e-100 else 0.0), min_size=1, max_size=30)
rates = st.lists(st.integers(0, 50) | st.floats(0, 1e3, allow_subnormal=False), min_size=1, max_size=30)


@st.composite
def tables(draw: st.DrawFn, least: int = 1) -> np.ndarray:
    """Children by classes; some may be empty."""
    shape = draw(st.integers(least, 5)), draw(st.integers(1, 5))
    table = np.array([[draw(st.integers(0, 40)) for _ in range(shape[1])] for _ in range(shape[0])], dtype=float)
    assume(table.sum() > 0)
    return table


# --- one node ---------------------------------------------------------------------------------------------------------


@given(counts)
def test_impurities_of_classes(c: list[float]) -> None:
    p = np.array(c) / np.sum(c)
    assert criteria.entropy(c) == pytest.approx(stats.entropy(p, base=2), abs=1e-12)
    assert criteria.gini(c) == pytest.approx(1 - (p**2).sum(), abs=1e-12)
    assert criteria.misclassification(c) == pytest.approx(1 - p.max(), abs=1e-12)
    assert criteria.entropy(p) == pytest.approx(criteria.entropy(c), abs=1e-9)  # shares do as well as counts


@given(values)
def test_impurities_of_numbers(v: list[float]) -> None:
    size = max(map(abs, v))
    assert criteria.variance(v) == pytest.approx(np.var(v), rel=1e-9, abs=1e-9 * size**2)
    assert criteria.standard_deviation(v) ** 2 == pytest.approx(criteria.variance(v), rel=1e-9, abs=1e-300)
    expected = np.abs(np.array(v) - np.median(v)).mean()
    assert criteria.absolute_error(v) == pytest.approx(expected, rel=1e-9, abs=1e-9 * size)


@given(rates)
def test_poisson(v: list[float]) -> None:
    y, mean = np.array(v), np.mean(v)
    expected = 0.0 if mean == 0 else float(np.mean([a * math.log(a / mean) if a > 0 else 0.0 for a in y]))
    assert criteria.poisson(v) == pytest.approx(expected, rel=1e-7, abs=1e-7 * max(1.0, mean))


def test_large_offsets_lose_nothing() -> None:
    near = [1e9 + x for x in (1.0, 2.0, 3.0, 6.0)]
    assert criteria.variance(near) == pytest.approx(3.5, rel=1e-9)
    assert criteria.variance_reduction([near[:2], near[2:]]) == pytest.approx(2.25, rel=1e-9)


# --- a split ----------------------------------------------------------------------------------------------------------


@given(tables())
def test_gains_of_classes(table: np.ndarray) -> None:
    share = table.sum(axis=1) / table.sum()
    present = [child for child in table if child.sum() > 0]
    for gain, impurity in (
        (criteria.information_gain, criteria.entropy),
        (criteria.gini_gain, criteria.gini),
        (criteria.misclassification_gain, criteria.misclassification),
    ):
        after = sum(impurity(child) * child.sum() / table.sum() for child in present)
        assert gain(table) == pytest.approx(impurity(table.sum(axis=0)) - after, abs=1e-12)
    split_information = stats.entropy(share, base=2)
    assume(split_information > 0.01)
    assert criteria.gain_ratio(table) == pytest.approx(criteria.information_gain(table) / split_information, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1, max_size=5))
def test_hellinger(pairs: list[tuple[int, int]]) -> None:
    def distance(children: np.ndarray) -> float:
        return score_of("hellinger", children.sum(axis=0), children)

    children = np.array(pairs, dtype=float)
    totals = children.sum(axis=0)
    wanted = np.linalg.norm(np.diff(np.sqrt(children / totals), axis=1)) if totals.min() > 0 else 0.0
    assert distance(children) == pytest.approx(wanted, abs=1e-12)
    assert distance(children * [1, 1000]) == pytest.approx(wanted, abs=1e-12)


def test_hellinger_needs_two_classes() -> None:
    table = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "y": ["a", "b", "c", "a", "b", "c"]}
    with pytest.raises(DataError, match="Hellinger compares 2 classes, but the target 'y' has 3"):
        tw.learn(table, "y", tw.CART.with_(criterion="hellinger"))
    with pytest.raises(ValueError, match="two classes"):
        score_of("hellinger", np.full(3, 2.0), np.ones((2, 3)))


@given(tables(2))
def test_twoing(table: np.ndarray) -> None:
    left, right = table[0], table[1]
    assume(left.sum() > 0 and right.sum() > 0)
    weight = left.sum() * right.sum() / (left.sum() + right.sum()) ** 2
    apart = np.abs(left / left.sum() - right / right.sum()).sum()
    assert criteria.twoing(left, right) == pytest.approx(weight / 4 * apart**2, abs=1e-12)


@given(tables(2), st.booleans())
def test_chi_square(table: np.ndarray, likelihood_ratio: bool) -> None:
    full = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    assume(min(full.shape) > 1)
    lambda_ = "log-likelihood" if likelihood_ratio else "pearson"
    expected = stats.chi2_contingency(full, correction=False, lambda_=lambda_)
    found = criteria.chi_square(table, likelihood_ratio=likelihood_ratio)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
    assert found.degrees == expected.dof
    assert found.p == pytest.approx(expected.pvalue, rel=1e-7)
    statistic, degrees, p = found
    assert (statistic, degrees, p) == (found.statistic, found.degrees, found.p)


def test_chi_square_of_one_child_says_nothing() -> None:
    assert criteria.chi_square([[3, 4]]) == (0.0, 0.0, 1.0)


@given(st.lists(st.lists(st.integers(-50, 50), min_size=1, max_size=8), min_size=2, max_size=5))
def test_reductions_of_numbers_and_f(groups: list[list[int]]) -> None:
    together = [value for group in groups for value in group]
    weights = [len(group) / len(together) for group in groups]
    for reduction, impurity in (
        (criteria.variance_reduction, criteria.variance),
        (criteria.standard_deviation_reduction, criteria.standard_deviation),
        (criteria.absolute_error_reduction, criteria.absolute_error),
    ):
        after = sum(weight * impurity(group) for weight, group in zip(weights, groups, strict=True))
        assert reduction(groups) == pytest.approx(impurity(together) - after, abs=1e-6)
    within = sum(len(group) * np.var(group) for group in groups)
    assume(len(together) > len(groups) and within > 0)
    expected = stats.f_oneway(*groups)
    found = criteria.f(groups)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
    assert (found.degrees_between, found.degrees_within) == (len(groups) - 1, len(together) - len(groups))
    # Not scipy's own p: for equal means its statistic may come out as a tiny negative number, and p as nan.
    p = stats.f.sf(max(0.0, expected.statistic), found.degrees_between, found.degrees_within)
    assert found.p == pytest.approx(p, rel=1e-7)


@given(st.lists(st.lists(st.integers(1, 50), min_size=1, max_size=8), min_size=2, max_size=5))
def test_poisson_reduction(groups: list[list[int]]) -> None:
    together = [value for group in groups for value in group]
    after = sum(len(group) / len(together) * criteria.poisson(group) for group in groups)
    assert criteria.poisson_reduction(groups) == pytest.approx(criteria.poisson(together) - after, abs=1e-6)


def test_groups_without_any_spread_are_infinitely_apart() -> None:
    assert criteria.f([[1, 1], [2, 2]]) == (math.inf, 1.0, 2.0, 0.0)


# --- the worked examples, to the digit --------------------------------------------------------------------------------

TENNIS = {  # children as [yes, no]
    "outlook": [[2, 3], [4, 0], [3, 2]],
    "humidity": [[3, 4], [6, 1]],
    "wind": [[6, 2], [3, 3]],
    "temperature": [[2, 2], [4, 2], [3, 1]],
}


def rounded(x: float) -> float:
    return round(x, 4)


def test_tennis() -> None:
    assert rounded(criteria.entropy([9, 5])) == 0.9403
    gains = {column: rounded(criteria.information_gain(table)) for column, table in TENNIS.items()}
    assert gains == {"outlook": 0.2467, "humidity": 0.1518, "wind": 0.0481, "temperature": 0.0292}
    ratios = {column: rounded(criteria.gain_ratio(table)) for column, table in TENNIS.items()}
    assert ratios == {"outlook": 0.1564, "humidity": 0.1518, "wind": 0.0488, "temperature": 0.0188}
    assert rounded(criteria.entropy([2, 3])) == 0.971
    assert rounded(criteria.information_gain([[2, 0], [0, 3]])) == 0.971
    assert rounded(criteria.information_gain([[0, 2], [1, 1], [1, 0]])) == 0.571
    assert rounded(criteria.information_gain([[1, 2], [1, 1]])) == 0.02


def test_humidity() -> None:
    for below, above, after, gain in (((6, 0), (3, 5), 0.5454, 0.3949), ((9, 1), (0, 4), 0.3350, 0.6053)):
        assert rounded(criteria.information_gain([below, above])) == gain
        assert rounded(criteria.entropy([9, 5]) - criteria.information_gain([below, above])) == after


def test_trading() -> None:
    tables = {0.2667: [[4, 2], [0, 4]], 0.3429: [[4, 3], [0, 3]], 0.4667: [[2, 4], [2, 2]]}
    for after, table in tables.items():
        assert rounded(criteria.gini([4, 6]) - criteria.gini_gain(table)) == after


def test_cricket() -> None:
    gender, school_class = [[2, 8], [13, 7]], [[6, 8], [9, 7]]
    for gain, before, after_gender, after_class in (
        (criteria.information_gain, criteria.entropy([15, 15]), 0.8634, 0.9871),
        (criteria.gini_gain, criteria.gini([15, 15]), 0.41, 0.4911),
        (criteria.misclassification_gain, criteria.misclassification([15, 15]), 0.3, 0.4333),
    ):
        assert rounded(before - gain(gender)) == after_gender
        assert rounded(before - gain(school_class)) == after_class
    for table, after in ((gender, 0.205), (school_class, 0.2455)):
        groups = [[1] * yes + [0] * no for yes, no in table]
        assert rounded(0.25 - criteria.variance_reduction(groups)) == after


def test_buys_and_codes() -> None:
    assert rounded(criteria.entropy([6, 3])) == 0.9183
    assert rounded(criteria.information_gain([[2, 2], [2, 0], [2, 1]])) == 0.1678
    assert rounded(criteria.information_gain([[5, 0], [1, 3]])) == 0.5577
    assert criteria.entropy([0.5, 0.25, 0.125, 0.125]) == 1.75
    assert rounded(criteria.entropy([0.2, 0.8])) == 0.7219
    assert rounded(criteria.gini([0.4, 0.3, 0.2, 0.1])) == 0.7


GOLF = [25, 30, 46, 45, 52, 23, 43, 35, 38, 46, 48, 52, 44, 30]
GOLF_COLUMNS = {  # the rows (from 1) of each child
    "outlook": [[1, 2, 8, 9, 11], [3, 7, 12, 13], [4, 5, 6, 10, 14]],
    "temperature": [[1, 2, 3, 13], [4, 8, 10, 11, 12, 14], [5, 6, 7, 9]],
    "humidity": [[1, 2, 3, 4, 8, 12, 14], [5, 6, 7, 9, 10, 11, 13]],
    "wind": [[1, 3, 4, 5, 8, 9, 10, 13], [2, 6, 7, 11, 12, 14]],
}


def test_golf_hours() -> None:
    assert rounded(criteria.standard_deviation(GOLF)) == 9.3211
    reductions = {
        column: rounded(criteria.standard_deviation_reduction([[GOLF[row - 1] for row in child] for child in children]))
        for column, children in GOLF_COLUMNS.items()
    }
    assert reductions == {"outlook": 1.6622, "temperature": 0.4797, "humidity": 0.2723, "wind": 0.2821}


# --- refusing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formula", [criteria.entropy, criteria.gini, criteria.misclassification])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "counts must not be empty"),
        ([0, 0], "counts add up to 0"),
        ([3, -1], "counts must not be negative, but there is -1"),
        ([3, math.nan], "counts must be finite numbers, not nan"),
        ([3, math.inf], "counts must be finite numbers, not inf"),
        ([[3, 1]], r"counts must be a list of numbers, not of shape \(1, 2\)"),
        (3, "counts must be a list of numbers"),
        (["yes", "no"], "counts must be numbers"),
        ([[1], [2, 3]], "counts must be numbers"),
        (None, "counts must be"),
    ],
)
def test_wrong_counts(formula: Any, wrong: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        formula(wrong)


@pytest.mark.parametrize("formula", [criteria.information_gain, criteria.gain_ratio, criteria.chi_square])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([9, 5], "children must be a list of lists of numbers"),
        ([[9, 5], [1]], "children must be numbers, in lists of equal length"),
        ([[0, 0], [0, 0]], "children add up to 0"),
        ([[1, -2]], "children must not be negative"),
        ([[]], "children must not be empty"),
    ],
)
def test_wrong_children(formula: Any, wrong: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        formula(wrong)


def test_wrong_values() -> None:
    with pytest.raises(DataError, match="values must not be empty"):
        criteria.variance([])
    with pytest.raises(DataError, match="values must be finite"):
        criteria.absolute_error([1.0, math.nan])
    with pytest.raises(DataError, match=r"groups\[1\] must not be empty"):
        criteria.f([[1.0], []])
    with pytest.raises(DataError, match="groups must not be empty"):
        criteria.variance_reduction([])
    with pytest.raises(DataError, match="must not be negative for Poisson"):
        criteria.poisson([1, -1])
    with pytest.raises(DataError, match="must not be negative for Poisson"):
        criteria.poisson_reduction([[1], [-1]])
