"""Model trees as users choose them: several recipes, linear leaves on PILOT's splits, pruning, calibration, honesty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.data.rows import take
from treewright.errors import DataError, RecipeError
from treewright.export import to_json
from treewright.growing.memory_partitions import MemoryPartitions
from treewright.recipes.leaves import Linear
from treewright.training.choose_recipe import FOLDS
from treewright.training.folds import random_folds, set_aside
from treewright.training.learn import FitOptions, grow_and_prune, training_table

FULL = tw.CART.with_(leaves=Linear(), pruning=None, min_samples_leaf=10, rivals=0)


def table(seed: int = 0, n: int = 400) -> dict[str, Any]:
    """A target with two slopes in `a`, a sum with `b`, levels `c` that shift it, and gaps in `b`."""
    rng = np.random.default_rng(seed)
    a, b, c = rng.uniform(0, 10, n), rng.normal(size=n), rng.integers(0, 3, n)
    y = np.where(a < 4, 2 * a, 12 - a) + b + np.array([0.0, 1.0, 5.0])[c] + 0.3 * rng.normal(size=n)
    return {"a": a, "b": np.where(rng.random(n) < 0.1, np.nan, b), "c": [("p", "q", "r")[i] for i in c], "y": y}


def encoded(given: dict[str, Any]) -> Any:
    return training_table(given, "y", FitOptions(task="regression"))


# --- several recipes --------------------------------------------------------------------------------------------------


def test_of_several_recipes_the_one_with_the_least_held_out_error_learns_the_tree() -> None:
    rows, schema = encoded(table())
    losses = []
    for recipe in tw.MODEL_TREES:
        loss = 0.0
        for fold in random_folds(rows, FOLDS, 0):
            tree = grow_and_prune(take(rows, fold.training), schema, recipe)
            held_out = {name: np.asarray(values, dtype=object)[fold.test] for name, values in table().items()}
            loss += float(((tw.predict(tree, held_out) - held_out["y"].astype(float)) ** 2).sum())
        losses.append(loss)
    best = tw.MODEL_TREES[int(np.argmin(losses))]
    assert tw.learn(table(), "y", tw.MODEL_TREES) == tw.learn(table(), "y", best)
    assert tw.TreeRegressor(recipe=list(tw.MODEL_TREES)).fit(*features()).tree_.recipe in tw.MODEL_TREES


def features() -> tuple[np.ndarray, np.ndarray]:
    whole = table()
    return np.column_stack([whole["a"], np.nan_to_num(whole["b"])]), whole["y"]


def test_recipes_for_classes_are_compared_by_wrong_classes() -> None:
    x = np.arange(60.0)
    classes = {"x": x, "y": ["low" if value < 30 else "high" for value in x]}
    never, always = tw.CART.with_(max_depth=0, name="never"), tw.CART.with_(pruning=None, name="always")
    assert tw.learn(classes, "y", [never, always]).recipe.name == "always"
    assert tw.learn(classes, "y", [always, never, always.with_(name="again")]).recipe.name == "always"  # of equals


def test_the_choice_does_not_depend_on_threads_or_order_and_is_reported() -> None:
    whole = to_json(tw.learn(table(), "y", tw.MODEL_TREES, n_threads=1))
    order = np.random.default_rng(1).permutation(400)
    turned = {name: np.asarray(values, dtype=object)[order].tolist() for name, values in table().items()}
    heard: list[float] = []
    assert to_json(tw.learn(turned, "y", tw.MODEL_TREES, n_threads=2, progress=heard.append)) == whole
    assert heard == sorted(heard)
    assert heard[-1] == 1.0


def test_recipes_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(RecipeError, match="empty sequence"):
        tw.learn(table(), "y", [])
    with pytest.raises(RecipeError, match="not known"):
        tw.learn(table(), "y", ["m5", "m6"])


# --- linear leaves on PILOT's splits ----------------------------------------------------------------------------------


def test_model_tree_has_pilots_splits_and_linear_models_of_all_columns() -> None:
    small = tw.MODEL_TREE.with_(pruning=None)
    tree = tw.learn(table(), "y", small)
    pieces = tw.learn(table(), "y", small.with_(leaves=tw.leaves.Pieces()))
    assert [node.split and (node.split.column, node.split.threshold) for node in tree.walk()] == [
        node.split and (node.split.column, node.split.threshold) for node in pieces.walk()
    ]
    assert any(len(model.terms) > 1 for model in tree.models)
    found = tw.cross_validate(table(), "y", ["model_tree", "pilot"], folds=3)
    assert found.scores["MODEL_TREE"].value < found.scores["MODEL_TREE"].baseline / 3


def test_prices_of_coefficients_alone_grow_no_smaller_trees() -> None:
    dear = tw.learn(table(), "y", tw.PILOT)
    cheap = tw.learn(table(), "y", tw.PILOT.with_(regression=tw.criterion.PiecewiseLinear(price="coefficients")))
    assert cheap.n_leaves >= dear.n_leaves


def test_a_ridge_in_rows_is_one_that_shrinks_with_the_rows() -> None:
    line = {"x": np.arange(50.0), "y": 3 * np.arange(50.0)}
    one = tw.CART.with_(leaves=Linear(select="none", margin=None), max_depth=0, pruning=None)
    by_rows = tw.learn(line, "y", one.with_(ridge_rows=10.0)).root.model.terms[0].coefficient
    by_share = tw.learn(line, "y", one.with_(ridge=0.2)).root.model.terms[0].coefficient
    assert by_rows == pytest.approx(by_share, rel=1e-14)
    assert by_rows == pytest.approx(3 / 1.2)


# --- pruning by the errors of linear models ---------------------------------------------------------------------------


def squares(tree: tw.Tree, given: dict[str, Any]) -> float:
    return float(((tw.predict(tree, given) - given["y"]) ** 2).sum())


def subtrees(tree: tw.Tree, node: int = 0) -> list[set[int]]:
    """Every set of nodes to collapse, of a small tree."""
    if tree[node].is_leaf:
        return [set()]
    low, high = (subtrees(tree, child) for child in tree[node].children)
    return [{node}, *(one | other for one in low for other in high)]


@given(st.integers(0, 1000), st.sampled_from([0.0, 1e-4, 0.003, 0.05, 1.0]))
@settings(max_examples=15, deadline=None)
def test_cost_complexity_compares_the_errors_of_linear_models(seed: int, alpha: float) -> None:
    given = table(seed, 150)
    recipe = FULL.with_(max_depth=3, margin=None)
    tree = tw.learn(given, "y", recipe)
    pruned = tw.learn(given, "y", recipe.with_(pruning=tw.pruning.CostComplexity(alpha)))
    every = [tw.prune(tree, tw.pruning.CollapseNodes(tuple(sorted(nodes)))) for nodes in subtrees(tree)]
    costs = [squares(one, given) / 150 + alpha * one.n_leaves for one in every]
    assert squares(pruned, given) / 150 + alpha * pruned.n_leaves == pytest.approx(min(costs), rel=1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 15.0])
def test_cross_validation_judges_trees_by_their_linear_models(smoothing: float) -> None:
    recipe = FULL.with_(smoothing_rows=smoothing, pruning=tw.pruning.CostComplexityCV(folds=5))
    tree = tw.learn(table(), "y", recipe)
    whole = tw.learn(table(), "y", recipe.with_(pruning=None))
    assert tree.n_leaves < whole.n_leaves / 2
    assert tw.prune(whole, recipe.pruning, table()) == tree
    path = tw.pruning_path(whole, table(), pruner=recipe.pruning)
    rows, schema = encoded(table())
    # The root alone: the error of one linear model on rows that it has not seen.
    loss = 0.0
    for fold in random_folds(rows, 5, 0):
        one = grow_and_prune(take(rows, fold.training), schema, recipe.with_(pruning=None, max_depth=0))
        held_out = {name: np.asarray(values, dtype=object)[fold.test] for name, values in table().items()}
        loss += float(((tw.predict(one, held_out) - held_out["y"].astype(float)) ** 2).sum())
    assert path.held_out is not None
    assert path.held_out[-1] == pytest.approx(loss / 400, rel=0.02)


def test_partitions_prune_to_the_same_model_tree() -> None:
    rows, schema = encoded(table())
    recipe = FULL.with_(pruning=tw.pruning.CostComplexityCV(folds=3))
    whole = to_json(grow_and_prune(rows, schema, recipe, 1))
    parts = MemoryPartitions([take(rows, slice(0, 90)), take(rows, slice(90, 400))])
    assert to_json(grow_and_prune(parts, schema, recipe, 2)) == whole


# --- calibrated and honest --------------------------------------------------------------------------------------------


def test_a_calibrated_model_tree_covers_new_rows() -> None:
    tree = tw.calibrate(tw.learn(table(), "y", tw.MODEL_TREE), table(1), coverage=0.8)
    new = table(2, 2000)
    limits = tw.predict_interval(tree, new)
    covered = float(((limits[:, 0] <= new["y"]) & (new["y"] <= limits[:, 1])).mean())
    assert 0.75 < covered < 0.9
    np.testing.assert_allclose(limits.mean(axis=1), tw.predict(tree, new), atol=1e-12)
    assert "80 %: ± " in str(tree)
    assert tw.calibrate(tree, table(), folds=5).calibration.method == "cross"


@pytest.mark.parametrize("smoothing", [0.0, 15.0])
def test_the_models_of_an_honest_tree_come_from_the_other_half(smoothing: float) -> None:
    recipe = FULL.with_(max_depth=1, smoothing_rows=smoothing)
    complete = table() | {"b": np.nan_to_num(table()["b"])}
    tree = tw.learn(complete, "y", recipe, honest=True)
    assert tree.honest is not None
    rows, schema = encoded(complete)
    again = grow_and_prune(take(rows, set_aside(rows, 0.5, recipe.seed)), schema, recipe.with_(max_depth=0))
    ours, theirs = tree.models[0], again.models[0]
    assert [term.levels for term in ours.terms] == [term.levels for term in theirs.terms]
    np.testing.assert_allclose(
        [term.coefficient for term in ours.terms], [term.coefficient for term in theirs.terms], rtol=1e-9
    )
    assert (ours.low, ours.high) == (theirs.low, theirs.high)
    with pytest.raises(DataError, match="honest tree"):
        tw.prune(tree, tw.pruning.MaxDepth(0))
