"""Leaf rules: what they cover, what they say, how they are shown."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from explain_cases import case, grown
from handmade_trees import Question, fork, hours, leaf, random_tree, tennis, tree
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.inspection.rules.paths import leaf_paths, merged, merged_paths
from treewright.prediction.encode_rows import encode_labelled
from treewright.tree.conditions import Condition, Interval

AGE = ColumnSpec("age", "numeric")


def covered(rules: tw.inspection.rules.rules.Rules, rows: object) -> np.ndarray:
    """Which rule's conditions each row meets: [rule, row]."""
    columns = rows.columns
    return np.array(
        [
            np.all(
                [test.holds(columns[test.column_index]) for test in rule.tests] or [np.ones(len(columns[0]), bool)], 0
            )
            for rule in rules
        ]
    )


# --- what rules cover -------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
@settings(max_examples=35, deadline=None)
def test_leaf_rules_divide_the_rows_as_the_tree_does(seed: int) -> None:
    one = case(seed, missing=False)
    learned = grown(one)
    rules = tw.rules(learned)
    met = covered(rules, encode_labelled(learned, one.table, None, None))
    assert (met.sum(axis=0) == 1).all()
    assert [rules[i].node for i in met.argmax(axis=0)] == tw.apply(learned, one.table).tolist()
    for rule, rows in zip(rules, met, strict=True):
        assert rule.rows == rows.sum()
        assert math.isclose(rule.coverage, rows.mean())


@given(st.integers(0, 10**6))
@settings(max_examples=35, deadline=None)
def test_a_row_with_missing_values_that_meets_a_rule_is_predicted_by_it(seed: int) -> None:
    one = case(seed, missing=True)
    learned = grown(one)
    rules = tw.rules(learned)
    met = covered(rules, encode_labelled(learned, one.table, None, None))
    nodes = tw.apply(learned, one.table)
    assert (met.sum(axis=0) <= 1).all()
    for row in np.flatnonzero(met.any(axis=0)):
        assert rules[int(met[:, row].argmax())].node == nodes[row]
    assert (rules.predict(one.table) == tw.predict(learned, one.table)).all()


@pytest.mark.parametrize(("missing", "unseen", "holder"), [(-2, 0, 0), (1, -4, 1), (-1, -4, None), (1, 0, 0)])
def test_a_level_that_no_child_holds(missing: int, unseen: int, holder: int | None) -> None:
    """It goes where unseen levels go or, failing that, where missing values do; a rule says so."""
    plan = fork(Question(0, (0, -1, 1), missing=missing, unseen=unseen), leaf(3, 0), leaf(0, 4))
    found = [rule.tests[0] for rule in tw.rules(tree(plan)).sorted("node")]
    assert [1 in test.codes for test in found] == [child == holder for child in (0, 1)]
    nodes = tw.apply(tree(plan), {"outlook": ["overcast"], "humidity": [1.0], "windy": [True]})
    if holder is not None:
        assert nodes.tolist() == [1 + holder]


