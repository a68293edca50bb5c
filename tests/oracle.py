"""The brute force: docs/choices.md written a second time, in plain Python, to hold the core against.

No code of the library is used but `treewright.recipes.recipe`. Where rounding may decide (scores within 1e-9), every
outcome is kept, the one the tie rules ask for first.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from oracle_candidates import (
    TOLERANCE,
    Candidate,
    bin_of,
    candidates,
    divisions,
    place_missing,
    rate_all,
    rate_each,
    scores_missing,
)
from oracle_criteria import class_weights, impurity, lower_median, moments, significance
from oracle_grouped import HARDLY_THERE, grouped_divisions
from oracle_merge import absorb_small, merge_outcomes, near
from oracle_missing import STOP, divide, fate, shares, surrogates_of
from oracle_table import NOMINAL, Node, Problem, Split, Value, children_of, problem, route, weigh

from treewright import recipes as r

PURE, DEPTH, FEW, NO_COLUMN, NO_GAIN, SMALL, LIMIT, LOW, NOT_SIGNIFICANT = range(1, 10)
EMPTY, DECREASE = 12, 13

Tree = dict[str, Any]


# --- the best of a column, the best of all columns --------------------------------------------------------------------


def winners(found: Sequence[Candidate], value: Callable[[Candidate], float], slack: float) -> list[Candidate]:
    """Who may win when later ones must beat earlier ones by more than the slack; the rightful winner first."""
    if not found:
        return []
    best = found[0]
    for challenger in found[1:]:
        if value(challenger) > value(best) + slack:
            best = challenger
    top = value(best) + slack
    return [best, *(c for c in found if c is not best and (value(c) >= top - 2 * slack or near(value(c), top)))]


def column_outcomes(p: Problem, node: Node, column: int) -> list[Candidate]:
    """What the column may put forward."""
    branching, slack = p.recipe.branching, p.recipe.tie_tolerance
    if isinstance(branching, r.Merge):
        return merge_outcomes(p, node, column)
    if isinstance(branching, r.Grouped) and p.kinds[column] == NOMINAL:
        own = isinstance(p.recipe.missing, r.OwnCategory) and bool(p.absent(node, column))
        found = []
        for split in grouped_divisions(p, node, column, with_missing=own):
            tried = rate_all(p, node, column, place_missing(p, node, column, [split]))
            found += winners(tried, lambda c: c.key, slack)
        if found or not p.absent(node, column):
            return found
        return rate_all(p, node, column, place_missing(p, node, column, []))
    return winners(candidates(p, node, column), lambda c: c.key, slack)


def choose(p: Problem, outcomes: Sequence[Sequence[Candidate]]) -> tuple[list[Candidate], bool]:
    """Who may win among the columns, and whether the average rule was beyond doubt."""
    outcomes = [found for found in outcomes if found]
    clear = True
    if isinstance(p.criterion, r.GainRatio) and p.criterion.average_rule:
        outcomes, clear = above_average(p, outcomes)
    if isinstance(p.recipe.branching, r.Merge):
        return smallest_p(outcomes), clear
    rightful = winners([found[0] for found in outcomes], lambda c: c.score, p.recipe.tie_tolerance)
    possible = [
        c
        for i, found in enumerate(outcomes)
        for c in found
        if all(
            near(c.score, other := min(x.score for x in rival)) or c.score >= other - p.recipe.tie_tolerance
            for j, rival in enumerate(outcomes)
            if j != i
        )
    ]
    return [*rightful[:1], *(c for c in possible if c is not rightful[0])], clear


def above_average(p: Problem, outcomes: Sequence[Sequence[Candidate]]) -> tuple[list[Sequence[Candidate]], bool]:
    """C4.5: only columns of about average gain compete; very many levels stay out of the average."""

    def many(column: int) -> bool:
        return p.kinds[column] == NOMINAL and p.levels[column] >= 0.3 * len(p.root)

    all_many = all(many(column) for column in range(len(p.columns)))
    counted = [found[0].gain for found in outcomes if all_many or not many(found[0].split.column)]
    if not counted:
        return list(outcomes), False
    least = math.fsum(counted) / len(counted) - 0.001
    clear = not any(abs(found[0].gain - least) < TOLERANCE for found in outcomes)
    return [found for found in outcomes if found[0].gain >= least], clear


def smallest_p(outcomes: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """CHAID: adjusted p, then p, then statistic, then the first column; whoever may win."""

    def beats(a: Candidate, b: Candidate) -> bool:
        for x, y in ((a.score, b.score), (a.gain, b.gain), (a.statistic, b.statistic)):
            if not near(x, y):
                return x > y
        return False

    return [
        c
        for i, found in enumerate(outcomes)
        for c in found
        if not any(all(beats(x, c) for x in rival) for j, rival in enumerate(outcomes) if j != i)
    ]


# --- what a node becomes ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Decision:
    """The splits a node may take and the reasons for which it may stop; `unclear`: even these are in doubt."""

    options: list[Candidate] = field(default_factory=list)
    stops: list[int] = field(default_factory=list)
    unclear: bool = False
    outcomes: list[list[Candidate]] = field(default_factory=list)

    @property
    def clear(self) -> bool:
        return not self.unclear and len(self.options) + len(set(self.stops)) == 1


def decide(p: Problem, node: Node, depth: int) -> Decision:
    """The node's future, in the order in which docs/choices.md asks."""
    early = stop_before_search(p, node, depth)
    if early:
        return Decision(stops=[early])
    outcomes = [column_outcomes(p, node, column) for column in range(len(p.columns))]
    if not any(outcomes):
        return Decision(stops=[why_nothing(p, node)])
    chosen, clear = choose(p, outcomes)
    clear = clear and not climbed_in_doubt(p, node) and not noise_of_roots(p, chosen)
    options: list[Candidate] = []
    stops: list[int] = []
    for candidate in chosen:
        finals = settle(p, node, candidate)
        reasons = stop_after_choice(p, node, candidate, finals)
        stops += [reason for reason in reasons if reason]
        options += [final for final in finals if final is not None and final not in options and 0 in reasons]
    return Decision(options, list(dict.fromkeys(stops)), not clear or not chosen, outcomes)


