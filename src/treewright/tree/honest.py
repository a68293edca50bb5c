"""What an honest tree keeps of the rows that filled its leaves; the other rows chose its splits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from treewright.data.number_text import many
from treewright.data.schema import Parts, as_parts, is_whole
from treewright.recipes.choice import is_number


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
        return f"honest: predictions come from {many(self.rows, 'row')} that chose no split"

    def weight(self, node: int, *, classes: bool) -> float:
        """Return the weight of the rows that came to a node."""
        return math.fsum(self.stats[node]) if classes else self.stats[node][0]

    def as_dict(self) -> dict[str, Any]:
        """Return the written form."""
        return as_parts(self)

    @staticmethod
    def from_dict(written: object, n_nodes: int, width: int, place: str = "$.honest") -> Honest:
        """Return what `as_dict` wrote; raise `FileError` for anything else. `width`: numbers per node."""
        parts = Parts.of(Honest, written, place)
        for name in ("rows", "seed"):
            parts.require(is_whole(parts.values[name]), name)
        stats = parts.values["stats"]
        parts.require(isinstance(stats, list) and len(stats) == n_nodes, "stats")
        parts.require(all(isinstance(each, list) and len(each) == width for each in stats), "stats")
        parts.require(all(is_number(x) for each in stats for x in each), "stats")
        return Honest(parts.values["rows"], parts.values["seed"], tuple(tuple(map(float, each)) for each in stats))
