"""The rows of a node, counted for drawing.

Bars are equally wide between `low` and `high`; each cut lies between these two. What lies outside is counted in the
first and last bar, and the words for that end then have a "…".
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Histogram:
    """Rows of one node by the column it splits on; in a leaf with a numeric target, by that target.

    `counts` has one entry per bar: the weight of each class, or just the weight where the target is a number. `means`
    is then the mean of the target in each bar. `ends` are `low` and `high` in words. `labels` are the levels in the
    order of the bars, child by child; the cuts then count bars.
    """

    of: str
    low: float
    high: float
    counts: tuple[tuple[float, ...], ...]
    cuts: tuple[float, ...] = ()
    means: tuple[float, ...] | None = None
    ends: tuple[str, str] = ("", "")
    labels: tuple[str, ...] | None = None
