"""Large inputs some rows at a time: every kind gives the rows of the table in every pass."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import treewright as tw
from treewright.data.frame import Frame
from treewright.data.kinds import levels_of
from treewright.data.reader import read
from treewright.data.sources import open_source
from treewright.errors import ScratchError
from treewright.out_of_core import chunks as room
from treewright.out_of_core.chunks import Chunks, chunked
from treewright.out_of_core.column_summary import described, encode_partition, merge, summarize
from treewright.training.learn import training_table

duckdb = pytest.importorskip("duckdb")
pa = pytest.importorskip("pyarrow")
for room_of_arrow in ("csv", "dataset", "parquet"):
    import_module(f"pyarrow.{room_of_arrow}")

LIMIT = 1 << 30
N = 25_000
TABLE = pd.DataFrame(
    {
        "number": [None if row % 7 == 0 else row / 4 for row in range(N)],
        "whole": [row % 11 for row in range(N)],
        "text": [None if row % 13 == 0 else "abc"[row % 3] * (1 + row % 2) for row in range(N)],
        "day": pd.Series([np.datetime64("2024-01-01") + row % 400 for row in range(N)]).astype("datetime64[us]"),
        "answer": ["yes" if row % 5 else "no" for row in range(N)],
    }
)
ARROW = pa.Table.from_pandas(TABLE)
EMPTY_IS_MISSING = pa.dataset.CsvFileFormat(convert_options=pa.csv.ConvertOptions(strings_can_be_null=True))
CUTS = [(0, 9_000), (9_000, 9_000), (9_000, 20_001), (20_001, N)]
PIECES = [TABLE[start:stop] for start, stop in CUTS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table in files of every format."""
    root = tmp_path_factory.mktemp("files")
    TABLE.to_csv(root / "all.csv", index=False)
    TABLE.to_parquet(root / "all.parquet", row_group_size=7_000)
    pa.parquet.write_to_dataset(ARROW, root / "partitioned", partition_cols=["answer"])
    plain = TABLE.assign(day=TABLE["day"].dt.strftime("%Y-%m-%d"))
    plain.to_json(root / "all.jsonl", orient="records", lines=True)
    pl.from_arrow(ARROW).write_ipc(root / "all.arrow")
    for number, (start, stop) in enumerate(cut for cut in CUTS if cut[0] < cut[1]):
        for form in ("csv", "parquet", "jsonl"):
            (root / form / f"deep{number}").mkdir(parents=True, exist_ok=True)
        some = TABLE[start:stop]
        some.to_csv(root / "csv" / f"deep{number}" / f"part{number}.csv", index=False)
        some.to_parquet(root / "parquet" / f"deep{number}" / f"part-{number}.parquet")
        plain[start:stop].to_json(root / "jsonl" / f"deep{number}" / "some.jsonl", orient="records", lines=True)
    (root / "parquet" / "_SUCCESS.parquet").touch()
    return root


def once(tables: list[Any]) -> Iterator[Any]:
    yield from tables


class Again:
    """Gives its tables as often as it is asked, and is no list."""

    def __iter__(self) -> Iterator[Any]:
        return iter(PIECES)


