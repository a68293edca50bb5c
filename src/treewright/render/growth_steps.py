"""A tree growing step by step: frames of one layout, an animation, and a page with buttons.

Nodes keep their places from the first step to the last.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import accumulate
from typing import Literal

from treewright.data.number_text import amount, many, percent
from treewright.render.growth_page import page
from treewright.render.node_text import certainty, prediction_share, size_text
from treewright.render.picture.cards import before_split
from treewright.render.picture.picture import Direction, Scene, scene
from treewright.render.picture.shapes import Group, Picture
from treewright.render.svg_writer import write
from treewright.tree.as_tree import TreeLike, constant_tree
from treewright.tree.text import name_text
from treewright.tree.tree import Node

#: A caption names so many splits.
_MOST_NAMED = 6


@dataclass(frozen=True, eq=False, repr=False)
class Growth:
    """The steps of a growing tree; `treewright.render.growth` makes it.

    Parameters
    ----------
    title : str
        Recipe, target and size of the tree.
    captions : tuple of str
        One per step: the splits made, the size of the tree, and its fit to the training rows.
    film : Picture
        All steps in one picture.
    """

    title: str
    captions: tuple[str, ...]
    film: Picture

    @property
    def frames(self) -> tuple[str, ...]:
        """One SVG picture per step, all of the same size."""
        return tuple(write(self._at(k)) for k in range(len(self)))

    def animation(self, seconds: float = 1.5) -> str:
        """Return one SVG picture that shows each step for some seconds, over and over.

        It needs no script, so it also moves where a slide or a README shows it as an image. Readers whose system
        prefer less motion see the last step.
        """
        return write(self.film, self._last_only() + self._keyframes(seconds))

    def page(self, title: str | None = None) -> str:
        """Return an HTML page with buttons and keys for the steps; it loads nothing."""
        size = (self.film.width, self.film.height)
        return page(title or self.title, write(self.film, self._last_only()), self.captions, size)

    def __len__(self) -> int:
        return len(self.captions)

    def __repr__(self) -> str:
        return f"<Growth: {self.title}, {many(len(self), 'step')}>"

    def _repr_html_(self) -> str:
        height = min(900, round(self.film.height) + 170)
        return f'<iframe srcdoc="{escape(self.page())}" style="width:100%;height:{height}px;border:0"></iframe>'

    def _at(self, step: int) -> Picture:
        groups = tuple(
            replace(group, steps=None)
            for group in self.film.groups
            if group.steps is None or group.steps[0] <= step <= group.steps[1]
        )
        return replace(self.film, groups=groups, detail=self.captions[step])

    def _last_only(self) -> str:
        return f'[data-to]:not([data-to="{len(self) - 1}"]){{visibility:hidden}}'

    def _keyframes(self, seconds: float) -> str:
        n, spans = len(self), sorted({group.steps for group in self.film.groups if group.steps is not None})
        rules = []
        for first, last in spans:
            moments = {0: first == 0, first: True} | ({last + 1: False} if last + 1 < n else {})
            frames = "".join(f"{100 * k / n:.4g}%{{visibility:{_VISIBLE[on]}}}" for k, on in sorted(moments.items()))
            name = f"s{first}-{last}"
            rules.append(
                f'[data-from="{first}"][data-to="{last}"]{{animation:{name} {n * seconds:g}s step-end infinite}}'
            )
            rules.append(f"@keyframes {name}{{{frames}}}")
        return f"@media (prefers-reduced-motion: no-preference){{{''.join(rules)}}}"


_VISIBLE = {True: "visible", False: "hidden"}


def growth(
    tree: TreeLike,
    *,
    by: Literal["level", "split"] = "level",
    max_nodes: int = 150,
    max_depth: int | None = None,
    direction: Direction | None = None,
) -> Growth:
    """Show a tree growing, level by level or split by split.

    The first step is the root alone. Every later step splits the nodes of one level, or one node. The tree is the one
    given: what pruning removed does not appear.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    by : {"level", "split"}, default="level"
        One step per level, or one per split, in breadth-first order.
    max_nodes : int, default=150
        Number of nodes drawn; the heaviest ones are chosen, the others folded.
    max_depth : int, optional
        Deepest level drawn, 16 by default.
    direction : {"down", "right"}, optional
        Where the leaves are; by default below the root, if that is not too wide.

    Returns
    -------
    Growth
        `page()` is an HTML page with buttons and arrow keys, `frames` are SVG pictures, `animation()` is one moving
        SVG picture.

    Examples
    --------
    >>> import treewright as tw
    >>> grown = tw.render.growth(tw.learn(tw.lessons["buys"].data, "Buys", tw.ID3))
    >>> len(grown.frames)
    3
    >>> for caption in grown.captions:
    ...     print(caption)
    Root: 9 rows. 1 leaf. Training accuracy 67 %.
    Level 1 of 2: split on Age (9 rows, gain 0.5577). 2 leaves. Training accuracy 89 %.
    Level 2 of 2: split on Income (4 rows, gain 0.8113). 4 leaves. Training accuracy 100 %.
    """
    tree = constant_tree(tree, "render.growth")
    if by not in ("level", "split"):
        raise ValueError(f"by must be 'level' or 'split', not {by!r}")
    one = scene(tree, max_nodes, max_depth, direction=direction)
    rounds = _rounds(one, by)
    leaves = list(accumulate(rounds, lambda now, opened: _split(one, now, opened), initial=frozenset({0})))
    names = [_step_name(k, len(rounds), by) for k in range(len(leaves))]
    sizes = [f"{many(len(now), 'leaf')}{' drawn' if one.folded.hidden else ''}" for now in leaves]
    headings = [
        replace(one.heading(f"{name}: {size}"), steps=(k, k))
        for k, (name, size) in enumerate(zip(names, sizes, strict=True))
    ]
    captions = tuple(_caption(one, *step) for step in zip(names, sizes, [[], *rounds], leaves, strict=True))
    film = Picture(one.width, one.height, one.title, "", (*headings, *_groups(one, rounds)))
    return Growth(one.title, captions, film)


def _rounds(one: Scene, by: str) -> list[list[int]]:
    """Return the drawn nodes that are split in each step after the first, by their index in the scene."""
    depth = one.tree.arrays["depth"]
    opened = [i for i, children in enumerate(one.folded.children) if children]
    opened.sort(key=lambda i: (int(depth[one.folded.nodes[i]]), i))
    if by == "split":
        return [[i] for i in opened]
    levels: dict[int, list[int]] = {}
    for i in opened:
        levels.setdefault(int(depth[one.folded.nodes[i]]), []).append(i)
    return list(levels.values())


def _groups(one: Scene, rounds: Sequence[Sequence[int]]) -> tuple[Group, ...]:
    """Everything that is shown at some step, in the order in which it is painted."""
    last = len(rounds)
    split_at = {i: step for step, opened in enumerate(rounds, 1) for i in opened}
    shown_from = {0: 0} | {child: step for i, step in split_at.items() for child in one.folded.children[i]}
    cards = one.plan.cards
    unsplit = one.nodes(tuple(before_split(card) if i in split_at else card for i, card in enumerate(cards)))
    edges = [Group(one.edges(i), one.left, one.top, steps=(step, last)) for i, step in split_at.items()]
    nodes = []
    for i, group in enumerate(one.nodes()):
        split = split_at.get(i, shown_from[i])
        if split > shown_from[i]:
            words = _unsplit_title(cards[i].node)
            nodes.append(replace(unsplit[i], title=words, detail="", steps=(shown_from[i], split - 1)))
        nodes.append(replace(group, steps=(split, last)))
    return (one.legend, *edges, *nodes, *one.notes)


def _unsplit_title(node: Node) -> str:
    facts = ", ".join(filter(None, (size_text(node), certainty(node))))
    return f"node {node.id}, not split yet ({facts})"


def _split(one: Scene, leaves: frozenset[int], opened: Sequence[int]) -> frozenset[int]:
    """Return the leaves after the nodes `opened` are split."""
    return (leaves - set(opened)) | {child for i in opened for child in one.folded.children[i]}


def _step_name(step: int, steps: int, by: str) -> str:
    return f"{by.capitalize()} {step} of {steps}" if step else "Root"


def _caption(one: Scene, name: str, size: str, opened: Sequence[int], leaves: frozenset[int]) -> str:
    nodes = [card.node for card in one.plan.cards]
    splits = ", ".join(_split_text(nodes[i]) for i in opened[:_MOST_NAMED])
    more = f", … {len(opened) - _MOST_NAMED} more" if len(opened) > _MOST_NAMED else ""
    made = f"split on {splits}{more}" if opened else size_text(nodes[0])
    return f"{name}: {made}. {size}.{_fit([nodes[i] for i in sorted(leaves)])}"


def _split_text(node: Node) -> str:
    assert node.split is not None
    p = node.split.p_adjusted
    worth = f"gain {amount(node.split.gain)}" if p is None else f"p = {amount(p)}"
    return f"{name_text(node.split.column)} ({size_text(node)}, {worth})"


def _fit(leaves: Sequence[Node]) -> str:
    """Return how well the leaves fit their rows; nothing where rows stay behind above them."""
    root = leaves[0].tree.root
    weight = math.fsum(leaf.weight for leaf in leaves)
    if weight <= 0 or not math.isclose(weight, root.weight, rel_tol=1e-9):
        return ""
    if root.counts is not None:
        correct = math.fsum((prediction_share(leaf) or 0.0) * leaf.weight for leaf in leaves)
        return f" Training accuracy {percent(correct / weight)}."
    squares = [
        leaf.weight * ((leaf.deviation or 0.0) ** 2 + (float(leaf.prediction) - (leaf.mean or 0.0)) ** 2)
        for leaf in leaves
        if leaf.weight > 0
    ]
    return f" Training RMSE {amount(math.sqrt(math.fsum(squares) / weight))}."
