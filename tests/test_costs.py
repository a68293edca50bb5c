"""Costs, priors and class weights: what they change in growing, prediction and pruning, and what is refused.

The expected numbers are worked out here from rpart's definitions: growing sees a class with the weight prior x (sum
of its costs), predictions are the cheapest under the priors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier
from unpruned import C45, CART

import treewright as tw
from treewright.errors import DataError, FileError, RecipeError
from treewright.tree.saved import from_json, to_json

RNG = np.random.default_rng(4)
N = 300
X = {"a": RNG.normal(size=N), "b": RNG.normal(size=N), "c": RNG.choice(["u", "v", "w"], N)}
SCORE = X["a"] + X["b"] * (X["c"] == "u") + RNG.normal(size=N)
TWO = np.where(SCORE > 0.4, "sick", "well")
THREE = np.select([SCORE > 1, SCORE > -0.5], ["high", "mid"], "low")
SHALLOW = replace(CART, stopping=tw.stopping.Stopping(max_depth=3))
COSTS = [[0.0, 2.0, 1.0], [5.0, 0.0, 1.0], [1.0, 3.0, 0.0]]  # high, low, mid


def structure(tree: tw.Tree) -> list[Any]:
    names = ("parent", "stop", "column", "breaks", "child_of_bin", "rows", "impurity")
    return [tree.arrays[name].tolist() for name in names]


# --- growing and answers ----------------------------------------------------------------------------------------------


def test_growing_sees_altered_weights_and_the_tree_tells_real_ones() -> None:
    counts = np.array([(level == THREE).sum() for level in ("high", "low", "mid")])
    altered = counts / N * np.sum(COSTS, axis=1)
    weight = dict(zip(("high", "low", "mid"), altered / altered.sum() / (counts / N), strict=True))
    by_weight = tw.learn(X, THREE, SHALLOW, weight=[weight[level] for level in THREE])
    by_costs = tw.learn(X, THREE, SHALLOW, costs=COSTS)
    for ours, theirs in zip(structure(by_costs)[:-1], structure(by_weight)[:-1], strict=True):
        assert ours == theirs
    assert by_costs.arrays["impurity"] == pytest.approx(by_weight.arrays["impurity"])
    assert by_costs.root.counts == pytest.approx(counts)
    factors = np.array([weight[level] for level in ("high", "low", "mid")])
    np.testing.assert_allclose(by_costs.arrays["stats"] * factors, by_weight.arrays["stats"], atol=1e-9)
    shares = by_costs.arrays["stats"] / by_costs.arrays["weight"][:, np.newaxis]
    np.testing.assert_allclose(by_costs.arrays["value"], shares, atol=1e-12)


def test_the_cheapest_prediction_is_given() -> None:
    tree = tw.learn(X, THREE, SHALLOW, costs=COSTS)
    chances = tw.predict_proba(tree, X)
    classes = np.array(["high", "low", "mid"])
    expected = classes[(chances @ np.array(COSTS)).argmin(axis=1)]
    assert (tw.predict(tree, X) == expected).all()
    assert (expected != classes[chances.argmax(axis=1)]).any()
    for node in tree.walk():
        assert node.prediction == classes[(np.array(node.probabilities) @ np.array(COSTS)).argmin()]
        assert str(node.prediction) in repr(node) or not node.is_leaf


def test_a_table_by_names_is_the_array() -> None:
    by_names = {"low": {"high": 5}, "high": {"low": 2}, "mid": {"low": 3}}
    assert tw.learn(X, THREE, SHALLOW, costs=by_names) == tw.learn(X, THREE, SHALLOW, costs=np.array(COSTS))


def test_costs_of_one_are_no_costs_but_for_what_is_remembered() -> None:
    plain, same = tw.learn(X, THREE, SHALLOW), tw.learn(X, THREE, SHALLOW, costs=1 - np.eye(3))
    assert structure(plain) == structure(same)
    assert (tw.predict(plain, X) == tw.predict(same, X)).all()


@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(st.floats(0.05, 0.95))
def test_priors_are_weights(sick: float) -> None:
    share = (TWO == "sick").mean()
    weight = np.where(TWO == "sick", sick / share, (1 - sick) / (1 - share))
    by_priors = tw.learn(X, TWO, SHALLOW, priors={"sick": sick, "well": 1 - sick})
    by_weight = tw.learn(X, TWO, SHALLOW, weight=weight)
    assert by_priors.arrays["parent"].tolist() == by_weight.arrays["parent"].tolist()
    np.testing.assert_allclose(by_priors.arrays["value"], by_weight.arrays["value"], atol=1e-9)
    assert by_priors.root.probabilities == pytest.approx((sick, 1 - sick))


def test_smoothing_and_empty_children_tell_real_weights() -> None:
    for leaves in (
        tw.stopping.Leaves(smoothing="laplace"),
        tw.stopping.Leaves(smoothing="m_estimate", m=3.0, empty="majority"),
    ):
        tree = tw.learn(X, THREE, replace(C45, leaves=leaves, branching=tw.branching.EachValue()), costs=COSTS)
        stats, root = tree.arrays["stats"], tree.arrays["stats"][0]
        weight = stats.sum(axis=1, keepdims=True)
        extra = np.ones(3) if leaves.smoothing == "laplace" else 3.0 * root / root.sum()
        expected = (stats + extra) / (weight + extra.sum())
        filled = tree.arrays["rows"] > 0
        np.testing.assert_allclose(tree.arrays["value"][filled], expected[filled], atol=1e-12)


def test_class_weights() -> None:
    weight = np.where(TWO == "sick", 3.0, 1.0)
    assert tw.learn(X, TWO, SHALLOW, class_weight={"sick": 3}) == tw.learn(X, TWO, SHALLOW, weight=weight)
    assert tw.learn(X, TWO, SHALLOW, class_weight="balanced").root.counts == pytest.approx([N / 2, N / 2])


# --- pruning ----------------------------------------------------------------------------------------------------------


def test_pruning_counts_costs() -> None:
    tree = tw.learn(X, THREE, CART, costs=COSTS, priors=[0.2, 0.5, 0.3])
    path = tw.pruning_path(tree)
    stats, costs = tree.arrays["stats"], np.array(COSTS)
    cheapest = (stats @ costs).min(axis=1) / stats[0].sum()
    assert path.root_risk == pytest.approx(cheapest[0])
    assert path.risk[0] == pytest.approx(cheapest[tree.arrays["stop"] != 0].sum())


def test_held_out_costs_by_hand() -> None:
    """Two folds of a tree that only its root answers: each fold's rows are answered by the other's cheapest class."""
    recipe = replace(CART, stopping=tw.stopping.Stopping(max_depth=0))
    rows = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]}
    y = ["a", "a", "a", "a", "b", "b"]
    costs = {"b": {"a": 10}}
    path = tw.pruning_path(
        tw.learn(rows, y, recipe, costs=costs), {**rows, "target": y}, pruner=tw.pruning.CostComplexityCV(folds=2)
    )
    # Each half holds two a and one b: answering b costs 2, answering a costs 10.
    assert path.risk == (4 / 6,)
    assert path.held_out == pytest.approx((4 / 6,))


def test_a_dear_class_keeps_its_leaves() -> None:
    dear = tw.learn(X, TWO, tw.CART, costs={"sick": {"well": 8}})
    plain = tw.learn(X, TWO, tw.CART)
    missed = [((TWO == "sick") & (tw.predict(tree, X) == "well")).sum() for tree in (dear, plain)]
    assert missed[0] < missed[1]


# --- the written form -------------------------------------------------------------------------------------------------


def test_costs_and_priors_are_saved() -> None:
    tree = tw.learn(X, THREE, tw.CART, costs=COSTS, priors=[0.2, 0.5, 0.3])
    again = from_json(to_json(tree))
    assert again == tree
    assert again.schema.target.costs == tuple(map(tuple, COSTS))
    assert (tw.predict(again, X) == tw.predict(tree, X)).all()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("costs", [[0, 1]], r"\$\.schema\.target\.costs must be a list with one row per class"),
        ("costs", 3, r"\$\.schema\.target\.costs must be a list"),
        ("costs", [[0, 1, 1], [1, 0, 1], [1, 1]], r"costs\[2\] must be a list with one number per class"),
        ("costs", [[0, 1, 1], [1, 0, -1], [1, 1, 0]], r"costs\[1\]\[2\] must be a finite number from zero up"),
        ("costs", [[1, 1, 1], [1, 0, 1], [1, 1, 0]], "must be 0 where the prediction is the truth"),
        ("priors", [0.5, 0.5], r"\$\.schema\.target\.priors must be a list with one number per class"),
        ("priors", [0.5, 0.5, "x"], r"priors\[2\] must be a finite number"),
    ],
)
def test_a_file_with_wrong_costs_is_refused(name: str, value: Any, message: str) -> None:
    written = tw.learn(X, THREE, SHALLOW).as_dict()
    written["schema"]["target"][name] = value
    with pytest.raises(FileError, match=message):
        tw.Tree.from_dict(written)


# --- what is refused --------------------------------------------------------------------------------------------------

WRONG = [
    (
        {"costs": [[0, 1], [1, 0]]},
        r"costs must have one row and one column per class \(3: .*\), not the shape \(2, 2\)",
    ),
    ({"costs": [1, 2, 3]}, r"not the shape \(3,\)"),
    (
        {"costs": [[0, 1, 1], [1, 0, -2], [1, 1, 0]]},
        "predicting 'mid' where 'low' is true is -2; costs are finite and not",
    ),
    ({"costs": [[0, 1, np.nan], [1, 0, 2], [1, 1, 0]]}, "predicting 'mid' where 'high' is true is nan"),
    ({"costs": [[0, 1, 1], [1, 0.5, 1], [1, 1, 0]]}, "predicting 'low' where 'low' is true is right and must cost 0"),
    ({"costs": [[0, 1, 1], [0, 0, 0], [1, 1, 0]]}, "no error on the class 'low' costs anything"),
    ({"costs": "high"}, "costs must be numbers in the order of the classes, or a dict by class"),
    (
        {"costs": {"huge": {"low": 2}}},
        "costs names the class 'huge', which is not there; the classes are 'high', 'low'",
    ),
    ({"costs": {"low": {"huge": 2}}}, r"costs\['low'\] names the class 'huge'"),
    ({"costs": {"low": 3}}, r"costs\['low'\] must be a dict of costs by prediction, not 3"),
    ({"costs": {"low": {"high": "dear"}}}, r"costs\['low'\]\['high'\] must be a number, not 'dear'"),
    ({"priors": [0.5, 0.5]}, r"priors must have one share per class .*, not the shape \(2,\)"),
    ({"priors": [0.5, 0.6, 0.1]}, "priors must be shares from 0 to 1 that add up to 1"),
    ({"priors": [1.5, -0.5, 0.0]}, "priors must be shares from 0 to 1"),
    ({"priors": [1e308, 1e308, 1e308]}, "priors must be shares from 0 to 1"),  # without a warning of overflow
    ({"priors": {"low": np.nan, "mid": 0.5, "high": 0.5}}, "priors must be shares from 0 to 1"),
    ({"priors": {"low": 0.5, "mid": 0.5}}, "priors leaves out the class 'high'"),
    ({"class_weight": "even"}, "class_weight must be a dict of weights by class, 'balanced' or None, not 'even'"),
    ({"class_weight": {"huge": 2}}, "class_weight names 'huge', which is no class"),
    ({"class_weight": {"low": "x"}}, r"class_weight\['low'\] must be a number"),
    ({"class_weight": {"low": -1}}, "weights start at zero"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        tw.learn(X, THREE, SHALLOW, **arguments)
    if "class_weight" not in arguments:
        with pytest.raises(DataError, match=message):
            tw.CARTClassifier(**arguments).fit(np.column_stack([X["a"], X["b"]]), THREE)


@pytest.mark.parametrize("arguments", [{"costs": [[0]]}, {"priors": [1.0]}, {"class_weight": "balanced"}])
def test_numbers_have_no_costs(arguments: dict[str, Any]) -> None:
    with pytest.raises(
        DataError, match=r"about classes, but the target 'target' is learned as a number.*task='classification'"
    ):
        tw.learn(X, SCORE, SHALLOW, **arguments)


# --- estimators -------------------------------------------------------------------------------------------------------

NUMBERS = np.column_stack([X["a"], X["b"]])


def test_estimators_take_the_same() -> None:
    fitted = tw.CARTClassifier(costs=COSTS, priors=[0.2, 0.5, 0.3], max_depth=3, pruning=None).fit(NUMBERS, THREE)
    learned = tw.learn(NUMBERS, THREE, SHALLOW, costs=COSTS, priors=[0.2, 0.5, 0.3])
    assert fitted.tree_.arrays["value"].tobytes() == learned.arrays["value"].tobytes()
    assert (fitted.predict(NUMBERS) == tw.predict(learned, NUMBERS)).all()


def test_defaults_of_pruning() -> None:
    assert isinstance(tw.C45Classifier().fit(NUMBERS, TWO).tree_.recipe.pruning, tw.pruning.ErrorBased)
    assert tw.CARTClassifier().fit(NUMBERS, TWO).tree_.recipe.pruning == tw.pruning.CostComplexityCV(
        folds=10, rule="1se"
    )
    assert tw.CARTRegressor().fit(NUMBERS, SCORE).tree_.recipe.pruning == tw.pruning.CostComplexityCV(
        folds=10, rule="1se"
    )
    for estimator in (tw.ID3Classifier, tw.CHAIDClassifier):
        assert estimator().fit(NUMBERS, TWO).tree_.recipe.pruning is None
    raw = tw.CARTClassifier(pruning=None).fit(NUMBERS, TWO).tree_
    assert raw == tw.learn(NUMBERS, TWO, CART)
    assert raw.n_leaves > tw.CARTClassifier().fit(NUMBERS, TWO).tree_.n_leaves


def test_pruning_by_name_and_by_value() -> None:
    named = tw.CARTClassifier(pruning="error_based").fit(NUMBERS, TWO).tree_
    assert named.recipe.pruning == tw.pruning.ErrorBased()
    assert named == tw.CARTClassifier(pruning=tw.pruning.ErrorBased()).fit(NUMBERS, TWO).tree_
    kept = tw.TreeClassifier(
        recipe=replace(tw.CART, pruning=tw.pruning.CostComplexityCV(folds=3)), pruning="cost_complexity_cv"
    )
    assert kept.fit(NUMBERS, TWO).tree_.recipe.pruning == tw.pruning.CostComplexityCV(folds=3)
    with pytest.raises(RecipeError, match="pruning='ccp' is not known; choose from 'cost_complexity_cv'"):
        tw.CARTClassifier(pruning="ccp").fit(NUMBERS, TWO)
    with pytest.raises(RecipeError, match=r"Recipe.pruning must be one of .* or None, not 0.1"):
        tw.CARTClassifier(pruning=0.1).fit(NUMBERS, TWO)


@pytest.mark.parametrize("alpha", [0.0, 0.001, 0.004, 0.01, 0.05, 1.0])
def test_ccp_alpha_is_scikit_learns(alpha: float) -> None:
    ours = tw.TreeClassifier(recipe=tw.SKLEARN, ccp_alpha=alpha, max_depth=5).fit(NUMBERS, TWO)
    theirs = DecisionTreeClassifier(ccp_alpha=alpha, max_depth=5, random_state=0).fit(NUMBERS, TWO)
    assert ours.get_n_leaves() == theirs.get_n_leaves()
    assert ours.score(NUMBERS, TWO) == theirs.score(NUMBERS, TWO)


def test_ccp_alpha_replaces_pruning() -> None:
    assert tw.CARTClassifier(ccp_alpha=0.0).fit(NUMBERS, TWO).tree_.recipe.pruning is None
    with pytest.raises(RecipeError, match="give ccp_alpha or pruning, not both"):
        tw.CARTClassifier(ccp_alpha=0.1, pruning=None).fit(NUMBERS, TWO)
    with pytest.raises(RecipeError, match=r"CostComplexity\.alpha must be a number from 0 to inf, not -0\.1"):
        tw.CARTClassifier(ccp_alpha=-0.1).fit(NUMBERS, TWO)
