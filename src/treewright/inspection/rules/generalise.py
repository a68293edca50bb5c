"""Paths of a tree become rules of their own: conditions that do not help are dropped.

A condition is dropped only while the pessimistic error rate (errors seen, taken at the upper limit of their confidence
interval) does not rise; no two candidates are the same; each is better than predicting without looking.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.criteria import extra_errors
from treewright.data.arrays import Array, FloatArray, IndexArray
from treewright.data.encoding import Encoded
from treewright.inspection.rules.paths import leaf_paths, merged
from treewright.tree.conditions import Condition
from treewright.tree.tree import Node, Tree, node_classes

#: Rates that differ by less are equal: what is left is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class RuleCandidate:
    """A rule by itself: its conditions, the place of its class, the leaf it came from, the rows that meet it.

    `rate` is its pessimistic error rate.
    """

    conditions: tuple[Condition, ...]
    prediction: int
    node: int
    rows: IndexArray
    rate: float


def candidates(tree: Tree, rows: Encoded, weight: FloatArray, confidence: float) -> list[RuleCandidate]:
    """Return one rule per leaf that has rows, generalised; without repetitions and without those worse than no rule."""
    assert rows.target is not None
    found: dict[tuple[int, tuple[Condition, ...]], RuleCandidate] = {}
    worst = _rate_without_rule(rows.target, weight, rows.n_classes)
    predictions = node_classes(tree)
    for leaf, path, steps, total in _paths_with_steps(tree, rows):
        if leaf.weight <= 0 or total is None:
            continue
        prediction = int(predictions[leaf.id])
        kept, covered, rate = needed(steps, total, rows.target == prediction, weight, confidence)
        conditions = merged(path[i] for i in kept)
        key = (prediction, tuple(sorted(conditions, key=lambda condition: condition.column_index)))
        if conditions and rate < worst[prediction] and key not in found:
            found[key] = RuleCandidate(conditions, prediction, leaf.id, covered, rate)
    return list(found.values())


def needed(
    steps: Sequence[Array], total: Array, right: Array, weight: FloatArray, confidence: float
) -> tuple[list[int], IndexArray, float]:
    """Return the conditions worth keeping, the rows that meet them, and the pessimistic error rate there.

    Step i (see `step`) holds a mark plus i for each row that fails condition i, and zero for the others. Their `total`
    then shows for every row whether it fails nothing (0), one condition and which (below two marks), or more: all that
    must be known to rate every way of dropping one condition in a single pass over the rows.
    """
    mark, n = MARKS[total.dtype.type], len(steps)
    kept = list(range(n))
    while True:
        near = np.flatnonzero(total < 2 * mark)
        place = total[near] - mark
        place[place < 0] = n
        sums: Any = np.bincount(2 * place + right[near], weights=weight[near], minlength=2 * n + 2)
        seen: FloatArray = sums.reshape(n + 1, 2)
        seen[:n] += seen[n]  # a row that meets all conditions still does without one of them
        cases = seen.sum(axis=1)
        rates = error_rates(seen[:, 0], cases, confidence)
        best = min(kept, key=lambda i: (rates[i], -cases[i], -i), default=None)
        if best is None or rates[best] > rates[n] + ROUNDING:
            return kept, near[place == n], float(rates[n])
        kept.remove(best)
        total = total - steps[best]


def step(condition: Condition, place: int, rows: Encoded, longest: int) -> Array:
    """Return what a condition adds for each row: nothing where met, otherwise a mark and its path index."""
    whole: type = np.int32 if longest < 1000 else np.int64
    met = condition.holds(rows.columns[condition.column_index])
    marked: Array = np.where(met, whole(0), whole(MARKS[whole] + place))
    return marked


#: A mark is more than all places of a path add up to, and a path's marks add up to less than the type can hold.
MARKS: dict[type, int] = {np.int32: 1 << 20, np.int64: 1 << 40}


def error_rates(errors: FloatArray, cases: FloatArray, confidence: float) -> FloatArray:
    """Return the pessimistic error rate; where there are no cases, all is thought wrong."""
    errors = np.minimum(errors, cases)
    estimate = errors + extra_errors(cases, errors, confidence)
    return np.divide(estimate, cases, out=np.ones(len(cases)), where=cases > 0)


def _rate_without_rule(target: Array, weight: FloatArray, n_classes: int) -> FloatArray:
    """Return the error rate of predicting each class for every row, corrected for small tables."""
    found = np.bincount(target, weights=weight, minlength=n_classes)
    return np.asarray(1.0 - (found + 1.0) / (found.sum() + 3.0), dtype=np.float64)


def _paths_with_steps(
    tree: Tree, rows: Encoded
) -> Iterator[tuple[Node, tuple[Condition, ...], list[Array], Array | None]]:
    """Yield each leaf, its path, the step of each condition and their total; conditions are tested once."""
    before: tuple[Condition, ...] = ()
    steps: list[Array] = []
    totals: list[Array] = []
    for leaf, path in leaf_paths(tree):
        same = 0
        while same < min(len(before), len(path)) and before[same] is path[same]:
            same += 1
        del steps[same:], totals[same:]
        for i in range(same, len(path)):
            steps.append(step(path[i], i, rows, tree.depth))
            totals.append(totals[-1] + steps[-1] if totals else steps[-1])
        before = path
        yield leaf, path, steps, totals[-1] if totals else None
