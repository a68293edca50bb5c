"""What every matplotlib picture needs: the axes, the colours, values as places on an axis.

Matplotlib is imported only when something is drawn with it, and its absence is explained.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.schema import ColumnSpec
from treewright.data.value_text import moment
from treewright.render.colours import SCALE
from treewright.render.text_width import fit_cells
from treewright.tree.text import level_text, name_text

_DAY = 86_400_000_000.0


def axes_for(ax: Any, width: float, height: float) -> Any:
    """Return the axes given, or those of a new figure of that size in inches."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("this picture needs matplotlib; install treewright[plot], or use render.svg") from error
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def colour_map() -> Any:
    """Return the scale of numbers as matplotlib wants it."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("treewright", list(SCALE))


def plain(text: str) -> str:
    """Return text that matplotlib takes as it is: dollars would otherwise start a formula."""
    return text.replace("$", r"\$")


def axis_values(spec: ColumnSpec, values: Any) -> Any:
    """Return a column of the user's as places on its axis; what has none is NaN."""
    given = np.asarray(values)
    if spec.has_levels:
        place = {level: float(i) for i, level in enumerate(spec.levels or ())}
        return np.array([place.get(value, np.nan) for value in given.tolist()])
    if given.dtype.kind in "mM":
        unit = "timedelta64[us]" if given.dtype.kind == "m" else "datetime64[us]"
        numbers = given.astype(unit).astype(np.int64).astype(np.float64)
        return on_axis(spec, np.where(np.isnat(given), np.nan, numbers))
    return on_axis(spec, given.astype(np.float64))


def on_axis(spec: ColumnSpec, values: Any) -> Any:
    """Return numbers as the tree has them, as matplotlib wants them: dates are days there."""
    return values / _DAY if spec.kind in ("date", "datetime") else values


def label_axis(axis: Any, spec: ColumnSpec) -> None:
    """Label an axis with the name of its column, and its levels or times as ticks."""
    axis.set_label_text(plain(fit_cells(name_text(spec.name), 60)))
    if spec.has_levels:
        levels = spec.levels or ()
        every = max(1, len(levels) // 25 + (len(levels) > 25))
        shown = range(0, len(levels), every)
        axis.set_ticks(list(shown), [plain(fit_cells(level_text(levels[i]), 24)) for i in shown])
    elif spec.kind in ("date", "datetime"):
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        locator = AutoDateLocator()
        axis.set_major_locator(locator)
        axis.set_major_formatter(ConciseDateFormatter(locator))
    elif spec.kind in ("time", "duration"):
        from matplotlib.ticker import FuncFormatter

        axis.set_major_formatter(FuncFormatter(lambda value, _: moment(spec.kind, round(value, -6))))
