"""The tree as lines of text.

At most about `max_lines` lines, and what is left out is counted; a line never breaks, whatever the names and levels
contain, and where a width is given none is wider. Missing values are mentioned only where the tree met some while
growing. Colour is only ever added around words: without it the text is the same.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TextIO

import numpy as np

from treewright.data.grid import cells
from treewright.data.number_text import many
from treewright.render.colours import class_colours, scale, terminal_code
from treewright.render.model_text import has_long_models, model_lines, model_name
from treewright.render.node_text import (
    MOST_LEVELS,
    certificate_remarks,
    edit_remarks,
    facts,
    heading,
    met_missing,
    missing_remark,
    missing_remarks,
    one_leaf_remarks,
    prediction_index,
    prediction_text,
    split_mark,
    task_remarks,
)
from treewright.render.text_width import fit_cells
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.tree import Node, Tree

#: A terminal narrower than this is taken to be as wide: with less there is nothing to read.
_NARROWEST = 20

_RESET = "\x1b[0m"

#: Words wrapped in the colours of a node's prediction.
Painter = Callable[[str, Node], str]


@dataclass(frozen=True)
class _Look:
    """How lines are written: the most columns, the colours, the words of a prediction."""

    width: int | None
    paint: Painter
    prediction: Callable[[Node], str]


def text(
    tree: TreeLike,
    max_depth: int | None = None,
    max_lines: int = 200,
    *,
    width: int | None = None,
    colour: bool = False,
) -> str:
    """Return the tree as text.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    max_depth : int, optional
        The deepest level shown.
    max_lines : int, default=200
        The tree is shown as deep as fits into so many lines.
    width : int, optional
        The most columns of a line; longer conditions are shortened.
    colour : bool, default=False
        Whether predictions have the colours of their classes.

    Returns
    -------
    str
        One line per node, with a heading and remarks.
    """
    tree = as_tree(tree)
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be 0 or more, or None, not {max_depth}")
    if max_lines < 1:
        raise ValueError(f"max_lines must be at least 1, not {max_lines}")
    if width is not None and width < _NARROWEST:
        raise ValueError(f"width must be at least {_NARROWEST}, or None, not {width}")
    return written(tree, max_depth, max_lines, width, colour)


def written(
    tree: Tree,
    max_depth: int | None,
    max_lines: int,
    width: int | None,
    colour: bool,
    reword: Callable[[str], str] = str,
) -> str:
    """Return the tree as `text` does; `reword` changes the remarks, for places where Python is not what is typed."""
    names_models = has_long_models(tree)
    look = _Look(width, _painter(tree, colour), model_name if names_models else prediction_text)
    lines, shown, drawn = _lines(tree, _depth_that_fits(tree, max_depth, max_lines), max_lines, look)
    if names_models:
        lines += model_lines(shown, width, max_lines, MOST_LEVELS)
    notes = [*missing_remarks(tree), *one_leaf_remarks(tree), *task_remarks(tree), *certificate_remarks(tree)]
    notes += edit_remarks(tree)
    left_out = tree.n_nodes - 1 - drawn
    if left_out:
        notes.append(f"… {many(left_out, 'node')} not shown; text(tree, max_depth=…, max_lines=…) shows more")
    return "\n".join([_fitted(heading(tree), width), *lines, *(_fitted(reword(note), width) for note in notes)])


def show(tree: TreeLike, file: TextIO | None = None, *, max_depth: int | None = None, max_lines: int = 200) -> None:
    """Print the tree in the width and the colours of the terminal.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    file : text file, optional
        Where to write; standard output by default.
    max_depth : int, optional
        The deepest level shown.
    max_lines : int, default=200
        The tree is shown as deep as fits into so many lines.
    """
    tree = as_tree(tree)
    out = sys.stdout if file is None else file
    terminal = out.isatty()
    width = max(_NARROWEST, shutil.get_terminal_size().columns) if terminal else None
    out.write(text(tree, max_depth, max_lines, width=width, colour=has_colour(terminal, os.environ)) + "\n")


def has_colour(terminal: bool, environment: Mapping[str, str]) -> bool:
    """Return whether to write colours: NO_COLOR forbids, FORCE_COLOR forces, otherwise terminals only.

    >>> has_colour(True, {"TERM": "xterm"}), has_colour(True, {"TERM": "dumb"}), has_colour(False, {"FORCE_COLOR": "1"})
    (True, False, True)
    """
    if environment.get("NO_COLOR"):
        return False
    forced = environment.get("FORCE_COLOR")
    if forced:
        return forced != "0"
    return terminal and environment.get("TERM") != "dumb"


def _painter(tree: Tree, colour: bool) -> Painter:
    if not colour:
        return lambda words, _: words
    classes = tree.schema.target.classes
    shades = class_colours(len(classes or ()))
    values = tree.arrays["value"][:, 0]
    low, high = float(values.min()), float(values.max())
    low -= (high - low) / 3  # the darkest of the scale would not be seen on a dark terminal

    def paint(words: str, node: Node) -> str:
        shade = shades[prediction_index(node)] if classes else scale(float(values[node.id]), low, high)
        return f"\x1b[1;38;5;{terminal_code(shade)}m{words}{_RESET}"

    return paint


def _depth_that_fits(tree: Tree, max_depth: int | None, max_lines: int) -> int:
    """Whole levels are shown, so that no branch is shown at length while another is left out."""
    limit = tree.depth if max_depth is None else min(max_depth, tree.depth)
    lines_to = np.cumsum(np.bincount(tree.arrays["depth"])) - 1  # the root has no line of its own
    fits = int(np.count_nonzero(lines_to <= max_lines)) - 1
    return min(limit, max(fits, 1))


def _lines(tree: Tree, max_depth: int, max_lines: int, look: _Look) -> tuple[list[str], list[Node], int]:
    """Return the lines, the nodes whose predictions they show, and how many nodes they have.

    Remarks on missing values do not count against `max_lines`.
    """
    if tree.root.is_leaf or max_depth == 0:
        always = "always" if tree.root.is_leaf else "any row"
        return [_line("└─ ", lambda _: always, tree.root, look)], [tree.root], 0
    lines: list[str] = []
    shown: list[Node] = []
    drawn = 0
    # A stack and not recursion: a tree may be deeper than Python's own limit. Each entry is a line still to come.
    stack = _entries(tree.root, "")
    while stack and drawn < max_lines:
        lead, bar, words, node = stack.pop()
        if node is None:
            lines.append(_line(lead, words, None, look))
            continue
        drawn += 1
        if node.is_leaf or node.depth >= max_depth:
            lines.append(_line(lead, words, node, look))
            shown.append(node)
        else:
            lines.append(_fitted(_line(lead, words, None, look) + split_mark(node), look.width))
            stack += _entries(node, bar)
    return lines, shown, drawn


#: A condition in words, with at most so many levels of a list.
Words = Callable[[int], str]
#: A line to come: what stands before it, what stands before the lines below it, its words, its node (None: a remark).
Entry = tuple[str, str, Words, Node | None]


def _line(lead: str, words: Words, node: Node | None, look: _Look) -> str:
    """Return one line that fits: first lists of levels are shortened, then the condition and the prediction."""
    prediction, behind = ("", "") if node is None else (look.prediction(node), _facts(node))
    condition, width = words(MOST_LEVELS), look.width
    if width is not None:
        lead = _fitted_lead(lead, width)
        room = width - cells(lead)
        if node is not None:
            behind = fit_cells(behind, max(room // 2, room - 24))
            room -= cells(behind) + 2
            prediction = fit_cells(prediction, max(room // 2, room - cells(condition)))
            room -= cells(prediction)
        condition = _fitted_condition(condition, words, room)
    return lead + condition + (f": {look.paint(prediction, node)}{behind}" if node is not None else "")


def _fitted_condition(condition: str, words: Words, room: int) -> str:
    most = MOST_LEVELS
    while cells(condition) > room and most > 2:
        most -= 1
        condition = words(most)
    return fit_cells(condition, room)


def _fitted(line: str, width: int | None) -> str:
    return line if width is None else fit_cells(line, width)


def _fitted_lead(lead: str, width: int) -> str:
    """Far down a deep tree the lines from above would take the whole width: then how deep it is stands for them."""
    if len(lead) <= width // 2:
        return lead
    depth = f"{len(lead) // 3}… "
    return depth + lead[-3 * max(1, (width // 2 - len(depth)) // 3) :]


def _entries(node: Node, bar: str) -> list[Entry]:
    """Return the lines directly below a node, last first."""
    split = node.split
    assert split is not None  # only nodes with children come here
    children = [node.tree[child] for child in node.children]
    met = met_missing(node, split, children)
    remark = missing_remark(node, split) if met else None
    with_missing = met and remark is None
    texts: dict[int, tuple[str, ...]] = {}

    def words(most: int, place: int) -> str:
        if most not in texts:
            texts[most] = split.words(most=most, with_missing=with_missing)
        return texts[most][place]

    lines: list[tuple[Words, Node | None]] = [(partial(words, place=i), child) for i, child in enumerate(children)]
    if remark is not None:
        lines.append((lambda _: remark, None))
    last = len(lines) - 1
    entries = [
        (bar + ("└─ " if i == last else "├─ "), bar + ("   " if i == last else "│  "), line, child)
        for i, (line, child) in enumerate(lines)
    ]
    return entries[::-1]


def _facts(node: Node) -> str:
    """Return what stands behind a prediction."""
    return facts(node) if node.is_leaf else facts(node, f"{many(_size(node) - 1, 'node')} below")


def _size(node: Node) -> int:
    """Return nodes in the subtree: in depth-first order they follow until one is not deeper."""
    depth = node.tree.arrays["depth"][node.id + 1 :]
    ends = np.flatnonzero(depth <= node.depth)
    return 1 + (int(ends[0]) if len(ends) else len(depth))
