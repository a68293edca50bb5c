"""An ordered list of rules, in the manner of C4.5rules: the first that applies predicts, a default predicts the rest.

Classes whose rules claim the fewest rows of others come first; within a class the most certain rule does. No rule can
be left out of the finished list without more errors on the rows it was made from. Costs and priors count as they do in
growing: as weights of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from treewright.data.arrays import Array, FloatArray, IndexArray
from treewright.data.encoding import MISSING_CODE, Encoded
from treewright.data.rows import weights_of
from treewright.growing.weights import altered
from treewright.inspection.rules.description_length import Problem, distinct_values, rule_bits, shortest
from treewright.inspection.rules.generalise import ROUNDING, RuleCandidate, candidates
from treewright.tree.conditions import Condition
from treewright.tree.tree import Tree


class RuleList(NamedTuple):
    """Rules in order; the place of the class that predicts where none applies."""

    rules: tuple[RuleCandidate, ...]
    default: int


def rule_list(tree: Tree, rows: Encoded, confidence: float) -> RuleList:
    """Return the list made from a tree's paths; `rows` have their classes."""
    assert rows.target is not None
    weight = weights_of(replace(rows, weight=altered(rows, tree.schema.target).weight))
    lacking = columns_with_missing(rows)
    found = [_with_explicit_missing(one, lacking) for one in candidates(tree, rows, weight, confidence)]
    kept = _kept(found, rows, weight)
    return _without_harmful_rules(in_order(kept, rows, weight), rows, weight)


def first_match(rules: Sequence[Sequence[Condition]], rows: Encoded) -> IndexArray:
    """Return the place of the first rule that each row meets; their number where it meets none."""
    columns: Any = rows.columns
    columns = columns.T if isinstance(columns, np.ndarray) else columns  # a matrix stands for its columns
    found = np.full(rows.n_rows, len(rules), dtype=np.intp)
    open_rows = np.arange(rows.n_rows)
    for place, conditions in enumerate(rules):
        met = np.ones(len(open_rows), dtype=np.bool_)
        for condition in conditions:
            met &= condition.holds(columns[condition.column_index][open_rows])
        found[open_rows[met]] = place
        open_rows = open_rows[~met]
    return found


def columns_with_missing(rows: Encoded) -> tuple[bool, ...]:
    """Return which columns lack a value somewhere."""
    return tuple(bool((np.isnan(x) if x.dtype.kind == "f" else x == MISSING_CODE).any()) for x in rows.columns)


def _with_explicit_missing(rule: RuleCandidate, lacking: tuple[bool, ...]) -> RuleCandidate:
    """Return the rule with complete conditions: a missing value meets one only if training rows did."""
    conditions = []
    for condition in rule.conditions:
        met = condition.missing and lacking[condition.column_index]
        conditions.append(replace(condition, missing=met, mentions_missing=met))
    return replace(rule, conditions=tuple(conditions))


def _kept(found: list[RuleCandidate], rows: Encoded, weight: FloatArray) -> dict[int, list[RuleCandidate]]:
    """Return for each class the rules of its shortest description."""
    assert rows.target is not None
    distinct = distinct_values(rows)
    kept: dict[int, list[RuleCandidate]] = {}
    for prediction in range(rows.n_classes):
        own = [one for one in found if one.prediction == prediction]
        if not own:
            continue
        bits = np.array([rule_bits(one.conditions, distinct) for one in own])
        problem = Problem(tuple(one.rows for one in own), bits, np.equal(rows.target, prediction), weight)
        kept[prediction] = [own[place] for place in shortest(problem)]
    return kept


def in_order(kept: dict[int, list[RuleCandidate]], rows: Encoded, weight: FloatArray) -> list[RuleCandidate]:
    """Order the classes: next the one that claims the fewest rows of others, without rows claimed before."""
    still, target = weight.copy(), rows.target
    assert target is not None
    claims = {label: np.unique(np.concatenate([one.rows for one in own])) for label, own in kept.items() if own}
    ordered: list[RuleCandidate] = []

    def claimed(label: int) -> tuple[float, float, int]:
        own = target[claims[label]] == label
        heavy = still[claims[label]]
        return float(heavy[~own].sum()), -float(heavy[own].sum()), label

    while claims:
        label = min(claims, key=claimed)
        still[claims.pop(label)] = 0.0
        ordered += sorted(kept[label], key=lambda one: (one.rate, -len(one.rows), one.node))
    return ordered


def _without_harmful_rules(ordered: list[RuleCandidate], rows: Encoded, weight: FloatArray) -> RuleList:
    """Without the rules whose absence makes no more errors, taken away one at a time, the most harmful first."""
    assert rows.target is not None
    n, target = len(ordered), rows.target
    predictions = np.array([one.prediction for one in ordered] + [0], dtype=np.intp)
    # Every row meets the default twice, after all rules: once as its first rule, once as its second.
    row = np.concatenate([one.rows for one in ordered] + [np.arange(rows.n_rows)] * 2)
    rank = np.concatenate(
        [np.full(len(one.rows), place) for place, one in enumerate(ordered)] + [np.full(2 * rows.n_rows, n)]
    )
    by_row = np.argsort(row, kind="stable")
    rank, start = rank[by_row].astype(np.intp), np.searchsorted(row[by_row], np.arange(rows.n_rows))
    first_of_row = np.repeat(start, np.diff(np.append(start, len(rank))))
    alive = np.ones(n, dtype=np.bool_)
    while True:
        first = np.minimum.reduceat(rank, start)
        behind = rank.copy()
        # Ranks of a row rise, so its first living rule is found by value; the default stays behind it.
        behind[(rank == first[np.searchsorted(start, first_of_row)]) & (rank < n)] = n
        second = np.minimum.reduceat(behind, start)
        predictions[n] = _default(target[first == n], weight[first == n], target, weight, rows.n_classes)
        worse = weight * ((predictions[second] != target).astype(np.float64) - (predictions[first] != target))
        change = np.bincount(first, weights=worse, minlength=n + 1)[:n]
        used = np.bincount(first, weights=weight, minlength=n + 1)[:n]
        droppable = np.flatnonzero(alive & (change <= ROUNDING))
        if not len(droppable):
            break
        drop = min(droppable.tolist(), key=lambda place: (change[place], used[place], -place))
        alive[drop] = False
        rank[rank == drop] = n
    return RuleList(tuple(one for one, lives in zip(ordered, alive, strict=True) if lives), int(predictions[n]))


def _default(left: Array, heavy: FloatArray, target: Array, weight: FloatArray, n_classes: int) -> int:
    """Return the heaviest class of the rows that no rule covers; of equals, the heaviest of all rows."""
    here = np.bincount(left, weights=heavy, minlength=n_classes)
    everywhere = np.bincount(target, weights=weight, minlength=n_classes)
    return int(np.lexsort((-np.arange(n_classes), everywhere, here))[-1])
