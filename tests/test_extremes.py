"""Numbers at the ends of what can be held: either the tree is right, or the call is refused before it starts.

Every tree that is grown can be saved and read again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from unpruned import CART

import treewright as tw
from treewright import _core

CHANCE = np.random.default_rng(0)
X = CHANCE.normal(size=(60, 2))
TWO = np.where(X[:, 0] > 0, "a", "b")
NUMBERS = 3.0 * X[:, 0] + CHANCE.normal(size=60)


def sound(tree: tw.Tree) -> tw.Tree:
    """The tree, which is the same when it is saved and read again."""
    assert tw.export.to_json(tw.export.from_json(tw.export.to_json(tree))) == tw.export.to_json(tree)
    return tree


def refused(action: Callable[[], Any], *words: str, error: type[Exception] = tw.DataError) -> None:
    with pytest.raises(error) as caught:
        action()
    for word in words:
        assert word in str(caught.value)


# --- costs and priors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recipe", [tw.CART, CART])
def test_one_class_has_no_costs(recipe: tw.Recipe) -> None:
    tree = sound(tw.learn(X, ["a"] * 60, recipe, costs=[[0]]))
    assert tree.root.weight == 60


def test_priors_that_leave_no_row_any_weight_are_refused() -> None:
    target = pd.Series(pd.Categorical(["a"] * 60, categories=["a", "b"]))
    for recipe in (tw.CART, CART):
        refused(lambda recipe=recipe: tw.learn(X, target, recipe, priors=[0.0, 1.0]), "prior 0", "'target'")


def test_folds_without_any_class_of_weight_are_grown_all_the_same() -> None:
    target = np.array(["a"] * 59 + ["b"])
    sound(tw.learn(X, target, tw.CART, priors=[0.0, 1.0]))


@pytest.mark.parametrize("cost", [1e308, 1e51, 5e-324, 1e-51])
def test_costs_out_of_range_are_refused(cost: float) -> None:
    refused(lambda: tw.learn(X, TWO, costs=[[0, cost], [cost, 0]]), f"{cost:g}", "scale the costs")


def test_costs_too_far_apart_are_refused() -> None:
    refused(lambda: tw.learn(X, TWO, costs=[[0, 1e10], [1, 0]]), "'a'", "1e+10 times", "'b'")
    sound(tw.learn(X, TWO, costs=[[0, 1e9], [1, 0]]))


# --- weights ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tiny", [1e-20, 1e-300, 5e-324])
def test_rows_of_negligible_weight_are_refused(tiny: float) -> None:
    weight = np.where(np.arange(60) < 7, tiny, 1.0)
    refused(lambda: tw.learn(X, TWO, CART, weight=weight), "'weight'", f"{tiny:g}", "weight 0")


def test_rows_of_little_weight_count() -> None:
    tree = sound(tw.learn(X, TWO, CART, weight=np.where(np.arange(60) < 7, 1e-12, 1.0)))
    assert tree.root.rows == 60


def test_all_weight_on_rows_without_values() -> None:
    x, weight = X.copy(), np.where(np.arange(60) < 20, 1.0, 0.0)
    x[:20] = np.nan
    for recipe in (tw.RPART, tw.CHAID):
        for target in (TWO, NUMBERS):
            refused(
                lambda recipe=recipe, target=target: tw.learn(x, target, recipe, weight=weight),
                "no row with weight",
                recipe.name,
            )
    for recipe in (tw.CART, tw.C45, tw.J48, tw.SKLEARN):
        assert sound(tw.learn(x, TWO, recipe, weight=weight)).root.weight == 20


@pytest.mark.parametrize("weight", [1e308, 1e51, 1e-51, 5e-324])
def test_weights_out_of_range_are_refused(weight: float) -> None:
    refused(lambda: tw.learn(X, NUMBERS, weight=np.full(60, weight)), f"{weight:g}", "scale the weights")


# --- targets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e308, 1e77, 1e51, 1e-52, 5e-324])
def test_targets_that_cannot_be_squared_are_refused(size: float) -> None:
    refused(lambda: tw.learn(X, np.clip(NUMBERS, -1, 1) * size, tw.CART), "'target'", "scale it")


@pytest.mark.parametrize("size", [1e49, 1e-49])
def test_large_and_small_targets_are_learned(size: float) -> None:
    tree = sound(tw.learn(X, NUMBERS * size, tw.CART, weight=np.full(60, size)))
    assert tree.n_leaves == tw.learn(X, NUMBERS, tw.CART).n_leaves


@pytest.mark.parametrize("regression", [tw.criterion.Variance(), tw.criterion.StandardDeviation()])
def test_a_leaf_predicts_within_its_own_values(regression: Any) -> None:
    target = np.array([1.0, 2.0, 9.9e20, 1.485e21])
    tree = sound(tw.learn({"x": [1.0, 1.0, 2.0, 2.0]}, target, replace(CART, regression=regression)))
    low, high = tw.predict(tree, {"x": [1.0, 2.0]})
    assert 1 <= low <= 2
    assert 9.9e20 <= high <= 1.485e21
    assert all(1 <= mean <= 1.485e21 for mean in tree.arrays["stats"][:, 1])


# --- settings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("large", [2**31, 2**40, 2**63 - 1])
def test_settings_beyond_any_table_mean_no_limit(large: int) -> None:
    limits = replace(CART.stopping, max_depth=large, max_leaf_nodes=large, max_features=large)
    found = tw.learn(X, TWO, replace(CART, stopping=limits))
    unlimited = tw.learn(X, TWO, replace(CART, stopping=replace(limits, max_leaf_nodes=10**6)))
    assert found.arrays["breaks"].tolist() == unlimited.arrays["breaks"].tolist()
    few = replace(CART.stopping, min_samples_leaf=large)
    assert tw.learn(X, TWO, replace(CART, stopping=few)).n_nodes == 1


@pytest.mark.parametrize("n_threads", [1.5, "2", 10**30, -(10**30)])
def test_threads_are_a_whole_number(n_threads: Any) -> None:
    refused(lambda: tw.learn(X, TWO, CART, n_threads=n_threads), "n_threads", "whole number")


def test_m_estimates_too_large_to_multiply_are_refused() -> None:
    refused(lambda: tw.stopping.Leaves(smoothing="m_estimate", m=1e308), "Constant.m", "1e+100", error=tw.RecipeError)
    sound(tw.learn(X, TWO, replace(CART, leaves=tw.stopping.Leaves(smoothing="m_estimate", m=1e100))))


THREADS = """
import os, threading
import numpy as np
import treewright as tw

