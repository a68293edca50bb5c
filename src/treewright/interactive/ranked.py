"""Every column's best split at a node, best first, ready to be applied.

The engine searches; the node's rows are counted once per column for what its children would hold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from treewright.editing.checks import forbidden_at
from treewright.editing.edits import Edit, Grow
from treewright.editing.edits import Split as SplitEdit
from treewright.growing.grow import grow_at
from treewright.inspection.derivation.best_splits import for_one_node, reason_of
from treewright.inspection.derivation.criterion_names import criterion_of, measure_of, shown_name
from treewright.inspection.derivation.node_rows import Entries
from treewright.inspection.derivation.split_counts import divided
from treewright.interactive.plain import branch_dict
from treewright.prediction.routing import missing_while_growing
from treewright.recipes.recipe import Recipe
from treewright.tree.split import Split
from treewright.tree.tree import Tree

_MOST_LEVELS = 6


def best_at(tree: Tree, node: int, rows: Any, recipe: Recipe) -> tuple[tuple[Split, ...], str | None]:
    """Return the best split of each column at a node, best first, and why the engine would stop there, if it would."""
    n_columns = len(tree.schema.columns)
    one = for_one_node(recipe, n_columns)
    one = replace(one, stopping=replace(one.stopping, max_depth=tree[node].depth + 1))
    forbidden = forbidden_at(tree, node)
    given = {
        "arrays": {**tree.arrays, "missing": missing_while_growing(tree)},
        "node": node,
        "split": None,
        "allowed": [name not in forbidden for name in tree.schema.names],
    }
    grown, _ = grow_at(rows, tree.schema, one, given)
    at, way = 0, []
    place: int | None = node
    while place is not None and (parent := tree[place].parent) is not None:
        way.append(tree[parent].children.index(place))
        place = parent
    for child in reversed(way):
        at = grown[at].children[child]
    found = grown[at]
    return ((found.split,) if found.split is not None else ()) + found.rivals, found.stop


def ranked_splits(
    tree: Tree, node: int, rows: Any, entries: Entries, weighed: Callable[[], Entries], recipe: Recipe
) -> dict[str, Any]:
    """Return the ranking of a node as plain values: one entry per column, with the edit that makes it.

    `weighed` gives the node's rows with the whole table, in which the reason is looked for why a column has no split.
    """
    splits, stop = best_at(tree, node, rows, recipe)
    criterion = criterion_of(recipe, tree.schema.target)
    name = measure_of(criterion).name
    forbidden = forbidden_at(tree, node)
    used = for_one_node(recipe, len(tree.schema.columns))
    found = []
    for place, split in enumerate(splits):
        chosen = place == 0 and stop is None
        counted = divided(entries, split, recipe.missing, name)
        edit = edit_of(node, split, counted.rows or (), chosen)
        words = split.words(most=_MOST_LEVELS, with_missing=False, named=False)
        found.append(
            {
                "column": split.column,
                "score": split.score,
                "gain": split.gain,
                "p": split.p_adjusted,
                "chosen": chosen,
                "children": [branch_dict(one) for one in counted.branches(words)],
                "missing": counted.missing_rows,
                "edit": None if edit is None else edit.as_dict(),
            }
        )
    seen = {split.column for split in splits}
    for place, column in enumerate(tree.schema.names):
        if column not in seen:
            where = forbidden.get(column)
            why = f"forbidden at node {where}" if where is not None else reason_of(weighed(), used, place, stop)
            found.append({"column": column, "reason": why, "forbidden": where})
    return {"node": node, "criterion": shown_name(criterion), "stop": stop, "splits": found}


def edit_of(node: int, split: Split, rows: Sequence[int | None], chosen: bool) -> Edit | None:
    """Return the edit that makes a split; `rows` of its children.

    A child without rows, or of missing values alone, cannot be given by hand: the engine's own choice is then grown,
    and of others the levels that are not there are left out.
    """
    whole = all(split.bins) and all(rows)
    if chosen and not whole:
        return Grow(node, levels=1)
    if not all(split.bins) or (not whole and not split.spec.has_levels):
        return None
    if split.groups is None:
        return SplitEdit(node, split.column, threshold=split.breaks)
    there = [group for group, count in zip(split.groups, rows, strict=True) if count]
    return SplitEdit(node, split.column, groups=tuple(there)) if len(there) > 1 else None
