"""Prune what lies below a node: its subtree is taken out as a tree of its own, pruned, and put back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from treewright.data.encoding import Encoded
from treewright.editing.edits import Prune
from treewright.editing.graft import graft
from treewright.editing.training_rows import without_repeats
from treewright.errors import DataError
from treewright.growing.progress import Progress, Stage
from treewright.pruning.cut import cut
from treewright.pruning.prune import prune_rows
from treewright.tree.cuts import Cut
from treewright.tree.edits import LockedError, NodeEdit
from treewright.tree.leaf_values import shrunk, unshrunk
from treewright.tree.shape import ends
from treewright.tree.tree import Tree

Place = TypeVar("Place", Cut, NodeEdit)


def prune_below(
    tree: Tree, edit: Prune, rows: Encoded | None, n_threads: int = 0, progress: Progress | None = None
) -> Tree:
    """Return the tree with the subtree of a node pruned; the tree itself where nothing is cut."""
    node, pruner = edit.node, edit.pruner
    assert not isinstance(pruner, str)
    if tree[node].is_leaf:
        raise DataError(f"node {node} is a leaf, so nothing lies below it to prune")
    used = None if rows is None or not edit.needs_rows else without_repeats(rows)
    below = subtree(unshrunk(tree), node)
    try:
        pruned = prune_rows(below, pruner, used, n_threads, Stage(progress))
    except LockedError as error:
        raise LockedError(error.node + node) from None
    if pruned.cuts == below.cuts:
        return tree
    return shrunk(_put_back(tree, node, below, pruned))


def subtree(tree: Tree, node: int) -> Tree:
    """Return what a node is the root of, as a tree of its own."""
    if node == 0:
        return tree
    arrays, _ = graft(cut(replace(tree, edits=()), {0: "taken out"}), 0, tree, node)
    end = int(ends(tree)[node])
    arrays["depth"] = arrays["depth"] - arrays["depth"][0]
    here = {old: old - node for old in range(node, end)}
    return Tree(arrays, tree.schema, tree.recipe, _renamed(tree.cuts, here), edits=_renamed(tree.edits, here))


def _put_back(tree: Tree, node: int, below: Tree, pruned: Tree) -> Tree:
    arrays, new_id = graft(tree, node, pruned, 0)
    arrays["depth"][node : node + pruned.n_nodes] += tree[node].depth
    back = {i: i + node for i in range(pruned.n_nodes)}
    known = len(below.cuts)
    ours = [replace(one, reason=f"by hand: {one.reason.removeprefix('by hand: ')}") for one in pruned.cuts[known:]]
    cuts = (*_renamed(tree.cuts, new_id), *_renamed((*pruned.cuts[:known], *ours), back))
    edits = sorted((*_renamed(tree.edits, new_id), *_renamed(pruned.edits, back)), key=lambda one: one.node)
    return Tree(arrays, tree.schema, tree.recipe, cuts, edits=tuple(edits))


def _renamed(places: Iterable[Place], new_id: Mapping[int, int]) -> tuple[Place, ...]:
    """Return cuts or edits under new ids; those of nodes that have none are left out."""
    return tuple(replace(one, node=new_id[one.node]) for one in places if one.node in new_id)
