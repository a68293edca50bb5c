"""Open a file, a query or standard input as a `Source`, which gives its rows whole or in batches.

A file is recognised by its name or its first bytes. DuckDB and pyarrow are imported when first needed.
"""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from typing import TypeGuard

from treewright.data.schema import Schema
from treewright.data.sources.formats import MARKERS, OPENERS, Reading, files_of, format_of, refuse_query, size_in_memory
from treewright.data.sources.named_tables import Query, TextFile
from treewright.data.sources.source import Source, has_pyarrow
from treewright.errors import DataError

__all__ = ["MARKERS", "Given", "Query", "Reading", "Source", "TextFile", "is_name", "is_source", "open_source"]

#: What stands for a table without being one.
Given = str | os.PathLike[str] | TextFile | Query


def is_name(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Return whether this is the name of a file."""
    return isinstance(data, (str, os.PathLike))


def is_source(data: object) -> TypeGuard[Given]:
    """Return whether this stands for a table that is read from elsewhere."""
    return isinstance(data, (str, os.PathLike, TextFile, Query))


def open_source(data: Given, reading: Reading | None = None, schema: Schema | None = None) -> Source:
    """Return what a name or a query stands for. With a `schema`, text is read as the kinds it has and not guessed."""
    reading = Reading() if reading is None else reading
    if isinstance(data, Query):
        return _query(data.text, replace(reading, database=data.database), schema)
    if isinstance(data, TextFile):
        return _text_file(data, reading, schema)
    name = os.fspath(data)
    if reading.sql:
        return _query(name, reading, schema)
    if reading.database is not None:
        raise DataError(f"a database takes a query, and {name!r} is a name; write --sql, or give the database as DATA")
    if name == "-":
        from treewright.data.sources.stdin import spooled

        return spooled(reading, schema)
    refuse_query(name)
    several = files_of(name)
    if several is None:
        return open_file(name, reading, schema)
    from treewright.data.sources.multiple_files import open_files

    return open_files(several, name, reading, schema)


def _text_file(given: TextFile, reading: Reading, schema: Schema | None) -> Source:
    found = replace(
        reading,
        format="tsv" if ".tsv" in given.path.lower() and given.delimiter is None else "csv",
        delimiter=given.delimiter,
        header=given.header,
        missing=given.missing,
        decimal=given.decimal,
        day_first=given.day_first,
    )
    return open_source(given.path, found, schema)


def open_file(path: str, reading: Reading, schema: Schema | None) -> Source:
    """Return a file by its format."""
    reading = replace(reading, format=reading.format or format_of(path))
    source = _opened(path, reading, schema)
    if source.n_bytes is not None:
        return source
    return replace(source, n_bytes=size_in_memory(path, str(reading.format)))


def _opened(path: str, reading: Reading, schema: Schema | None) -> Source:
    found = reading.format
    if found in {"csv", "tsv"}:
        from treewright.data.sources.text_files import open_text

        return open_text([path], path, reading, schema)
    if found in OPENERS and (found != "parquet" or has_pyarrow()):
        module, function = OPENERS[found]
        source: Source = getattr(import_module(f"treewright.data.sources.{module}"), function)(path, reading)
        return source
    from treewright.data.sources.duckdb import open_duck

    return open_duck([path], path, reading)


def _query(query: str, reading: Reading, schema: Schema | None) -> Source:
    if reading.database is not None and format_of(reading.database) == "sqlite":
        from treewright.data.sources.sqlite import open_sqlite

        return open_sqlite(reading.database, reading, query)
    from treewright.data.sources.query import open_query

    return open_query(query, reading, schema)
