"""Stability: refits on resamples, compared with the tree node by node and row by row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import treewright as tw
from treewright import _core
from treewright.data.rows import take, weights_of
from treewright.prediction.routing import overlap, route
from treewright.training.learn import FitOptions, grow_and_prune, training_table
from treewright.uncertainty.resamples import refit, resample

FULL = tw.CART.with_(pruning=None)


def table(n: int = 120, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x, z = rng.integers(0, 12, n).astype(float), rng.normal(size=n)
    x[rng.random(n) < 0.1] = np.nan
    town = rng.choice(["Rome", "Oslo", "Bern"], n)
    ill = (np.nan_to_num(x) > 5) ^ (town == "Oslo") ^ (rng.random(n) < 0.2)
    return {"x": x, "z": z, "town": town, "ill": np.where(ill, "yes", "no")}


def rows_of(tree: tw.Tree, leaf: Any, node: int) -> set[int]:
    """The rows below a node, by going up from their leaves."""
    found = set()
    for row, at in enumerate(leaf):
        above: int | None = int(at)
        while above is not None and above != node:
            above = tree[above].parent
        if above is not None:
            found.add(row)
    return found


@settings(deadline=None)
@given(st.integers(0, 10_000))
def test_closest_nodes_share_the_most_rows(seed: int) -> None:
    first, second = table(60, seed), table(60, seed + 1)
    one, other = tw.learn(first, "ill", FULL), tw.learn(second, "ill", FULL)
    rows = training_table(first, "ill")[0]
    leaf, there = (route(tree, rows, 1) for tree in (one, other))
    nodes = np.flatnonzero(one.arrays["stop"] == 0).astype(np.int32)
    if not len(nodes):
        return
    found = overlap(one, leaf, other, there, nodes)
    held = [rows_of(other, there, i) for i in range(other.n_nodes)]
    for node, closest, index in zip(nodes, found.closest, found.jaccard, strict=True):
        own = rows_of(one, leaf, int(node))
        truth = [len(own & rest) / max(1, len(own | rest)) for rest in held]
        assert closest == int(np.argmax(truth))
        assert index == max(truth)
    assert found.rand == pytest.approx(adjusted_rand_score(leaf, there))
    parents = one.arrays["parent"], other.arrays["parent"]
    for in_table in (True, False):  # both ways to count pairs of nodes: few in a table, many in lists
        closest, jaccard, rand = _core.overlap(leaf, parents[0], there, parents[1], nodes, in_table)
        assert np.array_equal(closest, found.closest)
        assert np.array_equal(jaccard, found.jaccard)
        assert rand == found.rand


@pytest.mark.parametrize(
    "recipe", [FULL, tw.C45, tw.RPART, tw.CHAID.with_(min_samples_leaf=9, min_samples_split=20), tw.SKLEARN]
)
@pytest.mark.parametrize("target", ["ill", "z"])
def test_a_bootstrap_sample_is_a_table_with_repeated_rows(recipe: tw.Recipe, target: str) -> None:
    """In the core too: limits on rows count a row as often as it was drawn."""
    if target == "z" and recipe.regression is None:
        return
    rows, schema = training_table(table(), target)
    recipe = recipe.with_(pruning=None)
    samples = resample(rows, "bootstrap", 5, 3)
    assert all(weights_of(samples[i]).sum() == rows.n_rows for i in range(samples.n))
    trees = list(refit(samples, grow_and_prune(rows, schema, recipe), lambda tree: tree, 2))
    for i, tree in enumerate(trees):
        sample = samples[i]
        written_out = take(rows, np.repeat(np.arange(rows.n_rows), sample.repeats))
        assert tree == grow_and_prune(written_out, schema, recipe.with_(rivals=0))


@pytest.mark.parametrize("n", [700, 6_000])
@pytest.mark.parametrize("target", ["two", "three", "number"])
@pytest.mark.parametrize(
    "recipe",
    [
        tw.SKLEARN.with_(max_depth=7),
        tw.SKLEARN.with_(max_depth=5, min_samples_leaf=20, max_features=2),
        tw.CART.with_(pruning=None, missing="own_category", min_samples_split=9),
        tw.CART.with_(pruning=None, max_leaf_nodes=12, min_weight_leaf=3.5),
    ],
)
def test_rows_listed_once_give_the_tree_of_rows_written_out(recipe: tw.Recipe, target: str, n: int) -> None:
    """The core lists a row of a sample once, with a count, where nothing looks at rows one by one."""
    rng = np.random.default_rng(n)
    x, z, w = rng.normal(size=n), rng.integers(0, 9, n).astype(float), rng.exponential(size=n).round(2)
    place = rng.choice(["a", "b", "c", "d"], n)
    z[rng.random(n) < 0.1] = np.nan
    signal = x + np.nan_to_num(z) / 3 + (place == "b") * w + rng.normal(size=n)
    given = {"two": signal > 2, "three": np.digitize(signal, [1, 3]), "number": signal}[target]
    rows, schema = training_table({"x": x, "z": z, "w": w, "place": place, "y": given}, "y")
    for i in range(2):
        sample = resample(rows, "bootstrap", 2, 3)[i]
        written_out = take(rows, np.repeat(np.arange(n), sample.repeats))
        assert grow_and_prune(sample, schema, recipe) == grow_and_prune(written_out, schema, recipe)


def test_a_row_that_is_drawn_very_often() -> None:
    rows, schema = training_table(table(400), "ill")
    repeats = np.ones(400, dtype=np.int32)
    for most in (16, 17, 3_000):
        repeats[7] = most
        sample = replace(rows, weight=repeats.astype(float), repeats=repeats)
        written_out = take(rows, np.repeat(np.arange(400), repeats))
        recipe = tw.SKLEARN.with_(max_depth=5)
        assert grow_and_prune(sample, schema, recipe) == grow_and_prune(written_out, schema, recipe)


@pytest.mark.parametrize("drawn", [65_535, 65_536])
def test_a_sample_that_fills_its_counters(drawn: int) -> None:
    """Two classes of at most 65,535 rows are counted in half a word each; nearly all rows here are of the second."""
    n = 5_000
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=n), rng.integers(0, 30, n).astype(float)
    rows, schema = training_table({"x": x, "z": z, "y": x + z / 30 + rng.normal(size=n) / 2 > -2}, "y")
    repeats = np.full(n, drawn // n, dtype=np.int32)
    repeats[: drawn % n] += 1
    sample = replace(rows, weight=repeats.astype(float), repeats=repeats)
    recipe = tw.SKLEARN.with_(max_depth=5)
    assert repeats.sum() == drawn
    assert grow_and_prune(sample, schema, recipe) == grow_and_prune(
        take(rows, np.repeat(np.arange(n), repeats)), schema, recipe
    )


def test_weights_and_priors_of_a_bootstrap_sample() -> None:
    data = table() | {"w": np.random.default_rng(2).integers(1, 5, 120) / 2}
    options = FitOptions(weight="w", priors={"no": 0.3, "yes": 0.7})
    rows, schema = training_table(data, "ill", options)
    sample = resample(rows, "bootstrap", 2, 3)[0]
    written_out = take(rows, np.repeat(np.arange(rows.n_rows), sample.repeats))
    first, second = (grow_and_prune(some, schema, FULL) for some in (sample, written_out))
    assert np.array_equal(first.arrays["rows"], second.arrays["rows"])
    assert np.allclose(first.arrays["value"], second.arrays["value"], rtol=1e-12)


def test_repeats_of_a_row_are_in_one_fold() -> None:
    """Otherwise cross-validation tests rows that it has learned, and prunes nothing."""
    rng = np.random.default_rng(1)
    noise = {f"x{i}": rng.normal(size=300) for i in range(5)} | {"y": rng.choice(["a", "b"], 300)}
    tree = tw.learn(noise, "y", tw.CART)
    found = tw.stability(tree, noise, resamples=20)
    assert np.median(found.n_leaves) <= 10


@pytest.mark.parametrize("scheme", ["bootstrap", "subsample", "cross-validation"])
def test_threads_and_the_order_of_rows_change_nothing(scheme: Any) -> None:
    data = table()
    tree = tw.learn(data, "ill", tw.CART)
    found = tw.stability(tree, data, scheme=scheme, resamples=12, n_threads=1)
    order = np.random.default_rng(5).permutation(120)
    shuffled = {name: np.asarray(values)[order] for name, values in data.items()}
    for other in (
        tw.stability(tree, data, scheme=scheme, resamples=12, n_threads=3),
        tw.stability(tree, shuffled, scheme=scheme, resamples=12, n_threads=2),
    ):
        assert str(other) == str(found)
        assert other.splits == found.splits
        assert (other.rand, other.n_leaves, other.columns) == (found.rand, found.n_leaves, found.columns)
        assert other.rows.sum() == pytest.approx(found.rows.sum(), abs=1e-9)


def test_schemes_use_the_rows_they_should() -> None:
    rows = training_table(table(), "ill")[0]
    halves = [weights_of(sample) for sample in (resample(rows, "subsample", 4, 0)[i] for i in range(4))]
    assert all(sorted(set(weight)) == [0.0, 1.0] and weight.sum() == 60 for weight in halves)
    folds = [weights_of(sample) for sample in (resample(rows, "cross-validation", 4, 0)[i] for i in range(4))]
    assert np.array_equal(sum(1 - weight for weight in folds), np.ones(120)), "every row is left out once"


def test_of_two_columns_that_say_the_same_either_is_chosen() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    twin = x + rng.normal(scale=0.05, size=400)
    y = np.where(x + rng.normal(scale=0.4, size=400) > 0, "yes", "no")
    tree = tw.learn({"x": x, "twin": twin, "y": y}, "y", FULL.with_(max_depth=1))
    found = tw.stability(tree, {"x": x, "twin": twin, "y": y}, resamples=100)
    split = found.splits[0]
    assert 0.2 < split.kept < 0.8
    assert split.kept + sum(split.instead.values()) == pytest.approx(1)
    assert set(split.instead) == {"x", "twin"} - {split.split.column}
    low, high = split.cut_range or (0, 0)
    assert low < 0.1
    assert high > -0.1
    assert low in split.cuts
    assert "change in more than 20 %" in found.summary


def test_a_sure_split_is_kept() -> None:
    x = np.arange(100.0)
    data = {"x": x, "noise": np.random.default_rng(0).normal(size=100), "y": x > 49}
    found = tw.stability(tw.learn(data, "y"), data, resamples=30)
    assert [one.kept for one in found.splits] == [1.0]
    assert found.columns == {"x": 1.0}
    assert found.rows.mean() > 0.97
    assert "this tree is stable" in found.summary
    assert "kept in 100 %, cut" in str(found.splits[0])


def test_numbers() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    data = {"x": x, "y": np.where(x > 0, 10.0, 0.0) + rng.normal(size=200)}
    tree = tw.learn(data, "y", FULL.with_(max_depth=1))
    found = tw.stability(tree, data, resamples=40)
    assert found.rows.shape == (200,)
    assert 0 < np.median(found.rows) < 1
    assert "predictions move by" in str(found)
    frame = found.to_frame("dict")
    assert frame["column"] == ["x"]
    assert frame["kept"] == [1.0]


def test_what_cannot_work_is_refused() -> None:
    data = table()
    tree = tw.learn(data, "ill")
    with pytest.raises(tw.DataError, match="resamples must be a whole number of at least 2, not 1"):
        tw.stability(tree, data, resamples=1)
    with pytest.raises(
        tw.DataError, match="scheme must be 'bootstrap', 'subsample', 'cross-validation', not 'jackknife'"
    ):
        tw.stability(tree, data, scheme="jackknife")
    for argument, value in (("resamples", "many"), ("seed", -1), ("max_splits", 0), ("max_splits", 2.5)):
        with pytest.raises(tw.DataError, match=f"{argument} must be a whole number of at least"):
            tw.stability(tree, data, **{argument: value})  # type: ignore[arg-type]
    assert tw.stability(tree, data, resamples=2, n_threads=-1).resamples == 2, "all processors, as for learn"
    with pytest.raises(tw.DataError, match="give them as data"):
        tw.stability(tree, None)
    best = tw.learn_optimal(data, "ill", max_depth=1)
    with pytest.raises(tw.DataError, match="search for the best tree"):
        tw.stability(best, data)


def test_progress_ends_at_one() -> None:
    data, seen = table(), list[float]()
    tw.stability(tw.learn(data, "ill"), data, resamples=5, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_an_honest_tree_is_learned_again_honestly() -> None:
    data = table()
    tree = tw.learn(data, "ill", FULL.with_(max_depth=2), honest=True)
    rows = training_table(data, "ill")[0]
    trees = list(refit(resample(rows, "bootstrap", 3, 0), tree, lambda fitted: fitted, 1))
    assert all(fitted.honest is not None for fitted in trees)
    assert tw.stability(tree, data, resamples=5).resamples == 5
    limits = tw.leaf_limits(tree)
    assert limits.held_out
    assert limits.rows.sum() == tree.honest.rows


def test_frames_of_columns_rows_and_refits() -> None:
    rows = table(80, 3)
    for target in ("ill", "dose"):
        if target == "dose":
            rows = {**rows, "dose": np.random.default_rng(0).normal(size=80)}
        found = tw.stability(tw.learn(rows, target, FULL), rows, target, resamples=7)
        columns = found.to_pandas("columns")
        assert sorted(columns["column"]) == sorted(found.tree.schema.names), "those that no refit uses are there too"
        assert dict(zip(columns["column"], columns["used"], strict=True)).items() >= dict(found.columns).items()
        measure = "kept" if target == "ill" else "distance"
        assert found.to_frame("dict", of="rows") == {"row": list(range(80)), measure: found.rows.tolist()}
        refits = found.to_frame("dict", of="refits")
        assert (refits["n_leaves"], refits["depth"]) == (list(found.n_leaves), list(found.depth))
        assert refits["adjusted_rand"] == list(found.rand)
    with pytest.raises(tw.DataError, match="of must be 'splits', 'columns', 'rows', 'refits', not 'leaves'"):
        found.to_frame(of="leaves")


def test_many_rows_are_drawn_as_few_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = training_table(table(200), "ill")[0]
    whole = [resample(rows, "bootstrap", 5, 3)[i].repeats for i in range(5)]
    monkeypatch.setattr("treewright.uncertainty.resamples.AT_ONCE", 32)
    pieces = [resample(rows, "bootstrap", 5, 3)[i].repeats for i in range(5)]
    assert all(np.array_equal(one, other) for one, other in zip(whole, pieces, strict=True))
