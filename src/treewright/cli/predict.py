"""`treewright predict`: predict the rows of a table of any size.

Rows are read, predicted and written in batches, in order; memory does not grow with the table.
"""

from __future__ import annotations

import sys
from typing import Any

import click
import numpy as np

from treewright.cli.console import echo_json, note, progress
from treewright.cli.help_sections import Command
from treewright.cli.reading import data_options, names_of, read_tree, reading_of, tree_argument
from treewright.cli.writing import FORMATS, Writer, output_format, writer_to
from treewright.data.atomic_write import atomic_file
from treewright.data.encoding import Encoded, UnseenLevels
from treewright.data.frame import Frame, RawColumn
from treewright.data.kinds import levels_of
from treewright.data.schema import TIME_KINDS
from treewright.data.sources import Source, open_source
from treewright.data.value_text import level, listed, moment
from treewright.errors import DataError
from treewright.prediction.predict import batches_of, counted_from, predicted
from treewright.prediction.routing import predict_values, route
from treewright.prediction.unseen_levels import added, unseen_text
from treewright.tree.tree import Tree


@click.command(cls=Command, short_help="Predict the rows of a table of any size.")
@tree_argument
@click.argument("data")
@click.option("-o", "--output", metavar="FILE", help="Output file: .csv, .tsv, .parquet or .jsonl. [standard output]")
@click.option("--to", type=click.Choice(FORMATS), help="Output format, if the file name does not determine it.")
@click.option("-p", "--probabilities", is_flag=True, help="Write the probability of each class too.")
@click.option("--leaf", is_flag=True, help="Write the id of the leaf too.")
@click.option("--keep", metavar="A,B", help="Columns of DATA to write before the predictions; 'all' keeps all.")
@data_options
@click.option("--threads", type=click.IntRange(0), default=0, help="Number of threads. [all processors]")
@click.option("--json", "as_json", is_flag=True, help="Write JSON lines to standard output, or with -o a summary.")
def predict(tree_file: str, data: str, **settings: Any) -> None:
    """Predict each row of DATA with the tree in TREE.

    Kinds are not inferred: a text file is read with the kinds stored in the tree.
    """
    tree = read_tree(tree_file)
    if settings["probabilities"] and tree.schema.target.classes is None:
        raise click.UsageError(f"the target {tree.schema.target.name!r} is numeric; there are no probabilities")
    source = open_source(data, reading_of(settings), tree.schema)
    absent = [name for name in tree.schema.names if name not in source.columns]
    if absent:
        raise DataError(
            f"{source.name} lacks {listed(absent)}, which the tree was learned from; it has {listed(source.columns)}"
        )
    keep = _kept(source, settings["keep"])
    output = settings["output"] or "-"
    form = settings["to"] or ("jsonl" if output == "-" and settings["as_json"] else output_format(output))
    if output == "-":
        with writer_to(sys.stdout.buffer, form) as writer:
            _, unseen = _predict_all(tree, source, keep, writer, settings)
        _report_unseen(tree, unseen)
        return
    with atomic_file(output) as draft, draft.open("wb") as file, writer_to(file, form) as writer:
        n_rows, unseen = _predict_all(tree, source, keep, writer, settings)
    _report_unseen(tree, unseen)
    if settings["as_json"]:
        echo_json({"rows": n_rows, "output": output, "format": form})
    else:
        note(f"{n_rows:,} rows predicted: {output}")


def _kept(source: Source, wanted: str | None) -> tuple[str, ...]:
    if wanted == "all":
        return source.columns
    names = names_of(wanted)
    for name in names:
        if name not in source.columns:
            raise DataError(f"there is no column {name!r} to keep; {source.name} has {listed(source.columns)}")
    return names


def _report_unseen(tree: Tree, unseen: tuple[UnseenLevels, ...]) -> None:
    """Print one line on standard error; standard output holds the predictions."""
    if unseen:
        click.echo(f"Warning: {unseen_text(unseen, tree.recipe)}", err=True)


def _predict_all(
    tree: Tree, source: Source, keep: tuple[str, ...], writer: Writer, settings: dict[str, Any]
) -> tuple[int, tuple[UnseenLevels, ...]]:
    """Predict and write all rows; return their number and the unseen levels."""
    done = 0
    unseen: tuple[UnseenLevels, ...] = ()
    with progress("rows predicted", source.n_rows) as advance:
        for start, batch, rows in batches_of(tree, source, keep=keep):
            with counted_from(start):
                columns = _predictions(tree, rows, settings)
            writer.write({name: _kept_values(batch, name, writer.text) for name in keep} | columns)
            unseen = added(unseen, rows.unseen)
            done = start + rows.n_rows
            advance(done)
    return done, unseen


def _predictions(tree: Tree, rows: Encoded, settings: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the columns of predictions, named as in the SQL export."""
    threads = settings["threads"]
    columns: dict[str, list[Any]] = {"prediction": predicted(tree, rows, threads).tolist()}
    if settings["probabilities"]:
        shares = predict_values(tree, rows, threads)
        for place, name in enumerate(tree.schema.target.classes or ()):
            columns[f"probability_{level(name)}"] = shares[:, place].tolist()
    if settings["leaf"]:
        columns["leaf"] = route(tree, rows, threads).tolist()
    return columns


def _kept_values(batch: Any, name: str, text: bool) -> list[Any]:
    """Return a column to be written; in text, 29 stays 29 although the tree reads it as a float."""
    values = _values(batch, name)
    if text and float in set(map(type, values)):
        return [int(x) if type(x) is float and x.is_integer() and abs(x) < 1e15 else x for x in values]
    return values


def _values(batch: Any, name: str) -> list[Any]:
    """Return a column as a list of Python values."""
    if isinstance(batch, Frame):
        return _frame_values(next(column for column in batch.columns if column.name == name))
    found = batch[name]
    values: list[Any] = found if isinstance(found, list) else found.to_pylist()
    return values


def _frame_values(column: RawColumn) -> list[Any]:
    if column.levels is not None:
        codes, levels = levels_of(column)
        return [levels[code] if code >= 0 else None for code in codes.tolist()]
    if column.kind in TIME_KINDS:
        return [None if x != x else moment(column.kind, x) for x in column.values.tolist()]
    return [None if x != x else int(x) if column.whole else x for x in column.values.astype(np.float64).tolist()]
