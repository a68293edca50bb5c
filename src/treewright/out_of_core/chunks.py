"""Tables larger than memory, read in chunks that can be iterated over again.

At most a few frames are in memory at once, and every pass gives the same frames. An input that can be read only once is
copied to the scratch folder during the first pass.
"""

from __future__ import annotations

import io
import os
import pickle
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count, islice
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

from treewright.data.frame import Frame
from treewright.data.schema import NO_TEXT_FORM, Schema, TextForm
from treewright.data.sources import Reading, Source, is_name, is_source, open_source
from treewright.data.sources.multiple_files import open_files
from treewright.data.value_text import listed
from treewright.errors import DataError
from treewright.out_of_core.column_summary import frame_of
from treewright.out_of_core.stored_arrays import room_for

#: A frame may take this part of the memory limit: several are held while rows are read, coded and written.
SHARE = 32
#: What a value takes until it is coded: as the reader has it, as a number or code, and on the way between.
BYTES_PER_VALUE = 24
FEWEST_ROWS, MOST_ROWS = 10_000, 1_000_000

#: Formats that are quick to read, and the same each time. A query may give its rows in another order, or other rows.
READ_AGAIN = frozenset({"parquet", "arrow", "dataset", "duckdb"})

#: All tables, of at least these columns (None: all), afresh.
Tables = Callable[[tuple[str, ...] | None], Iterator[object]]


@dataclass(frozen=True, eq=False)
class Chunks:
    """A table some rows at a time. `bytes`: about how much memory all rows would take, None where unknown.

    `text_form`: how the text files it comes from are read.
    """

    name: str
    columns: tuple[str, ...]
    bytes: int | None
    tables: Tables
    rows: int
    text_form: TextForm = NO_TEXT_FORM

    def frames(self, only: Collection[str] | None = None) -> Iterator[Frame]:
        """Yield the rows from the first on, in order: all columns, or only these."""
        wanted = None if only is None else tuple(name for name in self.columns if name in only)
        for number, table in enumerate(self.tables(wanted), start=1):
            frame = frame_of(table, wanted)
            if not frame.n_rows:
                continue
            self._refuse_other_columns(frame, self.columns if wanted is None else wanted, number)
            yield from _pieces(frame, self.rows)

    def _refuse_other_columns(self, frame: Frame, expected: tuple[str, ...], number: int) -> None:
        absent = [name for name in expected if name not in frame.names]
        extra = [name for name in (*frame.names, *frame.skipped) if name not in self.columns]
        if absent or extra:
            raise DataError(
                f"{self.name}: table {number} {'lacks' if absent else 'has'} the column {(absent or extra)[0]!r}, "
                f"{'which' if absent else 'but'} the first {'has' if absent else 'has not'}; all need the same "
                f"columns, here {listed(self.columns)}"
            )


def chunked(
    data: object, *, memory_limit: int, scratch: Path | None, schema: Schema | None = None, passes: int = 2
) -> Chunks | None:
    """Return the table some rows at a time; None if `data` is a table in memory.

    `scratch` is a folder that the caller removes. With a `schema`, text files are read as the kinds it has. `passes=1`:
    the rows will be gone through only once, so nothing is kept of what could not be read again, and only a query may
    need the folder.
    """
    if _made_by(data, "dask"):  # which knows itself how to be in parts
        return None
    name = f"the tables of this {type(data).__name__}"
    tables: Tables | None
    if isinstance(data, Iterator) and not isinstance(data, io.IOBase):
        first = list(islice(data, 1))
        data = chain(first, data)
        if any(map(is_name, first)):  # such as Path.glob gives
            data = list(data)
    source = _source(data, memory_limit, scratch, schema)
    if source is not None:
        rows = _rows(memory_limit, len(source.columns))
        if passes == 1 or source.format in READ_AGAIN:
            tables = partial(_batches, source, rows)
        else:
            tables = _Spool(source.batches(None, rows), _required(scratch)).tables
        return Chunks(source.name, source.columns, source.n_bytes, tables, rows, source.text_form)
    once = _read_once(data, memory_limit)
    if once is not None:
        names, seen = _beginning(once, name)
        coming = chain(seen, once)
        tables = _Spool(coming, _required(scratch)).tables if passes > 1 else lambda _: coming
        return Chunks(name, names, None, tables, _rows(memory_limit, len(names)))
    tables = _read_again(data)
    if tables is None:
        return None
    names, _ = _beginning(tables(None), name)
    return Chunks(name, names, None, tables, _rows(memory_limit, len(names)))


def _required(scratch: Path | None) -> Path:
    assert scratch is not None, "rows that are gone through again need a folder"
    return scratch


# --- what names its rows --------------------------------------------------------------------------------------------


