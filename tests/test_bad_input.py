"""What users get wrong: each error message names the column or field and the remedy.

A refused call leaves nothing half-done, so the input is what it was before, and the next call works.
"""

from __future__ import annotations

import copy
import dataclasses
import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from table_makers import MAKERS
from unpruned import CART

import treewright as tw

Table = dict[str, list[Any]]

GOOD: Table = {"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", "blue"], "y": ["no", "no", "yes", "yes"]}
RECIPES = {
    recipe.name: recipe
    for recipe in (tw.ID3, tw.C45, tw.J48, tw.CART, tw.RPART, tw.SKLEARN, tw.CHAID, tw.EXHAUSTIVE_CHAID)
}
each_recipe = pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES.keys())


def refused(action: Callable[[], Any], *words: str, error: type[Exception] = tw.DataError) -> None:
    """The action fails with this error, whose message has all of these words."""
    with pytest.raises(error) as caught:
        action()
    message = str(caught.value)
    assert [word for word in words if word not in message] == [], message


def refused_table(data: Table, *words: str, target: Any = "y", **options: Any) -> None:
    """The table is refused in these words, and it is unchanged."""
    before = copy.deepcopy(data)
    refused(lambda: tw.learn(data, target, **options), *words)
    assert repr(data) == repr(before)  # by text, because NaN does not equal itself


def with_column(**columns: list[Any]) -> Table:
    return {**GOOD, **columns}


# --- too little -------------------------------------------------------------------------------------------------------

