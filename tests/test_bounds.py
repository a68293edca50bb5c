"""Bounds: no cut inside a bin is better than the bound that keeps the bin closed.

Whatever order the bin's rows have, and wherever it is cut, the gain is at most the bound. Every subset of the bin's
rows is tried as the part that goes low.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright import _core


def statistic(target: Any, weight: Any, n_classes: int) -> Any:
    if n_classes:
        return np.bincount(target, weights=weight, minlength=n_classes)
    return np.array([weight.sum(), (weight * target).sum(), (weight * target * target).sum()])


def best_gain(name: str, target: Any, weight: Any, n_classes: int, first: int, last: int) -> float:
    """The largest gain of all divisions that send a part of the bin low, brute force."""
    whole = statistic(target, weight, n_classes)
    inside = range(first, last)
    best = 0.0
    for size in range(len(inside) + 1):
        for part in itertools.combinations(inside, size):
            is_low = np.zeros(len(target), dtype=bool)
            is_low[:first] = True
            is_low[list(part)] = True
            if is_low.all() or not is_low.any():
                continue
            parts = [(target[side], weight[side]) for side in (is_low, ~is_low)]
            if name == "absolute_error":
                best = max(best, gain_by_medians((target, weight), parts))
                continue
            sides = [statistic(*side, n_classes) for side in parts]
            best = max(best, gain(name, whole, np.array(sides)))
    return best


def gain_by_medians(whole: Any, sides: Any) -> float:
    before, *after = [
        min((weight * np.abs(target - middle)).sum() for middle in target) for target, weight in (whole, *sides)
    ]
    return float((before - sum(after)) / whole[1].sum())


@st.composite
def bins(draw: st.DrawFn, n_classes: int, least: int = -5) -> tuple[Any, Any, int, int]:
    before, inside, after = draw(st.integers(0, 12)), draw(st.integers(2, 6)), draw(st.integers(0, 12))
    rows = before + inside + after
    if n_classes:
        target: Any = np.array(draw(st.lists(st.integers(0, n_classes - 1), min_size=rows, max_size=rows)), np.int32)
    else:
        numbers = st.one_of(st.integers(least, 5).map(float), st.floats(1e3 * min(least, 0), 1e3, width=32))
        target = np.array(draw(st.lists(numbers, min_size=rows, max_size=rows)), np.float64)
    weights = st.one_of(st.none(), st.lists(st.sampled_from([0.25, 0.5, 1.0, 3.0]), min_size=rows, max_size=rows))
    weight = draw(weights)
    return target, None if weight is None else np.array(weight), before, before + inside


BY_CLASS = ("gini", "information_gain", "misclassification", "twoing", "chi_square", "likelihood_ratio")
BY_NUMBER = ("variance", "f", "standard_deviation", "poisson", "absolute_error")
CASES = [(n, k) for n in BY_CLASS for k in (2, 3, 5)] + [("hellinger", 2)] + [(n, 0) for n in BY_NUMBER]


def gain(name: str, whole: Any, sides: Any) -> float:
    """What a bound bounds: tests by their statistic over the weight, Poisson's deviance by its own formula."""
    if name in ("chi_square", "likelihood_ratio"):
        return float(_core.chi_square(sides, name == "likelihood_ratio")[0] / whole.sum())
    if name == "f":
        return float(_core.f_test(sides)[0] / whole[0])
    if name == "poisson":
        means = sides[:, 1] / sides[:, 0]
        if not (means > 0).all():
            return 0.0
        return float((sides[:, 1] * np.log(means / (whole[1] / whole[0]))).sum() / whole[0])
    return float(_core.score(name, whole, sides))


@pytest.mark.parametrize(("name", "n_classes"), CASES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_no_cut_beats_the_bound(name: str, n_classes: int, data: st.DataObject) -> None:
    target, weight, first, last = data.draw(bins(n_classes, 0 if name == "poisson" else -5))
    bound = _core.bin_bound(name, target, n_classes, weight, first, last)
    ones = np.ones(len(target)) if weight is None else weight
    reached = best_gain(name, target, ones, n_classes, first, last)
    assert reached <= bound + 1e-9 * max(1.0, abs(bound))


@pytest.mark.parametrize("middle", [-990.0, -500.0, 0.0, 500.0, 990.0])
@pytest.mark.parametrize("spread", [1e-3, 0.1, 2.0, 9.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_narrow_bin_far_from_the_middle(middle: float, spread: float, weighted: bool) -> None:
    """Squares are kept with few digits; what they lose must never make the bound too small."""
    rng = np.random.default_rng(0)
    for _ in range(5):
        inside = middle + spread * rng.normal(size=8)
        side = [-1000.0, 1000.0, *[middle] * 3000]  # alike on both sides, so that only the bin's own rows matter
        target = np.concatenate([side, inside, side])
        weight = np.ones(len(target))
        if weighted:
            weight[3002:3010] = rng.choice([0.5, 1.0, 2.0], size=8)
        bound = _core.bin_bound("variance", target, 0, weight if weighted else None, 3002, 3010)
        # The gain of sending each subset of the bin low, from sums: sum^2 / weight of both sides less that of all.
        centred = target - np.average(target, weights=weight)
        part = np.array(list(itertools.product([False, True], repeat=8)))
        low = (weight * centred)[:3002].sum() + part @ (weight * centred)[3002:3010]
        size = weight[:3002].sum() + part @ weight[3002:3010]
        reached = (low**2 / size + low**2 / (weight.sum() - size)).max() / weight.sum()
        assert reached <= bound * (1 + 1e-9)


def test_with_two_classes_the_bound_is_reached() -> None:
    target = np.array([0, 0, 1, 0, 0, 1, 1, 0, 1, 1, 0, 1], dtype=np.int32)
    for name in ("gini", "information_gain"):
        bound = _core.bin_bound(name, target, 2, None, 4, 8)
        assert bound == pytest.approx(best_gain(name, target, np.ones(12), 2, 4, 8))
    weight = np.array([1.0, 0.5, 2.0, 1.0, 0.25, 1.5, 1.0, 3.0, 1.0, 0.5, 1.0, 2.0])
    bound = _core.bin_bound("information_gain", target, 2, weight, 4, 8)
    assert bound == pytest.approx(best_gain("information_gain", target, weight, 2, 4, 8))


def test_the_bound_of_many_classes_is_not_far_off() -> None:
    rng = np.random.default_rng(0)
    target = rng.integers(0, 5, size=4000).astype(np.int32)
    bound = _core.bin_bound("gini", target, 5, None, 2000, 2016)
    between = [_core.bin_bound("gini", target, 5, None, at, at) for at in (2000, 2016)]
    assert bound < max(between) + 16 / 4000 * 0.4  # every row of the bin at no cost would be 0.8 a row