INPUTS: dict[str, Callable[[Path], Any]] = {
    "csv": lambda root: root / "all.csv",
    "parquet": lambda root: str(root / "all.parquet"),
    "jsonl": lambda root: root / "all.jsonl",
    "arrow": lambda root: root / "all.arrow",
    "pattern of csv": lambda root: f"{root}/csv/**/*.csv",
    "pattern of parquet": lambda root: f"{root}/parquet/*/*.parquet",
    "pattern of jsonl": lambda root: f"{root}/jsonl/**/*.jsonl",
    "folder": lambda root: root / "parquet",
    "list of paths": lambda root: sorted((root / "csv").rglob("*.csv"), reverse=True),
    "tuple of one path": lambda root: (str(root / "all.parquet"),),
    "generator of paths": lambda root: (root / "parquet").rglob("part*.parquet"),
    "several formats": lambda root: [
        root / "csv/deep0/part0.csv", root / "csv/deep1/part1.csv", root / "parquet/deep2/part-2.parquet"
    ],
    "query": lambda root: tw.sql(f"SELECT * FROM '{root}/all.parquet'"),
    "source": lambda root: open_source(str(root / "all.csv")),
    "dataset": lambda root: pa.dataset.dataset(root / "all.parquet"),
    "dataset of csv": lambda root: pa.dataset.dataset(root / "all.csv", format=EMPTY_IS_MISSING),
    "dataset in memory": lambda _: pa.dataset.dataset(ARROW),
    "relation": lambda root: duckdb.sql(f"SELECT * FROM '{root}/all.parquet'"),
    "lazy frame": lambda root: pl.scan_parquet(root / "all.parquet"),
    "generator of pandas": lambda _: once(PIECES),
    "generator of polars": lambda _: once([pl.from_pandas(piece) for piece in PIECES]),
    "generator of arrow": lambda _: once(ARROW.to_batches(6_000)),
    "generator of dicts": lambda _: once([ARROW.slice(start, stop - start).to_pydict() for start, stop in CUTS]),
    "reader of arrow": lambda _: ARROW.to_reader(6_000),
    "reader of pandas": lambda root: pd.read_csv(root / "all.csv", chunksize=9_000, parse_dates=["day"]),
    "function": lambda _: lambda: once(PIECES),
    "function that gives one table": lambda _: lambda: TABLE,
    "list of tables": lambda _: list(PIECES),
    "iterable": lambda _: Again(),
}  # fmt: skip


def values_of(frames: list[Frame]) -> dict[str, list[Any]]:
    """All rows as plain values, whatever the levels of each frame."""
    found: dict[str, list[Any]] = {}
    for frame in frames:
        for column in frame.columns:
            if column.levels is None:
                values = [None if value != value else value for value in column.values.tolist()]
            else:
                levels = [*levels_of(column)[1], None]
                values = [levels[code] for code in column.values.tolist()]
            found.setdefault(column.name, []).extend(values)
    return found


def opened(data: Any, scratch: Path, **settings: Any) -> Chunks:
    chunks = chunked(data, **({"memory_limit": LIMIT, "scratch": scratch} | settings))
    assert chunks is not None
    return chunks


WHOLE = values_of([read(TABLE)])


@pytest.mark.parametrize("name", INPUTS)
def test_every_input_gives_the_rows_of_the_table(name: str, folder: Path, tmp_path: Path) -> None:
    chunks = opened(INPUTS[name](folder), tmp_path)
    assert chunks.columns == tuple(TABLE.columns)
    frames = list(chunks.frames())
    assert all(frame.n_rows for frame in frames)
    assert values_of(frames) == WHOLE
    again = list(chunks.frames())
    assert [frame.n_rows for frame in again] == [frame.n_rows for frame in frames]
    assert values_of(again) == WHOLE
    some = list(chunks.frames(["answer", "number", "not there"]))
    assert {frame.names for frame in some} == {("number", "answer")}
    assert values_of(some) == {name: WHOLE[name] for name in ("number", "answer")}


@pytest.mark.parametrize("name", ["csv", "folder", "query", "lazy frame", "generator of polars", "function"])
def test_one_pass_keeps_nothing(name: str, folder: Path, tmp_path: Path) -> None:
    chunks = opened(INPUTS[name](folder), tmp_path, passes=1)
    assert values_of(list(chunks.frames())) == WHOLE
    assert not list(tmp_path.rglob("*"))


