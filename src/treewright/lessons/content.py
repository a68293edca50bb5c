"""The elements of a lesson; `terminal` and `page` write each of them.

In text, `code` stands between backticks and **strong** between double asterisks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from treewright.data.grid import Grid
from treewright.inspection.derivation.blocks import Plot, Remark, Steps, Title
from treewright.lessons.tables import Columns
from treewright.tree.tree import Tree


@dataclass(frozen=True)
class Heading:
    words: str


@dataclass(frozen=True)
class Text:
    """A paragraph."""

    words: str


@dataclass(frozen=True)
class Note:
    """A remark set apart from the text."""

    words: str


@dataclass(frozen=True)
class Listed:
    """A list of short items."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Python code; it may use the names that earlier code of the lesson defines."""

    source: str


@dataclass(frozen=True)
class Printed:
    """The output of code; `name` is its accessible name.

    `html`, if given, is an escaped fragment that shows the same on a page.
    """

    text: str
    name: str = "output"
    html: str = ""


@dataclass(frozen=True)
class Drawn:
    """A picture as SVG, the same as characters, and a caption."""

    svg: str
    sketch: str
    caption: str


@dataclass(frozen=True)
class Shown:
    """A tree: text in a terminal, a picture on a page."""

    tree: Tree


Part = Heading | Text | Note | Listed | Code | Printed | Drawn | Shown | Grid | Steps | Plot | Remark | Title


@dataclass(frozen=True, eq=False, repr=False)
class Lesson:
    """A worked example.

    `print(lesson)` shows it in a terminal; a notebook shows it as HTML.

    Parameters
    ----------
    name : str
        Its name in `treewright.lessons`.
    title : str
        Its heading.
    question : str
        What the lesson is about, in one or two sentences.
    data : dict of list
        Its table, as columns.
    parts : tuple
        Its elements: paragraphs, tables, derivations, code, trees and charts.

    Examples
    --------
    >>> import treewright as tw
    >>> lesson = tw.lessons["tennis"]
    >>> lesson.title
    'Tennis: which split comes first?'
    >>> list(lesson.data)
    ['Outlook', 'Temperature', 'Humidity', 'Wind', 'Play']
    """

    name: str
    title: str
    question: str
    data: Columns
    parts: tuple[Part, ...]

    def text(self, width: int = 100, *, colour: bool = False) -> str:
        """Return the lesson as text.

        Parameters
        ----------
        width : int, default=100
            Columns of the terminal; tables and printed output keep their own width.
        colour : bool, default=False
            Add ANSI colours.

        Returns
        -------
        str
        """
        from treewright.lessons.terminal import text

        return text(self, width, colour=colour)

    def page(self) -> str:
        """Return the lesson as one self-contained HTML page."""
        from treewright.lessons.page import page

        return page(self)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Lesson {self.name!r}: {self.question}>"

    def _repr_html_(self) -> str:
        from treewright.lessons.page import fragment

        return fragment(self)


# --- marks in text --------------------------------------------------------------------------------------------------

Mark = Literal["strong", "code", ""]

_MARKED = re.compile(r"\*\*(.+?)\*\*|`(.+?)`", re.DOTALL)


def pieces(words: str) -> list[tuple[str, Mark]]:
    """Split text at its marks.

    >>> pieces("the **best** cut")
    [('the ', ''), ('best', 'strong'), (' cut', '')]
    """
    found: list[tuple[str, Mark]] = []
    end = 0
    for mark in _MARKED.finditer(words):
        found.append((words[end : mark.start()], ""))
        found.append((mark[1], "strong") if mark[1] is not None else (mark[2], "code"))
        end = mark.end()
    return [piece for piece in [*found, (words[end:], "")] if piece[0]]
