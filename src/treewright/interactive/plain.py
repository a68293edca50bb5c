"""Small values of the library as JSON takes them."""

from __future__ import annotations

import math
from typing import Any

from treewright.data.arrays import Array
from treewright.inspection.derivation.split_counts import BranchCounts


def branch_dict(branch: BranchCounts) -> dict[str, Any]:
    """Return a branch: its condition, rows, weight, and its counts or its mean and deviation."""
    found: dict[str, Any] = {"words": branch.condition, "rows": branch.rows, "weight": branch.weight}
    if branch.counts is not None:
        return found | {"counts": list(branch.counts)}
    return found | {"mean": finite(branch.mean), "deviation": finite(branch.deviation)}


def finite(x: float | None) -> float | None:
    """Return the number, or None where JSON has none."""
    return None if x is None or not math.isfinite(x) else float(x)


def summed(weight: Array, values: Array) -> float:
    """Return the weighted sum, without the threads of a matrix product: they wait for each other on a busy machine."""
    return float((weight * values).sum())
