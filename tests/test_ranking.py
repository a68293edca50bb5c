"""rank_splits: the lessons' numbers, and on random tables what the engine itself chose.

An expected number is printed in a lesson, stored by a tree, or worked out beside the assertion without the library.
"""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from random_trees import grown_trees, near
from table_makers import MAKERS

import treewright as tw
from treewright.inspection.ranking import Ranking
from treewright.lessons.tables import BUYS, CRICKET, GOLF, HUMIDITY, TENNIS, TRADING

PLAIN = replace(tw.ID3, numeric=tw.numeric.Threshold())


def scores(ranking: Ranking) -> dict[str, float]:
    return {c.column: round(c.score, 4) for c in ranking if c.score is not None}


def under(tree: tw.Tree, level: str) -> int:
    """The root's child for a level."""
    return next(tree.root.children[i] for i, group in enumerate(tree.root.split.groups) if level in group)


# --- the lessons ------------------------------------------------------------------------------------------------------


def test_tennis() -> None:
    ranking = tw.rank_splits(TENNIS, "Play", ["information_gain", "gain_ratio"])
    assert scores(ranking) == {"Outlook": 0.2467, "Humidity": 0.1518, "Wind": 0.0481, "Temperature": 0.0292}
    ratio = {"Outlook": 0.1564, "Humidity": 0.1518, "Wind": 0.0488, "Temperature": 0.0188}
    assert scores(ranking.by("gain_ratio")) == ratio
    assert {c.column: round(c.scores["gain_ratio"], 4) for c in ranking} == ratio
    first = ranking[0]
    assert (first.chosen, first.criterion, first.reason, first.missing) == (True, "information_gain", None, 0)
    assert [(b.condition, b.counts) for b in first.children] == [
        ("Outlook = Overcast", (0.0, 4.0)),
        ("Outlook = Rain", (2.0, 3.0)),
        ("Outlook = Sunny", (3.0, 2.0)),
    ]


def test_tennis_in_sunny() -> None:
    tree = tw.learn(TENNIS, "Play", tw.ID3)
    ranking = tw.rank_splits(TENNIS, tree=tree, node=under(tree, "Sunny"))
    assert scores(ranking) == {"Humidity": 0.9710, "Temperature": 0.5710, "Wind": 0.0200}
    assert ranking.columns[-1] == "Outlook"
    assert (ranking[-1].score, ranking[-1].reason) == (None, "constant: only Sunny here")
    pure = tw.rank_splits(TENNIS, tree=tree, node=under(tree, "Overcast"))
    assert (pure.stop, scores(pure), len(pure)) == ("pure", {}, 4)


def test_tennis_by_default_is_the_recipes_criterion() -> None:
    assert tw.rank_splits(TENNIS, "Play", recipe=tw.CART).criteria == ("gini",)
    assert tw.rank_splits(TENNIS, "Play").criteria == ("information_gain",)
    assert tw.rank_splits(GOLF, "Hours").criteria == ("variance",)
    assert tw.rank_splits(TENNIS, "Play", recipe=tw.C45).criteria == ("gain_ratio",)


def test_trading_and_buys() -> None:
    parent = 1 - 0.4**2 - 0.6**2
    after = {c.column: round(parent - c.gain, 4) for c in tw.rank_splits(TRADING, "Return", "gini")}
    assert after == {"Past Trend": 0.2667, "Trading Volume": 0.3429, "Open Interest": 0.4667}
    assert scores(tw.rank_splits(BUYS, "Buys", "entropy")) == {"Age": 0.5577, "Income": 0.1678}


@pytest.mark.parametrize(
    ("criterion", "before", "gender", "form"),
    [
        ("information_gain", 1.0, 0.8634, 0.9871),
        ("gini", 0.5, 0.41, 0.4911),
        ("misclassification", 0.5, 0.3, 0.4333),
        ("variance", 0.25, 0.205, 0.2455),
    ],
)
def test_cricket(criterion: str, before: float, gender: float, form: float) -> None:
    plays = [int(p == "yes") for p in CRICKET["Plays"]] if criterion == "variance" else CRICKET["Plays"]
    task: Any = "regression" if criterion == "variance" else None
    ranking = tw.rank_splits({**CRICKET, "Plays": plays}, "Plays", criterion, task=task)
    assert {c.column: round(before - c.gain, 4) for c in ranking} == {"Gender": gender, "Class": form}


