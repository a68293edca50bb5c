"""The score of every cut of an ordered column.

A cut lies between two neighbouring values of the node; the scores are the core's; the best is the one the engine takes:
the largest score among those allowed, the lowest cut of equals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from treewright.criteria.statistics import score_of, significance_of
from treewright.data.arrays import Array, BoolArray, FloatArray, IndexArray, Int32Array
from treewright.data.schema import ColumnSpec
from treewright.inspection.derivation.criterion_names import Measure, measure_of
from treewright.inspection.derivation.node_rows import Entries
from treewright.inspection.derivation.split_counts import Division, divided_by, scores_missing
from treewright.recipes.branching import Binary
from treewright.recipes.criterion import ChiSquare, Criterion, Custom, Poisson
from treewright.recipes.missing import OwnCategory
from treewright.recipes.numeric import Threshold
from treewright.recipes.recipe import Recipe

#: More cuts than this are thinned out evenly: a picture does not show more.
MOST_CUTS = 4000
#: The branches of so many cuts are looked at together, which bounds the memory.
_AT_ONCE = 1 << 17
#: The absolute error is not a sum, so each cut costs a look at all rows.
MOST_MEDIANS = 300


@dataclass(frozen=True, eq=False)
class Curve:
    """`cuts` rise; `scores` by the criterion (gains for gain ratio: cuts of one column are compared by gain).

    `allowed` is False where the sizes of branches forbid a cut. `best` is the place of the best cut, None if none is
    allowed; `n_allowed` counts all allowed cuts, also those thinned out (`thinned`), `n_tried` all
    candidates: a cut counts once for each branch that rows without a value were tried in, and so does a
    split on whether the value is missing.
    """

    spec: ColumnSpec
    measure: str
    cuts: FloatArray
    scores: FloatArray
    allowed: BoolArray
    best: int | None
    n_allowed: int
    n_tried: int
    thinned: bool = False


def curve_of(
    entries: Entries, column: int, recipe: Recipe, criterion: Criterion, chosen: float | None = None
) -> Curve | None:
    """Return the curve of a column; None where the recipe does not cut it in two, or has a user's criterion.

    `chosen`: a cut that is never thinned out.
    """
    spec, numeric = entries.schema.columns[column], recipe.numeric
    ordered = not spec.has_levels or spec.kind == "ordinal"
    if not ordered or not isinstance(numeric, Threshold) or isinstance(criterion, Custom):
        return None
    known = (entries.weight > 0) & ~entries.missing(column)
    values = np.asarray(entries.encoded.columns[column], dtype=np.float64)
    levels, bins = _numbered(values, known)
    gap = 0.0 if spec.has_levels else numeric.min_gap * (1 + 1e-9)  # as the engine compares
    places = np.flatnonzero(np.diff(levels) > gap)
    if not len(places):
        return None
    cutter = _Cutter(entries, recipe, bins, len(levels), _orders(entries, bins == len(levels), recipe))
    allowed = cutter.allowed(places)
    n_allowed, n_tried = int(allowed.any(axis=0).sum()), int(allowed.sum()) + cutter.known_or_missing()
    measure = measure_of(criterion)
    most = MOST_MEDIANS if measure.name == "absolute_error" else MOST_CUTS
    thinned = len(places) > most
    if thinned:
        kept = np.linspace(0, len(places) - 1, most).round().astype(np.intp)
        if chosen is not None:
            own = int(np.searchsorted(levels[places], chosen, side="right")) - 1
            kept = np.append(kept, min(max(own, 0), len(places) - 1))
        kept = np.unique(kept)
        places, allowed = places[kept], allowed[:, kept]
    cutter = replace(cutter)  # without the sums of every value, which may take as much memory as the column
    scores, fits = cutter.scores(places, criterion, measure, allowed), np.asarray(allowed.any(axis=0))
    cuts = levels[places] / 2 + levels[places + 1] / 2
    if numeric.at == "observed":  # the largest value of the whole table that is not above
        everywhere = np.unique(values[(entries.everywhere > 0) & ~entries.missing(column)])
        cuts = everywhere[np.searchsorted(everywhere, cuts, side="right") - 1]
    name = "information gain" if measure.name == "gain_ratio" else measure.score
    return Curve(spec, name, cuts, scores, fits, _best(scores, fits), n_allowed, n_tried, thinned)


def _numbered(values: FloatArray, known: BoolArray) -> tuple[FloatArray, Int32Array]:
    """Return the different known values in order, and each row's place among them; unknown ones come last."""
    rows = np.flatnonzero(known).astype(np.int32)
    rows = rows[np.argsort(values[rows])]
    ordered = values[rows]
    first = np.append(True, ordered[1:] != ordered[:-1])[: len(ordered)]
    levels = ordered[first]
    bins = np.full(len(values), len(levels), dtype=np.int32)
    bins[rows] = np.cumsum(first, dtype=np.int32) - 1
    return levels, bins


