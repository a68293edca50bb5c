"""Where entries go once a split is chosen: known values, surrogates, shares, and what is left behind.

`fate` uses the numbers of docs/boundary.md: a child, -1 spread, -2 stop here, -3 random.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from oracle_candidates import closed, cuts
from oracle_criteria import lower_median
from oracle_table import NOMINAL, Node, Problem, Split, children_of, route, weigh

from treewright import recipes as r

FRACTIONAL, STOP, RANDOM = -1, -2, -3


@dataclass(frozen=True)
class Surrogate:
    split: Split
    agreement: float
    adjusted: float


def shares(p: Problem, split: Split, node: Node) -> list[float]:
    """Each child's share of the entries scored."""
    weights = [weigh(child) for child in children_of(p, split, node)]
    return [w / sum(weights) for w in weights]


def fate(p: Problem, split: Split, node: Node) -> int:
    """What a missing value does at this split, after the surrogates."""
    missing = p.recipe.missing
    if split.missing is not None:
        return split.missing
    weights = [weigh(child) for child in children_of(p, split, node)]
    largest = weights.index(max(weights))
    if isinstance(missing, r.Fractional):
        return FRACTIONAL
    if isinstance(missing, r.RandomChild):
        return RANDOM
    if isinstance(missing, r.Surrogates):
        tied = weights.count(max(weights)) > 1
        return STOP if tied or missing.then == "stop" else largest
    if isinstance(missing, r.LearnedDirection):  # as scikit-learn: by rows, the last of equals
        rows = [len(child) for child in children_of(p, split, node)]
        return max(range(split.n_children), key=lambda child: (rows[child], child))
    if isinstance(missing, (r.MajorityChild, r.OwnCategory)):
        return largest
    return STOP


def divide(
    p: Problem, split: Split, surrogates: Sequence[Split], node: Node, draw: Callable[[int], int] | None = None
) -> list[Node]:
    """Entries per child. `draw` gives the child of a row under the random policy: chance is not our business."""
    children: list[Node] = [[] for _ in range(split.n_children)]
    fallback = fate(p, split, node)
    known_shares = shares(p, split, node)
    for row, weight in node:
        child = first_answer(p, [split, *surrogates], row)
        if child is None:
            child = draw(row) if fallback == RANDOM and draw is not None else fallback
        if child >= 0:
            children[child].append((row, weight))
        elif child == FRACTIONAL:
            for i, share in enumerate(known_shares):
                if share > 0:
                    children[i].append((row, weight * share))
        else:
            assert child == STOP, "a random child was asked for"
    return children


def first_answer(p: Problem, splits: Sequence[Split], row: int) -> int | None:
    for split in splits:
        value = p.columns[split.column][row]
        if value is not None:
            child = route(split, p.kinds[split.column], value)
            if child >= 0:
                return child
    return None


# --- surrogates -------------------------------------------------------------------------------------------------------

Seen = Sequence[tuple[int, float, int]]  # row (or side of a plan), weight, child of the chosen split


def surrogates_of(p: Problem, split: Split, node: Node) -> list[Surrogate]:
    """The best imitation per column, best agreement first, then lowest column."""
    policy = p.recipe.missing
    if not isinstance(policy, r.Surrogates):
        return []
    routed = [
        (row, weight, route(split, p.kinds[split.column], value))
        for row, weight in node
        if (value := p.columns[split.column][row]) is not None
    ]
    found = []
    for column in range(len(p.columns)):
        if column != split.column:
            tried = [s for s in imitations(p, split, node, routed, column) if s.adjusted > 1e-10]
            if tried:
                found.append(max(tried, key=lambda s: s.agreement))
    found.sort(key=lambda s: (-s.agreement, s.split.column))
    return found[: policy.maximum]


def imitations(p: Problem, split: Split, node: Node, routed: Seen, column: int) -> list[Surrogate]:
    """All divisions of another column that could stand in, with their agreement."""
    kind = p.kinds[column]
    known = [(p.columns[column][row], weight, child) for row, weight, child in routed]
    known = [e for e in known if e[0] is not None]
    total = math.fsum(weight for _, weight, _ in routed)
    majority = max(votes_of(routed, split.n_children)) / total
    upper = upper_child(p, split, node)
    found = []
    for plan in plans(p, node, column):
        seen = [(route(plan, kind, value), weight, child) for value, weight, child in known]
        answer = {side: favourite(seen, side, split.n_children, kind, upper) for side in {side for side, _, _ in seen}}
        if not rests_on_enough(p, kind, seen, answer):
            continue
        agreement = math.fsum(w for side, w, child in seen if answer[side] == child) / total
        child_of_bin = tuple(answer.get(side, -1) for side in plan.child_of_bin)
        stand_in = replace(plan, child_of_bin=child_of_bin, n_children=split.n_children)
        found.append(Surrogate(stand_in, agreement, (agreement - majority) / (1 - majority)))
    return found


def votes_of(seen: Seen, n_children: int) -> list[float]:
    return [math.fsum(weight for _, weight, child in seen if child == k) for k in range(n_children)]


def upper_child(p: Problem, split: Split, node: Node) -> int:
    """The child of largest mean target (classes by their number; absolute error: the median), of equals the first."""
    children = [p.pairs(child) for child in children_of(p, split, node)]
    if isinstance(p.criterion, r.AbsoluteError):
        middles = [lower_median(child) if child else -math.inf for child in children]
    else:
        middles = [
            math.fsum(w * y for y, w in child) / math.fsum(w for _, w in child) if child else -math.inf
            for child in children
        ]
    return middles.index(max(middles))


def favourite(seen: Seen, side: int, n_children: int, kind: int, upper: int) -> int:
    """The most frequent child of a side. Levels leave a tie to the most frequent child of all, cuts to the first.

    If these are tied too, the upper child is the most frequent of all.
    """
    votes = votes_of([e for e in seen if e[0] == side], n_children)
    everywhere = votes_of(seen, n_children)
    overall = upper if everywhere[upper] == max(everywhere) else everywhere.index(max(everywhere))
    return overall if kind == NOMINAL and votes[overall] == max(votes) else votes.index(max(votes))


def rests_on_enough(p: Problem, kind: int, seen: Seen, answer: dict[int, int]) -> bool:
    """Two rows on either side of a cut; levels: of two children two rows each, or (rpart) two rows in error."""
    policy = p.recipe.missing
    assert isinstance(policy, r.Surrogates)
    if kind != NOMINAL:
        return len(set(answer.values())) == 2 and min(Counter(side for side, _, _ in seen).values()) >= 2
    if policy.imperfect_levels:
        return sum(answer[side] != child for side, _, child in seen) >= 2
    return sum(rows >= 2 for rows in Counter(child for _, _, child in seen).values()) >= 2


def plans(p: Problem, node: Node, column: int) -> list[Split]:
    """Sides of another column before anyone says which child a side answers: its levels, or one cut at the midpoint."""
    if p.kinds[column] == NOMINAL:
        n_levels = p.levels[column]
        return [Split(column, (), tuple(range(n_levels)), closed(p), n_levels)]
    numeric = p.recipe.numeric
    if isinstance(numeric, r.Threshold):
        p = replace(p, recipe=replace(p.recipe, numeric=r.Threshold(test=numeric.test)))
    return list(cuts(p, node, column))
