"""Files, queries and standard input as tables: the one door from a name to rows.

Comes in: a path, a query, "-" for standard input, and how to read it. Goes out: a `Source`, which gives its rows whole
or in batches; each is something `table.read` takes.
Always holds: a file is recognised by its name or by its first bytes; what cannot be read is one `DataError` that names
the file and a remedy. DuckDB and pyarrow are loaded when first needed, and an error names what to install.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TypeGuard

from treewright.errors import DataError
from treewright.files.formats import MARKERS, Reading, files_of, format_of, is_query, not_there, size_in_memory
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
    several = files_of(name)
    if several is None:
        return open_file(name, reading, schema)
    from treewright.files.several import open_files

    return open_files(several, name, reading, schema)


def open_file(path: str, reading: Reading, schema: Schema | None) -> Source:
    """A file by its format."""
    reading = replace(reading, format=reading.format or format_of(path))
    source = _opened(path, reading, schema)
    if source.n_bytes is not None:
        return source
    return replace(source, n_bytes=size_in_memory(path, str(reading.format)))


def _opened(path: str, reading: Reading, schema: Schema | None) -> Source:
    found = reading.format
    if found in {"arff", "c4.5"}:
        from treewright.files.declared import open_declared

        return open_declared(path, reading)
    if found == "sqlite":
        from treewright.files.sqlite import open_sqlite

        return open_sqlite(path, reading)
    if found == "arrow":
        from treewright.files.arrow import open_arrow

        return open_arrow(path, reading)
    if found == "parquet" and has_pyarrow():
        from treewright.files.arrow import open_parquet

        return open_parquet(path, reading)
    from treewright.files.duck import open_duck

    return open_duck([path], path, reading, schema)


def _query(query: str, reading: Reading, schema: Schema | None) -> Source:
    if reading.database is not None:
        if not os.path.exists(reading.database):  # noqa: PTH110
            raise not_there(reading.database)
        if format_of(reading.database) == "sqlite":
            from treewright.files.sqlite import open_sqlite

            return open_sqlite(reading.database, reading, query)
    from treewright.files.duck import open_query

    return open_query(query, reading, schema)
