"""Writers of predictions: CSV, TSV, JSON lines and Parquet, in batches."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import click

from treewright.errors import DataError

FORMATS = ("csv", "tsv", "jsonl", "parquet")

_ENDINGS = {".csv": "csv", ".txt": "csv", ".tsv": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}

Columns = Mapping[str, list[Any]]


class Writer(Protocol):
    """Takes rows, column by column; always the same columns. `text`: values become text, without a type."""

    text: bool

    def write(self, columns: Columns) -> None: ...


def output_format(path: str) -> str:
    """Return the format that a file name stands for."""
    if path == "-":
        return "csv"
    ending = Path(path).suffix.lower()
    if ending not in _ENDINGS:
        raise click.UsageError(f"{path}: unknown output format; name it .csv, .tsv, .jsonl or .parquet, or add --to")
    return _ENDINGS[ending]


@contextmanager
def _refusing_half_characters(form: str) -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError as error:
        shown = str(error.object)[max(0, error.start - 20) : error.end + 20]
        raise DataError(
            f"{shown!r} has half of a surrogate pair, which is no character that {form} can hold; write --to jsonl, or "
            "rename it and learn anew"
        ) from None


@contextmanager
def writer_to(file: BinaryIO, form: str) -> Iterator[Writer]:
    """Open a writer of a format; its output is complete when the context ends."""
    with _refusing_half_characters(form), _writer_to(file, form) as writer:
        yield writer


@contextmanager
def _writer_to(file: BinaryIO, form: str) -> Iterator[Writer]:
    if form == "parquet":
        parquet = _Parquet(file)
        yield parquet
        parquet.close()
        return
    # Half of a surrogate pair is an escape in JSON; other forms cannot hold it.
    errors = "backslashreplace" if form == "jsonl" else "strict"
    text = io.TextIOWrapper(file, encoding="utf-8", errors=errors, newline="", write_through=False)
    try:
        yield _Lines(text) if form == "jsonl" else _Separated(text, "\t" if form == "tsv" else ",")
        text.flush()
    finally:
        text.detach()


class _Separated:
    text = True

    def __init__(self, file: io.TextIOWrapper, delimiter: str) -> None:
        self.writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        self.begun = False

    def write(self, columns: Columns) -> None:
        if not self.begun:
            self.writer.writerow(columns)
            self.begun = True
        self.writer.writerows(zip(*map(_as_texts, columns.values()), strict=True))


class _Lines:
    text = True

    def __init__(self, file: io.TextIOWrapper) -> None:
        self.file = file

    def write(self, columns: Columns) -> None:
        names = list(columns)
        for row in zip(*columns.values(), strict=True):
            self.file.write(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, default=str) + "\n")


class _Parquet:
    text = False

    def __init__(self, file: BinaryIO) -> None:
        try:
            import pyarrow.parquet
        except ImportError:
            raise click.UsageError("writing Parquet needs pyarrow: pip install pyarrow; CSV does not") from None
        self.pyarrow, self.file = pyarrow, file
        self.writer: Any = None

    def write(self, columns: Columns) -> None:
        schema = None if self.writer is None else self.writer.schema
        table = self.pyarrow.table(dict(columns), schema=schema)
        if self.writer is None:
            self.writer = self.pyarrow.parquet.ParquetWriter(self.file, table.schema)
        self.writer.write_table(table)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()


def _as_texts(values: list[Any]) -> list[Any]:
    """Return values as CSV holds them: true and false in lower case, dates and times as in ISO 8601."""
    kinds = set(map(type, values))
    if not kinds & {bool, date, datetime, time}:
        return values
    return [
        str(value).lower() if isinstance(value, bool) else value.isoformat() if hasattr(value, "isoformat") else value
        for value in values
    ]
