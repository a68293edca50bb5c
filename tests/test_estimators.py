"""The scikit-learn classes: scikit-learn's own checks, the same trees as `learn`, and every parameter.

The list of checks that are expected to fail can only shrink: pytest is strict about them (pyproject.toml).
"""

from __future__ import annotations

import dataclasses
import inspect
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import estimator_html_repr
from sklearn.utils.estimator_checks import check_dataframe_column_names_consistency, parametrize_with_checks
from sklearn.utils.validation import check_is_fitted

import treewright as tw
from treewright.training.parameters import DESCRIPTIONS, recipe_with

CLASSIFIERS = [tw.TreeClassifier, tw.ID3Classifier, tw.C45Classifier, tw.CARTClassifier, tw.CHAIDClassifier]
REGRESSORS = [tw.TreeRegressor, tw.CARTRegressor, tw.CHAIDRegressor, tw.ModelTreeRegressor]
ESTIMATORS = CLASSIFIERS + REGRESSORS

RECIPES = {
    tw.TreeClassifier: tw.CART,
    tw.ID3Classifier: dataclasses.replace(tw.ID3, numeric=tw.numeric.Binned(10)),
    tw.C45Classifier: tw.C45,
    tw.CARTClassifier: tw.CART,
    tw.CHAIDClassifier: tw.CHAID,
    tw.TreeRegressor: tw.CART,
    tw.CARTRegressor: tw.CART,
    tw.CHAIDRegressor: tw.CHAID,
    tw.ModelTreeRegressor: tw.M5,
}


# --- scikit-learn's checks --------------------------------------------------------------------------------------------

_COUNTS_ROWS = "M5 counts rows, whatever they weigh: four to split, a fifth on each side, and in its adjusted errors"
_WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
EXPECTED_FAILURES = {
    "ModelTreeRegressor": dict.fromkeys(_WEIGHTS, _COUNTS_ROWS),
    "ModelTreeRegressorOnNumbers": dict.fromkeys(_WEIGHTS, _COUNTS_ROWS),
    "CHAIDClassifier": {
        "check_classifiers_train": "wants 0.83 of 300 rows right, with columns rounded to a few values because CHAID "
        "takes categories; with at least 50 rows per child it gets 0.71 (and 0.84 unrounded: see the checks on numbers)"
    },
}


def expected_failures(estimator: Any) -> dict[str, str]:
    return EXPECTED_FAILURES.get(type(estimator).__name__, {})


@parametrize_with_checks([estimator() for estimator in ESTIMATORS], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def on_numbers(estimator: type) -> type:
    """The estimator, denying that it takes categories: the checks round all columns to small integers otherwise."""

    def tags(self: Any) -> Any:
        found = estimator.__sklearn_tags__(self)
        found.input_tags.categorical = False
        return found

    name = f"{estimator.__name__}OnNumbers"
    made = type(name, (estimator,), {"__sklearn_tags__": tags, "__module__": __name__})
    globals()[name] = made  # so that pickle finds it
    return made


@parametrize_with_checks(
    [on_numbers(estimator)() for estimator in ESTIMATORS], expected_failed_checks=expected_failures
)
def test_scikit_learn_checks_on_numbers(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_column_names_are_checked_as_scikit_learn_does(estimator: Any) -> None:
    check_dataframe_column_names_consistency(estimator.__name__, estimator())


# --- the same trees as learn ------------------------------------------------------------------------------------------


def table(n: int = 400, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Columns of every kind, without missing values; the answer depends on most of them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.normal(30, 10, n).round(1),
            "town": pd.Categorical(
                rng.choice(["Bern", "Oslo", "Rome"], n), categories=["Rome", "Oslo", "Bern", "Bath"]
            ),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n), categories=["s", "m", "l"], ordered=True),
            "member": rng.random(n) < 0.5,
            "noise": rng.normal(size=n),
        }
    )
    pull = (X["age"] > 45) * 1.0 + (X["town"] == "Oslo") * 1.5 + X["income"] / 20 + rng.normal(0, 0.4, n)
    return X, pull


def classes(pull: pd.Series) -> pd.Series:
    return pd.Series(np.select([pull < 1.8, pull < 3], ["low", "mid"], "high"), name="answer")


X, PULL = table()
Y = classes(PULL)
NUMBERS = X[["age", "income", "noise"]].to_numpy(dtype=float)


def target_of(estimator: type) -> pd.Series:
    return Y if estimator in CLASSIFIERS else PULL


