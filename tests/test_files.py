"""Files, queries, databases and standard input as tables: the readers, and the door they share."""

from __future__ import annotations

import csv
import gc
import io
import json
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.data.frame import Frame
from treewright.data.reader import read
from treewright.data.sources import Reading, open_source
from treewright.data.sources.arff import _fields

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")

WEATHER = """outlook,temp,windy,day,play
sunny, 85,false,2024-06-01,no
sunny,80,true,2024-06-02,no
overcast, ?,false,2024-06-03,yes
rainy,70,,2024-06-04,yes
"""

ARFF = """% a comment
@RELATION weather
@attribute outlook {sunny, overcast, rainy, 'never seen'}
@attribute 'the temp' NUMERIC
@attribute day date "yyyy-MM-dd"
@attribute remark string
@attribute play {yes, no}

@data
sunny, 85, 2024-06-01, 'it''s', no
overcast, ?, "2024-06-02", "fine, warm", yes
?, 70.5, ?, x, yes
"""

NAMES = r"""| the classes
good, bad.

wage increase:  continuous.
vacation:       below average, average,
                generous.
note:           ignore.
zone\:code:     discrete 3.
"""

DATA = """2.5, average, x, a, good.
?, below average, y, b, bad
4.0 , ?, z, c, good   | a remark
"""


def column(frame: Frame, name: str):
    return next(column for column in frame.columns if column.name == name)


@pytest.fixture
def weather(tmp_path: Path) -> Path:
    path = tmp_path / "weather.csv"
    path.write_text(WEATHER)
    return path


# --- text -------------------------------------------------------------------------------------------------------------


def test_kinds_of_a_csv_file_are_guessed_and_markers_are_missing(weather: Path) -> None:
    frame = read(weather)
    kinds = {column.name: column.kind for column in frame.columns}
    assert kinds == {"outlook": "nominal", "temp": "numeric", "windy": "boolean", "day": "date", "play": "nominal"}
    np.testing.assert_array_equal(column(frame, "temp").values, [85, 80, np.nan, 70])
    assert column(frame, "windy").values.tolist() == [0, 1, 0, -1]
    assert column(frame, "play").levels == ("no", "yes"), "yes and no are levels, not truth values"
    assert open_source(weather).markers(["temp", "windy", "play"]) == {"temp": {"?": 1}, "windy": {"": 1}}


def test_missing_markers_can_be_set(weather: Path) -> None:
    frame = read(open_source(weather, Reading(missing=("sunny",))))
    assert column(frame, "outlook").values.tolist() == [-1, -1, 0, 1]
    assert column(frame, "temp").kind == "nominal", "with no marker for it, ? is a level"


def test_text_that_looks_like_numbers_later_on_is_still_seen(tmp_path: Path) -> None:
    path = tmp_path / "late.csv"
    path.write_text("x,y\n" + "1,a\n" * 50_000 + "one,b\n")
    assert column(read(path), "x").levels == ("1", "one")


def test_a_schema_decides_what_text_is(tmp_path: Path) -> None:
    tree = tw.learn({"code": ["1", "2", "x", "1"], "n": [1, 2, 3, 4], "y": ["a", "b", "b", "a"]}, "y", tw.C45)
    path = tmp_path / "rows.csv"
    path.write_text("n,code\n1,1\n2,2\n")
    assert tw.predict(tree, path).tolist() == tw.predict(tree, {"n": [1, 2], "code": ["1", "2"]}).tolist()
    path.write_text("n,code\n1,1\nmany,2\n")
    with pytest.raises(tw.DataError, match=r"line 3: column 'n' has 'many', which is not a number"):
        tw.predict(tree, path)


