"""The legend: which colour is which class, or which number.

Of many classes the most frequent are named, the others counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treewright.data.number_text import amount
from treewright.render.colours import scale
from treewright.render.picture.bars import Paint
from treewright.render.picture.shapes import Box, Shape, Words
from treewright.render.text_width import fit_pixels, pixels
from treewright.tree.text import level_text
from treewright.tree.tree import Tree

_SIZE, _LINE, _SWATCH = 11.0, 18.0, 11.0
_MOST_CLASSES = 24
_STEPS = 40


@dataclass(frozen=True)
class Legend:
    shapes: tuple[Shape, ...]
    height: float


def legend(tree: Tree, paint: Paint, width: float, note: str) -> Legend:
    """Return the legend, its upper left corner at (0, 0); `note` stands beside a scale of numbers."""
    if paint.classes:
        return _of_classes(tree, paint, width)
    return Legend(tuple(_number_shapes(paint, width, note)), _LINE)


def _of_classes(tree: Tree, paint: Paint, width: float) -> Legend:
    classes, counts = tree.schema.target.classes or (), tree.root.counts or ()
    frequent = sorted(sorted(range(len(classes)), key=lambda i: (-counts[i], i))[:_MOST_CLASSES])
    items = [(paint.classes[i], fit_pixels(level_text(classes[i]), 160, _SIZE)) for i in frequent]
    if len(classes) > len(items):
        items.append(("", f"… {len(classes) - len(items)} more classes"))
    shapes: list[Shape] = []
    x, y = 0.0, 0.0
    for colour, name in items:
        room = (_SWATCH + 5 if colour else 0) + pixels(name, _SIZE)
        if x > 0 and x + room > width:
            x, y = 0.0, y + _LINE
        if colour:
            shapes.append(Box(x, y + 2, _SWATCH, _SWATCH, colour, radius=2.5))
            shapes.append(Words(x + _SWATCH + 5, y + 11.5, name, _SIZE))
        else:
            shapes.append(Words(x, y + 11.5, name, _SIZE, "soft"))
        x += room + 14
    return Legend(tuple(shapes), y + _LINE)


def _number_shapes(paint: Paint, width: float, note: str) -> Iterator[Shape]:
    low, high = amount(paint.low), amount(paint.high)
    start = pixels(low, _SIZE) + 6
    yield Words(0, 11.5, low, _SIZE)
    for i in range(_STEPS):
        yield Box(start + 3 * i, 2, 3.3, _SWATCH, scale(i, 0, _STEPS - 1))
    after = start + 3 * _STEPS + 6
    yield Words(after, 11.5, high, _SIZE)
    after += pixels(high, _SIZE) + 18
    if after + pixels(note, _SIZE) <= width:
        yield Words(after, 11.5, note, _SIZE, "soft")
