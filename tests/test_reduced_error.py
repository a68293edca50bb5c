"""Reduced-error pruning: validation rows are never predicted worse, a tie prunes, and nothing better is left.

Judged by the predictions of whole trees; without missing values also against every way to prune.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import oracle_pruning as oracle
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle_tables import Table, tables
from pruning_cases import RECIPES, accuracy, encoded, grown, promised, schema_of
from scipy.special import xlogy

import treewright as tw
from treewright.errors import DataError
from treewright.growing.grow import grow
from treewright.prediction.routing import predict_values
from treewright.pruning.cut import cut
from treewright.pruning.prune import prune_rows

each_recipe = pytest.mark.parametrize("recipe", RECIPES)


@each_recipe
@promised
@given(data=st.data())
def test_reduced_error_never_predicts_worse(recipe: str, data: st.DataObject) -> None:
    """Until every removal would hurt: judged by the answers themselves, whatever way rows take."""
    table = data.draw(tables(most_rows=40))
    half = table.n_rows // 2
    assume(half > 0)
    tree = grown(table.take(range(half)), recipe)
    unseen = table.take(range(half, table.n_rows))
    pruned = prune_rows(tree, tw.pruning.ReducedError(), encoded(unseen), 1)
    assert accuracy(pruned, unseen) >= accuracy(tree, unseen)
    for node in pruned:
        if not node.is_leaf:
            assert accuracy(cut(pruned, {node.id: "try"}), unseen) < accuracy(pruned, unseen)


LOSSES: dict[str, Any] = {
    "variance": (tw.criterion.Variance(), lambda y, mean: (y - mean) ** 2),
    "absolute_error": (tw.criterion.AbsoluteError(), lambda y, median: np.abs(y - median)),
    "poisson": (tw.criterion.Poisson(), lambda y, mean: xlogy(y, y / np.maximum(mean, 1e-300)) - y + mean),
}
each_loss = pytest.mark.parametrize("name", LOSSES)


def numeric_loss(tree: tw.Tree, table: Table, name: str) -> float:
    """The loss of the criterion, row by row."""
    weight = np.ones(table.n_rows) if table.weight is None else table.weight
    return float((weight * LOSSES[name][1](table.target, predict_values(tree, encoded(table), 1)[:, 0])).sum())


def numeric_halves(table: Table, name: str, recipe: str) -> tuple[tw.Tree, Table]:
    """A tree grown by one half of the rows under a criterion, and the other half."""
    half = table.n_rows // 2
    assume(half > 0)
    table = replace(table, target=np.abs(table.target)) if name == "poisson" else table
    assume(name != "poisson" or table.target[:half].any())
    first = table.take(range(half))
    base = RECIPES["CART"] if recipe == "fractional" else RECIPES[recipe]
    missing = tw.missing.Fractional() if recipe == "fractional" else base.missing
    grown_by = replace(base, regression=LOSSES[name][0], missing=missing)
    return grow(encoded(first), schema_of(first), grown_by, 1), table.take(range(half, table.n_rows))


@each_loss
@promised
@given(table=tables(n_classes=0, most_rows=40), recipe=st.sampled_from(["CART", "own", "fractional"]))
def test_reduced_error_of_numbers_never_predicts_worse(name: str, table: Table, recipe: str) -> None:
    tree, unseen = numeric_halves(table, name, recipe)
    pruned = prune_rows(tree, tw.pruning.ReducedError(), encoded(unseen), 1)
    assert numeric_loss(pruned, unseen, name) <= numeric_loss(tree, unseen, name) + 1e-9
    for node in pruned:
        if not node.is_leaf:
            after = numeric_loss(cut(pruned, {node.id: "try"}), unseen, name)
            assert after > numeric_loss(pruned, unseen, name) - 1e-9


@each_loss
@promised
@given(table=tables(n_classes=0, missing=False, most_rows=20))
def test_reduced_error_of_numbers_is_the_best_pruning(name: str, table: Table) -> None:
    tree, unseen = numeric_halves(table, name, "CART")
    assume(oracle.count_prunings(tree.root) <= 60)
    pruned = prune_rows(tree, tw.pruning.ReducedError(), encoded(unseen), 1)
    candidates = [cut(tree, dict.fromkeys(way, "try")) for way in oracle.prunings(tree.root)]
    losses = [numeric_loss(candidate, unseen, name) for candidate in candidates]
    best = min(losses) + 1e-9 * (1 + abs(min(losses)))
    assert numeric_loss(pruned, unseen, name) <= best
    smallest = min(c.n_leaves for c, loss in zip(candidates, losses, strict=True) if loss <= best)
    assert pruned.n_leaves == smallest


def test_reduced_error_by_absolute_deviations() -> None:
    """One outlier decides by squares, not by absolute deviations, of which the split saves seven and costs six."""
    train = {"x": [0.0] * 5 + [1.0] * 5, "y": [0.0] * 5 + [1.0] * 5}
    unseen = {"x": [1.0] * 8 + [0.0], "y": [1.0] * 7 + [-5.0, 0.0]}
    trees = [
        tw.prune(
            tw.learn(train, "y", tw.CART.with_(regression=name, pruning=None), task="regression"),
            tw.pruning.ReducedError(),
            unseen,
        )
        for name in ("absolute_error", "variance")
    ]
    assert [tree.n_leaves for tree in trees] == [2, 1]
    assert "squared error on validation rows" in str(trees[1].cuts[0])


def test_negative_validation_targets_under_poisson_are_refused() -> None:
    tree = tw.learn(
        {"x": [0.0, 1.0], "y": [1.0, 2.0]}, "y", tw.CART.with_(regression="poisson", pruning=None), task="regression"
    )
    with pytest.raises(DataError, match="'y' has negative values"):
        tw.prune(tree, tw.pruning.ReducedError(), {"x": [0.0], "y": [-1.0]})


@promised
@given(table=tables(n_classes=2, missing=False, most_rows=20))
def test_reduced_error_is_the_smallest_of_the_best_prunings(table: Table) -> None:
    """Against every way to prune, by brute force."""
    half = table.n_rows // 2
    assume(half > 0)
    tree = grown(table.take(range(half)), "CART")
    assume(oracle.count_prunings(tree.root) <= 60)
    ways = oracle.prunings(tree.root)
    unseen = table.take(range(half, table.n_rows))
    pruned = prune_rows(tree, tw.pruning.ReducedError(), encoded(unseen), 1)
    candidates = [cut(tree, dict.fromkeys(way, "try")) for way in ways]
    best = max(accuracy(candidate, unseen) for candidate in candidates)
    assert accuracy(pruned, unseen) == best
    assert pruned.n_leaves == min(c.n_leaves for c in candidates if accuracy(c, unseen) == best)


def test_ties_prune() -> None:
    """The split is right about every training row and makes no difference on the validation row."""
    tree = tw.learn({"x": ["a", "a", "b"], "y": ["yes", "yes", "no"]}, "y", tw.ID3)
    assert tree.n_leaves == 2
    pruned = tw.prune(tree, tw.pruning.ReducedError(), {"x": ["a"], "y": ["yes"]})
    assert pruned.n_leaves == 1
    assert [str(one) for one in pruned.cuts] == [
        "node 0 split on x = a; 1 leaf less: reduced error: 0 wrong on validation rows as a leaf, 0 below"
    ]
    assert tw.prune(tree, tw.pruning.ReducedError(), {"x": ["b"], "y": ["no"]}) == replace_pruning(
        tree, tw.pruning.ReducedError()
    )


def replace_pruning(tree: tw.Tree, pruner: Any) -> tw.Tree:
    return tw.Tree(tree.arrays, tree.schema, replace(tree.recipe, pruning=pruner), tree.cuts)


def test_a_share_is_set_aside_by_class_and_by_value() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    table = {"x": x, "y": np.where((x > 0) ^ (rng.random(400) < 0.2), "up", "down")}
    recipe = replace(tw.CART, pruning=tw.pruning.ReducedError(share=0.25, seed=5))
    tree = tw.learn(table, "y", recipe)
    assert tree.root.rows == 300
    classes, counts = np.unique(table["y"], return_counts=True)
    assert np.abs(np.array(tree.root.counts) - 0.75 * counts).max() <= 1
    assert tree.n_leaves < tw.learn(table, "y", replace(recipe, pruning=None)).n_leaves / 4
    order = rng.permutation(400)
    assert tw.learn({name: column[order] for name, column in table.items()}, "y", recipe) == tree
    assert tw.learn(table, "y", replace(recipe, pruning=tw.pruning.ReducedError(share=0.25, seed=6))) != tree
    assert list(tree.schema.target.classes) == classes.tolist()


@pytest.mark.parametrize(("share", "words"), [(0.01, "no row to validate with"), (0.2, "no row to validate with")])
def test_a_share_without_rows_is_refused(share: float, words: str) -> None:
    table = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}
    with pytest.raises(DataError, match=words):
        tw.learn(table, "y", replace(tw.CART, pruning=tw.pruning.ReducedError(share=share)))


def validated() -> tw.Tree:
    return tw.learn({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b"]}, "y", replace(tw.CART, pruning=None))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (None, "needs validation rows"),
        ({"x": [], "y": []}, "no rows"),
        ({"z": [1.0], "y": ["a"]}, "lacks the column 'x'"),
        ({"x": [1.0]}, "y"),
        ({"x": [1.0, 2.0], "y": ["a", "c"]}, "has the class 'c'; known are 'a', 'b'"),
        ({"x": ["low"], "y": ["a"]}, "'x' was numeric"),
        ({"x": [1.0], "y": [None]}, "missing"),
    ],
    ids=["none", "empty", "other columns", "no target", "unseen class", "other kind", "missing class"],
)
def test_validation_rows_that_do_not_fit(data: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        tw.prune(validated(), tw.pruning.ReducedError(), data)


def test_costs_decide_what_reduced_error_saves() -> None:
    """Two of ten validation rows are missed by a leaf that says no; at ten each, the split is worth its two false
    alarms, at one each it is a tie and goes."""
    train = {"x": [0.0] * 6 + [1.0] * 4, "y": ["no"] * 6 + ["yes"] * 4}
    unseen = {"x": [0.0] * 6 + [1.0] * 4, "y": ["no"] * 6 + ["yes", "yes", "no", "no"]}
    plain = tw.learn(train, "y", replace(tw.CART, pruning=None))
    assert tw.prune(plain, tw.pruning.ReducedError(), unseen).n_leaves == 1
    dear = tw.learn(train, "y", replace(tw.CART, pruning=None), costs={"yes": {"no": 10.0}})
    assert dear.n_leaves == 2
    kept = tw.prune(dear, tw.pruning.ReducedError(), unseen)
    # As a leaf everyone is told yes, for 8 false alarms; as it is there are 2.
    assert kept.n_leaves == 2
