"""Workers: every contender runs in a process of its own, so that none disturbs another and a slow one can be stopped.

One worker works at a time; a worker that is over its limit, or dies, is gone, and the next question starts another.
"""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any, Self

_SPAWN = multiprocessing.get_context("spawn")
#: How a library's OpenMP threads wait for each other: asleep, or as the library has it, which is to spin a while.
#: Spinning is best on an idle machine and ruinous on a busy one, so each is asked for in turn, and the best run counts.
#: The policy ACTIVE is never asked for: threads of a worker that has nothing to do would spin on, at everybody's cost.
WAITING = ("asleep", "as it comes")


@dataclass(frozen=True)
class Failure:
    """Why there is no answer."""

    reason: str


def _serve(pipe: Connection) -> None:
    """In the worker: answer until the pipe closes. Libraries may print; nobody reads it."""
    warnings.simplefilter("ignore")
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    while True:
        try:
            function, arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(function(*arguments))
        except Exception as error:  # noqa: BLE001 a peer may fail in any way, and the others go on
            pipe.send(Failure(f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error) else ''}"))


@dataclass
class Workers:
    """Processes by name and way of waiting, started when first asked. Use with `with`, which ends them all."""

    _running: dict[tuple[str, str], tuple[Any, Connection]] = field(default_factory=dict)

    def ask(
        self, name: str, limit: float, function: Callable[..., Any], *arguments: Any, waiting: str = WAITING[0]
    ) -> Any:
        key = name, waiting
        process, pipe = self._running.get(key) or self._start(key)
        try:
            pipe.send((function, arguments))
            if pipe.poll(limit):
                return pipe.recv()
            reason = f"over {limit:g} s"
        except (EOFError, OSError):  # the worker is gone, while it worked or since
            process.join()
            reason = f"died with code {process.exitcode}"
        self.end(key)
        return Failure(reason)

    def end(self, key: tuple[str, str]) -> None:
        process, pipe = self._running.pop(key, (None, None))
        if process is not None and pipe is not None:
            pipe.close()
            process.kill()
            process.join()

    def _start(self, key: tuple[str, str]) -> tuple[Any, Connection]:
        os.environ.pop("OMP_WAIT_POLICY", None)  # read by the child when it loads its libraries
        if key[1] == WAITING[0]:
            os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        theirs.close()
        self._running[key] = process, ours
        return process, ours

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for key in tuple(self._running):
            self.end(key)
