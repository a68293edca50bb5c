"""What makes an edit impossible: each check raises `DataError` with the reason and the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from treewright.data.arrays import Array, BoolArray
from treewright.data.encoding import Encoded
from treewright.data.number_text import many
from treewright.data.rows import is_missing
from treewright.data.schema import ColumnSpec
from treewright.data.value_text import decode, listed, name_hint
from treewright.editing.edits import Split
from treewright.errors import DataError
from treewright.recipes.missing import Fractional, LearnedDirection, OwnCategory
from treewright.recipes.numeric import Threshold
from treewright.recipes.recipe import Recipe
from treewright.tree.shape import ends
from treewright.tree.split import child_of_values
from treewright.tree.tree import Tree
from treewright.tree.validation import FRACTIONAL, RANDOM, STOP_HERE

_MISSING = {"spread": FRACTIONAL, "stop": STOP_HERE, "random": RANDOM}


def check_node(tree: Tree, node: int) -> None:
    """Raise unless the tree has the node."""
    if node >= tree.n_nodes:
        raise DataError(f"there is no node {node}; this tree has nodes 0 to {tree.n_nodes - 1}")


def check_unlocked(tree: Tree, node: int) -> None:
    """Raise if the node or one below it is locked, so that it may neither change nor go."""
    end = int(ends(tree)[node]) if tree.edits else node
    for edit in tree.edits:
        if edit.locked and node <= edit.node < end:
            where = "is locked" if edit.node == node else f"is above node {edit.node}, which is locked"
            raise DataError(f"node {node} {where}; unlock it first: Unlock({edit.node})")


def check_columns(tree: Tree, columns: Iterable[str]) -> None:
    """Raise unless the tree has the columns."""
    for column in columns:
        if column not in tree.schema.names:
            raise DataError(f"the tree has no column {column!r}; {name_hint(column, tree.schema.names)}")


def forbidden_at(tree: Tree, node: int) -> dict[str, int]:
    """Return the columns that may not be used in a node, and the node where each was forbidden."""
    found: dict[str, int] = {}
    place: int | None = node if tree.edits else None
    while place is not None:
        edit = tree[place].edit
        found = dict.fromkeys(edit.forbidden if edit is not None else (), place) | found
        place = tree[place].parent
    return found


def core_split(tree: Tree, edit: Split, rows: Encoded, here: BoolArray) -> dict[str, Any]:
    """Return the split as the core reads it, after all checks; `here`: the rows of the node."""
    column = tree.schema.names.index(edit.column)
    spec = tree.schema.columns[column]
    values = rows.columns[column][here]
    known = values[~is_missing(values)]
    _refuse_constant(edit, spec, known, len(values))
    child_of_bin, children = bins_of(edit, spec)
    closed = closed_below(tree.recipe)
    child = child_of_values(known, None if spec.has_levels else edit.breaks, closed, child_of_bin)
    _refuse_ungrouped(edit, spec, known[child < 0])
    counts = np.bincount(child, minlength=children)
    if (counts == 0).any():
        raise DataError(_empty(edit, spec, known, int(np.argmin(counts)), closed))
    return {
        "column": column,
        "closed": closed,
        "breaks": list(edit.breaks),
        "child_of_bin": child_of_bin,
        "children": children,
        "missing": _missing(edit, tree.recipe, children),
    }


def _refuse_constant(edit: Split, spec: ColumnSpec, known: Array, n_rows: int) -> None:
    if len(known) == 0:
        raise DataError(f"column {edit.column!r} has no value in the {many(n_rows, 'row')} of node {edit.node}")
    if known.min() == known.max():
        raise DataError(
            f"column {edit.column!r} has only the value {_shown(spec, known[0])} in the {many(n_rows, 'row')} of "
            f"node {edit.node}, so it cannot split it"
        )


def _shown(spec: ColumnSpec, value: Any) -> str:
    return repr((spec.levels or ())[int(value)]) if spec.has_levels else decode(spec, float(value))


def closed_below(recipe: Recipe) -> bool:
    """Return whether a value equal to a threshold belongs below it."""
    return not isinstance(recipe.numeric, Threshold) or recipe.numeric.test == "<="


def bins_of(edit: Split, spec: ColumnSpec) -> tuple[list[int], int]:
    """Return the child of each bin, -1 for levels of no group, and the number of children."""
    if not spec.has_levels:
        if edit.groups is not None:
            raise DataError(f"column {edit.column!r} is {spec.kind} and has no levels; split it with threshold=")
        return list(range(len(edit.breaks) + 1)), len(edit.breaks) + 1
    if edit.groups is None:
        raise DataError(f"column {edit.column!r} is {spec.kind} and has levels; split it with groups= of them")
    levels = spec.levels or ()
    for level in (one for group in edit.groups for one in group):
        if level not in levels:
            raise DataError(f"column {edit.column!r} has no level {level!r}; it has {listed(levels)}")
    rest = 1 if len(edit.groups) == 1 else -1
    child_of_bin = [rest] * len(levels)
    for child, group in enumerate(edit.groups):
        for level in group:
            child_of_bin[levels.index(level)] = child
    return child_of_bin, max(2, len(edit.groups))


def _refuse_ungrouped(edit: Split, spec: ColumnSpec, ungrouped: Array) -> None:
    """Raise if rows of the node have levels of no group."""
    left = [(spec.levels or ())[code] for code in np.unique(ungrouped)]
    if left:
        raise DataError(
            f"column {edit.column!r}: {listed(left)} occur{'s' if len(left) == 1 else ''} in node {edit.node} and "
            f"belong{'s' if len(left) == 1 else ''} to no group; name every level, or one group alone"
        )


def _empty(edit: Split, spec: ColumnSpec, known: Array, child: int, closed: bool) -> str:
    """Word which child would be empty."""
    start = f"child {child} of node {edit.node} would be empty: "
    if edit.groups is not None:
        group = edit.groups[child] if child < len(edit.groups) else "any other level"
        what = listed(group) if isinstance(group, tuple) else group
        return f"{start}no row there has {what} in column {edit.column!r}"
    below, above = ("<=", ">") if closed else ("<", ">=")
    limits = [f"{above} {decode(spec, edit.breaks[child - 1])}"] if child > 0 else []
    limits += [f"{below} {decode(spec, edit.breaks[child])}"] if child < len(edit.breaks) else []
    low, high = decode(spec, float(known.min())), decode(spec, float(known.max()))
    return f"{start}{edit.column!r} is never {' and '.join(limits)} there, but from {low} to {high}"


def _missing(edit: Split, recipe: Recipe, children: int) -> int | None:
    """Return the code of where missing values go."""
    if edit.missing is None:
        return None
    if isinstance(edit.missing, int):
        if edit.missing >= children:
            raise DataError(f"missing={edit.missing}: the split has children 0 to {children - 1}")
        return edit.missing
    policy = type(recipe.missing).__name__
    if edit.missing == "spread" and not isinstance(recipe.missing, Fractional):
        raise DataError(f"missing='spread' needs a tree of missing=Fractional(), and this has {policy}; name a child")
    if edit.missing != "spread" and isinstance(recipe.missing, (OwnCategory, LearnedDirection)):
        raise DataError(f"missing={edit.missing!r}: {policy} scores missing values in a child; name one by its number")
    return _MISSING[edit.missing]