EMPTY: dict[str, Any] = {
    "dict": {"a": [], "y": []},
    "pandas": pd.DataFrame({"a": [1.0], "y": ["u"]}).iloc[:0],
    "polars": pl.DataFrame({"a": [1.0], "y": ["u"]}).head(0),
    "pyarrow": pa.table({"a": [1.0], "y": ["u"]}).slice(0, 0),
    "duckdb": duckdb.sql("SELECT 1.0 AS a, 'u' AS y LIMIT 0"),
    "numpy": np.empty((0, 2)),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_no_rows(kind: str) -> None:
    refused(lambda: tw.learn(EMPTY[kind], [] if kind == "numpy" else "y"), "The table is empty: it has no rows")


@pytest.mark.parametrize("data", [{}, pd.DataFrame(), pl.DataFrame()], ids=["dict", "pandas", "polars"])
def test_no_columns(data: Any) -> None:
    refused(lambda: tw.learn(data, "y"), "The table has no columns")


def test_no_columns_besides_the_target() -> None:
    refused_table({"y": ["u", "v"]}, "no columns besides the target 'y'", "nothing to learn from")


@each_recipe
def test_one_row(recipe: tw.Recipe) -> None:
    refused_table({"a": ["red"], "y": ["u"]}, "1 sample", "a minimum of 2 is required", recipe=recipe)


@each_recipe
def test_one_class_is_a_single_leaf(recipe: tw.Recipe) -> None:
    tree = tw.learn({"a": ["red", "blue", "red"], "y": ["u", "u", "u"]}, "y", recipe)
    assert (tree.n_nodes, tree.root.stop, tree.root.prediction) == (1, "pure", "u")
    assert tw.predict(tree, {"a": ["green", "blue"]}).tolist() == ["u", "u"]


@each_recipe
def test_constant_columns_are_a_single_leaf(recipe: tw.Recipe) -> None:
    table = {"a": ["red"] * 200, "flag": [True] * 200, "y": ["u", "v"] * 100}
    tree = tw.learn(table, "y", recipe)
    assert (tree.n_nodes, tree.root.counts) == (1, (100.0, 100.0))


@each_recipe
def test_a_constant_column_is_never_chosen(recipe: tw.Recipe) -> None:
    table = {"same": ["red"] * 200, "told": ["a", "b"] * 100, "y": ["u", "v"] * 100}
    tree = tw.learn(table, "y", recipe)
    assert {node.split.column for node in tree.walk() if node.split} == {"told"}
    assert all(rival.column == "told" for node in tree.walk() for rival in node.rivals)


def test_constant_numbers_and_a_constant_numeric_target() -> None:
    assert tw.learn({"a": [1.0] * 4, "y": [1.0, 2.0, 3.0, 5.0]}, "y").n_nodes == 1
    tree = tw.learn({"a": [1.0, 2.0, 3.0, 4.0], "y": [7.5] * 4}, "y")
    assert (tree.n_nodes, tree.root.prediction, tree.root.stop) == (1, 7.5, "pure")


NOTHING: dict[str, list[Any]] = {"none": [None] * 4, "nan": [float("nan")] * 4, "mixed": [None, float("nan")] * 2}


@pytest.mark.parametrize("kind", NOTHING)
def test_a_column_without_values(kind: str) -> None:
    table = with_column(size=NOTHING[kind])
    with pytest.warns(UserWarning, match="column 'size' is left out: no values"):
        assert "size" not in tw.learn(table, "y").schema.names
    refused_table(table, "column 'size' has no values", "all missing", "drop it", kinds={"size": "numeric"})


# --- values that cannot be --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_infinity(value: float) -> None:
    words = ("infinity", "Column 'size'", f"{value} in row 2", "replace it by a missing value or by a finite number")
    refused_table(with_column(size=[1.0, 2.0, value, 3.0]), *words)
    tree = tw.learn(GOOD, "y")
    refused(lambda: tw.predict(tree, {"size": [1.0, 1.0, value], "colour": ["red"] * 3}), *words)


def test_infinity_in_the_target_and_in_a_level() -> None:
    refused_table(with_column(y=[1.0, 2.0, 3.0, float("inf")]), "infinity", "Target 'y'", "inf in row 3")
    refused_table(with_column(size=[1.0, 2.0, float("inf"), 3.0]), "'size'", "inf", kinds={"size": "nominal"})


@pytest.mark.parametrize("labels", [["u", None, "v", "v"], [1.0, float("nan"), 2.0, 3.0]], ids=["classes", "numbers"])
def test_missing_targets(labels: list[Any]) -> None:
    refused_table(with_column(y=labels), "target 'y' is missing in 1 of 4 rows", "drop those rows first")


def test_a_target_with_one_value_per_row() -> None:
    table = {"a": list(range(30)), "customer": [f"C{i:03}" for i in range(30)]}
    words = ("every row has its own class", "'customer'", "30 classes in 30 rows", "'C000'", "choose another target")
    refused_table(table, *words, target="customer")


def test_few_rows_may_each_have_a_class() -> None:
    assert tw.learn({"a": [1, 2, 3], "y": ["u", "v", "w"]}, "y", CART).n_leaves == 3


@pytest.mark.parametrize("moments", [[dt.date(2020, 1, d) for d in (1, 2, 3, 4)], [dt.timedelta(d) for d in range(4)]])
def test_moments_as_target(moments: list[Any]) -> None:
    words = ("'y' holds moments or durations", "turn it into a number", "task='classification'")
    refused_table(with_column(y=moments), *words)


@pytest.mark.parametrize("make", ["plain_dict", "pandas_frame", "polars_frame", "arrow_table", "objects_dict"])
def test_integers_that_no_float_holds(make: str) -> None:
    table = MAKERS[make](with_column(size=[2**53 + 1, 2**53 + 2, 3, 4]))
    words = ("column 'size'", "9007199254740993 in row 0", "beyond 2**53", "kinds={'size': 'nominal'}", "or scale it")
    refused(lambda: tw.learn(table, "y"), *words)
    assert tw.learn(table, "y", kinds={"size": "nominal"}).schema.columns[0].levels == (3, 4, 2**53 + 1, 2**53 + 2)


def test_too_many_levels() -> None:
    table = {"customer": [f"C{i}" for i in range(100_000)], "y": ["u", "v"] * 50_000}
    words = ("column 'customer' has 100000 levels", "'C0'", "at most 65535", "Drop it, group its rare levels")
    refused_table(table, *words, kinds={"customer": "nominal"})
    refused_table(table, "no column is left to learn from", "'customer': text, more than 65,535 different")


@pytest.mark.parametrize("value", [[1], {"a": 1}, b"x", (1, 2)], ids=["list", "dict", "bytes", "tuple"])
def test_things_no_tree_can_ask_about(value: Any) -> None:
    words = ("column 'size'", type(value).__name__, "a tree cannot split on", "drop it, or turn it into numbers")
    refused_table(with_column(size=[value] * 4), *words)


# --- tables that are none ---------------------------------------------------------------------------------------------

NO_TABLES: dict[str, Any] = {
    "None": None,
    "int": 3,
    "bytes": b"a,b",
    "set": {1, 2},
    "object": object(),
    "function": len,
}


@pytest.mark.parametrize("name", NO_TABLES)
def test_not_a_table(name: str) -> None:
    data, tree = NO_TABLES[name], tw.learn(GOOD, "y")
    words = ("expected a pandas, polars or pyarrow table", "a dict of columns", f"got {type(data).__name__}")
    refused(lambda: tw.learn(data, "y"), *words)
    refused(lambda: tw.predict(tree, data), *words)


def test_text_is_the_name_of_a_file() -> None:
    refused(lambda: tw.learn("no_such_table.csv", "y"), "there is no file 'no_such_table.csv'", "check the name")
    refused(lambda: tw.predict(tw.learn(GOOD, "y"), "no_such_table.csv"), "there is no file 'no_such_table.csv'")


@pytest.mark.parametrize("data", [pd.Series([1, 2]), np.arange(3.0), [1, 2, 3]], ids=["series", "array", "list"])
def test_one_dimension(data: Any) -> None:
    refused(lambda: tw.learn(data, ["u", "v", "v"][: len(data)]), "Expected 2D array, got 1D array", "reshape")


def test_columns_of_different_length() -> None:
    refused_table({**GOOD, "y": ["u", "v"]}, "columns differ in length", "'size' has 4 rows", "'y' has 2")
    refused(lambda: tw.learn([[1, 2], [3]], ["u", "v"]), "rows differ in length")


def test_a_column_that_is_a_single_value() -> None:
    refused_table({**GOOD, "size": "abcd"}, "column 'size' is a single str", "give a list")


def test_column_names_that_occur_twice() -> None:
    words = ("column names must be unique", "'a'", "rename it or drop one")
    frame = pd.DataFrame([[1, 2, "u"], [3, 4, "v"]], columns=["a", "a", "y"])
    refused(lambda: tw.learn(frame, "y"), *words)
    assert frame.columns.tolist() == ["a", "a", "y"]
    arrow = pa.Table.from_arrays([pa.array([1, 2]), pa.array([1, 2]), pa.array(["u", "v"])], names=["a", "a", "y"])
    refused(lambda: tw.learn(arrow, "y"), *words)


def test_column_names_that_are_no_text() -> None:
    words = ("column names must be strings", "1 (int)")
    refused(lambda: tw.learn(pd.DataFrame({1: [1, 2], "y": ["u", "v"]}), "y"), *words, "df.columns.astype(str)")
    refused(lambda: tw.learn({1: [1, 2], "y": ["u", "v"]}, "y"), *words, "{str(name): values}")


# --- target and weights -----------------------------------------------------------------------------------------------


def test_a_target_that_is_not_there() -> None:
    refused_table(GOOD, "target 'Y' is not a column", "'size', 'colour', 'y'", target="Y")
    refused_table(GOOD, "target 'colours' is not a column", "did you mean 'colour'?", target="colours")
    refused_table(GOOD, "'target' should be a 1d array", "NoneType", target=None)


@pytest.mark.parametrize("size", [3, 5])
def test_a_target_of_another_length(size: int) -> None:
    labels = ["u", "v", "u", "v", "u"][:size]
    refused_table(GOOD, "the table has 4 rows", f"the target 'target' has {size}", target=labels)


def test_a_target_that_is_also_a_column() -> None:
    frame = pd.DataFrame(GOOD)
    words = ("target 'y' is also a column", "the prediction would be trivial", "drop it from the table")
    refused(lambda: tw.learn(frame, frame["y"]), *words)


BAD_WEIGHTS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "short": ([1, 2, 3], ("the table has 4 rows", "the weight 'weight' has 3")),
    "long": ([1] * 5, ("the table has 4 rows", "the weight 'weight' has 5")),
    "negative": ([1, -2, 1, 1], ("Negative values", "'weight' is -2 in row 1", "weights start at zero")),
    "zero": ([0, 0, 0, 0], ("'weight' is zero in every row", "at least one weight must not be zero")),
    "missing": ([1, None, 1, 1], ("'weight' is missing in 1 rows",)),
    "infinite": ([1, float("inf"), 1, 1], ("infinity", "Weight 'weight' has inf in row 1")),
    "text": (["a", "b", "c", "d"], ("'weight' must hold numbers", "'a' in row 0")),
    "single": (3, ("'weight' should be a 1d array", "got int")),
    "square": (np.ones((4, 1)), ("'weight' should be a 1d array", "(4, 1)", "ravel")),
    "absent": ("heaviness", ("the weight 'heaviness' is not a column of the table",)),
}


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_weights(name: str) -> None:
    weight, words = BAD_WEIGHTS[name]
    refused_table(GOOD, *words, weight=weight)


