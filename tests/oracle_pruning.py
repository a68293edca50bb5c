"""The classic pruning rules a second time: plain recursion over nodes, the standard library only.

Written from the formulas of docs/pruning.md, not from the library.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from statistics import NormalDist
from typing import Any

Cost = Callable[[Any], float]

TABLE = (
    (0, 4.0),
    (0.001, 3.09),
    (0.005, 2.58),
    (0.01, 2.33),
    (0.05, 1.65),
    (0.1, 1.28),
    (0.2, 0.84),
    (0.4, 0.25),
    (1, 0),
)


def quantile(confidence: float, deviate: str) -> float:
    if deviate == "exact":
        return NormalDist().inv_cdf(1 - confidence)
    (x0, y0), (x1, y1) = next(pair for pair in pairwise(TABLE) if pair[0][0] <= confidence <= pair[1][0])
    return y0 + (y1 - y0) * (confidence - x0) / (x1 - x0)


def extra_errors(n: float, e: float, confidence: float, deviate: str) -> float:
    """C4.5's and J48's upper limit, less the errors seen."""
    c45 = deviate == "table"
    if n <= 0 or (not c45 and confidence > 0.5):
        return 0.0
    if e < (0.9999 if c45 else 1):
        none = n * (1 - math.exp(math.log(confidence) / n))
        return none if e < 1e-6 else none + e * (extra_errors(n, 1, confidence, deviate) - none)
    if e + 0.5 >= n:
        return max(0.0, n - e) * (0.67 if c45 else 1)
    z2 = quantile(confidence, deviate) ** 2
    f = (e + 0.5) / n
    limit = (f + z2 / (2 * n) + math.sqrt(z2 * (f / n - f * f / n + z2 / (4 * n * n)))) / (1 + z2 / n)
    return limit * n - e


def wrong(node: Any) -> float:
    place = node.tree.schema.target.classes.index(node.prediction)
    return float(sum(node.counts) - node.counts[place])


def estimated(confidence: float, deviate: str) -> Cost:
    return lambda node: wrong(node) + extra_errors(sum(node.counts), wrong(node), confidence, deviate)


def expected(m: float) -> Cost:
    def cost(node: Any) -> float:
        whole, n = node.tree.root.counts, sum(node.counts)
        place = node.tree.schema.target.classes.index(node.prediction)
        right = node.counts[place] + m * whole[place] / sum(whole)
        return n * (1 - right / (n + m)) if n > 0 else 0.0

    return cost


def leaf_bits(node: Any) -> float:
    n, e, k = sum(node.counts), wrong(node), len(node.counts)
    which = math.lgamma(n + 1) - math.lgamma(e + 1) - math.lgamma(n - e + 1)
    return 1 + math.log2(k) + math.log2(n + 1) + which / math.log(2) + e * math.log2(max(1, k - 1))


def split_bits(node: Any) -> float:
    """The bit that says "a split", the column, and the question among all of its kind."""
    split, columns = node.split, len(node.tree.schema.columns)
    if split.breaks:
        ways = math.comb(max(node.rows - 1, len(split.breaks)), len(split.breaks))
    elif split.spec.kind == "ordinal":
        ways = math.comb(len(split.child_of_bin) - 1, split.n_children - 1)
    else:
        ways = stirling(sum(child >= 0 for child in split.child_of_bin), split.n_children)
    return 1 + math.log2(columns) + math.log2(max(ways, 1))


def stirling(n: int, k: int) -> int:
    """Ways to divide n things into k parts, by the recurrence."""
    if k >= n:
        return 1
    return k * stirling(n - 1, k) + (stirling(n - 1, k - 1) if k > 1 else 0) if k > 0 else 0


def bottom_up(node: Any, leaf: Cost, margin: float = 0.0, own: Cost = lambda _: 0.0) -> tuple[float, set[int]]:
    """The cost of the subtree as pruned, and its new leaves."""
    if node.is_leaf:
        return leaf(node), set()
    parts = [bottom_up(node.tree[child], leaf, margin, own) for child in node.children]
    below, cut = own(node) + sum(cost for cost, _ in parts), set().union(*(ids for _, ids in parts))
    return (leaf(node), {node.id}) if leaf(node) <= below + margin else (below, cut)


def pessimistic(node: Any, correction: float, standard_errors: float) -> set[int]:
    if node.is_leaf:
        return set()
    leaves = [end for end in below(node) if end.is_leaf and end.weight > 0]
    n, seen = node.weight, sum(wrong(end) for end in leaves) + correction * len(leaves)
    error = math.sqrt(seen * max(0.0, n - seen) / n) if n > 0 else 0.0
    if wrong(node) + correction <= seen + standard_errors * error:
        return {node.id}
    return set().union(*(pessimistic(node.tree[child], correction, standard_errors) for child in node.children))


def critical(node: Any, value: float) -> set[int]:
    if node.is_leaf:
        return set()
    if all(inner.is_leaf or inner.split.score < value for inner in below(node)):
        return {node.id}
    return set().union(*(critical(node.tree[child], value) for child in node.children))


def below(node: Any) -> Iterator[Any]:
    yield node
    for child in node.children:
        yield from below(node.tree[child])


def count_prunings(node: Any) -> int:
    """How many ways there are."""
    return 1 if node.is_leaf else 1 + math.prod(count_prunings(node.tree[child]) for child in node.children)


def prunings(node: Any) -> list[frozenset[int]]:
    """Every way to prune the subtree: the nodes made leaves, topmost only."""
    if node.is_leaf:
        return [frozenset()]
    parts = product(*(prunings(node.tree[child]) for child in node.children))
    return [frozenset({node.id}), *(frozenset().union(*part) for part in parts)]
