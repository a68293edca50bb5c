"""Is the oracle itself right? It must give the numbers of the worked examples, which were worked out by hand.

Only the oracle is under test; the compiled core is not used.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import oracle
import pytest
from oracle_candidates import candidates
from oracle_criteria import absolute_error, class_weights, entropy, gini, impurity, misclassification, variance
from oracle_merge import log_multiplier, stirling
from oracle_table import NOMINAL, NUMBER, children_of, problem, weigh

from treewright import recipes as r

TENNIS = """Sunny Hot High Weak No; Sunny Hot High Strong No; Overcast Hot High Weak Yes; Rain Mild High Weak Yes;
Rain Cool Normal Weak Yes; Rain Cool Normal Strong No; Overcast Cool Normal Weak Yes; Sunny Mild High Weak No;
Sunny Cool Normal Weak Yes; Rain Mild Normal Strong Yes; Sunny Mild Normal Strong Yes; Overcast Mild High Strong Yes;
Overcast Hot Normal Weak Yes; Rain Mild High Strong No"""
TRADING = """Positive Low High Up; Negative High Low Down; Positive Low High Up; Positive High High Up;
Negative Low High Down; Positive Low Low Down; Negative High High Down; Negative Low High Down; Positive Low Low Down;
Positive High High Up"""
BUYS = """<30 high yes; >30 medium yes; >30 low no; >30 high no; <30 high yes; <30 medium yes; >30 high no; <30 low yes;
<30 low yes"""
HUMIDITY = "54 y 58 y 59 y 60 y 60 y 62 y 63 n 80 y 81 y 89 y 90 n 90 n 90 n 92 n"
HOURS = [25, 30, 46, 45, 52, 23, 43, 35, 38, 46, 48, 52, 44, 30]
OUTLOOK, TEMPERATURE, WETNESS, WIND = range(4)


def nominal(text: str) -> tuple[list[np.ndarray], list[int], list[int], np.ndarray]:
    """Codes in order of appearance: columns, kinds, levels, and the last column as the target."""
    rows = [row.split() for row in text.split(";")]
    coded, counts = [], []
    for column in zip(*rows, strict=True):
        order = list(dict.fromkeys(column))
        coded.append(np.array([order.index(x) for x in column], dtype=np.int32))
        counts.append(len(order))
    return coded[:-1], [NOMINAL] * (len(coded) - 1), counts[:-1], coded[-1]


def each_value(criterion: object = None, regression: object = None) -> r.Recipe:
    return r.Recipe(
        branching=r.EachValue(),
        numeric=r.CategoricalOnly(),
        criterion=criterion,
        regression=regression,
        missing=r.RefuseMissing(),
    )


def gains(text: str, recipe: r.Recipe, target: np.ndarray | None = None) -> list[float]:
    """The score of every column at the root."""
    columns, kinds, levels, classes = nominal(text)
    n_classes = 0 if target is not None else 2
    p = problem(columns, kinds, levels, classes if target is None else target, n_classes, None, recipe)
    return [only.score for column in range(len(columns)) for only in candidates(p, p.root, column)]


def test_tennis_gains() -> None:
    assert entropy([9, 5]) == pytest.approx(0.9403, abs=5e-5)
    assert gains(TENNIS, each_value(r.InformationGain())) == pytest.approx([0.2467, 0.0292, 0.1518, 0.0481], abs=5e-5)
    assert gains(TENNIS, each_value(r.GainRatio())) == pytest.approx([0.1564, 0.0188, 0.1518, 0.0488], abs=5e-5)


def test_tennis_in_sunny() -> None:
    columns, kinds, levels, target = nominal(TENNIS)
    sunny = columns[OUTLOOK] == 0
    part = [column[sunny] for column in columns]
    p = problem(part, kinds, levels, target[sunny], 2, None, each_value(r.InformationGain()))
    found = [candidates(p, p.root, j) for j in range(4)]
    assert found[OUTLOOK] == []
    assert [found[j][0].gain for j in (TEMPERATURE, WETNESS, WIND)] == pytest.approx([0.5710, 0.9710, 0.0200], abs=5e-5)


def test_tennis_tree() -> None:
    columns, kinds, levels, target = nominal(TENNIS)
    tree = oracle.grow(columns, kinds, levels, target, 2, None, r.ID3)
    assert tree["split"].column == OUTLOOK
    assert [child["split"] and child["split"].column for child in tree["children"]] == [WETNESS, None, WIND]
    assert tree["clear"]
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for row, label in zip(rows, target, strict=True):
        value = oracle.predict_row(tree, row, kinds)
        assert value.index(max(value)) == label


@pytest.mark.parametrize(("at", "stored"), [("midpoint", 89.5), ("observed", 89.0)])
def test_humidity_cuts(at: str, stored: float) -> None:
    words = HUMIDITY.split()
    values = np.array([float(x) for x in words[::2]])
    target = np.array([int(x == "n") for x in words[1::2]], dtype=np.int32)
    recipe = r.Recipe(criterion=r.InformationGain(), regression=None, numeric=r.Threshold(at=at))
    p = problem([values], [NUMBER], [0], target, 2, None, recipe)
    found = candidates(p, p.root, 0)
    assert len(found) == len(np.unique(values)) - 1
    after = {min(x for x in values if x > c.split.breaks[0]): c.gain for c in found}
    assert after[63] == pytest.approx(0.3949, abs=5e-5)
    assert after[90] == pytest.approx(0.6053, abs=5e-5)
    best = max(found, key=lambda c: c.gain)
    assert best.gain == after[90]
    assert best.split.breaks == (stored,)


def test_trading_gini() -> None:
    weighted = [gini([4, 6]) - gain for gain in gains(TRADING, each_value(r.Gini()))]
    assert weighted == pytest.approx([0.2667, 0.4667, 0.3429], abs=5e-5)


def test_cricket_four_functions() -> None:
    gender, school = [(8, 2), (7, 13)], [(8, 6), (7, 9)]
    for function, parent, after in (
        (entropy, 1.0, (0.8634, 0.9871)),
        (gini, 0.5, (0.4100, 0.4911)),
        (misclassification, 0.5, (0.3000, 0.4333)),
        (lambda counts: variance([(0.0, counts[0]), (1.0, counts[1])]), 0.25, (0.2050, 0.2455)),
    ):
        assert function([15, 15]) == pytest.approx(parent)
        for children, expected in zip((gender, school), after, strict=True):
            assert sum(sum(c) / 30 * function(c) for c in children) == pytest.approx(expected, abs=5e-5)


def test_buys() -> None:
    assert entropy([6, 3]) == pytest.approx(0.9183, abs=5e-5)
    assert gains(BUYS, each_value(r.InformationGain())) == pytest.approx([0.5577, 0.1678], abs=5e-5)


def test_codes() -> None:
    assert entropy([1, 1, 1, 1]) == 2
    assert entropy([4, 2, 1, 1]) == 1.75
    assert entropy([1, 1]) == 1
    assert entropy([2, 8]) == pytest.approx(0.7219, abs=5e-5)
    assert gini([4, 3, 2, 1]) == pytest.approx(0.7)


def test_golf_hours() -> None:
    """D7 and D10 have their wind exchanged against the tennis table above."""
    rows = [row.split() for row in TENNIS.split(";")]
    rows[6][WIND], rows[9][WIND] = "Strong", "Weak"
    text = ";".join(" ".join(row) for row in rows)
    hours = np.array(HOURS, dtype=float)
    spread = r.StandardDeviation()
    assert impurity(spread, [(y, 1.0) for y in hours], 0) == pytest.approx(9.3211, abs=5e-5)
    expected = [1.6622, 0.4797, 0.2723, 0.2821]
    assert gains(text, each_value(None, spread), hours) == pytest.approx(expected, abs=5e-5)


def test_absolute_error_uses_the_lower_median() -> None:
    assert absolute_error([(1.0, 1.0), (2.0, 1.0)]) == 0.5
    assert absolute_error([(0.0, 3.0), (4.0, 1.0)]) == 1.0


def test_multipliers_of_chaid() -> None:
    merge = r.Merge()
    assert [stirling(4, k) for k in (1, 2, 3, 4)] == [1, 7, 6, 1]
    # labor, from the goldens of chaidr: 4 categories in 2 groups with missing floating, 10 in 3, 8 in 2
    for n, k, expected in ((4, 2, 5), (10, 3, 92), (8, 2, 13)):
        assert np.exp(log_multiplier(merge, NUMBER, True, n, k)) == pytest.approx(expected)
    assert np.exp(log_multiplier(merge, NOMINAL, False, 4, 2)) == pytest.approx(7)


def test_binary_enumerates_every_subset() -> None:
    codes = np.array([0, 1, 2, 3, 4], dtype=np.int32)
    p = problem([codes], [NOMINAL], [5], np.array([0, 1, 0, 1, 0], dtype=np.int32), 2, None, r.CART)
    assert len(candidates(p, p.root, 0)) == 2**4 - 1


def test_spread_rows_keep_their_weight() -> None:
    columns, kinds, levels, target = nominal(TENNIS)
    columns[OUTLOOK][4] = -1
    recipe = replace(r.C45, criterion=r.InformationGain())
    tree = oracle.grow(columns, kinds, levels, target, 2, None, recipe)
    assert tree["split"].column == OUTLOOK
    assert sum(child["weight"] for child in tree["children"]) == pytest.approx(14)
    assert [child["rows"] for child in tree["children"]] == [6, 5, 5]
    p = problem(columns, kinds, levels, target, 2, None, recipe)
    assert sum(weigh(part) for part in children_of(p, tree["split"], p.root)) == 13
    assert class_weights(p.pairs(p.root), 2) == [5, 9]
