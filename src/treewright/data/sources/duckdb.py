"""Parquet, JSON lines and databases, read by DuckDB; and the connections of everything that uses DuckDB.

Rows keep their order. DuckDB writes to the scratch folder only, loads no extension, and its errors become `DataError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from treewright.data.sources.formats import Reading, not_there
from treewright.data.sources.source import Source, Table, columns_of_rows, has_pyarrow
from treewright.data.sources.sql_quoting import plain_path, quoted_name, quoted_paths, quoted_text, the_table
from treewright.errors import DataError

#: With less DuckDB cannot work.
_LEAST_MEMORY = 1 << 28

#: What becomes of DuckDB's error.
Explain = Callable[[Exception], DataError]


def open_duck(paths: list[str], path: str, reading: Reading) -> Source:
    """Return a file that DuckDB reads, or several with the same columns; `path` is what messages call them."""
    if reading.format == "duckdb":
        connection = connect(path, reading)
        inner = f"SELECT * FROM {quoted_name(the_table(_tables(connection), reading.table, path))}"
        return source_of(connection, inner, path, reading)
    connection = connect(None, reading)
    if reading.format == "jsonl":
        return source_of(connection, _json_lines(connection, paths, path), path, reading)
    inner = f"SELECT * FROM read_parquet({_literals(paths)})"
    n_rows = int(all_rows(connection, f"SELECT count(*) FROM ({inner})", partial(explained, path=path))[0][0])
    return source_of(connection, inner, path, reading, n_rows)


def _json_lines(connection: Any, paths: list[str], path: str) -> str:
    """Return the query for JSON lines.

    All rows say what is in them: from the first ones alone, a name or a text that comes later would be an error. A
    column of texts and numbers has JSON's own type; its texts lose their quotes, which they have in no other column.
    """
    union = ", union_by_name=true, maximum_sample_files=-1" if len(paths) > 1 else ""
    rows = f"read_json_auto({_literals(paths)}, sample_size=-1{union})"
    relation = _relation(connection, f"SELECT * FROM {rows}", partial(explained, path=path))
    mixed = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "JSON"]
    texts = ", ".join(f"{quoted_name(name)} ->> '$' AS {quoted_name(name)}" for name in mixed)
    return f"SELECT * {f'REPLACE ({texts}) ' if mixed else ''}FROM {rows}"


def open_relation(relation: Any, name: str) -> Source:
    """Return a DuckDB relation, which is run again by every reading."""

    def read(columns: tuple[str, ...], size: int | None) -> Iterator[Table]:
        chosen = relation.project(", ".join(map(quoted_name, columns)))
        return _batches(chosen, columns, size, partial(explained, path=name))

    return Source(name, "relation", tuple(relation.columns), read)


def source_of(connection: Any, inner: str, path: str, reading: Reading, n_rows: int | None = None) -> Source:
    """Return what a query gives."""
    explain = partial(explained, path=path)
    relation = _relation(connection, inner, explain)
    if reading.missing is not None:
        texts = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "VARCHAR"]
        inner = f"SELECT *{_replaced(texts, reading.missing)} FROM ({inner})"
    columns = reading.kept(tuple(relation.columns), path)

    def read(columns: tuple[str, ...], size: int | None) -> Iterator[Table]:
        chosen = ", ".join(quoted_name(name) for name in columns)
        return results(connection, f"SELECT {chosen} FROM ({inner})", columns, size, explain)

    return Source(path, str(reading.format or "query"), columns, read, n_rows)


def _replaced(texts: list[str], markers: tuple[str, ...]) -> str:
    """Return text without the blanks around it, and missing where it is a marker."""
    if not texts:
        return ""
    trimmed = [f"trim({quoted_name(name)})" for name in texts]
    for marker in markers:  # DuckDB makes a join of a list with IN, after which rows are no longer in their order
        trimmed = [f"nullif({text}, {quoted_text(marker)})" for text in trimmed]
    pairs = zip(trimmed, texts, strict=True)
    return " REPLACE (" + ", ".join(f"{text} AS {quoted_name(name)}" for text, name in pairs) + ")"


# --- reading ----------------------------------------------------------------------------------------------------------


def results(
    connection: Any, query: str, columns: tuple[str, ...], size: int | None, explain: Explain
) -> Iterator[Table]:
    """Yield the rows of a query, some at a time; size None is all at once."""
    result = _relation(connection, query, explain) if has_pyarrow() else connection.cursor().execute(query)
    yield from _batches(result, columns, size, explain)


def all_rows(connection: Any, query: str, explain: Explain) -> list[Any]:
    """Return the rows of a query, as tuples."""
    try:
        rows: list[Any] = connection.sql(query).fetchall()
    except _duckdb().Error as error:
        raise explain(error) from error
    return rows


def _batches(result: Any, columns: tuple[str, ...], size: int | None, explain: Explain) -> Iterator[Table]:
    try:
        yield from _arrow(result, size) if has_pyarrow() else _plain(result, columns, size)
    except _duckdb().Error as error:
        raise explain(error) from error


def _arrow(relation: Any, size: int | None) -> Iterator[Table]:
    if size is None:
        yield (relation.to_arrow_table if hasattr(relation, "to_arrow_table") else relation.arrow)()
        return
    import pyarrow as pa

    opened = relation.to_arrow_reader if hasattr(relation, "to_arrow_reader") else relation.fetch_record_batch
    try:
        for batch in opened(size):
            yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError) as error:  # what DuckDB reports while a reader is open comes as Arrow's error
        raise _duckdb().Error(str(error)) from error


def _plain(result: Any, columns: tuple[str, ...], size: int | None) -> Iterator[Table]:
    if size is None:
        yield columns_of_rows(columns, result.fetchall())
        return
    while rows := result.fetchmany(size):
        yield columns_of_rows(columns, rows)


def _relation(connection: Any, query: str, explain: Explain) -> Any:
    try:
        return connection.sql(query)
    except _duckdb().Error as error:
        raise explain(error) from error


def _tables(connection: Any) -> list[str]:
    return [row[0] for row in connection.execute("SHOW TABLES").fetchall()]


def connect(path: str | None, reading: Reading) -> Any:
    """Return a connection to a database that is only read, or to none; it loads nothing and its settings stay."""
    duckdb = _duckdb()
    if path is not None and not Path(path).exists():
        raise not_there(path)
    try:
        connection = duckdb.connect(":memory:" if path is None else plain_path(path), read_only=path is not None)
    except duckdb.Error as error:
        raise explained(error, str(path)) from error
    settings = ["enable_progress_bar = false", "python_enable_replacements = false"]
    settings += ["autoinstall_known_extensions = false", "autoload_known_extensions = false"]
    if reading.memory_limit is not None:
        settings.append(f"memory_limit = '{max(reading.memory_limit, _LEAST_MEMORY)}B'")
    if reading.scratch is not None:
        settings.append(f"temp_directory = {quoted_text(reading.scratch)}")
    for setting in [*settings, "lock_configuration = true"]:
        connection.execute(f"SET {setting}")
    return connection


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise DataError(
            "reading files needs DuckDB: pip install 'treewright[cli]' (or give a table of pandas, polars or pyarrow)"
        ) from None
    return duckdb


def explained(error: Exception, path: str) -> DataError:
    """DuckDB's message in a line: what was wrong and where, without the settings it lists."""
    if isinstance(error, _duckdb().InterruptException):
        raise KeyboardInterrupt from error
    message = str(error)
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    text = " ".join(line[:200] for line in (lines[:3] if "CSV Error" in message else lines[:2]))
    text = re.sub(r"^(?:[A-Z]\w+ )+Error: ", "", text)
    if isinstance(error, _duckdb().IOException) and "No files found" in message:
        named = re.search(r'match the pattern "(.*?)"', message)  # in a query
        return not_there(named[1] if named else path)
    return DataError(f"{path}: {text}")


def _literals(paths: list[str]) -> str:
    """Return the paths of files in SQL."""
    literal = quoted_paths(paths)
    return literal if len(paths) == 1 else f"[{literal}]"
