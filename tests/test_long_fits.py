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

import treewright as tw


def noise(rows: int, columns: int = 10) -> tuple[Any, Any]:
    """Answers that nothing explains, so that the tree must grow until every row is told apart."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(rows, columns)), rng.integers(0, 2, size=rows)


@pytest.mark.parametrize(
    "recipe", [replace(tw.SKLEARN, rivals=0), replace(tw.C45, pruning=None)], ids=["coded", "plain"]
)
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_a_fit(recipe: tw.Recipe, threads: int) -> None:
    x, y = noise(400_000)
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
