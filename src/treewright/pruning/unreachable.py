"""Drop branches that no row can take, because splits on the same column above send their levels elsewhere.

No prediction changes. C4.5 drops these branches when it prunes a tree of grouped levels; other recipes rarely have any.
"""

from __future__ import annotations

import numpy as np

from treewright.data.arrays import Array
from treewright.pruning.cut import question, rearranged, renumbered
from treewright.tree.cuts import Cut
from treewright.tree.edits import moved
from treewright.tree.shape import is_leaf
from treewright.tree.split import Split
from treewright.tree.tree import Node, Tree

_REASON = "error-based: no row can take this branch, for the questions above send its levels elsewhere"


def without_unreachable(tree: Tree) -> Tree:
    dropped = _unreachable(tree)
    if not dropped:
        return tree
    gone = [tree[node].children[child] for node, children in dropped.items() for child in children]
    kept = np.delete(np.arange(tree.n_nodes), gone)
    new_id = np.searchsorted(kept, np.arange(tree.n_nodes), side="right") - 1
    arrays = rearranged(_shortened(tree, dropped), tree.recipe.rivals, kept, np.array([], dtype=np.int64))
    # Nothing was ever cut at an empty leaf, so the earlier cuts keep their places.
    cuts = [Cut(int(new_id[c.node]), c.question, c.leaves, c.reason) for c in tree.cuts]
    cuts += [Cut(int(new_id[node]), question(tree, node), len(which), _REASON) for node, which in dropped.items()]
    return Tree(arrays, tree.schema, tree.recipe, tuple(cuts), edits=moved(tree.edits, renumbered(kept)))


def _unreachable(tree: Tree) -> dict[int, list[int]]:
    """Return for each node the numbers of the children to drop; at least two stay."""
    found: dict[int, list[int]] = {}
    above_empty = _above_empty_leaves(tree)
    open_nodes: list[tuple[int, dict[int, Array]]] = [(0, {})]
    while open_nodes:
        node, possible = open_nodes.pop()
        if not above_empty[node]:
            continue
        split, children = tree[node].split, tree[node].children
        if split is None:
            continue
        if not split.spec.has_levels:
            open_nodes += [(child, possible) for child in children]
            continue
        column, holder = split.column_index, np.array(split.child_of_bin)
        can = possible.get(column, np.ones(len(holder), dtype=bool))
        if column in possible and not tree[node].surrogates:
            lost = [i for i, child in enumerate(children) if _is_lost(split, i, tree[child], can & (holder == i))]
            if lost and len(children) - len(lost) >= 2:
                found[node] = lost
        # A level that no child holds goes wherever missing values go.
        passing = [(child, can & ((holder == i) | (holder < 0))) for i, child in enumerate(children)]
        open_nodes += [(child, possible | {column: can_below}) for child, can_below in passing]
    return found


def _above_empty_leaves(tree: Tree) -> Array:
    """Mark the nodes with a leaf without rows below them."""
    parent, marked = tree.arrays["parent"], np.zeros(tree.n_nodes, dtype=bool)
    for node in np.flatnonzero(is_leaf(tree) & (tree.arrays["rows"] == 0)):
        above = int(parent[node])
        while above >= 0 and not marked[above]:
            marked[above] = True
            above = int(parent[above])
    return marked


def _is_lost(split: Split, number: int, child: Node, levels: Array) -> bool:
    """Return whether nothing leads to the child; random draws go by the children's numbers, which then must stay."""
    reached = levels.any() or split.share[number] > 0 or number in (split.missing, split.unseen)
    return not reached and child.is_leaf and child.rows == 0 and split.missing != "random"


def _shortened(tree: Tree, dropped: dict[int, list[int]]) -> dict[str, Array]:
    """Return the arrays with those children taken out of their splits."""
    arrays = {name: array.copy() for name, array in tree.arrays.items()}
    start, stays = tree.arrays["share_start"], np.ones(len(arrays["share"]), dtype=bool)
    for node, which in dropped.items():
        split = int(arrays["split_start"][node])
        stays[start[split] + np.array(which)] = False
        n_children = int(start[split + 1] - start[split])
        renumbered = np.full(n_children + 1, -1, dtype=np.int32)  # the last place is for levels that no child holds
        left = [i for i in range(n_children) if i not in which]
        renumbered[left] = np.arange(len(left))
        bins = slice(int(arrays["bin_start"][split]), int(arrays["bin_start"][split + 1]))
        arrays["child_of_bin"][bins] = renumbered[arrays["child_of_bin"][bins]]
        for name in ("missing", "unseen"):
            if arrays[name][split] >= 0:
                arrays[name][split] = renumbered[arrays[name][split]]
    arrays["share"] = arrays["share"][stays]
    arrays["share_start"] = np.append(0, np.cumsum(stays))[start].astype(np.int32)
    return arrays