def test_a_column_of_weights_is_named() -> None:
    refused_table(with_column(heft=[1, 2, -1, 1]), "the weight 'heft' is -1 in row 2", weight="heft")


# --- what a recipe cannot learn from ----------------------------------------------------------------------------------


def test_numbers_for_id3() -> None:
    words = ("'ID3' splits on levels only", "'size' is numeric", "use C45 or CART", "numeric=Binned(10)", "kinds=")
    refused_table(GOOD, *words, recipe=tw.ID3)
    assert tw.learn(GOOD, "y", tw.ID3, kinds={"size": "nominal"}).n_leaves == 4
    assert tw.learn(GOOD, "y", replace(tw.ID3, numeric=tw.numeric.Binned(2))).n_leaves == 2


@pytest.mark.parametrize("name", ["ID3", "C45", "J48"])
def test_a_numeric_target_for_a_classifier(name: str) -> None:
    words = (f"{name!r} has no criterion for regression", "'size' is numeric", "use CART or CHAID", "classification")
    refused_table(GOOD, *words, target="size", recipe=RECIPES[name])


def test_missing_values_that_are_refused() -> None:
    table = with_column(size=[1.0, None, 3.0, None])
    words = ("column 'size' is missing in 2 of 4 rows", "refuses missing values", "fill them in")
    recipe = replace(tw.CART, missing=tw.missing.RefuseMissing())
    refused_table(table, *words, "choose missing=Fractional()", recipe=recipe)
    tree = tw.learn(GOOD, "y", recipe)
    assert tree.root.split.column == "size"
    refused(lambda: tw.predict(tree, table), *words, "learn with another missing policy")
    # A column that the tree never asks about may be missing.
    assert tw.predict(tree, with_column(colour=[None] * 4)).tolist() == GOOD["y"]


