"""What calibration on other rows adds to a tree: an interval or a set of classes for every node."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from treewright.data.schema import require_keys
from treewright.errors import FileError


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
        return {name: list(part) if isinstance(part, tuple) else part for name, part in asdict(self).items()}

    @staticmethod
    def from_dict(written: object, n_nodes: int, place: str = "$.calibration") -> Calibration:
        """Return the calibration that `as_dict` wrote; raise `FileError` for anything else."""
        parts = require_keys(written, place, [each.name for each in fields(Calibration)])
        _check(parts, n_nodes, place)
        source, score = (tuple(parts[name]) for name in ("source", "score"))
        return Calibration(parts["coverage"], parts["rows"], parts["method"], source, score)


def _check(parts: Mapping[str, Any], n_nodes: int, place: str) -> None:
    def require(fine: bool, name: str) -> None:
        if not fine:
            raise FileError(f"{place}.{name}: {str(parts[name])[:60]} is not a valid value")

    coverage = parts["coverage"]
    require(isinstance(coverage, float) and 0 < coverage < 1, "coverage")
    require(_is_int(parts["rows"]) and parts["rows"] > 0, "rows")
    require(parts["method"] in ("split", "cross"), "method")
    for name in ("source", "score"):
        require(isinstance(parts[name], list) and len(parts[name]) == n_nodes, name)
    require(all(_is_int(node) and 0 <= node <= i for i, node in enumerate(parts["source"])), "source")
    numbers = all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in parts["score"])
    require(numbers and all(x >= 0 and math.isfinite(x) for x in parts["score"]), "score")


def _is_int(x: object) -> bool:
    return isinstance(x, int) and not isinstance(x, bool)
