"""M5's pruning: a subtree becomes the linear model of its node if that has no larger adjusted error."""

from __future__ import annotations

import math
from dataclasses import replace

from treewright.data.encoding import Encoded
from treewright.data.number_text import number_text
from treewright.errors import DataError
from treewright.fitting.fit_models import fits
from treewright.growing.partitions import Partitions
from treewright.growing.progress import UNREPORTED, Stage
from treewright.pruning.cut import cut
from treewright.recipes.leaves import Linear
from treewright.recipes.pruners import AdjustedError
from treewright.tree.tree import Tree

#: What an error is multiplied with where there are no more rows than parameters.
_NO_ROWS_LEFT = 10.0


def prune_by_adjusted_error(
    tree: Tree, pruner: AdjustedError, rows: Encoded | Partitions | None, n_threads: int, _stage: Stage = UNREPORTED
) -> Tree:
    """Return the pruned tree with the models of its nodes, not smoothed."""
    choice = tree.recipe.leaves
    if not isinstance(choice, Linear):
        raise DataError(
            f"AdjustedError compares linear models that are fitted to each node, but the recipe {tree.recipe.name!r} "
            f"has leaves={type(choice).__name__}(); use leaves=treewright.leaves.Linear(), or prune with "
            "CostComplexityCV()"
        )
    if rows is None:
        raise DataError("AdjustedError fits linear models to the training rows; give them as data=")
    found = fits(tree, rows, choice, n_threads)
    parent, weight = tree.arrays["parent"].tolist(), tree.arrays["weight"].tolist()
    squares = [0.0] * tree.n_nodes  # of the best subtree at each node
    parameters = [0] * tree.n_nodes
    reasons: dict[int, str] = {}
    for node in range(tree.n_nodes - 1, -1, -1):  # children come after their parent
        own_squares, own_parameters = found.models[node].residual, len(found.models[node].terms) + 1
        leaf = bool(tree.arrays["stop"][node])
        if not leaf:
            own = _adjusted(own_squares, weight[node], found.rows[node], own_parameters, pruner.factor)
            below = _adjusted(squares[node], weight[node], found.rows[node], parameters[node] + 1, pruner.factor)
            if own <= below:
                reasons[node] = f"adjusted error {number_text(own)}, with its splits {number_text(below)}"
        if leaf or node in reasons:
            squares[node], parameters[node] = own_squares, own_parameters
        else:
            parameters[node] += 1  # the split
        if node:
            squares[parent[node]] += squares[node]
            parameters[parent[node]] += parameters[node]
    return cut(replace(tree, models=found.models), reasons)


def _adjusted(squares: float, weight: float, rows: float, parameters: int, factor: float) -> float:
    """Return the root mean squared error, multiplied as if parameters were rows that explain nothing."""
    times = (rows + factor * parameters) / (rows - parameters) if rows > parameters else _NO_ROWS_LEFT
    return math.sqrt(squares / weight) * times if weight > 0 else 0.0
