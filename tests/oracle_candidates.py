"""Every division a column offers at a node, each with its rating: the exhaustive part of the oracle.

Nothing is skipped because it looks bad; only what docs/choices.md forbids is left out.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from oracle_criteria import Rating, rate
from oracle_table import NOMINAL, NUMBER, Node, Problem, Split, children_of, weigh

from treewright import recipes as r

#: Scores closer than this (relative) count as equal: rounding may have parted them, or joined them.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Candidate:
    """A split and its worth. `key` orders candidates inside a column, `score` orders columns."""

    split: Split
    gain: float
    score: float
    key: float
    decrease: float
    statistic: float = 0.0
    degrees: float = 0.0
    log_p: float = 0.0
    log_multiplier: float = 0.0


def scores_missing(recipe: r.Recipe) -> bool:
    """Do missing entries take part in the score (and so have a child of the candidate's choosing)?"""
    return isinstance(recipe.missing, (r.OwnCategory, r.LearnedDirection))


# --- divisions, in order ----------------------------------------------------------------------------------------------


def divisions(p: Problem, node: Node, column: int) -> list[Split]:
    """All divisions of the column, missing entries placed where the policy lets the candidate place them."""
    level_for_missing = bool(p.absent(node, column)) and isinstance(p.recipe.missing, r.OwnCategory)
    if p.kinds[column] == NOMINAL:
        return place_missing(p, node, column, nominal_divisions(p, node, column, level_for_missing))
    if cut_by_each_value(p):
        return place_missing(p, node, column, each_ordered_value(p, node, column, level_for_missing))
    return place_missing(p, node, column, cuts(p, node, column))


def place_missing(p: Problem, node: Node, column: int, plain: Iterable[Split]) -> list[Split]:
    """The same divisions with a child for the missing entries, if there are any and the policy scores them."""
    own = isinstance(p.recipe.missing, r.OwnCategory)
    like_nominal = p.kinds[column] == NOMINAL or cut_by_each_value(p)
    if not p.absent(node, column) or not scores_missing(p.recipe) or (own and like_nominal):
        return list(plain)
    apart = known_against_missing(p, node, column)
    if own and not isinstance(p.recipe.branching, r.Binary):
        return [*apart, *(replace(s, n_children=s.n_children + 1, missing=s.n_children) for s in plain)]
    falling = isinstance(p.recipe.branching, r.Binary) or p.kinds[column] == NUMBER
    tried = [
        replace(split, missing=child)
        for split in plain
        for child in sorted(range(split.n_children), reverse=falling)
    ]  # fmt: skip
    return [*tried, *apart]


def cut_by_each_value(p: Problem) -> bool:
    """Ordered columns under EachValue without thresholds get a child per level (or bin)."""
    return isinstance(p.recipe.branching, r.EachValue) and not isinstance(p.recipe.numeric, r.Threshold)


def known_against_missing(p: Problem, node: Node, column: int) -> list[Split]:
    """Whatever is known goes to the first child, levels that nobody has here too."""
    bins = 1 if p.kinds[column] == NUMBER else p.levels[column]
    return [Split(column, (), (0,) * bins, closed(p), 2, missing=1)] if p.known(node, column) else []


def nominal_divisions(p: Problem, node: Node, column: int, with_missing: bool) -> Iterator[Split]:
    """`with_missing`: missing is one more level, numbered after the declared ones."""
    n_levels = p.levels[column]
    present: list[int] = sorted({p.columns[column][row] for row, _ in p.known(node, column)})
    if with_missing:
        present.append(n_levels)
    branching = p.recipe.branching
    if isinstance(branching, r.EachValue):
        yield level_split(p, column, {level: level for level in range(n_levels + with_missing)})
    elif isinstance(branching, r.OneVsRest):
        everything = range(n_levels + with_missing)  # a level that nobody has here belongs to the rest
        for one in present:
            yield level_split(p, column, {level: int(level != one) for level in everything})
    elif isinstance(branching, r.Binary):
        first, *others = present or [0]
        for size in range(len(others)):
            for companions in itertools.combinations(others, size):
                low = {first, *companions}
                if in_order(p, node, column, low, present):
                    yield level_split(p, column, {level: int(level not in low) for level in present})


def in_order(p: Problem, node: Node, column: int, low: set[int], present: Sequence[int]) -> bool:
    """May these two sets be divided? Where ordering is exact and sizes are limited, only cuts of the order are tried.

    Without limits the best cut is the best of all pairs of sets (Fisher, Breiman), so the oracle tries them all.
    """
    stopping, criterion = p.recipe.stopping, p.criterion
    limited = stopping.min_samples_leaf > 1 or stopping.min_weight_leaf > 0 or stopping.min_weight_two > 0
    if not limited and not isinstance(criterion, r.Poisson):  # which bars children whose mean is 0
        return True
    exact = isinstance(criterion, (r.Variance, r.FTest, r.Poisson)) or p.n_classes == 2
    if not exact or isinstance(criterion, r.Custom):
        return True

    def place(level: int) -> tuple[float, int]:
        wanted = None if level == p.levels[column] else level
        here = p.pairs([e for e in node if p.columns[column][e[0]] == wanted])
        total = math.fsum(w for _, w in here)
        return math.fsum(w * (y == 0 if p.n_classes else y) for y, w in here) / total, level

    order = sorted(present, key=place)
    return set(order[: len(low)]) == low or set(order[len(order) - len(low) :]) == low


def level_split(p: Problem, column: int, child_of: dict[int, int]) -> Split:
    n_levels = p.levels[column]
    return Split(
        column,
        (),
        tuple(child_of.get(level, -1) for level in range(n_levels)),
        closed(p),
        max(child_of.values()) + 1,
        child_of.get(n_levels),
    )


def closed(p: Problem) -> bool:
    return not isinstance(p.recipe.numeric, r.Threshold) or p.recipe.numeric.test == "<="


def bin_of(bounds: Sequence[float], value: float) -> int:
    return sum(bound < value for bound in bounds)


def bin_split(
    p: Problem, column: int, child_of_bin: Sequence[int], n_children: int, missing: int | None = None
) -> Split:
    """A split of a binned column (its bins are intervals of numbers) or of an ordinal one (its bins are levels)."""
    if p.kinds[column] != NUMBER:
        return Split(column, (), tuple(child_of_bin), closed(p), n_children, missing)
    bounds = p.bounds[column] or []
    return Split(column, tuple(bounds), tuple(child_of_bin), True, n_children, missing)


def present_bins(p: Problem, node: Node, column: int) -> tuple[list[int], int]:
    """Codes present at the node, and how many there are in all, of an ordinal or binned column."""
    values = {p.columns[column][row] for row, _ in p.known(node, column)}
    bounds = p.bounds[column]
    if bounds is None:
        return sorted(values), p.levels[column]
    return sorted({bin_of(bounds, x) for x in values}), len(bounds) + 1


def each_ordered_value(p: Problem, node: Node, column: int, with_missing: bool) -> Iterator[Split]:
    _, n_bins = present_bins(p, node, column)
    yield bin_split(p, column, range(n_bins), n_bins + with_missing, n_bins if with_missing else None)


def cuts(p: Problem, node: Node, column: int) -> Iterator[Split]:
    """Two intervals, from the lowest cut to the highest."""
    numeric = p.recipe.numeric
    if p.kinds[column] == NUMBER and p.bounds[column] is None:
        assert isinstance(numeric, r.Threshold)
        values = sorted({p.columns[column][row] for row, _ in p.known(node, column)})
        for a, b in itertools.pairwise(values):
            if b - a > numeric.min_gap:
                yield Split(column, (stored_cut(p, column, a, b),), (0, 1), closed(p), 2)
        return
    present, n_bins = present_bins(p, node, column)
    for a, b in itertools.pairwise(present):
        if not isinstance(numeric, r.Threshold) or b - a > numeric.min_gap:
            yield bin_split(p, column, [0 if k <= (a + b) / 2 else 1 for k in range(n_bins)], 2)


def stored_cut(p: Problem, column: int, a: float, b: float) -> float:
    middle = a / 2 + b / 2
    if not a < middle < b:  # no double lies between: the one that parts them under the recipe's test
        middle = a if closed(p) else b
    numeric = p.recipe.numeric
    if isinstance(numeric, r.Threshold) and numeric.at == "observed":
        return max(x for x in p.columns[column] if x is not None and x <= middle)
    return middle


# --- rating -----------------------------------------------------------------------------------------------------------


def candidates(p: Problem, node: Node, column: int) -> list[Candidate]:
    """All allowed candidates of a column. (Grouped nominal columns and Merge have algorithms of their own instead.)"""
    return rate_all(p, node, column, divisions(p, node, column))


def rate_all(p: Problem, node: Node, column: int, splits: Iterable[Split]) -> list[Candidate]:
    return penalised(p, node, column, rate_each(p, node, column, splits))


def rate_each(p: Problem, node: Node, column: int, splits: Iterable[Split]) -> list[Candidate]:
    """Allowed candidates, before C4.5's penalty."""
    found = []
    for split in splits:
        x = rate_split(p, node, split)
        if x is not None:
            key = key_of(p, column, x)
            found.append(Candidate(split, x.gain, x.score, key, x.decrease, x.statistic, x.degrees, x.log_p))
    return found


def rate_split(p: Problem, node: Node, split: Split) -> Rating | None:
    """The rating of a division, None if it is not allowed."""
    scored = children_of(p, split, node)
    if not allowed(p, node, split, scored):
        return None
    inside = weigh([e for child in scored for e in child])
    apart = weigh(p.absent(node, split.column)) if split.missing is None else 0.0
    return rate(p.criterion, [p.pairs(child) for child in scored], p.n_classes, inside + apart, apart)


def allowed(p: Problem, node: Node, split: Split, scored: Sequence[Node]) -> bool:
    stopping = p.recipe.stopping
    filled = [child for child in scored if weigh(child) > 0]
    if len(filled) < 2:
        return False
    if any(len(c) < stopping.min_samples_leaf or not reaches(weigh(c), stopping.min_weight_leaf) for c in filled):
        return False
    if sum(reaches(weigh(child), stopping.min_weight_two) for child in filled) < 2:
        return False
    return not is_cut(p, split) or all(reaches(weigh(child), least_side(p, node, split.column)) for child in filled)


def is_cut(p: Problem, split: Split) -> bool:
    return p.kinds[split.column] != NOMINAL and isinstance(p.recipe.numeric, r.Threshold)


def least_side(p: Problem, node: Node, column: int) -> float:
    """C4.5's tenth: what each side of a cut must weigh."""
    numeric = p.recipe.numeric
    if not (isinstance(numeric, r.Threshold) and numeric.min_tenth_per_class):
        return 0.0
    tenth = 0.1 * weigh(p.known(node, column)) / p.n_classes
    return max(p.recipe.stopping.min_weight_two, min(tenth, 25.0))


def reaches(weight: float, least: float) -> bool:
    """weight >= least, where parts of spread rows that add up to exactly the least may have lost a bit."""
    return weight >= least - 1e-12 * max(1.0, least)


def key_of(p: Problem, column: int, rating: Rating) -> float:
    """Inside a column cuts and pairs of sets are compared by gain, all else by score."""
    by_gain = isinstance(p.recipe.branching, r.Binary) or not (p.kinds[column] == NOMINAL or cut_by_each_value(p))
    return rating.gain if by_gain else rating.score


def penalised(p: Problem, node: Node, column: int, found: list[Candidate]) -> list[Candidate]:
    """C4.5 Release 8: the choice among n candidates costs log2(n)/N bits, and what is left must be positive."""
    numeric = p.recipe.numeric
    if p.kinds[column] == NOMINAL or not (isinstance(numeric, r.Threshold) and numeric.mdl_penalty):
        return found
    cost = math.log2(max(len(found), 1)) / weigh(node)
    kept = []
    for c in found:
        gain = c.gain - cost
        if gain > 0:
            # A score is the gain itself or the gain over the split information: both shrink in proportion.
            kept.append(replace(c, gain=gain, key=gain, decrease=gain, score=c.score * gain / c.gain))
    return kept
