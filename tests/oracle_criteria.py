"""The oracle's formulas: impurities, gains and tests, straight from docs/choices.md.

Every sum goes through `math.fsum`. Weights and targets of the tests are dyadic, so the sums are exact, the same
multiset of entries gives the same bits, and a tie differs from a difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from treewright import recipes as r

Entries = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Rating:
    """What a division is worth. `decrease`: of the node's impurity, which tests and twoing do not compare by.

    Statistic, degrees and log_p belong to criteria that are tests.
    """

    gain: float
    score: float
    decrease: float
    statistic: float = 0.0
    degrees: float = 0.0
    log_p: float = 0.0


def weight_of(entries: Entries) -> float:
    return math.fsum(w for _, w in entries)


def class_weights(entries: Entries, n_classes: int) -> list[float]:
    return [math.fsum(w for y, w in entries if y == c) for c in range(n_classes)]


def moments(entries: Entries) -> tuple[float, float, float]:
    """Weight, mean, sum of squared deviations; in two passes, so that equal targets have none."""
    total = weight_of(entries)
    mean = math.fsum(w * y for y, w in entries) / total
    return total, mean, math.fsum(w * (y - mean) ** 2 for y, w in entries)


def lower_median(entries: Entries) -> float:
    half = weight_of(entries) / 2
    for y in sorted({y for y, _ in entries}):
        if math.fsum(w for v, w in entries if v <= y) >= half:
            return y
    raise AssertionError("no entries")


# --- impurities -------------------------------------------------------------------------------------------------------


def entropy(weights: Sequence[float]) -> float:
    total = math.fsum(weights)
    return -math.fsum(w / total * math.log2(w / total) for w in weights if w > 0)


def gini(weights: Sequence[float]) -> float:
    total = math.fsum(weights)
    return 1.0 - math.fsum((w / total) ** 2 for w in weights)


def misclassification(weights: Sequence[float]) -> float:
    return 1.0 - max(weights) / math.fsum(weights)


def variance(entries: Entries) -> float:
    total, _, deviations = moments(entries)
    return deviations / total


def absolute_error(entries: Entries) -> float:
    median = lower_median(entries)
    return math.fsum(w * abs(y - median) for y, w in entries) / weight_of(entries)


def poisson(entries: Entries) -> float:
    total, mean, _ = moments(entries)
    if mean == 0:
        return 0.0
    return math.fsum(w * (y * math.log(y / mean) if y > 0 else 0.0) for y, w in entries) / total


def impurity(criterion: object, entries: Entries, n_classes: int) -> float:
    """The impurity a node shows; tests, twoing and a user's function borrow gini or variance."""
    if n_classes:
        weights = class_weights(entries, n_classes)
        if isinstance(criterion, (r.InformationGain, r.GainRatio)):
            return entropy(weights)
        if isinstance(criterion, r.Misclassification):
            return misclassification(weights)
        return gini(weights)
    if isinstance(criterion, r.StandardDeviation):
        return math.sqrt(variance(entries))
    if isinstance(criterion, r.FifthRoot):
        return variance(entries) ** 0.2
    if isinstance(criterion, r.AbsoluteError):
        return absolute_error(entries)
    if isinstance(criterion, r.Poisson):
        return poisson(entries)
    return variance(entries)


# --- tests ------------------------------------------------------------------------------------------------------------


def chi_square_test(children: Sequence[Entries], n_classes: int, likelihood_ratio: bool) -> tuple[float, float, float]:
    """Statistic, degrees of freedom, log p; nothing to compare is p = 1."""
    table = [class_weights(child, n_classes) for child in children if child]
    present = [c for c in range(n_classes) if any(row[c] > 0 for row in table)]
    degrees = (len(table) - 1) * (len(present) - 1)
    if degrees <= 0:
        return 0.0, 0.0, 0.0
    total = math.fsum(w for row in table for w in row)
    column = {c: math.fsum(row[c] for row in table) for c in present}
    terms = []
    for row in table:
        for c in present:
            expected = math.fsum(row) * column[c] / total
            if likelihood_ratio:
                terms.append(2 * row[c] * math.log(row[c] / expected) if row[c] > 0 else 0.0)
            else:
                terms.append((row[c] - expected) ** 2 / expected)
    statistic = max(0.0, math.fsum(terms))
    return statistic, float(degrees), float(stats.chi2.logsf(statistic, degrees))