def _best(scores: FloatArray, allowed: BoolArray) -> int | None:
    """Return the first of the largest, equal up to rounding as the engine has it."""
    if not allowed.any():
        return None
    top = float(scores[allowed].max())
    return int(np.argmax(allowed & (scores >= top - 1e-12 * max(1.0, abs(top)))))


#: Where the low side, the high side and the rows without a value are counted: one order for each way to try.
_Order = tuple[int, int, int]


def _orders(entries: Entries, missing: BoolArray, recipe: Recipe) -> tuple[_Order, ...]:
    """Return the branch of the low side, the high side and the missing rows (-1: not scored)."""
    lacking = bool(((entries.weight > 0) & missing).any())
    if not lacking or not scores_missing(recipe.missing):
        return ((0, 1, -1),)
    if isinstance(recipe.missing, OwnCategory) and not isinstance(recipe.branching, Binary):
        return ((0, 1, 2),)
    return ((0, 1, 1), (0, 1, 0))


def _branches(below: FloatArray, whole: Any, missing: Any, order: _Order) -> FloatArray:
    """Return the sums of the branches of each cut: [cuts, branches, ...], given the sums below each cut."""
    branches = np.zeros((len(below), max(order) + 1, *below.shape[1:]))
    branches[:, order[0]] += below
    branches[:, order[1]] += whole - below
    if order[2] >= 0:
        branches[:, order[2]] += missing
    return branches


