"""Pruning by estimates and by hand: the rules hold, on tables that hypothesis makes up.

No pruner adds a leaf; pruning again changes nothing (but for the two whose rule is not like that); each cut has a
reason, and the leaves of all cuts add up.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import oracle_pruning as oracle
import pytest
from handmade_trees import random_tree
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle_tables import Table, tables
from pruning_cases import RECIPES, encoded, grown, promised, schema_of

import treewright as tw
from treewright import _core
from treewright.data.encoding import Encoded
from treewright.errors import DataError, RecipeError
from treewright.growing.grow import grow
from treewright.prediction.routing import predict_values
from treewright.pruning.cut import cut
from treewright.pruning.prune import prune_rows

ESTIMATING = [
    tw.pruning.ErrorBased(),
    tw.pruning.ErrorBased(0.05, deviate="exact"),
    tw.pruning.ErrorBased(raising=False),
    tw.pruning.MinimumError(),
    tw.pruning.MinimumError(m=0.0),
    tw.pruning.CriticalValue(0.3),
    tw.pruning.MinimumDescription(),
]
BY_HAND = [tw.pruning.MergeEqualLeaves(), tw.pruning.MaxDepth(1), tw.pruning.MaxLeaves(3)]
NOT_TWICE = [tw.pruning.Pessimistic(), tw.pruning.CollapseNodes((1, 2))]
each_recipe = pytest.mark.parametrize("recipe", RECIPES)


def new_leaves(tree: tw.Tree, pruned: tw.Tree) -> set[int]:
    """Which nodes of the tree were made leaves: walks both in step."""
    found, pairs = set(), [(tree.root, pruned.root)]
    while pairs:
        before, after = pairs.pop()
        if after.is_leaf and not before.is_leaf:
            found.add(before.id)
        elif not after.is_leaf:
            assert before.split == after.split
            pairs += [(tree[a], pruned[b]) for a, b in zip(before.children, after.children, strict=True)]
    return found


# --- what holds for all of them ---------------------------------------------------------------------------------------


@each_recipe
@promised
@given(data=st.data())
def test_no_leaf_is_added_and_twice_is_once(recipe: str, data: st.DataObject) -> None:
    table = data.draw(tables())
    pruner = data.draw(st.sampled_from([*ESTIMATING, *BY_HAND, *NOT_TWICE, tw.pruning.ReducedError()]))
    rows, tree = encoded(table), grown(table, recipe)
    if isinstance(pruner, tw.pruning.CollapseNodes):
        assume(tree.n_nodes > 2)
    pruned = prune_rows(tree, pruner, rows, 1)
    assert pruned.n_leaves <= tree.n_leaves
    assert sum(one.leaves for one in pruned.cuts) == tree.n_leaves - pruned.n_leaves
    assert all(one.reason and one.question for one in pruned.cuts)
    assert pruned.recipe.pruning == pruner
    if pruner not in NOT_TWICE:
        assert prune_rows(pruned, pruner, rows, 1) == pruned
    assert tw.Tree.from_dict(pruned.as_dict()) == pruned


@promised
@given(
    table=tables(n_classes=0),
    pruner=st.sampled_from([*BY_HAND, tw.pruning.CriticalValue(0.1), tw.pruning.ReducedError()]),
)
def test_numeric_targets(table: Table, pruner: Any) -> None:
    rows, tree = encoded(table), grown(table, "CART")
    pruned = prune_rows(tree, pruner, rows, 1)
    assert pruned.n_leaves <= tree.n_leaves
    assert prune_rows(pruned, pruner, rows, 1) == pruned


@each_recipe
@promised
@given(data=st.data())
def test_the_order_of_rows_does_not_matter(recipe: str, data: st.DataObject) -> None:
    table = data.draw(tables())
    tree = grown(table, recipe)
    shuffled = table.take(data.draw(st.permutations(range(table.n_rows))))
    for pruner in (tw.pruning.ErrorBased(), tw.pruning.ReducedError()):
        assert prune_rows(tree, pruner, encoded(table), 1) == prune_rows(tree, pruner, encoded(shuffled), 1)


# --- the rules, a second time -----------------------------------------------------------------------------------------

SECOND = {
    tw.pruning.ErrorBased(raising=False): lambda root: oracle.bottom_up(root, oracle.estimated(0.25, "table"), 0.1)[1],
    tw.pruning.ErrorBased(0.1, False, "exact"): lambda root: oracle.bottom_up(
        root, oracle.estimated(0.1, "exact"), 0.1
    )[1],
    tw.pruning.MinimumError(): lambda root: oracle.bottom_up(root, oracle.expected(2.0), 1e-12 * root.weight)[1],
    tw.pruning.MinimumError(m=5.0): lambda root: oracle.bottom_up(root, oracle.expected(5.0), 1e-12 * root.weight)[1],
    tw.pruning.MinimumDescription(): lambda root: oracle.bottom_up(
        root, oracle.leaf_bits, 1e-12 * root.weight, oracle.split_bits
    )[1],
    tw.pruning.Pessimistic(): lambda root: oracle.pessimistic(root, 0.5, 1.0),
    tw.pruning.Pessimistic(1.0, 0.0): lambda root: oracle.pessimistic(root, 1.0, 0.0),
    tw.pruning.CriticalValue(0.2): lambda root: oracle.critical(root, 0.2),
}


@pytest.mark.parametrize("pruner", SECOND, ids=str)
@promised
@given(table=tables(most_rows=40), recipe=st.sampled_from(["C45", "CART", "own", "smoothed"]))
def test_the_rule_written_a_second_time(pruner: Any, table: Table, recipe: str) -> None:
    tree = grown(table, recipe)
    # Where no row knows what a node asks, rows can stop at the node; the rule is then tested by itself, below.
    assume(not any(node.split and node.split.missing == "stop" for node in tree))
    assert new_leaves(tree, prune_rows(tree, pruner, None, 1)) == SECOND[pruner](tree.root)


def test_rows_that_stop_at_a_node_count_as_a_leaf_of_their_own() -> None:
    """Four rows know x, and x tells their classes apart; of the many that do not, half are wrong anyway."""
    x = [0.0, 0.0, 1.0, 1.0, *[math.nan] * 40]
    y = ["a", "a", "b", "b", *["a", "b"] * 20]
    recipe = replace(tw.CART, missing=tw.missing.Ignore(), pruning=None)
    tree = tw.learn({"x": x, "y": y}, "y", recipe)
    assert (tree.n_leaves, tree.root.split.missing) == (2, "stop")
    pruned = tw.prune(tree, tw.pruning.MinimumError(m=0.0))
    assert pruned.n_leaves == 2  # 22 errors as a leaf, 20 as it is
    assert tw.prune(tree, tw.pruning.Pessimistic(standard_errors=0.0)).n_leaves == 2  # 22.5 against 20 + 3 halves
    assert tw.prune(tree, tw.pruning.Pessimistic(1.5, 0.0)).n_leaves == 1  # 23.5 against 20 + 3 x 1.5


@pytest.mark.parametrize(
    ("cases", "errors", "c45", "j48"),
    [
        (6, 0, 1.237797, None),
        (9, 0, 1.284804, None),
        (1, 0, 0.75, 0.75),
        (16, 1, 1.506894, 1.475715),
        (2, 1, 0.796241, 0.791493),
        (14, 5, 1.794993, 1.76112),
        (10, 0.5, 1.367556, None),
        (100, 10, 2.814705, 2.749611),
        (168, 3, 2.029634, 1.983165),
        (2, 1.6, 0.268, 0.4),
    ],
)
def test_extra_errors_as_c45_and_j48_have_them(cases: float, errors: float, c45: float, j48: float | None) -> None:
    n, e = np.array([float(cases)]), np.array([float(errors)])
    assert _core.extra_errors(n, e, 0.25, False)[0] == pytest.approx(c45, abs=1e-6)
    if j48 is not None:
        assert _core.extra_errors(n, e, 0.25, True)[0] == pytest.approx(j48, abs=1e-6)


@promised
@given(
    cases=st.floats(0.1, 1e6),
    share=st.floats(0, 1),
    confidence=st.floats(0.001, 1),
    deviate=st.sampled_from(["table", "exact"]),
)
def test_extra_errors_written_a_second_time(cases: float, share: float, confidence: float, deviate: str) -> None:
    errors = cases * share
    ours = _core.extra_errors(np.array([cases]), np.array([errors]), confidence, deviate == "exact")[0]
    assert ours == pytest.approx(oracle.extra_errors(cases, errors, confidence, deviate), rel=1e-6, abs=1e-6)
    assert ours >= 0


# --- error-based with rows --------------------------------------------------------------------------------------------


def test_raising_says_what_it_did_and_sends_rows_again() -> None:
    """C4.5 asks z <= 1 first, but z <= 0 alone would do: its branch takes the root's place, with all 30 rows."""
    rows = [*["2 0 b"] * 2, *["3 0 a"] * 2, *["2 1 a"] * 6, *["3 1 a"] * 5, "2 1 b", "3 1 b", "3 1 b"]
    rows += [*["2 2 a"] * 6, *["3 2 a"] * 6]
    cells = [row.split() for row in rows]
    table = {"x": [float(x) for x, _, _ in cells], "z": [float(z) for _, z, _ in cells], "y": [y for *_, y in cells]}
    raw = tw.learn(table, "y", replace(tw.C45, pruning=None))
    assert (raw.root.split.threshold, raw[raw.root.children[0]].split.threshold, raw.n_leaves) == (1.0, 0.0, 4)
    pruned = tw.prune(raw, tw.pruning.ErrorBased(), table)
    assert pruned == tw.learn(table, "y", tw.C45)
    assert (pruned.root.split.threshold, pruned.root.rows, pruned.depth) == (0.0, 30, 2)
    assert [(leaf.counts, leaf.rows) for leaf in pruned if leaf.is_leaf] == [((0, 2), 2), ((2, 0), 2), ((23, 3), 26)]
    # Of 30 rows 26 reach z > 0, where 3 are wrong; the upper limits of 2, 2 and 26 rows with 0, 0 and 3 errors:
    instead = 3 + sum(oracle.extra_errors(n, e, 0.25, "table") for n, e in ((2, 0), (2, 0), (26, 3)))
    below = 3 + sum(oracle.extra_errors(n, e, 0.25, "table") for n, e in ((2, 0), (2, 0), (14, 3), (12, 0)))
    (one,) = pruned.cuts
    assert str(one) == (
        f"node 0 split on z <= 1; 1 leaf less: error-based: {instead:.4g} estimated errors as its largest branch "
        f"alone, {below:.4g} below"
    )


