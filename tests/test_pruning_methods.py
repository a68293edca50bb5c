"""Pruning by validation rows, by estimates and by hand: the rules hold, on tables that hypothesis makes up.

Comes in: small tables with ties, repeats and missing values; the rules written a second time in `oracle_pruning`.
Always holds: no pruner adds a leaf; pruning again changes nothing (but for the two whose rule is not like that); each
cut has a reason, and the leaves of all cuts add up.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import oracle_pruning as oracle
import pytest
from handmade import random_tree
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from oracle_tables import Table, tables

import treewright as tw
from treewright import _core
from treewright.encode import Encoded
from treewright.engine import answers, grow
from treewright.errors import DataError, RecipeError
from treewright.pruning import prune_rows
from treewright.pruning.cut import cut
from treewright.schema import ColumnSpec, Schema, TargetSpec

KINDS = ("numeric", "ordinal", "nominal")
FREE = tw.Stopping(zero_gain=True)
RECIPES = {
    "C45": replace(tw.C45, stopping=FREE, simplify=None, pruning=None),
    "J48": replace(tw.J48, pruning=None),
    "grouped": replace(tw.C45, branching=tw.Grouped(), stopping=FREE, simplify=None, pruning=None),
    "CART": replace(tw.CART, stopping=FREE, pruning=None),
    "ignore": replace(tw.CART, missing=tw.Ignore(), stopping=FREE, pruning=None),
    "random": replace(tw.C45, missing=tw.RandomChild(), stopping=FREE, simplify=None, pruning=None),
    "own": replace(tw.CART, missing=tw.OwnCategory(), stopping=FREE, pruning=None),
    "laplace": replace(tw.CART, leaves=tw.Leaves(smoothing="m_estimate"), stopping=FREE, pruning=None),
}
ESTIMATING = [
    tw.ErrorBased(),
    tw.ErrorBased(0.05, deviate="exact"),
    tw.ErrorBased(raising=False),
    tw.MinimumError(),
    tw.MinimumError(m=0.0),
    tw.CriticalValue(0.3),
    tw.MinimumDescription(),
]
BY_HAND = [tw.SameAnswer(), tw.ToDepth(1), tw.BestLeaves(3)]
NOT_TWICE = [tw.Pessimistic(), tw.ByNodes((1, 2))]
# Without shrinking: a failure is reported at once; shrinking an expensive comparison can take longer than the suite.
promised = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=25,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
each_recipe = pytest.mark.parametrize("recipe", RECIPES)


def schema_of(table: Table) -> Schema:
    columns = tuple(
        ColumnSpec(f"x{i}", KINDS[kind], tuple(range(levels)) if levels else None)
        for i, (kind, levels) in enumerate(zip(table.kinds, table.levels, strict=True))
    )
    if table.n_classes:
        return Schema(columns, TargetSpec("y", "classification", tuple(range(table.n_classes))))
    return Schema(columns, TargetSpec("y", "regression"))


def encoded(table: Table) -> Encoded:
    return Encoded(
        tuple(table.columns), tuple(table.kinds), tuple(table.levels), table.n_rows, table.target, table.n_classes,
        table.weight,
    )  # fmt: skip


def grown(table: Table, recipe: str) -> tw.Tree:
    return grow(encoded(table), schema_of(table), RECIPES[recipe], 1)


def accuracy(tree: tw.Tree, table: Table) -> float:
    """The weight of the rows answered rightly; for numbers, the squared error with a minus."""
    weight = np.ones(table.n_rows) if table.weight is None else table.weight
    answer = answers(tree, encoded(table), 1)
    if table.n_classes:
        return float(weight[answer.argmax(axis=1) == table.target].sum())
    return -float((weight * (answer[:, 0] - table.target) ** 2).sum())


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
    pruner = data.draw(st.sampled_from([*ESTIMATING, *BY_HAND, *NOT_TWICE, tw.ReducedError()]))
    rows, tree = encoded(table), grown(table, recipe)
    if isinstance(pruner, tw.ByNodes):
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
@given(table=tables(n_classes=0), pruner=st.sampled_from([*BY_HAND, tw.CriticalValue(0.1), tw.ReducedError()]))
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
    for pruner in (tw.ErrorBased(), tw.ReducedError()):
        assert prune_rows(tree, pruner, encoded(table), 1) == prune_rows(tree, pruner, encoded(shuffled), 1)


# --- the rules, a second time -----------------------------------------------------------------------------------------

SECOND = {
    tw.ErrorBased(raising=False): lambda root: oracle.bottom_up(root, oracle.estimated(0.25, "table"), 0.1)[1],
    tw.ErrorBased(0.1, False, "exact"): lambda root: oracle.bottom_up(root, oracle.estimated(0.1, "exact"), 0.1)[1],
    tw.MinimumError(): lambda root: oracle.bottom_up(root, oracle.expected(2.0), 1e-12 * root.weight)[1],
    tw.MinimumError(m=5.0): lambda root: oracle.bottom_up(root, oracle.expected(5.0), 1e-12 * root.weight)[1],
    tw.MinimumDescription(): lambda root: oracle.bottom_up(
        root, oracle.leaf_bits, 1e-12 * root.weight, oracle.split_bits
    )[1],
    tw.Pessimistic(): lambda root: oracle.pessimistic(root, 0.5, 1.0),
    tw.Pessimistic(1.0, 0.0): lambda root: oracle.pessimistic(root, 1.0, 0.0),
    tw.CriticalValue(0.2): lambda root: oracle.critical(root, 0.2),
}


@pytest.mark.parametrize("pruner", SECOND, ids=str)
@promised
@given(table=tables(most_rows=40), recipe=st.sampled_from(["C45", "CART", "own", "laplace"]))
def test_the_rule_written_a_second_time(pruner: Any, table: Table, recipe: str) -> None:
    tree = grown(table, recipe)
    # Where no row knows what a node asks, rows can stop at the node; the rule is then tested by itself, below.
    assume(not any(node.split and node.split.missing == "stop" for node in tree))
    assert new_leaves(tree, prune_rows(tree, pruner, None, 1)) == SECOND[pruner](tree.root)


def test_rows_that_stop_at_a_node_count_as_a_leaf_of_their_own() -> None:
    """Four rows know x, and x tells their classes apart; of the many that do not, half are wrong anyway."""
    x = [0.0, 0.0, 1.0, 1.0, *[math.nan] * 40]
    y = ["a", "a", "b", "b", *["a", "b"] * 20]
    recipe = replace(tw.CART, missing=tw.Ignore(), pruning=None)
    tree = tw.learn({"x": x, "y": y}, "y", recipe)
    assert (tree.n_leaves, tree.root.split.missing) == (2, "stop")
    pruned = tw.prune(tree, tw.MinimumError(m=0.0))
    assert pruned.n_leaves == 2  # 22 errors as a leaf, 20 as it is
    assert tw.prune(tree, tw.Pessimistic(standard_errors=0.0)).n_leaves == 2  # 22.5 against 20 + 3 halves
    assert tw.prune(tree, tw.Pessimistic(1.5, 0.0)).n_leaves == 1  # 23.5 against 20 + 3 x 1.5


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


# --- reduced error ----------------------------------------------------------------------------------------------------


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
    pruned = prune_rows(tree, tw.ReducedError(), encoded(unseen), 1)
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
    pruned = prune_rows(tree, tw.ReducedError(), encoded(unseen), 1)
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
    pruned = prune_rows(tree, tw.ReducedError(), encoded(unseen), 1)
    candidates = [cut(tree, dict.fromkeys(way, "try")) for way in ways]
    best = max(accuracy(candidate, unseen) for candidate in candidates)
    assert accuracy(pruned, unseen) == best
    assert pruned.n_leaves == min(c.n_leaves for c in candidates if accuracy(c, unseen) == best)


def test_ties_prune() -> None:
    """The split is right about every training row and makes no difference on the validation row."""
    tree = tw.learn({"x": ["a", "a", "b"], "y": ["yes", "yes", "no"]}, "y", tw.ID3)
    assert tree.n_leaves == 2
    pruned = tw.prune(tree, tw.ReducedError(), {"x": ["a"], "y": ["yes"]})
    assert pruned.n_leaves == 1
    assert [str(one) for one in pruned.cuts] == [
        "node 0 asked x = a; 1 leaf less: reduced error: 0 wrong on validation rows as a leaf, 0 below"
    ]
    assert tw.prune(tree, tw.ReducedError(), {"x": ["b"], "y": ["no"]}) == replace_pruning(tree, tw.ReducedError())


def replace_pruning(tree: tw.Tree, pruner: Any) -> tw.Tree:
    return tw.Tree(tree.arrays, tree.schema, replace(tree.recipe, pruning=pruner), tree.cuts)


def test_a_share_is_set_aside_by_class_and_by_value() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=400)
    table = {"x": x, "y": np.where((x > 0) ^ (rng.random(400) < 0.2), "up", "down")}
    recipe = replace(tw.CART, pruning=tw.ReducedError(share=0.25, seed=5))
    tree = tw.learn(table, "y", recipe)
    assert tree.root.rows == 300
    classes, counts = np.unique(table["y"], return_counts=True)
    assert np.abs(np.array(tree.root.counts) - 0.75 * counts).max() <= 1
    assert tree.n_leaves < tw.learn(table, "y", replace(recipe, pruning=None)).n_leaves / 4
    order = rng.permutation(400)
    assert tw.learn({name: column[order] for name, column in table.items()}, "y", recipe) == tree
    assert tw.learn(table, "y", replace(recipe, pruning=tw.ReducedError(share=0.25, seed=6))) != tree
    assert list(tree.schema.target.classes) == classes.tolist()


@pytest.mark.parametrize(("share", "words"), [(0.01, "no row to validate with"), (0.2, "no row to validate with")])
def test_a_share_without_rows_is_refused(share: float, words: str) -> None:
    table = {"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]}
    with pytest.raises(DataError, match=words):
        tw.learn(table, "y", replace(tw.CART, pruning=tw.ReducedError(share=share)))


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
        tw.prune(validated(), tw.ReducedError(), data)


def test_costs_decide_what_reduced_error_saves() -> None:
    """Two of ten validation rows are missed by a leaf that says no; at ten each, the split is worth its two false
    alarms, at one each it is a tie and goes."""
    train = {"x": [0.0] * 6 + [1.0] * 4, "y": ["no"] * 6 + ["yes"] * 4}
    unseen = {"x": [0.0] * 6 + [1.0] * 4, "y": ["no"] * 6 + ["yes", "yes", "no", "no"]}
    plain = tw.learn(train, "y", replace(tw.CART, pruning=None))
    assert tw.prune(plain, tw.ReducedError(), unseen).n_leaves == 1
    dear = tw.learn(train, "y", replace(tw.CART, pruning=None), costs={"yes": {"no": 10.0}})
    assert dear.n_leaves == 2
    kept = tw.prune(dear, tw.ReducedError(), unseen)
    # As a leaf everyone is told yes, for 8 false alarms; as it is there are 2.
    assert kept.n_leaves == 2


# --- error-based with rows --------------------------------------------------------------------------------------------


def test_raising_says_what_it_did_and_sends_rows_again() -> None:
    """`b` is asked first, but among b = 1 alone; with its parent's three rows the branch is as good by itself."""
    rng = np.random.default_rng(0)
    found = None
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 4, size=(60, 3)).astype(float)
        y = np.where((x[:, 0] > 1) ^ (rng.random(60) < 0.15), "a", "b")
        table = {f"x{i}": x[:, i] for i in range(3)} | {"y": y}
        raw = tw.learn(table, "y", replace(tw.C45, pruning=None))
        pruned = tw.prune(raw, tw.ErrorBased(), table)
        if any("largest branch" in one.reason for one in pruned.cuts):
            found = (table, raw, pruned)
            break
    assert found is not None
    table, raw, pruned = found
    assert pruned == tw.learn(table, "y", tw.C45)
    (one,) = [one for one in pruned.cuts if "largest branch" in one.reason][:1]
    assert one.reason.startswith("error-based: ")
    assert one.reason.endswith(" below")
    for node in pruned:
        if not node.is_leaf:  # every row of a node is in one of its children, also where they came by raising
            children = np.array([pruned[child].counts for child in node.children])
            np.testing.assert_allclose(children.sum(axis=0), node.counts, rtol=1e-12)
    reached = tw.apply(pruned, {name: column for name, column in table.items() if name != "y"})
    for leaf in (node for node in pruned if node.is_leaf):
        assert leaf.rows == np.count_nonzero(reached == leaf.id)


