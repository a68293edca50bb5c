"""The options by which a command is told of its table, and what was found in it.

Comes in: --kind, --missing, --columns and the like. Goes out: a `Frame` ready to be learned from, and a description of
each column.
Always holds: what is guessed is told, and every guess can be set: text that is different in nearly every row and
columns without values are left out, and rows without a target too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click
import numpy as np
from numpy.typing import NDArray

from treewright.cli.sections import section
from treewright.data.frame import Frame, RawColumn, pop_column
from treewright.data.infer_task import are_few
from treewright.data.kinds import KindChoice, levels_of
from treewright.data.left_out import useless_columns
from treewright.data.reader import read
from treewright.data.schema import KINDS, Schema
from treewright.data.sources import Reading, Source, open_source
from treewright.data.sources.formats import FORMATS, MARKERS
from treewright.data.value_text import moment
from treewright.errors import DataError
from treewright.render.node_text import many
from treewright.tree.text import level_text, number_text, printable

Command = TypeVar("Command", bound=Callable[..., Any])


def data_options(command: Command) -> Command:
    """The options of every command that reads a table."""
    markers = " ".join(repr(marker) for marker in MARKERS)
    of_table = section("The table")
    options = (
        of_table("--format", "file_format", type=click.Choice(FORMATS), help="What DATA is, if its name misleads."),
        of_table("--missing", multiple=True, metavar="TEXT", help=f"What stands for a missing value. [{markers}]"),
        of_table("--columns", metavar="A,B", help="Read only these columns."),
        of_table("--drop", metavar="A,B", help="Leave these columns out."),
        of_table("--delimiter", metavar="SIGN", help="What divides the values of a text file. [by the first line]"),
        of_table("--decimal", type=click.Choice([".", ","]), help="The decimal sign of a text file."),
        of_table("--day-first/--month-first", "day_first", default=None, help="How 12/05/2020 is read."),
        of_table("--no-header", is_flag=True, help="The first line of a text file has values, not names."),
        of_table("--table", metavar="NAME", help="Which table of a database file."),
        of_table("--sql", is_flag=True, help="DATA is a query: one SELECT over files or a database."),
        of_table("--database", metavar="FILE", help="The database (DuckDB, SQLite) that the query is for."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def reading_of(settings: dict[str, Any]) -> Reading:
    """The options as a `Reading`; they are taken out of `settings`."""
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


def names_of(text: str | None) -> tuple[str, ...]:
    """A list of names divided by commas."""
    return tuple(part.strip() for part in text.split(",") if part.strip()) if text else ()


def kinds_of(given: tuple[str, ...]) -> dict[str, KindChoice]:
    """--kind age=numeric, or --kind size=small<medium<large for levels in order."""
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
class Found:
    """A table and its target; `left_out` says why columns are not used, `dropped_rows` how many rows had no target.

    `row_numbers` are the numbers of the kept rows in the user's table.
    """

    frame: Frame
    target: RawColumn
    source: Source
    left_out: Mapping[str, str]
    dropped_rows: int
    row_numbers: NDArray[np.int64]

    @property
    def whole(self) -> Frame:
        """The frame with its target, as tables are given to the library."""
        return replace(self.frame, columns=(*self.frame.columns, self.target))


def find(data: str, target: str | None, reading: Reading, kinds: Mapping[str, KindChoice], keep: str | None) -> Found:
    """The table, without what cannot be learned from. `keep` is a column that is never left out (the weight)."""
    source = open_source(data, reading)
    wanted = target or source.target
    if wanted is None:
        raise click.UsageError(
            f"say what to learn with --target; {source.name} has {', '.join(map(repr, source.columns))}"
        )
    answers, frame = pop_column(_wished(read(source), kinds), wanted)
    dropped = int(answers.missing.sum())
    numbers = np.flatnonzero(~answers.missing)
    if dropped == answers.n_rows:
        raise DataError(f"the target {wanted!r} is missing in every row; choose another")
    if dropped:
        frame, answers = some_frame_rows(frame, ~answers.missing), _some(answers, ~answers.missing)
    left_out = useless_columns(frame, kinds if keep is None else {**kinds, keep: "numeric"})
    used = tuple(column for column in frame.columns if column.name not in left_out)
    return Found(replace(frame, columns=used), answers, source, left_out, dropped, numbers)


def some_frame_rows(frame: Frame, chosen: NDArray[np.bool_]) -> Frame:
    """The chosen rows."""
    columns = tuple(_some(column, chosen) for column in frame.columns)
    return replace(frame, columns=columns, n_rows=int(np.count_nonzero(chosen)))


def _some(column: RawColumn, chosen: NDArray[np.bool_]) -> RawColumn:
    return replace(column, values=column.values[chosen])


def _wished(frame: Frame, kinds: Mapping[str, KindChoice]) -> Frame:
    """Text of numbers that is wished to be numeric, as numbers: in a file all is text."""
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
                f"column {column.name!r} cannot be numeric: {level!r} is not a number; if it means missing, say "
                f"--missing {level!r}"
            ) from None
    return RawColumn(column.name, "numeric", np.array([*numbers, np.nan])[column.values])


def print_columns(found: Found, schema: Schema) -> list[dict[str, Any]]:
    """A line for each column: its name, kind, missing values with their markers, and what it holds."""
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
    """8 ('?')"""
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


def few_values(found: Found, lines: list[dict[str, Any]]) -> list[str]:
    """Columns of whole numbers that could as well be names."""
    numeric = {line["name"] for line in lines if line["kind"] == "numeric"}
    whole = [c for c in found.frame.columns if c.name in numeric and c.whole and c.levels is None]
    different = {column.name: len(np.unique(column.values[~column.missing])) for column in whole}
    return [name for name, count in different.items() if count > 2 and are_few(count, found.frame.n_rows)]
