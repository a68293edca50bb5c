"""Leaves that predict by linear models: least squares against numpy, missing values, the range guard, determinism."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from partition_cases import cut_up, cuts, limits
from scipy import sparse

import treewright as tw
from treewright.data.rows import take
from treewright.errors import DataError, ExportError, FileError
from treewright.export import from_json, to_json
from treewright.recipes.leaves import Linear
from treewright.training.learn import grow_and_prune, training_table

#: One node and every column in its model.
EVERY_TERM = Linear(max_terms=None, select="none", min_rows_per_term=1, margin=None)
ONE_NODE = tw.CART.with_(leaves=EVERY_TERM, max_depth=0, pruning=None)
SMALL = tw.CART.with_(leaves=Linear(), max_depth=3, pruning=None, min_samples_leaf=10)


def matrix_table(x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    return {f"x{i}": x[:, i] for i in range(x.shape[1])} | {"y": y}


def learned(x: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None, ridge: float = 0.0) -> tw.Tree:
    return tw.learn(matrix_table(x, y), "y", ONE_NODE.with_(ridge=ridge), task="regression", weight=weight)


def fitted(x: np.ndarray, y: np.ndarray, ridge: float = 0.0) -> np.ndarray:
    return tw.predict(learned(x, y, ridge=ridge), matrix_table(x, y))


def rounding(model: Any, x: np.ndarray) -> float:
    """What the sum of a model's terms may lose: it is computed with 53 bits, from terms that may cancel."""
    largest = abs(model.intercept) + sum(abs(t.coefficient) * np.abs(x[:, t.column]).max() for t in model.terms)
    return float(4 * np.finfo(float).eps * largest)


