"""Standard input as a `Source`, over a temporary copy on disk: memory does not grow with the input."""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from treewright.data.schema import Schema
from treewright.data.sources import open_file
from treewright.data.sources.formats import Reading, format_by_content
from treewright.data.sources.source import Source, Table
from treewright.errors import DataError


def spooled(reading: Reading, schema: Schema | None) -> Source:
    """Return what comes from standard input."""
    copy = _Copy()
    with copy.path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    if not copy.path.stat().st_size:
        raise DataError("standard input is empty; pipe a table into it, as in: cat rows.csv | treewright ...")
    found = reading.format or format_by_content(str(copy.path))
    source = open_file(str(copy.path), replace(reading, format=found), schema)

    def read(columns: tuple[str, ...], size: int | None) -> Iterator[Table]:
        assert copy.path.exists()  # the reader holds the copy
        yield from source.read(columns, size)

    return replace(source, name="standard input", read=read)


class _Copy:
    """A file in a folder of its own, both of which are removed with the last reference to this."""

    def __init__(self) -> None:
        folder = tempfile.mkdtemp(prefix="treewright-")
        self.path = Path(folder) / "standard input"
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
