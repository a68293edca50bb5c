"""`treewright predict`: answers for the rows of a table, however large.

Comes in: a saved tree and DATA. Goes out: a table of answers, to a file or to standard output.
Always holds: rows are read, answered and written some at a time, so memory does not grow with the table; answers come
in the order of the rows. A file is there whole or not at all.
"""

from __future__ import annotations

import sys
from typing import Any

import click
import numpy as np

from treewright.cli.console import note, progress, say_json
from treewright.cli.reading import data_options, names_of, reading_of
from treewright.cli.sections import Command
from treewright.cli.trees import read_tree, tree_argument
from treewright.cli.writing import FORMATS, Writer, output_format, writer_to
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
from treewright.tree.atomic_write import whole_file
from treewright.tree.tree import Tree


@click.command(cls=Command, short_help="Answer the rows of a table, however large.")
@tree_argument
@click.argument("data")
@click.option("-o", "--output", metavar="FILE", help="Where to: .csv, .tsv, .parquet or .jsonl. [standard output]")
@click.option("--to", type=click.Choice(FORMATS), help="The form of the answers, if the name does not tell.")
@click.option("-p", "--probabilities", is_flag=True, help="Also the probability of each class.")
@click.option("--leaf", is_flag=True, help="Also the node that answers.")
@click.option("--keep", metavar="A,B", help="Columns of DATA to write before the answers; 'all' keeps all.")
@data_options
@click.option("--threads", type=click.IntRange(0), default=0, help="How many threads. [all processors]")
@click.option("--json", "as_json", is_flag=True, help="JSON lines to standard output, or with -o a summary.")
def predict(tree_file: str, data: str, **settings: Any) -> None:
    """Answer each row of DATA by the tree in TREE.

    Types are not guessed: a text file is read as the kinds the tree was learned from.
    """
    tree = read_tree(tree_file)
    if settings["probabilities"] and tree.schema.target.classes is None:
        raise click.UsageError(f"the tree answers {tree.schema.target.name!r}, a number; there are no probabilities")
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
            _, unseen = _answer_all(tree, source, keep, writer, settings)
        _report_unseen(tree, unseen)
        return
    with whole_file(output) as draft, draft.open("wb") as file, writer_to(file, form) as writer:
        n_rows, unseen = _answer_all(tree, source, keep, writer, settings)
    _report_unseen(tree, unseen)
    if settings["as_json"]:
        say_json({"rows": n_rows, "output": output, "format": form})
    else:
        note(f"{n_rows:,} rows answered: {output}")


def _kept(source: Source, wanted: str | None) -> tuple[str, ...]:
    if wanted == "all":
        return source.columns
    names = names_of(wanted)
    for name in names:
        if name not in source.columns:
            raise DataError(f"there is no column {name!r} to keep; {source.name} has {listed(source.columns)}")
    return names


def _report_unseen(tree: Tree, unseen: tuple[UnseenLevels, ...]) -> None:
    """One line beside the answers, which have standard output to themselves."""
    if unseen:
        click.echo(f"Warning: {unseen_text(unseen, tree.recipe)}", err=True)


def _answer_all(
    tree: Tree, source: Source, keep: tuple[str, ...], writer: Writer, settings: dict[str, Any]
) -> tuple[int, tuple[UnseenLevels, ...]]:
    """The number of rows, and the levels that the tree does not know."""
    done = 0
    unseen: tuple[UnseenLevels, ...] = ()
    with progress("rows answered", source.n_rows) as tell:
        for start, batch, rows in batches_of(tree, source, keep=keep):
            with counted_from(start):
                answered = _answers(tree, rows, settings)
            writer.write({name: _kept_values(batch, name, writer.text) for name in keep} | answered)
            unseen = added(unseen, rows.unseen)
            done = start + rows.n_rows
            tell(done)
    return done, unseen


def _answers(tree: Tree, rows: Encoded, settings: dict[str, Any]) -> dict[str, list[Any]]:
    """One list per column of answers, named as the SQL export names them."""
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
    """A column to be written; as text, 29 is not to become 29.0 because the tree reads it as a number."""
    values = _values(batch, name)
    if text and float in set(map(type, values)):
        return [int(x) if type(x) is float and x.is_integer() and abs(x) < 1e15 else x for x in values]
    return values


def _values(batch: Any, name: str) -> list[Any]:
    """A column as plain values."""
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