def by_numpy(x: np.ndarray, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    root = np.ones(len(y)) if weight is None else np.sqrt(weight)
    centre = np.average(x, axis=0, weights=root**2)
    spread = np.where(np.ptp(x, axis=0) > 0, np.ptp(x, axis=0), 1.0)
    design = np.column_stack([np.ones(len(y)), (x - centre) / spread])
    return design @ np.linalg.lstsq(design * root[:, np.newaxis], y * root, rcond=1e-10)[0]


@st.composite
def regressions(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns of very different sizes and centres, some of them sums of others, and whole-number or other weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k = draw(st.integers(3, 60)), draw(st.integers(1, 5))
    x = rng.normal(size=(n, k))
    if draw(st.booleans()):
        x = np.round(x, 1)
    if k > 2 and draw(st.booleans()):
        x[:, 2] = x[:, 0] - 2 * x[:, 1]  # collinear
    if k > 3 and draw(st.booleans()):
        x[:, 3] = x[:, 0] + 1e-4 * x[:, 3]  # nearly
    if draw(st.booleans()):
        x[:, 0] = 3.0
    x = x * 10.0 ** rng.integers(-6, 7, k) + draw(st.sampled_from((0.0, 1.0, 1e3)))
    y = rng.normal(size=n) * 10.0 ** draw(st.integers(-3, 6)) + draw(st.sampled_from((0.0, 1e4)))
    weight = rng.uniform(0.1, 3.0, n) if draw(st.booleans()) else np.ones(n)
    return x, y, weight


@given(regressions())
def test_least_squares_are_those_of_numpy(case: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    x, y, weight = case
    tree, expected = learned(x, y, weight), by_numpy(x, y, weight)
    # Where columns agree to 1e-9, rounding decides whether they are the same, and both answers are right.
    centred = (x - x.mean(axis=0)) / np.where(np.ptp(x, axis=0) > 0, np.ptp(x, axis=0), 1.0)
    singular = np.linalg.svd(centred, compute_uv=False)
    assume(not np.any((singular > 1e-13 * singular[0]) & (singular < 1e-7 * singular[0])))
    tolerance = 1e-9 * np.abs(y).max() + rounding(tree.root.model, x)
    np.testing.assert_allclose(tw.predict(tree, matrix_table(x, y)), expected, rtol=0, atol=tolerance)


def test_columns_that_nearly_agree_are_solved_with_more_digits_than_numpy_has() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 2))
    x[:, 1] = x[:, 0] + 2.0**-24 * np.round(x[:, 1], 3)  # exact sums, so the model is exactly right
    y = 2 * x[:, 0] - 3 * (x[:, 1] - x[:, 0]) * 2.0**24
    assert np.abs(fitted(x, y) - y).max() < 1e-6


def test_ridge_is_a_share_of_each_sum_of_squares() -> None:
    rng = np.random.default_rng(2)
    x, ridge = rng.normal(size=(50, 3)), 0.3
    y = x @ [1.0, -2.0, 0.5] + rng.normal(size=50)
    centred = x - x.mean(axis=0)
    squares = centred.T @ centred
    slope = np.linalg.solve(squares + ridge * np.diag(np.diag(squares)), centred.T @ (y - y.mean()))
    np.testing.assert_allclose(fitted(x, y, ridge=ridge), y.mean() + centred @ slope, atol=1e-10)


# --- which terms ------------------------------------------------------------------------------------------------------


def _information(x: np.ndarray, y: np.ndarray, chosen: list[int], price: float) -> float:
    design = np.column_stack([np.ones(len(y)), x[:, chosen]])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    return float(len(y) * np.log(residual @ residual / len(y)) + price * (len(chosen) + 1))


@given(st.integers(0, 10_000), st.sampled_from(("bic", "aic")), st.integers(1, 4))
@settings(max_examples=40)
def test_terms_enter_as_long_as_the_criterion_falls(seed: int, select: str, most: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(40, 5))
    y = x @ rng.choice([0.0, 0.3, 1.0], 5) + rng.normal(size=40)
    price = np.log(40) if select == "bic" else 2.0
    expected: list[int] = []
    while len(expected) < most:
        others = [i for i in range(5) if i not in expected]
        best = min(others, key=lambda i: _information(x, y, [*expected, i], price))
        if _information(x, y, [*expected, best], price) >= _information(x, y, expected, price):
            break
        expected.append(best)
    tree = tw.learn(matrix_table(x, y), "y", ONE_NODE.with_(select=select, max_terms=most), task="regression")
    assert [term.column for term in tree.root.model.terms] == sorted(expected)


def test_which_columns_may_enter() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(400, 3))
    y = np.where(x[:, 0] > 0, 10.0, 0.0) + x[:, 1] + x[:, 2]
    table = matrix_table(x, y)

    def columns(**settings: Any) -> set[int]:
        tree = tw.learn(table, "y", tw.CART.with_(leaves=Linear(**settings), max_depth=1, pruning=None))
        return {term.column for node in tree.walk() if node.is_leaf for term in node.model.terms}

    assert columns() == {1, 2}
    assert columns(columns="path") <= {0}
    assert columns(columns="subtree") == set()
    assert columns(only=("x2",)) == {2}
    assert columns(only=["x2"]) == {2}
    with pytest.raises(DataError, match=r"Linear\.only names 'z'"):
        columns(only=("z",))


# --- missing values and levels ----------------------------------------------------------------------------------------


def test_levels_are_indicators_and_missing_values_the_mean_of_the_node() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan])
    levels = ["a", "b", "c", "a", "b", "c"]
    y = np.array([1.0, 4.0, 6.0, 4.5, 7.0, 9.0])
    table = {"x": x, "level": levels, "y": y}
    tree = tw.learn(table, "y", ONE_NODE, task="regression")
    filled = np.where(np.isnan(x), 2.0, x)  # the mean of the known values
    design = np.column_stack([np.ones(6), filled, *([level == one for level in levels] for one in "ab")]).astype(float)
    slope = np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(tw.predict(tree, table), design @ slope, atol=1e-12)
    # Of three indicators the last follows from the others, so it has no term; unseen levels count as the means.
    assert [(term.column, term.levels) for term in tree.root.model.terms] == [(0, None), (1, (0,)), (1, (1,))]
    with pytest.warns(tw.UnseenLevelsWarning):
        unseen = tw.predict(tree, {"x": [1.0], "level": ["new"]})
    np.testing.assert_allclose(unseen, slope @ [1, 1, 1 / 3, 1 / 3], atol=1e-12)
    np.testing.assert_allclose(tw.predict(tree, {"x": [None], "level": [None]}), y.mean(), atol=1e-12)


