"""Put a subtree into a tree in the place of a node's own.

Nodes stand depth first, so a subtree is one run of nodes: the new arrays are three runs, one after the other. All other
nodes keep every bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from treewright.data.arrays import Array, starts_of
from treewright.pruning.cut import child_lists, split_table
from treewright.tree.shape import ends
from treewright.tree.tree import Tree
from treewright.tree.validation import NODE_ARRAYS

#: Arrays that follow from others.
_DERIVED = frozenset({"parent", "child_start", "children", "split_start"})
#: Where the entries of each split begin, in arrays of the split table.
_STARTS = ("break_start", "bin_start", "share_start")


def graft(tree: Tree, node: int, grown: Tree, at: int) -> tuple[dict[str, Array], dict[int, int]]:
    """Return the tree's arrays with the subtree of `at` in `grown` for that of `node`, and the new ids of kept nodes.

    `node` itself is not kept; both subtrees begin at the same depth.
    """
    old, new = tree.arrays, grown.arrays
    end, new_end = int(ends(tree)[node]), int(ends(grown)[at])
    runs: list[tuple[Mapping[str, Any], int, int]] = [(old, 0, node), (new, at, new_end), (old, end, tree.n_nodes)]
    arrays = {
        name: np.concatenate([np.asarray(source[name][first:last]) for source, first, last in runs])
        for name in NODE_ARRAYS
        if name not in _DERIVED
    }
    shift = (new_end - at) - (end - node)
    below = np.asarray(new["parent"][at:new_end]) - at + node
    below[0] = old["parent"][node]
    after = np.asarray(old["parent"][end:])
    arrays["parent"] = np.concatenate([old["parent"][:node], below, after + np.where(after >= end, shift, 0)]).astype(
        np.int32
    )
    arrays |= child_lists(arrays["parent"])
    arrays["split_start"] = starts_of(
        np.concatenate([np.diff(s["split_start"])[first:last] for s, first, last in runs])
    )
    new_id = {i: i if i < node else i + shift for i in (*range(node), *range(end, tree.n_nodes))}
    return arrays | _splits(runs), new_id


def _splits(runs: list[tuple[Mapping[str, Any], int, int]]) -> dict[str, Array]:
    tables = [
        split_table(source, np.arange(source["split_start"][first], source["split_start"][last]))
        for source, first, last in runs
    ]
    merged = {name: np.concatenate([table[name] for table in tables]) for name in tables[0] if name not in _STARTS}
    return merged | {name: starts_of(np.concatenate([np.diff(table[name]) for table in tables])) for name in _STARTS}
