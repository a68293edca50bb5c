"""Encoded rows in pieces: put together, and handed on as they are.

Comes in: pieces coded by one schema. Goes out: one `Encoded`.
Always holds: rows keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.encoding import Encoded


def joined(pieces: Sequence[Encoded]) -> Encoded:
    """The pieces one after the other."""

    def together(arrays: Sequence[NDArray[Any] | None]) -> Any:
        there = [array for array in arrays if array is not None]
        return np.concatenate(there, axis=-1) if len(there) == len(arrays) else None

    return replace(
        pieces[0],
        columns=tuple(together(column) for column in zip(*(piece.columns for piece in pieces), strict=True)),
        n_rows=sum(piece.n_rows for piece in pieces),
        target=together([piece.target for piece in pieces]),
        weight=together([piece.weight for piece in pieces]),
        dealt=together([piece.dealt for piece in pieces]),
        coded=None,
    )


def as_it_is(part: Encoded) -> Encoded:
    """The part itself, for those who want its rows."""
    return part
