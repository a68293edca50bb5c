"""Cross-validation that shares: every fold gives, bit for bit, what a tree grown apart from the others gives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treewright as tw
from treewright import _core
from treewright.data.rows import take, weights_of
from treewright.growing.exact_sums import Sums, as_floats, merged, sums_by
from treewright.growing.grow import grow, with_bins
from treewright.growing.memory_partitions import MemoryPartitions, as_partitions
from treewright.growing.progress import Stage
from treewright.growing.side_by_side import side_by_side
from treewright.prediction.routing import route
from treewright.pruning.cross_validation import HeldOut, deal_partitions, held_out, without
from treewright.training.learn import FitOptions, grow_and_prune, training_table
from treewright.tree.tree import cost_array, predicted_index
from treewright.tree.validation import PRUNED

#: What prediction and pruning read of a tree; surrogates that no row needs are left out of a fold's.
READ = ("parent", "rows", "weight", "stats", "value", "impurity", "gain", "stop", "children")


def table(rng: np.random.Generator, rows: int) -> dict[str, Any]:
    """Numbers and levels, some missing, some levels rare: held-out rows meet nodes that have never seen theirs."""
    x, z = rng.normal(size=rows), np.round(rng.normal(size=rows), 1)
    level = rng.choice(list("abcdefghij"), rows, p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.04, 0.03, 0.01, 0.01, 0.01])
    other = rng.choice(["u", "v", "w"], rows)
    y = x + (level > "c") * z + 0.3 * (other == "u") + 0.5 * rng.normal(size=rows)
    gappy = np.where(rng.random(rows) < 0.15, np.nan, z)
    named = np.where(rng.random(rows) < 0.1, None, level)
    return {"x": x, "gappy": gappy, "named": named, "other": other, "y": y}


def losses(tree: tw.Tree, truth: Any, node: Any) -> Any:
    """The loss of each row at a node, written a second time."""
    target, value = tree.schema.target, tree.arrays["value"]
    if target.classes is not None:
        return cost_array(target)[truth, predicted_index(target, value)[node]]
    apart = truth - value[:, 0][node]
    return np.abs(apart) if isinstance(tree.recipe.regression, tw.criterion.AbsoluteError) else apart * apart


def apart(encoded: Any, folds: Any, fold: int, schema: Any, recipe: tw.Recipe) -> HeldOut:
    """A fold by itself: its tree grown with surrogates everywhere, its rows then sent down by `apply`."""
    share = folds.share_in(fold)
    tree = grow(without(encoded, share), schema, recipe, 1)
    chosen = np.flatnonzero(share > 0)
    rows, weight = take(encoded, chosen), (weights_of(encoded) * share)[chosen]
    end, parent, n = route(tree, rows, 1), tree.arrays["parent"], tree.n_nodes
    found: dict[str, list[Sums]] = {name: [] for name in ("as_leaf", "squares_as_leaf")}
    node, left = end.astype(np.int64), np.arange(len(end))
    while len(left):
        loss = losses(tree, rows.target[left], node)
        found["as_leaf"].append(sums_by(node, weight[left] * loss, n))
        found["squares_as_leaf"].append(sums_by(node, weight[left] * loss * loss, n))
        left, node = left[parent[node] >= 0], parent[node][parent[node] >= 0]
    own, stays = losses(tree, rows.target, end), tree.arrays["stop"][end] == 0
    found["at_inner"] = [sums_by(end[stays], (weight * own)[stays], n)]
    found["squares_at_inner"] = [sums_by(end[stays], (weight * own * own)[stays], n)]
    return HeldOut(tree, **{name: as_floats(merged(parts), n) for name, parts in found.items()})


LIMITED = {"min_samples_leaf": 4}
RECIPES = {
    "CART": tw.CART,
    "no rivals": tw.CART.with_(rivals=0, **LIMITED),
    "random child": tw.CART.with_(missing=tw.missing.RandomChild()),
    "own category": tw.CART.with_(missing=tw.missing.OwnCategory()),
    "ignored": tw.CART.with_(missing=tw.missing.Ignore()),
    "rpart": tw.RPART.with_(simplify=tw.stopping.Complexity(0.001)),
    "best first": tw.CART.with_(max_leaf_nodes=12),
    "spread": tw.CART.with_(missing=tw.missing.Fractional()),
    "entropy, absolute error": tw.CART.with_(
        criterion=tw.criterion.InformationGain(), regression=tw.criterion.AbsoluteError()
    ),
}


@pytest.mark.parametrize("weights", ["none", "whole"])
@pytest.mark.parametrize("target", ["classes", "number"])
@pytest.mark.parametrize("name", RECIPES)
def test_a_fold_is_what_it_is_apart(name: str, target: str, weights: str) -> None:
    rng = np.random.default_rng([len(name), len(target), len(weights)])
    data, recipe = table(rng, 700), RECIPES[name]
    if target == "classes":
        data["y"] = np.array(["low", "mid", "high"])[np.searchsorted([-0.5, 0.8], data["y"])]
    weight = rng.integers(0, 4, 700).astype(float) if weights == "whole" else None
    costs = {"low": {"high": 3.0}} if target == "classes" and name == "CART" else None
    encoded, schema = training_table(data, "y", FitOptions(weight=weight, costs=costs))
    encoded = with_bins(encoded, 1)
    folds, dealt = deal_partitions(as_partitions(encoded), 5, 3, True)
    together = list(held_out(dealt, folds.n, schema, recipe, lambda fold: fold, 2))
    assert len(together) == 5
    for fold, found in enumerate(together):
        expected = apart(encoded, folds, fold, schema, recipe)
        for array in READ:
            np.testing.assert_array_equal(found.tree.arrays[array], expected.tree.arrays[array], err_msg=array)
        for part in ("as_leaf", "at_inner", "squares_as_leaf", "squares_at_inner"):
            assert getattr(found, part).tobytes() == getattr(expected, part).tobytes(), part


def test_losses_of_any_size_add_up_exactly() -> None:
    rng = np.random.default_rng(8)
    rows, nodes = 400, 5
    end = rng.integers(0, nodes, rows).astype(np.int32)
    weight = rng.normal(size=rows) * 10.0 ** rng.integers(-320, 308, rows)
    found = _core.loss_sums(
        parent=np.full(nodes, -1, np.int32),
        stop=np.ones(nodes, np.int32),
        predicted=None,
        number=np.zeros(nodes),
        cost=None,
        loss="absolute error",
        end=end,
        classes=None,
        numbers=np.ones(rows),
        weight=weight,
    )
    expected = sums_by(end, weight, nodes)
    for unit, counts in found["as_leaf"].items():
        np.testing.assert_array_equal(counts, expected[unit])
    assert as_floats(found["as_leaf"], nodes).tobytes() == as_floats(expected, nodes).tobytes()


def test_the_chosen_tree_is_the_same_by_any_number_of_threads() -> None:
    data = table(np.random.default_rng(5), 6000)
    trees = [
        tw.learn(data, "y", tw.CART.with_(pruning=tw.pruning.CostComplexityCV(folds=4)), n_threads=n) for n in (1, 3)
    ]
    assert trees[0] == trees[1]


# --- rivals and surrogates of what survives ---------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["classes", "number"])
@pytest.mark.parametrize("pruner", [tw.pruning.CostComplexity(0.004), tw.pruning.CostComplexityCV(folds=4), None])
@pytest.mark.parametrize("base", [tw.CART, tw.RPART, tw.CART.with_(missing=tw.missing.RandomChild(), max_features=2)])
def test_rivals_searched_after_pruning_are_those_searched_before(base: tw.Recipe, pruner: Any, target: str) -> None:
    data = table(np.random.default_rng(11), 900)
    if target == "classes":
        data["y"] = np.where(data["y"] > 0, "high", "low")
    recipe = base.with_(pruning=pruner)
    encoded, schema = training_table(data, "y", FitOptions())
    completed = grow_and_prune(encoded, schema, recipe, 1)
    halves = MemoryPartitions([take(encoded, slice(0, 400)), take(encoded, slice(400, 900))])
    assert completed == grow_and_prune(halves, schema, recipe, 1)  # of which every node is searched as it is grown
    if pruner is not None and base is tw.CART:
        assert completed.arrays["stop"].max() == PRUNED
    assert len(completed.arrays["column"]) > np.count_nonzero(completed.arrays["stop"] == 0)  # splits, and others


# --- side by side -----------------------------------------------------------------------------------------------------


def test_results_come_in_order_and_progress_never_falls() -> None:
    seen: list[float] = []

    def task(i: int) -> Any:
        def run(_threads: int, progress: Any) -> int:
            for step in range(4):
                progress(step / 4)
            return i

        return run

    assert list(side_by_side([task(i) for i in range(9)], 3, Stage(seen.append))) == list(range(9))
    assert seen == sorted(seen)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_error_ends_the_other_tasks(threads: int) -> None:
    def fails(_threads: int, _progress: Any) -> None:
        raise ValueError("this one")

    def never_ends(_threads: int, progress: Any) -> None:
        while True:
            progress(0.5)

    with pytest.raises(ValueError, match="this one"):
        list(side_by_side([fails, never_ends, never_ends], threads, Stage(None)))


def test_a_caller_who_stops_progress_stops_the_fit() -> None:
    def refuse(done: float) -> None:
        if done > 0.2:
            raise KeyboardInterrupt

    data = table(np.random.default_rng(6), 20_000)
    with pytest.raises(KeyboardInterrupt):
        tw.learn(data, "y", progress=refuse, n_threads=2)


# --- gains of levels --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rivals", [0, 2])
@pytest.mark.parametrize("target", ["classes", "number", "few numbers"])
@pytest.mark.parametrize("seed", range(6))
def test_levels_scanned_first_give_the_exhaustive_tree(seed: int, target: str, rivals: int) -> None:
    """Many equal means and small leaves: the order of levels with one mean, and every tie, matter."""
    rng = np.random.default_rng([seed, rivals, len(target)])
    rows = 300
    codes = [rng.integers(-1 if i else 0, n, rows).astype(np.int32) for i, n in enumerate((2, 5, 40, 9))]
    columns = [*codes, rng.integers(0, 4, rows).astype(float), rng.normal(size=rows)]
    kinds, levels = [2, 2, 2, 1, 0, 0], [2, 5, 40, 9, 0, 0]
    signal = codes[1] + (codes[2] % 3) + rng.integers(0, 3, rows)
    if target == "classes":
        y: Any = (signal > 4).astype(np.int32)
    else:
        y = signal.astype(float) if target == "few numbers" else signal + rng.normal(size=rows)
    for smallest in (1, 6):
        recipe = replace(tw.CART.with_(min_samples_leaf=smallest, missing=tw.missing.MajorityChild()), rivals=rivals)
        fast, slow = (
            _core.grow(columns, kinds, levels, y, 2 if target == "classes" else 0, None, recipe.as_dict(), 1, None, way)
            for way in (False, True)
        )
        for name in fast:
            np.testing.assert_array_equal(fast[name], slow[name], err_msg=name)
