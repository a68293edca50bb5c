"""A table in parts: rows that lie on disk, on other machines, or simply in several pieces of memory.

Comes in: encoded rows, some at a time, all coded by one schema. Goes out: `Partitions`, which answer questions.
Always holds: no function ever sees more than one part; functions are pure, so a part that is lost can be made again and
asked again. What is asked of all parts is merged on the way (`work.merge`), in any order and any grouping with the same
result.

    memory   the parts lie in memory: the plain form, by which the others are judged
    local    the parts lie in a scratch folder (`scratch`), their arrays in files (`stored`), of which only as
             many are mapped into memory at a time as `memory_limit` allows
    cluster  the parts are futures of a Dask cluster (`futures`)
    work     what is asked of one part: the only functions that travel
    growing  a tree from parts
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from treewright.data.encoding import Encoded

Value = TypeVar("Value")


@dataclass(frozen=True)
class Limits:
    """What may leave the parts: nodes of at most `apart` rows whole, `at_once` rows together.

    `memory`: bytes that the values of one column may take where they are put together; 0: any.
    """

    apart: int = 2048
    at_once: int = 1 << 20
    memory: int = 0


class Growth(Protocol):
    """One tree being grown: what the parts remember of it, and nothing else.

    Several may be under way on the same parts; each remembers for itself.
    """

    def ask(self, question: bytes) -> bytes:
        """The merged answers of all parts (`work.answer`, `work.merge`); each part keeps the state it gives back."""
        ...

    def close(self) -> None:
        """Forgets all states. May be called twice."""
        ...


class Partitions(Protocol):
    """A table in parts. `sizes` are rows per part; a part may be empty.

    `kinds`, `levels`, `n_classes` are those of every part's `Encoded`.
    """

    @property
    def sizes(self) -> tuple[int, ...]: ...
    @property
    def kinds(self) -> tuple[int, ...]: ...
    @property
    def levels(self) -> tuple[int, ...]: ...
    @property
    def n_classes(self) -> int: ...
    @property
    def limits(self) -> Limits: ...

    def map(self, function: Callable[..., Value], *arguments: object) -> list[Value]:
        """`function(part, *arguments)` of every part, in order of parts. Results are small and come here."""
        ...

    def changed(
        self, function: Callable[..., Encoded], *arguments: object, each: Sequence[object] | None = None
    ) -> Partitions:
        """The same rows with something else about them, kept where the parts lie.

        `function(part, *arguments)`, or `function(part, *arguments, each[i])` for part i. Arrays that stay the same
        (`is`) are shared with the old parts, not copied.
        """
        ...

    def growth(self, recipe: Mapping[str, Any]) -> Growth:
        """Ready to grow a tree by this recipe (`Recipe.as_dict()`)."""
        ...

    def close(self) -> None:
        """Lets go of everything these parts hold. Parts they were changed from are not touched."""
        ...