@dataclass(frozen=True, eq=False)
class _Cutter:
    """The rows of a node by their value's place, ready to be cut anywhere."""

    entries: Entries
    recipe: Recipe
    bins: Int32Array
    n_bins: int
    orders: tuple[_Order, ...]

    def _sums(self, per_bin: FloatArray, places: IndexArray, order: _Order) -> FloatArray:
        """Return the sums of the branches of each cut: [cuts, branches, ...]; the last bin is the missing rows."""
        below = np.cumsum(per_bin[:-1], axis=0)
        return _branches(below[places], below[-1], per_bin[-1], order)

    def allowed(self, places: IndexArray) -> BoolArray:
        """Return whether the branches are as large as the recipe requires: [orders, cuts]."""
        found = np.empty((len(self.orders), len(places)), dtype=bool)
        whole = [part[:-1].sum() for part in self._sizes]
        before, start = [0.0] * len(whole), 0
        for first in range(0, len(places), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            end = int(places[some][-1]) + 1
            below = [x + np.cumsum(part[start:end]) for x, part in zip(before, self._sizes, strict=True)]
            at = places[some] - start
            for i, order in enumerate(self.orders):
                parts = zip(below, whole, self._sizes, strict=True)
                sums = (_branches(under[at], total, part[-1], order) for under, total, part in parts)
                found[i, some] = self._large(*sums)
            before, start = [float(under[-1]) for under in below], end
        return found

    def known_or_missing(self) -> int:
        """1 if the question whether there is a value is a candidate too, and allowed."""
        if self.orders[0][2] < 0:
            return 0
        sizes = [np.array([[part[:-1].sum(), part[-1]]]) for part in self._sizes]
        return int(self._large(*sizes)[0])

    @cached_property
    def _sizes(self) -> tuple[FloatArray, ...]:
        """Weight and rows of each value, for Poisson also the sum of targets; the last bin holds the missing rows."""
        weight, target = self.entries.weight, self.entries.encoded.target
        assert target is not None

        def summed(part: Array) -> FloatArray:
            return np.bincount(self.bins, part, self.n_bins + 1).astype(np.float64, copy=False)

        sizes = (summed(weight), summed(weight > 0))
        return (*sizes, summed(weight * target)) if self._poisson else sizes

    @property
    def _poisson(self) -> bool:
        return isinstance(self.recipe.regression, Poisson) and not self.entries.schema.target.classes

    def _large(self, weight: FloatArray, rows: FloatArray, sums: FloatArray | None = None) -> BoolArray:
        """Return whether all branches [cuts, branches] are large enough, as the engine compares."""
        recipe = self.recipe
        stopping, numeric = recipe.stopping, recipe.numeric
        least = stopping.min_weight_leaf
        if isinstance(numeric, Threshold) and numeric.min_tenth_per_class:
            tenth = 0.1 * float(self._sizes[0][:-1].sum()) / len(self.entries.schema.target.classes or ())
            least = max(least, min(25.0, max(tenth, stopping.min_weight_two)))
        patience = max(recipe.tie_tolerance, 1e-9)
        small = (rows > 0) & ((rows < stopping.min_samples_leaf) | (weight < least - patience))
        if sums is not None:
            small |= (rows > 0) & (sums <= 0)  # a mean of 0 has no logarithm
        large = (rows > 0) & (weight >= stopping.min_weight_two - patience)
        fits: BoolArray = ~small.any(axis=1) & (large.sum(axis=1) >= 2)
        return fits

    def scores(self, places: IndexArray, criterion: Criterion, measure: Measure, allowed: BoolArray) -> FloatArray:
        """Return the best score of each cut over the orders that are allowed, or over all where none is."""
        tried = np.array([self._by_order(places, criterion, measure, order) for order in self.orders])
        usable = allowed | ~allowed.any(axis=0)
        best: FloatArray = np.where(usable, tried, -np.inf).max(axis=0)
        return best

    def _by_order(self, places: IndexArray, criterion: Criterion, measure: Measure, order: _Order) -> FloatArray:
        scored = order[2] >= 0
        if measure.name == "absolute_error":  # no sums lead to a median
            divisions = (self._divided(int(place), order) for place in places)
            parts = [(known_share(d.missing, d.weight), d.parent, d.children) for d in divisions]
            return np.array([share * cut_score(criterion, measure, parent, each) for share, parent, each in parts])
        # Values between two cuts count together; the rows without a value find the last entry.
        between = np.zeros(self.n_bins + 1, dtype=np.int32)
        between[places + 1] = 1
        np.cumsum(between, out=between)
        between[-1] = len(places) + 1 if scored else -1
        bins = between[self.bins]
        name = (
            "variance" if measure.name in ("standard_deviation", "fifth_root") else measure.name
        )  # whose sums can be added up
        whole = divided_by(self.entries, bins, len(places) + 2, name)
        sums = self._sums(whole.children, np.arange(len(places)), order)
        factor = 1.0 if measure.name in ("chi_square", "f") else known_share(whole.missing, whole.weight)
        return np.array([factor * cut_score(criterion, measure, whole.parent, branches) for branches in sums])

    def _divided(self, place: int, order: _Order) -> Division:
        child = np.where(self.bins <= place, order[0], order[1])
        return divided_by(
            self.entries, np.where(self.bins == self.n_bins, order[2], child), max(order) + 1, "absolute_error"
        )


def known_share(missing: float, weight: float) -> float:
    """Return the share of the weight that has a value."""
    return 1.0 - missing / weight if missing > 0 else 1.0


def cut_score(criterion: Criterion, measure: Measure, parent: FloatArray, branches: FloatArray) -> float:
    """Return the score by which cuts of one column are compared."""
    if measure.name in ("chi_square", "f"):
        ratio = isinstance(criterion, ChiSquare) and criterion.likelihood_ratio
        return -significance_of(branches, numeric=measure.name == "f", likelihood_ratio=ratio).log_p
    name = "information_gain" if measure.name == "gain_ratio" else measure.name
    return score_of(name, parent, branches)