def test_negative_targets_for_poisson() -> None:
    recipe = replace(tw.CART, regression=tw.criterion.Poisson())
    words = ("target 'y' must not be negative, nor all zero", "use Variance()")
    refused_table(with_column(y=[1.0, -2.0, 3.0, 4.0]), *words, recipe=recipe)
    refused_table(with_column(y=[0, 0, 0, 0]), *words, recipe=recipe, task="regression")


BAD_OPTIONS: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "kind": ({"kinds": {"size": "number"}}, ("kinds['size'] is 'number'", "choose from 'numeric', 'nominal'")),
    "column": ({"kinds": {"sise": "numeric"}}, ("kinds names 'sise'", "the table has only 'size', 'colour', 'y'")),
    "text": ({"kinds": {"colour": "numeric"}}, ("column 'colour' cannot be numeric", "'red' in row 0", "convert")),
    "levels": (
        {"kinds": {"colour": ["red"]}},
        ("column 'colour' has 'blue' in row 1", "kinds['colour'] does not list"),
    ),
    "twice": ({"kinds": {"colour": ["red", "blue", "red"]}}, ("kinds['colour'] lists a level twice",)),
    "type": ({"kinds": {"colour": 3}}, ("kinds['colour'] must be the name of a kind or a list of levels",)),
    "task": ({"task": "clustering"}, ("task must be 'classification' or 'regression'", "'clustering'")),
    "regression": ({"task": "regression"}, ("target 'y' cannot be a number", "'no' in row 0", "classification")),
}


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_options(name: str) -> None:
    options, words = BAD_OPTIONS[name]
    refused_table(GOOD, *words, **options)


# --- prediction -------------------------------------------------------------------------------------------------------

