"""CHAID written down a second time: merge, resplit or exhaust, float the missing, adjust, absorb small children.

Groups are tuples of categories, each sorted, and sorted by their first category; the category after the last level
(or bin) is "missing".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

from oracle_candidates import (
    TOLERANCE,
    Candidate,
    bin_of,
    bin_split,
    level_split,
    present_bins,
    reaches,
    scores_missing,
)
from oracle_criteria import rate, significance, weight_of
from oracle_table import NOMINAL, Node, Problem, Split, weigh

from treewright import recipes as r

Group = tuple[int, ...]
Groups = tuple[Group, ...]


def merge_outcomes(p: Problem, node: Node, column: int) -> list[Candidate]:
    """What the column offers before small children are absorbed: possible groupings with their adjusted p."""
    cells = cells_of(p, node, column)
    known, missing = known_categories(p, node, column)
    if len(known) + len(missing) < 2:
        return []
    floating = bool(missing) and p.kinds[column] != NOMINAL
    start = known if floating or not missing else [*known, *missing]
    neighbours = p.kinds[column] != NOMINAL
    found: list[Groups] = []
    for groups in merged(p, cells, tuple((c,) for c in start), neighbours):
        found += float_missing(p, cells, groups, missing[0]) if floating else [groups]
    categories = len(known) + len(missing)
    return [candidate_of(p, column, cells, g, categories, floating) for g in dict.fromkeys(found) if len(g) >= 2]


def known_categories(p: Problem, node: Node, column: int) -> tuple[list[int], list[int]]:
    """Categories present, and [missing] if missing entries are a category here."""
    known, n = present_bins(p, node, column)
    own = isinstance(p.recipe.missing, r.OwnCategory)
    return known, [n] if own and p.absent(node, column) else []


def cells_of(p: Problem, node: Node, column: int) -> dict[int, Node]:
    """Entries per category."""
    _, n = present_bins(p, node, column)
    bounds = p.bounds[column]
    cells: dict[int, Node] = {}
    for row, weight in node:
        value = p.columns[column][row]
        category = n if value is None else value if bounds is None else bin_of(bounds, value)
        cells.setdefault(category, []).append((row, weight))
    return cells


def compare(p: Problem, cells: dict[int, Node], groups: Groups) -> tuple[float, float, float]:
    return significance(p.criterion, [p.pairs([e for c in g for e in cells[c]]) for g in groups], p.n_classes)


def log_p(p: Problem, cells: dict[int, Node], groups: Groups) -> float:
    return compare(p, cells, groups)[2]


# --- merging ----------------------------------------------------------------------------------------------------------


def merged(p: Problem, cells: dict[int, Node], start: Groups, neighbours: bool) -> list[Groups]:
    branching = p.recipe.branching
    assert isinstance(branching, r.Merge)
    if branching.exhaustive:
        return exhausted(p, cells, start, neighbours)
    return climb(p, cells, start, neighbours, branching, frozenset())


def climb(
    p: Problem, cells: dict[int, Node], groups: Groups, neighbours: bool, branching: r.Merge, seen: frozenset[Groups]
) -> list[Groups]:
    """Merge the most similar pair while it is not significant; `seen` ends a merge and resplit that never would."""
    if len(groups) <= 2 or groups in seen:
        return [groups]
    ends: list[Groups] = []
    alpha = math.log(branching.alpha_merge) if branching.alpha_merge > 0 else -math.inf
    for pair, similarity in most_similar(p, cells, groups, neighbours):
        if similarity <= alpha:
            ends.append(groups)
            continue
        together = tuple(sorted((*pair[0], *pair[1])))
        for parts in resplit(p, cells, together, neighbours, branching):
            after = tuple(sorted((*(g for g in groups if g not in pair), *parts)))
            ends += climb(p, cells, after, neighbours, branching, seen | {groups})
    return list(dict.fromkeys(ends))


def resplit(p: Problem, cells: dict[int, Node], group: Group, neighbours: bool, branching: r.Merge) -> list[Groups]:
    """A compound of three or more falls in two again if its best division is significant."""
    if branching.alpha_resplit is None or len(group) < 3:
        return [(group,)]
    halves = list(two_parts(group, neighbours))
    best = min(log_p(p, cells, h) for h in halves)
    if best > (math.log(branching.alpha_resplit) if branching.alpha_resplit > 0 else -math.inf):
        return [(group,)]
    return [h for h in halves if near(log_p(p, cells, h), best)]


def two_parts(group: Group, neighbours: bool) -> Iterator[Groups]:
    if neighbours:
        for place in range(1, len(group)):
            yield group[:place], group[place:]
        return
    first, *others = group
    for size in range(len(others)):
        for companions in itertools.combinations(others, size):
            low = (first, *companions)
            yield low, tuple(c for c in group if c not in low)


def exhausted(p: Problem, cells: dict[int, Node], start: Groups, neighbours: bool) -> list[Groups]:
    """Exhaustive CHAID: merge down to two groups, keep the step with the smallest p, the earlier one on ties."""
    ends = []
    for path in paths_to_two(p, cells, start, neighbours):
        ps = [log_p(p, cells, step) for step in path]
        ends += [step for step, value in zip(path, ps, strict=True) if near(value, min(ps))]
    return list(dict.fromkeys(ends))


def paths_to_two(p: Problem, cells: dict[int, Node], groups: Groups, neighbours: bool) -> list[list[Groups]]:
    if len(groups) <= 2:
        return [[groups]]
    paths = []
    for pair, _ in most_similar(p, cells, groups, neighbours):
        after = tuple(sorted((*(g for g in groups if g not in pair), tuple(sorted((*pair[0], *pair[1]))))))
        paths += [[groups, *path] for path in paths_to_two(p, cells, after, neighbours)]
    return paths


def most_similar(
    p: Problem, cells: dict[int, Node], groups: Groups, neighbours: bool
) -> list[tuple[tuple[Group, Group], float]]:
    """The pairs with the largest p, the first one first."""
    pairs = list(itertools.pairwise(groups)) if neighbours else list(itertools.combinations(groups, 2))
    rated = [(pair, log_p(p, cells, pair)) for pair in pairs]
    best = max(value for _, value in rated)
    return [(pair, value) for pair, value in rated if near(value, best)]


def near(a: float, b: float) -> bool:
    """Too close to call; infinities are near only to themselves."""
    return a == b or (math.isfinite(a) and math.isfinite(b) and abs(a - b) <= TOLERANCE * max(1.0, abs(a), abs(b)))


def float_missing(p: Problem, cells: dict[int, Node], groups: Groups, missing: int) -> list[Groups]:
    """Missing joins the most similar group or stays alone, whichever has the smaller p; joined on a tie."""
    similar = [(g, log_p(p, cells, (g, (missing,)))) for g in groups]
    best = max(value for _, value in similar)
    alone = (*groups, (missing,))
    ends: list[Groups] = []
    for group in [g for g, value in similar if near(value, best)]:
        joined = tuple((*g, missing) if g == group else g for g in groups)
        p_joined, p_alone = log_p(p, cells, joined), log_p(p, cells, alone)
        if near(p_joined, p_alone):
            ends += [joined, alone]
        else:
            ends.append(joined if p_joined < p_alone else alone)
    return ends


# --- the adjusted p ---------------------------------------------------------------------------------------------------


def log_multiplier(branching: r.Merge, kind: int, floating: bool, categories: int, groups: int) -> float:
    """ln of Bonferroni's number of ways to form the groups."""
    if not branching.bonferroni:
        return 0.0
    n, k = categories, groups
    if branching.exhaustive:
        if kind != NOMINAL:
            return math.log(n * (n - 1) / 2)
        return math.log(n * (n * n - 1) / (2 if branching.multiplier == "spss" else 6))
    if floating:
        return math.log(math.comb(n - 2, k - 2) + k * math.comb(n - 2, k - 1))
    if kind != NOMINAL:
        return math.log(math.comb(n - 1, k - 1))
    return math.log(stirling(n, k))


