"""What an honest tree keeps of the rows that filled its leaves; the other rows chose its splits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from treewright.data.schema import require_keys
from treewright.errors import FileError


@dataclass(frozen=True)
class Honest:
    """Statistics of the rows that the predictions of an honest tree come from.

    All other statistics of the tree (rows, counts, gains) are those of the rows that chose its splits.

    Attributes
    ----------
    rows : int
        The number of rows that filled the leaves.
    seed : int
        The seed by which they were drawn.
    stats : tuple of tuple of float
        For each node the weight of each class; for a numeric target its weight and its mean.
    """

    rows: int
    seed: int
    stats: tuple[tuple[float, ...], ...]

    def __str__(self) -> str:
        return f"honest: predictions come from {self.rows:,} rows that chose no split"

    def weight(self, node: int, *, classes: bool) -> float:
        """Return the weight of the rows that came to a node."""
        return math.fsum(self.stats[node]) if classes else self.stats[node][0]

    def as_dict(self) -> dict[str, Any]:
        """Return the written form."""
        return {"rows": self.rows, "seed": self.seed, "stats": [list(each) for each in self.stats]}

    @staticmethod
    def from_dict(written: object, n_nodes: int, width: int, place: str = "$.honest") -> Honest:
        """Return what `as_dict` wrote; raise `FileError` for anything else. `width`: numbers per node."""
        parts = require_keys(written, place, [each.name for each in fields(Honest)])
        _check(parts, n_nodes, width, place)
        return Honest(parts["rows"], parts["seed"], tuple(tuple(map(float, each)) for each in parts["stats"]))


def _check(parts: Mapping[str, Any], n_nodes: int, width: int, place: str) -> None:
    def require(fine: bool, name: str) -> None:
        if not fine:
            raise FileError(f"{place}.{name}: {str(parts[name])[:60]} is not a valid value")

    for name in ("rows", "seed"):
        require(isinstance(parts[name], int) and not isinstance(parts[name], bool) and parts[name] >= 0, name)
    stats = parts["stats"]
    require(isinstance(stats, list) and len(stats) == n_nodes, "stats")
    require(all(isinstance(each, list) and len(each) == width for each in stats), "stats")
    numbers = [x for each in stats for x in each]
    require(all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in numbers), "stats")
    require(all(math.isfinite(x) for x in numbers), "stats")