def noise_of_roots(p: Problem, chosen: Sequence[Candidate]) -> bool:
    """Weights of spread rows are rounded, and the root of what is left of a zero variance is not small."""
    rooted = isinstance(p.criterion, r.StandardDeviation) and isinstance(p.recipe.missing, r.Fractional)
    return rooted and any(c.gain < 1e-6 for c in chosen)


def climbed_in_doubt(p: Problem, node: Node) -> bool:
    """C4.5's climb knows levels that hardly weigh anything, and nothing of learned directions: no rule says how."""
    if not isinstance(p.recipe.branching, r.Grouped):
        return False
    nominal = [j for j, kind in enumerate(p.kinds) if kind == NOMINAL]
    learned = isinstance(p.recipe.missing, r.LearnedDirection)
    return any((learned and p.absent(node, j)) or 0 < lightest_level(p, node, j) <= HARDLY_THERE for j in nominal)


def lightest_level(p: Problem, node: Node, column: int) -> float:
    weights: dict[Value, float] = {}
    for row, weight in node:
        weights[p.columns[column][row]] = weights.get(p.columns[column][row], 0.0) + weight
    return min(weights.values())


def settle(p: Problem, node: Node, candidate: Candidate) -> Sequence[Candidate | None]:
    """CHAID merges small children after the choice; None: nothing was left to divide."""
    if isinstance(p.recipe.branching, r.Merge):
        return absorb_small(p, node, candidate)
    return [candidate]


def stop_before_search(p: Problem, node: Node, depth: int) -> int:
    stopping = p.recipe.stopping
    if not node:
        return EMPTY
    if len({p.target[row] for row, _ in node}) == 1:
        return PURE
    if stopping.max_depth is not None and depth >= stopping.max_depth:
        return DEPTH
    least = max(stopping.min_samples_split, 2 * stopping.min_samples_leaf)
    if len(node) < least or weigh(node) < stopping.min_weight_split:
        return FEW
    if stopping.max_impurity is not None and node_impurity(p, node) <= stopping.max_impurity:
        return LOW
    return 0


def why_nothing(p: Problem, node: Node) -> int:
    """No column offers anything: a penalty ate the gain, or the children were too small, or there is nothing to ask."""
    numeric = p.recipe.numeric
    if isinstance(numeric, r.Threshold) and numeric.mdl_penalty:
        ordered = [j for j, kind in enumerate(p.kinds) if kind != NOMINAL]
        if any(rate_each(p, node, j, divisions(p, node, j)) for j in ordered):
            return NO_GAIN
    return SMALL if any_pair(p, node) else NO_COLUMN


def any_pair(p: Problem, node: Node) -> bool:
    """Does any column have two distinct values (bins, if it is binned)? Missing is one where it can have a child."""

    def distinct(j: int) -> set[Value]:
        values = {p.columns[j][row] for row, _ in p.known(node, j)}
        bounds = p.bounds[j]
        found: set[Value] = values if bounds is None else {bin_of(bounds, x) for x in values}
        return found | {None} if scores_missing(p.recipe) and p.absent(node, j) else found

    return any(len(distinct(j)) > 1 for j in range(len(p.columns)))


