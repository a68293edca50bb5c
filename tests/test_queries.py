"""Queries: only what is named a query is run, it only reads, and its files have the values they have by name."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import pytest

import treewright as tw
from treewright.data.reader import read

WEATHER = """outlook,temp,windy,day,play
sunny,85,false,2024-01-01,no
sunny,?,TRUE,2024-01-02,no
overcast, 83 ,false,2024-01-03,yes
rainy,70,,2024-01-04,yes
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "weather.csv").write_text(WEATHER)
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1 AS a; COPY (SELECT 1 AS a) TO 'written.csv'",
        "SELECT 1 AS a) TO 'written.csv'; SELECT (1",
        "COPY (SELECT 1 AS a) TO 'written.csv'",
        "ATTACH 'written.db'",
        "SELECT 1 AS a; ATTACH 'written.db'",
        "EXPLAIN ANALYZE COPY (SELECT 1 AS a) TO 'written.csv'",
        "CREATE TABLE a AS SELECT 1",
        "SET lock_configuration = false",
        "EXPORT DATABASE 'written'",
        "INSTALL httpfs",
        "SELECT 1 AS a; SELECT 2 AS a",
        "PRAGMA version",
    ],
)
def test_what_is_not_one_select_is_refused_before_anything_is_run(folder: Path, text: str) -> None:
    before = sorted(folder.iterdir())
    with pytest.raises(tw.DataError, match=r"query"):
        read(tw.sql(text))
    with pytest.raises(tw.DataError):
        read(text)
    assert sorted(folder.iterdir()) == before, "nothing is written"


@pytest.mark.parametrize("extension", ["duckdb", "sqlite"])
def test_a_query_of_a_database_cannot_write_either(folder: Path, extension: str) -> None:
    path = folder / f"one.{extension}"
    connect = duckdb.connect if extension == "duckdb" else sqlite3.connect
    connection = connect(str(path))
    connection.execute("CREATE TABLE t (x INTEGER)")
    connection.commit()
    connection.close()
    before = sorted(folder.iterdir())
    for text in ("DROP TABLE t", "SELECT 1 AS a; DROP TABLE t", "ATTACH 'written.db' AS w", "DELETE FROM t"):
        with pytest.raises(tw.DataError):
            read(tw.sql(text, path))
    assert sorted(folder.iterdir()) == before


def test_a_name_is_never_run_as_a_query(folder: Path) -> None:
    with pytest.raises(tw.DataError, match=r"there is no file .*; if it is meant as a query.* tw\.sql\(.*--sql"):
        read("SELECT * FROM 'weather.csv'")
    (folder / "select 1").write_text(WEATHER)
    assert read("select 1").n_rows == 4


def test_a_query_does_not_see_the_variables_of_python(folder: Path) -> None:
    weather = read("weather.csv")
    with pytest.raises(tw.DataError, match="weather"):
        read(tw.sql("SELECT * FROM weather"))
    assert weather.n_rows == 4


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM 'weather.csv'",
        "FROM 'weather.csv';",
        'SELECT * FROM "weather.csv" -- a remark',
        "WITH t AS (FROM 'weather.csv') SELECT * FROM t",
        "SELECT * FROM 'weath*.csv' WHERE (SELECT count(*) FROM 'weather.csv') > 0",
    ],
)
def test_a_text_file_has_the_same_values_in_a_query_as_by_its_name(folder: Path, text: str) -> None:
    by_name, by_query = read(folder / "weather.csv"), read(tw.sql(text))
    assert by_query.names == by_name.names
    for a, b in zip(by_name.columns, by_query.columns, strict=True):
        assert (a.kind, a.levels) == (b.kind, b.levels)
        np.testing.assert_array_equal(a.values, b.values)


def test_a_query_gives_the_tree_that_the_file_gives(folder: Path) -> None:
    path = folder / "rows.csv"
    path.write_text("outlook,temp,play\n" + "sunny,85,no\nsunny,?,no\novercast,83,yes\nrainy,70,?\n" * 5)
    path.write_text(path.read_text().replace(",70,?", ",70,yes"))
    tree = tw.learn(path, "play", tw.C45)
    query = tw.sql("SELECT * FROM 'rows.csv'")
    assert tw.learn(query, "play", tw.C45) == tree
    assert tw.predict(tree, query).tolist() == tw.predict(tree, path).tolist()


def test_prediction_reads_the_files_of_a_query_as_the_tree_knows_them(folder: Path) -> None:
    tree = tw.learn({"code": ["1", "2", "x", "1"], "y": ["a", "b", "b", "a"]}, "y", tw.SKLEARN)
    (folder / "new.csv").write_text("code\n1\n2\n")
    assert tw.predict(tree, tw.sql("SELECT * FROM 'new.csv'")).tolist() == tw.predict(tree, "new.csv").tolist()


def test_functions_that_read_text_by_other_rules_are_refused(folder: Path) -> None:
    for text in ("FROM read_csv('weather.csv')", "FROM query('SELECT 1')", "FROM sniff_csv('weather.csv')"):
        with pytest.raises(tw.DataError, match="which reads by rules of its own; name the file itself"):
            read(tw.sql(text))


def test_a_line_that_is_wrong_is_an_error_in_a_query_too(folder: Path) -> None:
    (folder / "bad.csv").write_text("x,y\n1,a\n2,b,c\n")
    with pytest.raises(tw.DataError, match=r"bad\.csv, line 3: 3 values for 2 columns"):
        read(tw.sql("SELECT * FROM 'bad.csv'"))


def test_queries_are_checked_when_they_are_made() -> None:
    with pytest.raises(tw.DataError, match="a query is a text"):
        tw.sql("  ")


def test_a_file_of_a_query_that_is_not_there_is_named() -> None:
    with pytest.raises(tw.DataError, match=r"there is no file 'nothing\.parquet'"):
        read(tw.sql("SELECT * FROM 'nothing.parquet'"))


@pytest.mark.parametrize(
    "address", ["https://localhost:1/rows.csv", "http://localhost:1/rows.parquet", "s3://a/rows.parquet"]
)
def test_addresses_are_not_read(address: str) -> None:
    with pytest.raises(tw.DataError, match="there is no file"):
        tw.learn(address, "y")
    with pytest.raises(tw.DataError):
        tw.learn(tw.sql(f"SELECT * FROM '{address}'"), "y")
