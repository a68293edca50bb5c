"""The journal of a session: JSON lines, each on the disk before the page is notified.

A session that is killed loses at most the action under way: a last line without its end is dropped.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from treewright.errors import DataError, FileError
from treewright.interactive.history import History, HistoryStep, action, after, written_step

_FORM = 1


class Journal:
    """An open journal; no other process can open it as long as this one lives."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("a+b")
        _lock(self._file, path)

    def read(self, fingerprint: str) -> History | None:
        """Return the history of an earlier session with the same rows; None where there is none.

        A half-written last line is cut off. A journal of other rows is set aside under another name.
        """
        self._file.seek(0)
        text = self._file.read()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            self._file.truncate(len(whole))
        lines = [line for line in whole.split(b"\n") if line.strip()]
        if not lines:
            return None
        try:
            head, *actions = [json.loads(line) for line in lines]
            if not isinstance(head, dict) or head.get("studio") != _FORM:
                raise FileError("its first line is not that of a studio")
            if head.get("rows") != fingerprint:
                raise FileError("it is about other rows")
            history = after(action(one, f"line {i}") for i, one in enumerate(actions, 2))
        except (ValueError, DataError, FileError) as error:
            self.set_aside(str(error))
            return None
        return history if history.steps else None

    def begin(self, fingerprint: str, table: str) -> None:
        """Write the first line."""
        self._append({"studio": _FORM, "table": table, "rows": fingerprint})

    def done(self, step: HistoryStep) -> None:
        """Write that a step was done."""
        self._append(written_step(step))

    def moved(self, name: str) -> None:
        """Write that a step was undone or done again."""
        self._append({name: True})

    def set_aside(self, why: str) -> Path:
        """Keep the journal under another name and begin an empty one."""
        if self.path.stat().st_size == 0:
            return self.path
        old = self.path.with_name(f"{self.path.stem}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}{self.path.suffix}")
        old.write_bytes(self.path.read_bytes())
        self._file.truncate(0)
        self.aside = f"{self.path.name} was kept as {old.name} and a new journal begun: {why}"
        return old

    #: What became of an earlier journal that could not be continued.
    aside: str | None = None

    def close(self) -> None:
        """Close the file, which frees it for another session."""
        with suppress(OSError):
            self._file.close()

    def _append(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())


def _lock(file: Any, path: Path) -> None:
    try:
        import fcntl
    except ImportError:  # pragma: no cover - Windows has no such lock
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise FileError(f"{path} is in use by another studio; close that one, or start in another folder") from None
