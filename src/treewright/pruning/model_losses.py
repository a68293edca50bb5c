"""What the linear models of a tree's nodes do wrong on rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.encoding import Encoded
from treewright.data.rows import weights_of
from treewright.fitting.fit_models import with_fits
from treewright.fitting.smoothing import smoothed
from treewright.growing.exact_sums import Sums, as_floats, merged, sums_by
from treewright.growing.memory_partitions import as_partitions
from treewright.growing.partitions import Partitions
from treewright.prediction.routing import predict_values, route
from treewright.pruning.by_hand import prune_to_depth
from treewright.recipes.leaves import Linear, Pieces
from treewright.recipes.pruners import MaxDepth
from treewright.tree.shape import is_leaf
from treewright.tree.tree import Tree


def with_residuals(tree: Tree, rows: Encoded | Partitions, n_threads: int = 0) -> Tree:
    """Return the tree with models, not smoothed, that know their residuals on these rows; itself, if it has none."""
    if not isinstance(tree.recipe.leaves, Pieces):
        return with_fits(tree, rows, n_threads)
    found = merged(as_partitions(rows).map(_residuals, tree, n_threads))
    residual = as_floats(found, tree.n_nodes).tolist()
    return replace(tree, models=tuple(replace(one, residual=r) for one, r in zip(tree.models, residual, strict=True)))


def _residuals(part: Encoded, tree: Tree, n_threads: int) -> Sums:
    return model_loss_sums(tree, part, weights_of(part), n_threads)["as_leaf"]


def model_loss_sums(tree: Tree, rows: Encoded, weight: FloatArray, n_threads: int) -> dict[str, Sums]:
    """Return the sums of `HeldOut` for squared errors, by name, of models that are smoothed as the recipe says.

    The tree cut at a depth predicts a row as its node of that depth would as a leaf.
    """
    leaves = tree.recipe.leaves
    assert rows.target is not None
    used = smoothed(tree, leaves.smoothing_rows) if isinstance(leaves, Linear) else tree
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
