"""CSV and TSV files: DuckDB reads every value strictly as text, and `text_kinds` converts it.

There are as many rows as records, in their order, or an error names the line. Empty lines are skipped, but are an error
in a file of one column. Values are stripped before missing markers are compared. What could be read in two ways is an
error that names the option.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from treewright.data.number_text import many
from treewright.data.schema import NO_TEXT_FORM, Level, Schema, TextForm
from treewright.data.sources.duckdb import all_rows, connect, explained, results
from treewright.data.sources.formats import MARKERS, Reading
from treewright.data.sources.lines import (
    delimiter_of,
    line_of_end,
    line_of_nothing,
    line_of_value,
    line_of_width,
    names_of,
    not_utf8,
)
from treewright.data.sources.source import Source, Table
from treewright.data.sources.sql_quoting import quoted_name, quoted_paths, quoted_text
from treewright.data.sources.text_kinds import AMBIGUOUS, GUESSED, could_be, is_kind, value
from treewright.errors import DataError

_KINDS = {
    "numeric": "number", "boolean": "truth", "date": "datetime", "datetime": "datetime", "time": "time",
    "duration": "duration",
}  # fmt: skip
_NAMED = {
    "number": "a number", "truth": "true or false", "whole": "a whole number", "datetime": "a date", "time": "a time",
    "duration": "a duration",
}  # fmt: skip
#: No text of a file is this, so no text is missing but by our own rules.
_NO_MARKER = "\\N treewright"
#: Rows that a kind must hold for before all rows are looked at.
_SAMPLE = 1000
#: DuckDB's time for a query grows as the square of what it counts.
_TESTS_AT_ONCE = 256
_WRONG = "treewright:"


@dataclass(frozen=True, eq=False)
class TextTable:
    """Text files that are one table, and what is known of their columns."""

    connection: Any
    paths: list[str]
    name: str
    columns: tuple[str, ...]
    delimiter: str
    header: bool
    markers: tuple[str, ...]
    form: TextForm
    given: Mapping[str, str]  # the kinds that a schema gives
    guessed: dict[str, str] = field(default_factory=dict)  # the kinds that were found in all rows

    def scan(self) -> str:
        """Return all values as text; the columns are called c0, c1 and so on."""
        texts = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(self.columns)))
        return (
            f"read_csv([{quoted_paths(self.paths)}], auto_detect=false, header={str(self.header).lower()}, "
            f"delim={quoted_text(self.delimiter)}, quote='\"', escape='\"', nullstr=[{quoted_text(_NO_MARKER)}], "
            f"strict_mode=true, null_padding=false, ignore_errors=false, columns={{{texts}}})"
        )

    def rows(self, columns: Collection[str], limit: int | None = None) -> str:
        """Return the texts of these columns without blanks around them, missing where a marker stands.

        In steps, so that a column is worked out once however often a query names it.
        """
        texts = [self.text(name) for name in columns]
        trimmed = ", ".join(f"trim({text}) AS {text}" for text in texts)
        # DuckDB makes a join of a list with IN, after which rows are in another order
        marked = [" OR ".join([f"{text} = {quoted_text(m)}" for m in self.markers] or ["false"]) for text in texts]
        pairs = zip(texts, marked, strict=True)
        cleaned = ", ".join(f"CASE WHEN {test} THEN NULL ELSE {text} END AS {text}" for text, test in pairs)
        first = "" if limit is None else f" LIMIT {limit}"
        return f"(SELECT {cleaned} FROM (SELECT {trimmed} FROM {self.scan()}{first}))"

    def text(self, name: str) -> str:
        """Return what a column is called in a query."""
        return f"c{self.columns.index(name)}"

    def select(self, columns: tuple[str, ...]) -> str:
        """Return the query that gives the values of these columns."""
        if len(self.columns) == 1:
            self._refuse_empty_lines()
        kinds = self.kinds(columns)
        chosen = ", ".join(f"{self._value(name, kinds[name])} AS {quoted_name(name)}" for name in columns)
        return f"SELECT {chosen} FROM {self.rows(columns)}"

    def _refuse_empty_lines(self) -> None:
        """Raise for an empty line in a file of one column: it could be a missing value, and DuckDB skips it."""
        for path in self.paths:
            line = line_of_nothing(path, self.delimiter)
            if line is not None:
                raise DataError(
                    f"{path}, line {line}: it is empty, and in a file with one column it could be a missing value; "
                    "write NA there if it is one, or remove the line"
                )

    def _value(self, name: str, kind: str) -> str:
        text = self.text(name)
        if name not in self.given or kind == "text":
            return value(kind, text, self.form)
        wrong = f"error({quoted_text(f'{_WRONG}{self.columns.index(name)}:{kind}:')} || {text})"
        return (
            f"CASE WHEN {text} IS NULL THEN NULL WHEN {is_kind(kind, text, self.form)} "
            f"THEN {value(kind, text, self.form)} ELSE {wrong} END"
        )

    def kinds(self, columns: tuple[str, ...]) -> dict[str, str]:
        """Return the kind of each column: as the schema has it, or what holds for all its rows."""
        unknown = [name for name in columns if name not in self.given and name not in self.guessed]
        if unknown:
            self.guessed.update(_guessed(self, unknown))
        return {name: self.given.get(name) or self.guessed[name] for name in columns}


def open_text(paths: list[str], name: str, reading: Reading, schema: Schema | None) -> Source:
    """Return text files with the same columns; `name` is what messages call them."""
    table = text_table(connect(None, reading), paths, name, reading, schema)
    columns = reading.kept(table.columns, name)
    return Source(
        name,
        str(reading.format),
        columns,
        partial(_read, table),
        markers=partial(_marker_counts, table),
        text_form=table.form,
    )


def text_table(connection: Any, paths: list[str], name: str, reading: Reading, schema: Schema | None) -> TextTable:
    """Return text files, of which only the first line is read here."""
    delimiter = delimiter_of(paths[0], reading)
    columns = names_of(paths[0], reading, delimiter)
    markers = MARKERS if reading.missing is None else reading.missing
    form = _form(reading, NO_TEXT_FORM if schema is None else schema.text_form)
    given = {} if schema is None else {name: kind for name, kind in _kinds(schema).items() if name in columns}
    return TextTable(connection, paths, name, columns, delimiter, reading.header, markers, form, given)


def _form(reading: Reading, learned: TextForm) -> TextForm:
    """Return how numbers and dates are written: as given, otherwise as in the file of the training rows."""
    decimal = learned.decimal if reading.decimal is None else reading.decimal
    return TextForm(decimal, learned.day_first if reading.day_first is None else reading.day_first)


def _read(table: TextTable, columns: tuple[str, ...], size: int | None) -> Iterator[Table]:
    yield from results(table.connection, table.select(columns), columns, size, partial(_explained, table))


def _kinds(schema: Schema) -> dict[str, str]:
    """Return how text is to be read so that it means what the tree was learned from."""
    kinds = {column.name: _KINDS.get(column.kind) or _level_kind(column.levels) for column in schema.columns}
    target = schema.target
    return {**kinds, target.name: "number" if target.classes is None else _level_kind(target.classes)}


def _level_kind(levels: tuple[Level, ...] | None) -> str:
    types = {type(level) for level in levels or ()}
    if types == {bool}:
        return "truth"
    if types == {int} and any(abs(int(level)) > 2**53 for level in levels or ()):
        return "large"
    return "number" if types and types <= {int, float, bool} else "text"


# --- what the columns are ---------------------------------------------------------------------------------------------


def _guessed(table: TextTable, columns: list[str]) -> dict[str, str]:
    """Return the kind of each column: the first that holds for all its values, and text where none does.

    A few rows show which kinds are possible. Then each is tried on all rows, most columns needing only one.
    """
    found = dict.fromkeys(columns, "text")
    possible = _holding(table, dict.fromkeys(columns, (*GUESSED, *AMBIGUOUS)), _SAMPLE)
    while possible := {name: kinds for name, kinds in possible.items() if kinds}:
        holds = _holding(table, {name: kinds[:1] for name, kinds in possible.items()}, None)
        for name, kinds in possible.items():
            if holds[name] and kinds[0] in AMBIGUOUS:
                _refuse_ambiguous(table, name, kinds[0])
            elif holds[name]:
                found[name] = kinds[0]
        possible = {name: () if holds[name] else kinds[1:] for name, kinds in possible.items()}
    return found


def _holding(table: TextTable, kinds: Mapping[str, tuple[str, ...]], limit: int | None) -> dict[str, tuple[str, ...]]:
    """Return the kinds that hold for every value of a column; none for a column without values."""
    pairs = [(name, kind) for name, found in kinds.items() for kind in found]
    failing = [(name, f"NOT {could_be(kind, table.text(name), table.form)}") for name, kind in pairs]
    counts = _counts(table, [*failing, *((name, "true") for name in kinds)], limit)
    filled = dict(zip(kinds, counts[len(pairs) :], strict=True))
    found: dict[str, list[str]] = {name: [] for name in kinds}
    for (name, kind), count in zip(pairs, counts, strict=False):
        if count == 0 and (filled[name] or limit is not None):
            found[name].append(kind)
    return {name: tuple(held) for name, held in found.items()}


def _counts(table: TextTable, tests: list[tuple[str, str]], limit: int | None) -> list[int]:
    """Return how many values of a column are such."""
    there = [(name, f"{table.text(name)} IS NOT NULL AND {test}") for name, test in tests]
    return _matching(table, there, lambda names: table.rows(names, limit))


def _matching(table: TextTable, tests: Sequence[tuple[str, str]], rows: Callable[[Collection[str]], str]) -> list[int]:
    """Return how many rows pass each test of a column; `rows` gives the rows of some columns."""
    found: list[int] = []
    for first in range(0, len(tests), _TESTS_AT_ONCE):
        some = tests[first : first + _TESTS_AT_ONCE]
        counts = ", ".join(f"count(*) FILTER (WHERE {test})" for _, test in some)
        row = _all(table, f"SELECT {counts} FROM {rows(dict.fromkeys(name for name, _ in some))}")[0]
        found.extend(int(count) for count in row)
    return found


def _refuse_ambiguous(table: TextTable, name: str, kind: str) -> None:
    """Dates and numbers that can be read in two ways are not guessed; with a schema the column is only passed on."""
    if table.given:
        return
    where = f"{table.name}: column {name!r} has"
    if kind == "day and month":
        odd = f"NOT {is_kind('datetime', table.text(name), table.form)}"
        text = _example(table, name, odd)
        raise DataError(f"{where} {text!r}, {_why_no_date(table.form, text)}")
    if table.form.decimal == ",":
        raise DataError(
            f"{where} {_example(table, name, f'contains({table.text(name)}, chr(46))')!r}, which has a decimal point "
            "though the decimal sign is a comma; write all numbers alike, or leave the column out"
        )
    if table.form.decimal is None:
        raise DataError(
            f"{where} {_example(table, name, f'contains({table.text(name)}, chr(44))')!r}, which looks like a number "
            "with a decimal comma; use tw.csv(..., decimal=',') or --decimal ',' if it is one, decimal='.' or "
            "--decimal '.' if it is text"
        )


def _example(table: TextTable, name: str, test: str) -> str:
    text = table.text(name)
    return str(
        _all(table, f"SELECT {text} FROM {table.rows([name])} WHERE {text} IS NOT NULL AND {test} LIMIT 1")[0][0]
    )


def _marker_counts(table: TextTable, columns: Collection[str]) -> Mapping[str, Mapping[str, int]]:
    """Return how often each marker stands in each of these columns."""
    pairs = [(column, marker) for column in columns for marker in table.markers]
    tests = [(column, f"trim({table.text(column)}) = {quoted_text(marker)}") for column, marker in pairs]
    found: dict[str, dict[str, int]] = {}
    for (column, marker), count in zip(pairs, _matching(table, tests, lambda _: table.scan()), strict=True):
        if count:
            found.setdefault(column, {})[marker] = count
    return found


def _all(table: TextTable, query: str) -> list[Any]:
    return all_rows(table.connection, query, partial(_explained, table))


# --- what was wrong ---------------------------------------------------------------------------------------------------

_DAY_REMEDY = "use tw.csv(..., day_first=True) or --day-first"
_MONTH_REMEDY = "use tw.csv(..., day_first=False) or --month-first"


def _explained(table: TextTable, error: Exception) -> DataError:
    """Return the line that is wrong, and what about it."""
    message = str(error)
    wrong = re.search(rf"{_WRONG}(\d+):(\w+):(.*)", message, re.DOTALL)
    if wrong:
        return _wrong_value(table, int(wrong[1]), wrong[2], wrong[3])
    for path in table.paths:
        if "Expected Number of Columns" in message:
            found = line_of_width(path, table.delimiter, len(table.columns))
            if found is not None:
                widths = f"{many(found[1], 'value')} for {many(len(table.columns), 'column')}"
                return DataError(
                    f"{path}, line {found[0]}: {widths}; correct the line, or put quotes around values that hold the "
                    "delimiter"
                )
        if "invalid state" in message:
            end = line_of_end(path)
            if end is not None:
                return DataError(
                    f"{path}, line {end}: it ends in another way than the lines before it (LF, CR LF); make them alike"
                )
        if "not utf-8" in message:
            return not_utf8(path)
    if "unterminated quote" in message:
        line = re.search(r"CSV Error on Line: (\d+)", message)
        where = f"{table.name}, line {line[1]}" if line else table.name
        return DataError(f"{where}: a quote is not closed, or closed in the middle of a value; write a quote as two")
    return explained(error, table.name)


def _wrong_value(table: TextTable, place: int, kind: str, text: str) -> DataError:
    name = table.columns[place]
    lines = ((path, line_of_value(path, table.delimiter, place, text, table.header)) for path in table.paths)
    path, line = next(((path, line) for path, line in lines if line is not None), (table.name, None))
    where = path if line is None else f"{path}, line {line}"
    if kind == "datetime" and re.fullmatch(r"\d+[-/.]\d+[-/.]\d{4}.*", text):
        return DataError(f"{where}: column {name!r} has {text!r}, {_why_no_date(table.form, text)}")
    remedy = _decimal_remedy(table.form.decimal, text) if kind == "number" else ""
    return DataError(
        f"{where}: column {name!r} has {text!r}, which is not {_NAMED.get(kind, kind)}; {remedy}correct it, or declare "
        f"it a missing value (--missing {text!r})"
    )


def _why_no_date(form: TextForm, text: str) -> str:
    """Return why a date that ends with the year cannot be read, and the option that reads it."""
    first, second, _ = (int(part) for part in re.findall(r"\d+", text)[:3])
    if form.day_first is not None:
        order, remedy = ("day", _MONTH_REMEDY) if form.day_first else ("month", _DAY_REMEDY)
        return f"which is no date with the {order} first; {remedy}"
    if first > 12 or second > 12:  # only this value shows it: others may be written in the other order
        order, remedy = ("day", _DAY_REMEDY) if first > 12 else ("month", _MONTH_REMEDY)
        return f"which looks like a date with the {order} first; {remedy} if all are"
    return (
        f"and whether the day or the month comes first is not known; {_DAY_REMEDY}, or "
        f"{_MONTH_REMEDY.removeprefix('use ')}"
    )


def _decimal_remedy(decimal: str | None, text: str) -> str:
    """Return the option that would make the text a number."""
    sign = "." if decimal == "," else ","
    if not re.fullmatch(rf"[+-]?\d+{re.escape(sign)}\d+", text):
        return ""
    return f"use tw.csv(..., decimal={sign!r}) or --decimal {sign!r}, "
