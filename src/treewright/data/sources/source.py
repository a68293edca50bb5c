"""A table that can be read whole or in batches.

Every batch has the same columns in the same order; rows keep the order of the file. Opening a source reads no more than
its beginning.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from treewright.data.schema import NO_TEXT_FORM, TextForm

#: Rows in a batch: enough to be fast, few enough that a batch of a wide table stays small.
BATCH = 65_536

#: A table as `table.read` takes it.
Table = Any


@dataclass(frozen=True, eq=False)
class Source:
    """`read(columns, size)` gives batches of the chosen columns; size None is one batch with everything.

    `target` is the column that the file itself declares to be the target. `markers` counts, for columns with missing
    values, which texts stood for them. `n_rows` is None where only reading shows it; `n_bytes` is about how much
    memory all rows would take, None where unknown. `text_form` is how the text file
    writes numbers and dates, as far as the user or the tree specifies it.
    """

    name: str
    format: str
    columns: tuple[str, ...]
    read: Callable[[tuple[str, ...], int | None], Iterator[Table]]
    n_rows: int | None = None
    target: str | None = None
    markers: Callable[[Collection[str]], Mapping[str, Mapping[str, int]]] = field(default=lambda _: {})
    n_bytes: int | None = None
    text_form: TextForm = NO_TEXT_FORM

    def whole(self, only: Collection[str] | None = None) -> Table:
        """Return all rows at once."""
        return next(self.read(self._chosen(only), None))

    def batches(self, only: Collection[str] | None = None, size: int = BATCH) -> Iterator[Table]:
        """Return the rows, some at a time."""
        return self.read(self._chosen(only), size)

    def _chosen(self, only: Collection[str] | None) -> tuple[str, ...]:
        """Return the wanted columns of the table; all where none of them exists, so that the message can list them."""
        chosen = self.columns if only is None else tuple(name for name in self.columns if name in only)
        return chosen or self.columns


def has_pyarrow() -> bool:
    """Return whether Arrow tables can be made; without, rows come as plain lists, which is slower."""
    return importlib.util.find_spec("pyarrow") is not None


def columns_of_rows(names: tuple[str, ...], rows: list[Any]) -> dict[str, list[Any]]:
    """Return rows as tuples, turned into columns."""
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {name: [] for name in names}
