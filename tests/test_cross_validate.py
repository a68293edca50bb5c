"""Cross-validated scores, the corrected test, folds by group and by time, and the permutation test."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import treewright as tw
from treewright.training.folds import Fold
from treewright.uncertainty.corrected_test import corrected_error, interval, paired_p

FULL = tw.CART.with_(pruning=None)


def table(n: int = 150, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.normal(size=n)
    return {"x": x, "z": z, "y": np.where(x + rng.normal(scale=0.5, size=n) > 0, "yes", "no")}


def shuffled(data: dict[str, Any]) -> dict[str, Any]:
    order = np.random.default_rng(9).permutation(len(data["y"]))
    return {name: np.asarray(values)[order] for name, values in data.items()}


def test_scores_are_those_of_trees_learned_without_the_fold() -> None:
    data = table()
    found = tw.cross_validate(data, "y", {"cart": tw.CART, "full": FULL}, folds=5)
    for name, recipe in (("cart", tw.CART), ("full", FULL)):
        for fold, value in zip(found.folds, found.scores[name].values, strict=True):
            training, test = ({k: v[rows] for k, v in data.items()} for rows in (fold.training, fold.test))
            tree = tw.learn(training, "y", recipe)
            assert value == pytest.approx(float(np.mean(tw.predict(tree, test) == test["y"])), abs=1e-12)
    assert found.scores["cart"].value == pytest.approx(np.mean(found.scores["cart"].values))
    assert found.best == "cart"
    assert "p against the best" in str(found)
    assert len(found.to_frame("dict")["score"]) == 10


def covers_once(folds: tuple[Fold, ...], repeats: int = 1) -> bool:
    return bool((sum(fold.test.astype(int) for fold in folds) == repeats).all())


def test_folds() -> None:
    data = table()
    plain = tw.cross_validate(data, "y", FULL, folds=4, repeats=3)
    assert len(plain.folds) == 12
    assert covers_once(plain.folds, 3)
    share = float(np.mean(data["y"] == "yes"))
    for fold in plain.folds:
        assert np.array_equal(fold.training, ~fold.test)
        assert abs((np.asarray(data["y"])[fold.test] == "yes").sum() - share * fold.test.sum()) <= 2
    other = tw.cross_validate(shuffled(data), "y", FULL, folds=4, repeats=3)
    assert other.scores["CART"].value == pytest.approx(plain.scores["CART"].value)


def test_groups_stay_together() -> None:
    data = table() | {"patient": np.repeat([f"p{i}" for i in range(30)], 5)}
    found = tw.cross_validate(data, "y", FULL, folds=4, groups="patient", repeats=2)
    assert covers_once(found.folds, 2)
    for fold in found.folds:
        assert not set(data["patient"][fold.test]) & set(data["patient"][fold.training])
    assert not np.array_equal(found.folds[0].test, found.folds[4].test), "dealt anew"
    given = {name: data[name] for name in "xzy"}
    assert tw.cross_validate(given, "y", FULL, folds=4, groups=data["patient"], repeats=2).scores == found.scores


def test_time_goes_forward() -> None:
    data = table() | {"day": np.random.default_rng(3).permutation(np.repeat(np.arange(75), 2))}
    found = tw.cross_validate(data, "y", FULL, folds=4, time="day")
    assert len(found.folds) == 4
    for fold in found.folds:
        assert data["day"][fold.training].max() < data["day"][fold.test].min()
    assert found.folds[-1].test[data["day"].argmax()]


def test_the_baseline_knows_the_training_rows_only() -> None:
    """With one row in every fold, the most frequent class of the tested rows would always be right."""
    data = {"x": np.arange(20.0), "y": ["a"] * 13 + ["b"] * 7}
    found = tw.cross_validate(data, "y", FULL, folds=20).scores["CART"]
    assert found.baseline == pytest.approx(13 / 20)


def test_what_cannot_work_is_refused() -> None:
    data = table() | {"alone": np.arange(150.0) * 2, "two": np.arange(150) % 2}
    with pytest.raises(tw.DataError, match="every group of 'alone' has one row"):
        tw.cross_validate(data, "y", groups="alone")
    with pytest.raises(tw.DataError, match="'two' has 2 groups, fewer than the 10 folds"):
        tw.cross_validate(data, "y", groups="two")
    with pytest.raises(tw.DataError, match="'two' has too few distinct values for 4 folds"):
        tw.cross_validate(data, "y", time="two", folds=4)
    with pytest.raises(tw.DataError, match="give one of them"):
        tw.cross_validate(data, "y", time="x", groups="two")
    with pytest.raises(tw.DataError, match="folds must be a whole number of at least 2, not 1"):
        tw.cross_validate(data, "y", folds=1)
    with pytest.raises(tw.DataError, match="have one order in time"):
        tw.cross_validate(data, "y", time="x", repeats=2)
    with pytest.raises(tw.DataError, match="seed must be a whole number of at least 0, not -1"):
        tw.cross_validate(data, "y", seed=-1)
    with pytest.raises(tw.DataError, match="recipes is empty"):
        tw.cross_validate(data, "y", {})
    with pytest.raises(tw.DataError, match="has no criterion for regression"):
        tw.cross_validate(table(), "x", "id3")
    with pytest.raises(tw.DataError, match="recipes is empty"):
        tw.cross_validate(table(), "y", [])
    found = tw.cross_validate(table(), "y", FULL, folds=3)
    with pytest.raises(tw.DataError, match="no recipe 'c45' here; there are 'CART'"):
        found.interval("c45")
    with pytest.raises(tw.DataError, match=r"confidence must lie between 0 and 1, not 1\.5"):
        found.interval("CART", 1.5)
    with pytest.raises(tw.DataError, match="permutations must be a whole number of at least 1, not 0"):
        tw.permutation_test(table(), "y", permutations=0)


def test_recipes_of_one_name_are_told_apart() -> None:
    found = tw.cross_validate(table(), "y", ["cart", FULL, "c45"], folds=3)
    assert list(found.scores) == ["CART", "CART 2", "C45"]
    assert found.p_value("CART", "CART") == 1.0
    assert found.p_value("CART", "C45") == found.p_value("C45", "CART")


@pytest.mark.parametrize("seed", range(20))
def test_the_corrected_test_is_that_of_nadeau_and_bengio(seed: int) -> None:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 40))
    first, second = rng.random(k), rng.random(k)
    ratio = 1 / (k - 1)
    spread = (first - second).var(ddof=1)
    t = (first - second).mean() / math.sqrt((1 / k + ratio) * spread)
    assert paired_p(first.tolist(), second.tolist(), ratio) == pytest.approx(2 * stats.t.sf(abs(t), k - 1))
    low, high = interval(first.tolist(), ratio, 0.9)
    truth = stats.t.interval(0.9, k - 1, first.mean(), math.sqrt((1 / k + ratio) * first.var(ddof=1)))
    assert (low, high) == pytest.approx(truth)
    assert corrected_error(first.tolist(), ratio) > first.std(ddof=1) / math.sqrt(k)


def test_infinite_scores_have_no_known_error() -> None:
    scores = [1.0, math.inf, 2.0]
    assert math.isnan(corrected_error(scores, 0.5))
    assert all(math.isnan(end) for end in interval(scores, 0.5, 0.9))
    assert math.isnan(paired_p(scores, scores, 0.5))


def test_held_out_rows_without_weight_are_refused() -> None:
    data = {"x": [1.0, 2.0, 3.0, 4.0] * 2, "w": [1, 1, 0, 0, 0, 0, 0, 0], "y": [1.5, 2, 3, 4, 5, 6, 7, 8]}
    with pytest.raises(tw.DataError, match="all 2 test rows have weight 0; leave the weights out, or use fewer folds"):
        tw.cross_validate(data, "y", tw.CART.with_(pruning=None), folds=4, weight="w")


def test_progress_ends_at_one() -> None:
    seen: list[float] = []
    tw.cross_validate(table(), "y", ["cart", "c45"], folds=3, progress=seen.append)
    assert seen == pytest.approx([i / 6 for i in range(1, 7)])


# --- more than chance? ------------------------------------------------------------------------------------------------


def test_a_column_that_matters_is_found() -> None:
    found = tw.permutation_test(table(), "y", FULL, permutations=39)
    assert found.p_value == found.root_p_value == 1 / 40
    assert found.root_column == "x"
    assert len(found.shuffled_scores) == 39
    assert "first split (x)" in str(found)
    assert found.to_frame("dict")["target"][:2] == ["true", "shuffled"]


def test_threads_and_the_order_of_rows_do_not_matter() -> None:
    data = table(60)
    found = [
        tw.permutation_test(some, "y", permutations=9, n_threads=n)
        for some, n in ((data, 1), (data, 3), (shuffled(data), 2))
    ]
    for other in found[1:]:
        assert other.score == pytest.approx(found[0].score)
        assert np.allclose(other.shuffled_scores, found[0].shuffled_scores)
        assert np.allclose(other.shuffled_root_scores, found[0].shuffled_root_scores)


def test_noise_gives_uniform_p_values() -> None:
    """Of made tables; the slow suite has more of them."""
    uniform(60, permutations=19)


@pytest.mark.slow
def test_noise_gives_uniform_p_values_500() -> None:
    uniform(500, permutations=99)


def uniform(tables: int, permutations: int) -> None:
    rng = np.random.default_rng(0)
    ps, roots = [], []
    for i in range(tables):
        noise = {f"x{j}": rng.normal(size=40) for j in range(3)} | {"y": rng.normal(size=40)}
        found = tw.permutation_test(noise, "y", FULL.with_(max_depth=2), permutations=permutations, folds=3, seed=i)
        ps.append(found.p_value)
        roots.append(found.root_p_value)
    for some in (ps, roots):
        # p-values are multiples of 1 / (permutations + 1); spread evenly below them, they are continuous
        continuous = np.array(some) - rng.random(tables) / (permutations + 1)
        assert stats.kstest(continuous, "uniform").pvalue > 0.01
