"""One node as a card: its split or prediction, its chart, its facts; and the chips of the edge that leads to it.

Every text fits its card; what was shortened is shown in full by the card's title and detail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from treewright.data.number_text import amount, many, number_text, percent
from treewright.render.model_text import short_model_text
from treewright.render.node_text import (
    certainty,
    hand_marks,
    met_missing,
    missing_remark,
    prediction_text,
    size_text,
    spread_text,
)
from treewright.render.picture.bars import Paint, class_bar, number_bar, panel
from treewright.render.picture.chips import Chips, chips
from treewright.render.picture.histogram import Histogram
from treewright.render.picture.shapes import Box, Line, Shape, Words
from treewright.render.text_width import fit_pixels, pixels
from treewright.tree.condition_text import value_texts
from treewright.tree.text import level_text, name_text
from treewright.tree.tree import Node

_PAD, _STRIP, _BAR = 10.0, 4.0, 8.0
_TITLE, _FACTS = 12.5, 10.5
_PANEL, _FLAT_BAR = 60.0, 56.0
#: Between the chips and the card below (or beside) them.
CHIP_GAP = 5.0
#: How far the cards behind a folded one stick out.
STACK = 6.0


@dataclass(frozen=True)
class Card:
    """A card of `width` by `height`; `flat` ones have everything on one line."""

    node: Node
    heading: str
    facts: str
    folded: str
    label: Chips
    flat: bool
    width: float
    height: float
    histogram: Histogram | None = None


def card(
    node: Node, below: int, label: Chips, histogram: Histogram | None, widest: float, flat: bool, opened: bool
) -> Card:
    """Return the card of a node; `below`: nodes folded under it, `opened`: whether its children are drawn."""
    split = node.split if opened else None
    folded = "" if opened or not below else f"+ {many(below, 'node')}"
    if flat and split is None and histogram is None:
        heading = fit_pixels(_pen(node) + _leaf_heading(node, widest * 0.5), widest * 0.5, _TITLE, bold=True)
        facts = " · ".join(filter(None, (size_text(node), certainty(node), folded)))
        wanted = pixels(heading, _TITLE, bold=True) + pixels(facts, _FACTS) + _FLAT_BAR + 16
        return Card(node, heading, facts, folded, label, True, wanted + 2 * _PAD + _STRIP, 26.0)
    most = widest - 2 * _PAD - _STRIP
    heading = _pen(node) + (_leaf_heading(node, most) if split is None else name_text(split.column))
    facts = " · ".join(
        filter(None, (size_text(node), certainty(node) if split is None else _class_share_text(node, most)))
    )
    wanted = max(pixels(heading, _TITLE, bold=True), pixels(facts, _FACTS), pixels(folded, _FACTS))
    room = min(most, max(74.0 if histogram is None else 130.0, wanted))
    height = 42.0 + (_PANEL if histogram is not None else _BAR + 4) + (15.0 if folded else 0.0)
    heading, facts = fit_pixels(heading, room, _TITLE, bold=True), fit_pixels(facts, room, _FACTS)
    return Card(node, heading, facts, folded, label, False, room + 2 * _PAD + _STRIP, height, histogram)


def _pen(node: Node) -> str:
    """Return the mark of what was done by hand; the title names it."""
    return "✎ " if hand_marks(node) else ""


def before_split(drawn: Card) -> Card:
    """Return the card of a node before it was split, as large as its card with the split."""
    leaf = card(drawn.node, 0, drawn.label, None, drawn.width, False, False)
    return replace(leaf, width=drawn.width, height=drawn.height)


def _class_share_text(node: Node, room: float) -> str:
    """Return what a node with a split would predict itself; a long name is shortened so that its share can be read."""
    if node.counts is None:
        return f"{short_prediction(node)} {spread_text(node)}".rstrip()
    sure = certainty(node)
    used = pixels(f"{size_text(node)} · : {sure}", _FACTS)
    name = fit_pixels(short_prediction(node), max(30.0, room - used), _FACTS)
    return f"{name}: {sure}" if sure else name


def draw_card(drawn: Card, paint: Paint) -> Iterator[Shape]:
    """Yield the card, its upper left corner at (0, 0)."""
    node, width, height = drawn.node, drawn.width, drawn.height
    if drawn.folded:
        for behind in (STACK, STACK / 2):
            yield Box(behind, behind, width, height, "card", 1.0, 6, "line")
    empty = node.weight <= 0
    colour = paint.of(node)
    yield Box(0, 0, width, height, "card", 1.0, 6, "line", dashed=empty)
    if not empty:
        yield Box(0, 0, width, height, colour, 0.06 + 0.24 * paint.strength(node) ** 2, 6)
        yield Box(0, 0, _STRIP + 1, height, colour, 1.0, 2.5)
    left, room = _PAD + _STRIP - 2, width - 2 * _PAD - _STRIP + 2
    bar = class_bar if paint.classes else number_bar
    if drawn.flat:
        yield from bar(node, paint, left, 9, _FLAT_BAR, _BAR)
        start = left + _FLAT_BAR + 8
        yield Words(start, 17.5, drawn.heading, _TITLE, bold=True)
        yield Words(start + pixels(drawn.heading, _TITLE, bold=True) + 8, 17, drawn.facts, _FACTS, "soft")
        return
    yield Words(left, 18, drawn.heading, _TITLE, bold=True)
    if drawn.histogram is not None:
        yield from panel(drawn.histogram, paint, left, 24, room, _PANEL)
    else:
        yield from bar(node, paint, left, 25, room, _BAR)
    low = height - 8 - (15 if drawn.folded else 0)
    yield Words(left, low, drawn.facts, _FACTS, "soft")
    if drawn.folded:
        yield Line(left, low + 4.5, left + room, low + 4.5, "line", 0.8)
        yield Words(left, low + 15, drawn.folded, _FACTS, "ink")


def labels(node: Node, room: float, most_lines: int) -> list[Chips]:
    """Return the chips on the edges to each child of a node."""
    split = node.split
    assert split is not None  # only nodes whose children are drawn
    texts = [value_texts(branch) for branch in split.branches]
    # Where surrogates are used first, "missing" leads nowhere by itself: the node's detail shows all of it.
    met = missing_remark(node, split) is None and met_missing(node, split, children_of(node))
    also = [["missing"] if met and split.missing == i and texts[i] else [] for i in range(split.n_children)]
    named = [found or (["missing"] if split.missing == i else ["no value"]) for i, found in enumerate(texts)]
    return [chips(found, quiet, room, most_lines) for found, quiet in zip(named, also, strict=True)]


def children_of(node: Node) -> list[Node]:
    return [node.tree[child] for child in node.children]


def short_prediction(node: Node) -> str:
    """Return the class, or the number rounded for a card."""
    prediction = node.prediction
    return amount(prediction) if isinstance(prediction, float) else prediction_text(node)


def _leaf_heading(node: Node, room: float) -> str:
    """Return what a leaf predicts: its class, number, or as much of its linear model as there is room for."""
    if node.model is None:
        return short_prediction(node)
    return short_model_text(node.tree, node.model, lambda text: pixels(text, _TITLE, bold=True) <= room)


def title_of(node: Node) -> str:
    """Return a node in one sentence, in full."""
    split = node.split
    does = f"predicts {prediction_text(node)}" if split is None else f"splits on {name_text(split.column)}"
    by_hand = f"; {marks}" if (marks := hand_marks(node)) else ""
    return f"node {node.id}: {does} ({', '.join(filter(None, (size_text(node), certainty(node))))}){by_hand}"


def detail_of(node: Node, path: Sequence[str]) -> str:
    """Describe a node: conditions above (`path`), rows, and its split or why it stops."""
    parts = [f"when {' and '.join(path)}" if path else "every row"]
    counts, classes = node.counts, node.tree.schema.target.classes
    if counts is not None and classes is not None and sum(counts) > 0:
        found = sorted((-count, i) for i, count in enumerate(counts) if count > 0)
        shown = [f"{level_text(classes[i])} {percent(-count / sum(counts))}" for count, i in found[:12]]
        parts.append(", ".join(shown) + (f", … {len(found) - 12} more" if len(found) > 12 else ""))
    split = node.split
    if split is None:
        parts.append(f"a leaf: {node.stop}")
    else:
        tested = "" if split.p_adjusted is None else f", p = {number_text(float(f'{split.p_adjusted:.3g}'))}"
        parts.append(f"gain {amount(split.gain)}{tested}")
        remark = missing_remark(node, split)
        parts += [remark] if remark and met_missing(node, split, children_of(node)) else []
    return "; ".join(parts)
