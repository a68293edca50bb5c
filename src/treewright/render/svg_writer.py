"""The tree as one svg picture that needs nothing else: no script, no font, no network.

The text is well-formed XML whatever names and levels contain; it follows the reader's light or dark setting and prints
light; every node has a text of what it shows.
"""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterator, Mapping

from treewright.render.colours import GROUND
from treewright.render.picture.histogram import Histogram
from treewright.render.picture.picture import Direction, picture
from treewright.render.picture.shapes import Box, Group, Line, Picture, Ribbon, Shape, Words
from treewright.tree.as_tree import TreeLike, as_tree

FONT = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'Noto Sans', sans-serif"


def svg(
    tree: TreeLike,
    *,
    max_nodes: int = 150,
    max_depth: int | None = None,
    direction: Direction | None = None,
    histograms: Mapping[int, Histogram] | None = None,
) -> str:
    """Return the tree as an SVG picture.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    max_nodes : int, default=150
        The heaviest nodes are drawn, at most so many; the rest is folded.
    max_depth : int, optional
        The deepest level shown.
    direction : {"down", "right"}, optional
        The direction of growth; by default "down" where that is not too wide.
    histograms : dict of Histogram by node, optional
        Histograms to draw into the nodes, as `treewright.inspection.histograms.histograms` makes them.

    Returns
    -------
    str
        An SVG document.

    Examples
    --------
    >>> import treewright as tw
    >>> tree = tw.learn({"x": [1, 2, 3, 4, 5, 6], "y": ["a", "a", "a", "b", "b", "b"]}, "y", tw.CART)
    >>> svg(tree)[:40]
    '<svg xmlns="http://www.w3.org/2000/svg" '
    """
    tree = as_tree(tree)
    return write(picture(tree, max_nodes, max_depth, histograms, direction))


def write(drawn: Picture, style: str = "") -> str:
    """Return a picture as svg text; `style` are more rules of CSS."""
    width, height = f"{drawn.width:.0f}", f"{drawn.height:.0f}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="treewright" role="img" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="{FONT}">'
    )
    words = f"<title>{_escaped(drawn.title)}</title>\n<desc>{_escaped(drawn.detail)}</desc>"
    ground = f'<rect class="f-paper" width="{width}" height="{height}"/>'
    groups = map(_group, drawn.groups)
    return "\n".join([head, words, f"<style>{_style()}{style}</style>", ground, *groups, "</svg>"])


def _style() -> str:
    """Roles as classes, in the light and, on a screen set to it, in the dark."""
    rules = {theme: "".join(_rules(role, colour) for role, colour in roles.items()) for theme, roles in GROUND.items()}
    return f"{rules['light']}@media screen and (prefers-color-scheme: dark){{{rules['dark']}}}"


def _rules(role: str, colour: str) -> str:
    return f".treewright .f-{role}{{fill:{colour}}}.treewright .s-{role}{{stroke:{colour}}}"


def _group(group: Group) -> str:
    place = f' transform="translate({_n(group.x)} {_n(group.y)})"' if group.x or group.y else ""
    node = f' data-node="{group.node}"' if group.node is not None else ""
    if group.steps is not None:
        node += f' data-from="{group.steps[0]}" data-to="{group.steps[1]}"'
    words = f"<title>{_escaped(group.title)}</title>" if group.title else ""
    words += f"<desc>{_escaped(group.detail)}</desc>" if group.detail else ""
    return f"<g{place}{node}>{words}{''.join(_shape(shape) for shape in group.shapes)}</g>"


def _shape(shape: Shape) -> str:
    match shape:
        case Box():
            return f"<rect {' '.join(_box(shape))}/>"
        case Words():
            bold = ' font-weight="600"' if shape.bold else ""
            anchor = f' text-anchor="{shape.anchor}"' if shape.anchor != "start" else ""
            return (
                f'<text x="{_n(shape.x)}" y="{_n(shape.y)}" font-size="{_n(shape.size)}"{bold}{anchor} '
                f"{_colour('fill', shape.colour)}>{_escaped(_isolated(shape.text))}</text>"
            )
        case Line():
            dashed = ' stroke-dasharray="3 2"' if shape.dashed else ""
            return (
                f'<line x1="{_n(shape.x)}" y1="{_n(shape.y)}" x2="{_n(shape.to_x)}" y2="{_n(shape.to_y)}" '
                f'{_colour("stroke", shape.colour)} stroke-width="{_n(shape.width)}"{dashed}/>'
            )
        case Ribbon():
            return (
                f'<path d="{_curve(shape)}" fill="none" {_colour("stroke", "edge")} stroke-width="{_n(shape.width)}"/>'
            )


def _box(box: Box) -> Iterator[str]:
    yield f'x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(max(0.0, box.width))}" height="{_n(max(0.0, box.height))}"'
    if box.radius:
        yield f'rx="{_n(box.radius)}"'
    if box.outline:
        yield (
            f'class="f-{box.fill} s-{box.outline}"'
            if not box.fill.startswith("#")
            else f'fill="{box.fill}" class="s-{box.outline}"'
        )
    else:
        yield _colour("fill", box.fill)
    if box.opacity < 1:
        yield f'fill-opacity="{_n(box.opacity)}"'
    if box.dashed:
        yield 'stroke-dasharray="3 2"'


def _colour(what: str, colour: str) -> str:
    return f'{what}="{colour}"' if colour.startswith("#") else f'class="{what[0]}-{colour}"'


def _curve(ribbon: Ribbon) -> str:
    start, *rest = (f"{_n(x)} {_n(y)}" for x, y in ribbon.curve())
    return f"M{start}C{' '.join(rest)}"


def _isolated(text: str) -> str:
    """Return text that is written from right to left is set apart, so that it does not turn its neighbours around."""
    if text.isascii() or not any(unicodedata.bidirectional(c) in ("R", "AL") for c in text):
        return text
    return f"\u2066{text}\u2069"


def _escaped(text: str) -> str:
    return html.escape(text, quote=True)


def _n(x: float) -> str:
    """Return a coordinate: a hundredth of a pixel is enough."""
    return f"{x:.2f}".rstrip("0").rstrip(".") or "0"
