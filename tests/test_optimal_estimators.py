"""The estimators of the best small tree: scikit-learn's checks, and the same trees as `learn_optimal`."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import treewright as tw
from treewright.estimators.optimal import DESCRIPTIONS
from treewright.training.parameters import DESCRIPTIONS as ANY_ESTIMATOR

ESTIMATORS = [tw.OptimalTreeClassifier, tw.OptimalTreeRegressor]
IRIS = load_iris(as_frame=True).data
SPECIES = load_iris(as_frame=True).target.map(lambda place: f"species {place}").rename("species")


def expected_failures(estimator: Any) -> dict[str, str]:
    if not isinstance(estimator, tw.OptimalTreeClassifier):
        return {}
    return {
        "check_class_weight_classifiers": "wants one class predicted nearly everywhere in noise, by a least weight of "
        "leaves; the best tree finds the few places where an error of the heavy class costs nothing"
    }


@parametrize_with_checks([estimator(max_depth=2) for estimator in ESTIMATORS], expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_the_tree_is_what_learn_optimal_gives() -> None:
    holes = IRIS.mask(np.random.default_rng(1).random(IRIS.shape) < 0.1)
    weight = np.random.default_rng(2).integers(1, 4, len(IRIS))
    for parameters in (
        {"max_depth": 2},
        {"max_depth": 3, "max_leaves": 3, "missing": "majority"},
        {"max_depth": 2, "min_samples_leaf": 30},
        {"max_depth": 2, "leaf_penalty": 0.05},
    ):
        fitted = tw.OptimalTreeClassifier(**parameters, n_jobs=2).fit(holes, SPECIES, weight)
        assert fitted.tree_ == tw.learn_optimal(holes, SPECIES, weight=weight, **parameters)
        assert fitted.tree_.certificate.proven
        assert np.array_equal(fitted.predict(holes), tw.predict(fitted.tree_, holes))
    number = IRIS["petal width (cm)"]
    rest = IRIS.drop(columns=number.name)
    fitted = tw.OptimalTreeRegressor(max_depth=2).fit(rest, number)
    assert fitted.tree_ == tw.learn_optimal(rest, number, max_depth=2)
    assert fitted.score(rest, number) == pytest.approx(1 - fitted.tree_.certificate.loss)


def test_class_options_reach_the_search() -> None:
    y = SPECIES.where(SPECIES != "species 2", "species 1")
    costs = {"species 0": {"species 1": 5}}
    assert "mean cost" in tw.OptimalTreeClassifier(costs=costs, max_depth=1).fit(IRIS, y).tree_.certificate.objective
    balanced = tw.OptimalTreeClassifier(class_weight="balanced", max_depth=1).fit(IRIS, y)
    assert balanced.tree_.certificate.objective == "1 - balanced accuracy"
    priors = tw.OptimalTreeClassifier(priors={"species 0": 0.9, "species 1": 0.1}, max_depth=0).fit(IRIS, y)
    assert priors.predict(IRIS[:1]).tolist() == ["species 0"]


def test_a_search_over_parameters_and_a_copy() -> None:
    search = GridSearchCV(tw.OptimalTreeClassifier(), {"max_depth": [1, 2]}, cv=3).fit(IRIS, SPECIES)
    assert search.best_params_ == {"max_depth": 2}
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert again.tree_ == search.best_estimator_.tree_
    assert clone(again).get_params() == again.get_params()


def test_every_parameter_is_described() -> None:
    for estimator in ESTIMATORS:
        for name, value in estimator().get_params().items():
            kind = DESCRIPTIONS.get(name, ANY_ESTIMATOR.get(name))[0]
            assert f"\n{name} : {kind}, default={value!r}\n" in estimator.__doc__


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": None}, "max_depth must be a whole number of at least 0, not None"),
        ({"max_depth": 20}, "max_depth must be at most 8"),
        ({"max_leaves": 0}, "max_leaves must be a whole number of at least 1"),
        ({"min_samples_leaf": 0.1}, "min_samples_leaf must be a whole number"),
        ({"leaf_penalty": "x"}, "leaf_penalty must be a finite number"),
        ({"missing": "fractional"}, "missing='fractional' is not known; choose from 'learned', 'own', 'majority'"),
        ({"memory_limit": "much"}, "memory_limit='much' is no amount of memory"),
        ({"time_limit": -1}, "time_limit must be a finite number that is not negative"),
    ],
    ids=str,
)
def test_a_wrong_parameter_is_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tw.OptimalTreeClassifier(**parameters).fit(IRIS, SPECIES)


def test_levels_and_names() -> None:
    table = pd.DataFrame({"town": pd.Categorical(["Bern", "Oslo", "Rome"] * 10), "size": range(30)})
    fitted = tw.OptimalTreeClassifier(max_depth=1).fit(table, table["town"] == "Oslo")
    assert fitted.tree_.root.split.column == "town"
    assert fitted.score(table, table["town"] == "Oslo") == 1
    assert list(fitted.feature_names_in_) == ["town", "size"]