@pytest.mark.parametrize("missing", ["fractional", "surrogates", "majority", "learned", "own", "ignore", "random"])
def test_every_missing_policy_predicts_by_the_models_of_the_paths(missing: str) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(300, 3))
    y = np.where(x[:, 0] > 0, 2 * x[:, 1], -x[:, 2]) + 0.1 * rng.normal(size=300)
    x[rng.random((300, 3)) < 0.2] = np.nan
    tree = tw.learn(matrix_table(x, y), "y", SMALL.with_(missing=missing))
    found = tw.predict(tree, matrix_table(x, y))
    for row in range(0, 300, 7):
        explained = tw.explain_row(tree, {f"x{i}": x[row, i] for i in range(3)})
        assert found[row] == pytest.approx(sum(path.weight * path.value[0] for path in explained.paths), abs=1e-12)


def test_a_node_without_rows_predicts_as_its_parent_does() -> None:
    rng = np.random.default_rng(9)
    x, level = rng.normal(size=120), rng.integers(0, 3, 120)
    first = np.where(level == 2, 1, rng.integers(0, 2, 120))  # where it is p, the level r has no rows
    y = first * (50 + 3 * x) + np.array([0.0, 5.0, 9.0])[level]
    table = {"x": x, "a": [("p", "q")[i] for i in first], "b": [("p", "q", "r")[i] for i in level], "y": y}
    recipe = tw.CART.with_(branching="each_value", leaves=Linear(), pruning=None, max_depth=3, min_samples_leaf=1)
    tree = tw.learn(table, "y", recipe)
    empty = [node for node in tree.walk() if node.weight == 0]
    assert empty
    for node in empty:
        parent = tree[int(tree.arrays["parent"][node.id])]
        assert node.model == parent.model


# --- the range guard --------------------------------------------------------------------------------------------------


@given(
    st.integers(0, 1000), st.sampled_from((0.0, 0.5, 2.0)), st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3)
)
@settings(max_examples=60)
def test_no_prediction_leaves_the_guard(seed: int, margin: float, far: list[float]) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(120, 3))
    y = x @ [3.0, -1.0, 0.2] + rng.normal(size=120)
    tree = tw.learn(matrix_table(x, y), "y", SMALL.with_(margin=margin))
    row = {f"x{i}": [far[i]] for i in range(3)}
    node, predicted = tw.apply(tree, row)[0], tw.predict(tree, row)[0]
    low, high = y[tw.apply(tree, matrix_table(x, y)) == node].min(), y[tw.apply(tree, matrix_table(x, y)) == node].max()
    room = margin * (high - low)
    assert low - room - 1e-12 <= predicted <= high + room + 1e-12
    assert tree[node].model.low == low - room
    assert tree[node].model.high == high + room


def test_a_free_model_goes_on_and_is_always_a_number() -> None:
    table = {"x": [0.0, 1.0, 2.0, 3.0], "z": [1.0, 3.0, 2.0, 7.0], "y": [0.0, 2.0, 4.0, 6.0]}
    tree = tw.learn(table, "y", ONE_NODE.with_(only=("x",)), task="regression")
    assert tw.predict(tree, {"x": [100.0], "z": [0.0]})[0] == pytest.approx(200.0)
    assert np.isfinite(tw.predict(tree, {"x": [1.7e308], "z": [0.0]})[0])


# --- one tree, whatever the machine -----------------------------------------------------------------------------------


@st.composite
def mixed_tables(draw: st.DrawFn) -> dict[str, Any]:
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n = draw(st.integers(8, 120))
    x = np.round(rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-8, 9, 2), draw(st.sampled_from((1, 6))))
    if draw(st.booleans()):
        x[rng.random((n, 2)) < 0.2] = np.nan
    x[0] = (1.0, 2.0)
    levels = [["p", "q", "r", None][i] for i in rng.integers(0, 4, n)]
    return {"a": x[:, 0], "b": x[:, 1], "c": ["p", "q", *levels[2:]], "y": np.round(rng.normal(size=n), 3)}


