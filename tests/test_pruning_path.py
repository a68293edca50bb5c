"""The pruning path and its cross-validation: against brute force, and what always holds.

The expected numbers are found by the definition (every pruned tree is grown, cut or evaluated by itself), never by the
spans that the library adds up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from handmade_trees import random_tree
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle_tables import Table, tables
from pruning_cases import encoded, promised, schema_of
from unpruned import CART

import treewright as tw
from treewright._core import weakest_links
from treewright.data.encoding import describe, encode
from treewright.data.reader import read, read_column
from treewright.data.rows import take
from treewright.errors import DataError, RecipeError
from treewright.growing.grow import grow
from treewright.prediction.routing import predict_values
from treewright.pruning.cross_validation import deal
from treewright.pruning.losses import node_risk
from treewright.pruning.path import PruningPath, cross_validated_path, prices, training_path
from treewright.pruning.prune import prune_rows

FREE = tw.stopping.Stopping(zero_gain=True)
RECIPES = {
    "CART": replace(CART, stopping=FREE),
    "spread": replace(CART, missing=tw.missing.Fractional(), stopping=FREE),
    "each value": replace(CART, branching=tw.branching.EachValue(), stopping=FREE),
    "ignore": replace(CART, missing=tw.missing.Ignore(), stopping=FREE),
    "own": replace(CART, missing=tw.missing.OwnCategory(), stopping=FREE),
    "entropy": replace(
        CART, criterion=tw.criterion.InformationGain(), regression=tw.criterion.AbsoluteError(), stopping=FREE
    ),
}
ALPHAS = [
    tw.pruning.CostComplexity(0.0),
    tw.pruning.CostComplexity(0.02),
    tw.pruning.CostComplexity(0.01, risk="impurity"),
    tw.pruning.CostComplexity(0.05, risk="deviance"),
    tw.pruning.CostComplexity(0.1, unit="root"),
    tw.pruning.CostComplexity(0.02, weakest_link="rpart"),
]
VALIDATED = [
    tw.pruning.CostComplexityCV(folds=3),
    tw.pruning.CostComplexityCV(folds=4, rule="min", risk="impurity", repeats=2, seed=5),
    tw.pruning.CostComplexityCV(folds=3, weakest_link="rpart", stratified=False),
    tw.pruning.ImpurityThresholdCV(folds=3),
    tw.pruning.ImpurityThresholdCV(folds=3, rule="1se", thresholds=(0.1, 0.3, 0.45)),
]
each_recipe = pytest.mark.parametrize("recipe", RECIPES)


def any_table() -> st.SearchStrategy[Table]:
    """A table of classes, or one of numbers."""
    return st.one_of(tables(), tables(n_classes=0))


def grown(table: Table, recipe: str) -> tw.Tree:
    return grow(encoded(table), schema_of(table), RECIPES[recipe], 1)


def leaves_of(tree: tw.Tree, cut: set[int]) -> list[int]:
    """The nodes that answer when these nodes are leaves."""
    ends, waiting = [], [0]
    while waiting:
        node = tree[waiting.pop()]
        if node.is_leaf or node.id in cut:
            ends.append(node.id)
        else:
            waiting += node.children
    return ends


# --- weakest links ----------------------------------------------------------------------------------------------------


@st.composite
def bare_trees(draw: st.DrawFn, fans: tuple[int, ...] = (0, 0, 2, 2, 3)) -> tuple[np.ndarray, np.ndarray]:
    """Parents in depth-first order, and whole-numbered risks that no split raises."""
    parent: list[int] = []

    def add(above: int, depth: int) -> None:
        node = len(parent)
        parent.append(above)
        fan = draw(st.sampled_from(fans)) if depth < 5 else 0
        for _ in range(fan):
            add(node, depth + 1)

    add(-1, 0)
    risk = np.zeros(len(parent))
    for node in reversed(range(len(parent))):
        risk[node] += draw(st.integers(0, 6))
        if parent[node] >= 0:
            risk[parent[node]] += risk[node]
    return np.array(parent, dtype=np.int32), risk


def prices_one_by_one(parent: np.ndarray, risk: np.ndarray) -> np.ndarray:
    """By definition: again and again, the links whose leaves save least are cut."""
    n = len(parent)
    below = [[i for i in range(n) if parent[i] == node] for node in range(n)]
    asks = np.array([bool(children) for children in below])
    price, alpha = np.zeros(n), 0.0

    def ends(node: int) -> list[int]:
        return [node] if not asks[node] else [end for child in below[node] for end in ends(child)]

    while asks[0]:
        open_nodes = [i for i in range(n) if asks[i]]
        saved = {i: (risk[i] - risk[ends(i)].sum()) / (len(ends(i)) - 1) for i in open_nodes}
        alpha = max(alpha, min(saved.values()))
        for node in [i for i in open_nodes if saved[i] <= alpha + 1e-12]:
            gone = [node]
            while gone:
                i = gone.pop()
                if asks[i]:
                    asks[i], price[i] = False, alpha
                    gone += below[i]
    return price


@settings(promised, max_examples=150)
@given(bare_trees())
def test_weakest_links_are_those_of_the_definition(bare: tuple[np.ndarray, np.ndarray]) -> None:
    np.testing.assert_allclose(weakest_links(*bare, exact=True), prices_one_by_one(*bare), rtol=1e-12, atol=1e-12)


@settings(promised, max_examples=150)
@given(bare_trees(fans=(0, 0, 2, 2)))
def test_rparts_price_never_exceeds_the_weakest_link(bare: tuple[np.ndarray, np.ndarray]) -> None:
    parent, _ = bare
    exact, rparts = weakest_links(*bare, exact=True), weakest_links(*bare, exact=False)
    assert (rparts <= exact + 1e-12).all()
    for price in (exact, rparts):
        assert (price[1:] <= price[parent[1:]]).all()


def cheapest(tree: tw.Tree, risk: np.ndarray, alpha: float) -> tuple[float, int]:
    """Least risk + alpha x leaves of all ways to prune, and the fewest leaves that reach it."""
    cost, leaves = risk + alpha, np.ones(tree.n_nodes, dtype=int)
    for node in reversed(list(tree.walk())):
        if node.is_leaf:
            continue
        below, n_below = cost[list(node.children)].sum(), leaves[list(node.children)].sum()
        if below < cost[node.id] - 1e-9:
            cost[node.id], leaves[node.id] = below, n_below
    return float(cost[0]), int(leaves[0])


@each_recipe
@pytest.mark.parametrize("risk", ["error", "impurity", "deviance"])
@promised
@given(any_table())
def test_each_step_is_the_smallest_tree_of_least_cost(recipe: str, risk: Any, table: Table) -> None:
    tree = grown(table, recipe)
    path = training_path(tree, tw.pruning.CostComplexityCV(risk=risk))
    wrong, whole = node_risk(tree, risk)
    assert path.leaves[-1] == 1
    assert list(path.alpha) == sorted(set(path.alpha))
    assert list(path.leaves) == sorted(set(path.leaves), reverse=True)
    before: set[int] = set()
    for i, (alpha, n_leaves, total) in enumerate(zip(path.alpha, path.leaves, path.risk, strict=True)):
        limit = prices(tree, tw.pruning.CostComplexityCV(risk=risk))
        cut = {node.id for node in tree.walk() if not node.is_leaf and limit[node.id] <= alpha}
        ends = leaves_of(tree, cut)
        assert before <= cut
        assert (len(ends), wrong[ends].sum() / whole) == (n_leaves, pytest.approx(total, abs=1e-12))
        assert prune_rows(tree, tw.pruning.CostComplexity(alpha, risk=risk), None, 1).n_leaves == n_leaves
        if i + 1 < len(path):
            between = alpha + (path.alpha[i + 1] - alpha) / 2
            cost, fewest = cheapest(tree, wrong / whole, between)
            assert total + between * n_leaves == pytest.approx(cost, abs=1e-9)
            assert n_leaves == fewest
        before = cut


# --- what holds for every choice of a limit ---------------------------------------------------------------------------


@pytest.mark.parametrize("pruner", ALPHAS + VALIDATED, ids=str)
@each_recipe
@settings(promised, max_examples=8)
@given(any_table())
def test_fewer_leaves_and_the_same_again(recipe: str, pruner: Any, table: Table) -> None:
    rows = encoded(table)
    tree = grown(table, recipe)
    once = prune_rows(tree, pruner, rows, 1)
    assert once.n_leaves <= tree.n_leaves
    assert tree.n_leaves - once.n_leaves == sum(cut.leaves for cut in once.cuts)
    assert prune_rows(once, pruner, rows, 1) == once
    assert once.recipe == replace(tree.recipe, pruning=pruner)


@pytest.mark.parametrize("seed", range(20))
def test_trees_that_no_table_would_give(seed: int) -> None:
    tree = random_tree(seed, depth=6)
    for pruner in (tw.pruning.CostComplexity(0.01, risk="impurity"), tw.pruning.CostComplexity(0.5, unit="root")):
        once = tw.prune(tree, pruner)
        assert once.n_leaves <= tree.n_leaves
        assert tw.prune(once, pruner) == once


def table_of(n: int = 240, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.choice(["red", "green", "blue"], n)
    noise = rng.normal(size=n)
    return {"x": x, "z": z, "w": rng.normal(size=n), "y": np.where(x + (z == "red") + noise > 0.5, "yes", "no")}


DATA = table_of()
RAW = tw.learn(DATA, "y", CART)


def test_learning_prunes_as_its_recipe_says() -> None:
    for pruner in (
        tw.pruning.CostComplexityCV(),
        tw.pruning.CostComplexity(0.01),
        tw.pruning.ImpurityThresholdCV(folds=5),
    ):
        learned = tw.learn(DATA, "y", replace(tw.CART, pruning=pruner))
        assert learned == tw.prune(RAW, pruner, DATA)
        assert learned.n_leaves < RAW.n_leaves
        assert {node.stop for node in learned.walk() if node.is_leaf} & {"pruned"}
        assert learned.cuts
        assert all(cut.reason and tw.Tree.from_dict(learned.as_dict()) == learned for cut in learned.cuts[:1])


def test_order_of_rows_and_threads_change_nothing() -> None:
    turned = {name: values[::-1] for name, values in DATA.items()}
    assert tw.learn(turned, "y", n_threads=2) == tw.learn(DATA, "y", n_threads=1)


def test_a_repeated_row_is_a_row_of_more_weight() -> None:
    times = np.random.default_rng(1).integers(1, 4, 240)
    repeated = {name: np.repeat(values, times) for name, values in DATA.items()}
    alike = [
        tw.pruning_path(tw.learn(repeated, "y", CART), repeated),
        tw.pruning_path(tw.learn(DATA, "y", CART, weight=times), DATA, weight=times),
        tw.pruning_path(tw.learn(DATA, "y", CART, weight=times * 0.25), DATA, weight=times * 0.25),
    ]
    for path in alike[1:]:
        assert path.leaves == alike[0].leaves
        np.testing.assert_allclose(path.held_out, alike[0].held_out, rtol=1e-12)
        np.testing.assert_allclose(path.error, alike[0].error, rtol=1e-9)


# --- folds ------------------------------------------------------------------------------------------------------------


@promised
@given(any_table(), st.integers(2, 6), st.booleans())
def test_every_row_is_left_out_once(table: Table, folds: int, stratified: bool) -> None:
    rows = encoded(table)
    dealt = deal(rows, folds, 3, stratified)
    shares = np.array([dealt.share_in(fold) for fold in range(dealt.n)])
    assert dealt.n == min(folds, dealt.units)
    np.testing.assert_allclose(shares.sum(axis=0), np.where(dealt.count > 0, 1.0, 0.0))
    units = shares * dealt.count
    assert np.ptp(units.sum(axis=1)) <= 1
    if stratified and table.n_classes:
        for k in range(table.n_classes):
            assert np.ptp(units[:, table.target == k].sum(axis=1)) <= 1


def test_other_seeds_deal_other_folds() -> None:
    rows = encoded(Table([np.arange(50.0)], [0], [0], np.zeros(50, dtype=np.int32), 1))
    first, second = (np.concatenate([deal(rows, 5, seed, True).share_in(0)]) for seed in (0, 1))
    assert (first != second).any()


# --- held-out risks, one tree at a time -------------------------------------------------------------------------------


def by_hand(table: Table, recipe: str, pruner: tw.pruning.CostComplexityCV) -> tuple[list[float], list[float]]:
    """Grows, prunes and asks every tree by itself."""
    rows, schema = encoded(table), schema_of(table)
    tree = grown(table, recipe)
    path = training_path(tree, pruner)
    typical = [(a * b) ** 0.5 for a, b in zip(path.alpha, path.alpha[1:], strict=False)] + [1e9]
    folds = deal(rows, pruner.folds, pruner.seed, pruner.stratified)
    risks, errors = [], []
    for alpha in typical:
        losses = np.zeros(table.n_rows)
        for fold in range(folds.n):
            out = folds.share_in(fold) > 0
            seen = take(rows, ~out)
            fold_tree = grow(seen, schema, RECIPES[recipe], 1)
            cut = tw.pruning.CostComplexity(alpha, risk=pruner.risk, weakest_link=pruner.weakest_link)
            predicted_values = predict_values(prune_rows(fold_tree, cut, None, 1), take(rows, out), 1)
            truth = rows.target[out]
            power = 1 if isinstance(RECIPES[recipe].regression, tw.criterion.AbsoluteError) else 2
            wrong = (
                predicted_values.argmax(axis=1) != truth
                if table.n_classes
                else np.abs(predicted_values[:, 0] - truth) ** power
            )
            losses[out] = wrong
        risks.append(float(losses.mean()))
        errors.append(float(np.sqrt(losses.var() / table.n_rows)))
    return risks, errors


@pytest.mark.parametrize("recipe", ["CART", "each value", "own", "ignore", "entropy"])
@pytest.mark.parametrize("pruner", [VALIDATED[0], replace(VALIDATED[2], risk="impurity")], ids=["error", "impurity"])
@settings(promised, max_examples=12)
@given(any_table().map(lambda table: replace(table, weight=None)))
def test_held_out_risks_are_those_of_each_tree_by_itself(recipe: str, pruner: Any, table: Table) -> None:
    assume(table.n_rows > 1)
    path = cross_validated_path(grown(table, recipe), pruner, encoded(table), 1)
    risks, errors = by_hand(table, recipe, pruner)
    np.testing.assert_allclose(path.held_out, risks, atol=1e-9)
    np.testing.assert_allclose(path.error, errors, atol=1e-7)


def test_the_rules_of_choice() -> None:
    path = PruningPath((0.0, 0.1, 0.2, 0.3), (9, 5, 3, 1), (0.0, 0.1, 0.3, 0.5), (0.30, 0.20, 0.24, 0.5), (0.05,) * 4)
    assert (path.chosen("min"), path.chosen("1se")) == (1, 2)
    assert path.root_risk == 0.5
    even = replace(path, held_out=(0.2, 0.2, 0.2, 0.5))
    assert even.chosen("min") == 2  # of equals the smallest tree
    with pytest.raises(ValueError, match="no held-out risks"):
        replace(path, held_out=None).chosen()


def test_a_path_prints_as_a_table() -> None:
    lines = str(tw.pruning_path(RAW, DATA)).split("\n")
    assert lines[0].split() == ["alpha", "leaves", "risk", "held", "out", "error"]
    assert "held" not in str(tw.pruning_path(RAW)).split("\n")[0]
    long = PruningPath(tuple(map(float, range(50))), tuple(range(50, 0, -1)), tuple(map(float, range(50))))
    assert len(str(long).split("\n")) == 33
    assert "20 more steps" in str(long)


# --- the impurity threshold -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0.0, 0.2, 0.35, 0.48, 0.6])
def test_a_threshold_cuts_what_growing_would_not_have_split(threshold: float) -> None:
    stopped = tw.learn(DATA, "y", replace(CART, stopping=tw.stopping.Stopping(max_impurity=threshold)))
    cut = tw.prune(RAW, tw.pruning.ImpurityThresholdCV(folds=3, thresholds=(threshold,)), DATA)
    assert cut.n_leaves == stopped.n_leaves
    for name in ("parent", "stats", "value"):
        np.testing.assert_array_equal(cut.arrays[name], stopped.arrays[name])


def test_the_threshold_is_the_best_of_those_tried() -> None:
    pruner = tw.pruning.ImpurityThresholdCV(folds=5, thresholds=(0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.49))
    frame, target = read({name: DATA[name] for name in "xzw"}), read_column(DATA["y"], "y")
    schema = describe(frame, target)
    coded = encode(frame, schema, training=True, target=target)
    folds = deal(coded, 5, 0, True)
    wrong = {}
    for threshold in pruner.thresholds or ():
        recipe = replace(CART, stopping=tw.stopping.Stopping(max_impurity=threshold))
        wrong[threshold] = 0
        for fold in range(5):
            out = folds.share_in(fold) > 0
            tree = grow(take(coded, ~out), schema, recipe, 1)
            predicted_values = predict_values(tree, take(coded, out), 1).argmax(axis=1)
            wrong[threshold] += int((predicted_values != coded.target[out]).sum())
    best = max(t for t in wrong if wrong[t] == min(wrong.values()))
    stopped = tw.learn(DATA, "y", replace(CART, stopping=tw.stopping.Stopping(max_impurity=best)))
    assert tw.prune(RAW, pruner, DATA).n_leaves == stopped.n_leaves


# --- stated behaviour, and errors -------------------------------------------------------------------------------------


def test_more_folds_than_rows_leave_out_one_row_each() -> None:
    few = {name: values[:6] for name, values in DATA.items()}
    raw_tree = tw.learn(few, "y", CART)
    many, exact = (tw.pruning_path(raw_tree, few, pruner=tw.pruning.CostComplexityCV(folds=n)) for n in (50, 6))
    assert many == exact


def test_a_single_row_of_weight_is_left_alone() -> None:
    weight = [1.0, 0.0, 0.0]
    tree = tw.learn({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "c"]}, "y", weight=weight)
    assert tree.n_leaves == 1


def test_a_class_missing_in_a_fold_counts_as_wrong() -> None:
    """The one row of class c: no tree without it can answer c, so it is wrong at every step."""
    table = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], "y": ["a", "a", "a", "b", "b", "b", "c"]}
    path = tw.pruning_path(tw.learn(table, "y", CART), table, pruner=tw.pruning.CostComplexityCV(folds=3))
    assert path.held_out is not None
    assert min(path.held_out) >= 1 / 7


def test_rows_without_any_value_take_no_part_where_growing_leaves_them_out() -> None:
    table = {"x": [1.0, 2.0, 3.0, None, None, None], "y": ["a", "b", "b", "a", "a", "a"]}
    seen = {name: values[:3] for name, values in table.items()}
    recipe = replace(tw.RPART, stopping=tw.stopping.Stopping(), simplify=None)
    paths = [tw.pruning_path(tw.learn(rows, "y", recipe), rows) for rows in (table, seen)]
    assert paths[0] == paths[1]


def test_rows_are_requested() -> None:
    for pruner in (tw.pruning.CostComplexityCV(), tw.pruning.ImpurityThresholdCV()):
        with pytest.raises(DataError, match=f"{type(pruner).__name__} grows trees without some of the training rows"):
            tw.prune(RAW, pruner)
    with pytest.raises(DataError, match="target and weight belong to a table"):
        tw.prune(RAW, tw.pruning.CostComplexity(0.1), target="y")


def test_other_columns_are_named() -> None:
    with pytest.raises(DataError, match="the table lacks the column 'z'"):
        tw.prune(RAW, tw.pruning.CostComplexityCV(), {"x": DATA["x"], "w": DATA["w"], "y": DATA["y"]})
    with pytest.raises(DataError, match="'y'"):
        tw.prune(RAW, tw.pruning.CostComplexityCV(), {name: DATA[name] for name in "xzw"})
    with pytest.raises(DataError, match="has the class 'perhaps'"):
        tw.prune(RAW, tw.pruning.CostComplexityCV(), {**DATA, "y": np.where(DATA["x"] > 0, "perhaps", "yes")})
    with pytest.raises(DataError, match="column 'z' has levels that were not there when the tree was learned"):
        tw.prune(RAW, tw.pruning.CostComplexityCV(), {**DATA, "z": np.where(DATA["z"] == "red", "pink", DATA["z"])})
    with pytest.raises(DataError, match="Found array with 0 sample"):
        tw.prune(RAW, tw.pruning.CostComplexityCV(), {name: values[:0] for name, values in DATA.items()})


def test_what_is_no_pruner_is_refused() -> None:
    with pytest.raises(RecipeError, match="pruner must be a pruner such as"):
        tw.prune(RAW, 0.01)
    with pytest.raises(RecipeError, match="pruner must be a CostComplexityCV"):
        tw.pruning_path(RAW, pruner=tw.pruning.MaxDepth(3))
    with pytest.raises(TypeError, match="expected a Tree"):
        tw.prune("tree", tw.pruning.MaxDepth(3))


BAD_SETTINGS = [
    (lambda: tw.pruning.CostComplexity(-0.1), "CostComplexity.alpha must be a number from 0 to inf"),
    (lambda: tw.pruning.CostComplexity(float("nan")), "CostComplexity.alpha must be a number"),
    (
        lambda: tw.pruning.CostComplexity(0.1, risk="gini"),
        "CostComplexity.risk must be one of 'error', 'impurity', 'deviance'",
    ),
    (lambda: tw.pruning.CostComplexity(0.1, unit="rows"), "CostComplexity.unit must be one of"),
    (
        lambda: tw.pruning.CostComplexity(0.1, weakest_link="weak"),
        "CostComplexity.weakest_link must be one of 'exact', 'rpart'",
    ),
    (
        lambda: tw.pruning.CostComplexityCV(folds=1),
        "CostComplexityCV.folds must be a whole number of at least 2, not 1",
    ),
    (lambda: tw.pruning.CostComplexityCV(rule="2se"), "CostComplexityCV.rule must be one of '1se', 'min', not '2se'"),
    (lambda: tw.pruning.CostComplexityCV(repeats=0), "CostComplexityCV.repeats must be a whole number of at least 1"),
    (lambda: tw.pruning.CostComplexityCV(seed=-1), "CostComplexityCV.seed must be a whole number of at least 0"),
    (lambda: tw.pruning.CostComplexityCV(stratified=1), "CostComplexityCV.stratified must be True or False, not 1"),
    (lambda: tw.pruning.CostComplexityCV(risk="gini"), "CostComplexityCV.risk must be one of"),
    (lambda: tw.pruning.ImpurityThresholdCV(folds=0), "ImpurityThresholdCV.folds must be a whole number of at least 2"),
    (
        lambda: tw.pruning.ImpurityThresholdCV(thresholds=()),
        "ImpurityThresholdCV.thresholds must be numbers from zero up",
    ),
    (lambda: tw.pruning.ImpurityThresholdCV(thresholds=(0.1, -1)), "ImpurityThresholdCV.thresholds must be numbers"),
    (lambda: tw.pruning.ImpurityThresholdCV(thresholds=0.1), "ImpurityThresholdCV.thresholds must be numbers"),
]


@pytest.mark.parametrize(("make", "message"), BAD_SETTINGS)
def test_settings_are_checked(make: Any, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        make()


def test_thresholds_are_sorted_once() -> None:
    assert tw.pruning.ImpurityThresholdCV(thresholds=[0.3, 0.1, 0.3]).thresholds == (0.1, 0.3)