x = np.random.default_rng(0).normal(size=(60000, 6))
few = x[:200]
tree = tw.learn(few, few[:, 0] > 0.1, tw.SKLEARN)
most, done = 0, False

def watch():
    global most
    while not done:
        most = max(most, len(os.listdir("/proc/self/task")))

watcher = threading.Thread(target=watch)
before = len(os.listdir("/proc/self/task"))
watcher.start()
CALL
done = True
watcher.join()
print(most - before)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="counts threads as Linux tells them")
@pytest.mark.parametrize(
    "call",
    [
        "tw.learn(x, x[:, 0] > 0.1, tw.SKLEARN, n_threads=100000)",
        "tw.learn(x, x[:, 0] > 0.1, tw.CART, n_threads=100000)",
        "tw.stability(tree, few, few[:, 0] > 0.1, resamples=60, n_threads=100000)",
    ],
    ids=["rows", "folds", "resamples"],
)
def test_no_more_threads_start_than_can_help(call: str) -> None:
    script = THREADS.replace("CALL", call)
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert int(result.stdout) <= max(4, os.cpu_count() or 1) + 1


def test_many_threads_give_the_same_tree() -> None:
    before = threading.active_count()
    found = tw.learn(X, TWO, CART, n_threads=100_000)
    assert found.arrays["breaks"].tolist() == tw.learn(X, TWO, CART, n_threads=1).arrays["breaks"].tolist()
    assert threading.active_count() == before


