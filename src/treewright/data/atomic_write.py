"""Files that are written whole or not at all.

If anything goes wrong, Ctrl-C included, what was there before is untouched and no draft is left. A file that takes the
place of another has its permissions, and its owner where the system allows that.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Provide a draft to write to; a device or a pipe is written to directly."""
    target = Path(os.path.realpath(path))  # a link stays a link: the file it points to is replaced
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    draft = target.with_name(_draft_name(target.name))
    before = target.stat() if target.is_file() else None
    try:
        if before is not None:  # private until it has the old permissions
            draft.touch(mode=0o600, exist_ok=False)
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        if before is not None:
            _make_alike(draft, before)
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _draft_name(name: str) -> str:
    """Beside the target and never longer than a file system allows, which counts bytes."""
    beginning = os.fsencode(name)[:100].decode("utf-8", "ignore")
    return f".{beginning}.{secrets.token_hex(8)}.tmp"


def _make_alike(draft: Path, before: os.stat_result) -> None:
    found = draft.stat()
    if (found.st_uid, found.st_gid) != (before.st_uid, before.st_gid):
        with suppress(OSError, AttributeError):  # only root may; Windows cannot
            os.chown(draft, before.st_uid, before.st_gid)
    draft.chmod(stat.S_IMODE(before.st_mode))


def write_atomic(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file at once."""
    with atomic_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
