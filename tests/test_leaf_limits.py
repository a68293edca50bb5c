"""Exact binomial limits: by the definition, on leaves, and in rules of calibrated trees."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw

FULL = tw.CART.with_(pruning=None, max_depth=2)


def table(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return {"x": x, "y": np.where(x + rng.normal(size=n) > 0, "yes", "no")}


def at_least(k: int, n: int, p: float) -> float:
    return math.fsum(math.comb(n, j) * p**j * (1 - p) ** (n - j) for j in range(k, n + 1))


@settings(deadline=None)  # the first case loads scipy
@given(st.integers(1, 60), st.floats(0, 1), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_limits_are_where_the_tails_are_half_of_the_rest(n: int, share: float, confidence: float) -> None:
    k = round(share * n)
    low, high = tw.criteria.binomial_limits([k], [n], confidence)[0]
    tail = (1 - confidence) / 2
    assert (low == 0) if k == 0 else at_least(k, n, low) == pytest.approx(tail, rel=1e-6)
    assert (high == 1) if k == n else 1 - at_least(k + 1, n, high) == pytest.approx(tail, rel=1e-6)
    assert low <= k / n <= high


def test_the_limits_of_a_leaf_are_those_of_its_rows() -> None:
    data, others = table(200, 0), table(300, 1)
    tree = tw.learn(data, "y", FULL)
    for found, rows in ((tw.leaf_limits(tree), data), (tw.leaf_limits(tree, others, confidence=0.8), others)):
        leaf = tw.apply(tree, rows)
        for i, node in enumerate(found.leaves):
            inside = rows["y"][leaf == node]
            assert found.rows[i] == len(inside)
            for k, level in enumerate(("no", "yes")):
                count = int((inside == level).sum())
                limits = tw.criteria.binomial_limits([count], [len(inside)], found.confidence)[0]
                assert (found.low[i, k], found.high[i, k]) == pytest.approx(tuple(limits))
    assert found.held_out
    assert "80 % limits" in str(found)
    assert "from rows held out" in str(found)
    frame = found.to_frame("dict")
    assert frame["class"][:2] == ["no", "yes"]
    assert len(frame["low"]) == 2 * tree.n_leaves


def test_weights_count_as_rows() -> None:
    data = table(100, 0)
    plain = tw.leaf_limits(tw.learn(data, "y", FULL))
    heavy = tw.leaf_limits(tw.learn(data | {"w": np.full(100, 7.0)}, "y", FULL, weight="w"))
    assert heavy.low == pytest.approx(plain.low)


def test_what_cannot_work_is_refused() -> None:
    with pytest.raises(tw.DataError, match="is a number and has no probabilities"):
        tw.leaf_limits(tw.learn({"x": [1, 2, 3], "y": [1.5, 2.5, 3.5]}, "y"))
    with pytest.raises(tw.DataError, match=r"confidence must lie between 0 and 1, not 1\.5"):
        tw.leaf_limits(tw.learn(table(50, 0), "y"), confidence=1.5)
    with pytest.raises(tw.DataError, match="from 0 to all of them"):
        tw.criteria.binomial_limits([3], [2])


def test_rules_of_a_calibrated_tree_have_its_sets() -> None:
    tree = tw.calibrate(tw.learn(table(200, 0), "y", FULL), table(200, 1))
    found = tw.rules(tree)
    assert all(rule.covered.startswith("90 %: {") for rule in found)
    assert "90 %: {" in found.text()
    assert "of new rows 90 %: {" in found.text("plain")
    assert found.grid().header[-1] == "new rows"
    assert "new rows" not in tw.rules(tw.learn(table(200, 0), "y", FULL)).grid().header
