"""Rule lists: every step against a plain implementation that shares no code with it."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import oracle_pruning
import pytest
from explain_cases import SIZES, case, grown
from handmade_trees import hours, tennis
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.data.encoding import Encoded
from treewright.data.schema import ColumnSpec
from treewright.inspection.rules.description_length import TRY_ALL, Problem, shortest
from treewright.inspection.rules.generalise import MARKS, RuleCandidate, candidates, needed
from treewright.inspection.rules.rule_list import in_order, rule_list
from treewright.prediction.encode_rows import encode_labelled
from treewright.tree.conditions import Condition, Interval

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


# --- answering --------------------------------------------------------------------------------------------------------


def holds(condition: Condition, value: Any) -> bool:
    """A condition on one value of the table, with Python's own comparisons."""
    if value is None or value != value:
        return condition.missing
    if condition.spec.has_levels:
        return any(condition.spec.levels[code] == value for code in condition.codes)
    if condition.spec.kind == "datetime":
        value = value.value / 1000  # pandas counts nanoseconds
    return any(value in interval for interval in condition.intervals)


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_the_first_rule_that_applies_predicts(seed: int) -> None:
    one = case(seed, classes=True)
    rules = tw.rules(grown(one), one.table, kind="list")
    expected = []
    for row in one.table.astype(object).where(one.table.notna(), None).to_dict("records"):
        met = (rule.prediction for rule in rules if all(holds(test, row[test.column]) for test in rule.tests))
        expected.append(next(met, rules.default.prediction))
    assert rules.predict(one.table).tolist() == expected
    assert rules.accuracy == pytest.approx(np.mean(np.array(expected) == one.table["target"]))
    found = rules.evaluate(one.table)
    assert (found.rules, found.tree) == pytest.approx((rules.accuracy, rules.tree_accuracy))


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_no_rule_can_be_left_out_without_more_errors(seed: int) -> None:
    one = case(seed, classes=True)
    learned = grown(one)
    rows = encode_labelled(learned, one.table, None, None)
    assert rows is not None
    found = rule_list(learned, rows, 0.25)

    def errors(rules: list[Any]) -> int:
        predicted = np.full(rows.n_rows, found.default)
        for rule in reversed(rules):
            predicted[rule.rows] = rule.prediction
        return int((predicted != rows.target).sum())

    whole = errors(list(found.rules))
    for left_out in range(len(found.rules)):
        assert errors([rule for i, rule in enumerate(found.rules) if i != left_out]) > whole
    for rule in found.rules:
        met = [test.holds(rows.columns[test.column_index]) for test in rule.conditions]
        assert np.flatnonzero(np.all(met, axis=0)).tolist() == rule.rows.tolist()


def test_classes_that_claim_the_fewest_rows_of_others_come_first() -> None:
    def rule(predicted: int, rows: list[int], rate: float) -> RuleCandidate:
        return RuleCandidate((), predicted, 0, np.array(rows), rate)

    target = np.array([0, 0, 0, 1, 1, 1, 2, 2], dtype=np.int32)
    rows = Encoded((), (), (), 8, target, 3)
    greedy, modest, clean = rule(0, [0, 1, 2, 3, 4, 6], 0.4), rule(1, [3, 4, 6], 0.3), rule(2, [6, 7], 0.2)
    kept = {0: [greedy], 1: [modest], 2: [clean, rule(2, [7], 0.1)]}
    # Class 2 claims nobody else's rows. Without the rows it claims class 1 claims none, class 0 two.
    assert [one.prediction for one in in_order(kept, rows, np.ones(8))] == [2, 2, 1, 0]
    assert [one.rate for one in in_order(kept, rows, np.ones(8))][:2] == [0.1, 0.2]
    # Where row 6 weighs nothing, classes 1 and 2 are clean and the heavier comes first; after class 1, class 0 is too.
    assert [one.prediction for one in in_order(kept, rows, np.array([1.0] * 6 + [0, 5]))] == [2, 2, 1, 0]
    assert [one.prediction for one in in_order(kept, rows, np.array([1.0] * 6 + [0, 1]))] == [1, 0, 2, 2]


def test_the_default_is_the_heaviest_class_of_the_rest() -> None:
    one = case(5, classes=True, missing=False)
    rules = tw.rules(grown(one), one.table, kind="list")
    rest = np.ones(len(one.table), dtype=bool)
    rows = encode_labelled(rules.tree, one.table, None, None)
    assert rows is not None
    for rule in rules:
        rest &= ~np.all([test.holds(rows.columns[test.column_index]) for test in rule.tests], axis=0)
    assert rules.default is not None
    assert rules.default.prediction == one.table["target"][rest].value_counts().idxmax()
    assert rules.default.rows == rest.sum()