def stirling(n: int, k: int) -> int:
    """Ways to put n things into k groups, none empty."""
    if k in (1, n):
        return 1
    return 0 if k > n else k * stirling(n - 1, k) + stirling(n - 1, k - 1)


def candidate_of(
    p: Problem, column: int, cells: dict[int, Node], groups: Groups, categories: int, floating: bool
) -> Candidate:
    branching = p.recipe.branching
    assert isinstance(branching, r.Merge)
    split = split_of(p, column, cells, groups)
    apart = 0.0 if scores_missing(p.recipe) else weigh(cells.get(present_bins(p, [], column)[1], []))
    parts = [p.pairs([e for c in g for e in cells[c]]) for g in groups]
    rated = rate(p.criterion, parts, p.n_classes, math.fsum(map(weight_of, parts)) + apart, apart)
    assert rated is not None
    value = rated.log_p
    multiplier = log_multiplier(branching, p.kinds[column], floating, categories, len(groups))
    score = -min(0.0, value + multiplier)
    return Candidate(
        split, rated.gain, score, score, rated.decrease, rated.statistic, rated.degrees, value, multiplier
    )  # fmt: skip


def split_of(p: Problem, column: int, cells: dict[int, Node], groups: Groups) -> Split:
    """Groups as a split. A level absent at the node follows the nearest code, or if nominal the group of most rows."""
    child_of = {category: child for child, group in enumerate(groups) for category in group}
    _, n = present_bins(p, [], column)
    if p.kinds[column] == NOMINAL:
        sizes = [sum(len(cells[c]) for c in group) for group in groups]
        largest = sizes.index(max(sizes))
        return level_split(p, column, dict.fromkeys(range(n), largest) | child_of)
    codes = sorted(c for c in child_of if c < n)
    nearest: Callable[[int], int] = lambda k: min(codes, key=lambda c: (abs(c - k), c))  # noqa: E731
    return bin_split(p, column, [child_of[nearest(k)] for k in range(n)], len(groups), child_of.get(n))


