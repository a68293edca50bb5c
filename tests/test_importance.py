"""Importances and stand-ins: against arithmetic by hand, scikit-learn, rpart and a plain shuffle."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from explain_cases import case, grown
from handmade_trees import HOURS, Question, arrays, fork, hours, leaf, tennis, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from test_goldens import EXCEPTIONS, costs_of, read, rpart_recipe, table

import treewright as tw
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.tree.shape import columns_used

ORACLES = Path(__file__).resolve().parents[2] / "shared" / "oracles"


# --- by impurity ------------------------------------------------------------------------------------------------------


def lesson_tree() -> tw.Tree:
    """The tree of the lesson with the entropies it prints: humidity; outlook and wind; below them wind and outlook."""
    names = (("Outlook", ("a", "b")), ("Humidity", ("High", "Normal")), ("Wind", ("Strong", "Weak")))
    columns = tuple(ColumnSpec(name, "nominal", levels) for name, levels in names)
    schema = Schema(columns, TargetSpec("Play", "classification", ("No", "Yes")))
    plan = fork(
        Question(1),
        fork(Question(0), leaf(3, 0), fork(Question(2), leaf(1, 0), leaf(0, 3))),
        fork(Question(2), fork(Question(0), leaf(1, 0), leaf(0, 2)), leaf(0, 4)),
    )
    made = arrays(plan, schema)
    made["impurity"] = np.array([0.940, 0.985, 0, 0.811, 0, 0, 0.591, 0.918, 0, 0, 0], dtype=np.float64)
    return tw.Tree(made, schema, tw.ID3)


def test_the_lessons_example() -> None:
    """What the page prints for humidity (2.121) and the first part of wind (1.390) is rounded in its own way."""
    found = tw.importance(lesson_tree())
    assert found.columns == ("Outlook", "Wind", "Humidity")
    assert found.raw == pytest.approx((3.651 + 2.754, 1.383 + 3.244, 2.128), abs=1e-9)
    assert found.raw == pytest.approx((6.405, 4.634, 2.121), abs=0.0075)
    assert found.per_row == pytest.approx([x / 14 for x in found.raw])
    assert sum(found.values) == pytest.approx(1)
    assert sum(found.per_row) == pytest.approx(0.940)  # all leaves are pure: the whole impurity is taken away


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_raw_importances_add_up_to_what_all_splits_take_away(seed: int) -> None:
    learned = grown(case(seed, missing=False))
    leaves = sum(node.weight * node.impurity for node in learned if node.is_leaf)
    found = tw.importance(learned)
    taken = learned.root.weight * learned.root.impurity - leaves
    assert sum(found.raw) == pytest.approx(taken, abs=1e-6 * (1 + abs(taken)))
    assert sum(found.values) == pytest.approx(1 if learned.n_leaves > 1 else 0)
    by_column = dict.fromkeys(found.columns, 0.0)
    for node in learned:
        if node.split is not None:
            below = sum(learned[child].weight * learned[child].impurity for child in node.children)
            by_column[node.split.column] += node.weight * node.impurity - below
    assert dict(zip(found.columns, found.raw, strict=True)) == pytest.approx(by_column, abs=1e-6)


@pytest.mark.parametrize("classes", [True, False])
def test_scikit_learns_numbers(classes: bool) -> None:
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(300, 5))
    signal = rows[:, 0] + rows[:, 1] * rows[:, 2] + rng.normal(size=300) / 2
    target, peer = (signal > 0, DecisionTreeClassifier) if classes else (signal, DecisionTreeRegressor)
    shallow = replace(tw.SKLEARN, stopping=tw.stopping.Stopping(max_depth=3, zero_gain=True))  # too shallow for ties
    learned = tw.learn(rows, target, shallow)
    theirs = peer(random_state=0, max_depth=3).fit(rows, target).feature_importances_
    ours = tw.importance(learned)
    assert [ours[f"x{i}"] for i in range(5)] == pytest.approx(theirs.tolist(), abs=1e-9)
    estimator = tw.TreeClassifier(recipe=shallow) if classes else tw.TreeRegressor(recipe=shallow)
    assert estimator.fit(rows, target).feature_importances_.tolist() == [ours[f"x{i}"] for i in range(5)]


# --- with surrogates --------------------------------------------------------------------------------------------------

KYPHOSIS = {"Start": 8.198442, "Age": 3.101801, "Number": 1.521863}


def test_rparts_importance_of_kyphosis() -> None:
    """`fit$variable.importance` of the example in rpart's manual."""
    found = tw.importance(tw.learn(table("kyphosis"), "Kyphosis", tw.RPART), kind="surrogate")
    assert dict(zip(found.columns, found.raw, strict=True)) == pytest.approx(KYPHOSIS, rel=1e-6)