CHANGED: dict[str, tuple[Table, tuple[str, ...]]] = {
    "number to text": ({"size": ["big"], "colour": ["red"]}, ("'size' was numeric", "is nominal now", "'big'")),
    "number to date": (
        {"size": [dt.date(2020, 1, 1)], "colour": ["red"]},
        ("'size' was numeric", "is date now", "2020-01-01"),
    ),
    "text to number": (
        {"size": [1.0], "colour": [3]},
        ("'colour' was nominal (for example 'blue')", "numeric now", "3"),
    ),
    "text to truth": ({"size": [1.0], "colour": [True]}, ("'colour' was nominal", "is boolean now", "True")),
}


@pytest.mark.parametrize("name", CHANGED)
def test_columns_that_change_kind(name: str) -> None:
    tree, (rows, words) = tw.learn(GOOD, "y"), CHANGED[name]
    for question in (tw.predict, tw.predict_proba, tw.apply):
        refused(lambda ask=question: ask(tree, rows), *words, "give it as it was")


def test_columns_that_are_not_there() -> None:
    tree = tw.learn(GOOD, "y")
    refused(lambda: tw.predict(tree, {"size": [1.0]}), "lacks the column 'colour'", "it has 'size'")
    refused(lambda: tw.predict(tree, {"other": [1.0]}), "lacks the columns 'size', 'colour'", "it has 'other'")
    refused(lambda: tw.predict(tree, np.ones((2, 3))), "X has 3 features", "expecting 2 features")


def test_unseen_levels_as_errors() -> None:
    table = {"colour": ["red", "blue"] * 2, "y": ["u", "v"] * 2}
    words = ("column 'colour' has the level 'green'", "known are 'blue', 'red'", "correct it", "unseen='missing'")
    refused(lambda: tw.predict(tw.learn(table, "y", replace(tw.CART, unseen="error")), {"colour": ["green"]}), *words)
    # Of two children of equal size "majority" takes the first; missing values end at the node itself.
    for unseen, answer in (("missing", "u"), ("majority", "v")):
        tree = tw.learn(table, "y", replace(tw.CART, unseen=unseen))
        assert tw.predict(tree, {"colour": ["green"]}).tolist() == [answer]


@pytest.mark.parametrize("n_threads", [1.5, "2", None, 2**40, -(2**40)])
def test_numbers_of_threads(n_threads: Any) -> None:
    tree = tw.learn(GOOD, "y", tw.CART)
    calls = (tw.predict, tw.predict_proba, tw.apply, tw.shap_values)
    for call in calls:
        with pytest.raises(tw.DataError, match="n_threads must be a whole number"):
            call(tree, GOOD, n_threads=n_threads)
    with pytest.raises(tw.DataError, match="n_threads must be a whole number"):
        tw.learn(GOOD, "y", n_threads=n_threads)


@pytest.mark.parametrize("limit", ["2 GX", "much", -1, 0, True, float("nan"), "2GB, please"])
def test_memory_limits_of_tables_in_memory(limit: Any) -> None:
    with pytest.raises(tw.DataError, match="memory_limit="):
        tw.learn(GOOD, "y", memory_limit=limit)
    assert tw.learn(GOOD, "y", memory_limit="2GB") == tw.learn(GOOD, "y")


def test_probabilities_of_a_number() -> None:
    tree = tw.learn(GOOD, "size")
    refused(lambda: tw.predict_proba(tree, GOOD), "'size' is a number and has no classes", "use predict")


# --- recipes ----------------------------------------------------------------------------------------------------------


def test_fields_that_do_not_exist() -> None:
    refused(lambda: tw.Recipe(colour=3), "'colour'", error=TypeError)
    refused(lambda: replace(tw.CART, max_depth=3), "'max_depth'", error=TypeError)
    refused(lambda: tw.stopping.Stopping(maxdepth=3), "'maxdepth'", error=TypeError)
    written = {**tw.CART.as_dict(), "colour": 3}
    refused(lambda: tw.Recipe.from_dict(written), "unknown recipe field 'colour'", error=tw.RecipeError)


