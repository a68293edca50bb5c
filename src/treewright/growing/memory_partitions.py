"""Partitions in memory, and tables that may or may not be in partitions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

from treewright.data.encoding import Encoded
from treewright.data.rows import concat, itself
from treewright.growing import partition_worker as worker
from treewright.growing.partitions import Limits, Partitions

Value = TypeVar("Value")


class MemoryGrowth:
    """The states of all partitions, in a list."""

    def __init__(self, parts: Sequence[Encoded], recipe: Mapping[str, Any]) -> None:
        self._parts = parts
        self._recipe = recipe
        self._states = [worker.State() for _ in parts]

    def send(self, request: bytes) -> bytes:
        handled = [
            worker.handle(part, self._recipe, state, request)
            for part, state in zip(self._parts, self._states, strict=True)
        ]
        self._states = [state for state, _ in handled]
        return reduce(worker.merge, (reply for _, reply in handled))

    def close(self) -> None:
        self._states = []


class MemoryPartitions(Partitions):
    """Pieces of a table, each an `Encoded`. Nothing is copied."""

    def __init__(self, parts: Sequence[Encoded], limits: Limits | None = None) -> None:
        self._parts = tuple(parts)
        self.shapes = self._parts
        self.limits = Limits() if limits is None else limits

    def map(self, function: Callable[..., Value], *arguments: object) -> list[Value]:
        return [function(part, *arguments) for part in self._parts]

    def changed(
        self, function: Callable[..., Encoded], *arguments: object, each: Sequence[object] | None = None
    ) -> MemoryPartitions:
        own: list[tuple[object, ...]] = [()] * len(self._parts) if each is None else [(value,) for value in each]
        pairs = zip(self._parts, own, strict=True)
        return MemoryPartitions([function(part, *arguments, *more) for part, more in pairs], self.limits)

    def growth(self, recipe: Mapping[str, Any]) -> MemoryGrowth:
        return MemoryGrowth(self._parts, recipe)

    def close(self) -> None:
        self._parts = ()


def as_partitions(rows: Encoded | Partitions) -> Partitions:
    """Return a table in memory as its only partition; partitions as they are."""
    return MemoryPartitions([rows]) if isinstance(rows, Encoded) else rows


def gathered(rows: Encoded | Partitions) -> Encoded:
    """Fetch all rows into one table."""
    return rows if isinstance(rows, Encoded) else concat(rows.map(itself))