def f_test(children: Sequence[Entries]) -> tuple[float, float, float]:
    """Statistic, first degrees of freedom, log p; p = 1 where no degrees are left or nothing varies."""
    children = [child for child in children if child]
    everything = [e for child in children for e in child]
    total, _, all_deviations = moments(everything)
    within = math.fsum(moments(child)[2] for child in children)
    between = all_deviations - within
    df1, df2 = len(children) - 1, total - len(children)
    if df1 <= 0 or df2 <= 0 or between <= 1e-12 * all_deviations:
        return 0.0, float(max(df1, 0)), 0.0
    if within <= 1e-12 * all_deviations:
        return math.inf, float(df1), -math.inf
    statistic = between / df1 / (within / df2)
    return statistic, float(df1), float(stats.f.logsf(statistic, df1, df2))


def significance(criterion: object, children: Sequence[Entries], n_classes: int) -> tuple[float, float, float]:
    if n_classes:
        return chi_square_test(children, n_classes, isinstance(criterion, r.ChiSquare) and criterion.likelihood_ratio)
    return f_test(children)


# --- rating a division ------------------------------------------------------------------------------------------------


def rate(
    criterion: object, children: Sequence[Entries], n_classes: int, node_weight: float, apart: float
) -> Rating | None:
    """`children` hold the entries scored (empty ones allowed), `apart` is the missing weight that is not among them."""
    filled = [child for child in children if child]
    parent = [e for child in filled for e in child]
    total = weight_of(parent)
    factor = total / node_weight
    after = math.fsum(weight_of(child) / total * impurity(criterion, child, n_classes) for child in filled)
    decrease = factor * (impurity(criterion, parent, n_classes) - after)

    if isinstance(criterion, (r.ChiSquare, r.FTest)):
        statistic, degrees, log_p = significance(criterion, filled, n_classes)
        return Rating(-log_p, -log_p, decrease, statistic, degrees, log_p)
    if isinstance(criterion, r.Custom):
        value = custom_score(criterion, parent, children, n_classes)
        return Rating(value, value, decrease)
    if isinstance(criterion, r.Twoing):
        value = factor * twoing(filled, n_classes)
        return Rating(value, value, decrease)
    if isinstance(criterion, r.Hellinger):
        value = factor * hellinger(filled)
        return Rating(value, value, decrease)
    if isinstance(criterion, r.Poisson) and any(moments(child)[1] == 0 for child in filled):
        return None
    if not isinstance(criterion, r.GainRatio):
        return Rating(decrease, decrease, decrease)
    information = split_information(filled, apart)
    return None if information <= 0.001 else Rating(decrease, decrease / information, decrease)


def twoing(children: Sequence[Entries], n_classes: int) -> float:
    left, right = children
    a, b = weight_of(left), weight_of(right)
    pairs = zip(class_weights(left, n_classes), class_weights(right, n_classes), strict=True)
    distance = math.fsum(abs(x / a - y / b) for x, y in pairs)
    return a / (a + b) * b / (a + b) / 4 * distance**2


def hellinger(children: Sequence[Entries]) -> float:
    """The distance between the two classes' distributions over the children."""
    counts = [class_weights(child, 2) for child in children]
    first, second = (math.fsum(each) for each in zip(*counts, strict=True))
    if min(first, second) == 0:
        return 0.0
    return math.sqrt(math.fsum((math.sqrt(a / first) - math.sqrt(b / second)) ** 2 for a, b in counts))


def split_information(children: Sequence[Entries], apart: float) -> float:
    return entropy([*(weight_of(child) for child in children if child), apart])


def custom_score(criterion: r.Custom, parent: Entries, children: Sequence[Entries], n_classes: int) -> float:
    def row(entries: Entries) -> list[float]:
        if n_classes:
            return class_weights(entries, n_classes)
        return [math.fsum(w * y**power for y, w in entries) for power in (0, 1, 2)]

    table = np.array([[row(child) for child in children]], dtype=float)
    return float(np.asarray(criterion.function(np.array(row(parent), dtype=float), table))[0])