def _source(data: Any, memory_limit: int, scratch: Path | None, schema: Schema | None) -> Source | None:
    """Return what the room `files` reads."""
    reading = Reading(memory_limit=memory_limit // 4, scratch=None if scratch is None else str(scratch))
    if isinstance(data, Source):
        return data
    if is_source(data):
        return open_source(data, reading, schema)
    if isinstance(data, (list, tuple)) and data and all(map(is_name, data)):
        paths = sorted(os.fspath(path) for path in data)
        return open_files(paths, f"{paths[0]} and {len(paths) - 1} more files", reading, schema)
    if _made_by(data, "pyarrow") and hasattr(data, "to_batches") and hasattr(data, "scanner"):
        from treewright.data.sources.arrow import open_dataset

        return open_dataset(data, "the dataset", reading)
    if _made_by(data, "duckdb") and hasattr(data, "project"):
        from treewright.data.sources.duckdb import open_relation

        return open_relation(data, "the relation")
    if _made_by(data, "duckdb") and hasattr(data, "sql"):
        raise DataError("a DuckDB connection is no table; give a query, as in connection.sql('SELECT ...')")
    return None


def _batches(source: Source, rows: int, only: tuple[str, ...] | None) -> Iterator[object]:
    return source.batches(only, rows)


# --- tables one after the other ---------------------------------------------------------------------------------------


def _beginning(tables: Iterator[object], name: str) -> tuple[tuple[str, ...], list[Frame]]:
    """Return the names of the columns, and what had to be read to know them."""
    seen = []
    for table in tables:
        seen.append(frame_of(table))
        if seen[-1].columns:
            return seen[-1].names, seen
    raise DataError(f"{name} are empty: there is not one row; an iterator that was used before has nothing left")


def _read_once(data: Any, memory_limit: int) -> Iterator[object] | None:
    """Return what is gone when it has been read, or may be another the next time."""
    if isinstance(data, chain):
        return data
    if _made_by(data, "polars") and type(data).__name__ == "LazyFrame":
        if not hasattr(data, "collect_batches"):
            return iter((data.collect(),))
        rows = _rows(memory_limit, len(data.collect_schema()))
        batches: Iterator[object] = iter(data.collect_batches(chunk_size=rows, maintain_order=True))
        return batches
    return None


def _read_again(data: Any) -> Tables | None:
    """Return the tables of an input that can be read again."""
    if callable(data):
        return lambda _: _tables_of(data())
    listed_tables = isinstance(data, (list, tuple)) and data and all(map(_is_table, data))
    known = ("__len__", "__array__", "columns", "__arrow_c_stream__")  # one of which every table in memory has
    if listed_tables or (isinstance(data, Iterable) and not any(hasattr(data, name) for name in known)):
        return lambda _: iter(data)
    return None


def _tables_of(given: object) -> Iterator[object]:
    """Return what a function gives: tables, or one."""
    if _is_table(given):
        return iter((given,))
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes, Mapping)):
        raise DataError(f"a function must give tables, one after the other; this one gave a {type(given).__name__}")
    return iter(given)


class _Spool:
    """Frames that come only once, kept in files as they come; a pass that is broken off is taken up by the next."""

    def __init__(self, tables: Iterator[object], scratch: Path) -> None:
        self._coming = tables
        self._folder = Path(tempfile.mkdtemp(prefix="came-", dir=scratch))
        self._saved: list[Path] = []

    def tables(self, only: tuple[str, ...] | None) -> Iterator[object]:
        for number in count():
            if number < len(self._saved):
                frame: Frame = pickle.loads(self._saved[number].read_bytes())  # our own file  # noqa: S301
            else:
                tables = list(islice(self._coming, 1))
                if not tables:
                    return
                frame = frame_of(tables.pop())
                self._save(frame)
            if only is not None:
                kept = tuple(column for column in frame.columns if column.name in only)
                frame = replace(frame, columns=kept, skipped=tuple(name for name in frame.names if name not in only))
            yield frame

    def _save(self, frame: Frame) -> None:
        path = self._folder / str(len(self._saved))
        written = pickle.dumps(frame, protocol=5)
        with room_for(len(written), self._folder):
            path.write_bytes(written)
        self._saved.append(path)


# --- small helpers ----------------------------------------------------------------------------------------------------


def _rows(memory_limit: int, n_columns: int) -> int:
    wanted = memory_limit // SHARE // (BYTES_PER_VALUE * max(n_columns, 1))
    return min(max(wanted, FEWEST_ROWS), MOST_ROWS)


def _pieces(frame: Frame, rows: int) -> Iterator[Frame]:
    """Yield the frame in as few pieces as have at most so many rows, all of about the same size."""
    size = -(-frame.n_rows // -(-frame.n_rows // rows))
    for start in range(0, frame.n_rows, size):
        stop = min(start + size, frame.n_rows)
        columns = tuple(replace(column, values=column.values[start:stop]) for column in frame.columns)
        yield replace(frame, columns=columns, n_rows=stop - start)


def _made_by(data: object, package: str) -> bool:
    return type(data).__module__.lstrip("_").split(".")[0] == package


def _is_table(data: object) -> bool:
    """Return whether this is a frame of some library; dicts and lists could as well be rows."""
    return isinstance(data, Frame) or hasattr(data, "__arrow_c_stream__") or hasattr(data, "__dataframe__")


# --- what is in chunks ------------------------------------------------------------------------------------------------


def is_in_chunks(data: object) -> bool:
    """Return whether `chunked` would give chunks of this; nothing is read to find out.

    >>> is_in_chunks("rows/*.parquet"), is_in_chunks(iter([])), is_in_chunks([[1, 2]])
    (True, True, False)
    """
    if is_source(data) or isinstance(data, (Chunks, Source, Iterator)):
        return True
    if isinstance(data, (list, tuple)) and data and all(map(is_name, data)):
        return True
    dataset = _made_by(data, "pyarrow") and hasattr(data, "to_batches") and hasattr(data, "scanner")
    relation = _made_by(data, "duckdb") and hasattr(data, "project")
    lazy = _made_by(data, "polars") and type(data).__name__ == "LazyFrame"
    if dataset or relation or lazy or isinstance(data, (FunctionType, MethodType, partial)):
        return True
    return not _made_by(data, "dask") and not callable(data) and _read_again(data) is not None
