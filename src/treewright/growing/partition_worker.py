"""What is asked of one part. These functions travel to where the rows are, so they are pure and know nothing of it.

Comes in: a part, the state it gave back last time, a question. Goes out: its new state and its answer.
Always holds: questions and answers are bytes that only the core reads; a state is arrays, never changed, always
replaced. The same part, state and question give the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from treewright import _core
from treewright.data.encoding import Encoded, aligned

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class State:
    """What a part remembers of a tree that is being grown.

    `prepared`: its rows as counting likes them, made once. `places`: which rows lie in which node, new after every
    level.
    """

    prepared: Arrays = field(default_factory=dict)
    places: Arrays = field(default_factory=dict)

    def __setstate__(self, state: dict[str, Arrays]) -> None:
        """See `Encoded`: arrays from another process may begin at any byte."""
        for name, arrays in state.items():
            self.__dict__[name] = {key: aligned(array) for key, array in arrays.items()}


def answer(part: Encoded, recipe: Mapping[str, Any], state: State, question: bytes) -> tuple[State, bytes]:
    """The part's answer, and what it remembers from now on: the same objects where nothing changed."""
    prepared, places, said = _core.handle_request(
        columns=part.columns,
        kinds=list(part.kinds),
        levels=list(part.levels),
        target=part.target,
        n_classes=part.n_classes,
        weight=part.weight,
        recipe=dict(recipe),
        prepared=dict(state.prepared),
        assignment=dict(state.places),
        request=question,
    )
    return State(state.prepared if prepared is None else prepared, state.places if places is None else places), said


def merge(first: bytes, second: bytes) -> bytes:
    """Two answers to the same question as one."""
    merged: bytes = _core.merge_replies(first, second)
    return merged
