"""The table of a session, read and encoded once; afterwards nothing holds it but the encoded columns."""

from __future__ import annotations

import os
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from treewright.data.arrays import Int64Array
from treewright.data.dropped_columns import useless_columns, without_useless
from treewright.data.encoding import Encoded, describe, encode
from treewright.data.frame import Frame
from treewright.data.reader import read, taken
from treewright.data.rows import counting, take, weights_of
from treewright.data.schema import Schema
from treewright.data.value_text import listed, name_hint
from treewright.editing.training_rows import held_out, without_repeats
from treewright.errors import DataError
from treewright.growing.grow import check_grows_nodes, grow, with_bins
from treewright.growing.weights import check_priors, with_costs
from treewright.interactive.page_words import with_page_words
from treewright.interactive.start import Start
from treewright.pruning.cut import rearranged
from treewright.tree.leaf_values import shrunk
from treewright.tree.tree import Tree
from treewright.tree.validation import BY_HAND


@dataclass(frozen=True)
class TableOrigin:
    """Where the rows come from: `open` gives the table anew; `name` is shown, `path` stands in scripts."""

    open: Callable[[], object]
    name: str = "table"
    path: str | None = None
    held_out: Callable[[], object] | None = None

    @property
    def stem(self) -> str:
        """The beginning of the names of files that are saved: letters, digits and a few signs, whatever the table."""
        stem = "".join(c if c.isalnum() or c in "-_" else "-" for c in Path(self.name).stem)
        return stem.strip("-")[:60] or "tree"


def origin_of(data: object, held_out_rows: object = None, name: str | None = None) -> TableOrigin:
    """Return the source of a table in memory or of a file."""
    path = os.fspath(data) if isinstance(data, (str, os.PathLike)) else None
    shown = name or (Path(path).name if path else "table")
    return TableOrigin(lambda: data, shown, path, None if held_out_rows is None else lambda: held_out_rows)


@dataclass(frozen=True)
class SourceColumn:
    """A column as the table has it: its own kind, its missing values, and why it is left out, if it is."""

    name: str
    kind: str
    missing: int
    left_out: str | None = None


@dataclass(frozen=True, eq=False)
class Table:
    """Training rows with their bins, and held-out rows; `held_number` are the held-out rows' numbers in the table.

    Rows of the table that are held out are among the training rows too, with the weight 0: the columns are there once.
    """

    schema: Schema
    training: Encoded
    held_out: Encoded | None
    n_training: int
    held_number: Int64Array
    columns: tuple[SourceColumn, ...]
    notes: tuple[str, ...] = ()

    def only_training(self) -> Encoded:
        """Return the training rows alone; this copies them."""
        return without_repeats(self.training)

    def all_rows(self) -> Encoded:
        """Return the training rows and those held out of the same table; no column is copied."""
        rows = self.training
        if rows.repeats is None or self.held_out is None:
            return rows
        weight = np.array(weights_of(rows))
        weight[self.held_number] = weights_of(self.held_out)
        return replace(rows, repeats=None, weight=None if (weight == 1.0).all() else weight)

    @property
    def fingerprint(self) -> str:
        """The rows in a few digits, which show whether a journal belongs to them."""
        found = 0
        for array in (*self.training.columns, self.training.target):
            found = zlib.crc32(np.ascontiguousarray(array).view(np.uint8).data, found)
        return f"{self.n_training}-{found:08x}"


def encode_table(source: TableOrigin, start: Start) -> Table:
    """Read the table and encode it as the start says; what does not fit raises `DataError`."""
    frame = read(source.open())
    _check_names(frame, start)
    whole = frame
    truth, frame = taken(frame, start.target, "target")
    weights = None
    if start.weight is not None:
        weights, frame = taken(frame, start.weight, "weight")
    frame = replace(frame, columns=tuple(one for one in frame.columns if one.name not in start.left_out))
    if not frame.columns:
        raise DataError("every column is left out, so nothing can be learned; take one back in")
    reasons = useless_columns(frame, start.kinds)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        frame = without_useless(frame, start.kinds)
    schema = with_costs(describe(frame, truth, start.task, start.kinds), start.costs, None)
    rows = encode(frame, schema, training=True, target=truth, weight=weights)
    columns = _source_columns(whole, frame, start, reasons)
    del whole, frame, truth, weights
    aside = None if start.holdout is None or source.held_out is not None else held_out(rows, start.holdout)
    training, unseen = (rows, None) if aside is None else (counting(rows, ~aside), take(rows, aside))
    if source.held_out is not None:
        unseen = _encoded_again(source.held_out(), schema, start)
    check_priors(training, schema.target)
    return Table(
        schema,
        with_bins(training, 0),
        unseen,
        rows.n_rows if aside is None else int(np.count_nonzero(~aside)),
        np.arange(0 if unseen is None else unseen.n_rows) if aside is None else np.flatnonzero(aside),
        columns,
        _notes(reasons, [str(one.message) for one in caught]),
    )


def _check_names(frame: Frame, start: Start) -> None:
    wanted = {"target": [start.target], "weight": [start.weight] if start.weight else [], "kinds": list(start.kinds)}
    for role, names in wanted.items():
        for name in names:
            if name not in frame.names:
                raise DataError(f"{role}: there is no column {name!r}; {name_hint(name, frame.names)}")
    if start.target == start.weight:
        raise DataError(f"{start.target!r} is the target, so it cannot be the weight; choose another column")
    unknown = [name for name in start.left_out if name not in frame.names]
    if unknown:
        raise DataError(f"there is no column {unknown[0]!r} to leave out; columns are {listed(frame.names)}")


def _source_columns(whole: Frame, used: Frame, start: Start, reasons: Mapping[str, str]) -> tuple[SourceColumn, ...]:
    roles = {start.target: "the target", start.weight: "the weight"}

    def why(name: str) -> str | None:
        if name in roles or name in used.names:
            return roles.get(name)
        return "left out" if name in start.left_out else f"left out: {reasons[name]}"

    return tuple(
        SourceColumn(one.name, one.kind, int(np.count_nonzero(one.missing)), why(one.name)) for one in whole.columns
    )


def _notes(reasons: Mapping[str, str], messages: Sequence[str]) -> tuple[str, ...]:
    """Return what the page has to say: one line for all columns that are left out, and the other warnings."""
    others = [
        with_page_words(one) for one in messages if not any(f"column {name!r} is left out" in one for name in reasons)
    ]
    if not reasons:
        return tuple(others)
    named = ", ".join(f"{name!r} ({why})" for name, why in reasons.items())
    return (f"Left out: {named}. Take in, under Columns, keeps a column.", *others)


def _encoded_again(data: object, schema: Schema, start: Start) -> Encoded:
    truth, frame = taken(read(data, schema=schema), start.target, "target")
    weights = None
    if start.weight is not None:
        weights, frame = taken(frame, start.weight, "weight")
    return encode(frame, schema, training=False, target=truth, weight=weights)


def first_tree(table: Table, start: Start) -> Tree:
    """Return the tree of one node that every session begins with."""
    recipe = start.recipe.with_(pruning=None)
    check_grows_nodes(recipe)
    stub = replace(recipe, stopping=replace(recipe.stopping, max_depth=1, max_leaf_nodes=None), simplify=None)
    grown = grow(table.training, table.schema, replace(stub, rivals=0))
    root = np.zeros(1, dtype=np.int64)
    arrays = rearranged(grown.arrays, 0, root, root)
    return shrunk(Tree.grown(arrays | {"stop": np.array([BY_HAND], dtype=np.int32)}, table.schema, recipe))
