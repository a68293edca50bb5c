"""A condition: what one column must be for a rule to apply.

Comes in: the splits along a path, each with the child that is taken. Goes out: `Condition` values, one per column.
Always holds: a condition is a plain value: intervals of a number or codes of levels, and whether a missing value meets
it. Joining conditions keeps exactly the values that meet all of them. A missing value meets a condition only where the
split sends it to that very child; where it is spread, drawn, stopped or decided by surrogates it meets none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import ColumnSpec
from treewright.inspection.rules.condition_text import formal, plain
from treewright.render.node_text import met_missing
from treewright.tree.tree import Node, Split, Tree

#: A place between numbers: just above its number (which is then below the place) or just below it.
Place = tuple[float, bool]
Interval = tuple[Place, Place]

EVERYWHERE: Interval = ((-inf, False), (inf, True))


@dataclass(frozen=True)
class Condition:
    """What is asked of one column: `intervals` for numbers and times, `codes` of levels otherwise.

    `missing` and `unseen`: whether a missing value, or a level that the tree does not know, meets it too. `told`:
    whether the words speak of missing values, because some were met where the condition was learned.
    """

    spec: ColumnSpec
    column_index: int
    intervals: tuple[Interval, ...] = ()
    codes: tuple[int, ...] = ()
    missing: bool = False
    unseen: bool = False
    told: bool = False

    @property
    def column(self) -> str:
        return self.spec.name

    def words(self, style: str = "formal", most: int | None = None) -> str:
        """The condition in words: "34 < age <= 60", or plainly "the age is above 34 and at most 60"."""
        speak = plain if style == "plain" else formal
        return speak(self.spec, self.intervals, self.codes, self.missing and self.told, most)

    def holds(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Which values of the encoded column meet it."""
        if self.spec.has_levels:
            table = np.zeros(len(self.spec.levels or ()) + 2, dtype=np.bool_)
            table[list(self.codes)] = True
            table[-1], table[-2] = self.missing, self.unseen  # the codes of a missing value and of an unseen level
            met: NDArray[np.bool_] = table[values]
            return met
        met = np.isnan(values) if self.missing else np.zeros(len(values), dtype=np.bool_)
        for low, high in self.intervals:
            met |= _above(values, low) & ~_above(values, high) & ~np.isnan(values)
        return met

    def joined(self, other: Condition) -> Condition:
        """What meets both."""
        both = (_common(a, b) for a in self.intervals for b in other.intervals)
        allowed = set(other.codes)
        return replace(
            self,
            intervals=tuple(sorted(interval for interval in both if interval is not None)),
            codes=tuple(code for code in self.codes if code in allowed),
            missing=self.missing and other.missing,
            unseen=self.unseen and other.unseen,
            told=self.told or other.told,
        )

    @property
    def bounds(self) -> int:
        """How many numbers or sets one must know to ask it."""
        ends = sum((low != EVERYWHERE[0]) + (high != EVERYWHERE[1]) for low, high in self.intervals)
        return max(1, ends)


def merged(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """One condition per column, in the order in which columns are first asked."""
    by_column: dict[int, Condition] = {}
    for condition in conditions:
        known = by_column.get(condition.column_index)
        by_column[condition.column_index] = condition if known is None else known.joined(condition)
    return tuple(by_column.values())


def leaf_paths(tree: Tree) -> Iterator[tuple[Node, tuple[Condition, ...]]]:
    """Every leaf with the conditions on its way from the root, one for each split."""
    path: list[Condition] = []
    to_come: dict[int, Condition] = {}
    for node in tree.walk():
        if node.parent is not None:
            path[node.depth - 1 :] = [to_come.pop(node.id)]
        if node.is_leaf:
            yield node, tuple(path)
        else:
            to_come |= zip(node.children, child_conditions(node), strict=True)


def merged_paths(tree: Tree) -> Iterator[tuple[Node, tuple[Condition, ...]]]:
    """Every leaf with the conditions on its way, one for each column: what `merged` makes of `leaf_paths`.

    Children go on from what their parent's path has merged to, for in a large tree paths are long and share much.
    """
    return ((node, path) for node, path in node_paths(tree) if node.is_leaf)


def node_paths(tree: Tree) -> Iterator[tuple[Node, tuple[Condition, ...]]]:
    """The same for every node."""
    known: dict[int, dict[int, Condition]] = {0: {}}
    for node in tree.walk():
        path = known.pop(node.id)
        yield node, tuple(path.values())
        if node.is_leaf:
            continue
        for child, condition in zip(node.children, child_conditions(node), strict=True):
            before = path.get(condition.column_index)
            own = condition if before is None else before.joined(condition)
            known[child] = path | {condition.column_index: own}


def child_conditions(node: Node) -> tuple[Condition, ...]:
    """What a row must answer at a node to go to each of its children."""
    split = node.split
    assert split is not None  # only nodes with children have conditions
    told = met_missing(node, split, [node.tree[child] for child in node.children])
    certain = split.missing if isinstance(split.missing, int) and not node.surrogates else None
    unseen = split.unseen if isinstance(split.unseen, int) else certain
    return tuple(_condition(split, child, certain == child, unseen == child, told) for child in range(split.n_children))


def _condition(split: Split, child: int, missing: bool, unseen: bool, told: bool) -> Condition:
    held = [i for i, to in enumerate(split.child_of_bin) if to == child or (to < 0 and unseen)]
    if split.spec.has_levels:
        return Condition(split.spec, split.column_index, (), tuple(held), missing, unseen, told)
    intervals = _intervals(split.breaks, held, split.test == "<=")
    return Condition(split.spec, split.column_index, intervals, (), missing, False, told)


def _intervals(breaks: Sequence[float], bins: Sequence[int], closed: bool) -> tuple[Interval, ...]:
    """The intervals of some bins; neighbours become one."""
    places = [EVERYWHERE[0], *((x, closed) for x in breaks), EVERYWHERE[1]]
    found: list[Interval] = []
    for i in bins:
        low, high = places[i], places[i + 1]
        if found and found[-1][1] == low:
            found[-1] = (found[-1][0], high)
        else:
            found.append((low, high))
    return tuple(found)


def _common(a: Interval, b: Interval) -> Interval | None:
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low < high else None


def _above(values: NDArray[Any], place: Place) -> NDArray[np.bool_]:
    above: NDArray[np.bool_] = values > place[0] if place[1] else values >= place[0]
    return above
