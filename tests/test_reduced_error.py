"""Reduced-error pruning: validation rows are never answered worse, a tie prunes, and nothing better is left.

Comes in: small tables with ties, repeats and missing values, half to learn from and half to validate with.
Always holds: judged by the answers of whole trees; without missing values also against every way to prune.
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
from pruning_cases import RECIPES, accuracy, encoded, grown, promised

import treewright as tw
from treewright.errors import DataError
from treewright.pruning.cut import cut
from treewright.pruning.prune import prune_rows

each_recipe = pytest.mark.parametrize("recipe", RECIPES)


@each_recipe
@promised
@given(data=st.data())
def test_reduced_error_never_answers_worse(recipe: str, data: st.DataObject) -> None:
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


@promised
@given(table=tables(n_classes=0, most_rows=40), recipe=st.sampled_from(["CART", "own"]))
def test_reduced_error_of_numbers_never_answers_worse(table: Table, recipe: str) -> None:
    half = table.n_rows // 2
    assume(half > 0)
    tree = grown(table.take(range(half)), recipe)
    unseen = table.take(range(half, table.n_rows))
    pruned = prune_rows(tree, tw.pruning.ReducedError(), encoded(unseen), 1)
    assert accuracy(pruned, unseen) >= accuracy(tree, unseen) - 1e-9


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
        "node 0 asked x = a; 1 leaf less: reduced error: 0 wrong on validation rows as a leaf, 0 below"
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