def rpart_cases() -> list[tuple[str, str]]:
    sets = ("kyphosis", "vote", "iris", "cu.summary-reliability", "cu.summary-mileage", "boston-housing", "soybean")
    names = [(name, golden) for name in sets for golden in read(name)["goldens"] if golden.startswith("rpart")]
    ties = {exception["golden"] for exception in EXCEPTIONS}  # where trees differ, importances do
    # With usesurrogate=0 rpart lists surrogates that it never uses, and counts them; we make none.
    return [(name, golden) for name, golden in names if f"{name}/{golden}" not in ties and not golden.endswith("us0")]


@pytest.mark.skipif(not ORACLES.is_dir(), reason="needs shared/oracles beside the repository")
@pytest.mark.parametrize(("data_set", "name"), rpart_cases())
def test_rparts_importance(data_set: str, name: str) -> None:
    golden = json.loads((ORACLES / data_set / f"{name}.json").read_text())
    options: dict[str, Any] = read(data_set)["goldens"][name]["options"]
    learned = tw.learn(table(data_set), golden["target"], rpart_recipe(options), **costs_of(options))
    scale = np.log(2) if "information" in name else 1.0
    found = tw.importance(learned, kind="surrogate")
    ours = {column: scale * raw for column, raw in zip(found.columns, found.raw, strict=True) if raw > 1e-9}
    theirs = {column: value for column, value in (golden["variable_importance"] or {}).items() if value > 1e-9}
    assert ours == pytest.approx(theirs, rel=1e-6)


def test_a_tree_without_surrogates_says_so() -> None:
    found = tw.importance(hours(), kind="surrogate")
    assert "no surrogates" in str(found)
    assert found.values[0] == 1


# --- by permutation ---------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_columns_that_are_never_used_get_exactly_zero(seed: int) -> None:
    one = case(seed)
    learned = grown(one)
    found = tw.importance(learned, one.table, kind="permutation", n_repeats=3)
    used = {one.column for node in learned if node.split for one in (node.split, *node.surrogates)}
    assert {learned.schema.names[i] for i in columns_used(learned)} == used
    for place, column in enumerate(found.columns):
        assert found.low is not None
        assert found.high is not None
        assert found.low[place] <= found.values[place] + 1e-12
        assert found.values[place] <= found.high[place] + 1e-12
        if column not in used:
            assert (found.values[place], found.low[place], found.high[place]) == (0, 0, 0)


def test_a_plain_shuffle_gives_the_same() -> None:
    one = case(11, classes=True, missing=False)
    learned = grown(one)
    found = tw.importance(learned, one.table, kind="permutation", n_repeats=4, seed=9)
    base = np.mean(tw.predict(learned, one.table) == one.table["target"])
    assert found.base == pytest.approx(base)
    for place, column in enumerate(learned.schema.names):
        drops = []
        for repeat in range(4):
            shuffled = one.table.copy()
            order = np.random.default_rng((9, place, repeat)).permutation(len(shuffled))
            shuffled[column] = shuffled[column].array[order]
            drops.append(base - np.mean(tw.predict(learned, shuffled) == one.table["target"]))
        assert found[column] == pytest.approx(np.mean(drops), abs=1e-12)


def test_measures() -> None:
    one = case(2, classes=False, missing=False)
    learned = grown(one)
    for measure in ("variance explained", "squared error", "absolute error"):
        found = tw.importance(learned, one.table, kind="permutation", measure=measure, n_repeats=5)
        assert found.values[0] > 0  # what is worse is positive, whichever way the measure goes
    predictions, truth = tw.predict(learned, one.table), one.table["target"].to_numpy()
    assert tw.importance(learned, one.table, kind="permutation", measure="absolute error", n_repeats=1).base == (
        pytest.approx(np.abs(predictions - truth).mean())
    )


