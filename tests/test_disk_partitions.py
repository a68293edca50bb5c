"""Partitions in a folder: they reply as partitions in memory do, share unchanged arrays, and leave nothing behind."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treewright.data.encoding import Encoded
from treewright.errors import DataError
from treewright.growing import partition_worker as work
from treewright.growing.memory_partitions import MemoryPartitions
from treewright.out_of_core.disk_partitions import DiskPartitions, in_threads, rows_per_partition, write_partitions
from treewright.out_of_core.scratch_folder import LOCK, scratch

RECIPE = {"shift": 3}


def table(n_rows: int, *, weight: bool = True, dealt: bool = False, classes: int = 3, seed: int = 0) -> Encoded:
    """Two numbers, one of them not contiguous, and levels."""
    rng = np.random.default_rng(seed)
    return Encoded(
        columns=(
            rng.normal(size=n_rows),
            rng.normal(size=(n_rows, 2))[:, 1],
            rng.integers(-1, 4, n_rows, dtype=np.int32),
        ),
        kinds=(0, 0, 2),
        levels=(0, 0, 4),
        n_rows=n_rows,
        target=rng.integers(0, classes, n_rows, dtype=np.int32) if classes else rng.normal(size=n_rows),
        n_classes=classes,
        weight=rng.random(n_rows) if weight else None,
        dealt=rng.integers(0, 9, (n_rows, 2)) if dealt else None,
    )


def rows_of(part: Encoded) -> list[Any]:
    """Everything a part has, as plain values that can be compared."""
    arrays = [*part.columns, part.target, part.weight, part.dealt]
    shown = [one if one is None else (one.dtype.str, one.tolist()) for one in arrays]
    return [*shown, part.kinds, part.levels, part.n_rows, part.n_classes]


def pieces_of(whole: Encoded, cuts: list[int]) -> Iterator[Encoded]:
    for start, stop in zip([0, *cuts], [*cuts, whole.n_rows], strict=True):
        chosen = slice(start, stop)
        yield Encoded(
            tuple(column[chosen] for column in whole.columns),
            whole.kinds,
            whole.levels,
            stop - start,
            whole.target[chosen],
            whole.n_classes,
            None if whole.weight is None else whole.weight[chosen],
            None if whole.dealt is None else whole.dealt[chosen],
        )


# --- a toy for the core ---------------------------------------------------------------------------------------------


def toy_answer(
    part: Encoded, recipe: Mapping[str, Any], state: work.State, question: bytes
) -> tuple[work.State, bytes]:
    """Adds up codes, made once, of rows that lie in an even place; every question b"move" moves all rows by one."""
    prepared = state.prepared or {"codes": part.columns[2].astype(np.int64) + recipe["shift"], "none": np.empty((0, 2))}
    places = state.assignment or {"node": np.arange(part.n_rows) % 7, "asked": np.zeros(1, np.uint8)}
    if question == b"move":
        places = {"node": places["node"] + 1, "asked": places["asked"] + np.uint8(1)}
    elif question == b"touch":
        places = {**places, "asked": places["asked"] + np.uint8(1)}
    total = int(prepared["codes"][places["node"] % 2 == 0].sum())
    assert prepared["none"].shape == (0, 2)
    new = work.State(prepared, places)
    return new, np.array([total, part.n_rows, int(places["asked"][0])], np.int64).tobytes()


def toy_merge(first: bytes, second: bytes) -> bytes:
    one, two = np.frombuffer(first, np.int64), np.frombuffer(second, np.int64)
    return np.array([one[0] + two[0], one[1] + two[1], max(one[2], two[2])]).tobytes()


@pytest.fixture(autouse=True)
def _toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "handle", toy_answer)
    monkeypatch.setattr(work, "merge", toy_merge)


# --- the same as in memory ------------------------------------------------------------------------------------------


def written(whole: Encoded, cuts: list[int], folder: Path, limit: int, threads: int = 2, **more: Any) -> DiskPartitions:
    return write_partitions(pieces_of(whole, cuts), folder, memory_limit=limit, n_threads=threads, **more)


@given(st.data())
@settings(deadline=None, max_examples=60)
def test_partitions_hold_the_rows_that_came_in(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(0, 60))
    classes = data.draw(st.sampled_from([0, 3]))
    whole = table(n_rows, weight=data.draw(st.booleans()), dealt=data.draw(st.booleans()), classes=classes)
    cuts = sorted(data.draw(st.lists(st.integers(0, n_rows), max_size=6)))
    limit, threads = data.draw(st.integers(1, 20_000)), data.draw(st.integers(1, 3))
    known = data.draw(st.sampled_from([None, n_rows]))
    with scratch() as folder:
        parts = written(whole, cuts, folder, limit, threads, n_rows=known)
        assert sum(parts.sizes) == n_rows
        assert max(parts.sizes) <= rows_per_partition(whole, limit, threads)
        assert len(set(parts.sizes[:-1])) <= 1
        assert n_rows == 0 or min(parts.sizes) > 0
        assert (parts.kinds, parts.levels, parts.n_classes) == (whole.kinds, whole.levels, whole.n_classes)
        ends = np.cumsum(parts.sizes).tolist()
        assert parts.map(rows_of) == [rows_of(piece) for piece in pieces_of(whole, ends[:-1])]
        parts.close()
        assert files_in(folder) == 0


@given(st.data())
@settings(deadline=None, max_examples=40)
def test_replies_are_those_of_partitions_in_memory(data: st.DataObject) -> None:
    n_rows = data.draw(st.integers(0, 60))
    whole = table(n_rows)
    cuts = sorted(data.draw(st.lists(st.integers(0, n_rows), max_size=6)))
    questions = data.draw(st.lists(st.sampled_from([b"count", b"move", b"touch"]), max_size=8))
    with scratch() as folder:
        local = written(whole, cuts, folder, data.draw(st.integers(1, 20_000)), data.draw(st.integers(1, 3)))
        memory = MemoryPartitions(list(pieces_of(whole, np.cumsum(local.sizes).tolist()[:-1])))
        ours, theirs = local.growth(RECIPE), memory.growth(RECIPE)
        besides = local.growth({"shift": 5})  # another tree on the same parts changes nothing
        for question in questions:
            assert ours.send(question) == theirs.send(question)
            besides.send(b"move")
        before = files_in(folder)
        ours.close()
        ours.close()
        besides.close()
        assert files_in(folder) == len(local.sizes)
        assert before >= files_in(folder)


def half_weight(part: Encoded, by: float, least: int = 0) -> Encoded:
    assert part.weight is not None
    return replace(part, weight=part.weight * by + least, dealt=np.stack([np.arange(part.n_rows)] * 2, axis=1))


def test_changed_partitions_share_what_stays_the_same(tmp_path: Path) -> None:
    whole = table(1000)
    local = written(whole, [300], tmp_path, 100_000)
    memory = MemoryPartitions(list(pieces_of(whole, np.cumsum(local.sizes).tolist()[:-1])))
    n_parts = len(local.sizes)
    assert n_parts > 2
    before = bytes_in(tmp_path)
    changed = local.changed(half_weight, 0.5, each=range(n_parts))
    wanted = memory.changed(half_weight, 0.5, each=range(n_parts))
    assert changed.map(rows_of) == wanted.map(rows_of)
    assert bytes_in(tmp_path) - before <= 1000 * (8 + 16) + n_parts * 3 * 64  # the weight and what was dealt
    assert local.map(rows_of) == memory.map(rows_of)  # as it was

    unchanged = local.changed(lambda part: part)
    assert files_in(tmp_path) == 2 * n_parts
    local.close()
    assert changed.map(rows_of) == wanted.map(rows_of)
    assert unchanged.map(rows_of) == memory.map(rows_of)
    growth = changed.growth(RECIPE)
    changed.close()
    unchanged.close()
    assert growth.send(b"move") == wanted.growth(RECIPE).send(b"move")  # a growth keeps its rows
    growth.close()
    assert files_in(tmp_path) == 0

    with pytest.raises(ValueError, match="2 values for"):
        written(whole, [], tmp_path, 100_000).changed(half_weight, 0.5, each=[1, 2])


def test_states_are_written_only_when_they_are_new(tmp_path: Path) -> None:
    local = written(table(1000), [], tmp_path, 100_000)
    growth, n_parts = local.growth(RECIPE), len(local.sizes)
    growth.send(b"count")
    first = names_in(tmp_path)
    assert len(first) == 3 * n_parts  # columns, prepared, places
    growth.send(b"count")
    assert names_in(tmp_path) == first
    growth.send(b"move")
    second = names_in(tmp_path)
    assert len(second) == 3 * n_parts
    assert len(first & second) == 2 * n_parts  # the old places are gone
    growth.send(b"touch")
    third = names_in(tmp_path)
    assert len(second & third) == 3 * n_parts  # one of two arrays stays, so does its file
    assert len(third) == 4 * n_parts


def test_partitions_are_mapped_one_per_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local = written(table(1000), [], tmp_path, 20_000, threads=3)
    assert len(local.sizes) > 20

    def maps(part: Encoded) -> int:
        return Path("/proc/self/maps").read_text().count(str(tmp_path))

    if not Path("/proc/self/maps").exists():
        pytest.skip("only Linux tells what is mapped")
    assert max(local.map(maps)) <= 3
    assert maps(table(0)) == 0

    def watched(part: Encoded, recipe: Any, state: work.State, question: bytes) -> tuple[work.State, bytes]:
        most.append(maps(part))
        return toy_answer(part, recipe, state, question)

    most: list[int] = []
    monkeypatch.setattr(work, "handle", watched)
    growth = local.growth(RECIPE)
    for _ in range(3):
        growth.send(b"move")
    assert max(most) <= 3 * 3  # columns, prepared, places
    assert maps(table(0)) == 0


def test_mapped_arrays_cannot_be_changed(tmp_path: Path) -> None:
    def change(part: Encoded) -> None:
        part.columns[0][0] = 1

    with pytest.raises(ValueError, match="read-only"):
        written(table(10), [], tmp_path, 10**9).map(change)


def test_more_columns_than_files_may_be_open(tmp_path: Path) -> None:
    many = 3000
    column = np.arange(5.0)
    wide = Encoded((column,) * many, (0,) * many, (0,) * many, 5, column, 0)
    parts = write_partitions([wide, wide], tmp_path, memory_limit=10**6, n_threads=2)
    assert sum(parts.map(lambda part: sum(float(one.sum()) for one in part.columns))) == 2 * many * column.sum()


def test_no_rows_and_no_pieces(tmp_path: Path) -> None:
    parts = write_partitions([table(0), table(0)], tmp_path, memory_limit=10**6)
    assert parts.sizes == (0,)
    assert parts.map(rows_of) == [rows_of(table(0))]
    assert parts.growth(RECIPE).send(b"count") == np.zeros(3, np.int64).tobytes()
    with pytest.raises(DataError, match="not one piece"):
        write_partitions([], tmp_path, memory_limit=10**6)


def test_the_size_of_partitions() -> None:
    rows = table(10)  # 8 + 8 + 4 + 4 + 8 bytes a row, 3 columns: with codes and places 32 + 6 + 40 = 78
    assert rows_per_partition(rows, 78 * 4 * 1000, 1) == 1000
    assert rows_per_partition(rows, 78 * 4 * 1000, 4) == 250
    assert rows_per_partition(rows, 1, 4) == 1
    assert rows_per_partition(rows, 78 * 4 * 1000, 1, n_rows=1001) == 501
    assert rows_per_partition(rows, 78 * 4 * 1000, 2, n_rows=1001) == 251  # four parts, not three
    assert rows_per_partition(rows, 10**12, 4, n_rows=1001) == 1001  # so few rows are not worth dividing
    assert rows_per_partition(rows, 10**12, 4, n_rows=10**6) == 250_000
    assert rows_per_partition(rows, 10**12, 4, n_rows=0) == 1


# --- threads --------------------------------------------------------------------------------------------------------


def test_every_turn_is_taken_once() -> None:
    assert sorted(turn for some in in_threads(list, 100, 7) for turn in some) == list(range(100))
    assert in_threads(list, 0, 7) == [[]]


def test_partitions_are_served_at_the_same_time(tmp_path: Path) -> None:
    local = written(table(1000), [], tmp_path, 100_000, threads=2)
    together = threading.Barrier(2)
    local.map(lambda part: together.wait(30) if part.n_rows == local.sizes[0] else 0)


def test_the_error_of_the_first_part_is_raised_and_the_rest_is_spared() -> None:
    taken: list[int] = []
    failed = threading.Event()

    def task(turns: Iterator[int]) -> None:
        for turn in turns:
            taken.append(turn)
            if turn == 3:
                failed.wait(30)
                raise RuntimeError("third")
            if turn == 4:
                failed.set()
                raise RuntimeError("fourth")

    before = threading.active_count()
    with pytest.raises(RuntimeError, match="third"):
        in_threads(task, 1000, 2)
    assert sorted(taken) == [0, 1, 2, 3, 4]
    assert threading.active_count() == before


def test_an_error_ends_the_growth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local = written(table(100), [], tmp_path, 10_000)
    growth = local.growth(RECIPE)
    growth.send(b"move")

    def fail(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(work, "handle", fail)
    with pytest.raises(RuntimeError, match="broken"):
        growth.send(b"move")
    assert files_in(tmp_path) == len(local.sizes)
    with pytest.raises(ValueError, match="closed"):
        growth.send(b"move")


# --- memory ---------------------------------------------------------------------------------------------------------

#: Writes a table of so many rows, 10 numbers each, asks it twice, and tells how much memory that took at its peak.
LEARNING = """
import re, sys
import numpy as np
from treewright.data.encoding import Encoded
from treewright.growing import partition_worker as work
from treewright.out_of_core.disk_partitions import write_partitions
from treewright.out_of_core.scratch_folder import scratch

