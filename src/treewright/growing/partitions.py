"""Partitions: the interface to encoded rows that lie in memory, on disk or on other machines.

A function sees one partition at a time and is pure, so a lost partition can be made again and the function repeated.
Replies merge in any order and grouping. Implementations: `memory_partitions` here, `disk_partitions` and
`dask_partitions` in `out_of_core`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from treewright.data.encoding import Encoded

Value = TypeVar("Value")


@dataclass(frozen=True)
class Limits:
    """How many rows may be sent to the driver: nodes of at most `apart` rows, `at_once` rows together.

    `memory`: limit in bytes for the values of one column collected by the driver; 0 means none.
    """

    apart: int = 2048
    at_once: int = 1 << 20
    memory: int = 0


class RemoteGrowth(Protocol):
    """The state of all partitions for one tree being grown. Several trees may grow from the same partitions."""

    def send(self, request: bytes) -> bytes:
        """Send a request to all partitions and return the merged reply (`partition_worker`)."""
        ...

    def close(self) -> None:
        """Release all states. May be called twice."""
        ...


class Shape(Protocol):
    """What is known of a partition without its rows; an `Encoded` has it too."""

    @property
    def n_rows(self) -> int: ...
    @property
    def kinds(self) -> tuple[int, ...]: ...
    @property
    def levels(self) -> tuple[int, ...]: ...
    @property
    def n_classes(self) -> int: ...


class Partitions(Protocol):
    """A table in partitions. `shapes` describes each; all but their sizes, which may be zero, are equal."""

    limits: Limits
    shapes: Sequence[Shape]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows per partition."""
        return tuple(shape.n_rows for shape in self.shapes)

    @property
    def kinds(self) -> tuple[int, ...]:
        """Kind of each column, as in `Encoded`."""
        return self.shapes[0].kinds

    @property
    def levels(self) -> tuple[int, ...]:
        """Number of levels of each column."""
        return self.shapes[0].levels

    @property
    def n_classes(self) -> int:
        """Number of classes of the target."""
        return self.shapes[0].n_classes

    def map(self, function: Callable[..., Value], *arguments: object) -> list[Value]:
        """Return `function(rows, *arguments)` of every partition, in order. Results should be small."""
        ...

    def changed(
        self, function: Callable[..., Encoded], *arguments: object, each: Sequence[object] | None = None
    ) -> Partitions:
        """Return new partitions `function(rows, *arguments)`, kept where the rows lie.

        With `each`, partition i gets `each[i]` as one more argument. Arrays that stay the same object are shared with
        the old partitions, not copied.
        """
        ...

    def growth(self, recipe: Mapping[str, Any]) -> RemoteGrowth:
        """Prepare to grow a tree by this recipe (`Recipe.as_dict()`)."""
        ...

    def close(self) -> None:
        """Release what these partitions hold, not what those hold that they were made from."""
        ...
