"""Arrow, Feather and Parquet files, read by pyarrow, which keeps declared levels and their order.

An Arrow file is mapped into memory; a Parquet file is held one batch at a time, a dataset one row group. Parquet
without pyarrow is read by DuckDB, where levels are text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from treewright.data.sources.formats import Reading
from treewright.data.sources.source import Source, Table
from treewright.errors import DataError

#: Bytes read at once from each column of a Parquet file; otherwise a whole group of rows is, however large.
_BUFFER = 1 << 16

#: Batches of the named columns, of about so many rows.
Batches = Callable[[list[str], int], Iterator[Any]]


def open_arrow(path: str, reading: Reading) -> Source:
    """Return an Arrow file or stream."""
    try:
        import pyarrow as pa
        import pyarrow.ipc
    except ImportError:
        raise DataError(f"{path} is an Arrow file; reading it needs pyarrow: pip install pyarrow") from None

    def opened() -> Any:
        try:
            return pa.ipc.open_file(pa.memory_map(_whole(path)))
        except pa.ArrowInvalid:
            return pa.ipc.open_stream(pa.memory_map(_whole(path)))

    def batches(columns: list[str], _: int) -> Iterator[Any]:
        file = opened()
        found = map(file.get_batch, range(file.num_record_batches)) if hasattr(file, "get_batch") else file
        return (batch.select(columns) for batch in found)

    try:
        return _source(path, "arrow", reading, opened().schema, batches)
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataError(f"{path} is not an Arrow file: {error}") from error


def open_parquet(path: str, reading: Reading) -> Source:
    """Return a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet

    opened = partial(pa.parquet.ParquetFile, _whole(path), buffer_size=_BUFFER, pre_buffer=False)
    try:
        with opened() as file:
            schema, metadata = file.schema_arrow, file.metadata
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise DataError(f"{path} is not a Parquet file: {error}") from error

    def batches(columns: list[str], size: int) -> Iterator[Any]:
        with opened() as file:
            for group in range(file.num_row_groups):
                yield from file.iter_batches(size, [group], columns=columns)

    stored = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
    return _source(path, "parquet", reading, schema, batches, metadata.num_rows, stored)


def open_dataset(dataset: Any, name: str, reading: Reading) -> Source:
    """Return a pyarrow dataset, or anything with its interface."""
    import pyarrow as pa
    import pyarrow.dataset

    settings: dict[str, Any] = {"batch_readahead": 1, "fragment_readahead": 1}
    n_rows = None
    if isinstance(getattr(dataset, "format", None), pa.dataset.ParquetFileFormat):
        n_rows = dataset.count_rows()  # which is written in the files
        settings["fragment_scan_options"] = pa.dataset.ParquetFragmentScanOptions(
            use_buffered_stream=True, buffer_size=_BUFFER, pre_buffer=False
        )

    def batches(columns: list[str], size: int) -> Iterator[Any]:
        found: Iterator[Any] = dataset.to_batches(columns=columns, batch_size=size, **settings)
        return found

    return _source(name, "dataset", reading, dataset.schema, batches, n_rows)


def open_partitions(folder: str, reading: Reading) -> Source:
    """Return a folder of Parquet files in folders such as year=2024, whose names are columns too."""
    import pyarrow as pa
    import pyarrow.dataset

    try:
        return open_dataset(pa.dataset.dataset(_whole(folder), format="parquet", partitioning="hive"), folder, reading)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(f"{folder} cannot be read as one table: {error}") from error


def _whole(path: str) -> str:
    """Return a name from which pyarrow makes nothing else, as it does of one that begins with ~."""
    return str(Path(path).absolute())


def unpacked(path: str) -> Any:
    """Return the bytes of a file that zstd packed."""
    try:
        import pyarrow as pa
    except ImportError:
        raise DataError(f"{path} is packed by zstd; reading it needs pyarrow: pip install pyarrow") from None
    return pa.CompressedInputStream(pa.OSFile(_whole(path)), "zstd")


def joined(tables: list[Table]) -> Table:
    """Arrow tables with the same columns as one."""
    import pyarrow as pa

    try:
        return pa.concat_tables(
            [table.select(tables[0].column_names) for table in tables], promote_options="permissive"
        )
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(f"the files have columns of different types: {error}; convert them first") from error


def _source(
    path: str, form: str, reading: Reading, schema: Any, batches: Batches, n_rows: int | None = None, stored: int = 0
) -> Source:
    columns = reading.kept(tuple(schema.names), path)
    read = partial(_read, schema, partial(_sound, path, batches), reading.missing or ())
    n_bytes = None if n_rows is None else max(stored, 8 * n_rows * len(columns))
    return Source(path, form, columns, read, n_rows, n_bytes=n_bytes)


def _sound(path: str, batches: Batches, columns: list[str], size: int) -> Iterator[Any]:
    """Yield validated batches: offsets that lead out of a damaged file would be followed by their readers."""
    import pyarrow as pa

    try:
        for batch in batches(columns, size):
            batch.validate(full=True)
            yield batch
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path} is damaged: {error}") from error


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
    """Return text that is a marker as missing; levels that are declared stay."""
    import pyarrow as pa
    import pyarrow.compute

    for place, field in enumerate(table.schema if missing else ()):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column = table.column(place)
            marked = pa.compute.is_in(column, value_set=pa.array(missing, field.type))
            table = table.set_column(place, field, pa.compute.if_else(marked, pa.scalar(None, field.type), column))
    return table
