"""Standard input as a file.

Comes in: bytes from a pipe. Goes out: a `Source` over a temporary copy on disk.
Always holds: memory does not grow with the input; the copy is gone when the source is.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
from dataclasses import replace
from pathlib import Path

from treewright.errors import DataError
from treewright.files import open_file
from treewright.files.formats import Reading, format_by_content
from treewright.files.source import Source
from treewright.schema import Schema


def spooled(reading: Reading, schema: Schema | None) -> Source:
    """What comes from standard input."""
    folder = tempfile.TemporaryDirectory(prefix="treewright-")
    path = Path(folder.name) / "standard input"
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, 1 << 20)
    if not path.stat().st_size:
        raise DataError("standard input is empty; pipe a table into it, as in: cat rows.csv | treewright ...")
    found = reading.format or format_by_content(str(path))
    source = replace(open_file(str(path), replace(reading, format=found), schema), name="standard input")
    weakref.finalize(source, folder.cleanup)
    return source