# --- small children ---------------------------------------------------------------------------------------------------


def absorb_small(p: Problem, node: Node, chosen: Candidate) -> list[Candidate | None]:
    """Children that are too small join their most similar allowed one, the smallest first; None: one child was left."""
    column = chosen.split.column
    cells = cells_of(p, node, column)
    known, missing = known_categories(p, node, column)
    _, n = present_bins(p, node, column)
    start = groups_of(chosen, [*known, *missing], n)
    floating = bool(missing) and p.kinds[column] != NOMINAL
    results: list[Candidate | None] = []
    for groups in absorbed(p, cells, start, n, p.kinds[column] == NOMINAL):
        if len(groups) < 2:
            results.append(None)
        elif groups == start:
            results.append(chosen)
        else:
            results.append(candidate_of(p, column, cells, groups, len(known) + len(missing), floating))
    return results


def groups_of(chosen: Candidate, categories: list[int], n_bins: int) -> Groups:
    split = chosen.split
    child = {c: split.missing if c == n_bins else split.child_of_bin[c] for c in categories}
    return tuple(tuple(c for c in categories if child[c] == k) for k in range(split.n_children))


def absorbed(p: Problem, cells: dict[int, Node], groups: Groups, missing: int, nominal: bool) -> list[Groups]:
    small = [g for g in groups if too_small(p, [e for c in g for e in cells[c]])]
    if len(groups) < 2 or not small:
        return [groups]
    smallest = min(small, key=lambda g: sum(len(cells[c]) for c in g))
    ends: list[Groups] = []
    partners = [g for g in groups if g != smallest and (nominal or touching(groups, smallest, g, missing))]
    rated = [(g, log_p(p, cells, (smallest, g))) for g in partners]
    best = max(value for _, value in rated)
    for partner in [g for g, value in rated if near(value, best)]:
        together = tuple(sorted((*smallest, *partner)))
        after = tuple(sorted((*(g for g in groups if g not in (smallest, partner)), together)))
        ends += absorbed(p, cells, after, missing, nominal)
    return list(dict.fromkeys(ends))


def too_small(p: Problem, node: Node) -> bool:
    branching, stopping = p.recipe.branching, p.recipe.stopping
    assert isinstance(branching, r.Merge)
    least = max(branching.min_child, stopping.min_samples_leaf)
    return len(node) < least or not reaches(weigh(node), stopping.min_weight_leaf)


def touching(groups: Groups, a: Group, b: Group, missing: int) -> bool:
    """May two groups of an ordered column join? One that holds missing floats: it touches all and parts none."""
    if missing in a or missing in b:
        return True
    fixed = [g for g in groups if missing not in g]
    return abs(fixed.index(a) - fixed.index(b)) == 1
