"""Recognise inputs that are read in batches, and iterate over their tables, one in memory at a time.

A Dask collection is recognised by its module, so nothing is imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from treewright.data.frame import Frame
from treewright.data.schema import Schema
from treewright.data.sources import Query, Source
from treewright.errors import DataError, ScratchError
from treewright.out_of_core.chunks import Chunks, chunked, is_in_chunks
from treewright.out_of_core.scratch_folder import scratch

#: A table as `table.read` takes it.
Table = Any

#: One pass needs no more than this, whatever the size of the table.
MEMORY = 1 << 30


def is_large(data: object) -> bool:
    """Return whether this is read some rows at a time, or is a dask collection; not a table in memory."""
    if type(data) is np.ndarray or type(data) is Frame:  # the most frequent cases, and often timed
        return False
    return is_dask(data) or is_in_chunks(data)


def is_dask(data: object) -> bool:
    """Return whether this is a dask collection."""
    return type(data).__module__.partition(".")[0] == "dask"


def tables(data: object, schema: Schema, keep: Collection[str] = ()) -> Iterator[Table]:
    """Yield the rows of a large input that is no dask collection, in one pass: the schema's columns, and those to keep.

    No rows at all is an error.
    """
    some = False
    for table in _from_source(data, schema, keep) if isinstance(data, Source) else _frames(data, schema, keep):
        some = True
        yield table
    if not some:
        raise DataError(f"{data.name if isinstance(data, (Chunks, Source)) else 'the table'} has no rows")


def _from_source(source: Source, schema: Schema, keep: Collection[str]) -> Iterator[Table]:
    for table in source.batches({*schema.names, *keep}):
        if table.n_rows if isinstance(table, Frame) else len(table):
            yield table


def _frames(data: object, schema: Schema, keep: Collection[str]) -> Iterator[Frame]:
    if type(data).__name__ == "LazyFrame":
        data = _with_columns(data, {*schema.names, *keep})
    with _folder(data) as folder:
        chunks = (
            data
            if isinstance(data, Chunks)
            else chunked(data, memory_limit=MEMORY, scratch=folder, schema=schema, passes=1)
        )
        assert chunks is not None, "only large inputs come here"
        there = set(schema.names) <= set(chunks.columns)  # else they go by place, or the message lists the columns
        yield from chunks.frames({*schema.names, *keep} if there else None)


@contextmanager
def _folder(data: object) -> Iterator[Path | None]:
    """Provide a scratch folder for a query, which may sort or join; other inputs need none."""
    with ExitStack() as stack:
        folder = None
        if isinstance(data, Query):
            with suppress(ScratchError):  # most queries need none either
                folder = stack.enter_context(scratch())
        yield folder


def _with_columns(lazy: Any, wanted: Collection[str]) -> Any:
    """Return a lazy frame of no more columns than are wanted."""
    names = [name for name in lazy.collect_schema().names() if name in wanted]
    return lazy.select(names) if names else lazy


def with_target(data: object, target: object, weight: object = None) -> tuple[Any, str, str | None]:
    """Return a large input that holds the target and the weights too, and what they are called there."""
    if is_dask(data):
        from treewright.out_of_core import dask_lazy as lazily

        return lazily.with_target(data, target, weight)
    if not isinstance(target, str):
        raise _unnamed(data, target, "target")
    if not (weight is None or isinstance(weight, str)):
        raise _unnamed(data, weight, "weight")
    return data, target, weight


def _unnamed(data: object, given: object, role: str) -> DataError:
    return DataError(
        f"of a table that is read some rows at a time ({type(data).__name__}), the {role} must be the name of one of "
        f"its columns, not {type(given).__name__}"
    )
