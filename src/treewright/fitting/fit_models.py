"""Fit a linear model at every node of a grown tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.encoding import Encoded
from treewright.fitting.moments import node_moments
from treewright.fitting.regressors import Regressor, Wanted, flat, wanted_regressors
from treewright.fitting.smoothing import smoothed
from treewright.growing.memory_partitions import as_partitions
from treewright.growing.partitions import Partitions
from treewright.growing.prepared import Preparation, preparation, prepared
from treewright.recipes.branching import Binary
from treewright.recipes.leaves import Linear
from treewright.recipes.missing import Imputed
from treewright.tree.models import FREE, LinearModel, Term
from treewright.tree.tree import Tree

#: More terms than a model could ever have.
_NO_LIMIT = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Fits:
    """The models of all nodes before smoothing, and per node the number of rows and the sum of squared residuals."""

    models: tuple[LinearModel, ...]
    rows: FloatArray
    residual: FloatArray


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
    if not isinstance(choice, Linear):
        return tree
    fitted = tree if tree.models else replace(tree, models=fits(tree, rows, choice, n_threads).models)
    return smoothed(fitted, choice.smoothing_rows)


def fits(tree: Tree, rows: Encoded | Partitions, choice: Linear, n_threads: int = 0) -> Fits:
    """Fit the model of every node of a tree, before smoothing."""
    filling = _filling(tree, rows)
    parts = as_partitions(rows) if filling is None else as_partitions(rows).changed(prepared, filling)
    wanted = wanted_regressors(tree, choice)
    moments = node_moments(tree, parts, wanted, n_threads)
    if filling is not None:
        parts.close()
    max_terms = _NO_LIMIT if choice.max_terms is None else min(choice.max_terms, _NO_LIMIT)
    per_term = min(choice.min_rows_per_term, _NO_LIMIT)
    start, regressor, coefficient, intercept, residual = moments.choose(
        *flat(wanted.own), choice.select, max_terms, per_term, choice.ridge, n_threads
    )
    means = _means(moments, wanted)
    low, high = _guards(moments, choice.margin)
    counted = moments.summary()[3]
    models: list[LinearModel] = []
    for node in range(tree.n_nodes):
        if counted[node] == 0:  # it predicts as its parent does
            mean = LinearModel(float(tree.arrays["stats"][0, 1]))
            models.append(models[int(tree.arrays["parent"][node])] if node else mean)
            continue
        terms = []
        for i in range(start[node], start[node + 1]):
            one = wanted.regressors[regressor[i]]
            fill = means[node][int(regressor[i])] if filling is None else _filled_value(one, filling)
            terms.append(Term(one.column, float(coefficient[i]), fill, one.levels))
        models.append(LinearModel(float(intercept[node]), tuple(terms), float(low[node]), float(high[node])))
    return Fits(tuple(models), counted, residual)


def _filling(tree: Tree, rows: Encoded | Partitions) -> Preparation | None:
    """Return how missing values are filled in before anything is fitted; None: each counts as the mean in its leaf."""
    if not isinstance(tree.recipe.missing, Imputed):
        return None
    return preparation(rows, replace(tree.recipe, branching=Binary()))


def _filled_value(regressor: Regressor, filling: Preparation) -> float:
    fill = filling.fill[regressor.column]
    assert fill is not None
    return fill if regressor.levels is None else float(int(fill) in regressor.levels)


def _means(moments: Any, wanted: Wanted) -> list[dict[int, float]]:
    """Return per node the mean of each regressor that it needs."""
    mean, found, first = moments.summary()[0], [], 0
    for slots in wanted.slots:
        found.append(dict(zip(slots, mean[first : first + len(slots)].tolist(), strict=True)))
        first += len(slots) + 1
    return found


def _guards(moments: Any, margin: float | None) -> tuple[FloatArray, FloatArray]:
    """Return per node the lowest and the highest prediction that its margin allows."""
    low, high = moments.summary()[4:6]
    if margin is None:
        return np.full(len(low), -FREE), np.full(len(high), FREE)
    with np.errstate(over="ignore", invalid="ignore"):
        room = margin * (high - low)
        return np.clip(low - room, -FREE, FREE), np.clip(high + room, -FREE, FREE)