@promised
@given(table=tables(n_classes=2), recipe=st.sampled_from(["C45", "J48", "CART"]))
def test_what_no_row_came_to_is_as_it_was(table: Table, recipe: str) -> None:
    """With costs and priors too, whose weights are not those of the rows."""
    target = replace(schema_of(table).target, costs=((0.0, 3.0), (1.0, 0.0)), priors=(0.4, 0.6))
    assume(len(set(table.target.tolist())) == 2)
    tree = grow(encoded(table), replace(schema_of(table), target=target), RECIPES[recipe], 1)
    pruned = prune_rows(tree, tw.pruning.ErrorBased(), encoded(table), 1)
    before = {(node.rows, node.weight, node.counts, node.impurity, node.probabilities) for node in tree}
    raised = any("largest branch" in one.reason for one in pruned.cuts)
    after = {(node.rows, node.weight, node.counts, node.impurity, node.probabilities) for node in pruned}
    assert raised or after <= before
    for node in pruned:
        seen = [3.0 * node.counts[0], node.counts[1]]  # growing saw errors on the first class at what they cost
        criterion = tw.criteria.gini if recipe == "CART" else tw.criteria.entropy
        assert node.impurity == pytest.approx(criterion(seen) if node.rows else 0.0, abs=1e-9)


