"""Partitions in a scratch folder: a table larger than memory, on one machine.

A thread maps one partition at a time and merges its replies itself. Threads live as long as a call.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from treewright.data.arrays import Array
from treewright.data.encoding import Encoded
from treewright.data.rows import take
from treewright.errors import DataError
from treewright.growing import partition_worker as worker
from treewright.growing.partitions import Limits, Partitions
from treewright.growing.side_by_side import threads_worth
from treewright.out_of_core.stored_arrays import Stored, mapped, store, stored_again

Value = TypeVar("Value")

#: A row that is worked on costs its values, a code for each, and its place, weight and sums.
BYTES_PER_CODE = 2
BYTES_PER_ROW = 40

#: All parts in work together may take this share of the memory limit; replies and the tree need room too.
SHARE_OF_LIMIT = 0.25

#: A node of so few rows is read whole: its subtree costs less than the requests about it.
NODE_ROWS = 1 << 15

#: Parts smaller than this are more trouble than they save.
FEWEST_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class StoredPartition:
    """A part whose arrays lie in files: `bare` is the part without them."""

    bare: Encoded
    arrays: Mapping[str, Stored]

    def mapped(self) -> Encoded:
        return _with_arrays(self.bare, mapped(self.arrays))


@dataclass(frozen=True, eq=False)
class StoredState:
    """A `worker.State` whose arrays lie in files."""

    prepared: Mapping[str, Stored]
    assignment: Mapping[str, Stored]


class DiskGrowth:
    """The states of all parts, in files. A request that fails, or is broken off, ends the growth."""

    def __init__(self, parts: Sequence[StoredPartition], recipe: Mapping[str, Any], folder: Path, threads: int) -> None:
        self._parts = parts
        self._recipe = recipe
        self._folder = folder
        self._threads = threads
        self._states = [StoredState({}, {}) for _ in parts]

    def send(self, request: bytes) -> bytes:
        states = self._states
        if not states:
            raise ValueError("this growth is closed")

        def handled(turns: Iterator[int]) -> bytes | None:
            merged: bytes | None = None
            for turn in turns:
                states[turn], reply = self._handle(self._parts[turn], states[turn], request)
                merged = reply if merged is None else worker.merge(merged, reply)
            return merged

        try:
            merged = in_threads(handled, len(self._parts), self._threads)
        except BaseException:
            self.close()
            raise
        return reduce(worker.merge, [reply for reply in merged if reply is not None])

    def _handle(self, part: StoredPartition, state: StoredState, request: bytes) -> tuple[StoredState, bytes]:
        old = worker.State(mapped(state.prepared), mapped(state.assignment))
        new, reply = worker.handle(part.mapped(), self._recipe, old, request)
        return StoredState(
            stored_again(new.prepared, old.prepared, state.prepared, self._folder),
            stored_again(new.assignment, old.assignment, state.assignment, self._folder),
        ), reply

    def close(self) -> None:
        self._parts = ()
        self._states.clear()


class DiskPartitions(Partitions):
    """Pieces of a table, in files of one folder, which its maker removes."""

    def __init__(self, parts: Sequence[StoredPartition], folder: Path, threads: int, limits: Limits) -> None:
        self.limits = limits
        self._parts = tuple(parts)
        self.shapes = tuple(part.bare for part in self._parts)
        self._folder = folder
        self._threads = threads

    def map(self, function: Callable[..., Value], *arguments: object) -> list[Value]:
        return self._each(lambda turn: function(self._parts[turn].mapped(), *arguments))

    def changed(
        self, function: Callable[..., Encoded], *arguments: object, each: Sequence[object] | None = None
    ) -> DiskPartitions:
        parts = self._parts
        own: list[tuple[object, ...]] = [()] * len(parts) if each is None else [(value,) for value in each]
        if len(own) != len(parts):
            raise ValueError(f"each has {len(own)} values for {len(parts)} parts")

        def change(turn: int) -> StoredPartition:
            part = parts[turn]
            old = mapped(part.arrays)
            new = function(_with_arrays(part.bare, old), *arguments, *own[turn])
            return StoredPartition(
                _without_arrays(new, new.n_rows), stored_again(_arrays(new), old, part.arrays, self._folder)
            )

        return DiskPartitions(self._each(change), self._folder, self._threads, self.limits)

    def growth(self, recipe: Mapping[str, Any]) -> DiskGrowth:
        return DiskGrowth(self._parts, recipe, self._folder, self._threads)

    def close(self) -> None:
        self._parts = ()

    def _each(self, task: Callable[[int], Value]) -> list[Value]:
        found: dict[int, Value] = {}
        for some in in_threads(lambda turns: {turn: task(turn) for turn in turns}, len(self._parts), self._threads):
            found |= some
        return [found[turn] for turn in range(len(self._parts))]


# --- writing --------------------------------------------------------------------------------------------------------


def write_partitions(
    pieces: Iterable[Encoded], folder: Path, *, memory_limit: int, n_threads: int = 0, n_rows: int | None = None
) -> DiskPartitions:
    """Write pieces of any size as partitions that fit the memory limit, in order; at least one.

    `n_rows`, where it is known, makes the parts equal, and as many as all threads can share evenly. `n_threads=0` means
    all processors.
    """
    threads = threads_worth(n_threads)
    groups = _groups(pieces, lambda piece: rows_per_partition(piece, memory_limit, threads, n_rows))
    parts = [_joined(group, folder) for group in groups]
    if not parts:
        raise DataError("there is not one piece of a table to learn from; give at least one, even without rows")
    return DiskPartitions(parts, folder, threads, _limits(parts[0], memory_limit))


def _limits(part: StoredPartition, memory_limit: int) -> Limits:
    """Return what may leave the parts: an eighth of the memory at once, and in nodes that are worth the way."""
    at_once = max(1, memory_limit // (8 * row_bytes(part.mapped())))
    return Limits(apart=min(at_once, NODE_ROWS), at_once=at_once, memory=memory_limit)


def row_bytes(piece: Encoded) -> int:
    """Return what one row costs while it is worked on."""
    values = sum(array.itemsize * int(np.prod(array.shape[1:])) for array in _arrays(piece).values())
    return values + BYTES_PER_CODE * len(piece.columns) + BYTES_PER_ROW


def rows_per_partition(piece: Encoded, memory_limit: int, threads: int, n_rows: int | None = None) -> int:
    """Return how many rows like these a part may have."""
    most = max(1, int(memory_limit * SHARE_OF_LIMIT / (threads * row_bytes(piece))))
    if n_rows is None:
        return most
    needed = max(-(-n_rows // most), min(threads, n_rows // FEWEST_ROWS), 1)
    even = needed if needed < threads else -(-needed // threads) * threads
    return max(1, -(-n_rows // even))


def _groups(pieces: Iterable[Encoded], most_of: Callable[[Encoded], int]) -> Iterator[list[Encoded]]:
    """Regroup the rows of all pieces so that every group but the last has `most_of` rows."""
    group: list[Encoded] = []
    most = room = 0
    for piece in pieces:
        if not most:
            most = room = most_of(piece)
            group = [take(piece, slice(0, 0))]  # if no rows follow, this is what the table looks like
        start = 0
        while start < piece.n_rows:
            group.append(take(piece, slice(start, start + room)))
            start += group[-1].n_rows
            room -= group[-1].n_rows
            if not room:
                yield group
                group, room = [], most
    if group:
        yield group


def _joined(group: Sequence[Encoded], folder: Path) -> StoredPartition:
    """Return a part of all these rows, written without ever being put together in memory."""
    pieces = [_arrays(piece) for piece in group]
    arrays = {name: [piece[name] for piece in pieces] for name in pieces[0]}
    return StoredPartition(_without_arrays(group[0], sum(piece.n_rows for piece in group)), store(arrays, folder))


# --- a part and its arrays ------------------------------------------------------------------------------------------


def _arrays(part: Encoded) -> dict[str, Array]:
    """Return all it has, by name; columns are named by their place."""
    columns: dict[str, Array] = {str(place): column for place, column in enumerate(part.columns)}
    others = {"target": part.target, "weight": part.weight, "dealt": part.dealt}
    return columns | {name: array for name, array in others.items() if array is not None}


def _with_arrays(bare: Encoded, arrays: Mapping[str, Array]) -> Encoded:
    columns = tuple(arrays[str(place)] for place in range(len(bare.kinds)))
    others: dict[str, Any] = {name: arrays.get(name) for name in ("target", "weight", "dealt")}
    return replace(bare, columns=columns, **others)


def _without_arrays(part: Encoded, n_rows: int) -> Encoded:
    return Encoded(columns=(), kinds=part.kinds, levels=part.levels, n_rows=n_rows, n_classes=part.n_classes)


# --- threads --------------------------------------------------------------------------------------------------------


def in_threads(task: Callable[[Iterator[int]], Value], n_turns: int, threads: int) -> list[Value]:
    """Return what every thread makes of its turns: each of 0, 1, ..., n_turns - 1 is taken by one thread, in order.

    An error lets no thread take another turn; of several errors, that of the first turn is raised. Ctrl-C does not wait
    for turns under way: they end by themselves, unnoticed.
    """
    line, lock, stopped = iter(range(n_turns)), threading.Lock(), threading.Event()
    results: list[Value] = []
    errors: dict[int, BaseException] = {}

    def work_off() -> None:
        turn = -1

        def turns() -> Iterator[int]:
            nonlocal turn
            while not stopped.is_set():
                with lock:
                    following = next(line, None)
                if following is None:
                    return
                turn = following
                yield turn

        try:
            results.append(task(turns()))
        except BaseException as error:  # noqa: BLE001 (it is raised below, where someone waits)
            stopped.set()
            errors[turn] = error

    n_threads = max(1, min(threads, n_turns))
    executor = ThreadPoolExecutor(n_threads, thread_name_prefix="treewright")
    finished = False
    try:
        futures = [executor.submit(work_off) for _ in range(n_threads)]
        while wait(futures, timeout=1).not_done:  # not every system wakes a thread that waits without end for Ctrl-C
            pass
        finished = True
    finally:
        stopped.set()
        executor.shutdown(wait=finished, cancel_futures=True)
    if errors:
        first = errors[min(errors)]
        errors.clear()  # an error knows where it was raised, and with it the arrays that were mapped there
        try:
            raise first
        finally:
            del first
    return results