def same_shape(one: tw.Tree, other: tw.Tree) -> bool:
    """Whether two trees are the same but for names and recipe."""
    return one.arrays.keys() == other.arrays.keys() and all(
        np.array_equal(array, other.arrays[name]) for name, array in one.arrays.items()
    )


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_the_tree_is_what_learn_gives(estimator: Any) -> None:
    y = target_of(estimator)
    fitted = estimator().fit(X, y)
    tree = tw.learn(X, y, RECIPES[estimator])
    assert tree.n_leaves > 2
    assert fitted.tree_ == tree
    assert np.array_equal(fitted.predict(X), tw.predict(tree, X))
    assert np.array_equal(fitted.apply(X), tw.apply(tree, X))
    assert (fitted.get_depth(), fitted.get_n_leaves()) == (tree.depth, tree.n_leaves)
    assert fitted.n_features_in_ == 6
    assert list(fitted.feature_names_in_) == list(X.columns)
    if estimator in CLASSIFIERS:
        assert np.array_equal(fitted.predict_proba(X), tw.predict_proba(tree, X))
        with np.errstate(divide="ignore"):
            assert np.array_equal(fitted.predict_log_proba(X), np.log(tw.predict_proba(tree, X)))
        assert list(fitted.classes_) == ["high", "low", "mid"]
        assert fitted.n_classes_ == 3
    else:
        assert not hasattr(fitted, "classes_")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_missing_values(estimator: Any) -> None:
    holes = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    holes["member"] = holes["member"].astype("boolean")
    y = target_of(estimator)
    allowed = sklearn.utils.get_tags(estimator()).input_tags.allow_nan
    assert allowed == (estimator is not tw.ID3Classifier)
    if allowed:
        assert estimator().fit(holes, y).tree_ == tw.learn(holes, y, RECIPES[estimator])
    else:
        with pytest.raises(ValueError, match=r"Input X contains NaN. Column 'age' is missing in \d+ of 400 rows"):
            estimator().fit(holes, y)
        with pytest.raises(ValueError, match="Input X contains NaN"):
            estimator().fit(X, y).predict(holes)


@pytest.mark.parametrize("recipe", [tw.C45, tw.J48, tw.RPART, tw.SKLEARN, tw.EXHAUSTIVE_CHAID], ids=lambda r: r.name)
def test_any_recipe(recipe: tw.Recipe) -> None:
    assert tw.TreeClassifier(recipe=recipe).fit(X, Y).tree_ == tw.learn(X, Y, recipe)
    if recipe.regression is not None:
        assert tw.TreeRegressor(recipe=recipe).fit(X, PULL).tree_ == tw.learn(X, PULL, recipe)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": 3},
        {"criterion": "entropy", "max_depth": 3},
        {"min_samples_leaf": 0.05},
        {"min_samples_split": 0.2},
        {"max_leaf_nodes": 7},
        {"min_impurity_decrease": 0.02},
        {"min_weight_fraction_leaf": 0.1, "class_weight": "balanced"},
        {"max_depth": 4, "class_weight": {"low": 3, "mid": 0.5}},
        {"criterion": "squared_error", "max_depth": 4},
    ],
    ids=str,
)
def test_parameters_mean_what_they_mean_in_scikit_learn(parameters: dict[str, Any]) -> None:
    regression = "error" in parameters.get("criterion", "")
    ours = (tw.TreeRegressor if regression else tw.TreeClassifier)(recipe=tw.SKLEARN, **parameters)
    theirs = (DecisionTreeRegressor if regression else DecisionTreeClassifier)(random_state=0, **parameters)
    y = PULL if regression else Y
    ours.fit(NUMBERS, y)
    theirs.fit(NUMBERS, y)
    assert (ours.get_n_leaves(), ours.get_depth()) == (theirs.get_n_leaves(), theirs.get_depth())
    assert ours.feature_importances_ == pytest.approx(theirs.feature_importances_, abs=1e-6)
    assert ours.score(NUMBERS, y) == pytest.approx(theirs.score(NUMBERS, y))


# --- parameters -------------------------------------------------------------------------------------------------------


def stopping(recipe: tw.Recipe, **settings: Any) -> tw.Recipe:
    return dataclasses.replace(recipe, stopping=dataclasses.replace(recipe.stopping, **settings))


def merging(**settings: Any) -> tw.Recipe:
    return dataclasses.replace(tw.CHAID, branching=dataclasses.replace(tw.CHAID.branching, **settings))


def even_split(parent: Any, children: Any) -> Any:
    """A criterion of one's own: the most even division."""
    weights = np.asarray(children).sum(axis=2)
    return weights.min(axis=1) / weights.sum(axis=1)