@pytest.mark.parametrize("name", ["csv", "pattern of csv", "folder", "generator of pandas", "query", "lazy frame"])
def test_the_schema_and_the_codes_are_those_of_the_whole_table(name: str, folder: Path, tmp_path: Path) -> None:
    chunks = opened(INPUTS[name](folder), tmp_path)
    schema = described(reduce(merge, (summarize(frame, "answer", None, None) for frame in chunks.frames())))
    parts = [encode_partition(frame, schema, "answer", None) for frame in chunks.frames()]
    encoded, expected = training_table(TABLE if name.startswith("gen") else INPUTS[name](folder), "answer")
    assert schema == expected
    for place, column in enumerate(encoded.columns):
        np.testing.assert_array_equal(np.concatenate([part.columns[place] for part in parts]), column)


def test_folders_whose_names_are_columns(folder: Path, tmp_path: Path) -> None:
    chunks = opened(folder / "partitioned", tmp_path)
    assert chunks.columns == ("number", "whole", "text", "day", "answer")
    found = values_of(list(chunks.frames()))
    assert sorted(zip(*found.values(), strict=True), key=repr) == sorted(zip(*WHOLE.values(), strict=True), key=repr)


@pytest.mark.parametrize("data", [TABLE, ARROW, {"a": [1, 2]}, [[1, 2], [3, 4]], [{"a": 1}], np.ones((2, 2)), 7, None])
def test_tables_in_memory_are_not_large(data: object, tmp_path: Path) -> None:
    assert chunked(data, memory_limit=LIMIT, scratch=tmp_path) is None
    assert not list(tmp_path.iterdir())


# --- how much at once -----------------------------------------------------------------------------------------------


def test_frames_are_a_modest_share_of_memory(folder: Path, tmp_path: Path) -> None:
    assert opened(folder / "all.parquet", tmp_path, memory_limit=1 << 40).rows == room.MOST_ROWS
    small = opened(folder / "all.parquet", tmp_path, memory_limit=1 << 20)
    assert small.rows == room.FEWEST_ROWS
    assert [frame.n_rows for frame in small.frames()] == [7_000, 7_000, 7_000, 4_000]
    tables = opened(iter([TABLE]), tmp_path, memory_limit=1 << 20)
    assert [frame.n_rows for frame in tables.frames()] == [8_334, 8_334, 8_332]


@pytest.mark.parametrize("name", ["csv", "parquet", "folder", "pattern of csv", "arrow", "dataset"])
def test_bytes_are_of_the_right_size(name: str, folder: Path, tmp_path: Path) -> None:
    n_bytes = opened(INPUTS[name](folder), tmp_path).bytes
    assert n_bytes is not None
    assert N * 5 * 4 < n_bytes < N * 5 * 32


