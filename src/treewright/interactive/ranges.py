"""The rows of every node as ranges: rows are sorted once by the node they end in.

Nodes are numbered depth first, so the rows of a subtree are one range. A row that is spread over several leaves has an
entry in each, with its fraction; at a node above them it counts once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from treewright.data.arrays import Array, FloatArray, Int32Array, Int64Array
from treewright.data.encoding import Encoded
from treewright.inspection.derivation.node_rows import Entries, entries_of
from treewright.prediction.routing import missing_while_growing, path_ends, route
from treewright.tree.shape import ends
from treewright.tree.tree import Tree

#: Columns of a node that are kept gathered.
_KEPT = 2


@dataclass(frozen=True, eq=False)
class Ranges:
    """`row` in the order of the nodes where rows end; those of node i are `row[start[i]:start[end[i]]]`."""

    row: Int32Array
    fraction: FloatArray | None
    start: Int64Array
    end: Array

    def at(self, node: int) -> tuple[Int32Array, FloatArray | None]:
        """Return the rows of a node, and how much of each comes there (None: all of it)."""
        found = slice(self.start[node], self.start[self.end[node]])
        if self.fraction is None:
            return self.row[found], None
        row, fraction = self.row[found], self.fraction[found]
        split = fraction < 1.0
        several, place = np.unique(row[split], return_inverse=True)  # a row in several leaves is here once
        together = np.bincount(place, fraction[split], len(several))
        return np.append(row[~split], several), np.append(fraction[~split], together)


def ranges_of(tree: Tree, rows: Encoded, *, growing: bool) -> Ranges:
    """Return the rows of every node; `growing`: missing values go where they went while the tree grew."""
    if growing:
        tree = replace(tree, arrays={**tree.arrays, "missing": missing_while_growing(tree)}, soft=None)
    row: Array | None = None
    fraction: FloatArray | None = None
    node: Array
    if rows.complete:
        node = route(tree, rows, 0)
    else:
        row, node, fraction = path_ends(tree, rows, 0)
    if rows.repeats is not None:  # rows that are held out end nowhere
        there = (rows.repeats if row is None else rows.repeats[row]) > 0
        row = np.flatnonzero(there) if row is None else row[there]
        node, fraction = node[there], None if fraction is None else fraction[there]
    order = np.argsort(node.astype(np.uint16) if tree.n_nodes < 1 << 16 else node, kind="stable")
    start = np.searchsorted(node[order], np.arange(tree.n_nodes + 1))
    if fraction is not None:
        fraction = None if (fraction == 1.0).all() else fraction[order]
    return Ranges((order if row is None else row[order]).astype(np.int32), fraction, start, ends(tree))


class GatheredColumns(Sequence[Array]):
    """The columns of some rows, each gathered when it is first looked at; only the last few are kept."""

    def __init__(self, columns: Sequence[Array], rows: Int32Array) -> None:
        self._n = len(columns)
        self._column = lru_cache(_KEPT)(lambda i: np.ascontiguousarray(columns[i][rows]))

    def __getitem__(self, i: Any) -> Any:
        return self._column(range(self._n)[i])

    def __len__(self) -> int:
        return self._n


def root_entries(tree: Tree, rows: Encoded) -> Entries:
    """Return all rows with the weights that growing gives them."""
    return entries_of(tree, rows)


def entries_at(ranges: Ranges, node: int, whole: Entries) -> Entries:
    """Return the rows of a node, ready to be counted; nothing is copied before it is needed."""
    return entries_of_rows(*ranges.at(node), whole)


def entries_of_rows(row: Int32Array, fraction: FloatArray | None, whole: Entries) -> Entries:
    """Return some rows, each by its fraction."""
    rows = whole.encoded
    if fraction is None and len(row) == rows.n_rows:
        return whole
    weight = whole.weight[row] if fraction is None else whole.weight[row] * fraction
    assert rows.target is not None
    columns: Any = GatheredColumns(rows.columns, row)
    here = Encoded(columns, rows.kinds, rows.levels, len(row), rows.target[row], rows.n_classes, complete=rows.complete)
    return Entries(here, whole.schema, weight, weight)


def weighed(ranges: Ranges, node: int, whole: Entries) -> Entries:
    """Return the rows of a node as the whole table, in which other rows weigh nothing; no column is copied.

    Rules that look at all rows (quantile groups, observed thresholds) then find them.
    """
    row, fraction = ranges.at(node)
    if fraction is None and len(row) == whole.encoded.n_rows:
        return whole
    weight = np.zeros_like(whole.weight)
    weight[row] = whole.weight[row] if fraction is None else whole.weight[row] * fraction
    return replace(whole, weight=weight)
