"""Which nodes of a large tree are drawn, and what is folded away.

The drawn nodes are a tree with the same root, in the tree's order; what carries the most weight is unfolded first;
every node is either drawn or counted by the drawn node that hides it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np

from treewright.tree.shape import ends
from treewright.tree.tree import Tree

#: Deeper than this a picture is unreadable; max_depth goes deeper.
DEEPEST = 16


@dataclass(frozen=True)
class Folded:
    """The drawn part: `nodes` are ids, rising; `children` the places in `nodes` of each one's drawn children.

    `below` counts the nodes hidden under a node that is drawn folded (0 for one that is drawn with its children).
    `left_out`: children of a node that are not drawn although others are, as ids.
    """

    nodes: tuple[int, ...]
    children: tuple[tuple[int, ...], ...]
    below: tuple[int, ...]
    left_out: tuple[tuple[int, ...], ...]

    @property
    def hidden(self) -> int:
        return self.below_total + sum(len(ids) for ids in self.left_out)

    @property
    def below_total(self) -> int:
        return sum(self.below)


def fold(tree: Tree, max_nodes: int, max_depth: int | None = None) -> Folded:
    """Return the heaviest part of the tree that has at most `max_nodes` nodes and `max_depth` levels below the root."""
    if max_nodes < 1:
        raise ValueError(f"max_nodes must be at least 1, not {max_nodes}")
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be 0 or more, or None, not {max_depth}")
    deepest = DEEPEST if max_depth is None else max_depth
    weight = tree.arrays["weight"]
    start, depth = tree.arrays["child_start"], tree.arrays["depth"]
    shown: dict[int, tuple[int, ...]] = {}
    widest = max(2, max_nodes // 3)  # a node with a child for each of a thousand levels shows its heaviest ones
    drawn = 1
    queue = [(-float(weight[0]), 0)]
    while queue:
        _, i = heapq.heappop(queue)
        children = tree.arrays["children"][start[i] : start[i + 1]]
        if len(children) > widest:
            heaviest = np.argsort(-weight[children], kind="stable")[: widest - 1]
            children = children[np.sort(heaviest)]
        if len(children) == 0 or int(depth[i]) >= deepest or drawn + len(children) > max_nodes:
            continue
        shown[i] = tuple(children.tolist())
        drawn += len(children)
        for child in shown[i]:
            heapq.heappush(queue, (-float(weight[child]), child))
    return _folded(tree, shown)


def _folded(tree: Tree, shown: dict[int, tuple[int, ...]]) -> Folded:
    nodes = sorted({0, *(child for children in shown.values() for child in children)})
    place = {node: i for i, node in enumerate(nodes)}
    sizes = (ends(tree) - np.arange(tree.n_nodes)).tolist()
    below, left_out = [], []
    for node in nodes:
        drawn = shown.get(node)
        missed = [] if drawn is None else sorted(set(tree[node].children) - set(drawn))
        left_out.append(tuple(missed))
        below.append(sizes[node] - 1 if drawn is None else sum(sizes[child] - 1 for child in missed))
    return Folded(
        tuple(nodes),
        tuple(tuple(place[child] for child in shown.get(node, ())) for node in nodes),
        tuple(below),
        tuple(left_out),
    )
