"""The small charts inside a node: its classes, its numbers, its histogram.

Nothing is drawn outside the room; a class has its colour, a number its place on the scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treewright.render.colours import class_colours, scale, strength
from treewright.render.node_text import prediction_index, prediction_share
from treewright.render.picture.histogram import Histogram
from treewright.render.picture.shapes import Box, Line, Shape, Words
from treewright.render.text_width import pixels
from treewright.tree.tree import Node, Tree

_SMALL = 8.0


@dataclass(frozen=True)
class Paint:
    """The colours of one picture: those of the classes, or the range of numbers that is spread over the scale."""

    classes: tuple[str, ...]
    low: float
    high: float
    bar_low: float
    bar_high: float

    def of(self, node: Node) -> str:
        """Return the colour of a node's prediction."""
        if self.classes:
            return self.classes[prediction_index(node)]
        return scale(float(node.tree.arrays["value"][node.id, 0]), self.low, self.high)

    def strength(self, node: Node) -> float:
        """Return how sure the prediction is, from 0 to 1; for a number, how little of the root's deviation is left."""
        if self.classes:
            return strength(prediction_share(node) or 0.0, len(self.classes))
        whole = node.tree.root.deviation or 0.0
        return 1.0 - min(1.0, (node.deviation or 0.0) / whole) if whole > 0 else 1.0


def paint_of(tree: Tree, nodes: Sequence[int]) -> Paint:
    """Return the colours for a picture of these nodes."""
    classes = tree.schema.target.classes
    if classes is not None:
        return Paint(tuple(class_colours(len(classes))), 0.0, 0.0, 0.0, 0.0)
    predictions = [float(tree.arrays["value"][i, 0]) for i in nodes]
    ends = [(node.mean or 0.0, node.deviation or 0.0) for node in map(tree.__getitem__, nodes) if node.weight > 0]
    lows, highs = [mean - deviation for mean, deviation in ends], [mean + deviation for mean, deviation in ends]
    return Paint((), min(predictions), max(predictions), min(lows, default=0.0), max(highs, default=0.0))


def class_bar(node: Node, paint: Paint, x: float, y: float, width: float, height: float) -> Iterator[Shape]:
    """Yield one bar, divided by the weight of the classes."""
    counts = node.counts or ()
    total = sum(counts)
    yield Box(x, y, width, height, "chip", radius=2)
    if total <= 0:
        return
    start = 0.0
    for i, count in enumerate(counts):
        end = start + count
        left, right = x + width * start / total, x + width * end / total
        if right - left >= 0.3:  # thinner ones would only blur; the tooltip has every class
            gap = 0.5 if right - left > 2 and end < total else 0.0
            yield Box(left, y, right - left - gap, height, paint.classes[i])
        start = end


def number_bar(node: Node, paint: Paint, x: float, y: float, width: float, height: float) -> Iterator[Shape]:
    """Yield the mean on a line from the lowest to the highest of the picture, and one deviation to either side."""
    yield Line(x, y + height / 2, x + width, y + height / 2, "line")
    span = paint.bar_high - paint.bar_low
    if node.weight <= 0 or not span > 0 or not math.isfinite(span):
        return
    mean, deviation = node.mean or 0.0, node.deviation or 0.0

    def place(value: float) -> float:
        return x + width * min(1.0, max(0.0, (value - paint.bar_low) / span))

    whole = place(node.tree.root.mean or 0.0)
    left, right = place(mean - deviation), place(mean + deviation)
    yield Line(whole, y, whole, y + height, "line")
    yield Box(left, y + 1.5, right - left, height - 3, paint.of(node), 0.85, 1.5, "soft")
    middle = place(mean)
    yield Box(middle - 1.25, y - 1, 2.5, height + 2, "ink", radius=1)


def panel(histogram: Histogram, paint: Paint, x: float, y: float, width: float, height: float) -> Iterator[Shape]:
    """Draw a histogram stacked by class, with cuts as lines and the ends of a numeric range."""
    floor = y + height - 14
    room = floor - y - 4
    n = len(histogram.counts)
    tallest = max((sum(bar) for bar in histogram.counts), default=0.0)
    if n and tallest > 0:
        step = width / n
        gap = min(1.0, step / 6)
        for i, bar in enumerate(histogram.counts):
            bottom = floor
            for colour, count in _layers(histogram, i, bar, paint):
                tall = room * count / tallest
                if tall > 0:
                    yield Box(x + i * step + gap / 2, bottom - tall, step - gap, tall, colour)
                bottom -= tall
    yield Line(x, floor, x + width, floor, "line")
    span = histogram.high - histogram.low
    for cut in histogram.cuts:
        if 0 < span < math.inf:
            place = x + width * (cut - histogram.low) / span
            yield Line(place, y, place, floor + 3, "ink", 1.4, dashed=histogram.labels is not None)
    yield Words(x, floor + 9, histogram.ends[0], _SMALL, "soft")
    yield Words(x + width, floor + 9, histogram.ends[1], _SMALL, "soft", anchor="end")
    for i, label in enumerate(histogram.labels or ()):
        if pixels(label, _SMALL) < width / n - 2:
            yield Words(x + (i + 0.5) * width / n, floor + 9, label, _SMALL, "soft", anchor="middle")


def _layers(histogram: Histogram, i: int, bar: Sequence[float], paint: Paint) -> Iterator[tuple[str, float]]:
    if histogram.means is None:
        yield from zip(paint.classes, bar, strict=False)
    else:
        yield scale(histogram.means[i], paint.low, paint.high), bar[0]