def test_memory_is_bounded(tmp_path: Path) -> None:
    """One group of rows that is larger than what may be used to read it."""
    path, rows = tmp_path / "wide.parquet", 1_500_000
    columns = {f"x{place}": np.random.default_rng(place).normal(size=rows) for place in range(12)}
    pa.parquet.write_table(pa.table(columns), path, row_group_size=rows, use_dictionary=False)
    program = f"""
import resource
from pathlib import Path
import pyarrow.parquet
from treewright.out_of_core.chunks import chunked
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = peak()
chunks = chunked({str(path)!r}, memory_limit=1 << 28, scratch=Path({str(tmp_path)!r}))
print(sum(frame.n_rows for frame in chunks.frames()), peak() - before)
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    counted, grown = answer.stdout.split()
    assert int(counted) == rows
    assert float(grown) < 100  # all rows would be 144 MB


# --- what comes only once -------------------------------------------------------------------------------------------


def test_a_pass_that_is_broken_off_is_taken_up(tmp_path: Path) -> None:
    requested = []

    def tables() -> Iterator[Any]:
        for piece in PIECES:
            requested.append(len(piece))
            yield piece

    chunks = opened(tables(), tmp_path)
    next(chunks.frames())
    assert len(requested) < len(PIECES)
    assert values_of(list(chunks.frames())) == WHOLE
    assert values_of(list(chunks.frames())) == WHOLE
    assert requested == [len(piece) for piece in PIECES]


def test_an_error_of_the_iterator_is_the_users(tmp_path: Path) -> None:
    def tables() -> Iterator[Any]:
        yield PIECES[0]
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        list(opened(tables(), tmp_path).frames())


def test_a_query_is_run_once(tmp_path: Path) -> None:
    chunks = opened(tw.sql("SELECT random() AS r FROM range(30000)"), tmp_path)
    assert values_of(list(chunks.frames())) == values_of(list(chunks.frames()))


# --- errors -----------------------------------------------------------------------------------------------------------


def test_files_that_differ_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,z\n1,2\n")
    with pytest.raises(tw.DataError, match=r"b\.csv lacks the column 'y', which .*a\.csv has; .* here 'x', 'y'"):
        chunked(f"{tmp_path}/*.csv", memory_limit=LIMIT, scratch=tmp_path)
    (tmp_path / "b.csv").write_text("y,x\n1,2\n")
    with pytest.raises(tw.DataError, match=r"b\.csv has 'y' where .*a\.csv has 'x'; .*same order"):
        chunked(f"{tmp_path}/*.csv", memory_limit=LIMIT, scratch=tmp_path)
    for number, columns in enumerate([{"x": [1]}, {"x": [1], "extra": [2]}]):
        pa.parquet.write_table(pa.table(columns), tmp_path / f"{number}.parquet")
    with pytest.raises(tw.DataError, match=r"1\.parquet has the column 'extra', but .*0\.parquet has not"):
        chunked(f"{tmp_path}/?.parquet", memory_limit=LIMIT, scratch=tmp_path)


def test_types_are_guessed_from_all_files(tmp_path: Path) -> None:
    for number in range(12):
        value = "two" if number == 11 else number
        (tmp_path / f"{number:02}.csv").write_text(f"x,y\n{value},a\n")
    assert values_of(list(opened(f"{tmp_path}/*.csv", tmp_path).frames()))["x"][9:] == ["9", "10", "two"]
    assert values_of([read(f"{tmp_path}/*.csv")])["x"][9:] == ["9", "10", "two"]


def test_several_files_in_memory(folder: Path) -> None:
    for name in ("pattern of csv", "pattern of parquet", "folder", "pattern of jsonl"):
        assert values_of([read(INPUTS[name](folder))]) == WHOLE


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(tw.DataError, match="there is no file"):
        chunked(f"{tmp_path}/*.csv", memory_limit=LIMIT, scratch=tmp_path)
    with pytest.raises(tw.DataError, match="is a folder; name a file in it"):
        chunked(tmp_path, memory_limit=LIMIT, scratch=tmp_path)
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"x,y\n1,2\n"))
    assert values_of(list(opened([tmp_path / "x.csv.gz"], tmp_path).frames())) == {"x": [1.0], "y": [2.0]}


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ([], "are empty"),
        ([pd.DataFrame()], "are empty"),
        ([TABLE, TABLE.drop(columns="day")], "table 2 lacks the column 'day', which the first has"),
        ([TABLE, TABLE.assign(more=1)], "table 2 has the column 'more', but the first has not"),
        ([TABLE, 7], "expected a pandas, polars or pyarrow table"),
    ],
)
def test_tables_that_are_none(tables: list[Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(tw.DataError, match=message):
        list(opened(iter(tables), tmp_path).frames())


def test_functions_that_give_no_tables(tmp_path: Path) -> None:
    with pytest.raises(tw.DataError, match="this one gave a int"):
        chunked(lambda: 7, memory_limit=LIMIT, scratch=tmp_path)


def test_a_connection_is_no_table(tmp_path: Path) -> None:
    with pytest.raises(tw.DataError, match=r"as in connection.sql\('SELECT"):
        chunked(duckdb.connect(), memory_limit=LIMIT, scratch=tmp_path)


def test_a_disk_that_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    chunks = opened(iter(PIECES), tmp_path)
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(ScratchError, match=r"has no room: .* Give a folder on a larger disk"):
        list(chunks.frames())
