"""Reduced-error pruning by validation rows; in a recipe, by a share of the training rows that is set aside.

No cut raises the criterion's loss on the validation rows, and a tie prunes (core/prune/reduced_error.hpp). Which rows
are set aside depends on their values and the seed, not on their order.
"""

from __future__ import annotations

import numpy as np

from treewright import _core
from treewright.data.arrays import Array, BoolArray
from treewright.data.encoding import Encoded
from treewright.data.rows import take, weights_of
from treewright.errors import DataError
from treewright.growing.memory_partitions import as_partitions, gathered
from treewright.growing.partitions import Partitions
from treewright.growing.prepared import routing_recipe
from treewright.growing.progress import Stage
from treewright.pruning.cross_validation import real_weight, row_draws, without
from treewright.pruning.cut import cut
from treewright.pruning.losses import number_loss_name
from treewright.recipes.criterion import Poisson
from treewright.recipes.pruners import ReducedError
from treewright.tree.tree import Tree, cost_array


def prune_reduced_error(
    tree: Tree, _pruner: ReducedError, rows: Encoded | Partitions | None, _n_threads: int, _stage: Stage
) -> Tree:
    if rows is None:
        raise DataError("ReducedError needs validation rows, which the tree has not seen; give them as data=")
    rows = gathered(rows)
    if rows.n_rows == 0:
        raise DataError("the validation table has no rows, so there is nothing to compare; give some rows")
    assert rows.target is not None
    target = tree.schema.target
    if target.classes is None and isinstance(tree.recipe.regression, Poisson) and np.any(rows.target < 0):
        raise DataError(
            f"the target {target.name!r} has negative values in the validation rows, which Poisson excludes"
        )
    found = _core.reduce_error(
        arrays=dict(tree.arrays),
        columns=rows.columns,
        kinds=list(rows.kinds),
        target=rows.target,
        n_classes=rows.n_classes,
        weight=real_weight(rows, tree.schema),
        recipe=routing_recipe(tree.recipe).as_dict(),
        cost=None if target.costs is None else cost_array(target),
    )
    what = number_loss_name(tree) if target.classes is None else "wrong" if target.costs is None else "paid"
    reasons = {
        int(i): f"reduced error: {found['as_leaf'][i]:.6g} {what} on validation rows as a leaf, "
        f"{found['below'][i]:.6g} below"
        for i in found["leaf"].nonzero()[0]
    }
    return cut(tree, reasons)


def hold_out(rows: Encoded | Partitions, pruner: ReducedError) -> tuple[Partitions, Partitions]:
    """Return the training rows without the share set aside, and the share; the caller closes both."""
    parts = as_partitions(rows)
    aside = set_aside(parts, pruner.share, pruner.seed)
    chosen = np.concatenate(aside)
    if not chosen.any() or chosen.all():
        raise DataError(
            f"ReducedError(share={pruner.share:g}) of {len(chosen)} rows leaves no row to "
            f"{'learn from' if chosen.any() else 'validate with'}; use another share, or another pruner"
        )
    return parts.changed(without, each=aside), parts.changed(take, each=aside)


def set_aside(parts: Partitions, share: float, seed: int) -> list[BoolArray]:
    """Return which rows of each part validate: the share of each class, as near as whole rows come to it."""
    keys = [np.concatenate(column) for column in zip(*parts.map(_order_keys, seed), strict=True)]
    used = np.flatnonzero(keys.pop())
    reached = np.floor(np.arange(len(used) + 1) * share)
    aside = np.zeros(sum(parts.sizes), dtype=bool)
    aside[used[np.lexsort([key[used] for key in keys])]] = reached[1:] > reached[:-1]
    return np.split(aside, np.cumsum(parts.sizes)[:-1])


def _order_keys(part: Encoded, seed: int) -> tuple[Array, ...]:
    """By what a part's rows are put in order, the last counting most; then which of them have weight."""
    used = weights_of(part) > 0
    if part.n_classes:
        assert part.target is not None
        return row_draws(part, seed), part.target, used
    return row_draws(part, seed), used
