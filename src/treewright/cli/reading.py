"""The options that describe a table, its reading, and a summary of its columns; the saved tree that a command works on.

Text with nearly as many levels as rows, columns without values and rows without a target are dropped, and reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click
import numpy as np

from treewright.cli.help_sections import add_options, section
from treewright.data.arrays import BoolArray, Int64Array
from treewright.data.dropped_columns import row_numbers, useless_columns
from treewright.data.frame import Frame, RawColumn, pop_column
from treewright.data.infer_task import are_few
from treewright.data.kinds import KindChoice, levels_of
from treewright.data.number_text import many, number_text
from treewright.data.reader import read
from treewright.data.schema import KINDS, Schema
from treewright.data.sources import Reading, Source, open_source
from treewright.data.sources.formats import FORMATS, MARKERS, not_there
from treewright.data.value_text import moment
from treewright.errors import DataError, FileError
from treewright.tree.saved import load
from treewright.tree.text import level_text, printable
from treewright.tree.tree import Tree

Command = TypeVar("Command", bound=Callable[..., Any])

tree_argument = click.argument("tree_file", metavar="TREE")


def read_tree(path: str) -> Tree:
    """Load a saved tree."""
    try:
        return load(path)
    except FileNotFoundError:
        raise FileError(str(not_there(path))) from None
    except FileError as error:
        raise FileError(f"{error}. Trees are saved with: treewright learn DATA --target COLUMN --save FILE") from error


def data_options(command: Command) -> Command:
    """Add the options of commands that read a table."""
    markers = " ".join(repr(marker) for marker in MARKERS)
    of_table = section("Table")
    options = (
        of_table(
            "--format",
            "file_format",
            type=click.Choice(FORMATS),
            help="Format of DATA, if its name does not determine it.",
        ),
        of_table("--missing", multiple=True, metavar="TEXT", help=f"Text that marks a missing value. [{markers}]"),
        of_table("--columns", metavar="A,B", help="Read only these columns."),
        of_table("--drop", metavar="A,B", help="Drop these columns."),
        of_table("--delimiter", metavar="SIGN", help="Delimiter of a text file. [by the first line]"),
        of_table("--decimal", type=click.Choice([".", ","]), help="Decimal sign of a text file."),
        of_table("--day-first/--month-first", "day_first", default=None, help="Order of day and month in 12/05/2020."),
        of_table("--no-header", is_flag=True, help="The first line of a text file holds values, not names."),
        of_table("--table", metavar="NAME", help="Table of a database file."),
        of_table("--sql", is_flag=True, help="DATA is a query: one SELECT over files or a database."),
        of_table("--database", metavar="FILE", help="Database file (DuckDB, SQLite) for the query."),
    )
    return add_options(command, options)


def reading_of(settings: dict[str, Any]) -> Reading:
    """Remove the options of the table from `settings` and return them as a `Reading`."""
    return Reading(
        format=settings.pop("file_format"),
        missing=tuple(settings.pop("missing")) or None,
        columns=names_of(settings.pop("columns")),
        drop=names_of(settings.pop("drop")),
        delimiter={"\\t": "\t"}.get(given := settings.pop("delimiter"), given),
        header=not settings.pop("no_header"),
        decimal=settings.pop("decimal"),
        day_first=settings.pop("day_first"),
        sql=settings.pop("sql"),
        table=settings.pop("table"),
        database=settings.pop("database"),
    )


def table_for(tree: Tree, settings: dict[str, Any]) -> Source | None:
    """Remove the options of the table from `settings` and return the table of --data for a tree, if given."""
    reading = reading_of(settings)
    return None if settings["data"] is None else open_source(settings["data"], reading, tree.schema)


def names_of(text: str | None) -> tuple[str, ...]:
    """Split a list of names at its commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else ()


def kinds_of(given: tuple[str, ...]) -> dict[str, KindChoice]:
    """Parse --kind age=numeric, or --kind size=small<medium<large for ordered levels."""
    kinds: dict[str, KindChoice] = {}
    for entry in given:
        name, sign, kind = entry.partition("=")
        if not sign or not name or not kind:
            raise click.UsageError(
                f"--kind {entry}: write NAME=KIND, with a kind of {', '.join(KINDS)}, or low<mid<high"
            )
        if "<" in kind:
            kinds[name] = tuple(part.strip() for part in kind.split("<"))
        elif kind not in KINDS:
            raise click.UsageError(f"--kind {entry}: there is no kind {kind!r}; choose from {', '.join(KINDS)}")
        else:
            kinds[name] = kind
    return kinds


@dataclass(frozen=True, eq=False)
class InputTable:
    """A table and its target; `left_out` maps dropped columns to reasons, `dropped_rows` counts rows without a target.

    `numbering` maps columns that seem to number the rows to their values; `row_numbers` are the numbers of the kept
    rows in the user's table.
    """

    frame: Frame
    target: RawColumn
    source: Source
    left_out: Mapping[str, str]
    numbering: Mapping[str, str]
    dropped_rows: int
    row_numbers: Int64Array

    @property
    def whole(self) -> Frame:
        """The frame with its target."""
        return replace(self.frame, columns=(*self.frame.columns, self.target))