PARAMETERS = [
    (tw.CARTClassifier, {"criterion": "log_loss"}, dataclasses.replace(tw.CART, criterion="entropy")),
    (tw.CARTClassifier, {"criterion": tw.criterion.Twoing()}, dataclasses.replace(tw.CART, criterion="twoing")),
    (
        tw.CARTClassifier,
        {"criterion": even_split},
        dataclasses.replace(tw.CART, criterion=tw.criterion.Custom(even_split)),
    ),
    (tw.CARTRegressor, {"criterion": "absolute_error"}, dataclasses.replace(tw.CART, regression="absolute_error")),
    (
        tw.CARTRegressor,
        {"criterion": even_split, "max_depth": 2},
        stopping(dataclasses.replace(tw.CART, regression=tw.criterion.Custom(even_split, "regression")), max_depth=2),
    ),
    (tw.CARTClassifier, {"branching": "one_vs_rest"}, dataclasses.replace(tw.CART, branching=tw.branching.OneVsRest())),
    (tw.CARTClassifier, {"branching": tw.branching.EachValue()}, dataclasses.replace(tw.CART, branching="each_value")),
    (
        tw.CARTClassifier,
        {"branching": "grouped", "criterion": "gain_ratio"},
        dataclasses.replace(tw.CART, branching="grouped", criterion="gain_ratio", regression=None),
    ),
    (
        tw.CARTRegressor,
        {"branching": tw.branching.Merge(min_child=9), "criterion": "f", "numeric": "binned"},
        dataclasses.replace(
            tw.CART,
            branching=tw.branching.Merge(min_child=9),
            regression="f",
            numeric=tw.numeric.Binned(),
            criterion=None,
        ),
    ),
    (tw.ID3Classifier, {"numeric": tw.numeric.Binned(3)}, dataclasses.replace(tw.ID3, numeric=tw.numeric.Binned(3))),
    (tw.ID3Classifier, {"numeric": "threshold"}, dataclasses.replace(tw.ID3, numeric=tw.numeric.Threshold())),
    (
        tw.C45Classifier,
        {"criterion": "gini", "numeric": tw.numeric.Threshold()},
        dataclasses.replace(tw.C45, criterion="gini", numeric=tw.numeric.Threshold()),
    ),
    (tw.CARTClassifier, {"missing": "own"}, dataclasses.replace(tw.CART, missing=tw.missing.OwnCategory())),
    (
        tw.CARTClassifier,
        {"missing": tw.missing.Surrogates(0)},
        dataclasses.replace(tw.CART, missing=tw.missing.Surrogates(0)),
    ),
    (tw.CARTClassifier, {"unseen": "majority"}, dataclasses.replace(tw.CART, unseen="majority")),
    (tw.CARTClassifier, {"max_depth": np.int64(2)}, stopping(tw.CART, max_depth=2)),
    (tw.CARTClassifier, {"min_samples_split": 50}, stopping(tw.CART, min_samples_split=50)),
    (tw.CARTClassifier, {"min_samples_split": 0.1234}, stopping(tw.CART, min_samples_split=50)),
    (tw.CARTClassifier, {"min_samples_leaf": 20}, stopping(tw.CART, min_samples_leaf=20)),
    (tw.CARTRegressor, {"min_samples_leaf": np.float32(0.05)}, stopping(tw.CART, min_samples_leaf=21)),
    (tw.CARTClassifier, {"min_weight_fraction_leaf": 0.1}, stopping(tw.CART, min_weight_leaf=40.0)),
    (tw.CARTClassifier, {"max_leaf_nodes": 5}, stopping(tw.CART, max_leaf_nodes=5)),
    (tw.CARTClassifier, {"max_features": 2}, stopping(tw.CART, max_features=2)),
    (tw.CARTClassifier, {"max_features": 0.5}, stopping(tw.CART, max_features=3)),
    (tw.CARTClassifier, {"max_features": "sqrt"}, stopping(tw.CART, max_features=2)),
    (tw.CARTClassifier, {"max_features": "log2"}, stopping(tw.CART, max_features=2)),
    (tw.CARTClassifier, {"max_features": 0.01}, stopping(tw.CART, max_features=1)),
    (tw.CARTClassifier, {"min_impurity_decrease": 0.01}, stopping(tw.CART, min_impurity_decrease=0.01)),
    (tw.CARTClassifier, {"max_impurity": 0.3}, stopping(tw.CART, max_impurity=0.3)),
    (tw.CARTClassifier, {"significance": 0.001}, stopping(tw.CART, significance=0.001)),
    (
        tw.CARTClassifier,
        {"smoothing": "m_estimate", "m": 3.5},
        dataclasses.replace(tw.CART, leaves=tw.stopping.Leaves("m_estimate", 3.5)),
    ),
    (
        tw.CARTClassifier,
        {"max_features": 1, "random_state": 7},
        dataclasses.replace(stopping(tw.CART, max_features=1), seed=7),
    ),
    (tw.CHAIDClassifier, {"alpha_merge": 0.5}, merging(alpha_merge=0.5)),
    (tw.CHAIDClassifier, {"alpha_split": 1e-12}, merging(alpha_split=1e-12)),
    (tw.CHAIDRegressor, {"bonferroni": False}, merging(bonferroni=False)),
    (tw.CHAIDRegressor, {"exhaustive": True}, merging(exhaustive=True)),
    (tw.CHAIDClassifier, {"min_child": 20, "branching": "merge"}, merging(min_child=20)),
]


