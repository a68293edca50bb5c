"""What the linear models of a tree's nodes do wrong on rows that it has not seen."""

from __future__ import annotations

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.encoding import Encoded
from treewright.fitting.smoothing import smoothed
from treewright.growing.exact_sums import Sums, sums_by
from treewright.prediction.routing import predict_values, route
from treewright.pruning.by_hand import prune_to_depth
from treewright.recipes.leaves import Linear
from treewright.recipes.pruners import MaxDepth
from treewright.tree.shape import is_leaf
from treewright.tree.tree import Tree


def model_loss_sums(tree: Tree, rows: Encoded, weight: FloatArray, n_threads: int) -> dict[str, Sums]:
    """Return the sums of `HeldOut` for squared errors, by name, of models that are smoothed as the recipe says.

    The tree cut at a depth predicts a row as its node of that depth would as a leaf.
    """
    leaves = tree.recipe.leaves
    assert isinstance(leaves, Linear)
    assert rows.target is not None
    used = smoothed(tree, leaves.smoothing_rows)
    depth, end = tree.arrays["depth"], route(tree, rows, n_threads)
    stays = ~is_leaf(tree)[end]
    sums: dict[str, list[tuple[FloatArray, FloatArray, FloatArray]]] = {"leaf": [], "inner": []}
    for level in range(tree.depth + 1):
        top, kept = prune_to_depth(used, MaxDepth(level)), np.flatnonzero(depth <= level)
        node = kept[route(top, rows, n_threads)]
        loss = (rows.target - predict_values(top, rows, n_threads)[:, 0]) ** 2
        here = depth[node] == level
        for name, chosen in (("leaf", here), ("inner", here & stays & (node == end))):
            sums[name].append((node[chosen], loss[chosen], weight[chosen]))
    found = {}
    for name, parts in sums.items():
        place, loss, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
        suffix = "as_leaf" if name == "leaf" else "at_inner"
        found[suffix] = sums_by(place, loss * weights, tree.n_nodes)
        found[f"squares_{suffix}"] = sums_by(place, loss * loss * weights, tree.n_nodes)
    return found