@pytest.mark.parametrize("name", ["a.tsv", "a.parquet", "a.jsonl", "a.arrow", "a.csv.gz", "odd [1]*.csv", "noending"])
def test_every_form_gives_the_same_tree(weather: Path, name: str) -> None:
    import pyarrow.feather
    import pyarrow.parquet

    table = duckdb.connect().sql(f"FROM read_csv('{weather}', nullstr=['?', ' ?', ''])").to_arrow_table()
    play = pa.array(["yes" if value else "no" for value in table["play"].to_pylist()])
    table = table.set_column(4, "play", play)
    path = weather.parent / name
    if name == "a.parquet":
        pyarrow.parquet.write_table(table, path)
    elif name == "a.arrow":
        pyarrow.feather.write_feather(table, str(path), compression="uncompressed")
    elif name == "a.jsonl":
        path.write_text("".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()))
    elif name == "a.csv.gz":
        import gzip

        path.write_bytes(gzip.compress(WEATHER.encode()))
    else:
        path.write_text(WEATHER.replace(",", "\t") if name == "a.tsv" else WEATHER)
    expected, found = read(weather), read(path)
    assert found.names == expected.names
    for a, b in zip(expected.columns, found.columns, strict=True):
        assert (a.kind, a.levels) == (b.kind, b.levels)
        np.testing.assert_array_equal(a.values, b.values)
    assert [read(batch).n_rows for batch in open_source(path).batches(size=3)] == [3, 1]


def test_columns_are_chosen_and_dropped(weather: Path) -> None:
    assert open_source(weather, Reading(columns=("play", "temp"))).columns == ("temp", "play")
    assert open_source(weather, Reading(drop=("day",))).columns == ("outlook", "temp", "windy", "play")
    with pytest.raises(tw.DataError, match="has no column 'tmp'; did you mean 'temp'"):
        open_source(weather, Reading(drop=("tmp",)))


def test_an_arrow_stream_is_read(tmp_path: Path) -> None:
    table = pa.table({"x": [1, 2, 3]})
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
        stream.write_table(table)
    source = open_source(tmp_path / "a.arrow")
    assert [column(read(source), "x").values.tolist() for _ in range(2)] == [[1, 2, 3]] * 2
    (tmp_path / "b.arrow").write_bytes(b"nothing of the kind")
    with pytest.raises(tw.DataError, match="is not an Arrow file"):
        read(tmp_path / "b.arrow")


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow"])
def test_declared_levels_keep_their_order(tmp_path: Path, name: str) -> None:
    import pyarrow.feather
    import pyarrow.parquet

    size = pa.DictionaryArray.from_arrays(pa.array([2, 0, None]), ["small", "medium", "large"], ordered=True)
    table = pa.table({"size": size, "text": ["a", "?", "b"]})
    path = tmp_path / name
    pyarrow.parquet.write_table(table, path) if name == "a.parquet" else pyarrow.feather.write_feather(table, str(path))
    frame = read(path)
    assert (column(frame, "size").kind, column(frame, "size").levels) == ("ordinal", ("small", "medium", "large"))
    assert column(frame, "text").levels == ("?", "a", "b")
    assert column(read(open_source(path, Reading(missing=("?",)))), "text").values.tolist() == [0, -1, 1]
    source = open_source(path)
    for _ in range(2):
        assert [read(batch).n_rows for batch in source.batches(["text"], size=2)] == [2, 1]


# --- queries and databases --------------------------------------------------------------------------------------------


def test_a_query_is_a_table(weather: Path) -> None:
    assert read(tw.sql(f"SELECT outlook, play FROM '{weather}' WHERE outlook <> 'rainy';")).n_rows == 3
    with pytest.raises(tw.DataError, match=r"the query: .*syntax error"):
        read(tw.sql("SELECT * FORM nowhere x"))


