"""What is a large input, and its rows in one pass.

Comes in: whatever a user calls data. Goes out: whether it is to be read some rows at a time, and its tables one by one.
Always holds: no more than one table is held at a time; tables have at least one row and come in the order of the rows.
Nothing is imported to find out: a dask collection is known by its module.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from treewright.errors import DataError
from treewright.files import Source, is_source, open_source
from treewright.frame import Frame
from treewright.schema import Schema

#: A table as `table.read` takes it.
Table = Any


def is_large(data: object) -> bool:
    """Whether this is read some rows at a time.

    A name, a pattern or a query, a dataset of pyarrow, a relation of DuckDB, an iterator of tables, a dask collection;
    not a table in memory.

    >>> is_large("rows/*.parquet"), is_large(iter([])), is_large([[1, 2]])
    (True, True, False)
    """
    if type(data) is np.ndarray:  # the commonest, and often in a hurry
        return False
    return is_source(data) or isinstance(data, (Source, Iterator)) or _is_foreign(data) or is_dask(data)


def is_dask(data: object) -> bool:
    """Whether this is a dask collection."""
    return _package(data) == "dask"


def tables(
    data: object, *, schema: Schema | None = None, only: Collection[str] | None = None, size: int
) -> Iterator[Table]:
    """The rows of a large input that is no dask collection, in one pass.

    `schema` says what the columns of a text file are, `only` which are wanted, if the input can choose. Tables have at
    most `size` rows, except an iterator's, which come as they are. No rows at all is an error.
    """
    source = _source(data, schema)
    found = data if source is None else source.batches(only, size)
    assert isinstance(found, Iterator), "only large inputs come here"
    return _filled(found, "the iterator" if source is None else source.name)


def joined(data: object, target: object, weight: object = None) -> tuple[Any, str, str | None]:
    """A large input that holds the target and the weights too, and what they are called there."""
    if is_dask(data):
        from treewright.parts import lazily

        return lazily.joined(data, target, weight)
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


def _filled(found: Iterator[Table], name: str) -> Iterator[Table]:
    some = False
    for table in found:
        if _has_rows(table):
            some = True
            yield table
    if not some:
        raise DataError(f"{name} has no rows")


def _has_rows(table: Any) -> bool:
    if isinstance(table, Frame):
        return table.n_rows > 0
    if isinstance(table, dict):
        return any(len(values) for values in table.values())
    shape = getattr(table, "shape", None)
    return bool(shape[0] if shape else not hasattr(table, "__len__") or len(table))


def _source(data: object, schema: Schema | None) -> Source | None:
    """The input as a source; None for an iterator."""
    if isinstance(data, Source):
        return data
    if is_source(data):
        return open_source(data, schema=schema)
    if _is_foreign(data) and _package(data) == "pyarrow":
        from treewright.files.arrow import dataset_source

        return dataset_source(data)
    if _is_foreign(data):
        from treewright.files.duck import relation_source

        return relation_source(data)
    return None


def _is_foreign(data: object) -> bool:
    """A dataset of pyarrow, a relation of DuckDB."""
    return (_package(data) == "pyarrow" and hasattr(data, "to_batches") and hasattr(data, "scanner")) or (
        _package(data) in {"duckdb", "_duckdb"} and hasattr(data, "project")
    )


def _package(data: object) -> str:
    return type(data).__module__.partition(".")[0]