BAD_FIELDS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "branching": ("ternary", ("'ternary' is not known", "'each_value', 'binary'")),
    "criterion": ("ginny", ("'ginny' is not known", "'gini'")),
    "regression": ("mse", ("'mse' is not known", "'squared_error'")),
    "missing": ("drop", ("'drop' is not known", "'fractional', 'surrogate'")),
    "unseen": ("ignore", ("must be one of 'missing', 'majority', 'error'", "not 'ignore'")),
    "numeric": (7, ("must be one of Threshold, Binned, CategoricalOnly", "not 7")),
    "stopping": ({"max_depth": 3}, ("Stopping", "not {'max_depth': 3}")),
    "pruning": (0.01, ("must be one of CostComplexity, CostComplexityCV", "or None", "not 0.01")),
    "simplify": (0.01, ("must be one of Collapse, Complexity or None", "not 0.01")),
    "leaves": ("laplace", ("'laplace' is not known", "'constant', 'linear'")),
    "tie_tolerance": (-1, ("must be a number from 0 to 1, not -1",)),
    "drop_blank_rows": (1, ("must be True or False, not 1",)),
    "rivals": (-1, ("must be a whole number of at least 0, not -1",)),
    "seed": (1.5, ("must be a whole number of at least 0, not 1.5",)),
    "name": (3, ("must be a string, not 3",)),
}


def test_every_field_is_tried() -> None:
    assert {field.name for field in dataclasses.fields(tw.Recipe)} == set(BAD_FIELDS)


@pytest.mark.parametrize("field", BAD_FIELDS)
def test_recipe_fields(field: str) -> None:
    value, words = BAD_FIELDS[field]
    refused(lambda: tw.Recipe(**{field: value}), f"Recipe.{field}", *words, error=tw.RecipeError)
    refused(lambda: replace(tw.CART, **{field: value}), f"Recipe.{field}", *words, error=tw.RecipeError)


def test_a_class_instead_of_a_choice() -> None:
    refused(lambda: replace(tw.CART, criterion=tw.criterion.Gini), "Recipe.criterion", "Gini", error=tw.RecipeError)


def test_not_a_recipe() -> None:
    refused(lambda: tw.learn(GOOD, "y", "CARTS"), "recipe='CARTS' is not known", "'c45'", error=tw.RecipeError)


BAD_SETTINGS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "max_depth": (lambda: tw.stopping.Stopping(max_depth=-1), ("Stopping.max_depth", "at least 0, not -1")),
    "max_depth text": (lambda: tw.stopping.Stopping(max_depth="3"), ("Stopping.max_depth", "whole number", "not '3'")),
    "min_samples_split": (
        lambda: tw.stopping.Stopping(min_samples_split=1),
        ("Stopping.min_samples_split", "at least 2"),
    ),
    "min_samples_leaf": (lambda: tw.stopping.Stopping(min_samples_leaf=0), ("Stopping.min_samples_leaf", "at least 1")),
    "min_weight_leaf": (
        lambda: tw.stopping.Stopping(min_weight_leaf=float("nan")),
        ("Stopping.min_weight_leaf", "not nan"),
    ),
    "max_leaf_nodes": (lambda: tw.stopping.Stopping(max_leaf_nodes=1), ("Stopping.max_leaf_nodes", "at least 2")),
    "max_features": (lambda: tw.stopping.Stopping(max_features=0), ("Stopping.max_features", "at least 1")),
    "significance": (lambda: tw.stopping.Stopping(significance=2), ("Stopping.significance", "from 0 to 1")),
    "zero_gain": (lambda: tw.stopping.Stopping(zero_gain=1), ("Stopping.zero_gain", "True or False")),
    "enumerate_up_to": (lambda: tw.branching.Binary(enumerate_up_to=25), ("Binary.enumerate_up_to", "use at most 20")),
    "alpha": (lambda: tw.branching.Merge(alpha_merge=5), ("Merge.alpha_merge", "from 0 to 1, not 5")),
    "multiplier": (lambda: tw.branching.Merge(multiplier="kass"), ("Merge.multiplier", "'spss', 'biggs'")),
    "resplit": (lambda: tw.branching.Merge(exhaustive=True, alpha_resplit=0.04), ("Merge.alpha_resplit", "use None")),
    "at": (lambda: tw.numeric.Threshold(at="middle"), ("Threshold.at", "'midpoint', 'observed'")),
    "observed": (
        lambda: tw.numeric.Threshold(at="observed", test="<"),
        ("Threshold.at='observed'", "test must be '<='"),
    ),
    "groups": (lambda: tw.numeric.Binned(1), ("Binned.groups", "at least 2")),
    "cp": (lambda: tw.stopping.Complexity(7), ("Complexity.cp", "from -1 to 1")),
    "smoothing": (lambda: tw.stopping.Leaves(smoothing="add"), ("Constant.smoothing", "'laplace'")),
    "then": (lambda: tw.missing.Surrogates(then="give up"), ("Surrogates.then", "'majority', 'stop'")),
    "function": (lambda: tw.criterion.Custom(3), ("Custom.function must be callable",)),
    "custom task": (lambda: tw.criterion.Custom(len, "ranking"), ("Custom.task", "'classification', 'regression'")),
}


