"""Contributions: exact Shapley values, against the definition summed over every set of columns, and against shap.

The brute force has a routing of its own (test_predict) and shares no code with the core.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from handmade_trees import HOURS, TENNIS, Question, fork, hours, leaf, random_tree, tennis, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from missing_policies import POLICIES, learned, mixed_table
from test_predict import child_of, random_value, without_chance
from test_tree import big

import treewright as tw
from treewright.data.schema import ColumnSpec, Schema
from treewright.errors import DataError, TreewrightError

Row = dict[str, Any]


# --- brute force ------------------------------------------------------------------------------------------------------


def decision(node: Any, row: Row) -> tuple[str, Any]:
    """The column that decides at a node, and a child or "spread" or "stop"."""
    split = node.split
    value = row[split.column]
    child: Any = child_of(split, value)
    if child is not None:
        return split.column, child
    if value is not None and split.spec.levels is not None and split.unseen != "missing":
        return split.column, split.unseen
    for surrogate in node.surrogates:
        child = child_of(surrogate, row[surrogate.column])
        if child is not None:
            return surrogate.column, child
    return split.column, split.missing


def worth(t: tw.Tree, known: frozenset[str], node: Any, row: Row) -> Any:
    """What the tree says when only these columns are known."""
    value = t.arrays["value"][node.id]
    if node.is_leaf:
        return value
    children = [t[child] for child in node.children]
    column, goes = decision(node, row)
    if column not in known:
        weights = [child.weight for child in children]
        parts = [w / sum(weights) for w in weights] if sum(weights) > 0 else [1 / len(weights)] * len(weights)
    elif goes == "stop":
        return value
    else:
        parts = list(node.split.share) if goes == "spread" else [float(i == goes) for i in range(len(children))]
    return sum(part * worth(t, known, child, row) for part, child in zip(parts, children, strict=True) if part > 0)


def shapley(t: tw.Tree, row: Row) -> tuple[Any, Any]:
    """The base, and the average over all sets of what a column adds to the set."""
    names = t.schema.names

    @cache
    def of(known: frozenset[str]) -> Any:
        return worth(t, known, t.root, row)

    n = len(names)
    values = np.zeros((n, t.arrays["value"].shape[1]))
    for i, name in enumerate(names):
        others = [other for other in names if other != name]
        for size in range(n):
            part = math.factorial(size) * math.factorial(n - size - 1) / math.factorial(n)
            for known in itertools.combinations(others, size):
                values[i] += part * (of(frozenset({*known, name})) - of(frozenset(known)))
    return of(frozenset()), values


@pytest.mark.parametrize("seed", range(40))
def test_agrees_with_the_definition(seed: int) -> None:
    rng = random.Random(seed)
    t = without_chance(random_tree(seed, 4))
    rows = [{c.name: random_value(rng, c.levels) for c in t.schema.columns} for _ in range(6)]
    found = tw.shap_values(t, {c.name: [row[c.name] for row in rows] for c in t.schema.columns})
    for row, values in zip(rows, found.values, strict=True):
        base, expected = shapley(t, row)
        np.testing.assert_allclose(found.base, base if found.classes else base[0], atol=1e-12)
        np.testing.assert_allclose(values, expected if found.classes else expected[:, 0], atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(sorted(POLICIES)), st.booleans())
def test_adds_up_to_the_prediction(seed: int, policy: str, regression: bool) -> None:
    t = learned(seed, policy, regression)
    rows = mixed_table(seed + 1, 20, unseen=True)
    found = tw.shap_values(t, rows)
    expected = tw.predict(t, rows) if regression else tw.predict_proba(t, rows)
    np.testing.assert_allclose(found.predictions, expected, atol=1e-9, rtol=1e-9)
    used = {t.schema.columns[i].name for i in t.arrays["column"]}
    for i, name in enumerate(t.schema.names):
        assert name in used or not found.values[:, i].any()


def test_with_costs_and_priors() -> None:
    table = mixed_table(3, 200)
    y = np.random.default_rng(3).choice(["a", "b"], 200)
    t = tw.learn(table, y, tw.CART, costs=[[0, 5], [1, 0]], priors={"a": 0.2, "b": 0.8})
    found = tw.shap_values(t, table)
    np.testing.assert_allclose(found.predictions, tw.predict_proba(t, table), atol=1e-9)


# --- many columns, deep trees -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 60, 301])
def test_a_long_conjunction_is_shared_equally(n: int) -> None:
    """All of n columns must be 1 for the answer 1, each is in half of all rows: by symmetry each gets the same."""
    schema = Schema(tuple(ColumnSpec(f"x{i}", "numeric") for i in range(n)), HOURS.target)
    weight = 1.0
    plan = leaf(weight, 1.0, 0.0, rows=1)
    for i in reversed(range(n)):
        plan = fork(
            Question(i, (0, 1), (0.5,)), leaf(weight, 0.0, 0.0, rows=1), plan, stats=(2 * weight, 0.5, 0.0), rows=1
        )
        weight *= 2
    found = tw.shap_values(tree(plan, schema), np.ones((1, n)))
    np.testing.assert_allclose(found.values, np.full((1, n), (1 - 0.5**n) / n), rtol=1e-11)


def test_a_very_deep_tree() -> None:
    t = tw.Tree(big(100_000, True), TENNIS, tw.C45)
    rows = {"outlook": ["rain", None], "humidity": [1.0, None], "windy": [True, None]}
    found = tw.shap_values(t, rows)
    np.testing.assert_allclose(found.predictions, tw.predict_proba(t, rows), atol=1e-9)


def test_threads_and_layouts_do_not_matter() -> None:
    x = np.random.default_rng(0).normal(size=(1500, 4))
    x[::7, 1] = np.nan
    t = tw.learn(x, (x[:, 0] > 0).astype(int), tw.C45, task="classification")
    one = tw.shap_values(t, x, n_threads=1)
    for other in (np.asfortranarray(x), {f"x{i}": x[:, i] for i in range(4)}, x[:, :].tolist()):
        assert tw.shap_values(t, other, n_threads=3).values.tobytes() == one.values.tobytes()
    np.testing.assert_array_equal(one.values[40:41], tw.shap_values(t, x[40:41]).values)


# --- against shap: slow only because importing it takes seconds ------------------------------------------------------


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("classes", [0, 2, 4])
def test_agrees_with_shap_on_a_tree_of_scikit_learn(classes: int) -> None:
    shap = pytest.importorskip("shap")
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    rng = np.random.default_rng(classes)
    x = rng.normal(size=(1000, 6)).astype(np.float32).astype(np.float64)
    y = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=1000)
    task = "regression" if classes == 0 else "classification"
    labels = y if classes == 0 else np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1]))
    make = DecisionTreeRegressor if classes == 0 else DecisionTreeClassifier
    recipe = replace(tw.SKLEARN, stopping=replace(tw.SKLEARN.stopping, max_depth=5, min_samples_leaf=40))
    ours = tw.learn(x, labels, recipe, task=task)
    # scikit-learn breaks ties by lot; one of its trees is ours.
    several = [make(max_depth=5, min_samples_leaf=40, random_state=seed).fit(x, labels) for seed in range(5)]
    used = [-2 if node.split is None else node.split.column_index for node in ours.walk()]
    theirs = next(one for one in several if one.tree_.feature.tolist() == used)
    explained = shap.TreeExplainer(theirs, feature_perturbation="tree_path_dependent")(x)
    found = tw.shap_values(ours, x).as_shap()
    np.testing.assert_allclose(found.values, explained.values, atol=1e-9)
    np.testing.assert_allclose(found.base_values.ravel(), np.ravel(explained.base_values), atol=1e-9)
    assert found.feature_names == [f"x{i}" for i in range(6)]
    np.testing.assert_array_equal(found.data, x)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_as_shap_with_levels() -> None:
    shap = pytest.importorskip("shap")
    found = tw.shap_values(tennis(), {"outlook": ["rain", None], "humidity": [70, 80.5], "windy": [True, False]})
    explanation = found.as_shap()
    assert isinstance(explanation, shap.Explanation)
    assert explanation.values.shape == (2, 3, 2)
    assert explanation.data.tolist() == [["rain", 70.0, True], [None, 80.5, False]]
    assert list(explanation.output_names) == ["no", "yes"]


def test_as_shap_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(TreewrightError, match="pip install shap"):
        tw.shap_values(hours(), {"outlook": ["rain"], "humidity": [1], "windy": [True]}).as_shap()


# --- as a table -------------------------------------------------------------------------------------------------------


ROWS = {"outlook": ["sunny", "rain"], "humidity": [70, 90], "windy": [True, True]}


def test_text_of_one_row() -> None:
    found = tw.shap_values(tennis(), {name: values[:1] for name, values in ROWS.items()})
    golden = """
