"""Handle one request where the rows of a partition lie.

Pure functions of rows, state and request: the same input gives the same bytes, so lost work can be repeated anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from treewright import _core
from treewright.data.arrays import Array
from treewright.data.encoding import Encoded, aligned

Arrays = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class State:
    """State of a partition while a tree grows.

    `prepared`: binned rows, made once. `assignment`: the node of each row, replaced after every level.
    """

    prepared: Arrays = field(default_factory=dict)
    assignment: Arrays = field(default_factory=dict)

    def __setstate__(self, state: dict[str, Arrays]) -> None:
        """Align arrays from another process, as `Encoded` does."""
        for name, arrays in state.items():
            self.__dict__[name] = {key: aligned(array) for key, array in arrays.items()}


def handle(part: Encoded, recipe: Mapping[str, Any], state: State, request: bytes) -> tuple[State, bytes]:
    """Return the new state, with the same arrays where nothing changed, and the reply."""
    prepared, assignment, reply = _core.handle_request(
        columns=part.columns,
        kinds=list(part.kinds),
        levels=list(part.levels),
        target=part.target,
        n_classes=part.n_classes,
        weight=part.weight,
        recipe=dict(recipe),
        prepared=dict(state.prepared),
        assignment=dict(state.assignment),
        request=request,
    )
    new = State(
        state.prepared if prepared is None else prepared, state.assignment if assignment is None else assignment
    )
    return new, reply


def merge(first: bytes, second: bytes) -> bytes:
    """Merge two replies to the same request."""
    merged: bytes = _core.merge_replies(first, second)
    return merged
