"""Explanations of rows: the prediction is that of `predict`; paths, texts, and counterfactuals that were tried.

Changes are held to an exhaustive search of its own over one value per cell of the grid of breaks.
"""

from __future__ import annotations

import datetime as dt
import itertools
import json
import math
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest
from handmade_trees import TENNIS, Question, fork, hours, leaf, random_tree, tennis, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from missing_policies import POLICIES, learned, mixed_table
from table_makers import MAKERS
from test_predict import random_value

import treewright as tw
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.errors import DataError

ROW = {"outlook": "sunny", "humidity": 70.0, "windy": True}


def one(row: dict[str, Any]) -> dict[str, list[Any]]:
    return {name: [value] for name, value in row.items()}


# --- the answer is prediction's ---------------------------------------------------------------------------------------


def agrees(t: tw.Tree, row: dict[str, Any]) -> None:
    found = tw.explain_row(t, row)
    assert found.prediction == tw.predict(t, one(row)).tolist()[0]
    if t.schema.target.classes is not None:
        assert found.probabilities is not None
        assert list(found.probabilities) == list(t.schema.target.classes)
        assert list(found.probabilities.values()) == tw.predict_proba(t, one(row))[0].tolist()
    assert math.isclose(sum(path.weight for path in found.paths), 1, abs_tol=1e-12)
    total = sum(path.weight * np.array(path.value) for path in found.paths)
    np.testing.assert_allclose(total, found.value, rtol=1e-12, atol=1e-12)
    heaviest = max(path.weight for path in found.paths)
    assert tw.apply(t, one(row))[0] in {p.nodes[-1] for p in found.paths if p.weight >= heaviest * (1 - 1e-12)}
    ways = {(step.node, branch.node) for step in found.steps for branch in step.branches}
    assert ways == {pair for path in found.paths for pair in itertools.pairwise(path.nodes)}
    assert str(found)
    json.dumps(found.as_dict())
    for change in found.counterfactuals:
        tried = one(row | dict(change.values))
        assert tw.predict(t, tried).tolist()[0] == change.prediction != found.prediction
        if change.probability is not None:
            assert change.probability == tw.predict_proba(t, tried).max() or t.schema.target.costs


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(sorted(POLICIES)), st.booleans())
def test_explains_what_is_predicted(seed: int, policy: str, regression: bool) -> None:
    table = mixed_table(seed + 1, 3, missing=0.3, unseen=True)
    for i in range(3):
        agrees(learned(seed, policy, regression), {name: values[i] for name, values in table.items()})


@pytest.mark.parametrize("seed", range(60))
def test_explains_trees_of_any_shape(seed: int) -> None:
    rng = random.Random(seed)
    t = random_tree(seed, 4)
    for _ in range(4):
        agrees(t, {c.name: random_value(rng, c.levels) for c in t.schema.columns})


def test_with_costs_the_cheapest_prediction() -> None:
    table = mixed_table(3, 200, missing=0)
    y = np.random.default_rng(3).choice(["a", "b"], 200, p=[0.7, 0.3])
    t = tw.learn(table, y, tw.CART, costs={"b": {"a": 5}, "a": {"b": 1}})
    for i in range(20):
        agrees(t, {name: values[i] for name, values in table.items()})


# --- however a row comes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("maker", sorted(set(MAKERS) - {"arrow_chunks"}))  # one row makes one chunk
def test_a_table_of_one_row(maker: str) -> None:
    assert str(tw.explain_row(tennis(), MAKERS[maker](one(ROW)))) == str(tw.explain_row(tennis(), ROW))


@pytest.mark.parametrize(
    "row",
    [
        pd.Series(ROW),
        pd.Series({"play": "no", **ROW}),
        pd.DataFrame(one(ROW)).iloc[0],
        pd.Series(list(ROW.values())),
        ["sunny", 70, True],
        ("sunny", 70, True),
        np.array(["sunny", 70, True], dtype=object),
        [["sunny", 70, True]],
        {"play": "no", **ROW},
        {"humidity": np.float32(70), "windy": np.bool_(True), "outlook": "sunny"},
    ],
)
def test_one_row_in_other_clothes(row: Any) -> None:
    assert str(tw.explain_row(tennis(), row)) == str(tw.explain_row(tennis(), ROW))


