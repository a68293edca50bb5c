"""Decision paths, the pruning path and sparse tables, in scikit-learn's forms."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import Any

import numpy as np

from treewright.data.arrays import Array, FloatArray
from treewright.data.dropped_columns import identifier_column
from treewright.data.frame import Frame, RawColumn
from treewright.errors import DataError
from treewright.pruning.path import training_path
from treewright.recipes.pruners import CostComplexity
from treewright.tree.tree import Tree


def node_indicator(tree: Tree, leaves: Array) -> Any:
    """Return a sparse matrix with a column per node: 1 where a row passes on its way from the root to its leaf."""
    from scipy.sparse import csr_matrix

    parent, depth = tree.arrays["parent"], tree.arrays["depth"]
    lengths = depth[leaves].astype(np.int64) + 1
    starts = np.append(0, np.cumsum(lengths))
    places = np.empty(starts[-1], dtype=np.int64)
    nodes = leaves.astype(np.int64)
    at = starts[1:] - 1  # from the leaf up, all rows one step at a time
    rows = np.arange(len(leaves))
    while len(rows):
        places[at[rows]] = nodes[rows]
        nodes[rows] = parent[nodes[rows]]
        at[rows] -= 1
        rows = rows[nodes[rows] >= 0]
    return csr_matrix((np.ones(len(places), dtype=np.int64), places, starts), shape=(len(leaves), tree.n_nodes))


def ccp_path(tree: Tree) -> tuple[FloatArray, FloatArray]:
    """Return the effective alphas of a tree as it was grown, and the impurity of the leaves at each."""
    path = training_path(tree, CostComplexity(0.0, risk="impurity"))
    return np.array(path.alpha), np.array(path.risk)


def is_sparse(X: object) -> bool:
    """Return whether this is a scipy matrix or array; scipy is not imported to find out."""
    return type(X).__module__.startswith("scipy.sparse") and hasattr(X, "tocsc")


def sparse_frame(X: Any, used: Collection[int] | None = None) -> Frame:
    """Return the columns of a sparse table; those not in `used` (None: all are) are a view of one zero."""
    if len(X.shape) != 2:
        raise DataError(f"Expected 2D array, got a sparse array of the shape {X.shape} instead; reshape it")
    if X.dtype.kind not in "fiub":
        raise DataError(f"a sparse table must hold real numbers, not {X.dtype}")
    columns = X.tocsc()
    n_rows, n_columns = X.shape
    if not n_rows or not n_columns:
        what = "sample" if not n_rows else "feature"
        raise DataError(f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required.")
    nothing = np.broadcast_to(np.zeros(1), (n_rows,))
    frame = []
    for index in range(n_columns):
        begin, end = columns.indptr[index], columns.indptr[index + 1]
        values = nothing
        if end > begin and (used is None or index in used):
            values = np.zeros(n_rows)
            np.add.at(values, columns.indices[begin:end], columns.data[begin:end])  # duplicates add up
        frame.append(RawColumn(f"x{index}", "numeric", values))
    return Frame(tuple(frame), n_rows, named=False)


def warn_identifiers(frame: Frame, kinds: Collection[str]) -> None:
    """Warn about columns that identify rows, which an estimator keeps."""
    for column in frame.columns:
        why = None if column.name in kinds else identifier_column(column)
        if why is not None:
            warnings.warn(
                f"column {column.name!r} looks like an identifier: {why}; drop it, or give it a kind in kinds=",
                UserWarning,
                stacklevel=3,
            )
