"""Hierarchical shrinkage: predictions by brute force along each path, the strength by cross-validation."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.data.rows import take
from treewright.growing.memory_partitions import MemoryPartitions
from treewright.lessons.tables import TENNIS
from treewright.reporting.settings_text import settings_text
from treewright.training.folds import random_folds
from treewright.training.learn import grow_and_prune, training_table
from treewright.training.shrinkage_strength import STRENGTHS

FULL = tw.CART.with_(pruning=None)


def table(n: int, seed: int, *, numeric: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n).round(1), rng.choice(["a", "b", "c"], n)
    x[rng.random(n) < 0.1] = np.nan
    y = np.nan_to_num(x) * 2 + rng.normal(scale=1 + (z == "a"))
    return {"x": x, "z": z, "y": y if numeric else np.array(["low", "mid", "high"])[np.digitize(y, [-1, 1])]}


def along_the_path(tree: tw.Tree, node: int, m: float) -> list[float]:
    """Return the definition, term by term: the root's estimate, and for each step a part of the difference."""
    path, at = [node], tree[node].parent
    while at is not None:
        path, at = [at, *path], tree[at].parent

    def counted(i: int) -> list[float]:
        if tree[i].counts is None:
            return [float(tree[i].mean or 0.0)]
        counts = tree[i].counts or ()
        return [count / sum(counts) for count in counts]

    value = counted(0)
    for above, below in pairwise(path):
        if tree[below].weight > 0:
            steps = zip(value, counted(above), counted(below), strict=True)
            value = [v + (b - a) / (1 + m / tree[above].weight) for v, a, b in steps]
    return value


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("missing", ["surrogates", "fractional", "ignore"])
@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10_000), m=st.sampled_from([0.0, 0.5, 7.0, 1e6]))
def test_predictions_follow_the_definition(numeric: bool, missing: str, seed: int, m: float) -> None:
    recipe = FULL.with_(smoothing="shrinkage", m=m, missing=missing)
    data = table(60, seed, numeric=numeric)
    tree = tw.learn(data, "y", recipe, weight=np.random.default_rng(seed).integers(1, 4, 60))
    for node in tree.walk():
        assert tree.arrays["value"][node.id] == pytest.approx(along_the_path(tree, node.id, m), abs=1e-12)


def test_a_child_without_rows_predicts_as_its_parent() -> None:
    tree = tw.learn(TENNIS, "Play", tw.ID3.with_(smoothing="shrinkage"))
    empty = [node for node in tree.walk() if node.stop == "empty"]
    assert empty
    for node in empty:
        assert node.parent is not None
        assert node.probabilities == tree[node.parent].probabilities


@pytest.mark.parametrize("recipe", [tw.CART, tw.C45, tw.J48, tw.RPART], ids=lambda recipe: recipe.name)
def test_the_splits_are_those_without_shrinkage(recipe: tw.Recipe) -> None:
    data = table(300, 3)
    plain, shrunk = (tw.learn(data, "y", each) for each in (recipe, recipe.with_(smoothing="shrinkage", m=20.0)))
    for name in plain.arrays:
        if name != "value":
            assert plain.arrays[name].tobytes() == shrunk.arrays[name].tobytes()


@pytest.mark.parametrize(
    "pruner",
    [tw.pruning.CostComplexity(0.01), tw.pruning.ErrorBased(), tw.pruning.MaxDepth(2), tw.pruning.Pessimistic()],
    ids=lambda pruner: type(pruner).__name__,
)
def test_pruning_later_gives_the_tree_that_is_pruned_at_once(pruner: Any) -> None:
    data, recipe = table(300, 4), FULL.with_(smoothing="shrinkage", m=5.0)
    later = tw.prune(tw.learn(data, "y", recipe), pruner, data)
    assert later == tw.learn(data, "y", recipe.with_(pruning=pruner))


