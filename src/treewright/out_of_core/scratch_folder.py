"""A scratch folder that is always removed.

Its own process removes it after success, an error or Ctrl-C. After SIGTERM or SIGKILL the next process that uses the
same place does: the owner holds a lock on a file in the folder, which the system releases when the owner dies. A
forked child does not own its parent's folders. No signal handler is installed.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO

from treewright.errors import ScratchError
from treewright.out_of_core.stored_arrays import room_for

LOCK = "lock"

#: Only what looks like a folder of ours is ever looked into.
_OURS = re.compile(r"treewright-\d+-[0-9a-f]{16}")

_folders: dict[Path, int] = {}  # those that are there, each with the number of the process that made it


@contextmanager
def scratch(where: str | os.PathLike[str] | None = None) -> Iterator[Path]:
    """Create a folder in `where` (default: the system's temporary folder) and remove it at the end."""
    place = (_temporary() if where is None else Path(where)).absolute()
    remove_abandoned(place)
    folder = _new_name(place)
    lock: IO[bytes] | None = None
    try:
        lock = _make(folder)
        yield folder
    finally:
        try:
            _remove_own(folder)
        finally:  # Ctrl-C a second time
            if lock is not None:
                lock.close()


def _temporary() -> Path:
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError as error:
        raise ScratchError(
            "no folder for temporary files may be written to; set TMPDIR to one, or give one (scratch=...)"
        ) from error


def _make(folder: Path) -> IO[bytes] | None:
    """Create the folder and its lock, which gets its name only once it is locked."""
    _folders[folder] = os.getpid()
    try:
        with room_for(0, folder.parent):
            folder.mkdir(mode=0o700)
            return _locked_file(folder)
    except OSError as error:
        raise ScratchError(
            f"no scratch folder can be made in {str(folder.parent)!r} ({error.strerror}); give one that exists and may "
            "be written to (scratch=...)"
        ) from error


def _locked_file(folder: Path) -> IO[bytes] | None:
    if sys.platform == "win32":  # a folder of a killed process stays there
        return None
    draft = folder / f"{LOCK}.new"
    lock = draft.open("xb")
    if _try_lock(lock):
        draft.rename(folder / LOCK)
    return lock


def _try_lock(file: IO[bytes]) -> bool:
    if sys.platform == "win32":
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # locked by another process, or there are no locks here: no process will get this one
        return False
    return True


def _new_name(place: Path) -> Path:
    return place / f"treewright-{os.getpid()}-{token_hex(8)}"


# --- removing -------------------------------------------------------------------------------------------------------


def remove_abandoned(place: Path) -> None:
    """Remove the folders that killed processes of this user left in `place`."""
    if sys.platform == "win32":
        return
    with suppress(OSError):
        for folder in [entry for entry in place.iterdir() if _OURS.fullmatch(entry.name)]:
            with suppress(OSError):  # one that just went, or has no lock yet
                found = folder.lstat()
                if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                    with (folder / LOCK).open("r+b") as lock:
                        if _try_lock(lock):
                            _remove(folder)


def _remove_own(folder: Path) -> None:
    """Under another name first, so that a thread that still works cannot put anything new into it."""
    if _folders.get(folder) != os.getpid():
        return
    going = _new_name(folder.parent)
    _folders[going] = os.getpid()  # if the next lines are broken off, the end of the process goes on here
    try:
        folder.rename(going)
    except OSError:  # it never came to be, or its files are in use: then it goes under its own name
        _remove(folder)
    _remove(going)
    _folders.pop(folder, None)
    _folders.pop(going, None)


def _remove(folder: Path) -> None:
    """Remove the folder, the lock last, so that an interrupted removal still shows that it has no owner."""
    with suppress(OSError):
        for entry in folder.iterdir():
            if entry.name != LOCK:
                _remove_entry(entry)
        shutil.rmtree(folder, ignore_errors=True)


def _remove_entry(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        with suppress(OSError):
            entry.unlink()


@atexit.register
def _remove_all() -> None:
    for folder in list(_folders):
        _remove_own(folder)