def parameter_id(value: Any) -> str | None:
    """Names alone: what a function or a recipe prints as is no name of a test."""
    return ",".join(value) if isinstance(value, dict) else getattr(value, "__name__", None)


@pytest.mark.parametrize(("estimator", "parameters", "recipe"), PARAMETERS, ids=parameter_id)
def test_parameters_make_the_recipe(estimator: Any, parameters: dict[str, Any], recipe: tw.Recipe) -> None:
    y = target_of(estimator)
    fitted = estimator(**parameters).fit(X, y)
    assert fitted.tree_ == tw.learn(X, y, recipe)
    # Whether it mattered; a policy for missing or unseen values cannot, here, but is kept in the tree.
    assert fitted.tree_ != estimator().fit(X, y).tree_


def test_shares_round_as_in_scikit_learn() -> None:
    assert tw.CARTClassifier(min_samples_split=1e-9).fit(X, Y).tree_.recipe.stopping.min_samples_split == 2
    assert tw.CARTClassifier(min_samples_leaf=1e-9).fit(X, Y).tree_.recipe.stopping.min_samples_leaf == 1
    assert tw.CARTClassifier(min_samples_split=1.0, pruning=None).fit(X, Y).get_depth() == 1


def test_a_name_keeps_the_settings_of_the_recipe() -> None:
    recipe = dataclasses.replace(
        tw.CART, missing=tw.missing.Surrogates(2, "stop"), criterion=tw.criterion.GainRatio(average_rule=False)
    )
    fitted = tw.TreeClassifier(recipe=recipe, missing="surrogate", criterion="gain_ratio").fit(X, Y)
    assert fitted.tree_.recipe == recipe


def test_every_parameter_is_described_and_stored_untouched() -> None:
    for estimator in ESTIMATORS:
        names = set(estimator().get_params())
        assert names <= set(DESCRIPTIONS)
        for name, value in estimator().get_params().items():
            assert f"\n{name} : {DESCRIPTIONS[name][0]}, default={value!r}\n" in estimator.__doc__
        assert inspect.getdoc(estimator).count("Parameters\n------") == 1
        assert "estimator.tree_" in estimator.__doc__
        values = {name: object() for name in names}
        assert estimator(**values).get_params(deep=False) == values
    assert {name for estimator in ESTIMATORS for name in estimator().get_params()} == set(DESCRIPTIONS)


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if not e.__name__.startswith("Tree")])
def test_the_defaults_are_the_values_of_the_recipe(estimator: Any) -> None:
    """What get_params shows, given by hand, gives the tree of the defaults."""
    shown = estimator().get_params()
    assert "recipe" not in [value for value in shown.values() if isinstance(value, str)]
    assert (
        recipe_with(estimator._recipe, estimator._task, shown, n_rows=10, n_columns=2, total_weight=10.0)
        == estimator._recipe
    )


def test_none_is_no_limit() -> None:
    assert tw.CHAIDClassifier().fit(X, Y).tree_.recipe.stopping.max_depth == 3
    assert tw.CHAIDClassifier(max_depth=None).fit(X, Y).tree_.recipe.stopping.max_depth is None
    assert tw.TreeClassifier(recipe="rpart").fit(X, Y).tree_.recipe.stopping.max_depth == 30
    assert tw.TreeClassifier(recipe="rpart", max_depth=None).fit(X, Y).tree_.recipe.stopping.max_depth is None


# --- randomness and threads -------------------------------------------------------------------------------------------


def test_fitting_twice_gives_one_tree_unless_another_seed_is_given() -> None:
    drawn = [tw.CARTClassifier(max_features=1, random_state=seed).fit(X, Y).tree_ for seed in (None, None, 0, 1)]
    assert drawn[0] == drawn[1] == drawn[2] != drawn[3]


def test_random_state_objects() -> None:
    def fitted(state: np.random.RandomState) -> tw.Tree:
        return tw.CARTClassifier(max_features=1, random_state=state).fit(X, Y).tree_

    assert fitted(np.random.RandomState(3)) == fitted(np.random.RandomState(3))
    state = np.random.RandomState(3)
    assert fitted(state) != fitted(state)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_threads_change_nothing(estimator: Any) -> None:
    y = target_of(estimator)
    one, two, all_of_them = (estimator(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, -1))
    assert one.tree_ == two.tree_ == all_of_them.tree_
    assert np.array_equal(one.predict(X), two.predict(X))