def answer(part, recipe, state, question):
    prepared = state.prepared or {str(i): (column * 100).astype(np.uint8) for i, column in enumerate(part.columns)}
    node = state.assignment["node"] + 1 if state.assignment else np.zeros(part.n_rows, np.int32)
    total = sum(int(codes.sum()) + float(column.sum()) for codes, column in zip(prepared.values(), part.columns))
    return work.State(prepared, {"node": node}), np.array([total, part.n_rows]).tobytes()

def merge(first, second):
    return (np.frombuffer(first) + np.frombuffer(second)).tobytes()

def pieces(n_rows):
    for seed in range(n_rows // 20_000):
        columns = tuple(np.random.default_rng(seed).random((10, 20_000)))
        yield Encoded(columns, (0,) * 10, (0,) * 10, 20_000, columns[0], 0)

def peak():  # of this program alone; getrusage would count the one that started it too
    return 1024 * int(re.findall("VmHWM:(.*)kB", open("/proc/self/status").read())[0])

work.handle, work.merge = answer, merge
n_rows, limit = int(sys.argv[2]), int(sys.argv[3])
before = peak()
with scratch(sys.argv[1]) as folder:
    parts = write_partitions(pieces(n_rows), folder, memory_limit=limit, n_threads=2)
    growth = parts.growth({})
    growth.send(b"")
    assert int(np.frombuffer(growth.send(b""))[1]) == n_rows
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak so")
@pytest.mark.parametrize(
    ("n_rows", "limit"),
    [
        pytest.param(1_200_000, 24_000_000, id="100 MB in 24 MB"),
        pytest.param(12_000_000, 200_000_000, marks=pytest.mark.slow, id="1 GB in 200 MB"),
    ],
)
def test_memory_stays_below_the_limit(tmp_path: Path, n_rows: int, limit: int) -> None:
    command = [sys.executable, "-c", LEARNING, str(tmp_path), str(n_rows), str(limit)]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    assert 0 < int(output) < limit
    assert list(tmp_path.iterdir()) == []


def files_in(folder: Path) -> int:
    return len(names_in(folder))


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.name != LOCK}


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())