@given(mixed_tables(), cuts(), limits(), st.sampled_from(("fractional", "majority", "surrogates")), st.booleans())
@settings(max_examples=60)
def test_the_tree_does_not_depend_on_threads_order_or_partitions(
    table: dict[str, Any], places: list[float], limit: Any, missing: str, weighted: bool
) -> None:
    recipe = tw.CART.with_(leaves=Linear(min_rows_per_term=2), missing=missing, max_depth=3, pruning=None)
    rows, schema = training_table(table, "y")
    if weighted:
        rows = replace(rows, weight=np.random.default_rng(0).uniform(0.1, 5, rows.n_rows))
    whole = to_json(grow_and_prune(rows, schema, recipe, 1))
    assert to_json(grow_and_prune(rows, schema, recipe, 2)) == whole
    assert (
        to_json(grow_and_prune(take(rows, np.random.default_rng(1).permutation(rows.n_rows)), schema, recipe)) == whole
    )
    assert to_json(grow_and_prune(cut_up(rows, places, limit), schema, recipe)) == whole


def test_many_rows_of_one_node_are_shared_by_threads() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(50_000, 4))
    y = x @ [1.0, 2.0, 3.0, 4.0] + rng.normal(size=len(x))
    trees = [to_json(tw.learn(matrix_table(x, y), "y", SMALL, n_threads=n)) for n in (1, 2, 5)]
    assert trees[0] == trees[1] == trees[2]
    order = rng.permutation(len(x))
    assert to_json(tw.learn(matrix_table(x[order], y[order]), "y", SMALL)) == trees[0]


# --- a value like any other -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table() -> dict[str, Any]:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(300, 2))
    y = np.where(x[:, 0] > 0, 2 * x[:, 1], -x[:, 1]) + 0.1 * rng.normal(size=300)
    return matrix_table(x, y) | {"kind": [["p", "q", "r"][i % 3] for i in range(300)]}


@pytest.fixture(scope="module")
def tree(table: dict[str, Any]) -> tw.Tree:
    return tw.learn(table, "y", SMALL)


def test_a_saved_tree_has_its_models(tree: tw.Tree, table: dict[str, Any]) -> None:
    again = from_json(to_json(tree))
    assert again == tree
    assert again.models == tree.models
    assert (tw.predict(again, table) == tw.predict(tree, table)).all()
    assert replace(tree, models=()) != tree


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda models: models[:-1], "one model per node"),
        (lambda models: [{**models[0], "low": 1}, *models[1:]], r"\$\.models\[0\]\.low must not be above high"),
        (lambda models: [{"intercept": 1, "terms": [], "low": 0}, *models[1:]], "both low and high"),
        (lambda models: [{**models[0], "intercept": "1"}, *models[1:]], "intercept must be a number"),
        (
            lambda models: [{**models[0], "terms": [{"column": 9, "coefficient": 1, "fill": 0}]}, *models[1:]],
            r"terms\[0\]\.column must be 0 to 2",
        ),
        (
            lambda models: [{**models[0], "terms": [{"column": 2, "coefficient": 1, "fill": 0}]}, *models[1:]],
            "levels must rise",
        ),
    ],
)
def test_a_damaged_model_is_refused(tree: tw.Tree, wrong: Any, message: str) -> None:
    written = tree.as_dict()
    written["models"] = (
        [{**model, "high": 0.5} for model in written["models"]] if "low must" in message else written["models"]
    )
    with pytest.raises(FileError, match=message):
        tw.Tree.from_dict(written | {"models": wrong(written["models"])})


def test_text_rules_and_explanations_show_the_model(tree: tw.Tree, table: dict[str, Any]) -> None:
    leaf = next(node for node in tree.walk() if node.is_leaf and node.model.terms)
    assert " * x1" in str(tree)
    assert "within " in str(tree)
    assert any(" * x1" in str(rule) for rule in tw.rules(tree))
    row = {name: values[0] for name, values in table.items() if name != "y"}
    explained = tw.explain_row(tree, row)
    assert explained.prediction == tw.predict(tree, {name: [value] for name, value in row.items()})[0]
    assert "by its linear model" in explained.text()
    assert "By its linear model" in explained.html()
    derived = tw.explain_node(tree, leaf.id).text()
    assert "Linear model" in derived
    assert f"Node {leaf.id} predicts by its linear model" in derived
    at_means = leaf.model.intercept + sum(term.coefficient * term.fill for term in leaf.model.terms)
    assert at_means == pytest.approx(leaf.mean)  # least squares go through the means


