"""The pruning path as a slider shows it: every tree between the whole and its root.

Comes in: a tree, and rows it has not seen where there are any. Goes out: one entry per step, and for each node the
alpha from which on it is cut.
Always holds: a node is a leaf of the trees whose alpha is at least its price; the first step is the tree as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.encode import Encoded
from treewright.pruners import CostComplexity
from treewright.pruning.folds import losses_on, real_weight
from treewright.pruning.path import prices, training_path
from treewright.pruning.steps import spans
from treewright.tree import Tree

#: The whole tree: no price is below zero.
_UNCUT = -1.0


def pruning_steps(tree: Tree, held_out: Encoded | None) -> dict[str, Any]:
    """`alpha`, `leaves`, `risk` per step, `held_out` where rows are given; `price` per node."""
    pruner = CostComplexity(0.0)
    price = prices(tree, pruner)
    path = training_path(tree, pruner)
    alpha, leaves, risk = list(path.alpha), list(path.leaves), list(path.risk)
    if leaves[0] < tree.n_leaves:  # some splits are worth nothing: alpha 0 cuts them already
        alpha, leaves, risk = [_UNCUT, *alpha], [tree.n_leaves, *leaves], [risk[0], *risk]
    unseen = None
    if held_out is not None:
        weight = real_weight(held_out, tree.schema)
        lost = losses_on(tree, held_out, weight, 0)
        sums = spans(tree, price).sums(np.array(alpha), lost.as_leaf, lost.asking)
        unseen = (sums / weight.sum()).clip(min=0).tolist()
    inner = tree.arrays["stop"] == 0
    return {
        "alpha": alpha,
        "leaves": leaves,
        "risk": risk,
        "held_out": unseen,
        "price": [x if asks else 0 for x, asks in zip(price.tolist(), inner.tolist(), strict=True)],
    }
