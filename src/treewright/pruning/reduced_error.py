"""Reduced-error pruning: rows the tree has not seen decide.

Comes in: a tree and validation rows; or, as part of a recipe, a table of which a share is set aside for it.
Goes out: the pruned tree. Always holds: no cut makes the answers to the validation rows worse, and a tie prunes; the
core decides (core/reduced_error.hpp). Leaves answer what they learned from the training rows. Which rows are set aside
depends on their values and the seed, never on their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.encode import Encoded
from treewright.errors import DataError
from treewright.pruners import ReducedError
from treewright.pruning.cut import cut
from treewright.pruning.folds import grow_without, real_weight, row_draws, some_rows
from treewright.recipe import Recipe
from treewright.schema import Schema
from treewright.tree import Tree, cost_array


def prune_reduced_error(tree: Tree, _pruner: ReducedError, rows: Encoded | None, _n_threads: int) -> Tree:
    if rows is None:
        raise DataError("ReducedError needs validation rows, which the tree has not seen; give them as data=")
    if rows.n_rows == 0:
        raise DataError("the validation table has no rows, so nothing could be said against any cut; give some rows")
    target = tree.schema.target
    found = _core.reduce_error(
        arrays=dict(tree.arrays),
        columns=rows.columns,
        kinds=list(rows.kinds),
        target=rows.target,
        n_classes=rows.n_classes,
        weight=real_weight(rows, tree.schema),
        seed=tree.recipe.seed,
        cost=None if target.costs is None else cost_array(target),
    )
    what = "squared error" if target.classes is None else "wrong" if target.costs is None else "paid"
    reasons = {
        int(i): f"reduced error: {found['as_leaf'][i]:.6g} {what} on validation rows as a leaf, "
        f"{found['below'][i]:.6g} below"
        for i in found["leaf"].nonzero()[0]
    }
    return cut(tree, reasons)


def grow_and_reduce(encoded: Encoded, schema: Schema, recipe: Recipe, n_threads: int) -> Tree:
    """The tree of a part of the rows, pruned by the others."""
    pruner = recipe.pruning
    assert isinstance(pruner, ReducedError)
    aside = set_aside(encoded, pruner.share, pruner.seed)
    if not aside.any() or aside.all():
        raise DataError(
            f"ReducedError(share={pruner.share:g}) of {encoded.n_rows} rows leaves no row to "
            f"{'learn from' if aside.any() else 'validate with'}; use another share, or another pruner"
        )
    tree = grow_without(encoded, schema, recipe, aside, n_threads)
    return prune_reduced_error(tree, pruner, some_rows(encoded, aside), n_threads)


def set_aside(encoded: Encoded, share: float, seed: int) -> NDArray[np.bool_]:
    """Which rows validate: the share of each class, as near as whole rows come to it."""
    assert encoded.target is not None
    weight = np.ones(encoded.n_rows) if encoded.weight is None else encoded.weight
    used = np.flatnonzero(weight > 0)
    keys: list[NDArray[Any]] = [row_draws(encoded, seed)[used]]
    if encoded.n_classes:
        keys.append(encoded.target[used])
    reached = np.floor(np.arange(len(used) + 1) * share)
    aside = np.zeros(encoded.n_rows, dtype=bool)
    aside[used[np.lexsort(keys)]] = reached[1:] > reached[:-1]
    return aside
