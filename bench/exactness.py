"""Exactness: is our tree as good on the rows it learned as scikit-learn's, at every depth?

Two trees are followed together from the root as long as they divide the same rows alike. Where they part although
both divisions are equally good, that is a tie: below it nothing can be compared, and the node counts as a leaf in
both. Where they part otherwise, both go on, and the difference shows.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from ours import fit as fit_ours
from peers import PEERS
from tables import load

TIE = 1e-10  # two divisions whose impurities differ by no more than this share are equally good


def impurities(folder: Path, deepest: int, threads: int) -> dict[str, Any]:
    table = load(folder)
    ours = fit_ours(table, deepest, threads).model.tree_
    scikit_learn = next(peer for peer in PEERS if peer.name == "scikit-learn")
    theirs = scikit_learn.fit(table, deepest, threads).model.tree_
    sums = np.zeros((2, deepest + 1))  # of weight times impurity, at each depth, for us and for them
    ties = _compare(_our_nodes(ours), _their_nodes(theirs), sums)
    total = float(ours.root.weight)
    return {"ours": list(sums[0, 1:] / total), "theirs": list(sums[1, 1:] / total), "ties": ties}


Nodes = dict[int, dict[str, Any]]  # by id: column (None for a leaf), children, impurity in all (by weight), weight


def _our_nodes(tree: Any) -> Nodes:
    place = {column.name: j for j, column in enumerate(tree.schema.columns)}
    return {
        node.id: {
            "column": None if node.is_leaf else place[node.split.column],
            "children": tuple(node.children),
            "impurity": node.impurity * node.weight,
            "weight": node.weight,
        }
        for node in tree.walk()
    }


def _their_nodes(tree: Any) -> Nodes:
    return {
        node: {
            "column": None if tree.children_left[node] < 0 else int(tree.feature[node]),
            "children": (int(tree.children_left[node]), int(tree.children_right[node])),
            "impurity": tree.impurity[node] * tree.weighted_n_node_samples[node],
            "weight": tree.weighted_n_node_samples[node],
        }
        for node in range(tree.node_count)
    }


def _compare(ours: Nodes, theirs: Nodes, sums: np.ndarray) -> int:
    """Fill the sums by depth; the number of ties met."""
    ties, waiting = 0, [(0, 0, 0)]
    while waiting:
        here, there, depth = waiting.pop()
        a, b = ours[here], theirs[there]
        alike = a["column"] == b["column"]
        if alike and a["column"] is not None:
            alike = ours[a["children"][0]]["weight"] == theirs[b["children"][0]]["weight"]
        sums[:, depth] += a["impurity"], b["impurity"]
        if alike and a["column"] is not None:
            waiting += [(i, j, depth + 1) for i, j in zip(a["children"], b["children"], strict=True)]
        elif alike or _tied(a, b, ours, theirs):
            ties += not alike
            sums[:, depth + 1 :] += np.array([[a["impurity"]], [b["impurity"]]])
        else:
            _add_below(ours, here, sums[0], depth)
            _add_below(theirs, there, sums[1], depth)
    return ties


def _tied(a: dict[str, Any], b: dict[str, Any], ours: Nodes, theirs: Nodes) -> bool:
    """Whether both divide the same rows equally well; a leaf divides them not at all."""
    left = sum(ours[i]["impurity"] for i in a["children"]) if a["column"] is not None else a["impurity"]
    right = sum(theirs[j]["impurity"] for j in b["children"]) if b["column"] is not None else b["impurity"]
    return abs(left - right) <= TIE * max(a["impurity"], b["impurity"])


def _add_below(nodes: Nodes, top: int, sums: np.ndarray, depth: int) -> None:
    """What a subtree contributes below its top."""
    waiting = [(top, depth)]
    while waiting:
        node, at = waiting.pop()
        if at > depth:
            sums[at] += nodes[node]["impurity"]
        if nodes[node]["column"] is None:
            sums[at + 1 :] += nodes[node]["impurity"]
        else:
            waiting += [(child, at + 1) for child in nodes[node]["children"]]
