"""Files, queries and standard input as tables: the one door from a name to rows.

Comes in: a path, a query, "-" for standard input, and how to read it. Goes out: a `Source`, which gives its rows whole
or in batches; each is something `table.read` takes.
Always holds: a file is recognised by its name or by its first bytes; what cannot be read is one `DataError` that names
the file and a remedy. DuckDB and pyarrow are loaded when first needed, and an error names what to install.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TypeGuard

from treewright.errors import DataError
from treewright.files.formats import MARKERS, Reading, format_of, is_query, not_there
from treewright.files.source import Source, has_pyarrow
from treewright.schema import Schema

__all__ = ["MARKERS", "Reading", "Source", "is_source", "open_source"]


def is_source(data: object) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this is a name or a query and not a table."""
    return isinstance(data, (str, os.PathLike))


def open_source(data: str | os.PathLike[str], reading: Reading | None = None, schema: Schema | None = None) -> Source:
    """What a name stands for. With a `schema`, text is read as the kinds it has and not guessed."""
    reading = Reading() if reading is None else reading
    name = os.fspath(data)
    if is_query(name):
        return _query(name, reading, schema)
    if reading.database is not None:
        raise DataError(f"a database is asked by a query, and {name!r} is none; write SELECT ..., or give it as DATA")
    if name == "-":
        from treewright.files.spool import spooled

        return spooled(reading, schema)
    return open_file(name, reading, schema)


def open_file(path: str, reading: Reading, schema: Schema | None) -> Source:
    """A file by its format."""
    found = reading.format or format_of(path)
    reading = replace(reading, format=found)
    if found in {"arff", "c4.5"}:
        from treewright.files.declared import open_declared

        return open_declared(path, reading)
    if found == "sqlite":
        from treewright.files.sqlite import open_sqlite

        return open_sqlite(path, reading)
    if found == "arrow":
        from treewright.files.arrow import open_arrow

        return open_arrow(path, reading)
    if found == "parquet" and has_pyarrow() and Path(path).is_file():  # several files are DuckDB's
        from treewright.files.arrow import open_parquet

        return open_parquet(path, reading)
    from treewright.files.duck import open_duck

    return open_duck(path, reading, schema)


def _query(query: str, reading: Reading, schema: Schema | None) -> Source:
    if reading.database is not None:
        if not os.path.exists(reading.database):  # noqa: PTH110
            raise not_there(reading.database)
        if format_of(reading.database) == "sqlite":
            from treewright.files.sqlite import open_sqlite

            return open_sqlite(reading.database, reading, query)
    from treewright.files.duck import open_query

    return open_query(query, reading, schema)
