"""Fit a linear model at every node of a grown tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.encoding import Encoded
from treewright.fitting.moments import node_moments
from treewright.fitting.regressors import Wanted, flat, wanted_regressors
from treewright.growing.partitions import Partitions
from treewright.recipes.leaves import Linear
from treewright.tree.models import FREE, LinearModel, Term
from treewright.tree.tree import Tree

#: More terms than a model could ever have.
_NO_LIMIT = 2**31 - 1


def with_models(tree: Tree, rows: Encoded | Partitions, n_threads: int = 0) -> Tree:
    """Return the tree with the linear models that its recipe asks for; itself, if its leaves are constant.

    Parameters
    ----------
    tree : Tree
        A tree for a numeric target.
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
    wanted = wanted_regressors(tree, choice)
    moments = node_moments(tree, rows, wanted, n_threads)
    max_terms = _NO_LIMIT if choice.max_terms is None else min(choice.max_terms, _NO_LIMIT)
    per_term = min(choice.min_rows_per_term, _NO_LIMIT)
    start, regressor, coefficient, intercept, _ = moments.choose(
        *flat(wanted.own), choice.select, max_terms, per_term, choice.ridge, n_threads
    )
    fills = mean_of_slots(moments, wanted)
    low, high = guards(moments, choice.margin)
    models: list[LinearModel] = []
    empty = moments.summary()[3] == 0
    for node in range(tree.n_nodes):
        if empty[node]:  # it predicts as its parent does
            models.append(models[int(tree.arrays["parent"][node])])
            continue
        chosen = range(start[node], start[node + 1])
        terms = [_term(wanted, fills[node], int(regressor[i]), float(coefficient[i])) for i in chosen]
        models.append(LinearModel(float(intercept[node]), tuple(terms), float(low[node]), float(high[node])))
    return replace(tree, models=tuple(models))


def mean_of_slots(moments: Any, wanted: Wanted) -> list[dict[int, float]]:
    """Return per node the mean of each regressor that it needs."""
    mean, found, first = moments.summary()[0], [], 0
    for slots in wanted.slots:
        found.append(dict(zip(slots, mean[first : first + len(slots)].tolist(), strict=True)))
        first += len(slots) + 1
    return found


def guards(moments: Any, margin: float | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return per node the lowest and the highest prediction that its margin allows."""
    low, high = moments.summary()[4:6]
    if margin is None:
        return np.full(len(low), -FREE), np.full(len(high), FREE)
    with np.errstate(over="ignore", invalid="ignore"):
        room = margin * (high - low)
        return np.clip(low - room, -FREE, FREE), np.clip(high + room, -FREE, FREE)


def _term(wanted: Wanted, fill: dict[int, float], place: int, coefficient: float) -> Term:
    regressor = wanted.regressors[place]
    return Term(regressor.column, coefficient, fill[place], regressor.levels)