def stop_after_choice(p: Problem, node: Node, chosen: Candidate, finals: Sequence[Candidate | None]) -> list[int]:
    """Reasons not to take the chosen split, in the order asked, and 0 if it may be taken; more than one if in doubt."""
    stopping, branching = p.recipe.stopping, p.recipe.branching
    scale = max(node_impurity(p, node), sys.float_info.min)
    worth = weigh(node) / weigh(p.root) * chosen.decrease
    checks: list[tuple[int, bool, bool]] = []  # reason, whether it may hold, whether it holds without doubt
    if isinstance(branching, r.Merge):
        checks.append((NOT_SIGNIFICANT, *exceeds(-chosen.score, branching.alpha_split)))
        checks.append((SMALL, None in finals, all(final is None for final in finals)))
    if not stopping.zero_gain:
        checks.append((NO_GAIN, chosen.gain <= TOLERANCE * scale, chosen.gain <= TOLERANCE * scale))
    if stopping.min_impurity_decrease > 0:
        least = stopping.min_impurity_decrease
        checks.append((DECREASE, worth < least + TOLERANCE, worth < least - TOLERANCE))
    if stopping.significance is not None:
        scored = [p.pairs(child) for child in children_of(p, chosen.split, node)]
        log_p = significance(p.criterion, scored, p.n_classes)[2]
        checks.append((NOT_SIGNIFICANT, *exceeds(log_p, stopping.significance)))
    reasons = []
    for reason, perhaps, surely in checks:
        if perhaps:
            reasons.append(reason)
        if surely:
            return reasons
    return [*reasons, 0]


def exceeds(log_p: float, limit: float) -> tuple[bool, bool]:
    """May p be above the limit, and is it beyond doubt?"""
    log_limit = math.log(limit) if limit > 0 else -math.inf
    above = log_p > log_limit
    return above or near(log_p, log_limit), above and not near(log_p, log_limit)


def node_impurity(p: Problem, node: Node) -> float:
    return impurity(p.criterion, p.pairs(node), p.n_classes)


# --- answers ----------------------------------------------------------------------------------------------------------


def node_stats(p: Problem, node: Node) -> list[float]:
    if p.n_classes:
        return class_weights(p.pairs(node), p.n_classes)
    return list(moments(p.pairs(node))) if node else [0.0, 0.0, 0.0]


def leaf_value(p: Problem, node: Node, parent_value: list[float] | None, parent: Node) -> list[float]:
    if node:
        return own_answer(p, node)
    assert parent_value is not None
    if not p.n_classes or p.recipe.leaves.empty == "distribution":
        return parent_value
    weights = class_weights(p.pairs(parent), p.n_classes)
    return [float(c == weights.index(max(weights))) for c in range(p.n_classes)]


def own_answer(p: Problem, node: Node) -> list[float]:
    pairs = p.pairs(node)
    if not p.n_classes:
        return [lower_median(pairs) if isinstance(p.criterion, r.AbsoluteError) else moments(pairs)[1]]
    weights, total, leaves = class_weights(pairs, p.n_classes), weigh(node), p.recipe.leaves
    if leaves.smoothing == "laplace":
        return [(w + 1) / (total + p.n_classes) for w in weights]
    if leaves.smoothing == "m_estimate":
        root = class_weights(p.pairs(p.root), p.n_classes)
        return [
            (w + leaves.m * whole / weigh(p.root)) / (total + leaves.m) for w, whole in zip(weights, root, strict=True)
        ]
    return [w / total for w in weights]


# --- the tree ---------------------------------------------------------------------------------------------------------


def grow(
    columns: Sequence[np.ndarray], kinds: Sequence[int], levels: Sequence[int], target: np.ndarray, n_classes: int,
    weight: np.ndarray | None, recipe: r.Recipe,
) -> Tree:  # fmt: skip
    """The whole tree. `clear` of a node: nothing about its split was a matter of rounding."""
    return grow_problem(problem(columns, kinds, levels, target, n_classes, weight, recipe))


def grow_problem(p: Problem) -> Tree:
    root = open_node(p, p.root, 0, None, [])
    limit = p.recipe.stopping.max_leaf_nodes
    if limit is None:
        grow_depth_first(p, root)
    else:
        grow_best_first(p, root, limit)
    return root


def open_node(p: Problem, node: Node, depth: int, parent_value: list[float] | None, parent: Node) -> Tree:
    """A leaf that knows what it could become."""
    decision = decide(p, node, depth)
    return {
        "entries": node,
        "depth": depth,
        "rows": len(node),
        "weight": weigh(node),
        "stats": node_stats(p, node),
        "value": leaf_value(p, node, parent_value, parent),
        "impurity": node_impurity(p, node) if node else 0.0,
        "gain": 0.0,
        "stop": 0 if decision.options and not decision.stops else decision.stops[0],
        "clear": decision.clear,
        "chosen": decision.options[0] if decision.options and not decision.stops else None,
        "split": None,
        "surrogates": [],
        "missing": STOP,
        "share": [],
        "children": [],
    }


