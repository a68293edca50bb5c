"""The rows that a tree was grown on, encoded once for all edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from treewright.data.arrays import BoolArray
from treewright.data.encoding import Encoded
from treewright.data.number_text import many
from treewright.data.rows import take
from treewright.editing.edits import Edit
from treewright.errors import DataError
from treewright.growing.grow import with_bins
from treewright.growing.memory_partitions import gathered
from treewright.growing.weights import growing_weights
from treewright.prediction.encode_rows import encode_labelled
from treewright.prediction.routing import reach
from treewright.pruning.reduced_error import hold_out
from treewright.recipes.pruners import ReducedError
from treewright.training.folds import set_aside
from treewright.tree.tree import Tree

#: Rows are held out the same way everywhere, so that a log replays.
_SEED = 0


def rows_for_edits(
    tree: Tree,
    edits: Sequence[Edit],
    data: object,
    target: object,
    weight: object,
    n_threads: int,
    holdout: float | None = None,
) -> Encoded | None:
    """Return the training rows, or None where no edit needs them; raise `DataError` if they are not the tree's.

    `holdout`: the share of the rows that the tree was not grown on.
    """
    needing = next((edit for edit in edits if edit.needs_rows), None)
    if needing is None:
        return None
    rows = encode_labelled(tree, data, target, weight)
    if rows is None:
        raise DataError(f"{type(needing).__name__} needs the rows that the tree was learned from; give them as data=")
    if holdout is not None:
        rows = take(rows, ~held_out(rows, holdout))
    rows = _grown_on(tree, rows)
    return with_bins(rows, n_threads) if len(edits) > 1 else rows


def held_out(rows: Encoded, share: float) -> BoolArray:
    """Return which rows are held out: this share of each class, by their values alone."""
    if not 0 < share < 1:
        raise DataError(f"holdout must be a share of the rows, between 0 and 1, not {share!r}")
    return set_aside(rows, share, _SEED)


def _grown_on(tree: Tree, rows: Encoded) -> Encoded:
    """Return those rows that growing used: all, or all that reduced-error pruning did not set aside."""
    wanted, pruner = tree.root.rows, tree.recipe.pruning
    found = _n_used(tree, rows)
    if found != wanted and isinstance(pruner, ReducedError):
        kept, aside = hold_out(rows, pruner)
        aside.close()
        rows = gathered(kept)
    if _n_used(tree, rows) != wanted:
        raise DataError(
            f"the tree was grown on {many(wanted, 'row')}, and the table has {found} with a weight; give the rows, and "
            "the weights, that it was learned from"
        )
    return rows


def without_repeats(rows: Encoded) -> Encoded:
    """Return the rows that are there, each once; this copies them where some are not."""
    if rows.repeats is None:
        return rows
    chosen = take(rows, rows.repeats > 0)
    plain = chosen.weight is None or bool((chosen.weight == 1.0).all())
    return replace(chosen, repeats=None, weight=None if plain else chosen.weight)


def _n_used(tree: Tree, rows: Encoded) -> int:
    return int(np.count_nonzero(_takes_part(tree, rows)))


def _takes_part(tree: Tree, rows: Encoded) -> BoolArray:
    assert rows.target is not None
    return growing_weights(rows, tree.schema, tree.recipe) > 0


def rows_at(tree: Tree, rows: Encoded, node: int, n_threads: int) -> BoolArray:
    """Return which rows came to a node, or a part of which did, while the tree grew."""
    here: BoolArray = _takes_part(tree, rows) & (reach(tree, rows, node, n_threads) > 0)
    return here
