"""CSV, TSV, Parquet, JSON lines, databases and queries, all read by DuckDB.

Comes in: a path or a query. Goes out: a `Source`.
Always holds: blanks around a value of a text file are dropped, and what is left of a missing marker is missing. Types
are guessed from all rows, or given by a schema. Rows keep their order.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from treewright.errors import DataError
from treewright.files.formats import MARKERS, Reading, not_there
from treewright.files.quoting import quoted_name, quoted_text, quoted_texts, the_table
from treewright.files.source import Source, Table, columns_of_rows, has_pyarrow
from treewright.schema import Level, Schema

_TYPES = {
    "numeric": "DOUBLE", "boolean": "BOOLEAN", "date": "DATE", "datetime": "TIMESTAMP", "time": "TIME",
    "duration": "INTERVAL",
}  # fmt: skip
_TEXT_FORMATS = ("csv", "tsv")
#: With less DuckDB cannot work.
_LEAST_MEMORY = 1 << 28
_NO_MARKER = "\\N treewright"


def open_duck(paths: list[str], path: str, reading: Reading, schema: Schema | None) -> Source:
    """A file that DuckDB reads, or several with the same columns; `path` is what messages call them."""
    if reading.format == "duckdb":
        connection = _connect(path, reading)
        inner = f"SELECT * FROM {quoted_name(the_table(_tables(connection), reading.table, path))}"
        return _source(connection, inner, path, reading)
    connection = _connect(None, reading)
    if reading.format in _TEXT_FORMATS:
        return _text_source(connection, paths, path, reading, schema)
    function = {"parquet": "read_parquet", "jsonl": "read_json_auto"}[str(reading.format)]
    union = ", union_by_name=true, maximum_sample_files=-1" if len(paths) > 1 and reading.format == "jsonl" else ""
    inner = f"SELECT * FROM {function}({_literals(paths)}{union})"
    n_rows = None
    if reading.format == "parquet":
        n_rows = int(_all(connection, f"SELECT count(*) FROM ({inner})", path)[0][0])
    return _source(connection, inner, path, reading, n_rows)


def open_query(query: str, reading: Reading, schema: Schema | None) -> Source:
    """A query over files, or over a DuckDB database."""
    del schema  # a query has types of its own
    connection = _connect(reading.database, reading)
    name = "the query"
    return _source(connection, query.rstrip().rstrip(";"), name, reading)


# --- text -------------------------------------------------------------------------------------------------------------


def text_columns(paths: list[str], reading: Reading) -> Iterator[tuple[str, ...]]:
    """The names of the columns of each text file."""
    connection = _connect(None, reading)
    for path in paths:
        scan = _scan([path], reading, [_NO_MARKER], every_text=True)
        yield tuple(_relation(connection, f"SELECT * FROM {scan}", path).columns)


def _text_source(connection: Any, paths: list[str], path: str, reading: Reading, schema: Schema | None) -> Source:
    markers = MARKERS if reading.missing is None else reading.missing
    null = [text for marker in markers for text in dict.fromkeys((marker, f" {marker}"))] or [_NO_MARKER]
    guess = partial(_scan, paths, reading, null)
    # What is known already needs no guess, and so only the beginning is looked at.
    found = _relation(connection, f"SELECT * FROM {guess(sample=20_480 if schema else -1)}", path)
    raw = f"SELECT * FROM {_scan(paths, reading, [_NO_MARKER], every_text=True)}"
    if schema is None:
        types = dict.fromkeys(_words_for_truth(connection, raw, path, found, markers), "VARCHAR")
    else:
        types = {name: kind for name, kind in _types(schema).items() if name in found.columns}
    scan = guess(sample=20_480 if schema else -1, types=types)
    relation = _relation(connection, f"SELECT * FROM {scan}", path) if types else found
    texts = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "VARCHAR"]
    inner = f"SELECT *{_replaced(texts, markers)} FROM {scan}"
    return _source(
        connection, inner, path, reading, markers=partial(_marker_counts, connection, raw, path, markers), cleaned=True
    )


def _words_for_truth(connection: Any, raw: str, path: str, found: Any, markers: tuple[str, ...]) -> list[str]:
    """Columns that DuckDB takes for truth values though they say yes and no, which are levels with names."""
    named = zip(found.columns, found.types, strict=True)
    asked = [name for name, kind in named if str(kind) == "BOOLEAN"]
    if not asked:
        return []
    truth = quoted_texts(("true", "false", *(marker.lower() for marker in markers)))
    others = ", ".join(f"count(*) FILTER (WHERE lower(trim({quoted_name(name)})) NOT IN ({truth}))" for name in asked)
    counts = _all(connection, f"SELECT {others} FROM ({raw})", path)[0]
    return [name for name, count in zip(asked, counts, strict=True) if count]


def _scan(
    paths: list[str],
    reading: Reading,
    null: list[str],
    sample: int = -1,
    types: Mapping[str, str] | None = None,
    every_text: bool = False,
) -> str:
    """The call of read_csv."""
    settings = [_literals(paths), f"header={str(reading.header).lower()}", f"nullstr=[{quoted_texts(null)}]"]
    delimiter = reading.delimiter or ("\t" if reading.format == "tsv" else None)
    if delimiter is not None:
        settings.append(f"delim={quoted_text(delimiter)}")
    if types:
        settings.append("types={" + ", ".join(f"{quoted_text(k)}: {quoted_text(v)}" for k, v in types.items()) + "}")
    settings.append("all_varchar=true" if every_text else f"sample_size={sample}")
    if len(paths) > 1 and not every_text:
        settings.append("files_to_sniff=-1")
    return f"read_csv({', '.join(settings)})"


def _replaced(texts: list[str], markers: tuple[str, ...]) -> str:
    """Text without the blanks around it, and missing where it is a marker."""
    if not texts:
        return ""
    trimmed = [f"trim({quoted_name(name)})" for name in texts]
    for marker in markers:  # DuckDB makes a join of a list with IN, after which rows are no longer in their order
        trimmed = [f"nullif({text}, {quoted_text(marker)})" for text in trimmed]
    return (
        " REPLACE ("
        + ", ".join(f"{text} AS {quoted_name(name)}" for text, name in zip(trimmed, texts, strict=True))
        + ")"
    )


def _marker_counts(
    connection: Any, raw: str, path: str, markers: tuple[str, ...], columns: Collection[str]
) -> Mapping[str, Mapping[str, int]]:
    """How often each marker stands in each of these columns, read as plain text."""
    asked = [(column, marker) for column in columns for marker in markers]
    if not asked:
        return {}
    counts = ", ".join(f"count(*) FILTER (WHERE trim({quoted_name(c)}) = {quoted_text(m)})" for c, m in asked)
    found: dict[str, dict[str, int]] = {}
    for (column, marker), count in zip(asked, _all(connection, f"SELECT {counts} FROM ({raw})", path)[0], strict=True):
        if count:
            found.setdefault(column, {})[marker] = int(count)
    return found


def _types(schema: Schema) -> dict[str, str]:
    """How text is to be read so that it means what the tree was learned from."""
    types = {column.name: _TYPES.get(column.kind) or _level_type(column.levels) for column in schema.columns}
    target = schema.target
    return {**types, target.name: "DOUBLE" if target.classes is None else _level_type(target.classes)}


def _level_type(levels: tuple[Level, ...] | None) -> str:
    kinds = {type(level) for level in levels or ()}
    if kinds == {bool}:
        return "BOOLEAN"
    return "DOUBLE" if kinds and kinds <= {int, float, bool} else "VARCHAR"


# --- reading ----------------------------------------------------------------------------------------------------------


def _source(
    connection: Any,
    inner: str,
    path: str,
    reading: Reading,
    n_rows: int | None = None,
    markers: Any = None,
    cleaned: bool = False,
) -> Source:
    relation = _relation(connection, inner, path)
    if reading.missing is not None and not cleaned:
        texts = [name for name, kind in zip(relation.columns, relation.types, strict=True) if str(kind) == "VARCHAR"]
        inner = f"SELECT *{_replaced(texts, reading.missing)} FROM ({inner})"
    columns = reading.kept(tuple(relation.columns), path)
    read = partial(_read, connection, inner, path)
    return Source(path, str(reading.format or "query"), columns, read, n_rows, markers=markers or (lambda _: {}))


def _read(connection: Any, inner: str, path: str, columns: tuple[str, ...], size: int | None) -> Iterator[Table]:
    chosen = ", ".join(quoted_name(name) for name in columns)
    query = f"SELECT {chosen} FROM ({inner})"
    result = _relation(connection, query, path) if has_pyarrow() else connection.cursor().execute(query)
    yield from _results(result, columns, size, path)


def _results(result: Any, columns: tuple[str, ...], size: int | None, path: str) -> Iterator[Table]:
    try:
        yield from _arrow(result, size) if has_pyarrow() else _plain(result, columns, size)
    except _duckdb().Error as error:
        raise _explained(error, path) from error


def _arrow(relation: Any, size: int | None) -> Iterator[Table]:
    if size is None:
        yield (relation.to_arrow_table if hasattr(relation, "to_arrow_table") else relation.arrow)()
        return
    import pyarrow as pa

    opened = relation.to_arrow_reader if hasattr(relation, "to_arrow_reader") else relation.fetch_record_batch
    for batch in opened(size):
        yield pa.Table.from_batches([batch])


def _plain(result: Any, columns: tuple[str, ...], size: int | None) -> Iterator[Table]:
    if size is None:
        yield columns_of_rows(columns, result.fetchall())
        return
    while rows := result.fetchmany(size):
        yield columns_of_rows(columns, rows)


def _tables(connection: Any) -> list[str]:
    return [row[0] for row in connection.execute("SHOW TABLES").fetchall()]


def open_relation(relation: Any, name: str) -> Source:
    """A DuckDB relation, which is asked anew by every reading."""

    def read(columns: tuple[str, ...], size: int | None) -> Iterator[Table]:
        return _results(relation.project(", ".join(map(quoted_name, columns))), columns, size, name)

    return Source(name, "relation", tuple(relation.columns), read)


def _connect(path: str | None, reading: Reading) -> Any:
    duckdb = _duckdb()
    if path is not None and not Path(path).exists():
        raise not_there(path)
    try:
        connection = duckdb.connect(path or ":memory:", read_only=path is not None)
    except duckdb.Error as error:
        raise _explained(error, str(path)) from error
    connection.execute("SET enable_progress_bar = false")
    if reading.memory_limit is not None:
        connection.execute(f"SET memory_limit = '{max(reading.memory_limit, _LEAST_MEMORY)}B'")
    if reading.scratch is not None:
        connection.execute(f"SET temp_directory = {quoted_text(reading.scratch)}")
    return connection


def _relation(connection: Any, query: str, path: str) -> Any:
    try:
        return connection.sql(query)
    except _duckdb().Error as error:
        raise _explained(error, path) from error


def _all(connection: Any, query: str, path: str) -> list[Any]:
    try:
        rows: list[Any] = connection.sql(query).fetchall()
    except _duckdb().Error as error:
        raise _explained(error, path) from error
    return rows


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise DataError(
            "reading files needs DuckDB: pip install 'treewright[cli]' (or give a table of pandas, polars or pyarrow)"
        ) from None
    return duckdb


def _explained(error: Exception, path: str) -> DataError:
    """DuckDB's message in a line: what was wrong and where, without the settings it lists."""
    if isinstance(error, _duckdb().InterruptException):
        raise KeyboardInterrupt from error
    message = str(error)
    convert = re.search(r'converting column "(.*?)"\. Could not convert string "(.*?)" to \'(.*?)\'', message)
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f"{path}, line {line[1]}" if line else path
    if convert:
        wanted = {"DOUBLE": "a number", "BIGINT": "a whole number", "BOOLEAN": "true or false", "DATE": "a date"}
        return DataError(
            f"{where}: column {convert[1]!r} has {convert[2]!r}, which is not {wanted.get(convert[3], convert[3])}; "
            f"correct it, or say that it means a missing value (--missing {convert[2]!r})"
        )
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    told = " ".join(lines[:3] if "CSV Error" in message else lines[:2])
    told = re.sub(r"^(?:[A-Z]\w+ )+Error: ", "", told)
    if isinstance(error, _duckdb().IOException) and "No files found" in message:
        return not_there(path)
    return DataError(f"{path}: {told}")


def _literals(paths: list[str]) -> str:
    """The paths of files in SQL, even where their names look like patterns."""
    literal = quoted_texts([glob.escape(path) for path in paths])
    return literal if len(paths) == 1 else f"[{literal}]"