def test_databases(tmp_path: Path, weather: Path) -> None:
    for path in (tmp_path / "one.duckdb", tmp_path / "one.sqlite"):
        _execute(path, "CREATE TABLE days (x INTEGER, y TEXT)")
        _execute(path, "INSERT INTO days VALUES (1, 'a'), (NULL, 'b'), (3, '?')")
        frame = read(path)
        np.testing.assert_array_equal(column(frame, "x").values, [1, np.nan, 3])
        assert column(frame, "y").levels == ("?", "a", "b"), "a database has missing values of its own"
        assert column(read(open_source(path, Reading(missing=("?",)))), "y").levels == ("a", "b")
        assert read(tw.sql("SELECT x FROM days WHERE x > 1", path)).n_rows == 1
        assert [read(batch).n_rows for batch in open_source(path).batches(size=2)] == [2, 1]
        _execute(path, "CREATE TABLE more (z INTEGER)")
        with pytest.raises(tw.DataError, match="has the tables 'days', 'more'; name one with --table"):
            read(path)
        assert open_source(path, Reading(table="more")).columns == ("z",)


def _execute(path: Path, statement: str) -> None:
    gc.collect()  # a database that is still open to be read cannot be written to
    connection = duckdb.connect(str(path)) if path.suffix == ".duckdb" else sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_learn_takes_a_path_a_query_and_a_relation(weather: Path) -> None:
    rows = "\n".join([WEATHER.strip()] + WEATHER.strip().splitlines()[1:] * 5)
    weather.write_text(rows + "\n")
    by_path = tw.learn(weather, "play", tw.C45)
    assert tw.learn(str(weather), "play", tw.C45) == by_path
    assert tw.learn(tw.sql(f"FROM '{weather}'"), "play", tw.C45) == by_path
    assert tw.predict(by_path, weather).tolist() == ["no", "no", "yes", "yes"] * 6
    assert tw.prune(by_path, tw.pruning.MaxDepth(0), weather).n_leaves == 1
    connection = duckdb.connect()
    relation = connection.sql("SELECT i AS x, CASE WHEN i > 5 THEN 'a' ELSE 'b' END AS y FROM range(20) t(i)")
    assert tw.predict(tw.learn(relation, "y"), relation).tolist() == ["b"] * 6 + ["a"] * 14


# --- formats that declare their columns -------------------------------------------------------------------------------


def test_arff(tmp_path: Path) -> None:
    path = tmp_path / "weather.arff"
    path.write_text(ARFF.replace("'it''s'", r"'it\'s'"))
    frame = read(path)
    outlook = column(frame, "outlook")
    assert outlook.levels == ("sunny", "overcast", "rainy", "never seen")
    assert outlook.values.tolist() == [0, 1, -1]
    np.testing.assert_array_equal(column(frame, "the temp").values, [85, np.nan, 70.5])
    assert column(frame, "day").text(0) == "2024-06-01"
    assert column(frame, "remark").levels == ("fine, warm", "it's", "x")
    assert column(frame, "play").levels == ("yes", "no")
    assert [read(batch).n_rows for batch in open_source(path).batches(size=2)] == [2, 1]


def test_sparse_arff(tmp_path: Path) -> None:
    path = tmp_path / "sparse.arff"
    path.write_text("@relation s\n@attribute a numeric\n@attribute b {x, y}\n@data\n{}\n{0 2.5, 1 y}\n{1 ?}\n")
    frame = read(path)
    assert column(frame, "a").values.tolist() == [0, 2.5, 0]
    assert column(frame, "b").values.tolist() == [0, 1, -1]