def split_node(p: Problem, tree: Tree) -> list[Tree]:
    """Divide the node's entries; its children are open leaves."""
    chosen: Candidate = tree["chosen"]
    node: Node = tree["entries"]
    stand_ins = surrogates_of(p, chosen.split, node)
    parts = divide(p, chosen.split, [s.split for s in stand_ins], node)
    tree["clear"] = tree["clear"] and not order_decides(p, chosen.split, node) and not tied_surrogates(p, chosen, node)
    tree["split"], tree["gain"], tree["share"] = chosen.split, chosen.gain, shares(p, chosen.split, node)
    tree["surrogates"], tree["missing"] = stand_ins, fate_for_prediction(p, chosen.split, node, parts)
    tree["children"] = [open_node(p, part, tree["depth"] + 1, tree["value"], node) for part in parts]
    return tree["children"]


def order_decides(p: Problem, split: Split, node: Node) -> bool:
    """Do missing entries go to the first of two equal sets of levels? No rule says which of two sets is the first."""
    if not (isinstance(p.recipe.missing, r.MajorityChild) and isinstance(p.recipe.branching, r.Binary)):
        return False
    parts = shares(p, split, node)
    return p.kinds[split.column] == NOMINAL and near(*parts) and bool(p.absent(node, split.column))


def tied_surrogates(p: Problem, chosen: Candidate, node: Node) -> bool:
    """Do two columns imitate the split equally well? Then the first is asked first: the order of columns decides."""
    policy = p.recipe.missing
    if not isinstance(policy, r.Surrogates) or policy.maximum == 0 or not p.absent(node, chosen.split.column):
        return False
    everyone = replace(p, recipe=replace(p.recipe, missing=replace(policy, maximum=len(p.columns))))
    agreements = [s.agreement for s in surrogates_of(everyone, chosen.split, node)]
    return any(near(a, b) for a, b in itertools.pairwise(agreements))


def fate_for_prediction(p: Problem, split: Split, node: Node, parts: Sequence[Node]) -> int:
    """Surrogates(majority="all") judges the larger child by all rows that ended there, once they have."""
    policy = p.recipe.missing
    if not (isinstance(policy, r.Surrogates) and policy.majority == "all" and policy.then == "majority"):
        return fate(p, split, node)
    sizes = [len(part) for part in parts]
    return STOP if sizes.count(max(sizes)) > 1 else sizes.index(max(sizes))


def grow_depth_first(p: Problem, tree: Tree) -> None:
    if tree["chosen"] is not None:
        for child in split_node(p, tree):
            grow_depth_first(p, child)


def grow_best_first(p: Problem, root: Tree, limit: int) -> None:
    """The open node with the largest N/N_root x decrease first; a split that would make too many leaves is not made."""
    waiting = [root] if root["chosen"] is not None else []
    n_leaves, exact = 1, True
    while waiting:
        worth = [t["weight"] * t["chosen"].decrease for t in waiting]
        best = worth.index(max(worth))
        exact = exact and sum(near(w, max(worth)) for w in worth) == 1
        tree = waiting.pop(best)
        tree["clear"] = tree["clear"] and exact
        more = tree["chosen"].split.n_children - 1
        if n_leaves + more > limit:
            tree["stop"], tree["chosen"] = LIMIT, None
            continue
        n_leaves += more
        waiting += [child for child in split_node(p, tree) if child["chosen"] is not None]


def all_clear(tree: Tree) -> bool:
    return tree["clear"] and all(all_clear(child) for child in tree["children"])


# --- prediction -------------------------------------------------------------------------------------------------------


def predict_row(tree: Tree, row: Sequence[Value], kinds: Sequence[int], unseen: str = "missing") -> list[float]:
    """The answer for one row, by the plainest recursion; a code of -2 is a level nobody declared."""
    split: Split | None = tree["split"]
    if split is None:
        return tree["value"]
    value = row[split.column]
    child = -1 if value is None else route(split, kinds[split.column], value)
    if child < 0 and value is not None and unseen == "majority":
        child = tree["share"].index(max(tree["share"]))
    for stand_in in tree["surrogates"]:
        other = row[stand_in.split.column]
        if child < 0 and other is not None:
            child = route(stand_in.split, kinds[stand_in.split.column], other)
    if child < 0:
        child = tree["missing"]
    if child >= 0:
        return predict_row(tree["children"][child], row, kinds, unseen)
    if child == STOP:
        return tree["value"]
    answers = [
        [share * x for x in predict_row(part, row, kinds, unseen)]
        for part, share in zip(tree["children"], tree["share"], strict=True)
        if share > 0
    ]
    return [math.fsum(column) for column in zip(*answers, strict=True)]
