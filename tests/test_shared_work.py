"""How rows are divided among threads shows in no tree; numbers of every size are sorted right."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import treewright as tw
from treewright import _core

DEEP_ENOUGH = tw.SKLEARN.with_(max_depth=5)


def arrays_of(columns: list[Any], target: Any, threads: int, **how: Any) -> dict[str, Any]:
    classes = 0 if target.dtype == np.float64 else int(target.max()) + 1
    kinds = [0] * len(columns)
    return _core.grow(columns, kinds, kinds, target, classes, None, DEEP_ENOUGH.as_dict(), threads, None, **how)


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


# Below a block of counted rows, just beyond it, and beyond what narrow counters hold, in no whole number of blocks.
@pytest.mark.parametrize("rows", [8191, 8193, 33_001, 70_001])
@pytest.mark.parametrize("target", ["two", "five", "number"])
def test_blocks_of_rows_for_any_number_of_threads(target: str, rows: int) -> None:
    rng = np.random.default_rng([1, rows])
    columns = [rng.normal(size=rows), np.round(rng.normal(size=rows), 1), rng.normal(size=rows)]
    signal = columns[0] + columns[1] * columns[2] + rng.normal(size=rows)
    truth: Any = signal if target == "number" else np.digitize(signal, [0.0] if target == "two" else [-1, 0, 1, 2])
    truth = truth if target == "number" else truth.astype(np.int32)
    alone = arrays_of(columns, truth, 1)
    for threads in (2, 3, 7, 16):
        assert_same(arrays_of(columns, truth, threads), alone)


def sizes(rng: np.random.Generator, shape: str, rows: int) -> Any:
    if shape == "all":
        return rng.choice([-1.0, 1.0], rows) * 10.0 ** rng.uniform(-300, 300, rows)
    if shape == "tiny":
        return rng.integers(-(2**40), 2**40, rows) * 5e-324  # subnormal: their first digits are equal
    if shape == "neighbours":
        return 1.0 + rng.integers(0, 2**20, rows) * 2.0**-52  # only their last digits differ
    if shape == "negative":
        return -np.exp(rng.normal(size=rows))
    return rng.normal(size=rows).astype(np.float32)  # their last digits are all zero


SHAPES = ["all", "tiny", "neighbours", "negative", "single"]


@pytest.mark.parametrize("shape", SHAPES)
def test_numbers_of_every_size_are_ranked(shape: str) -> None:
    column = sizes(np.random.default_rng(3), shape, 3000)
    above = column > np.sort(column)[1799]
    tree = tw.learn_optimal({"x": column, "y": np.where(above, "above", "below")}, "y", max_depth=1)
    np.testing.assert_array_equal(tw.predict(tree, {"x": column}) == "above", above)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_cut_among_numbers_of_every_size(shape: str) -> None:
    rng = np.random.default_rng(2)
    column = sizes(rng, shape, 5000)
    rank = np.argsort(np.argsort(column))
    target = (np.sin(rank / 700) + 0.3 * rng.normal(size=5000) > 0).astype(np.int32)
    columns = [column, rng.normal(size=5000).astype(column.dtype)]
    assert len(np.unique(column)) > 255
    expected = arrays_of(columns, target, 1, exhaustive=True)
    found = arrays_of(columns, target, 2)
    for name in ("breaks", "rows", "stop", "stats"):
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not tie processes to processors")
def test_threads_are_for_processors_that_the_process_may_use() -> None:
    asked = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); from treewright import _core; "
        "print(*map(_core.threads_worth, (0, 1, 5, 100_000)))"
    )
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["1", "1", "4", "4"]
