"""Conformal calibration: quantiles by brute force, coverage on made tables, and trees that keep it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.errors import FileError

FULL = tw.CART.with_(pruning=None)


def numbers(n: int, seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.integers(0, 3, n).astype(float)
    x[rng.random(n) < 0.1] = np.nan
    return {"x": x, "z": z, "y": np.nan_to_num(x) * 3 + rng.normal(scale=1 + z)}


def classes(n: int, seed: int) -> dict[str, Any]:
    data = numbers(n, seed)
    return data | {"y": np.array(["low", "mid", "high"])[np.digitize(data["y"], [-2, 2])]}


def below(tree: tw.Tree, node: int) -> set[int]:
    return {node}.union(*(below(tree, child) for child in tree[node].children))


@settings(deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([0.5, 0.8, 0.9, 0.95]))
def test_limits_are_the_quantiles_of_the_definition(seed: int, coverage: float) -> None:
    tree = tw.learn(numbers(80, seed), "y", FULL.with_(max_depth=3))
    others = numbers(60, seed + 1)
    calibrated = tw.calibrate(tree, others, coverage=coverage)
    distance = np.abs(others["y"] - tw.predict(tree, others))
    leaf = tw.apply(tree, others)
    assert calibrated.calibration is not None
    for node in range(tree.n_nodes):
        at: int | None = node
        while at is not None:
            inside = sorted(distance[np.isin(leaf, list(below(tree, at)))])
            place = math.ceil(round((len(inside) + 1) * coverage, 9))
            if place <= len(inside):
                break
            at = tree[at].parent
        assert calibrated.calibration.source[node] == at
        assert calibrated.calibration.score[node] == inside[place - 1]


@pytest.mark.parametrize("made", [numbers, classes])
@pytest.mark.parametrize("folds", [None, 5])
def test_new_rows_are_covered(made: Any, folds: int | None) -> None:
    hits = []
    for seed in range(40):
        tree = tw.learn(made(150, seed), "y", tw.CART.with_(max_depth=3, pruning=None), task=None)
        rows = made(150, seed if folds else seed + 1000)
        tree = tw.calibrate(tree, rows, coverage=0.8, folds=folds)
        new = made(200, seed + 2000)
        if made is numbers:
            low, high = tw.predict_interval(tree, new).T
            hits.append(np.mean((low <= new["y"]) & (new["y"] <= high)))
        else:
            names = np.array(tree.schema.target.classes)
            hits.append(np.mean(tw.predict_set(tree, new)[np.arange(200), np.searchsorted(names, new["y"])]))
    assert np.mean(hits) > 0.78
    assert np.mean(hits) < (0.86 if made is numbers else 0.95)


def test_a_calibrated_tree_is_printed_saved_and_equal(tmp_path: Path) -> None:
    plain = tw.learn(classes(100, 0), "y", FULL.with_(max_depth=2))
    tree = tw.calibrate(plain, classes(100, 1))
    assert "90 %: {" in str(tree)
    assert "calibrated for a coverage of 90 % on 100 rows set aside" in str(tree)
    tw.save(tree, tmp_path / "tree.json")
    again = tw.load(tmp_path / "tree.json")
    assert again == tree != plain
    assert np.array_equal(tw.predict_set(again, classes(50, 2)), tw.predict_set(tree, classes(50, 2)))
    assert tw.prune(tree, tw.pruning.MaxDepth(1)).calibration is None
    number = tw.calibrate(tw.learn(numbers(100, 0), "y", FULL.with_(max_depth=1)), numbers(100, 1))
    assert " to " in str(number)
    limits = tw.predict_interval(number, numbers(50, 2))
    middle = tw.predict(number, numbers(50, 2))
    assert limits.mean(axis=1) == pytest.approx(middle)


def test_what_cannot_work_is_refused() -> None:
    tree = tw.learn(numbers(100, 0), "y")
    for coverage in (1.5, 0, 1, True, "much"):
        with pytest.raises(tw.DataError, match="coverage must lie between 0 and 1"):
            tw.calibrate(tree, numbers(100, 1), coverage=coverage)
    with pytest.raises(tw.DataError, match=r"0\.95 needs at least 19 calibration rows, and there are 18"):
        tw.calibrate(tree, numbers(18, 1), coverage=0.95)
    assert tw.calibrate(tree, numbers(19, 1), coverage=0.95).calibration is not None
    with pytest.raises(tw.DataError, match="give them as data"):
        tw.calibrate(tree, None)
    with pytest.raises(tw.DataError, match="folds must be a whole number of at least 2, not 1"):
        tw.calibrate(tree, numbers(100, 0), folds=1)
    with pytest.raises(tw.DataError, match="is not calibrated"):
        tw.predict_interval(tree, numbers(5, 0))
    with pytest.raises(tw.DataError, match="'y' is a number; use predict_interval"):
        tw.predict_set(tree, numbers(5, 0))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coverage", 1.0), ("rows", 0), ("rows", True), ("method", "magic"), ("source", [0]), ("source", [0, 2, 0]),
        ("score", [0.1, -1.0, 0.1]), ("score", [0.1, math.inf, 0.1]), ("score", ["a", 0.1, 0.1]),
    ],
)  # fmt: skip
def test_broken_calibrations_are_refused(name: str, value: Any) -> None:
    tree = tw.calibrate(tw.learn(numbers(100, 0), "y", FULL.with_(max_depth=1)), numbers(100, 1))
    written = tree.as_dict()
    assert tw.Tree.from_dict(written) == tree
    turned = dict(reversed(written["calibration"].items()))  # JSON objects have no order
    assert tw.Tree.from_dict(written | {"calibration": turned}) == tree
    with pytest.raises(FileError, match=rf"calibration\.{name}"):
        tw.Tree.from_dict(written | {"calibration": written["calibration"] | {name: value}})
