"""Long fits: they hear of Ctrl-C, tell their progress, and survive a fork."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from partition_cases import cut_up

import treewright as tw
from treewright.growing.partitions import Limits
from treewright.training.learn import FitOptions, grow_and_prune, training_table
from treewright.tree.tree import Tree


def noise(rows: int, columns: int = 10) -> tuple[Any, Any]:
    """Answers that nothing explains, so that the tree must grow until every row is told apart."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, columns)), rng.integers(0, 2, size=rows)


@pytest.mark.parametrize(
    ("recipe", "explained"),
    [(replace(tw.SKLEARN, rivals=0), False), (replace(tw.C45, pruning=None), True)],
    ids=["histograms", "values in order"],
)
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_fit(recipe: tw.Recipe, explained: bool, threads: int) -> None:
    x, y = noise(400_000)
    if explained:  # C4.5 finds nothing in noise, and is done too early
        y = (x.sum(axis=1) + y > 0.5).astype(int)
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        tw.learn(x, y, recipe, task="classification", n_threads=threads)
    timer.join()
    assert tw.learn(x[:50], y[:50], recipe, task="classification", n_threads=threads).n_leaves > 1  # as if nothing was


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_rises_to_the_end(threads: int) -> None:
    x, y = noise(200_000)
    seen: list[float] = []
    tw.learn(x, y, tw.SKLEARN, task="classification", n_threads=threads, progress=seen.append)
    assert seen
    assert seen == sorted(seen)
    assert 0 <= seen[0] <= seen[-1] <= 1


VALIDATED = [
    pytest.param(replace(tw.CART, pruning=tw.pruning.CostComplexityCV(folds=5)), 6, id="cost-complexity"),
    pytest.param(replace(tw.CART, pruning=tw.pruning.CostComplexityCV(folds=3, repeats=2)), 7, id="repeated"),
    pytest.param(replace(tw.CART, pruning=tw.pruning.ImpurityThresholdCV(folds=4)), 5, id="impurity threshold"),
]


@pytest.mark.parametrize("in_parts", [False, True], ids=["memory", "parts"])
@pytest.mark.parametrize(("recipe", "n_trees"), VALIDATED)
def test_progress_counts_the_trees_of_all_folds(
    recipe: tw.Recipe, n_trees: int, in_parts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y = noise(600, 3)
    encoded, schema = training_table(x, y, FitOptions(task="classification"))
    rows = cut_up(encoded, [0.3, 0.6], Limits(apart=50)) if in_parts else encoded
    seen: list[float] = []
    after_tree: list[float] = []
    grown = Tree.grown

    def count_tree(*arguments: Any) -> tw.Tree:
        after_tree.append(max(seen, default=0.0))
        return grown(*arguments)

    monkeypatch.setattr(Tree, "grown", count_tree)
    grow_and_prune(rows, schema, recipe, 1, seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1
    assert max(seen[:-1]) < 1
    assert len(after_tree) == n_trees
    for i, done in enumerate(after_tree, 1):
        assert done <= i / n_trees
    # After each tree its whole part of the bar is filled.
    assert all(any((i - 0.2) / n_trees <= done <= i / n_trees for done in seen) for i in range(1, n_trees))


@pytest.mark.parametrize("pruning", [None, tw.pruning.ReducedError(), tw.pruning.ErrorBased()], ids=str)
def test_progress_reaches_one_at_the_end_only(pruning: Any) -> None:
    x, y = noise(2_000, 3)
    seen: list[float] = []
    tw.learn(x, y, replace(tw.CART, pruning=pruning), task="classification", progress=seen.append)
    assert len(seen) > 1
    assert seen == sorted(seen)
    assert seen[-1] == 1
    assert max(seen[:-1]) < 1


def test_an_error_in_progress_ends_the_fit() -> None:
    x, y = noise(200_000)

    def fail(done: float) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        tw.learn(x, y, tw.SKLEARN, task="classification", progress=fail)


def leaves(queue: Any) -> None:
    x, y = noise(5_000)
    queue.put(tw.learn(x, y, tw.SKLEARN, task="classification", n_threads=2).n_leaves)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_after_a_fit_can_fit() -> None:
    x, y = noise(5_000)
    expected = tw.learn(x, y, tw.SKLEARN, task="classification", n_threads=2).n_leaves
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=leaves, args=(queue,))
    process.start()
    assert queue.get(timeout=60) == expected
    process.join()
