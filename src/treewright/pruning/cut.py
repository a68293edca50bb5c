"""Cut a tree: nodes that become leaves, and a record of what was removed and why.

Nodes that stay keep their statistics and predictions bit for bit, renumbered depth first. A node that becomes a leaf
keeps its split as its first rival.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from treewright.data.arrays import Array, Int64Array, starts_of
from treewright.tree.cuts import Cut
from treewright.tree.edits import moved
from treewright.tree.shape import ends, is_leaf, leaves_below, topmost
from treewright.tree.tree import Tree
from treewright.tree.validation import NODE_ARRAYS, PRUNED, SPLIT_ARRAYS

#: Arrays of the split table that hold several entries per split, and where each split's begin.
_RAGGED = {"breaks": "break_start", "child_of_bin": "bin_start", "share": "share_start"}


def cut(tree: Tree, reasons: Mapping[int, str]) -> Tree:
    """Return the tree with these nodes as leaves; without any that is not a leaf already, the tree itself.

    Of a node and one above it, the one above counts.
    """
    chosen = np.zeros(tree.n_nodes, dtype=bool)
    chosen[list(reasons)] = True
    places = topmost(tree, chosen & ~is_leaf(tree))
    if len(places) == 0:
        return tree
    end, leaves = ends(tree), leaves_below(tree)
    gone = np.zeros(tree.n_nodes + 1, dtype=np.int64)
    gone[places + 1] += 1
    gone[end[places]] -= 1
    kept = np.flatnonzero(np.cumsum(gone)[:-1] == 0)
    # The new id of each old node: itself, or the leaf that stands in its subtree's place.
    new_id = np.searchsorted(kept, np.arange(tree.n_nodes), side="right") - 1
    cuts = [replace(earlier, node=int(new_id[earlier.node])) for earlier in tree.cuts]
    cuts += [
        Cut(int(new_id[place]), question(tree, int(place)), int(leaves[place]) - 1, reasons[int(place)])
        for place in places
    ]
    edits = moved(tree.edits, renumbered(kept), set(places.tolist()))
    arrays = rearranged(tree.arrays, tree.recipe.rivals, kept, places)
    soft = None if tree.soft is None else tree.soft.kept({int(i): int(new_id[i]) for i in np.setdiff1d(kept, places)})
    models = tuple(tree.models[int(i)] for i in kept) if tree.models else ()
    return Tree(arrays, tree.schema, tree.recipe, tuple(cuts), soft=soft, edits=edits, models=models)


def renumbered(kept: Array) -> dict[int, int]:
    """Return the new id of each kept node."""
    return {int(node): place for place, node in enumerate(kept)}


def question(tree: Tree, node: int) -> str:
    """Return the split of a node in a few words: the first condition of two, the column of several."""
    split = tree[node].split
    assert split is not None
    return split.words(most=4, with_missing=False)[0] if split.n_children == 2 else split.column


def rearranged(old: Mapping[str, Array], rivals: int, kept: Array, places: Array) -> dict[str, Array]:
    """Return the arrays of the kept nodes, those at `places` as leaves that remember at most so many rivals."""
    n_nodes = len(old["parent"])
    made = np.zeros(n_nodes, dtype=bool)
    made[places] = True
    made = made[kept]
    new_id = np.full(n_nodes, -1, dtype=np.int32)
    new_id[kept] = np.arange(len(kept), dtype=np.int32)
    arrays = {name: old[name][kept] for name in NODE_ARRAYS if name not in ("child_start", "children", "split_start")}
    arrays["parent"] = np.where(arrays["parent"] < 0, -1, new_id[arrays["parent"]]).astype(np.int32)
    arrays["stop"] = np.where(made, PRUNED, arrays["stop"]).astype(np.int32)
    arrays["gain"] = np.where(made, 0.0, arrays["gain"])
    arrays |= child_lists(arrays["parent"])
    splits, count = _kept_splits(old, rivals, kept, made)
    arrays["n_surrogates"] = np.where(made, 0, arrays["n_surrogates"]).astype(np.int32)
    arrays["split_start"] = starts_of(count)
    return arrays | split_table(old, splits)


def child_lists(parent: Array) -> dict[str, Array]:
    """Return the children of every node, by the parent of every node."""
    start = starts_of(np.bincount(parent[1:], minlength=len(parent)))
    return {"child_start": start, "children": (np.argsort(parent[1:], kind="stable") + 1).astype(np.int32)}


def _kept_splits(old: Mapping[str, Array], rivals: int, kept: Array, made: Array) -> tuple[Array, Array]:
    """Return rows of the split table to keep, and how many each kept node has: a new leaf has no surrogates."""
    start, surrogates = old["split_start"], old["n_surrogates"][kept]
    first, last = start[:-1][kept], start[1:][kept]
    node = np.repeat(np.arange(len(kept)), last - first)
    split = spans(first, last)
    position = split - first[node]
    imitates = (position > 0) & (position <= surrogates[node])
    place = position - np.where(position > 0, surrogates[node], 0)
    stays = ~made[node] | (~imitates & (place < rivals))
    return split[stays], np.bincount(node[stays], minlength=len(kept))


def split_table(old: Mapping[str, Array], splits: Array) -> dict[str, Array]:
    """Return the split table with these rows of the old one, in this order."""
    ragged = {*_RAGGED, *_RAGGED.values()}
    table = {name: old[name][splits] for name in SPLIT_ARRAYS if name not in ragged}
    for items, start in _RAGGED.items():
        first, last = old[start][:-1][splits], old[start][1:][splits]
        table[items] = old[items][spans(first, last)]
        table[start] = starts_of(last - first)
    return table


def spans(first: Array, last: Array) -> Int64Array:
    """Return all numbers from first[i] up to, not including, last[i], one span after the other."""
    length = (last - first).astype(np.int64)
    before = np.cumsum(length) - length
    return np.repeat(first - before, length) + np.arange(length.sum())
