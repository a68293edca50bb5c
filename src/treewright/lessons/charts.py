"""Small charts, as svg and as characters: lines over an axis, and the regions of a tree over two numeric columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from treewright.data.number_text import number_text
from treewright.lessons.content import Drawn
from treewright.lessons.tables import Columns
from treewright.render.colours import class_colours, mix
from treewright.render.picture.shapes import Box, Group, Line, Picture, Shape, Words
from treewright.render.plots.regions import Region, regions
from treewright.render.svg_writer import write
from treewright.render.text_width import pixels
from treewright.tree.conditions import Interval
from treewright.tree.text import level_text
from treewright.tree.tree import Tree

Point = tuple[float, float]

_WIDE, _HIGH = 620.0, 320.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 16.0, 34.0, 44.0
_ACROSS, _DOWN = 60, 16
#: What stands for each series in a sketch.
_SIGNS = "●○×+"


@dataclass(frozen=True)
class Series:
    """Points in the order of x: joined by lines, by steps, or left alone."""

    name: str
    points: tuple[Point, ...]
    form: Literal["line", "steps", "dots"] = "line"


@dataclass(frozen=True)
class Axes:
    """Where numbers lie: `low` and `high` of both directions; `by_powers`: x is drawn by its logarithm."""

    x: tuple[float, float]
    y: tuple[float, float]
    by_powers: bool = False

    def across(self, x: float) -> float:
        """Return the place of x, from 0 to 1."""
        low, high, here = (math.log(v) if self.by_powers else v for v in (*self.x, x))
        return (here - low) / ((high - low) or 1.0)

    def up(self, y: float) -> float:
        return (y - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0)


# --- lines ------------------------------------------------------------------------------------------------------------


def line_chart(
    series: Sequence[Series],
    x_name: str,
    y_name: str,
    caption: str,
    *,
    by_powers: bool = False,
    mark: float | None = None,
) -> Drawn:
    """Several series over one axis; `mark` is an x that a dashed line points out."""
    places = [point for one in series for point in one.points]
    axes = Axes(_ends([x for x, _ in places]), _ends([y for _, y in places]), by_powers)
    colours = class_colours(len(series))
    shapes: list[Shape] = [*_frame(axes, x_name, y_name)]
    if mark is not None:
        x = _x(axes, mark)
        shapes.append(Line(x, _TOP, x, _HIGH - _BOTTOM, "soft", 1.2, dashed=True))
    for one, colour in zip(series, colours, strict=True):
        shapes += _line_shapes(one, axes, colour)
    shapes += _legend([one.name for one in series], colours)
    picture = Picture(_WIDE, _HIGH, caption, f"{y_name} over {x_name}", (Group(tuple(shapes)),))
    return Drawn(write(picture), _line_sketch(series, axes, x_name, y_name), caption)


def _line_shapes(one: Series, axes: Axes, colour: str) -> list[Shape]:
    shapes: list[Shape] = []
    at = [(_x(axes, x), _y(axes, y)) for x, y in one.points]
    for (x, y), (to_x, to_y) in pairwise(at):
        if one.form == "line":
            shapes.append(Line(x, y, to_x, to_y, colour, 2.0))
        elif one.form == "steps":
            shapes += [Line(x, y, to_x, y, colour, 2.0), Line(to_x, y, to_x, to_y, colour, 1.0)]
    if one.form == "dots" or len(at) <= 20:
        shapes += [_dot(x, y, colour) for x, y in at]
    return shapes


def _dot(x: float, y: float, colour: str, size: float = 6.0) -> Box:
    return Box(x - size / 2, y - size / 2, size, size, colour, radius=size / 2)


def _frame(axes: Axes, x_name: str, y_name: str) -> list[Shape]:
    low, ground = _HIGH - _BOTTOM, _WIDE - _RIGHT
    shapes: list[Shape] = [Line(_LEFT, low, ground, low, "line"), Line(_LEFT, _TOP, _LEFT, low, "line")]
    for x in _ticks(axes.x, axes.by_powers):
        shapes.append(Line(_x(axes, x), low, _x(axes, x), low + 4, "line"))
        shapes.append(Words(_x(axes, x), low + 17, number_text(x), 11, "soft", anchor="middle"))
    for y in _ticks(axes.y, False):
        shapes.append(Line(_LEFT, _y(axes, y), ground, _y(axes, y), "edge", 0.7))
        shapes.append(Words(_LEFT - 6, _y(axes, y) + 4, number_text(y), 11, "soft", anchor="end"))
    shapes.append(Words((_LEFT + ground) / 2, _HIGH - 8, x_name, 12, "ink", anchor="middle"))
    shapes.append(Words(8, 18, y_name, 12, "ink"))
    return shapes


def _legend(names: Sequence[str], colours: Sequence[str]) -> list[Shape]:
    """Return names above the picture, from the right."""
    shapes: list[Shape] = []
    x = _WIDE - _RIGHT
    for name, colour in reversed(list(zip(names, colours, strict=True))):
        shapes.append(Words(x, 18, name, 12, anchor="end"))
        x -= pixels(name, 12) + 10
        shapes.append(_dot(x, 14, colour, 9))
        x -= 16
    return shapes


def _x(axes: Axes, x: float) -> float:
    return _LEFT + axes.across(x) * (_WIDE - _LEFT - _RIGHT)


def _y(axes: Axes, y: float) -> float:
    return _HIGH - _BOTTOM - axes.up(y) * (_HIGH - _TOP - _BOTTOM)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)


def _ticks(ends: tuple[float, float], by_powers: bool) -> list[float]:
    """Round numbers between two ends."""
    low, high = ends
    if by_powers:
        powers = range(math.floor(math.log2(low)), math.ceil(math.log2(high)) + 1)
        return [float(2**power) for power in powers if low <= 2**power <= high]
    size = 10.0 ** math.floor(math.log10((high - low) or 1.0))
    step = next(size * part for part in (0.2, 0.5, 1.0, 2.0) if (high - low) / (size * part) <= 6)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _line_sketch(series: Sequence[Series], axes: Axes, x_name: str, y_name: str) -> str:
    cells = [[" "] * _ACROSS for _ in range(_DOWN)]
    for sign, one in reversed(list(zip(_SIGNS, series, strict=False))):
        for x, y in _filled(one, axes):
            column = min(_ACROSS - 1, int(axes.across(x) * (_ACROSS - 1) + 0.5))
            cells[_DOWN - 1 - min(_DOWN - 1, int(axes.up(y) * (_DOWN - 1) + 0.5))][column] = sign
    legend = "   ".join(f"{sign} {one.name}" for sign, one in zip(_SIGNS, series, strict=False))
    return f"  {legend}\n" + _framed(cells, axes, x_name, y_name)


def _filled(one: Series, axes: Axes) -> list[Point]:
    """Return the points of a sketch: lines have one in every column."""
    if one.form == "dots":
        return list(one.points)
    found: list[Point] = []
    for (x, y), (to_x, to_y) in pairwise(one.points):
        n = max(1, int((axes.across(to_x) - axes.across(x)) * _ACROSS))
        for i in range(n):
            part = i / n
            here = x * (to_x / x) ** part if axes.by_powers else x + (to_x - x) * part
            found.append((here, y if one.form == "steps" else y + (to_y - y) * part))
    return [*found, one.points[-1]]


def _framed(cells: Sequence[Sequence[str]], axes: Axes, x_name: str, y_name: str) -> str:
    top, bottom = number_text(float(f"{axes.y[1]:.4g}")), number_text(float(f"{axes.y[0]:.4g}"))
    edge = max(len(top), len(bottom))
    labels = {0: top, len(cells) - 1: bottom}
    lines = [f"  {y_name}"]
    lines += [f"  {labels.get(i, ''):>{edge}} │{''.join(row)}".rstrip() for i, row in enumerate(cells)]
    left, right = (number_text(float(f"{x:.4g}")) for x in axes.x)
    middle = f"{x_name}".center(len(cells[0]) - len(left) - len(right))
    return "\n".join([*lines, f"  {'':>{edge}} └{'─' * len(cells[0])}", f"  {'':>{edge}}  {left}{middle}{right}"])


# --- boxes ------------------------------------------------------------------------------------------------------------


def region_chart(
    tree: Tree, x: str, y: str, data: Columns, caption: str, border: Callable[[float], float] | None = None
) -> Drawn:
    """Draw the predictions over two columns from 0 to 1, the rows as points, and a boundary to compare."""
    axes = Axes((0.0, 1.0), (0.0, 1.0))
    classes = tree.schema.target.classes or ()
    colours = class_colours(len(classes))
    boxes = regions(tree, (x, y))
    shapes: list[Shape] = []
    for region in boxes:
        (left, right), (low, high) = (_kept(extent) for extent in region.extents)
        colour = colours[classes.index(tree[region.node].prediction)]
        width, height = _x(axes, right) - _x(axes, left), _y(axes, low) - _y(axes, high)
        shapes.append(Box(_x(axes, left), _y(axes, high), width, height, colour, opacity=0.25, outline="line"))
    target = tree.schema.target.name
    for at_x, at_y, side in zip(data[x], data[y], data[target], strict=True):
        shapes.append(_dot(_x(axes, at_x), _y(axes, at_y), mix(colours[classes.index(side)], "#000000", 0.1), 7))
    if border is not None:
        shapes.append(Line(_x(axes, 0.0), _y(axes, border(0.0)), _x(axes, 1.0), _y(axes, border(1.0)), "ink", 2, True))
    shapes += [one for one in _frame(axes, x, y) if not (isinstance(one, Line) and one.colour == "edge")]
    shapes += _legend([level_text(name) for name in classes], colours)
    picture = Picture(_WIDE, _HIGH, caption, f"predictions over {x} and {y}", (Group(tuple(shapes)),))
    return Drawn(write(picture), _region_sketch(tree, boxes, axes, x, y, border), caption)


def _kept(extent: object) -> tuple[float, float]:
    """Return the part of an interval that is shown."""
    assert isinstance(extent, Interval)
    return max(0.0, extent.low), min(1.0, extent.high)


def _region_sketch(
    tree: Tree, boxes: Sequence[Region], axes: Axes, x: str, y: str, border: Callable[[float], float] | None
) -> str:
    classes = tree.schema.target.classes or ()
    signs = dict(zip(classes, "░█▒▓", strict=False))
    cells = []
    for row in range(_DOWN):
        high = 1 - (row + 0.5) / _DOWN
        line = []
        for column in range(2 * _DOWN):
            place = ((column + 0.5) / (2 * _DOWN), high)
            crossed = border is not None and abs(border(place[0]) - high) < 0.5 / _DOWN
            line.append("╲" if crossed else signs[tree[_box_of(boxes, place).node].prediction])
        cells.append(line)
    named = [f"{sign} {level_text(name)}" for name, sign in signs.items()]
    legend = "   ".join([*named, *(["╲ the rule"] if border is not None else [])])
    return f"  {legend}\n" + _framed(cells, axes, x, y)


def _box_of(boxes: Sequence[Region], place: Point) -> Region:
    for box in boxes:
        if all(isinstance(e, Interval) and e.low <= at <= e.high for e, at in zip(box.extents, place, strict=True)):
            return box
    raise AssertionError("boxes cover the plane")