def test_raising_needs_rows_and_replacing_does_not() -> None:
    tree = tw.learn({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b"]}, "y", replace(tw.C45, pruning=None))
    with pytest.raises(DataError, match="raising=False"):
        tw.prune(tree, tw.pruning.ErrorBased())
    assert tw.prune(tree, tw.pruning.ErrorBased(raising=False)).n_leaves == tree.n_leaves


@promised
@given(table=tables(), strange=st.booleans())
def test_dropping_branches_that_no_row_can_take_changes_no_prediction(table: Table, strange: bool) -> None:
    from treewright.pruning.unreachable import without_unreachable

    tree = grown(table, "grouped")
    smaller = without_unreachable(tree)
    np.testing.assert_array_equal(predict_values(tree, encoded(table), 1), predict_values(smaller, encoded(table), 1))
    codes = np.random.default_rng(1).integers(-1, 5, size=(len(table.columns), 200))
    columns = [
        np.where(code < 0, np.nan, code / 1.0) if kind == 0 else np.minimum(code, levels - 1).astype(np.int32)
        for code, kind, levels in zip(codes, table.kinds, table.levels, strict=True)
    ]
    rows = Encoded(tuple(columns), tuple(table.kinds), tuple(table.levels), 200)
    np.testing.assert_array_equal(predict_values(tree, rows, 1), predict_values(smaller, rows, 1))


# --- by hand ----------------------------------------------------------------------------------------------------------


@promised
@given(table=tables(most_rows=12), leaves=st.integers(1, 6), recipe=st.sampled_from(["C45", "CART"]))
def test_best_leaves_against_every_pruning(table: Table, leaves: int, recipe: str) -> None:
    tree = grown(table, recipe)
    assume(oracle.count_prunings(tree.root) <= 60)
    ways = oracle.prunings(tree.root)
    assume(not any(node.split and node.split.missing == "stop" for node in tree))

    def risk(pruned: tw.Tree) -> float:
        return sum(node.weight * node.impurity for node in pruned if node.is_leaf)

    candidates = [c for c in (cut(tree, dict.fromkeys(way, "try")) for way in ways) if c.n_leaves <= leaves]
    best = prune_rows(tree, tw.pruning.MaxLeaves(leaves), None, 1)
    assert best.n_leaves <= max(leaves, 1)
    assert risk(best) == pytest.approx(min(map(risk, candidates)), abs=1e-9)


@promised
@given(table=tables(missing=False), recipe=st.sampled_from(["C45", "CART", "smoothed"]))
def test_merging_equal_leaves_changes_no_prediction(table: Table, recipe: str) -> None:
    tree = grown(table, recipe)
    pruned = prune_rows(tree, tw.pruning.MergeEqualLeaves(), None, 1)
    before, after = (predict_values(t, encoded(table), 1).argmax(axis=1) for t in (tree, pruned))
    np.testing.assert_array_equal(before, after)
    for node in pruned:
        predictions = {pruned[child].prediction if pruned[child].is_leaf else object() for child in node.children}
        assert len(predictions) != 1 or predictions != {node.prediction}


@pytest.mark.parametrize("seed", range(20))
def test_depth_and_nodes(seed: int) -> None:
    tree = random_tree(seed)
    for depth in range(tree.depth + 2):
        pruned = tw.prune(tree, tw.pruning.MaxDepth(depth))
        assert pruned.depth == min(depth, tree.depth)
        assert [n.id for n in tree if n.depth == depth and not n.is_leaf] == sorted(new_leaves(tree, pruned))
    inner = [node.id for node in tree if not node.is_leaf]
    for node in inner:
        assert new_leaves(tree, tw.prune(tree, tw.pruning.CollapseNodes((node,)))) == {node}
    assert tw.prune(tree, tw.pruning.CollapseNodes(tuple(inner))).n_leaves == 1


def test_by_hand_says_what_is_wrong() -> None:
    tree = random_tree(1)
    with pytest.raises(DataError, match=rf"no node {tree.n_nodes}; this tree has nodes 0 to {tree.n_nodes - 1}"):
        tw.prune(tree, tw.pruning.CollapseNodes((0, tree.n_nodes)))
    for bad in (
        lambda: tw.pruning.MaxLeaves(0),
        lambda: tw.pruning.MaxDepth(-1),
        lambda: tw.pruning.CollapseNodes((1.5,)),
        lambda: tw.pruning.CollapseNodes("3"),
    ):
        with pytest.raises(RecipeError):
            bad()


@pytest.mark.parametrize(
    "pruner",
    [tw.pruning.ErrorBased(), tw.pruning.Pessimistic(), tw.pruning.MinimumError(), tw.pruning.MinimumDescription()],
    ids=str,
)
def test_wrong_classes_cannot_be_counted_for_a_number(pruner: Any) -> None:
    tree = tw.learn({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]}, "y", replace(tw.CART, pruning=None))
    with pytest.raises(DataError, match="'y' is a number"):
        tw.prune(tree, pruner)


def test_pessimistic_is_not_meant_to_be_repeated() -> None:
    """Quinlan's rule compares with the subtree as grown; once some of it is cut, a node above may go too."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 5, size=(80, 3)).astype(float)
    y = (x[:, 0] + x[:, 1] > 4) ^ (rng.random(80) < 0.2)
    tree = tw.learn({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}, "y", replace(tw.C45, pruning=None))
    once = tw.prune(tree, tw.pruning.Pessimistic())
    assert (tree.n_leaves, once.n_leaves, tw.prune(once, tw.pruning.Pessimistic()).n_leaves) == (6, 4, 2)
