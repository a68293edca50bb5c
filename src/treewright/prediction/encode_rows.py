"""Encode rows for a tree: with or without their target."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.columns import READ_IN_PLACE, is_strided
from treewright.data.encoding import Encoded, encode
from treewright.data.reader import read, taken
from treewright.errors import DataError
from treewright.recipes.missing import RefuseMissing
from treewright.tree.tree import Tree


def encoded(tree: Tree, data: object) -> Encoded:
    """Encode rows for a tree."""
    rows = _matrix(tree, data)
    if rows is None:
        # An array has no names and is read whole; of a table only the tree's own columns are.
        frame = read(data, only=tree.schema.names, schema=tree.schema)
        rows = encode(frame, tree.schema, training=False, unseen=tree.recipe.unseen)
        if isinstance(tree.recipe.missing, RefuseMissing):
            _refuse_missing(tree, rows)
    return rows


def is_plain_matrix(tree: Tree, data: object) -> bool:
    """Return whether the data is a matrix of the tree's columns that the core can read as it is.

    This is how rows come one at a time, where every microsecond counts, and by the million.
    """
    if type(data) is not np.ndarray or data.dtype not in READ_IN_PLACE or data.ndim != 2 or len(data) == 0:
        return False
    plain = tree.keep("plain", lambda: _is_plain(tree))
    return bool(plain and data.shape[1] == plain and is_strided(data))


def _matrix(tree: Tree, data: Any) -> Encoded | None:
    """Return the data as it is, if it is such a matrix, which the core takes for its columns."""
    if not is_plain_matrix(tree, data):
        return None
    return Encoded(data, tree.keep("kinds", lambda: (0,) * data.shape[1]), (), len(data))


def _is_plain(tree: Tree) -> int:
    """Return the number of columns, if all are numbers and may be missing; otherwise 0."""
    numbers = all(column.kind == "numeric" for column in tree.schema.columns)
    return len(tree.schema.columns) if numbers and not isinstance(tree.recipe.missing, RefuseMissing) else 0


def _refuse_missing(tree: Tree, rows: Encoded) -> None:
    inner = tree.arrays["stop"] == 0
    used = np.unique(tree.arrays["column"][tree.arrays["split_start"][:-1][inner]])
    for i in used:
        values = rows.columns[i]
        missing = int(np.count_nonzero(np.isnan(values) if values.dtype.kind == "f" else values == -1))
        if missing:
            raise DataError(
                f"column {tree.schema.columns[i].name!r} is missing in {missing} of {rows.n_rows} rows, and the recipe "
                f"{tree.recipe.name!r} refuses missing values; fill them in, or learn with another missing policy"
            )


def encode_labelled(tree: Tree, data: object, target: object, weight: object) -> Encoded | None:
    """Return the table at hand, coded as the tree's columns are; rows that are coded already stay as they are."""
    if isinstance(data, Encoded):
        return data
    if data is None:
        if target is not None or weight is not None:
            raise DataError("target and weight belong to a table; give it as data=")
        return None
    frame = read(data, schema=tree.schema)
    labels, frame = taken(frame, tree.schema.target.name if target is None else target, "target")
    weights = None
    if weight is not None:
        weights, frame = taken(frame, weight, "weight")
    return encode(frame, tree.schema, training=False, unseen=tree.recipe.unseen, target=labels, weight=weights)
