"""Reliability: the scores of scikit-learn, bins by brute force, and clear errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, log_loss

import treewright as tw

FULL = tw.CART.with_(max_depth=4, pruning=None, smoothing="shrinkage")


def table(n: int, seed: int, classes: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = np.digitize(x + rng.normal(size=n), np.linspace(-1, 1, classes - 1) if classes > 2 else [0.3])
    return {"x": x, "z": rng.normal(size=n), "y": np.array(["a", "b", "c", "d"])[y]}


@pytest.mark.parametrize("classes", [2, 4])
def test_scores_are_those_of_scikit_learn(classes: int) -> None:
    tree, rows = tw.learn(table(300, 0, classes), "y", FULL), table(200, 1, classes)
    weight = np.random.default_rng(2).integers(0, 4, 200).astype(float)
    given = tw.predict_proba(tree, rows)
    found = tw.reliability(tree, rows, weight=weight)
    assert found.log_loss == pytest.approx(log_loss(rows["y"], given, sample_weight=weight))
    proba = given[:, 1] if classes == 2 else given
    expected = brier_score_loss(rows["y"], proba, sample_weight=weight, pos_label="b" if classes == 2 else None)
    assert found.brier_score == pytest.approx(expected)
    assert found.log_loss < found.baseline_log_loss
    assert found.brier_score < found.baseline_brier_score


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_the_curve_of_two_classes_is_that_of_scikit_learn(strategy: Any) -> None:
    tree, rows = tw.learn(table(300, 3, 2), "y", FULL), table(200, 4, 2)
    observed, predicted = calibration_curve(rows["y"] == "b", tw.predict_proba(tree, rows)[:, 1], n_bins=5)
    found = tw.reliability(tree, rows, bins=5, strategy=strategy)
    if strategy == "uniform":
        assert [one.observed for one in found.bins] == pytest.approx(observed.tolist())
        assert [one.predicted for one in found.bins] == pytest.approx(predicted.tolist())
    assert {one.level for one in found.bins} == {"b"}
    assert sum(one.rows for one in found.bins) == 200
    given = tw.predict_proba(tree, rows)[:, 1]
    for i, one in enumerate(found.bins):
        inside = ((given > one.low) | ((i == 0) & (given == one.low))) & (given <= one.high)
        assert one.rows == inside.sum()
        assert one.predicted == pytest.approx(given[inside].mean())
        assert one.observed == pytest.approx((rows["y"][inside] == "b").mean())
    distance = sum(one.rows * abs(one.observed - one.predicted) for one in found.bins) / 200
    assert found.calibration_error == pytest.approx(distance)


def test_more_classes_have_a_curve_each_and_print() -> None:
    tree, rows = tw.learn(table(300, 5, 4), "y", FULL), table(200, 6, 4)
    found = tw.reliability(tree, rows)
    assert {one.level for one in found.bins} == set("abcd")
    frame = found.to_pandas()
    assert frame.groupby("level")["rows"].sum().tolist() == [200] * 4
    assert "log loss" in str(found)
    assert "<table" in found._repr_html_()


def test_a_tree_of_one_probability_has_one_bin() -> None:
    rows = table(50, 7, 2)
    found = tw.reliability(tw.learn(rows, "y", FULL.with_(max_depth=0)), rows, strategy="quantile")
    assert len(found.bins) == 1
    assert found.calibration_error == pytest.approx(0.0)


def test_bad_input_is_refused() -> None:
    rows = table(50, 8, 2)
    tree = tw.learn(rows, "y", FULL)
    numeric = tw.learn({"x": rows["x"], "y": rows["z"]}, "y", tw.CART)
    with pytest.raises(tw.DataError, match="'y' is a number and has no probabilities"):
        tw.reliability(numeric, rows)
    with pytest.raises(tw.DataError, match="bins must be a whole number"):
        tw.reliability(tree, rows, bins=0)
    with pytest.raises(tw.DataError, match="strategy must be 'uniform' or 'quantile', not 'equal'"):
        tw.reliability(tree, rows, strategy="equal")
    with pytest.raises(tw.DataError, match="rows with their target"):
        tw.reliability(tree, None)
    with pytest.raises(tw.DataError, match="'e'"):
        tw.reliability(tree, {**rows, "y": np.array(["e"] * 50)})