def test_raising_needs_rows_and_replacing_does_not() -> None:
    tree = tw.learn({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b"]}, "y", replace(tw.C45, pruning=None))
    with pytest.raises(DataError, match="raising=False"):
        tw.prune(tree, tw.ErrorBased())
    assert tw.prune(tree, tw.ErrorBased(raising=False)).n_leaves == tree.n_leaves


@promised
@given(table=tables(), strange=st.booleans())
def test_dropping_branches_that_no_row_can_take_changes_no_answer(table: Table, strange: bool) -> None:
    from treewright.pruning.unreachable import without_unreachable

    tree = grown(table, "grouped")
    smaller = without_unreachable(tree)
    np.testing.assert_array_equal(answers(tree, encoded(table), 1), answers(smaller, encoded(table), 1))
    codes = np.random.default_rng(1).integers(-1, 5, size=(len(table.columns), 200))
    columns = [
        np.where(code < 0, np.nan, code / 1.0) if kind == 0 else np.minimum(code, levels - 1).astype(np.int32)
        for code, kind, levels in zip(codes, table.kinds, table.levels, strict=True)
    ]
    rows = Encoded(tuple(columns), tuple(table.kinds), tuple(table.levels), 200)
    np.testing.assert_array_equal(answers(tree, rows, 1), answers(smaller, rows, 1))


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
    best = prune_rows(tree, tw.BestLeaves(leaves), None, 1)
    assert best.n_leaves <= max(leaves, 1)
    assert risk(best) == pytest.approx(min(map(risk, candidates)), abs=1e-9)


@promised
@given(table=tables(missing=False), recipe=st.sampled_from(["C45", "CART", "laplace"]))
def test_same_answer_changes_no_answer(table: Table, recipe: str) -> None:
    tree = grown(table, recipe)
    pruned = prune_rows(tree, tw.SameAnswer(), None, 1)
    before, after = (answers(t, encoded(table), 1).argmax(axis=1) for t in (tree, pruned))
    np.testing.assert_array_equal(before, after)
    for node in pruned:
        said = {pruned[child].prediction if pruned[child].is_leaf else object() for child in node.children}
        assert len(said) != 1 or said != {node.prediction}


@pytest.mark.parametrize("seed", range(20))
def test_depth_and_nodes(seed: int) -> None:
    tree = random_tree(seed)
    for depth in range(tree.depth + 2):
        pruned = tw.prune(tree, tw.ToDepth(depth))
        assert pruned.depth == min(depth, tree.depth)
        assert [n.id for n in tree if n.depth == depth and not n.is_leaf] == sorted(new_leaves(tree, pruned))
    inner = [node.id for node in tree if not node.is_leaf]
    for node in inner:
        assert new_leaves(tree, tw.prune(tree, tw.ByNodes((node,)))) == {node}
    assert tw.prune(tree, tw.ByNodes(tuple(inner))).n_leaves == 1


def test_by_hand_says_what_is_wrong() -> None:
    tree = random_tree(1)
    with pytest.raises(DataError, match=rf"no node {tree.n_nodes}; this tree has nodes 0 to {tree.n_nodes - 1}"):
        tw.prune(tree, tw.ByNodes((0, tree.n_nodes)))
    for bad in (lambda: tw.BestLeaves(0), lambda: tw.ToDepth(-1), lambda: tw.ByNodes((1.5,)), lambda: tw.ByNodes("3")):
        with pytest.raises(RecipeError):
            bad()


@pytest.mark.parametrize(
    "pruner", [tw.ErrorBased(), tw.Pessimistic(), tw.MinimumError(), tw.MinimumDescription()], ids=str
)
def test_wrong_classes_cannot_be_counted_for_a_number(pruner: Any) -> None:
    tree = tw.learn({"x": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]}, "y", replace(tw.CART, pruning=None))
    with pytest.raises(DataError, match="'y' is a number"):
        tw.prune(tree, pruner)


def test_pessimistic_is_not_meant_to_be_repeated() -> None:
    """Quinlan's rule compares with the subtree as grown; once some of it is cut, a node above may go too."""
    rng = np.random.default_rng(0)
    for seed in range(300):
        rng = np.random.default_rng(seed)
        x = rng.integers(0, 5, size=(80, 3)).astype(float)
        y = (x[:, 0] + x[:, 1] > 4) ^ (rng.random(80) < 0.2)
        tree = tw.learn({"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}, "y", replace(tw.C45, pruning=None))
        once = tw.prune(tree, tw.Pessimistic())
        if tw.prune(once, tw.Pessimistic()).n_leaves < once.n_leaves:
            return
    raise AssertionError("pruning twice was always the same: say so in docs/pruning.md")
