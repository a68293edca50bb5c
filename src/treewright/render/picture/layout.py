"""Where the nodes of a drawn tree stand: tidy, tight, children in order, parents centred above them.

No two nodes overlap; a subtree has the same shape wherever it stands; the work grows with the number of nodes alone
(Buchheim, Jünger and Leipert's walk, widened to nodes of unequal width); no recursion: any depth will do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """The middle of a node across the picture, and where it starts along the way down."""

    across: float
    along: float


def tidy(
    children: Sequence[Sequence[int]],
    breadth: Sequence[float],
    length: Sequence[float],
    gap: float,
    level_gap: float,
    cousin_gap: float | None = None,
) -> list[Place]:
    """Return the place of each node; node 0 is the root and every parent comes before its children.

    `breadth` is a node's size across, `length` its size along; each level is as long as its longest node. `gap` lies
    between siblings, `cousin_gap` (by default the same) between neighbours with other parents.

    >>> tidy([[1, 2], [], []], [4, 2, 2], [1, 1, 1], gap=1, level_gap=1)
    [Place(across=2.5, along=0.0), Place(across=1.0, along=2.0), Place(across=4.0, along=2.0)]
    """
    depth = _depths(children)
    across = _Walk(children, breadth, gap, gap if cousin_gap is None else cousin_gap).across()
    longest = [0.0] * (max(depth) + 1)
    for i, level in enumerate(depth):
        longest[level] = max(longest[level], length[i])
    starts, start = [], 0.0
    for room in longest:
        starts.append(start)
        start += room + level_gap
    left = min(x - breadth[i] / 2 for i, x in enumerate(across))
    return [Place(x - left, starts[depth[i]]) for i, x in enumerate(across)]


def _depths(children: Sequence[Sequence[int]]) -> list[int]:
    depth = [0] * len(children)
    for i, below in enumerate(children):
        for child in below:
            depth[child] = depth[i] + 1
    return depth


class _Walk:
    """The working notes of one layout: for each node its offset, its thread to the next contour node, its shifts."""

    def __init__(self, children: Sequence[Sequence[int]], breadth: Sequence[float], gap: float, far: float) -> None:
        n = len(children)
        self.children, self.breadth, self.gap, self.far = children, breadth, gap, far
        self.parent, self.number = [-1] * n, [0] * n
        for i, below in enumerate(children):
            for k, child in enumerate(below):
                self.parent[child], self.number[child] = i, k
        self.offset, self.shifted, self.change, self.spread = [0.0] * n, [0.0] * n, [0.0] * n, [0.0] * n
        self.thread, self.ancestor = [-1] * n, list(range(n))

    def across(self) -> list[float]:
        for i in reversed(self._order()):
            self._settle(i)
        self.offset[0] = self._own_middle(0)
        # `offset` is relative to the parent's sum of shifts: add these up from the root down.
        place, moved = [0.0] * len(self.children), [0.0] * len(self.children)
        for i in range(len(self.children)):
            place[i] = self.offset[i] + moved[i]
            for child in self.children[i]:
                moved[child] = moved[i] + self.shifted[i]
        return place

    def _order(self) -> list[int]:
        """Return an order whose reverse meets all children of a node, first to last, before the node itself."""
        order, stack = [], [0]
        while stack:
            i = stack.pop()
            order.append(i)
            stack += self.children[i]
        return order

    def _settle(self, i: int) -> None:
        """Place the children's subtrees side by side and centre the node above them."""
        below = self.children[i]
        if not below:
            return
        leftmost = below[0]
        for k, child in enumerate(below):
            middle = self._own_middle(child)
            if k == 0:
                self.offset[child] = middle
                continue
            before = below[k - 1]
            self.offset[child] = self.offset[before] + self._distance(before, child)
            self.shifted[child] = self.offset[child] - middle
            leftmost = self._push(child, below, leftmost)
        shift = change = 0.0
        for child in reversed(below):
            self.offset[child] += shift
            self.shifted[child] += shift
            change += self.change[child]
            shift += self.spread[child] + change

    def _own_middle(self, i: int) -> float:
        below = self.children[i]
        return (self.offset[below[0]] + self.offset[below[-1]]) / 2 if below else 0.0

    def _distance(self, left: int, right: int) -> float:
        gap = self.gap if self.parent[left] == self.parent[right] else self.far
        return (self.breadth[left] + self.breadth[right]) / 2 + gap

    def _next_left(self, i: int) -> int:
        return self.children[i][0] if self.children[i] else self.thread[i]

    def _next_right(self, i: int) -> int:
        return self.children[i][-1] if self.children[i] else self.thread[i]

    def _push(self, child: int, siblings: Sequence[int], default: int) -> int:
        """Move a subtree right until its left contour clears the right contour of all before it."""
        inner_right, outer_right = child, child
        inner_left, outer_left = siblings[self.number[child] - 1], siblings[0]
        sums = [self.shifted[j] for j in (inner_right, outer_right, inner_left, outer_left)]
        while True:
            next_left, next_right = self._next_right(inner_left), self._next_left(inner_right)
            if next_left < 0 or next_right < 0:
                break
            inner_left, inner_right = next_left, next_right
            outer_left, outer_right = self._next_left(outer_left), self._next_right(outer_right)
            self.ancestor[outer_right] = child
            shift = self.offset[inner_left] + sums[2] - self.offset[inner_right] - sums[0]
            shift += self._distance(inner_left, inner_right)
            if shift > 0:
                pushed = self.ancestor[inner_left]
                self._move(pushed if self.parent[pushed] == self.parent[child] else default, child, shift)
                sums[0] += shift
                sums[1] += shift
            for k, j in enumerate((inner_right, outer_right, inner_left, outer_left)):
                sums[k] += self.shifted[j]
        if self._next_right(inner_left) >= 0 and self._next_right(outer_right) < 0:
            self.thread[outer_right] = self._next_right(inner_left)
            self.shifted[outer_right] += sums[2] - sums[1]
        if self._next_left(inner_right) >= 0 and self._next_left(outer_left) < 0:
            self.thread[outer_left] = self._next_left(inner_right)
            self.shifted[outer_left] += sums[0] - sums[3]
            default = child
        return default

    def _move(self, left: int, right: int, shift: float) -> None:
        """Move `right` and record that the siblings in between share the shift evenly."""
        between = self.number[right] - self.number[left]
        self.change[right] -= shift / between
        self.spread[right] += shift
        self.change[left] += shift / between
        self.offset[right] += shift
        self.shifted[right] += shift