# --- weights ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [tw.C45Classifier, tw.CARTClassifier, tw.CARTRegressor, tw.ID3Classifier])
def test_a_repeated_row_is_a_row_of_more_weight(estimator: Any) -> None:
    y = target_of(estimator)
    times = np.random.default_rng(2).integers(0, 4, len(X))
    places = np.repeat(np.arange(len(X)), times)
    weighted = estimator().fit(X, y, sample_weight=times)
    repeated = estimator().fit(X.iloc[places], y.iloc[places])
    assert weighted.tree_ == tw.learn(X, y, RECIPES[estimator], weight=times)
    assert weighted.get_n_leaves() == repeated.get_n_leaves()
    assert weighted.feature_importances_ == pytest.approx(repeated.feature_importances_)
    predictions = [e.predict_proba(X) if estimator in CLASSIFIERS else e.predict(X) for e in (weighted, repeated)]
    np.testing.assert_allclose(predictions[0], predictions[1])


@pytest.mark.parametrize("times", [None, np.random.default_rng(3).integers(1, 4, len(X))])
def test_class_weights_are_weights(times: Any) -> None:
    factor = {"high": 0.5, "low": 4, "mid": 1}
    weight = Y.map(factor).to_numpy(dtype=float) * (1 if times is None else times)
    by_class = tw.CARTClassifier(class_weight={"high": 0.5, "low": 4}).fit(X, Y, times)
    assert by_class.tree_ == tw.CARTClassifier().fit(X, Y, weight).tree_
    assert by_class.tree_ != tw.CARTClassifier().fit(X, Y, times).tree_


def test_balanced_classes() -> None:
    times = np.random.default_rng(4).integers(1, 4, len(X))
    balanced = tw.CARTClassifier(class_weight="balanced")
    counts = balanced.fit(X, Y, times).tree_.root.counts
    assert counts == pytest.approx([times.sum() / 3] * 3)
    places = np.repeat(np.arange(len(X)), times)
    assert balanced.fit(X.iloc[places], Y.iloc[places]).tree_.root.counts == pytest.approx(counts)


# --- tables and targets -----------------------------------------------------------------------------------------------


def test_the_same_table_from_every_library() -> None:
    y = Y.tolist()
    by_pandas = tw.CARTClassifier().fit(X, y).tree_
    assert tw.CARTClassifier().fit(pa.Table.from_pandas(X), pa.array(y)).tree_ == by_pandas
    enums = {"town": pl.Enum(["Rome", "Oslo", "Bern", "Bath"]), "size": pl.Enum(["s", "m", "l"])}
    polars = pl.DataFrame({name: X[name].tolist() for name in X}, schema_overrides=enums)
    by_polars = tw.CARTClassifier(kinds={"town": "nominal"}).fit(polars, pl.Series(y))
    assert by_polars.tree_ == by_pandas
    assert np.array_equal(by_polars.predict(polars), tw.predict(by_pandas, X))


def test_arrays_and_lists() -> None:
    frame = pd.DataFrame(NUMBERS, columns=["a", "b", "c"])
    named = tw.CARTClassifier().fit(frame, Y)
    for data in (NUMBERS, NUMBERS.tolist(), np.asfortranarray(NUMBERS), NUMBERS.astype(object)):
        fitted = tw.CARTClassifier().fit(data, Y.to_numpy())
        assert same_shape(fitted.tree_, named.tree_)
        assert fitted.tree_.schema.names == ("x0", "x1", "x2")
        assert not hasattr(fitted, "feature_names_in_")
    mixed = tw.CARTClassifier().fit(X.astype(object).to_numpy(), Y)
    assert [column.kind for column in mixed.tree_.schema.columns][:4] == ["numeric", "numeric", "nominal", "nominal"]


def test_names_and_places() -> None:
    frame = pd.DataFrame(NUMBERS, columns=["a", "b", "c"])
    named, nameless = tw.CARTClassifier().fit(frame, Y), tw.CARTClassifier().fit(NUMBERS, Y)
    with pytest.raises(ValueError, match="Feature names must be in the same order as they were in fit"):
        named.predict(frame[["c", "b", "a"]])
    assert np.array_equal(tw.predict(named.tree_, frame[["c", "b", "a"]]), named.predict(frame))
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- d"):
        named.predict(frame.rename(columns={"a": "d"}))
    with pytest.warns(UserWarning, match="X does not have valid feature names, but CARTClassifier was fitted with"):
        assert np.array_equal(named.predict(NUMBERS), named.predict(frame))
    with pytest.warns(UserWarning, match="X has feature names, but CARTClassifier was fitted without feature names"):
        assert np.array_equal(nameless.predict(frame), named.predict(frame))
    with pytest.raises(ValueError, match="X has 2 features, but CARTClassifier is expecting 3 features as input"):
        nameless.predict(NUMBERS[:, :2])
    numbered = tw.CARTClassifier().fit(pd.DataFrame(NUMBERS, columns=[3, 2, 1]), Y)
    assert not hasattr(numbered, "feature_names_in_")
    assert np.array_equal(numbered.predict(NUMBERS), named.predict(frame))
    with pytest.raises(tw.DataError, match=r"no column names in a dict; give X as a pandas.*or use treewright.learn"):
        tw.CARTClassifier().fit({"a": [1, 2, 3]}, [0, 1, 1])


