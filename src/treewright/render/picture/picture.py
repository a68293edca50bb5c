"""A tree as a picture: cards in their places, edges as thick as their weight, a heading and a legend.

At most about `max_nodes` nodes are drawn, and what is folded is counted; nothing overlaps, nothing lies outside; the
same tree always gives the same picture.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from treewright.data.number_text import many
from treewright.render.node_text import branch_words, heading
from treewright.render.picture.bars import Paint, paint_of
from treewright.render.picture.cards import CHIP_GAP, STACK, Card, card, detail_of, draw_card, labels, title_of
from treewright.render.picture.chips import Chips, draw_chips
from treewright.render.picture.folding import Folded, fold
from treewright.render.picture.histogram import Histogram
from treewright.render.picture.layout import Place, tidy
from treewright.render.picture.legend import legend
from treewright.render.picture.shapes import Group, Line, Picture, Ribbon, Shape, Words
from treewright.render.text_width import fit_pixels, pixels
from treewright.tree.tree import Tree

Direction = Literal["down", "right"]

_MARGIN = 20.0
_HEADING = 15.0
#: A tree that would be wider than this grows to the right instead, where its leaves are lines of a list.
_WIDEST = 1500.0
#: The edge that carries all rows is this thick.
_THICKEST = 16.0
_NO_CHIPS = Chips((), 0.0, 0.0)
#: So many conditions of a long path are shown.
_LONGEST_PATH = 30


@dataclass(frozen=True)
class _Plan:
    """Cards and where they go, for one direction.

    Along the way, `starts` is where each card begins, after its chips, and `ends` where its whole level ends.
    """

    cards: tuple[Card, ...]
    places: tuple[Place, ...]
    starts: tuple[float, ...]
    ends: tuple[float, ...]
    down: bool
    width: float
    height: float


def picture(
    tree: Tree,
    max_nodes: int,
    max_depth: int | None = None,
    histograms: Mapping[int, Histogram] | None = None,
    direction: Direction | None = None,
) -> Picture:
    """Return the picture; without a direction, downward if that is not too wide."""
    one = scene(tree, max_nodes, max_depth, histograms, direction)
    edges = Group(tuple(shape for i in range(len(one.folded.nodes)) for shape in one.edges(i)), one.left, one.top)
    groups = (one.heading(one.title), one.legend, edges, *one.nodes(), *one.notes)
    return Picture(one.width, one.height, one.title, " ".join(_notes(tree, one.folded)), groups)


@dataclass(frozen=True)
class Scene:
    """A tree laid out: where its cards and edges go, before they are drawn; `left` and `top` are where they begin."""

    tree: Tree
    folded: Folded
    plan: _Plan
    paint: Paint
    title: str
    legend: Group
    notes: tuple[Group, ...]
    width: float
    height: float
    left: float
    top: float

    def heading(self, words: str) -> Group:
        """Return a line of bold text at the top."""
        text = fit_pixels(words, self.width - 2 * _MARGIN, _HEADING, bold=True)
        return Group((Words(0, _HEADING, text, _HEADING, bold=True),), _MARGIN, _MARGIN)

    def edges(self, i: int) -> tuple[Shape, ...]:
        """Return the edges from a drawn node to its children."""
        return tuple(_edges(self.tree, self.folded, self.plan, i))

    def nodes(self, cards: tuple[Card, ...] | None = None) -> tuple[Group, ...]:
        """Return the drawn nodes; with `cards`, others of the same size in their places."""
        plan = self.plan if cards is None else replace(self.plan, cards=cards)
        return tuple(_nodes(self.folded, plan, self.paint, self.left, self.top))


def scene(
    tree: Tree,
    max_nodes: int,
    max_depth: int | None = None,
    histograms: Mapping[int, Histogram] | None = None,
    direction: Direction | None = None,
) -> Scene:
    """Return the layout of a picture; without a direction, downward if that is not too wide."""
    if direction not in (None, "down", "right"):
        raise ValueError(f"direction must be 'down', 'right' or None, not {direction!r}")
    folded = fold(tree, max_nodes, max_depth)
    plan = _chosen(tree, folded, histograms or {}, direction)
    paint = paint_of(tree, folded.nodes)
    title = heading(tree)
    width = max(plan.width, min(pixels(title, _HEADING, bold=True), 620.0), 320.0)
    key = legend(tree, paint, width, "" if histograms else "bars: mean ± standard deviation")
    top = _MARGIN + 22 + key.height + 14
    base = top + plan.height
    notes = tuple(
        Group((Words(0, 0, fit_pixels(note, width, 11), 11, "soft"),), _MARGIN, base + 26 + 16 * k)
        for k, note in enumerate(_notes(tree, folded))
    )
    below = 16 * len(notes) + 10 if notes else 0
    key_group = Group(key.shapes, _MARGIN, _MARGIN + 26)
    size = (width + 2 * _MARGIN, base + below + _MARGIN)
    return Scene(tree, folded, plan, paint, title, key_group, notes, *size, _MARGIN + (width - plan.width) / 2, top)


def _notes(tree: Tree, folded: Folded) -> list[str]:
    """Return what is not drawn, and how to see it."""
    if not folded.hidden:
        return []
    return [
        f"{len(folded.nodes):,} of {many(tree.n_nodes, 'node')} drawn: the heaviest branches",
        f"{many(folded.hidden, 'node')} folded; max_nodes=… and max_depth=… show more",
    ]


# --- placing --------------------------------------------------------------------------------------------------------


def _chosen(tree: Tree, folded: Folded, histograms: Mapping[int, Histogram], direction: Direction | None) -> _Plan:
    if direction is not None:
        return _plan(tree, folded, histograms, direction == "down")
    down = _plan(tree, folded, histograms, True)
    if down.width <= _WIDEST:
        return down
    right = _plan(tree, folded, histograms, False)
    # Scrolling a wide picture starts at its left edge, where only a tree that grows to the right has its root.
    return right if right.width < 1.5 * down.width else down


def _plan(tree: Tree, folded: Folded, histograms: Mapping[int, Histogram], down: bool) -> _Plan:
    cards = tuple(_cards(tree, folded, histograms, down))
    depth = [int(tree.arrays["depth"][node]) for node in folded.nodes]
    before = [0.0] * (max(depth) + 1)  # along the way down, chips come before the card; cards of a level start together
    for one, level in zip(cards, depth, strict=True):
        before[level] = max(before[level], _chip_reach(one, down))
    breadth = [_breadth(one, down, bool(ids)) for one, ids in zip(cards, folded.left_out, strict=True)]
    length = [before[level] + _length(one, down) for one, level in zip(cards, depth, strict=True)]
    gaps = (14.0, 34.0, 24.0) if down else (8.0, 56.0, 14.0)
    places = tidy(folded.children, breadth, length, *gaps)
    across = max(place.across + wide / 2 for place, wide in zip(places, breadth, strict=True))
    along = max(place.along + long for place, long in zip(places, length, strict=True))
    starts = tuple(place.along + before[level] for place, level in zip(places, depth, strict=True))
    last = [0.0] * len(before)
    for place, long, level in zip(places, length, depth, strict=True):
        last[level] = max(last[level], place.along + long)
    ends = tuple(last[level] for level in depth)
    return _Plan(cards, tuple(places), starts, ends, down, across if down else along, along if down else across)


def _cards(tree: Tree, folded: Folded, histograms: Mapping[int, Histogram], down: bool) -> Iterator[Card]:
    """Yield the cards in the order of the drawn nodes."""
    labelled: dict[int, Chips] = {0: _NO_CHIPS}
    room, lines, widest = (150.0, 3, 210.0) if down else (190.0, 2, 260.0)
    for i, node_id in enumerate(folded.nodes):
        node = tree[node_id]
        opened = bool(folded.children[i])
        if opened:
            chips_of = dict(zip(node.children, labels(node, room, lines), strict=True))
            labelled |= {child: chips_of[folded.nodes[child]] for child in folded.children[i]}
        yield card(node, folded.below[i], labelled[i], histograms.get(node_id), widest, not down, opened)


def _chip_reach(one: Card, down: bool) -> float:
    if not one.label.lines:
        return 0.0
    return one.label.height + CHIP_GAP if down else one.label.width + 2 * CHIP_GAP


def _breadth(one: Card, down: bool, noted: bool) -> float:
    """Return the room across; what sticks out on one side is added on both."""
    more = 2 * STACK if one.folded else 0.0
    if down:
        return max(one.width + more, one.label.width)
    return max(one.height + more + (32.0 if noted else 0.0), one.label.height)


def _length(one: Card, down: bool) -> float:
    return (one.height if down else one.width) + (STACK if one.folded else 0.0)


# --- drawing --------------------------------------------------------------------------------------------------------


def _nodes(folded: Folded, plan: _Plan, paint: Paint, left: float, top: float) -> Iterator[Group]:
    paths: dict[int, tuple[str, ...]] = {0: ()}
    for i, (one, place, start) in enumerate(zip(plan.cards, plan.places, plan.starts, strict=True)):
        node = one.node
        if folded.children[i] and node.split is not None:
            words = dict(zip(node.children, branch_words(node, 4), strict=True))
            for child in folded.children[i]:
                paths[child] = (*paths[i][1 - _LONGEST_PATH :], words[folded.nodes[child]])
        corner = (place.across - one.width / 2, start) if plan.down else (start, place.across - one.height / 2)
        middle, chip_top = one.width / 2, -CHIP_GAP - one.label.height
        if not plan.down:
            middle, chip_top = -CHIP_GAP - one.label.width / 2, (one.height - one.label.height) / 2
        shapes = (
            *draw_card(one, paint),
            *draw_chips(one.label, middle, chip_top),
            *_left_out(folded.left_out[i], one, plan.down),
        )
        detail = detail_of(node, paths[i])
        yield Group(shapes, left + corner[0], top + corner[1], title_of(node), detail, node.id)


def _left_out(ids: tuple[int, ...], one: Card, down: bool) -> Iterator[Shape]:
    """Yield a note beside a node some of whose branches are not drawn."""
    if ids:
        note = f"… {many(len(ids), 'branch')} more"
        x, y = (one.width / 2 + 14, one.height + 13) if down else (8, one.height + 13)
        yield Words(x, y, note, 10.5, "soft")


def _edges(tree: Tree, folded: Folded, plan: _Plan, i: int) -> Iterator[Shape]:
    """From a node to its children; side by side where they leave it."""
    whole, children = tree.root.weight, folded.children[i]
    if not children:
        return
    one, place = plan.cards[i], plan.places[i]
    widths = [_thickness(plan.cards[child].node.weight, whole) for child in children]
    # Thin edges are drawn thicker than they are; together they leave the node no thicker than it is itself.
    squeezed = min(1.0, _thickness(one.node.weight, whole) / sum(widths))
    start = place.across - squeezed * sum(widths) / 2
    leaves = plan.starts[i] + (one.height if plan.down else one.width)
    for child, width in zip(children, widths, strict=True):
        across = start + squeezed * width / 2
        start += squeezed * width
        to, bend, end = plan.places[child].across, plan.places[child].along, plan.starts[child]
        # Straight past the other cards of the level, bent in the gap between levels, straight behind the chips.
        yield _straight(across, leaves, plan.ends[i], width, plan.down)
        if plan.down:
            yield Ribbon(across, plan.ends[i], to, bend, width, True)
        else:
            yield Ribbon(plan.ends[i], across, bend, to, width, False)
        yield _straight(to, bend, end, width, plan.down)


def _straight(across: float, start: float, end: float, width: float, down: bool) -> Line:
    return Line(across, start, across, end, "edge", width) if down else Line(start, across, end, across, "edge", width)


def _thickness(weight: float, whole: float) -> float:
    return max(1.5, _THICKEST * weight / whole) if whole > 0 else 1.5
