"""Parts in memory: the plain form of `Partitions`.

Comes in: encoded rows in pieces. Goes out: `MemoryPartitions`.
Always holds: nothing is copied; parts are asked one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, TypeVar

from treewright.data.encoding import Encoded
from treewright.growing import partition_worker as work
from treewright.growing.partitions import Limits

Value = TypeVar("Value")


class MemoryGrowth:
    """The states of all parts, in a list."""

    def __init__(self, parts: Sequence[Encoded], recipe: Mapping[str, Any]) -> None:
        self._parts = parts
        self._recipe = recipe
        self._states = [work.State() for _ in parts]

    def ask(self, question: bytes) -> bytes:
        answered = [
            work.answer(part, self._recipe, state, question)
            for part, state in zip(self._parts, self._states, strict=True)
        ]
        self._states = [state for state, _ in answered]
        return reduce(work.merge, (said for _, said in answered))

    def close(self) -> None:
        self._states = []


class MemoryPartitions:
    """Pieces of a table, each an `Encoded`."""

    def __init__(self, parts: Sequence[Encoded], limits: Limits | None = None) -> None:
        self._parts = tuple(parts)
        self.limits = Limits() if limits is None else limits

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(part.n_rows for part in self._parts)

    @property
    def kinds(self) -> tuple[int, ...]:
        return self._parts[0].kinds

    @property
    def levels(self) -> tuple[int, ...]:
        return self._parts[0].levels

    @property
    def n_classes(self) -> int:
        return self._parts[0].n_classes

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