def test_the_order_of_rows_does_not_matter() -> None:
    one = case(7, classes=True, missing=True)
    mixed = one.table.sample(frac=1.0, random_state=0)
    assert str(tw.rules(grown(one), one.table, kind="list")) == str(tw.rules(grown(one), mixed, kind="list"))


# --- dropping conditions ----------------------------------------------------------------------------------------------


def pessimistic(errors: float, cases: float) -> float:
    return (errors + oracle_pruning.extra_errors(cases, errors, 0.25, "table")) / cases if cases else 1.0


def plainly_needed(met: np.ndarray, right: np.ndarray, weight: np.ndarray) -> list[list[int]]:
    """The conditions after each drop, by looking at all rows again each time."""

    def rated(kept: list[int]) -> tuple[float, float]:
        rows = met[kept].all(axis=0) if kept else np.ones(met.shape[1], dtype=bool)
        return pessimistic(weight[rows & ~right].sum(), weight[rows].sum()), -weight[rows].sum()

    states = [list(range(len(met)))]
    while states[-1]:
        ways = [([i for i in states[-1] if i != drop], drop) for drop in states[-1]]
        best, _ = min(ways, key=lambda way: (*rated(way[0]), -way[1]))
        if rated(best)[0] > rated(states[-1])[0] + 1e-12:
            break
        states.append(best)
    return states


@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([np.int32, np.int64]))
@settings(max_examples=150, deadline=None)
def test_conditions_are_dropped_as_a_plain_search_drops_them(seed: int, n: int, whole: type) -> None:
    rng = np.random.default_rng(seed)
    met, right = rng.random((n, 40)) < 0.7, rng.random(40) < 0.6
    weight = rng.integers(1, 4, 40).astype(float)
    steps = [np.where(row, whole(0), whole(MARKS[whole] + i)) for i, row in enumerate(met)]
    kept, rows, rate = needed(steps, np.sum(steps, axis=0, dtype=whole), right, weight, 0.25)
    states = plainly_needed(met, right, weight)
    assert kept == states[-1]
    covers = [met[state].all(axis=0) if state else np.ones(40, dtype=bool) for state in states]
    rates = [pessimistic(weight[rows & ~right].sum(), weight[rows].sum()) for rows in covers]
    assert all(after <= before + 1e-12 for before, after in itertools.pairwise(rates))
    assert rows.tolist() == np.flatnonzero(covers[-1]).tolist()
    assert rate == pytest.approx(rates[-1])


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_candidates_are_no_worse_than_the_leaves_they_come_from(seed: int) -> None:
    one = case(seed, classes=True, missing=False)
    learned = grown(one)
    rows = encode_labelled(learned, one.table, None, None)
    assert rows is not None
    seen = set()
    for rule in candidates(learned, rows, np.ones(rows.n_rows), 0.25):
        leaf = learned[rule.node]
        assert leaf.counts is not None
        assert rule.rate <= pessimistic(leaf.weight - leaf.counts[rule.prediction], leaf.weight) + 1e-9
        seen.add((rule.prediction, frozenset(rule.conditions)))
    assert len(seen) == len(candidates(learned, rows, np.ones(rows.n_rows), 0.25))


# --- the shortest description -----------------------------------------------------------------------------------------


def plain_length(problem: Problem, chosen: tuple[int, ...]) -> float:
    covered = {row for rule in chosen for row in problem.rows[rule].tolist()}
    sides = [0.0, 0.0, 0.0, 0.0]  # covered, wrong, others, missed
    for row, (own, weight) in enumerate(zip(problem.own, problem.weight, strict=True)):
        side = 0 if row in covered else 2
        sides[side] += weight
        sides[side + 1] += weight * (own == (side == 2))
    bits = sum(problem.bits[rule] for rule in chosen) - math.log2(math.factorial(len(chosen)))
    return 0.5 * max(0.0, bits) + sum(exception_bits(e, n) for n, e in (sides[:2], sides[2:]))


def exception_bits(errors: float, cases: float) -> float:
    parts = [part for part in (errors, cases - errors) if part > 0]
    return -sum(part * math.log2(part / cases) for part in parts)


