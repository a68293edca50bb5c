"""A lesson as text. Colour is added around words only: without it the text is the same."""

from __future__ import annotations

import textwrap

from treewright.data.grid import cells
from treewright.inspection.derivation.text import text as blocks_text
from treewright.lessons.content import Code, Drawn, Heading, Lesson, Listed, Note, Part, Printed, Shown, Text, pieces
from treewright.render.tree_text import text as tree_text

#: The least width.
NARROWEST = 40
#: The longest line of a paragraph.
_LONGEST = 100

_BOLD, _DIM, _CODE, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"
_TITLE = "\x1b[1;36m"


def text(lesson: Lesson, width: int = 100, *, colour: bool = False) -> str:
    """Return the whole lesson, with a blank line between its elements."""
    room = max(NARROWEST, min(width, _LONGEST))
    heads = [
        _painted(lesson.title, _TITLE, colour),
        _painted("═" * min(room, cells(lesson.title)), _TITLE, colour),
        *_filled(lesson.question, room, colour),
    ]
    return "\n".join(heads) + "\n\n" + "\n\n".join(_part(part, room, colour) for part in lesson.parts)


def _part(part: Part, width: int, colour: bool) -> str:
    match part:
        case Heading(words):
            line = "─" * min(width, cells(words))
            return f"{_painted(words, _BOLD, colour)}\n{_painted(line, _DIM, colour)}"
        case Text(words):
            return "\n".join(_filled(words, width, colour))
        case Note(words):
            return "\n".join(_filled(words, width, colour, "│ "))
        case Listed(items):
            return "\n".join(line for item in items for line in _filled(item, width, colour, "• ", "  "))
        case Code(source):
            return "\n".join(_code_line(line, i, colour) for i, line in enumerate(source.splitlines()))
        case Printed(words):
            return words
        case Drawn(_, sketch, caption):
            return sketch + "\n" + "\n".join(_filled(caption, width, colour))
        case Shown(tree):
            return tree_text(tree, width=width, colour=colour)
        case _:
            return blocks_text([part], width)


def _code_line(line: str, place: int, colour: bool) -> str:
    if not line:
        return ""
    lead = ">>> " if place == 0 or not line.startswith((" ", ")", "]", "}")) else "... "
    return _painted(lead, _DIM, colour) + _painted(line, _CODE, colour)


def _filled(words: str, width: int, colour: bool, lead: str = "", below: str | None = None) -> list[str]:
    """Wrap a paragraph; marks are removed before it is measured, and colours added afterwards."""
    plain, spans = _unmarked(words)
    lines = textwrap.wrap(plain, width - len(lead), break_long_words=False, break_on_hyphens=False)
    if colour:
        lines = _coloured(lines, spans)
    return [(lead if i == 0 or below is None else below) + line for i, line in enumerate(lines)]


def _unmarked(words: str) -> tuple[str, list[tuple[str, str]]]:
    """Return the text without marks, and its pieces with their colours."""
    spans: list[tuple[str, str]] = []
    plain: list[str] = []
    for piece, shade in pieces(words):
        plain.append(piece)
        spans.append((piece, {"strong": _BOLD, "code": _CODE}.get(shade, "")))
    return " ".join("".join(plain).split()), spans


def _coloured(lines: list[str], spans: list[tuple[str, str]]) -> list[str]:
    """Colour wrapped lines; they hold the same characters as the spans, but for blanks."""
    shades = iter([shade for piece, shade in spans for c in piece if not c.isspace()])
    out = []
    for line in lines:
        now, built = "", ""
        for c in line:
            shade = now if c.isspace() else next(shades, "")
            if shade != now:
                built += (_PLAIN if now else "") + shade
                now = shade
            built += c
        out.append(built + (_PLAIN if now else ""))
    return out


def _painted(words: str, shade: str, colour: bool) -> str:
    return f"{shade}{words}{_PLAIN}" if colour else words
