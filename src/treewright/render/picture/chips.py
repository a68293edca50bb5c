"""The conditions on an edge, as chips: one per level, or one for an interval.

Chips fit into the room; those that do not are counted in a last one, "… 12 more".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from treewright.render.picture.shapes import Box, Shape, Words
from treewright.render.text_width import fit_pixels, pixels

SIZE = 10.5
HEIGHT = 17.0
_PAD, _GAP = 6.0, 4.0
_MOST = 100  # more chips than this never fit


@dataclass(frozen=True)
class Chips:
    """Lines of chip texts; `quiet` ones (missing values, what is left out) are drawn weaker."""

    lines: tuple[tuple[tuple[str, bool], ...], ...]
    width: float
    height: float


def chips(texts: Sequence[str], also: Sequence[str], room: float, most_lines: int) -> Chips:
    """Return the texts as chips; `also` are quiet ones at the end that are never left out."""
    items = [(fit_pixels(text, room - 2 * _PAD, SIZE), False) for text in texts[:_MOST]]
    quiet = [(text, True) for text in also]
    if len(texts) > _MOST or len(_wrapped(items + quiet, room)) > most_lines:
        # The longest start that fits together with the note of what is left out; at least one chip is shown.
        low, high = 1, len(items)
        while low < high:
            middle = (low + high + 1) // 2
            fits = len(_wrapped([*items[:middle], *_more(len(texts) - middle), *quiet], room)) <= most_lines
            low, high = (middle, high) if fits else (low, middle - 1)
        items = [*items[:low], *_more(len(texts) - low)]
    lines = _wrapped(items + quiet, room)
    width = max((_line_width(line) for line in lines), default=0.0)
    return Chips(tuple(map(tuple, lines)), width, len(lines) * (HEIGHT + 3) - 3 if lines else 0.0)


def draw_chips(label: Chips, middle: float, top: float) -> Iterator[Shape]:
    """Yield the chips, centred line by line."""
    for k, line in enumerate(label.lines):
        x, y = middle - _line_width(line) / 2, top + k * (HEIGHT + 3)
        for text, quiet in line:
            width = _chip_width(text)
            yield Box(x, y, width, HEIGHT, "paper" if quiet else "chip", 1.0, HEIGHT / 2, "line", dashed=quiet)
            yield Words(x + width / 2, y + 12.2, text, SIZE, "soft" if quiet else "ink", anchor="middle")
            x += width + _GAP


def _more(count: int) -> list[tuple[str, bool]]:
    return [(f"… {count:,} more", True)] if count else []


def _wrapped(items: Sequence[tuple[str, bool]], room: float) -> list[list[tuple[str, bool]]]:
    lines: list[list[tuple[str, bool]]] = []
    used = 0.0
    for item in items:
        width = _chip_width(item[0])
        if lines and used + _GAP + width <= room:
            lines[-1].append(item)
            used += _GAP + width
        else:
            lines.append([item])
            used = width
    return lines


def _line_width(line: Sequence[tuple[str, bool]]) -> float:
    return sum(_chip_width(text) for text, _ in line) + _GAP * (len(line) - 1)


def _chip_width(text: str) -> float:
    return pixels(text, SIZE) + 2 * _PAD
