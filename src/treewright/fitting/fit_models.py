"""Fit a linear model at every node of a grown tree."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.encoding import Encoded
from treewright.fitting.moments import node_moments
from treewright.fitting.regressors import Regressor, flat, wanted_regressors
from treewright.fitting.smoothing import smoothed
from treewright.growing.memory_partitions import as_partitions
from treewright.growing.partitions import Partitions
from treewright.growing.prepared import Preparation, filling, prepared
from treewright.recipes.leaves import Linear
from treewright.tree.models import FREE, LinearModel, Term
from treewright.tree.tree import Tree

#: More terms than a model could ever have.
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Fits:
    """The models of all nodes before smoothing, and per node the number of rows."""

    models: tuple[LinearModel, ...]
    rows: FloatArray


def with_models(tree: Tree, rows: Encoded | Partitions, n_threads: int = 0) -> Tree:
    """Return the tree with the linear models of its recipe; itself, if its leaves are constant.

    Parameters
    ----------
    tree : Tree
        A tree for a numeric target. One that has models, from a pruner that compares them, only has them smoothed.
    rows : Encoded or Partitions
        The rows that it was grown on.
    n_threads : int, default=0
        Number of threads; 0 means all processors.

    Returns
    -------
    Tree
        The same for any number of threads, order of rows and partitioning.
    """
    choice = tree.recipe.leaves
    return smoothed(with_fits(tree, rows, n_threads), choice.smoothing_rows) if isinstance(choice, Linear) else tree


def with_fits(tree: Tree, rows: Encoded | Partitions, n_threads: int = 0) -> Tree:
    """Return the tree with the models that its recipe asks for, before smoothing; itself, if it has them or none."""
    choice = tree.recipe.leaves
    if not isinstance(choice, Linear) or tree.models:
        return tree
    return replace(tree, models=fits(tree, rows, choice, n_threads).models)


def fits(tree: Tree, rows: Encoded | Partitions, choice: Linear, n_threads: int = 0) -> Fits:
    """Fit the model of every node of a tree, before smoothing.

    Where the recipe does not fill in missing values, each counts as the mean in its node.
    """
    done = filling(rows, tree.recipe)
    parts = as_partitions(rows) if done is None else as_partitions(rows).changed(prepared, done)
    wanted = wanted_regressors(tree, choice)
    moments = node_moments(tree, parts, wanted, n_threads)
    if done is not None:
        parts.close()
    max_terms = _NO_LIMIT if choice.max_terms is None else min(choice.max_terms, _NO_LIMIT)
    per_term = min(choice.min_rows_per_term, _NO_LIMIT)
    chosen = moments.choose(
        *flat(wanted.own), choice.select, max_terms, per_term, choice.ridge, choice.ridge_rows, n_threads
    )
    start, regressor, coefficient, mean, intercept, residual = (each.tolist() for each in chosen)
    counted, lowest, highest = moments.summary()
    low, high = (each.tolist() for each in _guards(lowest, highest, choice.margin))
    models: list[LinearModel] = []
    for node in range(tree.n_nodes):
        if counted[node] == 0:  # it predicts as its parent does
            constant = LinearModel(float(tree.arrays["stats"][0, 1]))
            above = models[int(tree.arrays["parent"][node])] if node else constant
            models.append(replace(above, residual=0.0))
            continue
        own = slice(start[node], start[node + 1])
        entered = [wanted.regressors[i] for i in regressor[own]]
        fills = mean[own] if done is None else [_filled_value(one, done) for one in entered]
        named = zip(entered, coefficient[own], fills, strict=True)
        terms = tuple([Term(one.column, slope, fill, one.levels) for one, slope, fill in named])
        models.append(LinearModel(intercept[node], terms, low[node], high[node], residual[node]))
    return Fits(tuple(models), counted)


def _filled_value(regressor: Regressor, done: Preparation) -> float:
    fill = done.fill[regressor.column]
    assert fill is not None
    return fill if regressor.levels is None else float(int(fill) in regressor.levels)


def _guards(low: FloatArray, high: FloatArray, margin: float | None) -> tuple[FloatArray, FloatArray]:
    """Return per node the lowest and the highest prediction that its margin allows, from the range of its targets."""
    if margin is None:
        return np.full(len(low), -FREE), np.full(len(high), FREE)
    with np.errstate(over="ignore", invalid="ignore"):
        room = margin * (high - low)
        return np.clip(low - room, -FREE, FREE), np.clip(high + room, -FREE, FREE)