def test_numbers_alone() -> None:
    x = np.random.default_rng(1).normal(size=(50, 3))
    t = tw.learn(x, x[:, 0] > 0, tw.CART)
    for row in (x[4], x[4:5], x[4].tolist(), x[4].astype(np.float32)):
        assert tw.explain_row(t, row).prediction == bool(x[4, 0] > 0)


def test_what_a_dict_leaves_out_is_missing_and_reported() -> None:
    found = tw.explain_row(tennis(), {"humidity": 70})
    assert found.absent == ("outlook", "windy")
    assert found.row == {"outlook": "missing", "humidity": "70", "windy": "missing"}
    assert "not given, so taken as missing: outlook, windy" in str(found)
    assert "not given, so taken as missing: outlook, windy" in found.html()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"Humidity": 3}, r"the tree has no column 'Humidity'; did you mean 'humidity'\?"),
        ({"qqq": 3}, r"the tree has no column 'qqq'; it has 'outlook', 'humidity', 'windy'"),
        (["sunny", 70], "X has 2 features, but the tree is expecting 3 features"),
        ({name: [value] * 2 for name, value in ROW.items()}, r"one row is explained at a time, but the table has 2"),
        ({"humidity": ["70"]}, "lacks the columns 'outlook', 'windy'"),
        ({"humidity": "wet"}, "column 'humidity' was numeric when the tree was learned but is nominal now"),
        (7, "expected a pandas, polars or pyarrow table"),
    ],
)
def test_rows_that_cannot_be(row: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        tw.explain_row(tennis(), row)


def test_only_trees_are_explained() -> None:
    with pytest.raises(TypeError, match="expected a Tree"):
        tw.explain_row(ROW, ROW)


def test_a_recipe_that_refuses_missing_values_refuses_here_too() -> None:
    t = tree(fork(Question(2), leaf(2, 0), leaf(0, 2)), recipe=tw.ID3)
    with pytest.raises(DataError, match="refuses missing values"):
        tw.explain_row(t, {"humidity": 3})
    assert tw.explain_row(t, {"windy": True}).prediction == "yes"


# --- in words ---------------------------------------------------------------------------------------------------------


def test_one_path() -> None:
    golden = """
play: yes  (100 %)

  at first                              yes: 64 %
  outlook is sunny  → outlook = sunny   yes: 40 %
  humidity is 70    → humidity <= 77.5  yes: 100 %

what would change it
  if humidity were above 77.5 instead of 70, the prediction would be no (100 %)
  if outlook were rain instead of sunny, the prediction would be no (100 %)

contributions to yes: 0.6429 when nothing is known, 1 here
  humidity   +0.4071              │████████████
  windy      -0.1071           ███│
  outlook   +0.05714              │██
"""
    assert f"\n{tw.explain_row(tennis(), ROW)}\n" == golden


def test_several_paths() -> None:
    found = tw.explain_row(tennis(), {"outlook": "snow", "humidity": 70})
    assert f"\n{found}".split("\n\n")[1] == (
        """  outlook is snow, which no branch here holds and counts as missing: every branch, by its share
  windy is missing: every branch, by its share
   36 %  outlook = sunny, humidity <= 77.5: yes: 100 %
   29 %  outlook = overcast: yes: 100 %
   21 %  outlook = rain, windy = False: yes: 100 %
   14 %  outlook = rain, windy = True: yes: 0 %
  together: yes = 0.3571 * 1 + 0.2857 * 1 + 0.2143 * 1 + 0.1429 * 0 = 0.8571
not given, so taken as missing: windy"""
    )
    assert [step.guide for step in found.steps] == ["missing", "known", "missing"]
    assert [branch.share for branch in found.steps[0].branches] == pytest.approx([5 / 14, 4 / 14, 5 / 14])


@pytest.mark.parametrize(
    ("question", "row", "guide", "why", "end"),
    [
        (Question(0, (0, 1, -1)), {"outlook": "sunny"}, "known", "outlook is sunny", 1),
        (Question(0, (0, 1, -1), missing=1), {}, "missing", "outlook is missing: missing values go this way", 2),
        (Question(0, (0, 1, -1), missing=-2), {}, "missing", "outlook is missing: prediction of this node", 0),
        (
            Question(0, (0, 1, -1), unseen=1), {"outlook": "rain"}, "unseen",
            "outlook is rain, which no branch here holds: such levels go this way", 2,
        ),
        (
            Question(0, (0, 1, -1), missing=0), {"outlook": "rain"}, "missing",
            "outlook is rain, which no branch here holds and counts as missing: missing values go this way", 1,
        ),
        (
            Question(0, (0, 1, -1), missing=-3, share=(0.0, 1.0)), {}, "missing",
            "outlook is missing: a branch drawn by lot", 2,
        ),
        (
            Question(0, (0, 1, -1)), {"humidity": 90}, "surrogate",
            "outlook is missing; instead, humidity is 90 (surrogate: humidity > 80)", 2,
        ),
    ],
)  # fmt: skip
def test_why(question: Question, row: dict[str, Any], guide: str, why: str, end: int) -> None:
    surrogate = Question(1, (0, 1), (80.0,))
    found = tw.explain_row(tree(fork(question, leaf(3, 1), leaf(1, 2), surrogates=(surrogate,))), row)
    assert [(step.guide, step.why) for step in found.steps] == [(guide, why)]
    assert [path.nodes[-1] for path in found.paths] == [end]
    assert why in str(found)


def test_numbers_are_short_unless_that_would_mislead() -> None:
    t = tree(fork(Question(1, (0, 1), (1 / 3,)), leaf(3, 1), leaf(1, 2)))
    assert tw.explain_row(t, {"humidity": 0.123456789}).row["humidity"] == "0.123457"
    assert tw.explain_row(t, {"humidity": 0.33333334}).row["humidity"] == "0.33333334"
    assert tw.explain_row(t, {"humidity": 1 / 3}).row["humidity"] == "0.3333333333333333"


def test_a_tree_without_splits() -> None:
    found = tw.explain_row(tree(leaf(3, 4)), ROW)
    assert found.steps == ()
    assert "one leaf: every row gets the same prediction" in str(found)
    assert "no change of the columns that may change gives another prediction" in str(found)
    assert "one leaf: every row gets the same prediction" in found.html()


def test_a_number() -> None:
    found = tw.explain_row(hours(), {"humidity": 70})
    assert (found.prediction, found.probabilities, found.probability) == (44.25, None, None)
    assert str(found).startswith("hours: 44.25\n\n  at first                            39.16\n  humidity is 70  → ")


def test_html_escapes_everything() -> None:
    evil = '<script>"&'
    schema = Schema(
        (ColumnSpec(evil, "nominal", (evil + "a", evil + "b")),),
        TargetSpec(evil + "t", "classification", (evil + "1", evil + "2")),
    )
    t = tree(fork(Question(0, (0, 1), missing=-1), leaf(3, 1), leaf(1, 2)), schema)
    for row in ({evil: evil + "a"}, {}, {evil: evil + "c"}):
        page = tw.explain_row(t, row).html()
        assert page.count("<script") == 0
        assert "&lt;script&gt;" in page
        assert page.startswith('<div class="tw-results">')


def test_long_paths_and_many_paths_are_cut_and_say_so() -> None:
    plan = leaf(1, 0)
    for i in range(40):
        plan = fork(Question(1, (0, 1), (float(i),), missing=-1), leaf(0, 1), plan)
    assert "… 24 steps" in str(tw.explain_row(tree(plan), {"humidity": 100}))
    several = str(tw.explain_row(tree(plan), {}))
    assert "… 25 more paths" in several
    assert "… 25 more = " in several


# --- changes ----------------------------------------------------------------------------------------------------------


def cells(t: tw.Tree, column: ColumnSpec) -> list[Any]:
    """One value of every cell that the tree can tell apart: on each break, and between."""
    if column.levels is not None:
        return list(column.levels)
    splits = [node.split for node in t.walk() if node.split is not None and node.split.column == column.name]
    breaks = sorted({x for split in splits for x in split.breaks})
    between = [(a + b) / 2 for a, b in itertools.pairwise(breaks)]
    return [*breaks, *between, breaks[0] - 1, breaks[-1] + 1] if breaks else []


def fewest(t: tw.Tree, row: dict[str, Any], fixed: set[str]) -> int | None:
    """The smallest number of columns whose change changes the answer, by trying all."""
    now = tw.predict(t, one(row)).tolist()[0]
    free = [c for c in t.schema.columns if c.name not in fixed]
    for size in range(1, len(free) + 1):
        for columns in itertools.combinations(free, size):
            names = [column.name for column in columns]
            grid = itertools.product(*[cells(t, column) for column in columns])
            choices = [dict(zip(names, new, strict=True)) for new in grid]
            if choices:
                table = {name: [{**row, **new}[name] for new in choices] for name in row}
                if any(prediction != now for prediction in tw.predict(t, table).tolist()):
                    return size
    return None


@pytest.mark.parametrize("seed", range(25))
def test_no_change_of_fewer_columns_would_do(seed: int) -> None:
    rng = random.Random(seed)
    table = {
        "x": [rng.gauss(0, 1) for _ in range(80)],
        "y": [float(rng.randrange(5)) for _ in range(80)],
        "flag": [rng.random() < 0.5 for _ in range(80)],
    }
    rows = zip(*table.values(), strict=True)
    target = ["yes" if (x > 0.3) + (y > 2) + flag >= rng.choice([2, 3]) else "no" for x, y, flag in rows]
    t = tw.learn(table, target, tw.SKLEARN)
    for i in range(6):
        row = {name: values[i] for name, values in table.items()}
        fixed = {name for name in table if rng.random() < 0.25}
        found = tw.counterfactuals(t, row, fixed=tuple(fixed))
        expected = fewest(t, row, fixed)
        assert (len(found[0].values) if found else None) == expected
        assert not any(fixed & set(change.values) for change in found)
        sizes = [(len(change.values), change.distance) for change in found]
        assert sizes == sorted(sizes)


def test_the_smallest_move_comes_first() -> None:
    """Both columns could do it alone; the one whose move is smaller, measured by its breaks, comes first."""
    schema = Schema(
        (ColumnSpec("a", "numeric"), ColumnSpec("b", "numeric")), TargetSpec("t", "classification", ("n", "y"))
    )
    low, middle = (fork(Question(1, (0, 1, 2), (0.0, 1000.0)), leaf(4, 0), leaf(4, 0), leaf(0, 4)) for _ in range(2))
    t = tree(fork(Question(0, (0, 1, 2), (0.0, 10.0)), low, middle, leaf(0, 4)), schema)
    found = tw.counterfactuals(t, {"a": 1.0, "b": 900.0})
    assert [(dict(change.values), change.distance) for change in found] == [
        ({"b": pytest.approx(1000, abs=50)}, pytest.approx(0.1)),
        ({"a": pytest.approx(10, abs=0.5)}, pytest.approx(0.9)),
    ]
    assert found[0].conditions == ("b were above 1000 instead of 900",)
    assert list(tw.counterfactuals(t, {"a": 9.5, "b": 900.0})[0].values) == ["a"]


def test_a_wanted_class() -> None:
    iris = {"length": [1.0, 1.2, 3.0, 3.1, 5.0, 5.2], "kind": ["s", "s", "m", "m", "l", "l"]}
    t = tw.learn(iris, "kind", tw.SKLEARN)
    row = {"length": 1.1}
    assert [change.prediction for change in tw.counterfactuals(t, row)] == ["m", "l"]
    assert [change.prediction for change in tw.counterfactuals(t, row, want="l")] == ["l"]
    assert tw.counterfactuals(t, row, want="s") == ()
    assert "nothing: it is what is wanted" in str(tw.explain_row(t, row, want="s"))
    assert str(tw.counterfactuals(t, row, want="m")[0]) == (
        "if length were above 2.1 and at most 4.05 instead of 1.1, the prediction would be m (100 %)"
    )
    assert len(tw.counterfactuals(t, row, most=1)) == 1
    with pytest.raises(DataError, match="want='xl' is no class of 'kind'; there are 'l', 'm', 's'"):
        tw.explain_row(t, row, want="xl")


def test_a_wanted_number() -> None:
    table = {"x": list(range(40)), "y": [float(i // 10) for i in range(40)]}
    t = tw.learn(table, "y", tw.SKLEARN, task="regression")
    row = {"x": 15}
    assert [c.prediction for c in tw.counterfactuals(t, row, want=(">", 2.5))] == [3.0]
    assert [c.prediction for c in tw.counterfactuals(t, row, want=("<", 1))] == [0.0]
    assert [c.prediction for c in tw.counterfactuals(t, row)] == [2.0, 0.0]  # half a deviation, either way
    assert [c.prediction for c in tw.counterfactuals(t, row, want=1.5)] == [3.0]
    assert tw.counterfactuals(t, row, want=(">", 3)) == ()
    for wrong in ("up", True, -1, ("=", 3), (">", "3"), (">",)):
        with pytest.raises(DataError, match="want="):
            tw.counterfactuals(t, row, want=wrong)


def test_changes_of_every_kind_of_column() -> None:
    days = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(20)]
    moments = [dt.datetime(2024, 1, 1, 12) + dt.timedelta(hours=i) for i in range(20)]  # noqa: DTZ001
    clocks = [dt.time(i, 30) for i in range(20)]
    spans = [dt.timedelta(minutes=i) for i in range(20)]
    grades = [["low", "middle", "high"][min(2, i // 7)] for i in range(20)]
    for values, kinds in (
        (days, None),
        (moments, None),
        (clocks, None),
        (spans, None),
        (grades, {"v": ["low", "middle", "high"]}),
    ):
        target = ["late" if i >= 14 else "early" for i in range(20)]
        t = tw.learn({"v": values, "answer": target}, "answer", tw.CART, kinds=kinds)
        for i in (0, 19):
            (change,) = tw.counterfactuals(t, {"v": values[i]})
            assert type(change.values["v"]) is type(values[i])
            assert tw.predict(t, one(dict(change.values))).tolist() == [change.prediction]
            assert change.prediction == target[19 - i]
    assert str(change) == "if v were middle or low instead of high, the prediction would be early (100 %)"


def test_a_missing_value_may_be_filled_in_or_stay() -> None:
    found = tw.counterfactuals(tennis(), {"outlook": None, "humidity": 70, "windy": False})
    assert [str(change) for change in found] == [
        (
            "if outlook were sunny instead of missing and humidity were above 77.5 instead of 70, "
            "the prediction would be no (100 %)"
        ),
        (
            "if outlook were rain instead of missing and windy were True instead of False, "
            "the prediction would be no (100 %)"
        ),
    ]


def test_a_surrogate_may_be_what_changes() -> None:
    plan = fork(Question(0, (0, 1, 1)), leaf(3, 1), leaf(1, 3), surrogates=(Question(1, (0, 1), (80.0,)),))
    found = tw.counterfactuals(tree(plan), {"humidity": 90, "outlook": None})
    assert [set(change.values) for change in found] == [{"outlook"}, {"humidity"}]


def test_bad_wishes() -> None:
    for wrong, message in ((("heat",), "fixed names 'heat', which is no column"), ("windy", "should be a sequence")):
        with pytest.raises(DataError, match=message):
            tw.counterfactuals(tennis(), ROW, fixed=wrong)
        with pytest.raises(DataError, match=message):
            tw.explain_row(tennis(), ROW, fixed=wrong)
    with pytest.raises(ValueError, match="most must be at least 1"):
        tw.explain_row(tennis(), ROW, most=0)


def test_nothing_may_change() -> None:
    found = tw.explain_row(tennis(), ROW, fixed=TENNIS.names)
    assert found.counterfactuals == ()
    assert "no change of the columns that may change gives another prediction" in found.html()


def test_a_large_tree_is_searched_quickly_and_always_alike() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 5))
    t = tw.learn(x, rng.integers(0, 2, 4000), tw.SKLEARN, task="classification")
    assert tw.counterfactuals(t, x[0]) == tw.counterfactuals(t, x[0])
    assert len(tw.counterfactuals(t, x[0])) == 3
