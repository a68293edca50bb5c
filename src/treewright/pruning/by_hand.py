"""Prune by hand: given nodes, siblings with the same prediction, a depth, a number of leaves. No rows are needed."""

from __future__ import annotations

import numpy as np

from treewright.data.arrays import Array
from treewright.data.value_text import listed
from treewright.errors import DataError
from treewright.pruning.cut import cut
from treewright.pruning.losses import node_risk
from treewright.recipes.pruners import CollapseNodes, MaxDepth, MaxLeaves, MergeEqualLeaves
from treewright.tree.shape import is_leaf
from treewright.tree.tree import Tree, node_classes


def prune_nodes(tree: Tree, pruner: CollapseNodes) -> Tree:
    unknown = [node for node in pruner.nodes if node >= tree.n_nodes]
    if unknown:
        raise DataError(f"there is no node {listed(unknown)}; this tree has nodes 0 to {tree.n_nodes - 1}")
    return cut(tree, dict.fromkeys(pruner.nodes, "by hand: this node was named"))


def prune_to_depth(tree: Tree, pruner: MaxDepth) -> Tree:
    places = np.flatnonzero(tree.arrays["depth"] == pruner.depth)
    return cut(tree, {int(i): f"by hand: no path longer than {pruner.depth}" for i in places})


def prune_equal_leaves(tree: Tree, _pruner: MergeEqualLeaves) -> Tree:
    """Make a node a leaf if all its leaves predict the same as the node."""
    leaf, parent = is_leaf(tree), tree.arrays["parent"]
    classes = tree.schema.target.classes
    prediction: Array = tree.arrays["value"][:, 0] if classes is None else node_classes(tree)
    same = np.ones(tree.n_nodes, dtype=bool)
    for node in range(tree.n_nodes - 1, 0, -1):  # children come after their parent
        same[parent[node]] &= same[node] and prediction[node] == prediction[parent[node]]
    words = prediction.tolist() if classes is None else [classes[i] for i in prediction.tolist()]
    return cut(
        tree, {int(i): f"same prediction: every leaf below predicts {words[i]!r}" for i in np.flatnonzero(same & ~leaf)}
    )


# --- the best tree of so many leaves ----------------------------------------------------------------------------------


def prune_to_leaves(tree: Tree, pruner: MaxLeaves) -> Tree:
    """Return the tree of least impurity with at most so many leaves; of equals, the smallest."""
    if tree.n_leaves <= pruner.leaves:
        return tree
    risk, _ = node_risk(tree, "impurity")
    tables, choices = _tables(tree, risk, pruner.leaves)
    least = tables[0].min()
    best = int(np.argmax(tables[0] <= least + 1e-12 * risk[0]))
    leaves = dict.fromkeys(_leaves_of(tree, choices, best), f"best leaves: at most {pruner.leaves}")
    return cut(tree, leaves)


def _tables(tree: Tree, risk: Array, most: int) -> tuple[list[Array], list[list[Array]]]:
    """Return for each node the least risk of its subtree by leaves (0 is impossible), and the leaves of its children.

    The second: after each child, for each number of leaves up to it, how many of them are the child's.
    """
    tables: list[Array] = [np.array([])] * tree.n_nodes
    choices: list[list[Array]] = [[] for _ in range(tree.n_nodes)]
    stays = _staying_risk(tree, risk)
    for node in range(tree.n_nodes - 1, -1, -1):
        children = tree[node].children
        if not children:
            tables[node] = np.array([np.inf, risk[node]])
            continue
        together = np.array([stays[node]])
        for child in children:
            together, taken = _joined(together, tables[child], most)
            choices[node].append(taken)
        together[1] = risk[node]
        tables[node] = together
    return tables, choices


def _staying_risk(tree: Tree, risk: Array) -> Array:
    """Return rows that stop at a node with children are as mixed as the node."""
    weight, parent = tree.arrays["weight"], tree.arrays["parent"]
    gone = np.zeros(tree.n_nodes)
    np.add.at(gone, parent[1:], weight[1:])
    share = np.divide(weight - gone, weight, out=np.zeros_like(weight), where=weight > 0)
    return np.where(share > 1e-9, share * risk, 0.0)


def _joined(left: Array, right: Array, most: int) -> tuple[Array, Array]:
    """Return the least sum of two tables for each number of leaves up to `most`, and the right table's share."""
    size = min(len(left) + len(right) - 2, most) + 1
    best, taken = np.full(size, np.inf), np.zeros(size, dtype=np.int64)
    if len(right) <= len(left):
        for j in range(1, min(len(right), size)):
            sums = left[: size - j] + right[j]
            better = sums < best[j : j + len(sums)]
            best[j : j + len(sums)][better] = sums[better]
            taken[j : j + len(sums)][better] = j
    else:
        for i in range(min(len(left), size)):
            sums = left[i] + right[: size - i]
            better = sums < best[i : i + len(sums)]
            best[i : i + len(sums)][better] = sums[better]
            taken[i : i + len(sums)][better] = np.flatnonzero(better)
    return best, taken


def _leaves_of(tree: Tree, choices: list[list[Array]], leaves: int) -> list[int]:
    """Return the nodes that are leaves in the best tree of so many leaves."""
    found, open_nodes = [], [(0, leaves)]
    while open_nodes:
        node, count = open_nodes.pop()
        if count == 1:
            found.append(node)
            continue
        for child, taken in zip(reversed(tree[node].children), reversed(choices[node]), strict=True):
            open_nodes.append((child, int(taken[count])))
            count -= int(taken[count])
    return found
