"""Reduced-error pruning: rows the tree has not seen decide.

Comes in: a tree and validation rows; or, as part of a recipe, a table of which a share is set aside for it.
Goes out: the pruned tree. Always holds: no cut makes the answers to the validation rows worse, and a tie prunes; the
core decides (core/prune/reduced_error.hpp). Leaves answer what they learned from the training rows. Which rows are set
aside depends on their values and the seed, never on their order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.data.encoding import Encoded
from treewright.data.schema import Schema
from treewright.errors import DataError
from treewright.growing.grow_partitions import as_partitions, gathered, grow_table
from treewright.growing.partitions import Partitions
from treewright.growing.progress import UNREPORTED, Stage
from treewright.pruning.cross_validation import real_weight, row_draws, some_rows, without
from treewright.pruning.cut import cut
from treewright.recipes.pruners import ReducedError
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree, cost_array


def prune_reduced_error(tree: Tree, _pruner: ReducedError, rows: Encoded | Partitions | None, _n_threads: int) -> Tree:
    if rows is None:
        raise DataError("ReducedError needs validation rows, which the tree has not seen; give them as data=")
    rows = gathered(rows)
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


def grow_and_reduce(
    encoded: Encoded | Partitions, schema: Schema, recipe: Recipe, n_threads: int, stage: Stage = UNREPORTED
) -> Tree:
    """The tree of a part of the rows, pruned by the others."""
    pruner = recipe.pruning
    assert isinstance(pruner, ReducedError)
    parts = as_partitions(encoded)
    aside = set_aside(parts, pruner.share, pruner.seed)
    chosen = np.concatenate(aside)
    if not chosen.any() or chosen.all():
        raise DataError(
            f"ReducedError(share={pruner.share:g}) of {len(chosen)} rows leaves no row to "
            f"{'learn from' if chosen.any() else 'validate with'}; use another share, or another pruner"
        )
    training = parts.changed(without, each=aside)
    tree = grow_table(training, schema, recipe, n_threads, stage)
    training.close()
    held_out = parts.changed(some_rows, each=aside)
    pruned = prune_reduced_error(tree, pruner, held_out, n_threads)
    held_out.close()
    return pruned


def set_aside(parts: Partitions, share: float, seed: int) -> list[NDArray[np.bool_]]:
    """Which rows of each part validate: the share of each class, as near as whole rows come to it."""
    keys = [np.concatenate(column) for column in zip(*parts.map(_order_keys, seed), strict=True)]
    used = np.flatnonzero(keys.pop())
    reached = np.floor(np.arange(len(used) + 1) * share)
    aside = np.zeros(sum(parts.sizes), dtype=bool)
    aside[used[np.lexsort([key[used] for key in keys])]] = reached[1:] > reached[:-1]
    return np.split(aside, np.cumsum(parts.sizes)[:-1])


def _order_keys(part: Encoded, seed: int) -> tuple[NDArray[Any], ...]:
    """By what a part's rows are put in order, the last counting most; then which of them have weight."""
    used = np.ones(part.n_rows, dtype=bool) if part.weight is None else part.weight > 0
    if part.n_classes:
        assert part.target is not None
        return row_draws(part, seed), part.target, used
    return row_draws(part, seed), used
