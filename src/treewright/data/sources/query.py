"""A query as a table: one SELECT, run by DuckDB.

Anything else is rejected before it runs, so a query writes nothing. A text file named in the query is read by the rules
of `text_files`, so it has the same values as when given by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from treewright.data.schema import NO_TEXT_FORM, Schema
from treewright.data.sources.duckdb import all_rows, connect, explained, source_of
from treewright.data.sources.formats import Reading, files_of, format_of
from treewright.data.sources.source import Source
from treewright.data.sources.sql_quoting import quoted_name, quoted_text
from treewright.data.sources.text_files import TextTable, text_table
from treewright.errors import DataError

_NAME = "the query"
_TEXT = ("csv", "tsv")
#: Functions of DuckDB that read text by rules of their own, or take a query or a name as a value.
_REFUSED = frozenset({"read_csv", "read_csv_auto", "sniff_csv", "query", "query_table", "json_execute_serialized_sql"})


def open_query(query: str, reading: Reading, schema: Schema | None) -> Source:
    """Return a query over files, or over a DuckDB database."""
    connection = connect(reading.database, reading)
    statement = _select(connection, query)
    views = [_make_view(connection, name, reading, schema) for name in dict.fromkeys(_names(statement))]
    form = next((table.form for table in views if table is not None), NO_TEXT_FORM)
    rows = all_rows(connection, f"SELECT json_deserialize_sql({quoted_text(json.dumps(statement))})", _explain)
    return replace(source_of(connection, rows[0][0], _NAME, reading), text_form=form)


def _select(connection: Any, query: str) -> dict[str, Any]:
    """Return the query as a tree of its parts."""
    found: dict[str, Any] = json.loads(
        all_rows(connection, f"SELECT json_serialize_sql({quoted_text(query)})", _explain)[0][0]
    )
    if found.get("error_type") == "not implemented":
        raise DataError("the query is not a SELECT; only a single SELECT is run, as in: SELECT * FROM 'rows.csv'")
    if found.get("error"):
        raise DataError(f"{_NAME}: {found.get('error_message')}")
    if len(found["statements"]) != 1:
        raise DataError(f"the query has {len(found['statements'])} statements; give a single SELECT")
    return found


def _names(statement: Any) -> Iterator[str]:
    """Yield the names that stand where a table does; functions that would read in another way are refused."""
    if isinstance(statement, list):
        for part in statement:
            yield from _names(part)
    if not isinstance(statement, dict):
        return
    if statement.get("type") == "BASE_TABLE" and not statement.get("schema_name"):
        yield statement["table_name"]
    if statement.get("type") == "TABLE_FUNCTION":
        function = statement["function"]["function_name"]
        if function in _REFUSED:
            raise DataError(
                f"the query calls {function}, which reads by rules of its own; name the file itself, as in FROM "
                "'rows.csv', or read the table with another tool first"
            )
    for part in statement.values():
        yield from _names(part)


def _make_view(connection: Any, name: str, reading: Reading, schema: Schema | None) -> TextTable | None:
    """Return a text file under its own name, which a query finds before DuckDB looks for the file itself."""
    try:
        paths = files_of(name) or [name]
        formats = {format_of(path) for path in paths}
    except DataError:  # a table of the database, or a name that the query itself gives
        return None
    if len(formats) > 1 or not formats & set(_TEXT):
        return None
    found = Reading(format=formats.pop(), missing=reading.missing, decimal=reading.decimal, day_first=reading.day_first)
    table = text_table(connection, paths, name, found, schema)
    view = f"CREATE TEMP VIEW {quoted_name(name)} AS {table.select(table.columns)}"
    try:
        connection.execute(view).fetchall()
    except Exception as error:
        raise explained(error, name) from error
    return table


def _explain(error: Exception) -> DataError:
    return explained(error, _NAME)