@given(st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_any_tree_has_rules_that_print(seed: int) -> None:
    made = random_tree(seed)
    rules = tw.rules(made)
    assert len(rules) == sum(node.is_leaf and node.weight > 0 for node in made)
    for rule in rules:
        for words in (str(rule), rule.text("plain")):
            assert words.isprintable()
        assert len(rule.tests) == len(set(rule.columns))


@given(
    st.lists(st.tuples(st.sampled_from([1.0, 2.0, 3.0, 4.0]), st.booleans(), st.booleans()), min_size=1, max_size=6),
    st.lists(st.sampled_from([0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, math.nan]), min_size=1),
)
def test_joined_intervals_hold_where_every_part_does(
    parts: list[tuple[float, bool, bool]], values: list[float]
) -> None:
    """A part is a number, whether it belongs below, and whether the part is what lies above."""
    conditions = [
        Condition(AGE, 0, (Interval(x, with_low=not closed) if above else Interval(high=x, with_high=closed),))
        for x, closed, above in parts
    ]
    expected = [
        not math.isnan(v) and all(((v > x if closed else v >= x) == above) for x, closed, above in parts)
        for v in values
    ]
    assert merged(conditions)[0].holds(np.array(values)).tolist() == expected


def test_figures_of_the_textbook_tree() -> None:
    rules = tw.rules(tennis())
    assert [rule.support for rule in rules] == [4, 3, 3, 2, 2]
    first = rules[0]
    assert (first.conditions, first.prediction, first.node) == (("outlook = overcast",), "yes", 4)
    assert (first.confidence, first.coverage) == (1.0, 4 / 14)
    assert first.lift == pytest.approx(14 / 9)
    assert rules.accuracy == rules.tree_accuracy == 1.0


def test_figures_of_numbers() -> None:
    first = tw.rules(hours())[0]
    assert (first.prediction, first.mean, first.confidence, first.lift) == (44.25, 44.25, None, None)
    assert first.deviation == pytest.approx(math.sqrt(210.5 / 9))
    assert tw.rules(hours()).accuracy is None


def test_accuracy_without_the_table_is_the_training_accuracy() -> None:
    one = case(3, classes=True, missing=False)
    learned = grown(one)
    right = float(np.mean(tw.predict(learned, one.table) == one.table["target"]))
    assert tw.rules(learned).accuracy == pytest.approx(right)
    assert tw.rules(learned, one.table).accuracy == pytest.approx(right)


# --- what they say ----------------------------------------------------------------------------------------------------


def test_words_of_the_textbook_tree() -> None:
    assert (
        str(tw.rules(tennis()))
        == """\
5 rules for play, one per leaf of the C45 tree; right for 100.0 % of the rows
if outlook = overcast then play = yes  (4 rows, 100 %)
if outlook = sunny and humidity > 77.5 then play = no  (3 rows, 100 %)
if outlook = rain and windy = False then play = yes  (3 rows, 100 %)
if outlook = sunny and humidity <= 77.5 then play = yes  (2 rows, 100 %)
if outlook = rain and windy = True then play = no  (2 rows, 100 %)"""
    )
    plain = tw.rules(tennis()).text("plain").splitlines()
    assert (
        plain[2]
        == "If the outlook is sunny and the humidity is above 77.5, then the play is no (true of 100 % of 3 rows)."
    )
    assert plain[3] == "If the outlook is rain and the windy is false, then the play is yes (true of 100 % of 3 rows)."
    assert str(tw.rules(hours())[0]) == "if humidity <= 77.5 then hours = 44.25  (9 rows, ± 4.836)"
    assert "then the hours is about 44.25 (9 rows, give or take 4.836)." in tw.rules(hours())[0].text("plain")
    assert str(tw.rules(tree(leaf(5, 9)))[0]) == "always play = yes  (14 rows, 64 %)"


def test_conditions_on_one_column_become_one() -> None:
    table = {"age": [20, 31, 33, 35, 44, 60, 61, 70], "buys": list("nnnyyynn")}
    rule = tw.rules(tw.learn(table, "buys", tw.SKLEARN)).for_class("y")[0]
    assert rule.conditions == ("34 < age <= 60.5",)
    assert rule.text("plain").startswith("If the age is above 34 and at most 60.5, then")


LEVELS = ColumnSpec("level", "nominal", tuple("abcdefgh"))
SIZE = ColumnSpec("size", "ordinal", ("S", "M", "L", "XL"))
DAY = ColumnSpec("day", "date")
JANUARY = 1_704_067_200_000_000.0  # 2024-01-01


@pytest.mark.parametrize(
    ("condition", "formal", "plain"),
    [
        (Condition(LEVELS, 0, (), (0,)), "level = a", "the level is a"),
        (Condition(LEVELS, 0, (), (0, 2)), "level in {a, c}", "the level is a or c"),
        (Condition(LEVELS, 0, (), tuple(range(7))), "level != h", "the level is anything but h"),
        (Condition(LEVELS, 0, (), tuple(range(6))), "level not in {g, h}", "the level is anything but g or h"),
        (Condition(LEVELS, 0, (), (), True, mentions_missing=True), "level is missing", "the level is not known"),
        (
            Condition(LEVELS, 0, (), (0,), True, mentions_missing=True),
            "level = a or missing",
            "the level is a or not known",
        ),
        (Condition(LEVELS, 0, (), (0,), True), "level = a", "the level is a"),
        (Condition(SIZE, 0, (), (0, 1)), "size <= M", "the size is M or lower"),
        (Condition(SIZE, 0, (), (2, 3)), "size >= L", "the size is L or higher"),
        (Condition(SIZE, 0, (), (1, 2)), "M <= size <= L", "the size is from M to L"),
        (Condition(SIZE, 0, (), (0, 2)), "size in {S, L}", "the size is S or L"),
        (Condition(AGE, 0, (Interval(high=3.0),)), "age < 3", "the age is below 3"),
        (Condition(AGE, 0, (Interval(3.0, with_low=True),)), "age >= 3", "the age is at least 3"),
        (Condition(AGE, 0, (Interval(3.0, 4.0),)), "3 < age < 4", "the age is above 3 and below 4"),
        (Condition(AGE, 0, (Interval(),)), "age is known", "the age is known"),
        (
            Condition(DAY, 0, (Interval(high=JANUARY, with_high=True),)),
            "day <= 2024-01-01",
            "the day is not after 2024-01-01",
        ),
        (Condition(DAY, 0, (Interval(JANUARY),)), "day > 2024-01-01", "the day is after 2024-01-01"),
    ],
)
def test_words_of_conditions(condition: Condition, formal: str, plain: str) -> None:
    assert condition.words() == formal
    assert condition.words("plain") == plain


def test_long_lists_of_levels_are_cut() -> None:
    many = ColumnSpec("code", "nominal", tuple(f"c{i}" for i in range(40)))
    assert Condition(many, 0, (), tuple(range(12))).words(most=4) == "code in {c0, c1, c2, … 9 more}"
    assert Condition(many, 0, (), tuple(range(12))).words("plain", 4) == "the code is c0, c1, c2 or … 9 more"


def test_missing_values_are_spoken_of_where_some_were_met() -> None:
    spread = fork(
        Question(0, (0, 1, 2), missing=-1), leaf(3, 2.5, rows=6), leaf(0, 4.5, rows=5), leaf(2, 2, rows=4), rows=14
    )
    assert str(tw.rules(tree(spread))).endswith("a row without outlook goes down every branch, by share")
    goes_along = fork(Question(1, (0, 1), (70.0,), share=(0.5, 0.5), missing=0), leaf(3, 5), leaf(0, 4))
    assert "if humidity <= 70 or missing then" in str(tw.rules(tree(goes_along)))
    helped = fork(
        Question(1, (0, 1), (70.0,), share=(0.5, 0.5), missing=0), leaf(3, 5), leaf(0, 4), surrogates=(Question(2),)
    )
    assert "a row without humidity is sent on by other columns" in str(tw.rules(tree(helped)))
    assert "missing" not in str(tw.rules(tree(helped))[0])


def test_hostile_names_are_escaped() -> None:
    schema = Schema(
        (ColumnSpec("<b>|\n", "nominal", ("<i>", "x|y")),), TargetSpec("a&b", "classification", ("<p>", "q"))
    )
    rules = tw.rules(tree(fork(Question(0, (0, 1)), leaf(3, 0), leaf(0, 2)), schema))
    page, written = rules.html(), rules.markdown()
    assert all(tag not in page for tag in ("<b>", "<i>", "<p>"))
    assert "a&amp;b" in page
    assert all(tag not in written.replace("\\<", "") for tag in ("<b>", "<i>", "<p>"))
    table = [line for line in written.splitlines() if line.startswith("|")]
    assert len(table) == 4  # head, rule, and two rows: no name broke a line
    assert {line.replace("\\|", "").count("|") for line in table} == {6}


# --- a sequence of rules ----------------------------------------------------------------------------------------------


def test_choosing_and_sorting() -> None:
    rules = tw.rules(tennis())
    assert {rule.prediction for rule in rules.for_class("no")} == {"no"}
    assert len(rules.with_column("humidity")) == 2
    assert len(rules[:2]) == 2
    assert [rule.node for rule in rules.sorted("node")] == [2, 3, 4, 6, 7]
    assert [rule.prediction for rule in rules.sorted("prediction")] == ["no", "no", "yes", "yes", "yes"]
    assert len(rules.where(lambda rule: rule.support > 3)) == 1
    assert str(rules.for_class("no")).startswith("2 of the rules for play\nif ")
    with pytest.raises(tw.DataError, match="some of the rules only"):
        rules.for_class("no").predict({"outlook": ["sunny"], "humidity": [70], "windy": [True]})
    with pytest.raises(tw.DataError, match="no class"):
        rules.for_class("maybe")
    with pytest.raises(tw.DataError, match="no column"):
        rules.with_column("rain")


def test_tables_of_numbers_have_no_lift() -> None:
    written = tw.rules(hours()).markdown().splitlines()
    assert written[2:4] == ["| if | hours | support | deviation |", "| --- | --- | ---: | ---: |"]
    assert written[4] == "| humidity <= 77.5 | 44.25 | 9 rows | ± 4.836 |"


def test_plain_values() -> None:
    written = json.loads(json.dumps(tw.rules(tennis()).as_dict()))
    assert written["rules"][0]["if"] == ["outlook = overcast"]
    assert written["rules"][0]["then"] == "yes"
    assert written["default"] is None


def test_evaluating_numbers_and_classes() -> None:
    one = case(1, classes=False, missing=False)
    found = tw.rules(grown(one)).evaluate(one.table)
    predictions, truth = tw.predict(grown(one), one.table), one.table["target"].to_numpy()
    assert found.measure == "variance explained"
    assert found.rules == found.tree == pytest.approx(1 - np.mean((predictions - truth) ** 2) / np.var(truth))
    with pytest.raises(tw.DataError, match="measure must be one of"):
        tw.rules(grown(one)).evaluate(one.table, measure="accuracy")


def test_weights_are_reported() -> None:
    table = pd.DataFrame({"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"], "w": [2.0, 2.0, 1.0, 1.0]})
    rules = tw.rules(tw.learn(table, "y", tw.SKLEARN, weight="w"))
    assert str(rules[0]) == "if x <= 2.5 then y = a  (weight 4, 100 %)"


def test_a_forgotten_tree_or_kind() -> None:
    with pytest.raises(TypeError, match="expected a Tree"):
        tw.rules("tree")
    with pytest.raises(tw.DataError, match="kind must be"):
        tw.rules(tennis(), kind="leaf")


def test_paths_are_the_trees_own() -> None:
    made = tennis()
    assert list(merged_paths(made)) == [(node, merged(path)) for node, path in leaf_paths(made)]
    assert [(node.id, len(path)) for node, path in leaf_paths(made)] == [(2, 2), (3, 2), (4, 1), (6, 2), (7, 2)]