@pytest.mark.parametrize("numeric", [False, True])
def test_the_strength_has_the_least_loss_on_held_out_rows(numeric: bool) -> None:
    data = table(200, 5, numeric=numeric)
    tree = tw.learn(data, "y", FULL.with_(smoothing="shrinkage_cv"))
    rows, schema = training_table(data, "y")
    total = dict.fromkeys(STRENGTHS, 0.0)
    for fold in random_folds(rows, 5, 0):
        test = {name: values[fold.test] for name, values in data.items()}
        for m in STRENGTHS:
            fitted = grow_and_prune(take(rows, fold.training), schema, FULL.with_(smoothing="shrinkage", m=m))
            for truth, given_ in zip(test["y"], _predicted(fitted, test), strict=True):
                loss = (truth - given_) ** 2 if numeric else -math.log(max(given_[truth], np.finfo(float).eps))
                total[m] += loss
    assert tree.recipe.leaves.smoothing == "shrinkage"
    assert tree.recipe.leaves.m == min(total, key=lambda m: total[m])
    assert 0 < tree.recipe.leaves.m < 1000


def _predicted(tree: tw.Tree, data: dict[str, Any]) -> Any:
    classes = tree.schema.target.classes
    if classes is None:
        return tw.predict(tree, data)
    return [dict(zip(classes, row, strict=True)) for row in tw.predict_proba(tree, data).tolist()]


def test_a_chosen_strength_depends_neither_on_threads_nor_on_the_order_of_rows(tmp_path: Path) -> None:
    data, recipe = table(150, 6), tw.CART.with_(smoothing="shrinkage_cv")
    tree = tw.learn(data, "y", recipe, n_threads=1)
    order = np.random.default_rng(0).permutation(150)
    assert tree == tw.learn({name: values[order] for name, values in data.items()}, "y", recipe, n_threads=2)
    tw.save(tree, tmp_path / "tree.json")
    assert tw.load(tmp_path / "tree.json") == tree


def test_cross_validation_scores_the_shrunk_trees() -> None:
    data = table(200, 7, numeric=True)
    recipes = {"raw": FULL, "shrunk": FULL.with_(smoothing="shrinkage", m=20.0)}
    found = tw.cross_validate(data, "y", recipes | {"chosen": FULL.with_(smoothing="shrinkage_cv")})
    assert found.scores["shrunk"].value < found.scores["raw"].value
    assert found.scores["chosen"].value < found.scores["raw"].value


@pytest.mark.parametrize("numeric", [False, True])
def test_the_arithmetic_is_shown(numeric: bool) -> None:
    tree = tw.learn(table(100, 8, numeric=numeric), "y", FULL.with_(max_depth=1, smoothing="shrinkage", m=10.0))
    explanation = tw.explain_node(tree, 1)
    assert explanation.complete
    assert "/(1 + 10/100)" in explanation.text()
    assert "smoothed: shrinkage (m 10)" in " ".join(settings_text(tree))


def test_the_score_on_training_rows_is_that_of_the_predictions() -> None:
    data = table(100, 9, numeric=True) | {"x": np.arange(100.0)}
    tree = tw.learn(data, "y", FULL.with_(smoothing="shrinkage", m=30.0, max_depth=3))
    error = math.sqrt(np.mean((data["y"] - tw.predict(tree, data)) ** 2))
    assert tw.report(tree)["scores"]["training"]["headline"]["value"] == pytest.approx(error)


def test_bad_input_is_refused() -> None:
    with pytest.raises(tw.RecipeError, match=r"Constant\.m must be"):
        FULL.with_(smoothing="shrinkage", m=-1.0)
    with pytest.raises(tw.DataError, match=r"median of 'y'.*Variance"):
        tw.learn(table(50, 0, numeric=True), "y", FULL.with_(smoothing="shrinkage", regression="absolute_error"))
    rows, schema = training_table(table(50, 0), "y")
    with pytest.raises(tw.DataError, match=r"must be in memory.*smoothing='shrinkage'"):
        grow_and_prune(MemoryPartitions([rows]), schema, FULL.with_(smoothing="shrinkage_cv"))
