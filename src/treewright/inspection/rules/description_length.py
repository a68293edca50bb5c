"""Which rules of a class to keep: those that describe the class in the fewest bits.

Bits = half of what the rules take (rules of one set repeat each other, so their full price would be too much) + what
the exceptions take: rows covered wrongly and rows not covered. Up to ten rules every subset is tried; beyond that rules
are added and dropped one at a time, from none and from all, while bits are saved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log2

import numpy as np

from treewright.data.arrays import Array, BoolArray, FloatArray, IndexArray
from treewright.data.encoding import Encoded
from treewright.tree.conditions import Condition

#: Sets of rules up to this size are tried one and all.
TRY_ALL = 10
#: What a bit of a rule counts for against a bit of an exception.
THEORY_SHARE = 0.5
#: Bits: descriptions closer than this are equally long.
ROUNDING = 1e-9


# --- bits -------------------------------------------------------------------------------------------------------------


def distinct_values(rows: Encoded) -> tuple[int, ...]:
    """Return how many values each column has: what a threshold is chosen from."""
    return tuple(len(np.unique(column)) for column in rows.columns)


def rule_bits(conditions: Sequence[Condition], distinct: Sequence[int]) -> float:
    """Return what it takes to write a rule down: its conditions, in any order."""
    bits = sum(log2(len(distinct)) + _prediction_bits(condition, distinct) for condition in conditions)
    return max(1.0, bits - float(_log_factorials(len(conditions))[-1]))


def _prediction_bits(condition: Condition, distinct: Sequence[int]) -> float:
    if condition.spec.has_levels:
        levels, held = len(condition.spec.levels or ()), len(condition.codes)
        return log2(max(2, levels)) + (log2(max(1, comb(levels, held))) if held > 1 else 0.0)
    return condition.bounds * (1.0 + log2(max(2, distinct[condition.column_index] - 1)))


def exception_bits(covered: FloatArray, wrong: FloatArray, others: FloatArray, missed: FloatArray) -> FloatArray:
    """Return the bits that encode which of the covered rows are wrong and which of the others are missed."""
    return _coverage_bits(wrong, covered) + _coverage_bits(missed, others)


def _coverage_bits(errors: FloatArray, cases: FloatArray) -> FloatArray:
    """Return the length of the message that encodes the errors among the cases, by their own rate."""
    rate = _ratio(errors, cases)
    return -(errors * _log2(rate) + (cases - errors) * _log2(1.0 - rate))


def _log2(share: FloatArray) -> FloatArray:
    """Of a share; what never happens is never shown, so that its logarithm does not matter."""
    logarithm: FloatArray = np.log2(np.where(share > 0, share, 1.0))
    return logarithm


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole > 0)


def _log_factorials(n: int) -> FloatArray:
    """log2 of 0!, 1!, ..., n!."""
    return np.concatenate([[0.0], np.cumsum(np.log2(np.arange(1, n + 1)))])


# --- the choice -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Problem:
    """The rules of a class: the rows of each, what each takes, which rows are of the class, what rows weigh."""

    rows: tuple[IndexArray, ...]
    bits: FloatArray
    own: BoolArray
    weight: FloatArray

    def length(self, n_rules: Array, bits: FloatArray, right: FloatArray, wrong: FloatArray) -> FloatArray:
        """Return the bits of sets of rules, by their number, their conditions and their errors."""
        whole, own = float(self.weight.sum()), float(self.weight[self.own].sum())
        covered = right + wrong
        theory = np.maximum(0.0, bits - _log_factorials(len(self.rows))[n_rules])
        others = np.maximum(0.0, whole - covered)
        missed = np.clip(own - right, 0.0, others)
        return THEORY_SHARE * theory + exception_bits(covered, wrong, others, missed)


def shortest(problem: Problem) -> list[int]:
    """Return the places of the rules of the shortest description."""
    n = len(problem.rows)
    if n <= TRY_ALL:
        return _of_all_subsets(problem)
    starts = (np.zeros(n, dtype=np.bool_), np.ones(n, dtype=np.bool_))
    found = [_climb(problem, start) for start in starts]
    best = min(found, key=lambda one: one[0])
    return np.flatnonzero(best[1]).tolist()


def _of_all_subsets(problem: Problem) -> list[int]:
    n = len(problem.rows)
    pattern = np.zeros(len(problem.own), dtype=np.int64)  # which rules cover a row, as bits
    for place, rows in enumerate(problem.rows):
        pattern[rows] |= 1 << place
    sums = np.bincount(2 * pattern + problem.own, weights=problem.weight, minlength=2 << n).reshape(-1, 2)
    subsets = np.arange(1 << n)
    members = (subsets[:, np.newaxis] >> np.arange(n)) & 1
    covered = (subsets[:, np.newaxis] & subsets[np.newaxis, :]) != 0
    wrong, right = (covered @ sums).T
    lengths = problem.length(members.sum(axis=1), members @ problem.bits, right, wrong)
    best = int(np.flatnonzero(lengths <= lengths.min() + ROUNDING)[0])
    return np.flatnonzero(members[best]).tolist()


def _climb(problem: Problem, chosen: BoolArray) -> tuple[float, BoolArray]:
    """From a set of rules on, one rule in or out at a time, to where no single change saves bits."""
    cover = _Cover(problem)
    for rule in np.flatnonzero(chosen):
        cover.change(int(rule), True)
    chosen = chosen.copy()
    while True:
        sign = np.where(chosen, -1, 1)
        change = np.where(chosen[:, np.newaxis], -cover.alone, cover.fresh)
        wrong, right = (cover.sums + np.vstack([np.zeros((1, 2)), change])).T
        n_rules = int(chosen.sum()) + np.concatenate([[0], sign])
        bits = float(problem.bits[chosen].sum()) + np.concatenate([[0.0], sign * problem.bits])
        lengths = problem.length(n_rules, bits, np.maximum(0.0, right), np.maximum(0.0, wrong))
        best = int(lengths[1:].argmin())
        if lengths[1 + best] > lengths[0] - ROUNDING:
            return float(lengths[0]), chosen
        chosen[best] = not chosen[best]
        cover.change(best, bool(chosen[best]))


class _Cover:
    """What a set of rules covers, kept up to date while rules come and go.

    `sums`: weight covered, wrongly and rightly; `fresh[r]`: what rule r has that no chosen rule covers; `alone[r]`:
    what it has that exactly one chosen rule covers, which for a chosen rule is itself.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        n_rows = len(problem.own)
        rule = np.repeat(np.arange(len(problem.rows)), [len(rows) for rows in problem.rows])
        row = np.concatenate(problem.rows)
        order = np.argsort(row, kind="stable")
        self._rules_by_row, self._start = rule[order], np.searchsorted(row[order], np.arange(n_rows + 1))
        self._times = np.zeros(n_rows, dtype=np.int64)
        self.sums = np.zeros(2)
        self.fresh = self._per_rule(np.unique(row))
        self.alone = np.zeros_like(self.fresh)

    def change(self, rule: int, enters: bool) -> None:
        rows = self._problem.rows[rule]
        before = self._times[rows] if enters else self._times[rows] - 1
        first, second = self._per_rule(rows[before == 0]), self._per_rule(rows[before == 1])
        sign = 1 if enters else -1
        self.sums = self.sums + sign * self._sums(rows[before == 0])
        self.fresh = self.fresh - sign * first
        self.alone = self.alone + sign * (first - second)
        self._times[rows] += sign

    def _sums(self, rows: Array) -> FloatArray:
        own = self._problem.own[rows].astype(np.intp)
        return np.bincount(own, weights=self._problem.weight[rows], minlength=2).astype(np.float64)

    def _per_rule(self, rows: Array) -> FloatArray:
        """Return the weight of some rows in every rule that covers them, wrongly and rightly."""
        length = self._start[rows + 1] - self._start[rows]
        entry = np.repeat(self._start[rows] - np.cumsum(length) + length, length) + np.arange(length.sum())
        row, n = np.repeat(rows, length), len(self._problem.rows)
        key = 2 * self._rules_by_row[entry] + self._problem.own[row]
        return np.bincount(key, weights=self._problem.weight[row], minlength=2 * n).astype(np.float64).reshape(n, 2)
