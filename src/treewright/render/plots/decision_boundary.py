"""What the tree predicts over one or two of its columns, drawn with matplotlib: exact regions, exact steps.

The borders are the tree's own breaks, not a grid's; outside the data the ends are flat, or go on as their linear
models do, and are shown so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from treewright.data.schema import ColumnSpec
from treewright.errors import DataError
from treewright.render.colours import GROUND, mix
from treewright.render.picture.bars import Paint, paint_of
from treewright.render.plots.axes import axes_for, axis_values, colour_map, label_axis, on_axis, plain
from treewright.render.plots.regions import Extent, Region, column_index, fixed_values, regions
from treewright.render.plots.slopes import Along, Line
from treewright.render.text_width import fit_cells
from treewright.tree.as_tree import TreeLike, as_tree, constant_tree
from treewright.tree.conditions import Interval
from treewright.tree.text import level_text, name_text
from treewright.tree.tree import Tree

#: More classes than this are not named in a legend.
_MOST_NAMED = 12
_POINT_EDGE = GROUND["light"]["paper"]


def boundary(
    tree: TreeLike,
    x: str,
    y: str,
    data: Any = None,
    ax: Any = None,
    *,
    fixed: Mapping[str, object] | None = None,
) -> Any:
    """Draw the regions of equal prediction over two columns.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    x, y : str
        The columns of the axes.
    data : table, optional
        Rows to draw as points; anything with columns by name.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.
    fixed : dict, optional
        Values of other columns; those not named are missing.

    Returns
    -------
    matplotlib axes
        The axes drawn on.
    """
    tree = constant_tree(tree, "render.boundary")
    specs = [tree.schema.columns[column_index(tree, name)] for name in (x, y)]
    found = regions(tree, (x, y), fixed)
    axes = axes_for(ax, 6.4, 4.8)
    points = None if data is None else [axis_values(spec, _column(data, spec.name)) for spec in specs]
    limits = [
        _limits(spec, (region.extents[k] for region in found), None if points is None else points[k])
        for k, spec in enumerate(specs)
    ]
    paint = paint_of(tree, sorted({region.node for region in found}))
    _draw_regions(axes, tree, found, specs, limits, paint)
    if points is not None:
        _draw_points(axes, tree, data, specs, points, paint)
    axes.set(xlim=limits[0], ylim=limits[1])
    label_axis(axes.xaxis, specs[0])
    label_axis(axes.yaxis, specs[1])
    _name_colours(axes, tree, sorted({region.node for region in found}), paint)
    _title_unused(axes, tree, specs)
    return axes


def curve(
    tree: TreeLike, column: str, data: Any = None, ax: Any = None, *, fixed: Mapping[str, object] | None = None
) -> Any:
    """Draw the prediction along one column, as exact steps, or lines where leaves have linear models.

    Beyond the rows it is dashed. Trees with linear models are shown further beyond, until their range guard holds.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    column : str
        The column of the axis.
    data : table, optional
        Rows to draw as points; anything with columns by name.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.
    fixed : dict, optional
        Values of other columns; those not named are missing.

    Returns
    -------
    matplotlib axes
        The axes drawn on.
    """
    tree = as_tree(tree)
    place = column_index(tree, column)
    spec = tree.schema.columns[place]
    found = regions(tree, (column,), fixed)
    axes = axes_for(ax, 6.4, 4.0)
    places = None if data is None else axis_values(spec, _column(data, column))
    limits = _limits(spec, (region.extents[0] for region in found), places, 0.35 if tree.models else 0.08)
    along = Along(tree, place, fixed_values(tree, fixed), 1 / on_axis(spec, 1.0))
    inner = limits if places is None or not np.isfinite(places).any() else (np.nanmin(places), np.nanmax(places))
    classes = tree.schema.target.classes
    paint = paint_of(tree, range(tree.n_nodes) if classes else (0,))
    if places is not None and classes is None and _has(data, tree.schema.target.name):
        truth = np.asarray(_column(data, tree.schema.target.name), dtype=np.float64)
        axes.scatter(places, truth, s=9, color="#8a8a8a", alpha=0.45, linewidths=0, zorder=1, label="rows")
    for k in range(len(classes or (0,))):
        colour = paint.classes[k] if classes else "#0072b2"
        name = plain(fit_cells(level_text(classes[k]), 30)) if classes and len(classes) <= _MOST_NAMED else None
        lines = sorted(
            line
            for region in found
            for interval in _intervals(spec, region.extents[0], limits)
            for line in along.lines(region.node, *interval, k)
        )
        _draw_lines(axes, lines, inner, colour, name, joined=not spec.has_levels)
    axes.set_xlim(limits)
    label_axis(axes.xaxis, spec)
    target = plain(fit_cells(name_text(tree.schema.target.name), 40))
    axes.set_ylabel(f"probability of {target}" if classes else target)
    if classes and len(classes) <= _MOST_NAMED:
        axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    _title_unused(axes, tree, [spec])
    return axes


def _title_unused(axes: Any, tree: Tree, specs: list[ColumnSpec]) -> None:
    """Add a title where no split uses a column: a flat prediction would look like a mistake."""
    splits = [split for node in tree.walk() if node.split is not None for split in (node.split, *node.surrogates)]
    used = {split.column for split in splits}
    used |= {tree.schema.columns[term.column].name for model in tree.models for term in model.terms}
    unused = [plain(fit_cells(name_text(spec.name), 30)) for spec in specs if spec.name not in used]
    if unused:
        axes.set_title(f"the tree does not use {' or '.join(unused)}", fontsize="medium", style="italic", loc="left")


def _column(data: Any, name: str) -> Any:
    try:
        return data[name]
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise DataError(f"data has no column {name!r}; give a table or a dictionary with it") from error


def _has(data: Any, name: str) -> bool:
    try:
        data[name]
    except Exception:  # noqa: BLE001  every kind of table has its own error for a column it lacks
        return False
    return True


def _limits(spec: ColumnSpec, extents: Iterator[Extent], places: Any, margin: float = 0.08) -> tuple[float, float]:
    """Return what is shown of an axis: the rows and all breaks, and a little more, `margin` of their range."""
    if spec.has_levels:
        return -0.5, len(spec.levels or ()) - 0.5
    ends = {
        float(on_axis(spec, end))
        for extent in extents
        if isinstance(extent, Interval)
        for end in (extent.low, extent.high)
    }
    seen = [end for end in ends if np.isfinite(end)]
    if places is not None and np.isfinite(places).any():
        seen += [float(np.nanmin(places)), float(np.nanmax(places))]
    low, high = min(seen, default=0.0), max(seen, default=1.0)
    more = margin * (high - low) or 0.5 * abs(low) or 1.0
    return low - more, high + more


def _intervals(spec: ColumnSpec, extent: Extent, limits: tuple[float, float]) -> list[tuple[float, float]]:
    """Return an extent as stretches of the axis, cut off at the limits; neighbouring levels together."""
    if isinstance(extent, Interval):
        low, high = (min(max(float(on_axis(spec, end)), limits[0]), limits[1]) for end in (extent.low, extent.high))
        return [(low, high)] if high > low else []
    found: list[tuple[float, float]] = []
    for code in sorted(extent):
        if found and found[-1][1] == code - 0.5:
            found[-1] = (found[-1][0], code + 0.5)
        else:
            found.append((code - 0.5, code + 0.5))
    return found


def _draw_regions(
    axes: Any, tree: Tree, found: list[Region], specs: list[ColumnSpec], limits: list[tuple[float, float]], paint: Paint
) -> None:
    from matplotlib.collections import PolyCollection

    boxes, colours = [], []
    for region in found:
        node = tree[region.node]
        # Mixed with paper and not see-through: the seams between boxes would show otherwise.
        shade = 0.16 + 0.34 * paint.strength(node) if paint.classes else 0.8
        colour = mix(GROUND["light"]["paper"], paint.of(node), shade)
        for left, right in _intervals(specs[0], region.extents[0], limits[0]):
            for low, high in _intervals(specs[1], region.extents[1], limits[1]):
                boxes.append([(left, low), (right, low), (right, high), (left, high)])
                colours.append(colour)
    axes.add_collection(
        PolyCollection(boxes, facecolors=colours, edgecolors="white", linewidths=0.6, zorder=0.5), autolim=False
    )


def _draw_points(axes: Any, tree: Tree, data: Any, specs: list[ColumnSpec], points: list[Any], paint: Paint) -> None:
    target = tree.schema.target
    shown: Any = "#1f2328"
    if _has(data, target.name):
        truth = _column(data, target.name)
        if target.classes is not None:
            colour_of = dict(zip(target.classes, paint.classes, strict=True))
            shown = [colour_of.get(value, "#1f2328") for value in np.asarray(truth).tolist()]
        else:
            from matplotlib.colors import Normalize

            shown = colour_map()(Normalize(paint.low, paint.high, clip=True)(np.asarray(truth, dtype=np.float64)))
    x, y = (_apart(values, spec, k) for k, (values, spec) in enumerate(zip(points, specs, strict=True)))
    axes.scatter(x, y, s=16, c=shown, edgecolors=_POINT_EDGE, linewidths=0.5, zorder=2)


def _apart(values: Any, spec: ColumnSpec, k: int) -> Any:
    """Return rows of one level side by side, always in the same way, for they would all lie on one point."""
    if not spec.has_levels:
        return values
    steps = np.arange(1, len(values) + 1) * (0.6180339887, 0.7548776662)[k]
    return values + 0.6 * (steps % 1 - 0.5)


def _name_colours(axes: Any, tree: Tree, nodes: list[int], paint: Paint) -> None:
    target = tree.schema.target
    name = plain(fit_cells(name_text(target.name), 40))
    if target.classes is None:
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        mappable = ScalarMappable(Normalize(paint.low, paint.high), colour_map())
        axes.figure.colorbar(mappable, ax=axes, label=name)
        return
    from matplotlib.patches import Patch

    predicted = {tree[node].prediction for node in nodes}
    # All classes, so that each point has a name; where there are too many, those with a region.
    named = [i for i, level in enumerate(target.classes) if len(target.classes) <= _MOST_NAMED or level in predicted]
    handles = [
        Patch(
            color=paint.classes[i],
            label=plain(fit_cells(level_text(target.classes[i]), 30))
            + ("" if target.classes[i] in predicted else " (no region)"),
        )
        for i in named[:_MOST_NAMED]
    ]
    axes.legend(handles=handles, title=name, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)


def _draw_lines(
    axes: Any,
    lines: list[Line],
    inner: tuple[float, float],
    colour: str,
    name: str | None,
    *,
    joined: bool,
) -> None:
    """Draw lines between knots, dashed outside `inner`, joined by thin lines where the prediction jumps."""
    for knots in lines:
        for low, high, style in ((-np.inf, inner[0], (0, (3, 2))), (*inner, "solid"), (inner[1], np.inf, (0, (3, 2)))):
            part = _cut(knots, low, high)
            if len(part) > 1:
                label = name if style == "solid" else None
                axes.plot(*zip(*part, strict=True), color=colour, linewidth=2, linestyle=style, zorder=3, label=label)
                name = None if style == "solid" else name
    if joined:
        for before, after in pairwise(lines):
            place = before[-1][0]
            jump = [before[-1][1], after[0][1]]
            axes.plot([place, place], jump, color=colour, linewidth=0.8, alpha=0.7, zorder=2.5)


def _cut(knots: Line, low: float, high: float) -> Line:
    """Return the part of a line between two places; nothing for a single point."""
    xs, ys = np.array(knots).T
    first, last = max(low, xs[0]), min(high, xs[-1])
    if not first < last:
        return []
    inside = [(float(x), float(y)) for x, y in knots if first < x < last]
    ends = [(float(x), float(np.interp(x, xs, ys))) for x in (first, last)]
    return [ends[0], *inside, ends[1]]