@pytest.mark.parametrize("name", BAD_SETTINGS)
def test_settings(name: str) -> None:
    make, words = BAD_SETTINGS[name]
    refused(make, *words, error=tw.RecipeError)


IMPOSSIBLE: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "variance for classes": (
        {"criterion": tw.criterion.Variance()},
        ("Recipe.criterion must be one of", "not Variance()"),
    ),
    "gini for numbers": ({"regression": "gini"}, ("Recipe.regression must be one of", "not Gini()")),
    "a function for the other task": (
        {"criterion": tw.criterion.Custom(max, "regression")},
        ("Recipe.criterion must be a criterion for classification", "set it on Recipe.regression"),
    ),
    "a function for the other task, too": (
        {"regression": tw.criterion.Custom(max)},
        ("Recipe.regression must be a criterion for regression", "set it on Recipe.criterion"),
    ),
    "nothing to learn": ({"criterion": None, "regression": None}, ("cannot both be None", "nothing to learn")),
    "twoing with many children": (
        {"criterion": tw.criterion.Twoing(), "branching": tw.branching.EachValue()},
        ("Twoing compares two children", "branching=Binary()"),
    ),
    "twoing with groups of numbers": (
        {"criterion": tw.criterion.Twoing(), "numeric": tw.numeric.Binned(10)},
        ("Twoing compares two children", "numeric=Threshold()"),
    ),
    "twoing with a third child": (
        {
            "criterion": tw.criterion.Twoing(),
            "branching": tw.branching.OneVsRest(),
            "missing": tw.missing.OwnCategory(),
        },
        ("Recipe.missing=OwnCategory", "third child", "branching=Binary()"),
    ),
    "merging by gini": (
        {"branching": tw.branching.Merge(), "numeric": tw.numeric.Binned(10)},
        ("Recipe.branching=Merge", "criterion=ChiSquare() and regression=FTest()"),
    ),
    "merging thresholds": (
        {"branching": tw.branching.Merge(), "criterion": tw.criterion.ChiSquare(), "regression": tw.criterion.FTest()},
        ("Recipe.branching=Merge", "numeric=Binned(10)"),
    ),
    "merging with a direction": (
        {
            "branching": tw.branching.Merge(),
            "criterion": tw.criterion.ChiSquare(),
            "regression": tw.criterion.FTest(),
            "numeric": tw.numeric.Binned(10),
            "missing": tw.missing.LearnedDirection(),
        },
        ("Recipe.missing=LearnedDirection", "OwnCategory()"),
    ),
    "groups by gini": (
        {"branching": tw.branching.Grouped()},
        ("Recipe.branching=Grouped", "gain ratio", "regression=None"),
    ),
    "penalty without bits": (
        {"numeric": tw.numeric.Threshold(mdl_penalty=True)},
        ("Threshold.mdl_penalty", "criterion=GainRatio()", "switch them off"),
    ),
    "a tenth without bits": (
        {"numeric": tw.numeric.Threshold(min_tenth_per_class=True)},
        ("Threshold.min_tenth_per_class", "regression=None"),
    ),
    "collapsing numbers": ({"simplify": tw.stopping.Collapse()}, ("Recipe.simplify=Collapse", "use regression=None")),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_choices_that_do_not_go_together(name: str) -> None:
    choices, words = IMPOSSIBLE[name]
    refused(lambda: tw.Recipe(**choices), *words, error=tw.RecipeError)
    refused(lambda: replace(tw.CART, **choices), *words, error=tw.RecipeError)


