"""Error-based pruning (C4.5, J48): replace a node by a leaf or by its largest branch if that adds no estimated errors.

Errors are estimated at the upper confidence limit, by the core; the simpler tree wins up to a tenth of an error.
Raising a branch routes the node's rows through it again, so statistics below are new; gains stay as they were chosen.
Finally, branches that no row can take are dropped, as in C4.5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from treewright import _core
from treewright.data.arrays import Array
from treewright.data.encoding import Encoded
from treewright.data.sparse_rows import counts_per_row, from_core
from treewright.errors import DataError
from treewright.growing.memory_partitions import gathered
from treewright.growing.partitions import Partitions
from treewright.growing.prepared import routing_recipe
from treewright.growing.progress import Stage
from treewright.growing.weights import altered
from treewright.pruning.bottom_up import cut_where_no_better
from treewright.pruning.cross_validation import real_weight
from treewright.pruning.cut import question, rearranged, renumbered
from treewright.pruning.unreachable import without_unreachable
from treewright.recipes.pruners import ErrorBased
from treewright.tree.cuts import Cut
from treewright.tree.edits import moved
from treewright.tree.leaf_values import keep_set_predictions
from treewright.tree.shape import is_leaf, leaves_below
from treewright.tree.tree import Tree, cost_array
from treewright.tree.validation import PRUNED

#: Errors: a leaf or a raised branch may promise this many more than what it replaces.
MARGIN = 0.1

_PURE, _EMPTY = 1, 12


def prune_by_errors(
    tree: Tree, pruner: ErrorBased, rows: Encoded | Partitions | None, _n_threads: int, _stage: Stage
) -> Tree:
    if not pruner.raising:
        return without_unreachable(_replaced(tree, pruner))
    if rows is None:
        raise DataError(
            "ErrorBased with raising sends rows down the tree again and needs those it was grown on; give them as "
            "data=, or use ErrorBased(raising=False)"
        )
    rows = gathered(rows)
    assert rows.target is not None
    found = _core.prune_by_errors(
        arrays=dict(tree.arrays),
        columns=rows.columns,
        kinds=list(rows.kinds),
        target=rows.target,
        n_classes=rows.n_classes,
        weight=real_weight(rows, tree.schema),
        recipe=routing_recipe(tree.recipe).as_dict(),
        confidence=pruner.confidence,
        exact=pruner.deviate == "exact",
        margin=MARGIN,
        cost=None if tree.schema.target.costs is None else cost_array(tree.schema.target),
        factor=altered(rows, tree.schema.target).factor,
    )
    return without_unreachable(_raised(tree, found) if found["replacements"] else tree)


# --- replacement alone: the tree's own counts suffice -----------------------------------------------------------------


def _replaced(tree: Tree, pruner: ErrorBased) -> Tree:
    def estimated(counts: Array, label: Array) -> Array:
        cases = counts.sum(axis=1)
        errors = np.maximum(0.0, cases - counts[np.arange(len(counts)), label])
        extra: Any = _core.extra_errors(cases, errors, pruner.confidence, pruner.deviate == "exact")
        estimate: Array = errors + extra
        return estimate

    def reason(leaf: float, below: float) -> str:
        return _reason("as a leaf", leaf, below)

    return cut_where_no_better(tree, estimated, reason, margin=MARGIN + tree.recipe.tie_tolerance)


def _reason(how: str, instead: float, below: float) -> str:
    return f"error-based: {instead:.4g} estimated errors {how}, {below:.4g} below"


# --- raising: rows have moved, and with them counts and predictions ---------------------------------------------------


def _raised(tree: Tree, found: Mapping[str, Any]) -> Tree:
    old, kept_mask = tree.arrays, found["kept"].astype(bool)
    kept, made = np.flatnonzero(kept_mask), found["leaf"].astype(bool)
    arrays = dict(old) | {
        name: from_core(found[name]) for name in ("rows", "weight", "stats", "value", "impurity", "share")
    }
    arrays["value"] = keep_set_predictions(tree, arrays["value"])
    arrays["parent"] = _nearest_kept(old["parent"], kept_mask)
    arrays["depth"] = _depths(arrays["parent"], kept)
    arrays["stop"] = _stops(arrays, is_leaf(tree) & ~made)
    new = rearranged(arrays, tree.recipe.rivals, kept, np.flatnonzero(made & kept_mask))
    edits = moved(tree.edits, renumbered(kept), set(np.flatnonzero(made).tolist()))
    return Tree(new, tree.schema, tree.recipe, _cuts(tree, found["replacements"], kept), edits=edits)


def _nearest_kept(parent: Array, kept: Array) -> Array:
    """Return for each node the nearest node above it that is kept; -1 for the new root."""
    above, stays = parent.tolist(), kept.tolist()
    nearest = [-1] * len(above)
    for node in range(1, len(above)):
        nearest[node] = above[node] if stays[above[node]] else nearest[above[node]]
    return np.array(nearest, dtype=np.int32)


def _depths(parent: Array, kept: Array) -> Array:
    above = parent.tolist()
    depth = [0] * len(above)
    for node in kept.tolist():
        depth[node] = 0 if above[node] < 0 else depth[above[node]] + 1
    return np.array(depth, dtype=np.int32)


def _stops(arrays: Mapping[str, Array], leaf: Array) -> Array:
    """Return a leaf that was pure or empty may have got rows with which it is not."""
    stop, stats = arrays["stop"], arrays["stats"]
    mixed = counts_per_row(stats) > 1
    outdated = leaf & (((stop == _PURE) & mixed) | ((stop == _EMPTY) & (arrays["rows"] > 0)))
    return np.where(outdated, PRUNED, stop).astype(np.int32)


def _cuts(tree: Tree, replacements: list[tuple[int, int, float, float]], kept: Array) -> tuple[Cut, ...]:
    """Return earlier cuts and each replacement whose place remains; their leaves add up to all removed."""
    new_id = {int(node): place for place, node in enumerate(kept)}
    raised = {node: branch for node, branch, _, _ in replacements if branch >= 0}
    leaves = leaves_below(tree)

    def place_of(node: int) -> int | None:
        while node in raised:
            node = raised[node]
        return new_id.get(node)

    def nearest(node: int) -> int:
        """Return the node of an earlier cut, whose place may be gone."""
        parent = tree.arrays["parent"]
        while (place := place_of(node)) is None:
            node = int(parent[node])
        return place

    cuts = [replace(earlier, node=nearest(earlier.node)) for earlier in tree.cuts]
    for node, branch, instead, below in replacements:
        place = place_of(node)
        if place is None:
            continue
        if branch < 0:
            gone, how = int(leaves[node]) - 1, "as a leaf"
        else:
            gone = int(leaves[node] - leaves[_child_above(tree, node, branch)])
            how = "as its largest branch alone"
        cuts.append(Cut(place, question(tree, node), gone, _reason(how, instead, below)))
    return tuple(cuts)


def _child_above(tree: Tree, node: int, below: int) -> int:
    """Return the child of `node` that `below` is, or lies under."""
    parent = tree.arrays["parent"]
    while parent[below] != node:
        below = int(parent[below])
    return below