@given(st.integers(0, 10**6), st.integers(1, 16))
@settings(max_examples=60, deadline=None)
def test_the_description_chosen_cannot_be_shortened(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    own = rng.random(30) < 0.5
    rows = tuple(np.flatnonzero(rng.random(30) < np.where(own, 0.4, 0.1)) for _ in range(n))
    problem = Problem(rows, rng.random(n) * 4 + 1, own, rng.integers(1, 3, 30).astype(float))
    chosen = tuple(shortest(problem))
    length = plain_length(problem, chosen)
    if n <= min(TRY_ALL, 7):
        ways = (way for k in range(n + 1) for way in itertools.combinations(range(n), k))
        assert length == pytest.approx(min(plain_length(problem, way) for way in ways))
    for rule in range(n):
        other = tuple(sorted(set(chosen) ^ {rule}))
        assert plain_length(problem, other) >= length - 1e-6


# --- lists as users meet them -----------------------------------------------------------------------------------------


def test_a_list_that_prints() -> None:
    table = {"x": list(range(20)), "z": [0, 1] * 10, "y": ["a"] * 5 + ["b"] * 10 + ["a"] * 5}
    rules = tw.rules(tw.learn(table, "y", tw.SKLEARN), table, kind="list")
    assert (
        str(rules)
        == """\
1 rule for y, 1 condition; the first that applies predicts
right for 100.0 % of the training rows, the tree for 100.0 %
1. if 4.5 < x <= 14.5 then y = b  (10 rows, 100 %)
otherwise y = a  (10 rows, 100 %)"""
    )
    assert rules.default is not None
    assert rules.default.node is None
    assert rules.predict({"x": [0, 7, 30], "z": [0, 0, 1]}).tolist() == ["a", "b", "a"]
    matrix = tw.learn(np.array([[x] for x in range(20)], dtype=float), np.array(table["y"]), tw.SKLEARN)
    listed = tw.rules(matrix, np.array([[x] for x in range(20)], dtype=float), kind="list", target=np.array(table["y"]))
    assert listed.predict(np.array([[0.0], [7.0]])).tolist() == ["a", "b"]
    with pytest.raises(tw.DataError, match="order of a rule list"):
        rules.sorted()


def test_a_tree_without_a_question_is_its_default() -> None:
    table = {"x": [1, 1, 1, 1], "y": ["a", "a", "a", "b"]}
    rules = tw.rules(tw.learn(table, "y", tw.C45), table, kind="list")
    assert len(rules) == 0
    assert rules.predict(table).tolist() == ["a"] * 4


def test_costs_move_the_default() -> None:
    table = {"x": [1, 2, 3, 4, 5, 6] * 5, "y": list("ababab") * 5}
    costly = tw.learn(table, "y", replace(tw.C45, pruning=None), costs={"b": {"a": 10.0}})
    rules = tw.rules(costly, table, kind="list")
    assert rules.default is not None
    assert rules.default.prediction == "b"


def test_lists_that_cannot_be() -> None:
    with pytest.raises(tw.DataError, match="'hours' is a number; use kind='leaves'"):
        tw.rules(hours(), {"x": [1]}, kind="list")
    with pytest.raises(tw.DataError, match="give them as data="):
        tw.rules(tennis(), kind="list")
    with pytest.raises(tw.DataError, match="confidence must lie between"):
        tw.rules(tennis(), {"x": [1]}, kind="list", confidence=2)


def test_levels_and_sizes_are_declared_in_order() -> None:
    size = ColumnSpec("size", "ordinal", tuple(SIZES))
    assert Condition(size, 0, (), (0, 1)).words() == "size <= medium"
    assert Condition(ColumnSpec("x", "numeric"), 0, (Interval(),)).bounds == 1


@pytest.mark.skipif(not DATA.is_dir(), reason="needs shared/data beside the repository")
@pytest.mark.parametrize(("name", "target"), [("vote", "Class"), ("labor", "class"), ("soybean", "class")])
def test_real_lists_are_shorter_and_almost_as_right(name: str, target: str) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    data = pq.read_table(DATA / f"{name}.parquet")
    learned = tw.learn(data, target, tw.C45)
    rules = tw.rules(learned, data, kind="list")
    assert rules.n_conditions < tw.rules(learned).n_conditions
    assert rules.accuracy is not None
    assert rules.tree_accuracy is not None
    assert rules.accuracy >= rules.tree_accuracy - 0.02