# --- arrays that lie anywhere -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_packed_records_are_learned_from(dtype: Any) -> None:
    records = np.zeros(60, dtype=np.dtype([("flag", "i1"), ("p", dtype), ("q", dtype)]))
    records["p"], records["q"] = X[:, 0], X[:, 1]
    plain = {name: records[name].copy() for name in ("flag", "p", "q")}
    tree = tw.learn(records, TWO, CART)
    assert tree.arrays["breaks"].tolist() == tw.learn(plain, TWO, CART).arrays["breaks"].tolist()
    assert tw.predict(tree, records).tolist() == tw.predict(tree, plain).tolist()


def misaligned(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy that begins one byte after where it should."""
    memory = np.zeros(values.nbytes + 1, dtype=np.uint8)[1:]
    moved = memory.view(values.dtype).reshape(values.shape)
    moved[...] = values
    assert not moved.flags.aligned
    return moved


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_misaligned_numbers_are_copied(dtype: Any) -> None:
    table, weight = X.astype(dtype), np.linspace(1, 2, 60).astype(dtype)
    tree = tw.learn(misaligned(table), misaligned(NUMBERS.astype(dtype)), CART, weight=misaligned(weight))
    plain = tw.learn(table, NUMBERS.astype(dtype), CART, weight=weight)
    assert tree.arrays["breaks"].tolist() == plain.arrays["breaks"].tolist()
    assert tw.predict(tree, misaligned(table)).tolist() == tw.predict(plain, table).tolist()


def test_the_core_refuses_misaligned_numbers() -> None:
    for columns in ((misaligned(X[:, 0]),), misaligned(X)):
        with pytest.raises(ValueError, match="not aligned"):
            _core.check_values(columns, [0] * (1 if isinstance(columns, tuple) else 2), 60, 1, None)


# --- levels -----------------------------------------------------------------------------------------------------------


def test_whole_numbers_of_any_size_are_levels() -> None:
    table = {"a": [10**20, 10**400, -(10**30)] * 20}
    tree = sound(tw.learn(table, ["p", "q", "r"] * 20, CART, kinds={"a": "nominal"}))
    assert tw.predict(tw.export.from_json(tw.export.to_json(tree)), table).tolist() == ["p", "q", "r"] * 20


def test_levels_that_no_file_could_hold_are_refused() -> None:
    table = {"a": [10**5000, 3] * 30}
    refused(lambda: tw.learn(table, TWO, CART, kinds={"a": "nominal"}), "'a'", "thousand digits", "as text")


def test_broken_arrays_are_not_saved(tmp_path: Any) -> None:
    tree = tw.learn(X, TWO, CART)
    arrays = dict(tree.arrays)
    arrays["weight"] = -arrays["weight"]
    broken = tw.Tree.grown(arrays, tree.schema, tree.recipe)
    refused(lambda: tw.save(broken, tmp_path / "tree.json"), "weight", error=tw.FileError)
    assert list(tmp_path.iterdir()) == []


# --- many classes -----------------------------------------------------------------------------------------------------

CLASSES = """
import resource
import numpy as np
import treewright as tw
import dataclasses

chance = np.random.default_rng(0)
x, y = chance.normal(size=(3000, 3)), chance.integers(0, 1500, 3000).astype(str)
tw.learn(x[:50], y[:50] > "7", tw.SKLEARN)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
tree = tw.learn(x, y, tw.SKLEARN)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, tree.arrays["stats"].nbytes // 1024)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="measures memory as Linux tells it")
def test_memory_does_not_grow_with_nodes_times_classes() -> None:
    """Growing keeps less than the tree's two arrays of class weights would take; it took five times as much."""
    result = subprocess.run([sys.executable, "-c", CLASSES], capture_output=True, text=True, timeout=120, check=True)
    grown, one_array = map(int, result.stdout.split())
    assert grown < 2.5 * one_array