# --- a criterion of the user's own ------------------------------------------------------------------------------------


class OwnError(Exception):
    """An error that only the user's function raises."""


def learn_by(score: Callable[[Any, Any], Any], n_threads: int = 2) -> tw.Tree:
    return tw.learn(GOOD, "y", replace(tw.CART, criterion=tw.criterion.Custom(score)), n_threads=n_threads)


@pytest.fixture
def usable_afterwards() -> Any:
    """Whatever happened, the next tree is learned as if nothing had."""
    before = copy.deepcopy(GOOD)
    yield
    assert before == GOOD
    assert tw.learn(GOOD, "y").root.split.threshold == 2.5
    assert learn_by(lambda parent, children: children[:, 0, 0] / parent.sum()).n_leaves > 1


@pytest.mark.usefixtures("usable_afterwards")
@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("error", [OwnError, ZeroDivisionError, KeyboardInterrupt])
def test_a_criterion_that_raises(error: type[BaseException], n_threads: int) -> None:
    def score(parent: Any, children: Any) -> Any:
        raise error("in my own words")

    with pytest.raises(error, match="in my own words"):
        learn_by(score, n_threads)


@pytest.mark.usefixtures("usable_afterwards")
def test_a_criterion_that_raises_late() -> None:
    calls = []

    def score(parent: Any, children: Any) -> Any:
        calls.append(len(children))
        if parent.sum() < 4:
            raise OwnError("below the root")
        return np.ones(len(children))

    with pytest.raises(OwnError, match="below the root"):
        learn_by(score)
    assert len(calls) > 2


WRONG_SHAPES: dict[str, Callable[[int], Any]] = {
    "one number": lambda _: 1.0,
    "too few": lambda candidates: np.ones(candidates - 1),
    "too many": lambda candidates: np.ones(candidates + 1),
    "nothing": lambda _: None,
    "a table": lambda candidates: np.ones((candidates, 2)),
}


def always(make: Callable[[int], Any]) -> Callable[[Any, Any], Any]:
    """A criterion that looks at nothing but the number of candidates."""
    return lambda _, children: make(len(children))


@pytest.mark.usefixtures("usable_afterwards")
@pytest.mark.parametrize("name", WRONG_SHAPES)
def test_a_criterion_of_the_wrong_shape(name: str) -> None:
    words = ("criterion function must return one score per candidate", "expected")
    refused(lambda: learn_by(always(WRONG_SHAPES[name])), *words, error=ValueError)


@pytest.mark.usefixtures("usable_afterwards")
def test_a_criterion_that_returns_text() -> None:
    refused(lambda: learn_by(always(lambda candidates: ["x"] * candidates)), "'x'", error=ValueError)


@pytest.mark.usefixtures("usable_afterwards")
def test_a_score_that_is_no_number_never_wins() -> None:
    assert learn_by(always(lambda candidates: np.full(candidates, np.nan))).n_nodes == 1
    only_second = learn_by(always(lambda candidates: np.where(np.arange(candidates) == 1, 1.0, np.nan)))
    assert only_second.root.split.threshold == 2.5  # of the three cuts of size; colour has a single candidate


@pytest.mark.usefixtures("usable_afterwards")
@pytest.mark.parametrize("value", [float("inf"), float("-inf")])
def test_an_infinite_score(value: float) -> None:
    refused(lambda: learn_by(always(lambda candidates: np.full(candidates, value))), "criterion", error=ValueError)


@pytest.mark.parametrize("scale", [1e160, 1e-160])
def test_targets_that_cannot_be_squared(scale: float) -> None:
    table = {"x": [1.0, 2.0, 3.0], "y": [scale, 2 * scale, 3 * scale]}
    refused(lambda: tw.learn(table, "y"), "'y'", "scale")


@pytest.mark.parametrize("weight", [1e308, 1e-320])
def test_weights_that_cannot_be_added(weight: float) -> None:
    table = {"x": [1.0, 2.0], "y": ["a", "b"], "w": [weight, weight]}
    refused(lambda: tw.learn(table, "y", weight="w"), "'w'", "scale")


def test_predicting_with_something_else() -> None:
    with pytest.raises(TypeError, match=r"expected a Tree.*fitted estimator"):
        tw.predict("tree", {"x": [1]})