def test_classes() -> None:
    def found(y: Any) -> tw.CARTClassifier:
        return tw.CARTClassifier(max_depth=3).fit(NUMBERS, y)

    assert found(Y.to_numpy(dtype=object)).classes_.tolist() == ["high", "low", "mid"]
    declared = found(pd.Series(pd.Categorical(Y, categories=["none", "low", "mid", "high"])))
    assert declared.classes_.tolist() == ["none", "low", "mid", "high"]
    assert declared.predict_proba(NUMBERS).shape == (400, 4)
    assert not declared.predict_proba(NUMBERS)[:, 0].any()
    assert np.array_equal(declared.predict(NUMBERS), found(Y).predict(NUMBERS))
    whole = found(PULL.astype(int))
    assert whole.classes_.tolist() == sorted(set(PULL.astype(int)))
    assert whole.predict(NUMBERS).dtype.kind == "i"
    assert found(PULL.round()).predict(NUMBERS).dtype.kind == "f"
    truth = found(pl.Series(PULL.to_numpy() > 2))
    assert truth.classes_.tolist() == [False, True]
    assert truth.predict(NUMBERS).dtype == bool
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert found(Y.to_frame()).tree_.n_nodes == found(Y).tree_.n_nodes


def test_categorical_features() -> None:
    def kinds(data: Any, wanted: Any, **others: Any) -> list[str]:
        schema = tw.CARTClassifier(categorical_features=wanted, max_depth=1, **others).fit(data, Y).tree_.schema
        return [column.kind for column in schema.columns]

    frame = X[["age", "town", "size", "member"]]
    assert kinds(frame, "from_dtype") == ["numeric", "nominal", "ordinal", "boolean"]
    for wanted in (
        ["age", "town"],
        [0, 1],
        np.array([0, 1]),
        [True, True, False, False],
        np.array([True, True, False, False]),
    ):
        assert kinds(frame, wanted) == ["nominal", "nominal", "ordinal", "boolean"]
    assert kinds(frame, "from_dtype", kinds={"age": "ordinal"}) == ["ordinal", "nominal", "ordinal", "boolean"]
    assert kinds(NUMBERS[:, :2], [0]) == ["nominal", "numeric"]
    assert kinds(NUMBERS[:, :2], None, kinds={"x0": "nominal"}) == ["nominal", "numeric"]
    with pytest.raises(tw.DataError, match="column 'town' cannot be numeric"):
        kinds(frame, ["age"])
    with pytest.raises(tw.DataError, match="categorical_features names 'agee'"):
        kinds(frame, ["agee"])