@pytest.mark.parametrize("form", ["yyyy-MM-dd", "", "HH:mm"])
def test_sparse_arff_rows_without_a_date_have_the_start_of_1970(tmp_path: Path, form: str) -> None:
    """Zero like every value that is left out: of a date, as Weka counts, 1970-01-01."""
    path = tmp_path / "sparse.arff"
    shown = {"yyyy-MM-dd": "1970-01-01", "": "1970-01-01T00:00:00", "HH:mm": "00:00"}[form]
    quoted = f'"{form}"' if form else ""
    path.write_text(f"@relation s\n@attribute day date {quoted}\n@attribute y {{x, y}}\n@data\n{{}}\n{shown},x\n?,y\n")
    day = column(read(path), "day")
    assert day.values[0] == day.values[1]
    assert day.text(0) == day.text(1)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("foggy, 1, ?, x, no", "line 11: 'foggy' is not among the declared levels of 'outlook'"),
        ("sunny, warm, ?, x, no", "line 11: 'the temp' has 'warm', which is not a number"),
        ("sunny, 1, soon, x, no", "line 11: 'day' has 'soon', which is no moment"),
        ("sunny, 1", "line 11: 2 values for 5 attributes"),
    ],
)
def test_what_arff_does_not_declare_is_reported(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "bad.arff"
    path.write_text(ARFF.split("sunny, 85", maxsplit=1)[0] + "\n" + row + "\n")
    with pytest.raises(tw.DataError, match=message):
        read(path)


@given(st.lists(st.text(st.sampled_from("ab, '\"\\?{}x"), min_size=1), min_size=1, max_size=5))
@settings(max_examples=200, deadline=None)
def test_quoted_values_come_back(values: list[str]) -> None:
    quoted = ["'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'" for value in values]
    assert _fields(" , ".join(quoted)) == values


def test_c45_names_and_data(tmp_path: Path) -> None:
    (tmp_path / "labor.names").write_text(NAMES)
    (tmp_path / "labor.data").write_text(DATA)
    for name in ("labor.names", "labor.data"):
        source = open_source(tmp_path / name)
        assert source.target == "class"
        assert source.columns == ("wage increase", "vacation", "zone:code", "class")
        frame = read(source)
        np.testing.assert_array_equal(column(frame, "wage increase").values, [2.5, np.nan, 4])
        assert column(frame, "vacation").levels == ("below average", "average", "generous")
        assert column(frame, "vacation").values.tolist() == [1, 0, -1]
        assert column(frame, "zone:code").levels == ("a", "b", "c")
        assert column(frame, "class").levels == ("good", "bad")
    (tmp_path / "labor.names").unlink()
    with pytest.raises(tw.DataError, match=r"labor.names is not there; .* --format csv --no-header"):
        read(tmp_path / "labor.data")
    frame = read(open_source(tmp_path / "labor.data", Reading(format="csv", header=False)))
    assert len(frame.columns) == 5


# --- standard input, errors -------------------------------------------------------------------------------------------


def test_standard_input(weather: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parquet = io.BytesIO()
    import pyarrow.parquet

    pyarrow.parquet.write_table(pa.table({"x": [1, 2, 3]}), parquet)
    arff = "@relation r\n@attribute x numeric\n@data\n1\n2\n3\n"
    for content in (b"x\n1\n2\n3\n", b'{"x": 1}\n{"x": 2}\n{"x": 3}\n', parquet.getvalue(), arff.encode()):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        source = open_source("-")
        assert source.name == "standard input"
        assert column(read(source), "x").values.tolist() == [1, 2, 3]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
    with pytest.raises(tw.DataError, match="standard input is empty"):
        open_source("-")


def test_what_comes_late_in_json_lines_counts(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x": 1, "z": 1}\n' * 30_000 + '{"x": "late", "z": 1.5, "new": 3}\n')
    frame = read(path)
    found = column(frame, "x")
    assert [found.levels[found.values[row]] for row in (0, -1)] == ["1", "late"]
    assert column(frame, "z").values[-1] == 1.5
    assert column(frame, "new").values[-1] == 3


def test_a_text_in_json_lines_is_the_same_beside_numbers(tmp_path: Path) -> None:
    mixed, texts = tmp_path / "mixed.jsonl", tmp_path / "texts.jsonl"
    mixed.write_text('{"x": 1, "y": "n"}\n{"x": "a", "y": "p"}\n{"x": "b", "y": "q"}\n' * 3)
    texts.write_text('{"x": "a"}\n{"x": "b"}\n')
    tree = tw.learn(mixed, "y", "id3")
    assert tree.schema.columns[0].levels == ("1", "a", "b")
    assert tw.predict(tree, texts).tolist() == ["p", "q"]


@pytest.mark.parametrize("start", ["~", "~/", "md:", "file:", "sqlite:", "a\\", "%s", "-", "{a,b}", "'; ", '"'])
@pytest.mark.parametrize("ending", ["csv", "csv.zst", "parquet", "arrow", "jsonl", "duckdb"])
def test_a_name_is_a_name_whatever_it_looks_like(
    start: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB takes a file called ~rows.csv from the home folder, and asks a server for one called md:rows.duckdb."""
    import pyarrow.feather

    monkeypatch.chdir(tmp_path)
    if (start, ending) == ("a\\", "duckdb"):
        pytest.skip("DuckDB itself takes it for a folder, and says that there is no such file")
    name = f"{start}rows.{ending}"
    Path(name).parent.mkdir(exist_ok=True)
    rows = "SELECT * FROM (VALUES (1), (2), (3)) AS t(x)"
    whole = str(Path(name).absolute())
    if ending == "duckdb":
        with duckdb.connect("made.duckdb") as connection:
            connection.execute(f"CREATE TABLE rows AS {rows}")
        Path("made.duckdb").rename(name)
    elif ending in {"arrow", "csv.zst"}:
        with pa.OSFile(whole, "wb") as file:
            if ending == "arrow":
                pyarrow.feather.write_feather(pa.table({"x": [1, 2, 3]}), file)
            else:
                file.write(pa.compress(b"x\n1\n2\n3\n", "zstd", asbytes=True))
    else:
        form = {"csv": "CSV", "parquet": "PARQUET", "jsonl": "JSON"}[ending]
        duckdb.connect().execute(f"COPY ({rows}) TO '{whole.replace(chr(39), chr(39) * 2)}' (FORMAT {form})")
    assert column(read(name), "x").values.tolist() == [1, 2, 3]


def test_files_that_are_not_there_or_no_tables(weather: Path, tmp_path: Path) -> None:
    with pytest.raises(tw.DataError, match=r"there is no file '.*wether.csv'; did you mean '.*weather.csv'"):
        read(tmp_path / "wether.csv")
    with pytest.raises(tw.DataError, match="is a folder; name a file in it"):
        read(tmp_path)
    (tmp_path / "noise").write_bytes(b"\x00\x01\x02" * 50)
    with pytest.raises(tw.DataError, match="is not a table that can be read"):
        read(tmp_path / "noise")
    (tmp_path / "header.csv").write_text("a,b\n")
    with pytest.raises(tw.DataError, match="it has no rows"):
        read(tmp_path / "header.csv")


def test_without_arrow_rows_are_read_all_the_same(weather: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = read(weather)
    monkeypatch.setattr("treewright.data.sources.duckdb.has_pyarrow", lambda: False)
    found = read(weather)
    for a, b in zip(expected.columns, found.columns, strict=True):
        assert (a.name, a.kind, a.levels) == (b.name, b.kind, b.levels)
        np.testing.assert_array_equal(a.values, b.values)
    assert [len(batch["temp"]) for batch in open_source(weather).batches(size=3)] == [3, 1]


def test_without_duckdb_the_error_says_what_to_install(weather: Path) -> None:
    code = f"import sys; sys.modules['duckdb'] = None\nimport treewright as tw\ntw.learn({str(weather)!r}, 'play')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'treewright[cli]'" in done.stderr


@given(
    st.lists(
        st.tuples(
            st.text(st.sampled_from("ab ,;|\"'\t\näß"), max_size=6),
            st.one_of(st.none(), st.integers(-9, 9), st.floats(-1e6, 1e6)),
        ),
        min_size=2,
        max_size=20,
    )
)
@settings(max_examples=40, deadline=None)
def test_whatever_is_written_comes_back(rows: list[tuple[str, float | None]]) -> None:
    texts = [f"x{text}x" for text, _ in rows]  # so that there are no blanks at its ends, which would be dropped
    numbers = [1.5, *(number for _, number in rows[1:])]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "number", "answer"])
            writer.writerows(
                zip(texts, ("" if x is None else x for x in numbers), ["yes", "no"] * len(rows), strict=False)
            )
        frame = read(path)
    text, number = column(frame, "text"), column(frame, "number")
    assert [text.levels[code] for code in text.values] == texts
    np.testing.assert_array_equal(number.values, [np.nan if x is None else x for x in numbers])


def test_rows_of_text_files_keep_their_order(tmp_path: Path) -> None:
    """Files are read in parallel, and markers of missing values are looked for in text."""
    for number in range(4):
        rows = (f"{row},{'?' if row % 5 == 0 else 'text'}" for row in range(12_000 * number, 12_000 * (number + 1)))
        (tmp_path / f"{number}.csv").write_text("\n".join(["id,text", *rows]) + "\n")
    for _ in range(3):
        source = open_source(f"{tmp_path}/*.csv")
        assert source.whole()["id"].to_pylist() == list(range(48_000))
        assert [row for table in source.batches() for row in table["id"].to_pylist()] == list(range(48_000))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "@relation r\n@attribute a {x, y\n@data\nx\n",
            r"line 2: the levels of 'a' begin with { but do not end with }",
        ),
        ("@relation r\n@attribute a {x} y\n@data\nx\n", r"line 2: the levels of 'a'"),
        ("@relation r\n@attribute a numeric\n@data\n{\u00b2 1}\n", r"line 4: '\u00b2 1' is no place"),
        ("@relation r\n@attribute a numeric\n@data\n{0 1\n", r"line 4: a sparse row begins with { and ends with }"),
        ("@relation r\n@attribute a numeric\n@data\n\u00b2\n", r"line 4: 'a' has '\u00b2', which is not a number"),
        ("@relation r\n@attribute a numeric\n@data\n{999999999999999999999 1}\n", r"line 4: .* is no place"),
    ],
)
def test_arff_that_is_wrong_is_an_error_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "rows.arff"
    path.write_text(text)
    with pytest.raises(tw.DataError, match=message):
        read(path)


def test_arff_with_a_million_blanks_is_read_sign_by_sign(tmp_path: Path) -> None:
    """The time of a backtracking pattern would grow with the square, to hours."""
    blanks = " " * 1_000_000
    path = tmp_path / "rows.arff"
    path.write_text(f"@relation r\n@attribute a {{x,{blanks}y}}\n@attribute b numeric\n@data\nx{blanks}z,1\n")
    with pytest.raises(tw.DataError, match=r"line 5: .* is not among the declared levels"):
        read(path)
    path.write_text(f"@relation r\n@attribute a {{x,{blanks}y}}\n@attribute b numeric\n@data\n x {blanks}, 1{blanks}\n")
    assert column(read(path), "a").levels == ("x", "y")


# --- what a hostile file declares -------------------------------------------------------------------------------------

_ARFF = "@relation r\n@attribute x numeric\n@attribute c {a, b}\n@attribute y {n, p}\n@data\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (_ARFF.replace("attribute c", "attribute x") + "1,a,n\n2,b,p\n", "declares the attribute 'x' twice"),
        (_ARFF.replace("{a, b}", "{a, b, a}") + "1,a,n\n2,b,p\n", "declares the level of 'c' 'a' twice"),
        (_ARFF + "1_000,a,n\n2,b,p\n", "'1_000', which is not a number"),
        (_ARFF + "\u0663,a,n\n2,b,p\n", "which is not a number"),
        (_ARFF + "9" * 10_000 + "x,a,n\n2,b,p\n", "which is not a number"),
        (_ARFF + "1," + "z" * 10_000 + ",n\n2,b,p\n", "is not among the declared levels"),
    ],
)
def test_declared_files_are_read_strictly(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "rows.arff"
    path.write_text(content)
    with pytest.raises(tw.DataError) as caught:
        tw.learn(path, "y")
    assert words in str(caught.value)
    assert len(str(caught.value)) < 500