def read_table(
    data: str, target: str | None, reading: Reading, kinds: Mapping[str, KindChoice], keep: str | None
) -> InputTable:
    """Read the table and drop what cannot be used. `keep` is a column that is never dropped (the weight)."""
    source = open_source(data, reading)
    wanted = target or source.target
    if wanted is None:
        raise click.UsageError(
            f"give the column to predict with --target; {source.name} has {', '.join(map(repr, source.columns))}"
        )
    column, frame = pop_column(_with_numbers(read(source), kinds), wanted)
    dropped = int(column.missing.sum())
    numbers = np.flatnonzero(~column.missing)
    if dropped == column.n_rows:
        raise DataError(f"the target {wanted!r} is missing in every row; choose another")
    if dropped:
        frame, column = some_frame_rows(frame, ~column.missing), _some(column, ~column.missing)
    given = kinds if keep is None else {**kinds, keep: "numeric"}
    left_out = useless_columns(frame, given)
    used = tuple(one for one in frame.columns if one.name not in left_out)
    return InputTable(
        replace(frame, columns=used), column, source, left_out, row_numbers(frame, given), dropped, numbers
    )


def some_frame_rows(frame: Frame, chosen: BoolArray) -> Frame:
    """Return the chosen rows."""
    columns = tuple(_some(column, chosen) for column in frame.columns)
    return replace(frame, columns=columns, n_rows=int(np.count_nonzero(chosen)))


def _some(column: RawColumn, chosen: BoolArray) -> RawColumn:
    return replace(column, values=column.values[chosen])


def _with_numbers(frame: Frame, kinds: Mapping[str, KindChoice]) -> Frame:
    """Convert text columns with --kind NAME=numeric to numbers."""
    return replace(frame, columns=tuple(_as_numbers(c) if kinds.get(c.name) == "numeric" else c for c in frame.columns))


def _as_numbers(column: RawColumn) -> RawColumn:
    if column.levels is None or not all(isinstance(level, str) for level in column.levels):
        return column
    numbers = []
    for level in column.levels:
        try:
            numbers.append(float(str(level)))
        except ValueError:
            raise DataError(
                f"column {column.name!r} cannot be numeric: {level!r} is not a number; if it marks missing values, add "
                f"--missing {level!r}"
            ) from None
    return RawColumn(column.name, "numeric", np.array([*numbers, np.nan])[column.values])


def print_columns(found: InputTable, schema: Schema) -> list[dict[str, Any]]:
    """Describe each column: its name, kind, missing values with their markers, and its range or levels."""
    missing = {c.name: int(c.missing.sum()) for c in (*found.frame.columns, found.target)}
    markers = found.source.markers([name for name, count in missing.items() if count])
    lines = []
    for column in found.frame.columns:
        spec = next((spec for spec in schema.columns if spec.name == column.name), None)
        kind = column.kind if spec is None else spec.kind
        lines.append(
            {
                "name": column.name,
                "kind": kind,
                "missing": missing[column.name],
                "markers": dict(markers.get(column.name, {})),
                "holds": _holds(column, kind),
            }
        )
    return lines


def missing_text(line: Mapping[str, Any]) -> str:
    """Return the number of missing values and their markers: 8 ('?')."""
    if not line["missing"]:
        return ""
    texts = ["empty" if marker == "" else f"'{printable(marker)}'" for marker in line["markers"]]
    return f"{line['missing']:,}" + (f" ({', '.join(texts)})" if texts else "")


def _holds(column: RawColumn, kind: str) -> str:
    if kind in {"nominal", "ordinal", "boolean"}:
        levels = levels_of(column)[1]
        shown = ", ".join(level_text(level) for level in levels[:4])
        return f"{many(len(levels), 'level')}: {shown}{', …' if len(levels) > 4 else ''}"
    if column.levels is not None:
        return ""
    values = column.values[~column.missing]
    low, high = float(values.min()), float(values.max())
    if kind != "numeric":
        return f"{moment(column.kind, low)} to {moment(column.kind, high)}"
    return f"{number_text(low)} to {number_text(high)}"


def few_values(found: InputTable, lines: list[dict[str, Any]]) -> list[str]:
    """Return numeric columns of few distinct whole numbers, which could be levels."""
    numeric = {line["name"] for line in lines if line["kind"] == "numeric"}
    whole = [c for c in found.frame.columns if c.name in numeric and c.whole and c.levels is None]
    different = {column.name: len(np.unique(column.values[~column.missing])) for column in whole}
    return [name for name, count in different.items() if count > 2 and are_few(count, found.frame.n_rows)]
