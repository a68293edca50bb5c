"""The tree drawn with matplotlib, on any axes: the same picture as `svg`.

The picture keeps its proportions; text has the size that fits the axes as they are when it is drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from treewright.render.colours import GROUND, Theme
from treewright.render.picture.histogram import Histogram
from treewright.render.picture.picture import Direction, picture
from treewright.render.picture.shapes import Box, Group, Line, Picture, Ribbon, Words
from treewright.render.plots.axes import axes_for
from treewright.tree.as_tree import TreeLike, as_tree

#: Pixels of a picture per inch of a figure, where the figure is ours.
_PER_INCH = 96.0
#: A new figure is not made larger than this; the text gets smaller then.
_LARGEST = 60.0


def plot(
    tree: TreeLike,
    ax: Any = None,
    *,
    max_nodes: int = 60,
    max_depth: int | None = None,
    direction: Direction | None = None,
    histograms: Mapping[int, Histogram] | None = None,
    theme: Theme = "light",
) -> Any:
    """Draw the tree with matplotlib.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    ax : matplotlib axes, optional
        Where to draw; a new figure by default.
    max_nodes : int, default=60
        The heaviest nodes are drawn, at most so many; the rest is folded.
    max_depth : int, optional
        The deepest level shown.
    direction : {"down", "right"}, optional
        The direction of growth; by default "down" where that is not too wide.
    histograms : dict of Histogram by node, optional
        Histograms to draw into the nodes, as `treewright.inspection.histograms.histograms` makes them.
    theme : {"light", "dark"}, default="light"
        The colours.

    Returns
    -------
    matplotlib axes
        The axes drawn on.
    """
    tree = as_tree(tree)
    if theme not in GROUND:
        raise ValueError(f"theme must be 'light' or 'dark', not {theme!r}")
    drawn = picture(tree, max_nodes, max_depth, histograms, direction)
    smaller = min(1.0, _LARGEST * _PER_INCH / max(drawn.width, drawn.height))
    axes = axes_for(ax, smaller * drawn.width / _PER_INCH, smaller * drawn.height / _PER_INCH)
    if ax is None:
        axes.figure.set_layout_engine("none")
        axes.set_position([0, 0, 1, 1])
    axes.set(xlim=(0, drawn.width), ylim=(drawn.height, 0), aspect="equal")
    axes.set_axis_off()
    axes.figure.set_facecolor(GROUND[theme]["paper"]) if ax is None else None
    _Pen(axes, drawn, GROUND[theme]).draw()
    return axes


class _Pen:
    """Draws shapes on axes; knows how large a pixel of the picture is there."""

    def __init__(self, axes: Any, drawn: Picture, roles: Mapping[str, str]) -> None:
        self.axes, self.drawn, self.roles = axes, drawn, roles
        room = axes.get_window_extent()
        dots = min(room.width / drawn.width, room.height / drawn.height)
        self.point = dots * 72 / axes.figure.dpi
        self.layer = 2.0

    def draw(self) -> None:
        self._box(Box(0, 0, self.drawn.width, self.drawn.height, "paper"), 0, 0)
        for group in self.drawn.groups:
            self._group(group)

    def _group(self, group: Group) -> None:
        for shape in group.shapes:
            self.layer += 0.001  # later shapes lie on earlier ones, whatever their kind
            match shape:
                case Box():
                    self._box(shape, group.x, group.y)
                case Words():
                    self._words(shape, group.x, group.y)
                case Line():
                    self._line(shape, group.x, group.y)
                case Ribbon():
                    self._ribbon(shape, group.x, group.y)

    def _colour(self, colour: str) -> str:
        return self.roles.get(colour, colour)

    def _box(self, box: Box, x: float, y: float) -> None:
        from matplotlib.colors import to_rgba
        from matplotlib.patches import FancyBboxPatch, Rectangle

        radius = min(box.radius, box.width / 2, box.height / 2)
        look = {
            "facecolor": to_rgba(self._colour(box.fill), box.opacity),
            "edgecolor": self._colour(box.outline) if box.outline else "none",
            "linewidth": self.point,
            "linestyle": (0, (3, 2)) if box.dashed else "solid",
            "zorder": self.layer,
        }
        if radius > 0:
            style = f"round,pad=0,rounding_size={radius}"
            patch: Any = FancyBboxPatch((x + box.x, y + box.y), box.width, box.height, boxstyle=style, **look)
        else:
            patch = Rectangle((x + box.x, y + box.y), box.width, box.height, **look)
        self.axes.add_patch(patch)

    def _words(self, words: Words, x: float, y: float) -> None:
        self.axes.text(
            x + words.x,
            y + words.y,
            words.text,
            fontsize=words.size * self.point,
            fontweight="bold" if words.bold else "normal",
            color=self._colour(words.colour),
            ha={"start": "left", "middle": "center", "end": "right"}[words.anchor],
            va="baseline",
            zorder=self.layer,
            parse_math=False,
            clip_on=True,
        )

    def _line(self, line: Line, x: float, y: float) -> None:
        self.axes.plot(
            [x + line.x, x + line.to_x],
            [y + line.y, y + line.to_y],
            color=self._colour(line.colour),
            linewidth=line.width * self.point,
            linestyle=(0, (3, 2)) if line.dashed else "solid",
            solid_capstyle="butt",
            zorder=self.layer,
        )

    def _ribbon(self, ribbon: Ribbon, x: float, y: float) -> None:
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        points = [(x + px, y + py) for px, py in ribbon.curve()]
        path = Path(points, [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
        width = ribbon.width * self.point
        edge = self._colour("edge")
        self.axes.add_patch(
            PathPatch(path, facecolor="none", edgecolor=edge, linewidth=width, capstyle="butt", zorder=self.layer)
        )
