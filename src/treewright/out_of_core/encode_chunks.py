"""Encode a table that is read in chunks: in memory if there is room, otherwise in a scratch folder."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import reduce
from itertools import chain
from pathlib import Path

from treewright.data.encoding import Encoded
from treewright.data.frame import Frame
from treewright.data.kinds import KindChoice
from treewright.data.rows import concat
from treewright.data.schema import Schema, Task
from treewright.data.sources import is_source, open_source
from treewright.errors import DataError
from treewright.growing.partitions import Partitions
from treewright.out_of_core import column_summary
from treewright.out_of_core.chunks import chunked
from treewright.out_of_core.dask_partitions import is_partitioned, partitions
from treewright.out_of_core.disk_partitions import row_bytes, write_partitions
from treewright.out_of_core.memory_limit import working_memory

_log = logging.getLogger("treewright.growing.partitions")

SECONDS_BETWEEN_LINES = 5

#: Memory to grow in memory, as a multiple of the size of the encoded rows.
IN_MEMORY = 3


def fits_in_memory(data: object, memory_limit: float | str | None) -> bool:
    """Return whether this names a table of known size that memory has room for."""
    if not is_source(data):
        return False
    size = open_source(data).n_bytes
    room = working_memory(memory_limit, None if size is None else IN_MEMORY * size)
    return size is not None and IN_MEMORY * size <= room


def encode_chunks(
    data: object,
    target: str,
    weight: str | None,
    kinds: Mapping[str, KindChoice] | None,
    task: Task | None,
    keep_columns: bool,
    *,
    check: Callable[[Schema], Schema],
    memory_limit: int,
    folder: Path,
    n_threads: int,
) -> tuple[Encoded | Partitions, Schema]:
    """Read the rows twice: to describe the columns, then to encode. `check` sees the schema before rows are written."""
    chunks = chunked(partitions(data) if is_partitioned(data) else data, memory_limit=memory_limit, scratch=folder)
    if chunks is None:
        raise DataError(f"a {type(data).__name__} cannot be read some rows at a time")
    frames = _logged("described", chunks.frames())
    each = (column_summary.summarize(frame, target, weight, kinds) for frame in frames)
    summary = reduce(column_summary.merge, each, column_summary.NOTHING)
    schema = column_summary.described(summary, task, kinds, keep_columns)
    schema = check(replace(schema, text_form=chunks.text_form))
    pieces = (
        column_summary.encode_partition(frame, schema, target, weight)
        for frame in _logged(f"of {summary.n_rows:,} encoded", chunks.frames())
    )
    first = next(pieces)
    if IN_MEMORY * summary.n_rows * row_bytes(first) <= memory_limit:
        return concat([first, *pieces]), schema
    rows = write_partitions(
        chain([first], pieces), folder, memory_limit=memory_limit, n_threads=n_threads, n_rows=summary.n_rows
    )
    return rows, schema


def _logged(what: str, frames: Iterator[Frame]) -> Iterator[Frame]:
    """Log the number of rows from time to time."""
    begun = last = time.perf_counter()
    n_rows = 0
    for frame in frames:
        yield frame
        n_rows += frame.n_rows
        if time.perf_counter() - last > SECONDS_BETWEEN_LINES:
            last = time.perf_counter()
            _log.info("%s rows %s, %.0f s", f"{n_rows:,}", what, last - begun)
    _log.info("%s rows %s, %.1f s", f"{n_rows:,}", what, time.perf_counter() - begun)
