"""Futures of a Dask cluster: submitted together, released together, retried when workers die.

Results depend on named futures only, so a lost one is recomputed; nothing is pinned to a worker or scattered.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import reduce
from typing import Any, Self, TypeVar

import numpy as np

from treewright.errors import DataError
from treewright.out_of_core.dask_workers import wait_for

Value = TypeVar("Value")

#: So many replies are merged by one task.
FAN_IN = 8

#: What has so many bytes is not written into every task, but sent once and fetched from worker to worker.
LARGE = 100_000

#: Dask gives a task up once it was lost with a few workers, which may have died of something else. So often we insist.
PATIENCE = 12


class SizedResult:
    """A value whose size Dask needs, to decide what is cheaper to move: the rows or the task."""

    def __sizeof__(self) -> int:
        return _bytes_of(vars(self))


def _bytes_of(value: object) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, Mapping):
        return sum(map(_bytes_of, value.values()))
    if isinstance(value, (tuple, list)):
        return sum(map(_bytes_of, value))
    if is_dataclass(value):
        return sum(_bytes_of(getattr(value, each.name)) for each in fields(value))
    return sys.getsizeof(value)


# --- tasks ----------------------------------------------------------------------------------------------------------


def reduced(values: Sequence[Value], merge: Callable[[Value, Value], Value]) -> Value:
    """Return all of them as one."""
    return reduce(merge, values)


def _itself(value: Value) -> Value:
    return value


# --- futures --------------------------------------------------------------------------------------------------------


class FutureSet:
    """Futures of one piece of work. All are released at its end, whatever ends it, but those that are kept.

    To release is to cancel what has not run yet, for these futures are not shared. (`Client.cancel` is not safe: it
    breaks the client if a future has dependents that are not futures themselves.)
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._futures: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        release(self._futures)

    def __call__(self, function: Callable[..., object], /, *each: Sequence[object], **same: object) -> list[Any]:
        """Submit one task for each; arguments shared by all (`same`) are sent once."""
        sent = {name: self.sent(value) for name, value in same.items()}
        key = f"treewright_{function.__name__.strip('_')}"
        return self.add(self._client.map(function, *each, key=key, pure=False, **sent))

    def sent(self, value: object) -> object:
        """Something large as a future. Of a task, not of scattered data, which would be lost with its worker."""
        from dask.sizeof import sizeof

        if max(_bytes_of(value), sizeof(value)) < LARGE:
            return value
        return self.add([self._client.submit(_itself, value, pure=False)])[0]

    def add(self, futures: list[Any]) -> list[Any]:
        """Add futures to those released at the end."""
        self._futures += futures
        return futures

    def keep(self, futures: Sequence[Any]) -> None:
        """Keep futures beyond the end; the caller releases them."""
        kept = set(map(id, futures))
        self._futures = [future for future in self._futures if id(future) not in kept]


def merged(made: FutureSet, futures: Sequence[Any], merge: Callable[[Value, Value], Value]) -> Any:
    """Return a future of all results as one, merged on the workers some at a time."""
    while len(futures) > 1:
        futures = made(reduced, batches(futures), merge=merge)
    return futures[0]


def batches(values: Sequence[Value]) -> list[list[Value]]:
    """Return what is merged by one task each."""
    return [list(values[start : start + FAN_IN]) for start in range(0, len(values), FAN_IN)]


def fetched(client: Any, futures: Sequence[Any]) -> list[Any]:
    """Return the results. Errors are those of the tasks, but for workers that died: then again, for a while."""
    from distributed import KilledWorker

    patience = PATIENCE
    while True:
        try:
            wait_for(client, futures)
            return list(client.gather(list(futures)))
        except KilledWorker:
            if not patience:
                raise
            patience -= 1
            _try_again(client, [future for future in futures if future.status == "error"])
        except CancelledError as error:
            raise DataError(
                f"some rows were lost with a worker and cannot be made again ({error}); give partitions that the "
                "workers read or compute themselves, for scattered data has no other copy"
            ) from error


def _try_again(client: Any, failed: Sequence[Any]) -> None:
    """Retry what failed, and what it depends on, down to the partitions."""
    with suppress(KeyError):  # `retry` tries all of it again, then looks for it among our futures, where it need not be
        client.retry(list(failed))
    until = time.monotonic() + 5
    while time.monotonic() < until and any(future.status == "error" for future in failed):
        time.sleep(0.01)  # the scheduler's word is on its way


def release(futures: Sequence[Any]) -> None:
    """Lets go of them; what has not run yet never will."""
    for future in futures:
        if future is not None:
            future.release()