def test_costs_are_measured_as_costs() -> None:
    data = pd.DataFrame({"x": list(range(20)), "y": ["a"] * 8 + ["b", "a"] * 2 + ["b"] * 8})
    learned = tw.learn(data, "y", tw.SKLEARN, costs={"b": {"a": 5.0}})
    found = tw.importance(learned, data, kind="permutation", n_repeats=5)
    assert found.measure == "cost"
    assert found.values[0] > 0


def test_weights_count() -> None:
    data = pd.DataFrame({"x": [1.0, 2, 3, 4], "y": ["a", "a", "b", "a"], "w": [1.0, 1, 1, 97]})
    learned = tw.learn(data[["x", "y"]], "y", replace(tw.SKLEARN, stopping=tw.stopping.Stopping(max_depth=1)))
    right = data["w"][tw.predict(learned, data) == data["y"]].sum() / 100
    assert right in (0.02, 0.03, 0.99)  # not three of four rows, whichever row the tree has wrong
    assert tw.importance(learned, data, kind="permutation", weight="w", n_repeats=1).base == pytest.approx(right)


# --- being shown, and being asked wrongly -----------------------------------------------------------------------------


def test_bars() -> None:
    assert (
        str(tw.importance(lesson_tree()))
        == """\
importance: share of the impurity taken away
Outlook   0.4867  ████████████████████████
Wind      0.3516  █████████████████▍
Humidity  0.1617  ████████"""
    )
    wide = tw.importance(tennis())
    assert wide["humidity"] == wide.values[wide.columns.index("humidity")]
    with pytest.raises(KeyError, match="no column"):
        wide["rain"]
    json.dumps(wide.as_dict())


def test_wrong_questions() -> None:
    with pytest.raises(TypeError, match="expected a Tree"):
        tw.importance(None)
    with pytest.raises(tw.DataError, match="kind must be"):
        tw.importance(tennis(), kind="gain")
    with pytest.raises(tw.DataError, match="give it as data="):
        tw.importance(tennis(), kind="permutation")
    one = case(1, classes=True)
    with pytest.raises(tw.DataError, match="n_repeats must be at least 1"):
        tw.importance(grown(one), one.table, kind="permutation", n_repeats=0)
    with pytest.raises(tw.DataError, match="measure must be one of 'accuracy', 'cost'"):
        tw.importance(grown(one), one.table, kind="permutation", measure="squared error")


# --- stand-ins --------------------------------------------------------------------------------------------------------


def test_columns_that_tell_the_same() -> None:
    rng = np.random.default_rng(0)
    x = rng.random(200)
    data = {"x": x, "twin": 2 * x, "noise": rng.random(200), "y": np.where(x > 0.6, "a", "b")}
    found = tw.masking(tw.learn(data, "y", tw.RPART))
    assert [(one.column, one.other, one.agreement) for one in found.found] == [("x", "twin", 1.0)]
    assert str(found.found[0]) == (
        f"node 0 splits on x; twin is as good ({found.found[0].score:.4g} against {found.found[0].score:.4g}) "
        "and sends 100 % of the rows the same way"
    )
    assert list(found.pairs) == [("twin", "x")]


def test_the_margin() -> None:
    near = Question(1, (0, 1), (70.0,), share=(0.5, 0.5), score=0.23, split_gain=0.23)
    ratio_only = Question(2, (0, 1), share=(0.5, 0.5), score=0.9, split_gain=0.01)
    made = tree(fork(Question(0, (0, 1, 1)), leaf(3, 0), leaf(0, 4), rivals=(near, ratio_only)))
    assert [one.other for one in tw.masking(made).found] == ["humidity"]
    assert "almost as good (0.23 against 0.25)" in str(tw.masking(made))
    assert tw.masking(made, margin=0.05).found == ()
    assert "no column comes within 5 %" in str(tw.masking(made, margin=0.05))
    with pytest.raises(tw.DataError, match="margin must lie"):
        tw.masking(made, margin=-1)


def test_a_recipe_that_keeps_no_rivals_says_so() -> None:
    made = tree(
        fork(Question(1, (0, 1), (77.5,)), leaf(2, 1, 0), leaf(3, 2, 0), stats=(5, 1.6, 1.2)), HOURS, tw.SKLEARN
    )
    assert "keeps no rivals" in str(tw.masking(made))