def test_golf_hours_at_the_root_and_in_sunny() -> None:
    recipe = replace(tw.ID3, regression=tw.criterion.StandardDeviation())
    ranking = tw.rank_splits(GOLF, "Hours", recipe=recipe)
    assert scores(ranking) == {"Outlook": 1.6622, "Temperature": 0.4797, "Wind": 0.2821, "Humidity": 0.2723}
    tree = tw.learn(GOLF, "Hours", recipe)
    sunny = [i for i, outlook in enumerate(GOLF["Outlook"]) if outlook == "Sunny"]
    below = tw.rank_splits(GOLF, tree=tree, node=under(tree, "Sunny"))
    hours = [GOLF["Hours"][i] for i in sunny]
    for candidate in below:
        if candidate.column == "Outlook":
            continue
        groups: dict[str, list[int]] = {}
        for i in sunny:
            groups.setdefault(GOLF[candidate.column][i], []).append(GOLF["Hours"][i])
        after = sum(len(group) / len(hours) * statistics.pstdev(group) for group in groups.values())
        assert candidate.score == pytest.approx(statistics.pstdev(hours) - after)
        assert sorted(b.mean for b in candidate.children if b.rows) == pytest.approx(
            sorted(statistics.fmean(group) for group in groups.values())
        )


def test_humidity() -> None:
    best = tw.rank_splits(HUMIDITY, "Play", "information_gain")[0]
    assert (round(best.score or 0, 4), best.split.threshold) == (0.6053, 89.5)
    observed = tw.rank_splits(HUMIDITY, "Play", recipe=tw.C45)[0]
    assert observed.split.threshold == 89


# --- every column, every table ----------------------------------------------------------------------------------------


def test_every_column_appears_with_its_reason() -> None:
    table = {
        "same": ["a"] * 6,
        "rare": ["x", "y", "y", "y", "y", "y"],
        "unknown": [None, None, None, None, None, 1.5],
        "x": [1, 2, 3, 4, 5, 6],
        "play": list("aabbab"),
    }
    recipe = replace(tw.CART, stopping=tw.stopping.Stopping(min_samples_leaf=2))
    ranking = tw.rank_splits(table, "play", recipe=recipe)
    reasons = {c.column: c.reason for c in ranking}
    assert reasons == {
        "x": None,
        "same": "constant: only a here",
        "rare": "every split is refused: min_samples_leaf=2",
        "unknown": "constant: only 1.5 here",
    }
    assert ranking.of("unknown").missing == 5
    text = str(ranking)
    assert all(name in text for name in table if name != "play")


def test_the_penalty_for_cuts_is_a_reason() -> None:
    table = {"x": list(range(40)), "y": ["a", "b"] * 20, "play": ["a", "b", "a", "b", "b", "a", "b", "a"] * 5}
    ranking = tw.rank_splits(table, "play", recipe=tw.C45)
    assert ranking.of("x").reason == "the gain is not above the penalty for choosing among its cuts"


def test_counts_are_those_of_the_rows_and_missing_rows_are_reported() -> None:
    colour = ["red", None, "blue", "red", "green", None, "blue", "red"]
    table = {"colour": colour, "play": list("abababab")}
    candidate = tw.rank_splits(table, "play", recipe=replace(tw.ID3, missing="fractional"))[0]
    pairs = Counter((c, p) for c, p in zip(colour, table["play"], strict=True) if c)
    assert {b.condition: b.counts for b in candidate.children} == {
        f"colour = {c}": (pairs[c, "a"], pairs[c, "b"]) for c in ("red", "blue", "green")
    }
    assert (candidate.missing, candidate.missing_weight) == (2, 2.0)
    own = tw.rank_splits(table, "play", recipe=replace(tw.ID3, missing="own"))[0]
    assert [b.condition for b in own.children][-1] == "colour is missing"
    assert own.missing == 0


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_any_table(make: Any) -> None:
    assert scores(tw.rank_splits(make(TENNIS), "Play", recipe=tw.ID3))["Outlook"] == 0.2467


