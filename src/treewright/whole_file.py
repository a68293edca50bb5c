"""Files that are written whole or not at all.

Comes in: where a file is to be. Goes out: a draft beside it, which takes its place when all went well.
Always holds: if anything goes wrong, Ctrl-C included, what was there before is untouched and no draft is left.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The draft to write to; a device or a pipe is written to directly."""
    target = Path(os.path.realpath(path))  # a link stays a link: the file it points to is replaced
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(8)}.tmp")
    try:
        yield draft
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_whole(path: str | os.PathLike[str], text: str) -> None:
    """A text file at once."""
    with whole_file(path) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")