def test_importances() -> None:
    fitted = tw.CARTClassifier().fit(X, Y)
    expected = np.zeros(6)
    for node in fitted.tree_.walk():
        if not node.is_leaf:
            below = sum(fitted.tree_[i].weight * fitted.tree_[i].impurity for i in node.children)
            expected[node.split.column_index] += node.weight * node.impurity - below
    assert fitted.feature_importances_ == pytest.approx(expected / expected.sum())
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    none = tw.CARTClassifier(max_depth=0).fit(X, Y).feature_importances_
    assert (none.dtype, none.tolist()) == (np.float64, [0.0] * 6)


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (
            tw.CARTClassifier(criterion="ginny"),
            r"criterion='ginny' is not known; choose from 'information_gain', 'entropy'",
        ),
        (tw.CARTClassifier(criterion="variance"), r"criterion='variance' is not known.*'chi_square'$"),
        (tw.CARTRegressor(criterion="gini"), r"criterion='gini' is not known; choose from 'variance', 'squared_error'"),
        (tw.CARTClassifier(criterion=tw.criterion.Gini), "Recipe.criterion must be one of InformationGain"),
        (tw.CARTClassifier(criterion=3), "Recipe.criterion must be one of InformationGain"),
        (tw.CARTClassifier(criterion=tw.criterion.Variance()), "Recipe.criterion must be one of|for the other task"),
        (tw.CARTClassifier(branching="binnary"), "branching='binnary' is not known; choose from 'each_value'"),
        (
            tw.CARTClassifier(numeric="cut"),
            "numeric='cut' is not known; choose from 'threshold', 'binned', 'categorical_only'",
        ),
        (tw.CARTClassifier(missing="guess"), "missing='guess' is not known; choose from 'fractional'"),
        (tw.CARTClassifier(unseen="guess"), "Recipe.unseen must be one of 'missing'"),
        (tw.CARTClassifier(max_depth=-1), "Stopping.max_depth must be a whole number of at least 0, not -1"),
        (tw.CARTClassifier(max_depth=2.5), "Stopping.max_depth must be a whole number"),
        (tw.CARTClassifier(min_samples_split=1), "Stopping.min_samples_split must be a whole number of at least 2"),
        (tw.CARTClassifier(min_samples_split=1.5), "min_samples_split=1.5 must be a whole number of rows, or a share"),
        (tw.CARTClassifier(min_samples_leaf=0.0), "min_samples_leaf=0.0 must be a whole number of rows, or a share"),
        (tw.CARTClassifier(min_samples_leaf="few"), "Stopping.min_samples_leaf must be a whole number"),
        (tw.CARTClassifier(min_weight_fraction_leaf=0.7), "min_weight_fraction_leaf must be a share from 0 to 0.5"),
        (tw.CARTClassifier(max_features="all"), "max_features='all' must be an int, a share"),
        (tw.CARTClassifier(max_features=0), "Stopping.max_features must be a whole number of at least 1"),
        (tw.CARTClassifier(max_features=1.5), "max_features=1.5 must be an int, a share"),
        (tw.CARTClassifier(max_leaf_nodes=1), "Stopping.max_leaf_nodes must be a whole number of at least 2"),
        (tw.CARTClassifier(smoothing="some"), "Constant.smoothing must be one of 'none', 'laplace'"),
        (tw.CARTClassifier(significance=2), "Stopping.significance must be a number from 0 to 1"),
        (tw.CARTClassifier(class_weight="even"), "class_weight"),
        (tw.CARTClassifier(class_weight={"lo": 2}), "not in class_weight"),
        (tw.CARTClassifier(class_weight={"low": -2}), "the weight 'class_weight' is -2 in row"),
        (
            tw.CARTClassifier(class_weight=dict.fromkeys(("low", "mid", "high"), 0)),
            "'class_weight' is zero in every row",
        ),
        (tw.CARTClassifier(random_state=-1), "Recipe.seed must be a whole number of at least 0"),
        (tw.CARTClassifier(random_state="x"), "cannot be used to seed"),
        (tw.CARTClassifier(n_jobs=0), "n_jobs"),
        (tw.CARTClassifier(categorical_features="all"), "categorical_features='all' is not known"),
        (tw.CARTClassifier(kinds={"ag": "nominal"}), "kinds names 'ag'"),
        (
            tw.C45Classifier(criterion="gini"),
            "Threshold.mdl_penalty and Threshold.min_tenth_per_class are C4.5's rules",
        ),
        (tw.CHAIDClassifier(criterion="gini"), "Recipe.branching=Merge compares groups by a test"),
        (
            tw.CHAIDClassifier(branching="binary", min_child=3),
            r"'min_child' can be set with branching='merge' only, not with Binary\(enumerate_up_to=12\); leave it None",
        ),
        (tw.TreeClassifier(recipe="C46"), "recipe='C46' is not known; choose from 'cart', 'c45'"),
        (tw.TreeRegressor(recipe=tw.C45), "the recipe 'C45' has no criterion for regression"),
        (
            tw.ID3Classifier(numeric="categorical_only"),
            "the recipe 'ID3' splits on levels only, but 'age', 'income', 'noise'",
        ),
        (tw.ID3Classifier(numeric="categorical_only"), "the recipe 'ID3' splits on levels only"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_wrong_parameter_is_named(estimator: Any, message: str) -> None:
    y = PULL if isinstance(estimator, (tw.TreeRegressor, tw.CARTRegressor)) else Y
    repr(estimator), estimator_html_repr(estimator), clone(estimator)  # until it is fitted, anything goes
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)


def test_several_targets_are_trees_of_their_own() -> None:
    """The remedy that the refusal of several targets names."""
    from sklearn.multioutput import MultiOutputClassifier

    numbers = np.nan_to_num(NUMBERS)
    two = np.c_[np.arange(len(numbers)) % 2, np.arange(len(numbers)) % 3]
    with pytest.raises(
        ValueError, match=r"one target; fit one per target, as sklearn.multioutput.MultiOutputClassifier"
    ):
        tw.CARTClassifier().fit(numbers, two)
    assert MultiOutputClassifier(tw.CARTClassifier()).fit(numbers, two).predict(numbers).shape == two.shape


