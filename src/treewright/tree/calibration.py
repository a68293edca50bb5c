"""What calibration on other rows adds to a tree: an interval or a set of classes for every node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from treewright.data.schema import Parts, as_parts, is_whole
from treewright.recipes.choice import is_number


@dataclass(frozen=True)
class Calibration:
    """Conformal calibration: rows that the tree has not seen give each node a range that covers new rows.

    A node with too few calibration rows uses those of its nearest ancestor that has enough.

    Attributes
    ----------
    coverage : float
        The share of new rows whose target the range covers, at least, on average over calibrations.
    rows : int
        The number of calibration rows.
    method : {"split", "cross"}
        Whether the rows were set aside, or predicted by trees of folds that had not seen them.
    source : tuple of int
        For each node, the node whose calibration rows it uses: itself or an ancestor.
    score : tuple of float
        For each node, the limit: the largest distance between target and prediction, or, for classes, the largest
        1 - probability of a class in the set.
    """

    coverage: float
    rows: int
    method: str
    source: tuple[int, ...]
    score: tuple[float, ...]

    def __str__(self) -> str:
        how = "set aside" if self.method == "split" else "by cross-validation"
        return f"calibrated for a coverage of {self.coverage:.0%} on {self.rows:,} rows {how}".replace("%", " %")

    def as_dict(self) -> dict[str, Any]:
        """Return the written form."""
        return as_parts(self)

    @staticmethod
    def from_dict(written: object, n_nodes: int, place: str = "$.calibration") -> Calibration:
        """Return the calibration that `as_dict` wrote; raise `FileError` for anything else."""
        parts = Parts.of(Calibration, written, place)
        coverage, rows, method, source, score = parts.values.values()
        parts.require(isinstance(coverage, float) and 0 < coverage < 1, "coverage")
        parts.require(is_whole(rows, 1), "rows")
        parts.require(method in ("split", "cross"), "method")
        for name, part in (("source", source), ("score", score)):
            parts.require(isinstance(part, list) and len(part) == n_nodes, name)
        parts.require(all(is_whole(node) and node <= i for i, node in enumerate(source)), "source")
        parts.require(all(is_number(x) and x >= 0 for x in score), "score")
        return Calibration(coverage, rows, method, tuple(source), tuple(score))
