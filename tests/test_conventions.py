"""Small tables where rpart and scikit-learn decide by convention, and we decide alike.

On each of these tables another convention gives another tree, another prediction, or a figure that is not zero.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright import criteria, export

STUMP = tw.stopping.Stopping(max_depth=1)


# --- rpart ------------------------------------------------------------------------------------------------------------


def test_levels_come_in_order_of_the_first_class() -> None:
    """a|bc and ab|c gain the same; rpart begins where the first class is rarest."""
    table = {"x": ["a"] * 8 + ["b"] * 8 + ["c"] * 8, "y": ["n"] * 12 + ["p"] * 12}
    split = tw.learn(table, "y", replace(tw.RPART, stopping=STUMP)).root.split
    assert split is not None
    assert sorted(split.groups or ()) == [("a", "b"), ("c",)]
    numbers = table | {"y": [0.0] * 12 + [1.0] * 12}
    split = tw.learn(numbers, "y", replace(tw.RPART, stopping=STUMP), task="regression").root.split
    assert split is not None
    assert sorted(split.groups or ()) == [("a",), ("b", "c")]  # by rising mean, as rpart has it


def test_all_pairs_of_sets_are_tried_where_two_of_three_classes_are_left() -> None:
    """In order of a class (a, b, c) no cut has six rows on either side. rpart goes by the classes of the table."""
    x = ["a"] * 3 + ["b"] * 8 + ["c"] * 3
    y = ["m"] * 8 + ["n"] * 6
    rest = {"z": [1.0] * 20, "x": ["a"] * 20, "y": ["o"] * 20}
    first = {"z": [0.0] * 14, "x": x, "y": y}
    recipe = replace(tw.RPART, stopping=tw.stopping.Stopping(min_samples_leaf=6), simplify=None)
    assert tw.learn(first, "y", recipe).root.split is None
    tree = tw.learn({name: first[name] + rest[name] for name in first}, "y", recipe)
    left = tree[tree.root.children[0]]
    assert left.counts == (8.0, 6.0, 0.0)
    assert left.split is not None
    assert sorted(left.split.groups or ()) == [("a", "c"), ("b",)]


@pytest.mark.parametrize("classes", ["np", "pn"])
def test_a_tied_level_of_a_surrogate_goes_to_the_child_of_the_higher_class(classes: str) -> None:
    table = {
        "z": [1.0] * 10 + [2.0] * 10,
        "s": list("uuuuuuvvww" + "uuvvvvvvww"),
        "y": [classes[0]] * 10 + [classes[1]] * 10,
    }
    tree = tw.learn(table, "y", tw.RPART)
    assert tw.predict(tree, {"z": [None], "s": ["w"]}).tolist() == ["p"]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_tied_level_of_a_surrogate_goes_to_the_child_of_the_higher_mean(sign: float) -> None:
    y = [sign] * 10 + [sign * 3] * 10
    table = {"z": [1.0] * 10 + [2.0] * 10, "s": list("uuuuuuvvww" + "uuvvvvvvww"), "y": y}
    tree = tw.learn(table, "y", tw.RPART, task="regression")
    assert tw.predict(tree, {"z": [None], "s": ["w"]}).tolist() == [max(y)]


@pytest.mark.parametrize("cp", [0.0, 1e-3, 0.01, 0.2])
@pytest.mark.parametrize("kind", ["classes", "costs", "priors", "variance", "absolute_error", "poisson"])
def test_nodes_that_the_limit_makes_leaves_are_not_searched(
    kind: str, cp: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tree, its rivals and why its leaves are leaves: all as when everything is grown first."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(600, 3)).round(1)
    x[rng.random(x.shape) < 0.05] = np.nan
    y = np.nan_to_num(np.round(4 + 2 * x[:, 0] + np.sin(3 * x[:, 1]) + rng.normal(size=600)), nan=2.0).clip(0)
    table: dict[str, Any] = {"a": x[:, 0], "b": x[:, 1], "c": x[:, 2], "y": y}
    recipe, how = replace(tw.RPART, simplify=tw.stopping.Complexity(cp)), {}
    if kind in ("classes", "costs", "priors"):
        table["y"] = np.array(["p", "q", "r"])[np.digitize(y, [3, 6])]
        how = {
            "costs": {"costs": [[0, 3, 1], [1, 0, 1], [2, 1, 0]]},
            "priors": {"priors": {"p": 0.6, "q": 0.2, "r": 0.2}},
        }.get(kind, {})
    else:
        recipe, how = replace(recipe, regression=kind), {"task": "regression"}
    bare = export.to_json(tw.learn(table, "y", recipe, **how))
    monkeypatch.setattr("treewright.training.learn.worth_completing", lambda _: False)
    assert export.to_json(tw.learn(table, "y", recipe, **how)) == bare


@pytest.mark.parametrize("regression", ["variance", "absolute_error", "poisson"])
def test_complexity_counts_what_the_criterion_calls_loss(regression: str) -> None:
    """Growing with a complexity is growing without, and pruning by the same price."""
    rng = np.random.default_rng(3)
    x, z = rng.integers(0, 6, 80).astype(float), rng.normal(size=80)
    y = rng.poisson(np.exp(0.4 * x)) + np.where(rng.random(80) < 0.05, 60.0, 0.0)
    table = {"x": x, "z": z, "y": y.astype(float)}
    recipe = replace(tw.RPART, regression=regression, simplify=None, stopping=tw.stopping.Stopping(min_samples_leaf=3))
    grown = tw.learn(table, "y", recipe, task="regression")
    sizes = set()
    for cp in (0.001, 0.003, 0.01, 0.02, 0.05, 0.1):
        limited = tw.learn(table, "y", replace(recipe, simplify=tw.stopping.Complexity(cp)), task="regression")
        pruned = tw.prune(grown, tw.pruning.CostComplexity(cp, unit="root", weakest_link="rpart"))
        assert limited.n_leaves == pruned.n_leaves
        assert tw.predict(limited, table).tolist() == tw.predict(pruned, table).tolist()
        sizes.add(limited.n_leaves)
    assert len(sizes) > 3


# --- scikit-learn -----------------------------------------------------------------------------------------------------


def test_a_value_missing_only_when_predicted_goes_right_where_children_are_of_one_size() -> None:
    table = {"x": [0.0, 1, 2, 3, 8, 9, 11, 12], "y": [0.1, 0.2, 0.3, 0.2, 1.4, 1.4, 1.5, 1.6]}
    tree = tw.learn(table, "y", replace(tw.SKLEARN, stopping=STUMP))
    assert tw.predict(tree, {"x": [float("nan")]})[0] == pytest.approx(1.475)
    spoken: dict[str, Any] = {}
    exec(export.python(tree), spoken)
    assert spoken["predict"]({"x": None}) == pytest.approx(1.475)
    assert export.sklearn(tree).predict(pd.DataFrame({"x": [np.nan]}))[0] == pytest.approx(1.475)


@pytest.mark.parametrize("seed", range(40))
def test_a_value_missing_only_when_predicted_goes_where_scikit_learn_sends_it(seed: int) -> None:
    """Its size counts rows, whatever they weigh."""
    from sklearn.tree import DecisionTreeRegressor

    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 14))
    x, y, weight = rng.permutation(n).astype(float), rng.normal(size=n), rng.integers(1, 4, n).astype(float)
    model = DecisionTreeRegressor(max_depth=1).fit(x[:, None], y, sample_weight=weight)
    table = {"x": x, "y": y, "w": weight}
    tree = tw.learn(table, "y", replace(tw.SKLEARN, stopping=STUMP), weight="w", kinds={"x": "numeric"})
    assert tw.predict(tree, {"x": [np.nan]})[0] == pytest.approx(model.predict([[np.nan]])[0])


# --- gains of zero ----------------------------------------------------------------------------------------------------

small = st.integers(0, 30)
GAINS = (criteria.information_gain, criteria.gini_gain, criteria.misclassification_gain)
REDUCTIONS = (
    criteria.variance_reduction,
    criteria.standard_deviation_reduction,
    criteria.absolute_error_reduction,
    criteria.poisson_reduction,
)


@settings(derandomize=True, deadline=None)
@given(st.lists(small, min_size=2, max_size=5).filter(any), st.lists(st.integers(1, 20), min_size=2, max_size=4))
def test_children_with_the_shares_of_their_parent_gain_zero(shares: list[int], sizes: list[int]) -> None:
    children = [[size * share for share in shares] for size in sizes]
    assert [gain(children) for gain in GAINS] == [0.0] * 3


@settings(derandomize=True, deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=6), st.lists(st.integers(1, 9), min_size=2, max_size=4))
def test_groups_with_the_values_of_the_whole_reduce_nothing(values: list[int], sizes: list[int]) -> None:
    groups = [values * size for size in sizes]
    assert [reduction(groups) for reduction in REDUCTIONS] == [0.0] * 4


@settings(derandomize=True, deadline=None)
@given(st.lists(st.lists(small, min_size=3, max_size=3), min_size=2, max_size=5))
def test_one_majority_everywhere_leaves_as_many_wrong(children: list[list[int]]) -> None:
    children = [[sum(child) + 1, *child[1:]] for child in children]
    assert criteria.misclassification_gain(children) == 0.0


def test_a_gain_of_zero_is_printed_as_zero() -> None:
    for first, second in itertools.product(range(1, 8), repeat=2):
        counts = {("u", "n"): 5 + first, ("u", "p"): first, ("v", "n"): 3 + second, ("v", "p"): second}
        rows = [pair for pair, count in counts.items() for _ in range(count)]
        table = {"x": [x for x, _ in rows], "y": [y for _, y in rows]}
        (ranked,) = tw.rank_splits(table, "y", "misclassification")
        assert ranked.gain == 0.0