def test_wrong_data() -> None:
    with pytest.raises(ValueError, match=r"Unknown label type: continuous.*'pull' has fractions; use a regressor"):
        tw.CARTClassifier().fit(X, PULL.rename("pull"))
    with pytest.raises(ValueError, match="the target 'answer' cannot be a number: it has 'mid' in row 0"):
        tw.CARTRegressor().fit(X, Y)
    with pytest.raises(ValueError, match="requires y to be passed, but the target y is None"):
        tw.CARTClassifier().fit(X, None)
    with pytest.raises(ValueError, match="should be a 1d array, a series or a list; got str"):
        tw.CARTClassifier().fit(X, "town")
    for two in (np.ones((len(X), 2)), [[1, 0]] * len(X)):
        with pytest.raises(
            ValueError, match=r"a tree has one target; .*multioutput.MultiOutputRegressor\(CARTRegressor"
        ):
            tw.CARTRegressor().fit(X, two)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        tw.CARTClassifier().fit(X, Y, sample_weight=[1, 2])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        tw.CARTClassifier().fit(X, Y, sample_weight=-np.ones(len(X)))
    with pytest.raises(NotFittedError):
        tw.CARTClassifier().get_depth()
    with pytest.raises(ValueError, match="a sparse table must hold real numbers"):
        tw.CARTClassifier().fit(pytest.importorskip("scipy.sparse").eye_array(5, dtype=complex), [0, 1, 0, 1, 0])


def test_unseen_levels() -> None:
    new = X.head(3).assign(town="Paris")
    assert len(tw.CARTClassifier().fit(X, Y).predict(new)) == 3
    with pytest.raises(tw.DataError, match="column 'town' has the level 'Paris'"):
        tw.CARTClassifier(unseen="error").fit(X, Y).predict(new)


# --- scikit-learn's tools ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_pickle_and_clone(estimator: Any) -> None:
    y = target_of(estimator)
    fitted = estimator(max_depth=2).fit(X, y)
    back = pickle.loads(pickle.dumps(fitted))
    assert back.tree_ == fitted.tree_
    assert back.get_params() == fitted.get_params()
    assert np.array_equal(back.predict(X), fitted.predict(X))
    fresh = clone(fitted)
    assert not hasattr(fresh, "tree_")
    assert fresh.fit(X, y).tree_ == fitted.tree_
    fresh.set_params(max_depth=1).fit(X, y)
    assert fresh.get_depth() == (0 if estimator is tw.ModelTreeRegressor else 1)  # M5 prunes the only split
    check_is_fitted(fresh)


def test_grid_search_over_choices() -> None:
    grid = {
        "recipe": [tw.CART, tw.C45],
        "max_depth": np.arange(2, 4),
        "missing": [None, "own", tw.missing.MajorityChild()],
    }
    search = GridSearchCV(tw.TreeClassifier(), grid, cv=3, n_jobs=1).fit(X, Y)
    assert search.best_score_ > 0.7
    assert search.best_estimator_.get_depth() <= 3
    parallel = GridSearchCV(tw.CARTRegressor(n_jobs=2), {"max_depth": [1, 3]}, cv=3, n_jobs=2).fit(X, PULL)
    assert parallel.best_params_ == {"max_depth": 3}


def test_pipeline_with_a_column_transformer() -> None:
    columns = ColumnTransformer(
        [("scaled", StandardScaler(), ["age", "income"])], remainder="passthrough", verbose_feature_names_out=False
    ).set_output(transform="pandas")
    pipeline = make_pipeline(columns, tw.CARTClassifier(max_depth=4))
    assert cross_val_score(pipeline, X, Y, cv=3).min() > 0.6
    fitted = pipeline.fit(X, Y)[-1]
    assert list(fitted.feature_names_in_) == ["age", "income", "town", "size", "member", "noise"]
    assert [column.kind for column in fitted.tree_.schema.columns][2:4] == ["nominal", "ordinal"]
    assert "CARTClassifier" in estimator_html_repr(pipeline)


def test_sample_weight_is_routed() -> None:
    weight = np.random.default_rng(5).integers(1, 5, len(X)).astype(float)
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = (
            tw.CARTClassifier(max_depth=3).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        )
        search = GridSearchCV(estimator, {"max_depth": [3]}, cv=3).fit(X, Y, sample_weight=weight)
    assert search.best_estimator_.tree_ == tw.CARTClassifier(max_depth=3).fit(X, Y, weight).tree_


def test_probabilities_in_cross_validation_and_in_a_bag() -> None:
    declared = Y.astype(pd.CategoricalDtype(["low", "mid", "high"]))
    shares = cross_val_predict(tw.C45Classifier(), X, declared, cv=3, method="predict_proba")
    assert np.mean(np.array(["high", "low", "mid"])[shares.argmax(axis=1)] == Y) > 0.6
    bag = BaggingClassifier(tw.CARTClassifier(max_features="sqrt", pruning=None), n_estimators=10, random_state=0)
    bag.fit(NUMBERS, Y)
    assert bag.score(NUMBERS, Y) > 0.9


def test_importing_treewright_does_not_import_scikit_learn() -> None:
    code = (
        "import sys, treewright as tw; assert 'sklearn' not in sys.modules; tw.CARTClassifier; sys.modules['sklearn']"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
