"""The pruning path as the slider shows it: every tree between the whole tree and its root.

A node is a leaf of the trees whose alpha is at least its price; the first step is the tree as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from treewright.data.encoding import Encoded
from treewright.pruning.cross_validation import losses_on, real_weight
from treewright.pruning.cut import cut
from treewright.pruning.nested_trees import nested_trees
from treewright.pruning.path import prices, training_path
from treewright.recipes.pruners import CostComplexity
from treewright.tree.leaf_values import unshrunk
from treewright.tree.shape import is_leaf, topmost
from treewright.tree.tree import Tree

#: The whole tree: no price is below zero.
_UNCUT = -1.0


#: Scores and importances are computed for at most so many pruned trees, and for fewer where that would route more
#: rows, build more nodes or write more cells of matrices than this.
_MOST_TREES = 100
_MOST_ROWS = 20_000_000
_MOST_NODES = 2_000_000
_MOST_CELLS = 200_000


def pruned_trees(tree: Tree, steps: dict[str, Any], n_rows: int) -> Iterator[Tree | None]:
    """Yield the tree of every step but the first; None for steps that are left out because there are too many."""
    n_steps = len(steps["alpha"])
    cells = len(tree.schema.target.classes or ()) ** 2
    limits = (_MOST_TREES, _MOST_ROWS // max(1, n_rows), _MOST_NODES // tree.n_nodes, _MOST_CELLS // max(1, cells))
    most = max(2, min(limits))
    small = range(max(1, n_steps - most // 2), n_steps)  # the trees that are most often looked at
    kept = {*small, *np.linspace(1, n_steps - 1, min(n_steps, most - most // 2)).astype(int).tolist()}
    if steps["held_out"] is not None:
        kept.add(n_steps - 1 - int(np.argmin(steps["held_out"][::-1])))
    price = np.array(steps["price"])
    for step in range(1, n_steps):
        chosen = (price <= steps["alpha"][step]) & ~is_leaf(tree)
        yield cut(tree, dict.fromkeys(map(int, topmost(tree, chosen)), "pruned")) if step in kept else None


def pruning_steps(tree: Tree, held_out: Encoded | None) -> dict[str, Any]:
    """Return `alpha`, `leaves`, `risk` per step, `held_out` where rows are given; `price` per node."""
    pruner, counted = CostComplexity(0.0), unshrunk(tree)
    price = prices(counted, pruner)
    path = training_path(counted, pruner)
    alpha, leaves, risk = list(path.alpha), list(path.leaves), list(path.risk)
    if leaves[0] < tree.n_leaves:  # some splits are worth nothing: alpha 0 cuts them already
        alpha, leaves, risk = [_UNCUT, *alpha], [tree.n_leaves, *leaves], [risk[0], *risk]
    unseen = None
    if held_out is not None:
        weight = real_weight(held_out, tree.schema)
        lost = losses_on(tree, held_out, weight, 0)
        sums = nested_trees(tree, price, np.array(alpha)).sums(lost.as_leaf, lost.at_inner)
        unseen = (sums / weight.sum()).clip(min=0).tolist()
    inner = tree.arrays["stop"] == 0
    return {
        "alpha": alpha,
        "leaves": leaves,
        "risk": risk,
        "held_out": unseen,
        "price": [x if is_inner else 0 for x, is_inner in zip(price.tolist(), inner.tolist(), strict=True)],
    }
