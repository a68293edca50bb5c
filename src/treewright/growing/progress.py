"""Progress of a fit, from 0 to 1, over the trees it grows.

A fit that is pruned by cross-validation grows one tree per fold after the first, so each tree gets an equal part of the
bar. What follows growing has the last part: 1 is reported once, when the fit is done.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: Called with the fraction of the work that is done.
Progress = Callable[[float], object]

#: The fraction of a fit that is left for cutting the grown tree.
_LAST = 0.02


@dataclass(frozen=True)
class Stage:
    """A part of a fit, reported as `start` to `end` of the whole; without `report`, nothing is."""

    report: Progress | None
    start: float = 0.0
    end: float = 1.0 - _LAST

    def __call__(self, done: float) -> None:
        """Report that this fraction of the stage is done.

        >>> Stage(print, 0.5, 0.75)(0.5)
        0.625
        """
        if self.report is not None:
            self.report(self.start + (self.end - self.start) * min(max(done, 0.0), 1.0))

    def part(self, i: int, n: int, parts: int = 1) -> Stage:
        """Return the stage from step `i` of `n`, `parts` steps long.

        >>> Stage(print, 0.0, 0.8).part(1, 4, 3)
        Stage(report=<built-in function print>, start=0.2, end=0.8)
        """
        step = (self.end - self.start) / n
        return Stage(
            self.report, self.start + i * step, self.end if i + parts == n else self.start + (i + parts) * step
        )


#: For work whose progress is not reported.
UNREPORTED = Stage(None)
