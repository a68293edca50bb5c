"""The databases that the SQL exports are run in.

Every database sees the same values, NaN included where it has one; PostgreSQL is a server of its own, on a socket in
a folder of its own, and is gone when the tests are.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, ClassVar

import duckdb
import pyarrow as pa

Rows = list[tuple[Any, ...]]


class DuckDB:
    dialect = "duckdb"

    def run(self, jobs: list[tuple[pa.Table, str]]) -> list[Rows]:
        """The rows of each statement, asked of a table called rows."""
        found = []
        with duckdb.connect(config={"threads": 1}) as connection:
            for table, statement in jobs:
                connection.register("rows", table)
                found.append(connection.execute(statement).fetchall())
        return found


class SQLite:
    dialect = "sqlite"
    _types: ClassVar = {"bool": "BOOLEAN", "int64": "INTEGER", "string": "TEXT", "float": "REAL", "double": "REAL"}

    def run(self, jobs: list[tuple[pa.Table, str]]) -> list[Rows]:
        found = []
        for table, statement in jobs:
            connection = sqlite3.connect(":memory:")
            columns = [f"{_quoted(field.name)} {self._types.get(str(field.type), '')}" for field in table.schema]
            connection.execute(f"CREATE TABLE rows ({', '.join(columns)})")
            values = zip(*([_for_sqlite(v) for v in column.to_pylist()] for column in table.columns), strict=True)
            connection.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * table.num_columns)})", values)
            found.append(connection.execute(statement).fetchall())
            connection.close()
        return found


def _for_sqlite(value: Any) -> Any:
    if isinstance(value, timedelta):
        return value // timedelta(microseconds=1)
    if hasattr(value, "hour") and hasattr(value, "year"):
        return value.isoformat(" ")
    return value.isoformat() if hasattr(value, "isoformat") else value


class PostgreSQL:
    """A running server, spoken to through psql."""

    dialect = "postgresql"
    _types: ClassVar = {
        "bool": "boolean", "int64": "bigint", "int32": "integer", "int16": "smallint", "string": "text",
        "float": "real", "double": "double precision", "date32[day]": "date", "timestamp[us]": "timestamp",
        "time64[us]": "time",        "duration[us]": "interval", "timestamp[us, tz=UTC]": "timestamptz",
    }  # fmt: skip

    def __init__(self, psql: list[str]) -> None:
        self._psql = psql

    def run(self, jobs: list[tuple[pa.Table, str]]) -> list[Rows]:
        script, outputs = ["SET client_min_messages = warning; SET TIME ZONE 'UTC';"], []
        for i, (table, statement) in enumerate(jobs):
            columns = [f"{_quoted(field.name)} {self._types[str(field.type)]}" for field in table.schema]
            script.append(f"DROP TABLE IF EXISTS rows; CREATE TEMP TABLE rows ({', '.join(columns)});")
            script.append(f"COPY rows FROM STDIN (FORMAT csv, NULL '\\N');\n{self._csv(table)}\\.")
            script.append(
                f"\\echo =={i}==\nCOPY ({statement}) TO STDOUT (FORMAT csv, NULL '\\N', HEADER, FORCE_QUOTE *);"
            )
        done = subprocess.run(
            [*self._psql, "-q", "-v", "ON_ERROR_STOP=1", "-f", "-"],
            input="\n".join(script), env=plain_environment(), capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        parts = done.stdout
        for i in range(len(jobs)):
            start = parts.index(f"=={i}==\n") + len(f"=={i}==\n")
            end = parts.index(f"=={i + 1}==\n") if i + 1 < len(jobs) else len(parts)
            outputs.append([tuple(row) for row in csv.reader(io.StringIO(parts[start:end], newline=""))][1:])
        return outputs

    def _csv(self, table: pa.Table) -> str:
        text = io.StringIO()
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            text.write(",".join(map(_for_postgresql, row)) + "\n")
        return text.getvalue()


def _for_postgresql(value: Any) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)} microseconds"
    return '"' + str(value).replace('"', '""') + '"' if isinstance(value, str) else str(value)


def plain_environment() -> dict[str, str]:
    """The environment without what is meant for this process alone, such as a sanitizer."""
    return {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "ASAN_OPTIONS")}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@contextmanager
def postgresql(folder: Path) -> Iterator[PostgreSQL | str]:
    """A server in the folder, or the reason why there is none; one that is there but does not start is an error."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    initdb = str(programs[-1]) if programs else shutil.which("initdb")
    if initdb is None or shutil.which("psql") is None:
        yield "no PostgreSQL server here, and none could be installed (package postgresql)"
        return
    # A server refuses to run as root: then it belongs to the user its package made.
    root = os.getuid() == 0
    as_user = ["runuser", "-u", "postgres", "--"] if root else []
    data = folder / "data"
    data.mkdir(parents=True)
    if root:
        for place in (folder, data):
            shutil.chown(place, "postgres")
    quiet = {"capture_output": True, "timeout": 120, "cwd": "/", "env": plain_environment()}
    ctl = [*as_user, str(Path(initdb).with_name("pg_ctl")), "-D", str(data), "-w", "-l", str(folder / "log")]
    options = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
    make = [*as_user, initdb, "-D", str(data), "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync"]
    subprocess.run(make, check=True, **quiet)
    subprocess.run([*ctl, "-o", options, "start"], check=True, **quiet)
    try:
        yield PostgreSQL(["psql", "-X", "-h", str(folder), "-U", "tester", "-d", "postgres"])
    finally:
        subprocess.run([*ctl, "-m", "immediate", "stop"], check=True, **quiet)
