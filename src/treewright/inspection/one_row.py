"""One row, however it comes.

The row is read like any table that is predicted, so the two can never disagree. A column that a dict leaves
out counts as missing and is listed; a name that the tree does not know is an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.data.encoding import MISSING_CODE, ColumnCountError, Encoded
from treewright.data.frame import RawColumn
from treewright.data.number_text import MISSING, exact_number, number_text
from treewright.data.reader import read
from treewright.data.schema import TIME_KINDS
from treewright.data.value_text import moment, name_hint
from treewright.errors import DataError
from treewright.prediction.encode_rows import encoded
from treewright.tree.text import level_text
from treewright.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class OneRow:
    """A row of a tree's table: `rows` for the engine, `texts` for people, one per column of the schema.

    `absent`: the columns that were not given.
    """

    rows: Encoded
    texts: tuple[str, ...]
    absent: tuple[str, ...]

    def value(self, column: int) -> float:
        """Return the encoded value: a exact_number, or a level's code."""
        return float(self.rows.columns[column][0])

    @property
    def values(self) -> list[float | None]:
        """Per column the number or the place of the level; None where it is missing or a level was never seen."""
        found = [self.value(column) for column in range(len(self.texts))]
        return [None if x != x or (kind != 0 and x < 0) else x for x, kind in zip(found, self.rows.kinds, strict=True)]

    def is_missing(self, column: int) -> bool:
        """Return whether there is no value; a level never seen is one."""
        value = self.value(column)
        return value != value or (self.rows.kinds[column] != 0 and value == MISSING_CODE)


def one_row(tree: Tree, row: object) -> OneRow:
    """Return the row, read as prediction would read it."""
    table, absent = _as_table(tree, row)
    frame = read(table, only=tree.schema.names, schema=tree.schema)
    if frame.n_rows != 1:
        raise DataError(
            f"one row is explained at a time, but the table has {frame.n_rows}; choose one, as in table[3:4]"
        )
    rows = encoded(tree, frame)
    places = {column.name: column for column in frame.columns}
    columns = frame.columns if not frame.named else [places[name] for name in tree.schema.names]
    texts = tuple(_text(tree, i, column) for i, column in enumerate(columns))
    return OneRow(rows, texts, absent)


def _text(tree: Tree, place: int, column: RawColumn) -> str:
    """Return the value in words, as the tree's column understands it."""
    spec = tree.schema.columns[place]
    if bool(column.missing[0]):
        return MISSING
    value = column.values[0] if column.levels is None else column.levels[column.values[0]]
    if spec.has_levels:
        return level_text(value)
    return moment(spec.kind, value) if spec.kind in TIME_KINDS else _number_text(tree, place, float(value))


def _number_text(tree: Tree, place: int, value: float) -> str:
    """Few digits, but enough to read on which side of the tree's breaks the value lies."""
    short, exact = number_text(value), exact_number(value)
    if short == exact:
        return exact
    arrays = tree.arrays
    breaks = arrays["breaks"][np.repeat(arrays["column"] == place, np.diff(arrays["break_start"]))]
    below, above = breaks[breaks < value], breaks[breaks >= value]
    honest = (not len(below) or float(number_text(below.max())) < float(short)) and (
        not len(above) or float(number_text(above.min())) > float(short)
    )
    return short if honest else exact


def _as_table(tree: Tree, row: Any) -> tuple[object, tuple[str, ...]]:
    """Return the row as a table that can be read, and the columns it leaves out."""
    names = tree.schema.names
    if not isinstance(row, Mapping) and getattr(row, "ndim", 0) == 1 and hasattr(row, "to_dict"):  # a pandas Series
        labels = list(row.index)
        row = dict(zip(labels, row, strict=True)) if all(isinstance(label, str) for label in labels) else list(row)
    if isinstance(row, Mapping):
        if any(_is_many(value) for value in row.values()):
            return row, ()
        _refuse_unknown(tree, list(row))
        return {name: [row.get(name)] for name in names}, tuple(name for name in names if name not in row)
    is_plain = isinstance(row, np.ndarray) and row.ndim == 1 and row.dtype.names is None
    if is_plain or (isinstance(row, (list, tuple)) and not any(_is_many(value) for value in row)):
        if len(row) != len(names):
            raise ColumnCountError(len(row), len(names))
        return {name: [value] for name, value in zip(names, row, strict=True)}, ()
    return row, ()


def _is_many(value: object) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, bytes))


def _refuse_unknown(tree: Tree, names: list[Any]) -> None:
    """Of a single row each name should be meant; only the target may come along."""
    known = tree.schema.names
    for name in names:
        if name in known or name == tree.schema.target.name:
            continue
        raise DataError(f"the tree has no column {name!r}; {name_hint(name, known)}")
