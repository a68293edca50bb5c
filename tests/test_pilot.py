"""Trees by linear pieces (PILOT) against a second implementation that fits every model at every cut by numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.errors import DataError
from treewright.export import to_json
from treewright.growing.memory_partitions import MemoryPartitions
from treewright.training.learn import grow_and_prune, training_table

PARAMETERS = {"constant": 1, "line": 2, "two constants": 5, "broken line": 5, "two lines": 7}


def designs(x: np.ndarray, cut: float | None) -> dict[str, np.ndarray]:
    """The columns of each model: without a cut, or with one."""
    one, low = np.ones(len(x)), None if cut is None else (x <= cut).astype(float)
    if low is None:
        return {"constant": one[:, None], "line": np.column_stack([one, x])}
    above = np.maximum(x - cut, 0)
    return {
        "two constants": np.column_stack([low, 1 - low]),
        "broken line": np.column_stack([one, x - cut, above]),
        "two lines": np.column_stack([low, low * x, 1 - low, (1 - low) * x]),
    }


def best_model(x: np.ndarray, y: np.ndarray, may_split: bool) -> tuple[float, str, int, float | None, np.ndarray]:
    """The model of least BIC over all columns and cuts, and its predictions, by brute force."""
    found: list[tuple[float, str, int, float | None, np.ndarray]] = []
    n = len(y)
    for column in range(x.shape[1]):
        values = np.unique(x[:, column])
        cuts: list[float | None] = [None]
        cuts += list((values[1:] + values[:-1]) / 2) if may_split else []
        for cut in cuts:
            below = None if cut is None else x[:, column] <= cut
            if below is not None and min(below.sum(), n - below.sum()) < 5:
                continue
            sides = [x[:, column]] if below is None else [x[below, column], x[~below, column]]
            lines = all(len(np.unique(side)) >= 5 for side in sides)
            for name, design in designs(x[:, column], cut).items():
                if name not in ("constant", "two constants") and not lines:
                    continue
                predicted = design @ np.linalg.lstsq(design, y, rcond=None)[0]
                residual = float(((y - predicted) ** 2).sum())
                bic = n * np.log(residual / n) + np.log(n) * PARAMETERS[name]
                found.append((bic, name, column, cut, predicted))
    return min(found, key=lambda one: one[0])


def pilot(x: np.ndarray, y: np.ndarray, depth: int, most: int) -> np.ndarray:
    """The predictions of a tree by linear pieces on its own rows."""
    total = np.zeros(len(y))
    while len(y) >= 10:
        _, name, column, cut, predicted = best_model(x, y - total, depth < most)
        if name == "constant":
            break
        total = total + predicted
        if cut is not None:
            low = x[:, column] <= cut
            for side in (low, ~low):
                total[side] += pilot(x[side], (y - total)[side], depth + 1, most)
            return total
    return total + (y - total).mean()


@given(st.integers(0, 10_000), st.integers(12, 60), st.integers(0, 2))
@settings(max_examples=25)
def test_the_tree_is_that_of_brute_force(seed: int, n: int, most: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)) * [1.0, 1e3, 1e-3] + [0.0, 5e3, 1.0]
    shape = np.where(x[:, 0] > 0, rng.normal(), rng.normal() * x[:, 0]) + rng.choice([0, 1]) * x[:, 1] / 1e3
    y = shape + rng.choice([0.1, 0.5]) * rng.normal(size=n)
    table = {f"x{i}": x[:, i] for i in range(3)} | {"y": y}
    tree = tw.learn(table, "y", tw.PILOT.with_(max_depth=most, margin=None), task="regression")
    np.testing.assert_allclose(tw.predict(tree, table), pilot(x, y, 0, most), atol=1e-6)


def test_large_nodes_find_the_cut_that_all_cuts_find() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(6000, 2))
    y = np.where(x[:, 0] > 0.123, 2 + x[:, 0], -x[:, 0]) + 0.1 * rng.normal(size=6000)
    tree = tw.learn({"a": x[:, 0], "b": x[:, 1], "y": y}, "y", tw.PILOT.with_(max_depth=1))
    values = np.sort(x[:, 0])
    place = int(np.searchsorted(values, 0.123))
    assert tree.root.split.column == "a"
    assert tree.root.split.threshold == pytest.approx((values[place - 1] + values[place]) / 2, abs=1e-12)


@st.composite
def mixed_tables(draw: st.DrawFn) -> dict[str, Any]:
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(12, 80))
    x = np.round(rng.normal(size=n), draw(st.sampled_from((0, 1, 6))))
    x[rng.random(n) < draw(st.sampled_from((0.0, 0.2)))] = np.nan
    x[0] = 1.0
    levels = [["p", "q", "r", None][i] for i in rng.integers(0, 4, n)]
    return {"a": x, "c": ["p", "q", *levels[2:]], "y": np.round(rng.normal(size=n) + 3 * (np.nan_to_num(x) > 0), 2)}


@given(mixed_tables(), st.integers(0, 1000))
@settings(max_examples=40)
def test_the_tree_does_not_depend_on_threads_or_order(table: dict[str, Any], seed: int) -> None:
    whole = to_json(tw.learn(table, "y", "pilot", task="regression", n_threads=1))
    order = np.random.default_rng(seed).permutation(len(table["y"]))
    turned = {name: [values[i] for i in order] for name, values in table.items()}
    assert to_json(tw.learn(turned, "y", "pilot", task="regression", n_threads=2)) == whole


def test_smooth_data_needs_one_leaf_and_goes_on_beyond_its_range() -> None:
    x = np.linspace(0, 10, 200)
    tree = tw.learn({"x": x, "y": 3 * x + 1}, "y", "pilot")
    assert tree.n_leaves == 1
    assert tw.predict(tree, {"x": [12.0]})[0] == pytest.approx(37.0)
    assert tw.predict(tree, {"x": [1e6]})[0] == pytest.approx(31 + 0.5 * 30)  # the guard


def test_the_estimator_is_m5() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(100, 2))
    y = x @ [1.0, 2.0] + 0.1 * rng.normal(size=100)
    model = tw.ModelTreeRegressor().fit(x, y)
    assert model.tree_.recipe == tw.M5
    assert model.score(x, y) > 0.9
    by_pieces = tw.TreeRegressor(recipe=tw.PILOT).fit(x, y)
    assert by_pieces.tree_.recipe == tw.PILOT
    assert by_pieces.score(x, y) > 0.9


def test_what_pilot_cannot_do_is_refused() -> None:
    table = {"x": np.arange(30.0), "y": np.arange(30.0) ** 2}
    rows, schema = training_table(table, "y")
    with pytest.raises(DataError, match="must be in memory"):
        grow_and_prune(MemoryPartitions([rows, rows]), schema, tw.PILOT)
    with pytest.raises(DataError, match="takes no weights"):
        tw.learn(table, "y", "pilot", weight=np.arange(30.0) + 1)
    with pytest.raises(DataError, match="which only learn does"):
        tw.rank_splits(table, "y", recipe=tw.PILOT)
    with pytest.raises(tw.RecipeError, match="finds slopes"):
        tw.CART.with_(regression="piecewise_linear")
    with pytest.raises(tw.RecipeError, match="are what PiecewiseLinear finds"):
        tw.CART.with_(leaves="pieces")
    with pytest.raises(tw.RecipeError, match="knows max_depth"):
        tw.PILOT.with_(max_leaf_nodes=5)
