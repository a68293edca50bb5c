"""What a lesson is made of.

Comes in: words, blocks of arithmetic, trees, pictures, made by library calls. Goes out: a `Lesson`, a plain value that
prints itself, shows itself in a notebook and becomes a page.
Always holds: a part is not yet written in any form; every writer (`terminal`, `page`) knows every kind. In words,
`code` stands between backticks and **weight** between double asterisks.
"""

from __future__ import annotations

from dataclasses import dataclass

from treewright.inspection.derivation.blocks import Grid, Plot, Remark, Steps, Title
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
    """An aside: a warning, a slip in a source, something to keep in mind."""

    words: str


@dataclass(frozen=True)
class Listed:
    """Short items, one below the other."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """Python that the reader can repeat; `tw` and `data` are there, and so is what earlier code made."""

    source: str


@dataclass(frozen=True)
class Printed:
    """What code prints, to the letter; `name` says what it is to one who cannot see it.

    `html`, where it is given, is a fragment that shows the same on a page, everything in it escaped.
    """

    text: str
    name: str = "output"
    html: str = ""


@dataclass(frozen=True)
class Drawn:
    """A picture as svg, the same as a sketch in characters, and a caption in words."""

    svg: str
    sketch: str
    caption: str


@dataclass(frozen=True)
class Shown:
    """A tree: lines in a terminal, a picture on a page."""

    tree: Tree


Part = Heading | Text | Note | Listed | Code | Printed | Drawn | Shown | Grid | Steps | Plot | Remark | Title


@dataclass(frozen=True, eq=False, repr=False)
class Lesson:
    """A worked example: `print(lesson)`, `lesson.page()`; its table is `lesson.data`, to play with."""

    name: str
    title: str
    question: str
    data: Columns
    parts: tuple[Part, ...]

    def text(self, width: int = 100, *, colour: bool = False) -> str:
        """The lesson for a terminal of that many columns."""
        from treewright.lessons.terminal import text

        return text(self, width, colour=colour)

    def page(self) -> str:
        """The lesson as one HTML page that needs nothing else."""
        from treewright.lessons.page import page

        return page(self)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<Lesson {self.name!r}: {self.question}>"

    def _repr_html_(self) -> str:
        from treewright.lessons.page import fragment

        return fragment(self)
