"""Arrow, Feather and Parquet files, read by pyarrow, which keeps declared levels and their order.

Comes in: a path, or a dataset. Goes out: a `Source`.
Always holds: an Arrow file is mapped into memory and not copied; of a Parquet file, one group of rows is held at a
time. Parquet without pyarrow is left to DuckDB, to which levels are text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from treewright.errors import DataError
from treewright.files.formats import Reading
from treewright.files.source import Source, Table

#: Batches of the named columns, of about so many rows.
Batches = Callable[[list[str], int], Iterator[Any]]


def open_arrow(path: str, reading: Reading) -> Source:
    """An Arrow file or stream."""
    try:
        import pyarrow as pa
        import pyarrow.ipc
    except ImportError:
        raise DataError(f"{path} is an Arrow file; reading it needs pyarrow: pip install pyarrow") from None

    def opened() -> Any:
        try:
            return pa.ipc.open_file(pa.memory_map(path))
        except pa.ArrowInvalid:
            return pa.ipc.open_stream(pa.memory_map(path))

    def batches(columns: list[str], _: int) -> Iterator[Any]:
        file = opened()
        found = map(file.get_batch, range(file.num_record_batches)) if hasattr(file, "get_batch") else file
        return (batch.select(columns) for batch in found)

    try:
        return _source(path, "arrow", reading, opened().schema, batches)
    except pa.ArrowInvalid as error:
        raise DataError(f"{path} is not an Arrow file: {error}") from error


def open_parquet(path: str, reading: Reading) -> Source:
    """A Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        opened = pa.parquet.ParquetFile(path, memory_map=True)
    except pa.ArrowInvalid as error:
        raise DataError(f"{path} is not a Parquet file: {error}") from error

    def batches(columns: list[str], size: int) -> Iterator[Any]:
        found: Iterator[Any] = opened.iter_batches(size, columns=columns)
        return found

    return _source(path, "parquet", reading, opened.schema_arrow, batches, opened.metadata.num_rows)


def dataset_source(dataset: Any) -> Source:
    """A dataset of pyarrow: files that together are one table."""

    def batches(columns: list[str], size: int) -> Iterator[Any]:
        found: Iterator[Any] = dataset.to_batches(columns=columns, batch_size=size)
        return found

    return _source("the dataset", "dataset", Reading(), dataset.schema, batches)


def _source(path: str, form: str, reading: Reading, schema: Any, batches: Batches, n_rows: int | None = None) -> Source:
    columns = reading.kept(tuple(schema.names), path)
    return Source(path, form, columns, partial(_read, schema, batches, reading.missing or ()), n_rows)


def _read(
    schema: Any, batches: Batches, missing: tuple[str, ...], columns: tuple[str, ...], size: int | None
) -> Iterator[Table]:
    import pyarrow as pa

    wanted = pa.schema([schema.field(name) for name in columns])
    if size is None:
        yield _marked(pa.Table.from_batches(list(batches(list(columns), 1 << 20)), wanted), missing)
        return
    for batch in batches(list(columns), size):
        table = _marked(pa.Table.from_batches([batch], wanted), missing)
        for start in range(0, table.num_rows, size):
            yield table.slice(start, size)


def _marked(table: Any, missing: tuple[str, ...]) -> Any:
    """Text that is a marker as missing; levels that are declared stay."""
    import pyarrow as pa
    import pyarrow.compute

    for place, field in enumerate(table.schema if missing else ()):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column = table.column(place)
            marked = pa.compute.is_in(column, value_set=pa.array(missing, field.type))
            table = table.set_column(place, field, pa.compute.if_else(marked, pa.scalar(None, field.type), column))
    return table
