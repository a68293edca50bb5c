"""SQLite databases, opened read-only by Python's sqlite3."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from treewright.data.sources.formats import Reading
from treewright.data.sources.source import Source, Table, columns_of_rows
from treewright.data.sources.sql_quoting import quoted_name, the_table
from treewright.errors import DataError


def open_sqlite(path: str, reading: Reading, query: str | None = None) -> Source:
    """Return a table of the database, or what a query gives."""
    connection = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)
    try:
        if query is None:
            found = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")
            tables = [row[0] for row in found if not row[0].startswith("sqlite_")]
            query = f"SELECT * FROM {quoted_name(the_table(tables, reading.table, path))}"
        query = query.rstrip().rstrip(";")
        cursor = connection.execute(f"SELECT * FROM ({query}) LIMIT 0")  # the user's own query
    except (sqlite3.Error, UnicodeError) as error:
        raise DataError(f"{path}: {error}") from error
    names = tuple(entry[0] for entry in cursor.description)
    columns = reading.kept(names, path)
    return Source(path, "sqlite", columns, partial(_read, connection, query, path, reading.missing or ()))


def _read(
    connection: sqlite3.Connection,
    query: str,
    path: str,
    missing: tuple[str, ...],
    columns: tuple[str, ...],
    size: int | None,
) -> Iterator[Table]:
    try:
        cursor = connection.execute(f"SELECT {', '.join(map(quoted_name, columns))} FROM ({query})")
        while True:
            rows = cursor.fetchall() if size is None else cursor.fetchmany(size)
            if rows or size is None:
                table = columns_of_rows(columns, rows)
                yield {name: [None if v in missing else v for v in table[name]] for name in table} if missing else table
            if size is None or not rows:
                return
    except (sqlite3.Error, UnicodeError) as error:
        raise DataError(f"{path}: {error}") from error
