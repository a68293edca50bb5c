"""What a contender is: a name and a way to fit one tree, ours and the peers' alike.

A fit starts at the table a user has in hand, so that building a library's own data set is part of it. A contender
says by `refuses` what it cannot do, instead of doing something else in silence.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

import numpy as np
from tables import Table

Predict = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Fitted:
    """A finished tree: `predict` takes a matrix, `model` is the library's own value."""

    predict: Predict
    model: Any


def nothing_refused(_table: Table, _depth: int | None) -> str:
    return ""


@dataclass(frozen=True, eq=False)
class Contender:
    """One way to fit one tree. `refuses` gives the reason, or nothing, why a table or depth is not for it."""

    name: str
    package: str
    module: str
    exact: bool
    fit: Callable[[Table, int | None, int], Fitted]
    refuses: Callable[[Table, int | None], str] = nothing_refused
    note: str = ""

    @property
    def available(self) -> bool:
        return find_spec(self.module) is not None

    @property
    def version(self) -> str:
        try:
            return version(self.package)
        except PackageNotFoundError:
            return "not available"
