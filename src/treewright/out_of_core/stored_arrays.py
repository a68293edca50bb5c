"""Arrays in a folder, mapped into memory on demand.

Arrays written together share one file, so many columns need few open files. A file is written once, completely, then
mapped read-only, so a full disk raises an error where it is met. It is deleted with the last `Stored` in it.
"""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

import numpy as np

from treewright.data.arrays import Array
from treewright.data.value_text import size_text
from treewright.errors import ScratchError

#: Where arrays begin in a file: processors read whole cache lines.
ALIGNMENT = 64

#: Errors of a system where a file cannot grow: no room on the disk, none left to this user, no file may be so large.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class StoredFile:
    """A file that lives as long as this object."""

    def __init__(self, path: Path) -> None:
        self.path = path
        weakref.finalize(self, _remove, path, os.getpid()).atexit = False  # by then the whole folder goes

    def mapped(self) -> mmap.mmap:
        with self.path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


@dataclass(frozen=True, eq=False)
class Stored:
    """One array: its file, where its values begin, their type and shape."""

    file: StoredFile
    start: int
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def mapped(where: Mapping[str, Stored]) -> dict[str, Array]:
    """Return the arrays, read-only; their maps are closed when the arrays are let go of."""
    pages = {file: file.mapped() for file in {one.file for one in where.values()}}
    return {name: np.ndarray(one.shape, one.dtype, pages[one.file], one.start) for name, one in where.items()}


def stored_again(
    new: Mapping[str, Array], old: Mapping[str, Array], where: Mapping[str, Stored], folder: Path
) -> Mapping[str, Stored]:
    """Return where the new arrays lie. The old ones lie at `where`; those that are still the same (`is`) stay there."""
    known = {id(old[name]): one for name, one in where.items()}
    kept = {name: known[id(array)] for name, array in new.items() if id(array) in known}
    return kept | store({name: [array] for name, array in new.items() if name not in kept}, folder)


def store(arrays: Mapping[str, Sequence[Array]], folder: Path) -> dict[str, Stored]:
    """Return a new file with all these arrays, each given in pieces that follow one another."""
    if not arrays:
        return {}
    path = folder / token_hex(8)
    needed = sum(piece.nbytes for pieces in arrays.values() for piece in pieces)
    with room_for(needed, folder):
        try:
            with path.open("xb") as out:
                places = _write(arrays, out)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    file = StoredFile(path)
    return {name: Stored(file, *place) for name, place in places.items()}


def _write(
    arrays: Mapping[str, Sequence[Array]], out: IO[bytes]
) -> dict[str, tuple[int, np.dtype[Any], tuple[int, ...]]]:
    """Return one after the other; goes out: where each begins, its type and its shape."""
    places = {}
    out.write(bytes(ALIGNMENT))  # a map of nothing cannot be
    for name, pieces in arrays.items():
        dtype = np.result_type(*pieces)
        shape = (sum(len(piece) for piece in pieces), *pieces[0].shape[1:])
        places[name] = (out.tell(), dtype, shape)
        for piece in pieces:
            out.write(np.ascontiguousarray(piece, dtype).reshape(-1).view(np.uint8).data)
        out.write(bytes(-out.tell() % ALIGNMENT))
    return places


@contextmanager
def room_for(n_bytes: int, folder: Path) -> Iterator[None]:
    """Turn a lack of room in the folder into an error with the size needed and a remedy."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        limited = "; no single file may be that large there" if error.errno == errno.EFBIG else ""
        raise ScratchError(
            f"the scratch folder {str(folder)!r} has no room: {size_text(n_bytes)} more were needed, "
            f"{size_text(_free(folder))} are free{limited}. Give a folder on a larger disk (scratch=...), or learn "
            "from fewer columns or rows"
        ) from error


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


def _remove(path: Path, owner: int) -> None:
    if os.getpid() == owner:  # a forked child lets go of its copies; the files are not its own
        with suppress(OSError):  # where a mapped file cannot go, it goes with its folder
            path.unlink(missing_ok=True)
