"""The conditions along the paths of a tree, one per split or merged to one per column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from treewright.render.node_text import met_missing
from treewright.tree.conditions import Condition
from treewright.tree.tree import Node, Tree


def merged(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Return one condition per column, in the order in which columns are first split on."""
    by_column: dict[int, Condition] = {}
    for condition in conditions:
        known = by_column.get(condition.column_index)
        by_column[condition.column_index] = condition if known is None else known.joined(condition)
    return tuple(by_column.values())


def leaf_paths(tree: Tree) -> Iterator[tuple[Node, tuple[Condition, ...]]]:
    """Yield every leaf with the conditions on its way from the root, one for each split."""
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
    """Return every leaf with the conditions on its way, one for each column: what `merged` makes of `leaf_paths`.

    Children go on from what their parent's path has merged to, for in a large tree paths are long and share much.
    """
    return ((node, path) for node, path in node_paths(tree) if node.is_leaf)


def node_paths(tree: Tree) -> Iterator[tuple[Node, tuple[Condition, ...]]]:
    """Yield the same for every node."""
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
    """Return what a row must meet at a node to go to each of its children.

    A missing value meets a condition only where the split sends it to that very child; where it is spread, drawn,
    stopped or decided by surrogates it meets none.
    """
    split = node.split
    assert split is not None  # only nodes with children have conditions
    mentions = met_missing(node, split, [node.tree[child] for child in node.children])
    certain = split.missing if isinstance(split.missing, int) and not node.surrogates else None
    unseen = split.unseen if isinstance(split.unseen, int) else certain
    nowhere = tuple(i for i, child in enumerate(split.child_of_bin) if child < 0) if split.spec.has_levels else ()
    return tuple(
        replace(
            branch,
            codes=tuple(sorted((*branch.codes, *nowhere))) if unseen == child else branch.codes,
            missing=certain == child,
            unseen=unseen == child and split.spec.has_levels,
            mentions_missing=mentions,
        )
        for child, branch in enumerate(split.branches)
    )