def test_columns_of_models_alone_count_where_columns_of_splits_do() -> None:
    """Of a sparse matrix only the columns in use are read, and permutation shuffles them alone."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(200, 3))
    y = np.where(x[:, 0] > 0, 5.0, 0.0) + 2 * x[:, 2]
    recipe = tw.CART.with_(leaves=Linear(), max_depth=1, pruning=None)
    tree = tw.learn(matrix_table(x, y), "y", recipe)
    assert {node.split.column for node in tree if node.split} == {"x0"}
    shuffled = tw.importance(tree, matrix_table(x, y), kind="permutation")
    assert dict(zip(shuffled.columns, shuffled.values, strict=True))["x2"] > 0
    model = tw.ModelTreeRegressor(max_depth=1).fit(x, y)
    assert (model.predict(sparse.csr_array(x)) == model.predict(x)).all()


def test_diagrams_show_the_model_of_a_leaf(tree: tw.Tree) -> None:
    leaf = next(node for node in tree.walk() if node.is_leaf and node.model.terms)
    start = f"{leaf.model.intercept:.4g}"
    assert f'n{leaf.id} [label="{start}' in tw.export.dot(tree)
    assert " * x1" in tw.export.dot(tree)
    assert " #42; x1" in tw.export.mermaid(tree)


def test_pruning_by_hand_keeps_the_models_of_the_new_leaves(tree: tw.Tree, table: dict[str, Any]) -> None:
    smaller = tw.prune(tree, tw.pruning.MaxDepth(1))
    assert smaller.models == tuple(
        model for model, node in zip(tree.models, tree.walk(), strict=True) if node.depth < 2
    )
    shallow = tw.learn(table, "y", SMALL.with_(max_depth=1))
    np.testing.assert_allclose(tw.predict(smaller, table), tw.predict(shallow, table), atol=1e-9)


REFUSALS = {
    "sklearn": lambda tree, _: tw.export.sklearn(tree),
    "shap": tw.shap_values,
    "counterfactuals": lambda tree, table: tw.counterfactuals(
        tree, {name: v[0] for name, v in table.items() if name != "y"}
    ),
    "soften": tw.soften,
    "stability": tw.stability,
    "pruning_path": lambda tree, _: tw.pruning_path(tree),
    "prune": lambda tree, _: tw.prune(tree, tw.pruning.CostComplexity(0.1)),
    "edit": lambda tree, table: tw.edit.apply(tree, tw.edit.Collapse(1), table),
    "boundary": lambda tree, _: tw.render.boundary(tree, "x0", "x1"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_would_ignore_the_models_is_refused(name: str, tree: tw.Tree, table: dict[str, Any]) -> None:
    with pytest.raises((DataError, ExportError), match="linear models"):
        REFUSALS[name](tree, table)


def test_what_cannot_be_learned_is_refused() -> None:
    with pytest.raises(DataError, match="predict numbers, but the target 'y' has classes"):
        tw.learn({"x": [1, 2, 3, 4], "y": ["a", "b", "a", "b"]}, "y", SMALL)
    numbers = {"x": [1.0, 2.0, 3.0, 4.0], "y": [0.5, 1.0, 2.0, 4.0]}
    with pytest.raises(DataError, match="fitted by least squares"):
        tw.learn(numbers, "y", SMALL.with_(regression="absolute_error"))
    with pytest.raises(DataError, match="Pieces come with the splits"):
        tw.learn(numbers, "y", "pilot", honest=True)


def test_a_dask_table_gives_the_same_tree(table: dict[str, Any]) -> None:
    distributed = pytest.importorskip("distributed")
    dask_frame = pytest.importorskip("dask.dataframe")
    frame = pytest.importorskip("pandas").DataFrame(table)
    with distributed.Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None):
        parts = dask_frame.from_pandas(frame, npartitions=3)
        for recipe in (SMALL, tw.M5):
            whole, tree = tw.learn(frame, "y", recipe), tw.learn(parts, "y", recipe)
            assert to_json(tree) == to_json(whole)
            assert (np.asarray(tw.predict(tree, parts).compute()) == tw.predict(whole, frame)).all()
