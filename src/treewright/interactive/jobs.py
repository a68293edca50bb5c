"""Long work, followed by events and ended by the page.

A job runs where it is called; its progress and its end are published to listeners, from any thread.
"""

from __future__ import annotations

import ctypes
import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from treewright.errors import TreewrightError
from treewright.growing.progress import Progress

#: Events are sent no closer together than this, in seconds.
_PAUSE = 0.05

_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


class CancelledError(TreewrightError):
    """The page has ended the work."""


class Jobs:
    """The work under way, by name, and those who listen to it."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[dict[str, Any]], None]] = []
        self._running: dict[int, tuple[str, threading.Event]] = {}
        self._numbers = itertools.count()
        self.closing = threading.Event()  # listeners have to leave

    @contextmanager
    def listening(self, listener: Callable[[dict[str, Any]], None]) -> Iterator[None]:
        """Call the listener with every event."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def publish(self, event: dict[str, Any]) -> None:
        """Send an event to all listeners."""
        for listener in list(self._listeners):
            listener(event)

    def cancel(self) -> list[str]:
        """End all work under way; return its names."""
        running = list(self._running.values())
        for _, cancelled in running:
            cancelled.set()
        return [name for name, _ in running]

    def run(self, name: str, work: Callable[[Progress], Any]) -> Any:
        """Do the work and return its result."""
        cancelled, number, published = threading.Event(), next(self._numbers), [0.0]
        self._running[number] = (name, cancelled)

        def progress(done: float) -> None:
            if cancelled.is_set():
                raise CancelledError(f"{name} was cancelled; nothing was changed")
            now = time.monotonic()
            if now - published[0] >= _PAUSE:
                published[0] = now
                self.publish({"event": "progress", "job": name, "number": number, "done": round(done, 4)})

        try:
            return work(progress)
        finally:
            del self._running[number]
            self.publish({"event": "ended", "job": name, "number": number})


def give_back() -> None:
    """Give freed memory back to the system, which the C library would keep."""
    if _trim is not None:
        _trim(0)


def giving_back(progress: Progress) -> Progress:
    """Return the same progress, which also gives memory back: what one fold freed must not add to the next."""

    def reported(done: float) -> object:
        give_back()
        return progress(done)

    return reported
