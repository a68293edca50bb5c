"""The few shapes every picture is made of, before it becomes svg or matplotlib.

Lengths are pixels, y grows downward; a colour is "#rrggbb" or a role of `colours.GROUND`, which has another colour in
the dark; words are printable text that is not escaped yet.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    fill: str
    opacity: float = 1.0
    radius: float = 0.0
    outline: str | None = None
    dashed: bool = False


@dataclass(frozen=True)
class Words:
    """A line of text; `y` is where it stands."""

    x: float
    y: float
    text: str
    size: float = 11.0
    colour: str = "ink"
    bold: bool = False
    anchor: Anchor = "start"


@dataclass(frozen=True)
class Line:
    x: float
    y: float
    to_x: float
    to_y: float
    colour: str = "ink"
    width: float = 1.0
    dashed: bool = False


@dataclass(frozen=True)
class Ribbon:
    """An edge from a parent to a child, bent so that it leaves and arrives along the way the tree grows."""

    x: float
    y: float
    to_x: float
    to_y: float
    width: float
    down: bool

    def curve(self) -> tuple[tuple[float, float], ...]:
        """Start, two control points, end."""
        if self.down:
            bend = (self.y + self.to_y) / 2
            return (self.x, self.y), (self.x, bend), (self.to_x, bend), (self.to_x, self.to_y)
        bend = (self.x + self.to_x) / 2
        return (self.x, self.y), (bend, self.y), (bend, self.to_y), (self.to_x, self.to_y)


Shape = Box | Words | Line | Ribbon


@dataclass(frozen=True)
class Group:
    """Shapes that belong together, drawn from (x, y) on; `title` and `detail` describe what they show.

    `steps` are the first and last step at which a growing tree shows the group.
    """

    shapes: tuple[Shape, ...]
    x: float = 0.0
    y: float = 0.0
    title: str = ""
    detail: str = ""
    node: int | None = None
    steps: tuple[int, int] | None = None


@dataclass(frozen=True)
class Picture:
    """A whole picture; `groups` are painted in their order."""

    width: float
    height: float
    title: str
    detail: str
    groups: tuple[Group, ...] = field(default=())
