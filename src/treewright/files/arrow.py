"""Arrow and Feather files, read by pyarrow.

Comes in: a path. Goes out: a `Source`.
Always holds: the file is mapped into memory and not copied.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from treewright.errors import DataError
from treewright.files.formats import Reading
from treewright.files.source import Source, Table


def open_arrow(path: str, reading: Reading) -> Source:
    """An Arrow file or stream."""
    try:
        import pyarrow as pa
        import pyarrow.ipc
    except ImportError:
        raise DataError(f"{path} is an Arrow file; reading it needs pyarrow: pip install pyarrow") from None
    mapped = pa.memory_map(path)
    try:
        opened = pa.ipc.open_file(mapped)
        batches: Any = (opened.get_batch(i) for i in range(opened.num_record_batches))
    except pa.ArrowInvalid:
        mapped.seek(0)
        try:
            batches = opened = pa.ipc.open_stream(mapped)
        except pa.ArrowInvalid as error:
            raise DataError(f"{path} is not an Arrow file: {error}") from error
    columns = reading.kept(tuple(opened.schema.names), path)
    return Source(path, "arrow", columns, partial(_read, batches, opened.schema))


def _read(batches: Any, schema: Any, columns: tuple[str, ...], size: int | None) -> Iterator[Table]:
    import pyarrow as pa

    if size is None:
        yield pa.Table.from_batches(list(batches), schema).select(list(columns))
        return
    for batch in batches:
        table = pa.Table.from_batches([batch]).select(list(columns))
        for start in range(0, table.num_rows, size):
            yield table.slice(start, size)
