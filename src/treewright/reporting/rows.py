"""Labelled rows, encoded by the tree's schema, and a small sample of them, leaf by leaf, the same for one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright.data.arrays import Array
from treewright.data.encoding import Encoded
from treewright.data.survey import survey
from treewright.errors import DataError
from treewright.prediction.encode_rows import encode_labelled
from treewright.prediction.routing import route
from treewright.tree.json_form import plain
from treewright.tree.tree import Tree

#: A sample is for looking at: no leaf shows more rows, no sample has more cells.
_ROWS_OF_A_LEAF = 10
_CELLS = 40_000
_COLUMNS = 60


def read_rows(tree: Tree, data: object) -> Encoded:
    """Return the rows and their target, encoded by the tree's schema."""
    rows = encode_labelled(tree, data, None, None)
    assert rows is not None  # there is a table
    survey(rows, tree.schema, 0)
    return rows


def sample(tree: Tree, rows: Encoded, row_numbers: Sequence[int] | Array | None = None) -> dict[str, Any]:
    """Return some rows of each leaf: `node` (ascending), `row` in the table, encoded `values` per column, `truth`."""
    assert rows.target is not None
    numbers = np.arange(rows.n_rows) if row_numbers is None else np.asarray(row_numbers)
    if len(numbers) != rows.n_rows:
        raise DataError(
            f"row_numbers has {len(numbers):,} numbers for {rows.n_rows:,} rows; give one for each row of data"
        )
    columns = _shown_columns(tree)
    at = route(tree, rows, 0)
    order = np.argsort(at, kind="stable")
    ends, first, count = np.unique(at[order], return_index=True, return_counts=True)
    most = max(1, min(_ROWS_OF_A_LEAF, _CELLS // (max(1, len(columns)) * len(ends))))
    ends_kept = slice(0, max(1, _CELLS // max(1, len(columns))))  # a tree of very many leaves shows the first ones
    chosen = np.concatenate(
        [
            order[f + np.unique(np.linspace(0, n - 1, min(most, n)).astype(int))]
            for f, n in zip(first[ends_kept], count[ends_kept], strict=True)
        ]
    )
    return {
        "node": at[chosen].tolist(),
        "row": numbers[chosen].tolist(),
        "columns": columns,
        "values": [_listed(rows.columns[i][chosen]) for i in columns],
        "truth": plain(rows.target[chosen]),
    }


def _shown_columns(tree: Tree) -> list[int]:
    """Return all columns, or those that splits and linear models use where there are very many."""
    n = len(tree.schema.columns)
    if n <= _COLUMNS:
        return list(range(n))
    used = tree.arrays["column"][tree.arrays["split_start"][:-1][tree.arrays["stop"] == 0]]
    terms = [term.column for model in tree.models for term in model.terms]
    return [int(i) for i in np.unique([*used.tolist(), *terms])[:_COLUMNS]]


def _listed(values: Any) -> list[Any]:
    """Return codes or numbers; None for missing."""
    if values.dtype.kind == "f":
        return [None if x != x else x for x in plain(values)]
    return [None if code == -1 else code for code in values.tolist()]