def test_dates_weights_and_ordered_levels() -> None:
    days = [date(2024, 1, 1) + timedelta(days=i) for i in range(8)]
    size = ["small", "large", "medium", "small", "large", "medium", "small", "large"]
    table = {"day": days, "size": size, "play": list("aaaabbbb")}
    kinds = {"size": ["small", "medium", "large"]}
    ranking = tw.rank_splits(table, "play", weight=[1.0, 2.0] * 4, kinds=kinds)
    assert ranking[0].children[0].condition == "day <= 2024-01-04"
    assert [b.weight for b in ranking[0].children] == [6.0, 6.0]
    assert "weight 12" in str(ranking)


def test_costs_and_priors_are_the_trees() -> None:
    recipe = replace(tw.ID3, rivals=9)
    for extra in (
        {"costs": {"No": {"Yes": 5}}},
        {"priors": [0.8, 0.2]},
        {"costs": [[0, 2], [1, 0]], "priors": [0.5, 0.5]},
    ):
        tree = tw.learn(TENNIS, "Play", recipe, **extra)
        for node in tree.walk():
            if node.split is not None:
                ranking = tw.rank_splits(TENNIS, tree=tree, node=node.id)
                for split in (node.split, *node.rivals):
                    assert ranking.of(split.column).score == pytest.approx(split.score, rel=1e-9)


# --- errors -----------------------------------------------------------------------------------------------------------


def test_errors_say_what_to_do() -> None:
    tree = tw.learn(TENNIS, "Play", tw.ID3)
    with pytest.raises(tw.RecipeError, match="'purity' is not known; for classification choose from information_gain"):
        tw.rank_splits(TENNIS, "Play", "purity")
    with pytest.raises(tw.RecipeError, match="variance is a criterion for regression, but the target 'Play'"):
        tw.rank_splits(TENNIS, "Play", ["gini", "variance"])
    with pytest.raises(tw.RecipeError, match="same criterion twice"):
        tw.rank_splits(TENNIS, "Play", ["entropy", "information_gain"])
    with pytest.raises(tw.RecipeError, match="at least one"):
        tw.rank_splits(TENNIS, "Play", [])
    with pytest.raises(tw.DataError, match="needs to know the target"):
        tw.rank_splits(TENNIS)
    with pytest.raises(tw.DataError, match="lacks the target 'Play'"):
        tw.rank_splits({k: v for k, v in TENNIS.items() if k != "Play"}, tree=tree)
    with pytest.raises(tw.DataError, match="leave them out"):
        tw.rank_splits(TENNIS, tree=tree, kinds={"Wind": "nominal"})
    with pytest.raises(tw.DataError, match="no criterion for regression"):
        tw.rank_splits(GOLF, "Hours", recipe=tw.ID3)
    with pytest.raises(IndexError, match="no node 99"):
        tw.rank_splits(TENNIS, tree=tree, node=99)
    with pytest.raises(KeyError, match="not requested"):
        tw.rank_splits(TENNIS, "Play").by("gini gain")
    with pytest.raises(KeyError, match="no column"):
        tw.rank_splits(TENNIS, "Play").of("Sky")


# --- what the engine chose --------------------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(case=grown_trees())
def test_rankings_are_what_the_engine_chose(case: Any) -> None:
    """At every node of every tree: the same splits with the same scores, the chosen one first."""
    tree, rows, table, recipe = case
    for node in tree.walk():
        ranking = tw.rank_splits(rows, tree=tree, node=node.id, weight=table.weight)
        assert sorted(ranking.columns) == sorted(tree.schema.names)
        assert all((c.split is None) == (c.score is None) for c in ranking)
        assert all(c.reason for c in ranking if c.split is None)
        for split in ((node.split,) if node.split is not None else ()) + node.rivals:
            same = ranking.of(split.column)
            assert same.score == pytest.approx(split.score, rel=1e-9, abs=near(recipe))
            assert same.gain == pytest.approx(split.gain, rel=1e-9, abs=near(recipe))
        if node.split is not None:
            own = ranking[0].split
            assert own is not None
            assert ranking[0].column == node.split.column
            assert own.child_of_bin == node.split.child_of_bin
            assert own.breaks == pytest.approx(node.split.breaks)
            assert own.share == pytest.approx(node.split.share)
        assert str(ranking)