contributions to yes: 0.6429 when nothing is known, 1 here
  humidity   +0.4071              │████████████
  windy      -0.1071           ███│
  outlook   +0.05714              │██
"""
    assert f"\n{found}\n" == golden
    assert found.text(label="no").startswith(
        "contributions to no: 0.3571 when nothing is known, 0 here\n  humidity   -0.4"
    )


def test_text_of_many_rows() -> None:
    lines = str(tw.shap_values(tennis(), ROWS)).split("\n")
    assert lines[0] == "mean size of contributions, 2 rows"
    assert len(lines) == 4
    assert str(tw.shap_values(tree(leaf(3, 4)), {n: v[:1] for n, v in ROWS.items()})).endswith("no column contributes")


def test_plain_table() -> None:
    table = tw.shap_values(tennis(), ROWS).as_dict()
    assert list(table) == ["row", "column", "contribution", "class"]
    assert {len(values) for values in table.values()} == {2 * 3 * 2}
    assert table["column"][:4] == ["outlook", "outlook", "humidity", "humidity"]
    assert table["class"][:3] == ["no", "yes", "no"]
    numbers = tw.shap_values(hours(), ROWS)
    assert numbers.values.shape == (2, 3)
    assert list(numbers.as_dict()) == ["row", "column", "contribution"]
    assert numbers.sizes.tolist() == [0, np.abs(numbers.values[:, 1]).mean(), 0]


def test_errors_name_what_is_wrong() -> None:
    with pytest.raises(DataError, match="'maybe' is not a class of 'play'; there are 'no', 'yes'"):
        tw.shap_values(tennis(), ROWS).of("maybe")
    with pytest.raises(DataError, match="'hours' is a number and has no classes"):
        tw.shap_values(hours(), ROWS).of("yes")
    with pytest.raises(DataError, match="humidity"):
        tw.shap_values(hours(), ROWS | {"humidity": [1.0, np.inf]})
    with pytest.raises(DataError, match="lacks the column"):
        tw.shap_values(hours(), {"humidity": [3]})
