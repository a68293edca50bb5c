"""Trees by linear pieces (PILOT) against a second implementation that fits every model at every cut by numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.data.rows import take
from treewright.errors import DataError
from treewright.export import to_json
from treewright.growing.memory_partitions import MemoryPartitions
from treewright.growing.partitions import Limits
from treewright.pruning.cross_validation import deal
from treewright.recipes.named import named_recipes
from treewright.training.learn import FitOptions, grow_and_prune, training_table

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


Model = tuple[float, str, int, float | None, np.ndarray]


def best_model(x: np.ndarray, y: np.ndarray, may_split: bool, weight: np.ndarray) -> Model:
    """The model of least BIC over all columns and cuts, and its predictions, by brute force."""
    found: list[Model] = []
    n, root = len(y), np.sqrt(weight)
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
                predicted = design @ np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]
                residual = float((weight * (y - predicted) ** 2).sum() / weight.mean())
                bic = n * np.log(residual / n) + np.log(n) * PARAMETERS[name]
                found.append((bic, name, column, cut, predicted))
    return min(found, key=lambda one: one[0])


def pilot(
    x: np.ndarray, y: np.ndarray, weight: np.ndarray, depth: int, most: int, best: Any = best_model
) -> np.ndarray:
    """The predictions of a tree by linear pieces on its own rows."""
    total = np.zeros(len(y))
    while len(y) >= 10:
        _, name, column, cut, predicted = best(x, y - total, depth < most, weight)
        if name == "constant":
            break
        total = total + predicted
        if cut is not None:
            low = x[:, column] <= cut
            for side in (low, ~low):
                total[side] += pilot(x[side], (y - total)[side], weight[side], depth + 1, most, best)
            return total
    return total + np.average(y - total, weights=weight)


@given(st.integers(0, 10_000), st.integers(12, 100), st.integers(0, 2), st.booleans())
@settings(max_examples=25)
def test_the_tree_is_that_of_brute_force(seed: int, n: int, most: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)) * [1.0, 1e3, 1e-3] + [0.0, 5e3, 1.0]
    shape = np.where(x[:, 0] > 0, rng.normal(), rng.normal() * x[:, 0]) + rng.choice([0, 1]) * x[:, 1] / 1e3
    y = shape + rng.choice([0.1, 0.5]) * rng.normal(size=n)
    table = {f"x{i}": x[:, i] for i in range(3)} | {"y": y}
    weight = rng.uniform(0.1, 7, size=n) if weighted else np.ones(n)
    recipe = tw.PILOT.with_(max_depth=most, margin=None)
    tree = tw.learn(table, "y", recipe, task="regression", weight=weight if weighted else None)
    np.testing.assert_allclose(tw.predict(tree, table), pilot(x, y, weight, 0, most), atol=1e-6)
    assert tree.root.weight == pytest.approx(weight.sum())
    assert tree.root.prediction == pytest.approx(np.average(y, weights=weight))


def best_model_of_many(x: np.ndarray, y: np.ndarray, may_split: bool, weight: np.ndarray) -> Model:
    """The same for many rows: residuals by running sums, of more digits than float64."""
    best: tuple[float, str, int, float | None] = (np.inf, "", 0, None)
    n, unit = len(y), weight.mean()
    for column in range(x.shape[1]):
        order = np.argsort(x[:, column], kind="stable")
        at = x[order, column].astype(np.longdouble) - x[:, column].mean()
        left, w = y[order].astype(np.longdouble), weight[order].astype(np.longdouble)
        new = np.append(True, np.diff(at) > 0)
        below = np.array([np.cumsum(w * each) for each in (at**0, at, at * at, left, at * left, left * left)])
        whole, values = below[:, -1:], np.cumsum(new)
        cuts = np.flatnonzero(new[1:])
        cuts = cuts[(cuts + 1 >= 5) & (n - cuts - 1 >= 5)] if may_split else cuts[:0]
        low, high = below[:, cuts], whole - below[:, cuts]
        lines = (values[cuts] >= 5) & (values[-1] - values[cuts] >= 5)
        found = {"constant": constant(whole), "line": line(whole)} if values[-1] >= 5 else {"constant": constant(whole)}
        knot = (at[cuts] + at[cuts + 1]) / 2 if len(cuts) else at[:0]
        found["two constants"] = constant(low) + constant(high)
        found["broken line"] = np.where(lines, broken(low, high, knot), np.inf)
        found["two lines"] = np.where(lines, line(low) + line(high), np.inf)
        for name, residual in found.items():
            if len(residual) == 0:
                continue
            i = int(np.argmin(residual))
            bic = float(n * np.log(residual[i] / unit / n) + np.log(n) * PARAMETERS[name])
            place = None if name in ("constant", "line") else cuts[i]
            cut = None if place is None else float(x[order[place], column] / 2 + x[order[place + 1], column] / 2)
            if bic < best[0] - 1e-9:
                best = (bic, name, column, cut)
    bic, name, column, cut = best
    design, root = designs(x[:, column], cut)[name], np.sqrt(weight)
    return bic, name, column, cut, design @ np.linalg.lstsq(design * root[:, None], y * root, rcond=None)[0]


def constant(sums: np.ndarray) -> np.ndarray:
    n, _, _, y, _, yy = sums
    return yy - y * y / n


def line(sums: np.ndarray) -> np.ndarray:
    n, x, xx, y, xy, _ = sums
    spread = xx - x * x / n
    return constant(sums) - np.where(spread > 1e-15 * xx, (xy - x * y / n) ** 2 / np.where(spread > 0, spread, 1), 0)


def broken(low: np.ndarray, high: np.ndarray, knot: np.ndarray) -> np.ndarray:
    """Residuals of two lines that meet at the knots."""
    n, x, xx, y, xy, yy = low + high
    above, squares = high[1] - knot * high[0], high[2] - 2 * knot * high[1] + knot * knot * high[0]
    product = high[2] - knot * high[1]
    a, b, c = xx - x * x / n, product - x * above / n, squares - above * above / n
    p, q = xy - x * y / n, high[4] - knot * high[3] - above * y / n
    return yy - y * y / n - (p * p * c - 2 * p * q * b + q * q * a) / (a * c - b * b)


@given(st.integers(0, 10_000), st.integers(500, 5000), st.sampled_from((1, 2, 6)), st.booleans())
@settings(max_examples=25)
def test_every_cut_of_large_nodes_counts(seed: int, n: int, places: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(n, 3)), places)
    y = np.where(x[:, 0] > rng.normal(), rng.normal(), x[:, 0] * rng.normal()) + (x[:, 1] > rng.normal()) * rng.normal()
    y += rng.choice([0.05, 0.5, 5.0]) * rng.normal(size=n)
    weight = rng.choice([0.5, 1.0, 3.3], size=n) if weighted else np.ones(n)
    table = {f"x{i}": x[:, i] for i in range(3)} | {"y": y}
    tree = tw.learn(table, "y", tw.PILOT.with_(max_depth=2, margin=None), weight=weight, task="regression")
    expected = pilot(x, y, weight, 0, 2, best_model_of_many)
    np.testing.assert_allclose(tw.predict(tree, table), expected, atol=1e-5)


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


@given(mixed_tables(), st.integers(1, 11), st.sampled_from(("pilot", "model_tree")), st.booleans())
@settings(max_examples=40)
def test_partitions_give_the_same_tree(table: dict[str, Any], at: int, recipe: str, weighted: bool) -> None:
    weight = np.arange(len(table["y"])) % 4 / 3 + 0.25 if weighted else None
    rows, schema = training_table(table, "y", FitOptions(weight=weight, task="regression"))
    parts = MemoryPartitions([take(rows, slice(0, at)), take(rows, slice(at, None))])
    chosen = named_recipes(recipe)[0]
    assert to_json(grow_and_prune(parts, schema, chosen)) == to_json(grow_and_prune(rows, schema, chosen))


@given(mixed_tables(), st.sampled_from((3.0, 0.125, 1e-30, 1e30)))
@settings(max_examples=20)
def test_only_ratios_of_weights_choose_models(table: dict[str, Any], factor: float) -> None:
    n = len(table["y"])
    weight = np.arange(n) % 3.0
    tree = tw.learn(table, "y", "pilot", task="regression", weight=weight * factor)
    present = [i for i in range(n) if weight[i] > 0]
    used = {name: [values[i] for i in present] for name, values in table.items()}
    other = tw.learn(used, "y", "pilot", task="regression", weight=weight[present])
    assert tree.n_leaves == other.n_leaves
    np.testing.assert_allclose(tw.predict(tree, used), tw.predict(other, used), rtol=1e-9, atol=1e-9)


def test_smooth_data_needs_one_leaf_and_goes_on_beyond_its_range() -> None:
    x = np.linspace(0, 10, 200)
    tree = tw.learn({"x": x, "y": 3 * x + 1}, "y", "pilot")
    assert tree.n_leaves == 1
    assert tw.predict(tree, {"x": [12.0]})[0] == pytest.approx(37.0)
    assert tw.predict(tree, {"x": [1e6]})[0] == pytest.approx(31 + 0.5 * 30)  # the guard


@pytest.mark.parametrize("weight", [None, [1.0, 2.0] * 6])
def test_a_column_of_one_level_leaves_nothing_to_fit(weight: list[float] | None) -> None:
    y = [float(i % 5) for i in range(12)]
    tree = tw.learn({"c": ["v"] * 12, "y": y}, "y", "pilot", task="regression", weight=weight)
    assert tree.n_leaves == 1
    assert tree.root.prediction == pytest.approx(np.average(y, weights=weight))


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


# --- pruning ----------------------------------------------------------------------------------------------------------


def noisy(n: int = 600) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    x = rng.uniform(size=(n, 3))
    y = np.where(x[:, 0] < 0.5, 3 * x[:, 1], 10 - 4 * x[:, 1]) + np.where(x[:, 2] < 0.3, 1, 0) + rng.normal(size=n)
    return {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}


@pytest.mark.parametrize("recipe", [tw.PILOT, tw.MODEL_TREE.with_(pruning=None, smoothing_rows=0)])
def test_the_path_has_the_residuals_of_the_models(recipe: tw.Recipe) -> None:
    table = noisy()
    tree = tw.learn(table, "y", recipe)
    path = tw.pruning_path(tree, table)
    assert path.held_out is not None
    assert path.leaves[0] == tree.n_leaves > 2
    assert path.leaves[-1] == 1
    root = tw.learn(table, "y", recipe.with_(pruning=tw.pruning.MaxDepth(0)))
    for step, pruned in ((0, tree), (-1, root)):
        residual = np.mean((table["y"] - tw.predict(pruned, table)) ** 2)
        assert path.risk[step] == pytest.approx(residual, rel=1e-9)


def test_held_out_risks_are_those_of_trees_without_the_fold() -> None:
    table = noisy()
    rows, schema = training_table(table, "y")
    pruner = tw.pruning.CostComplexityCV(folds=4)
    path = tw.pruning_path(tw.learn(table, "y", tw.PILOT), table, pruner=pruner)
    folds, lost = deal(rows, 4, pruner.seed, pruner.stratified), 0.0
    for fold in range(4):
        out = folds.share_in(fold) > 0
        root = grow_and_prune(take(rows, ~out), schema, tw.PILOT.with_(pruning=tw.pruning.MaxDepth(0)))
        lost += float(((table["y"] - tw.predict(root, table))[out] ** 2).sum())
    assert path.held_out is not None
    assert path.held_out[-1] == pytest.approx(lost / len(table["y"]), rel=1e-9)


def test_cross_validation_prunes_noise_and_keeps_the_shape() -> None:
    table = noisy()
    grown = tw.PILOT.with_(regression=tw.criterion.PiecewiseLinear(price="coefficients"), min_samples_leaf=5)
    whole = tw.learn(table, "y", grown)
    pruned = tw.learn(table, "y", grown.with_(pruning=tw.pruning.CostComplexityCV()))
    assert 2 <= pruned.n_leaves < whole.n_leaves
    assert pruned.root.split.column == "a"
    cut = tw.prune(whole, tw.pruning.CostComplexityCV(), table)
    assert to_json(cut).split('"nodes"')[1:] == to_json(pruned).split('"nodes"')[1:]
    assert tw.prune(whole, tw.pruning.CostComplexity(alpha=1e9), table).n_leaves == 1
    # A share of the rows is set aside, and the others grow the tree.
    assert tw.learn(table, "y", grown.with_(pruning=tw.pruning.ReducedError())).root.rows < 600


def test_what_pilot_cannot_do_is_refused() -> None:
    table = {"x": np.arange(30.0), "y": np.arange(30.0) ** 2}
    rows, schema = training_table(table, "y")
    few = MemoryPartitions([rows, rows], Limits(memory=1000))
    with pytest.raises(DataError, match=r"which takes 2\.4 kB of memory here, and memory_limit is 1\.0 kB"):
        grow_and_prune(few, schema, tw.PILOT)
    levels = {"c": [f"level {i % 30}" for i in range(90)], "y": np.arange(90.0)}
    rows, schema = training_table(levels, "y")
    with pytest.raises(DataError, match=r"which takes 108\.0 kB of memory here"):  # a level is a column
        grow_and_prune(MemoryPartitions([rows], Limits(memory=1000)), schema, tw.PILOT)
    with pytest.raises(DataError, match=r"fitted to each node, but the recipe 'PILOT' has leaves=Pieces\(\)"):
        tw.prune(tw.learn(table, "y", "pilot"), tw.pruning.AdjustedError(), table)
    with pytest.raises(DataError, match="give them as data="):
        tw.pruning_path(tw.learn(table, "y", "pilot"))
    with pytest.raises(DataError, match="which only learn and pruning do"):
        tw.rank_splits(table, "y", recipe=tw.PILOT)
    with pytest.raises(tw.RecipeError, match="finds slopes"):
        tw.CART.with_(regression="piecewise_linear")
    with pytest.raises(tw.RecipeError, match="are what PiecewiseLinear finds"):
        tw.CART.with_(leaves="pieces")
    with pytest.raises(tw.RecipeError, match="knows max_depth"):
        tw.PILOT.with_(max_leaf_nodes=5)
