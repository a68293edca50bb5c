"""How wide a text is, and how it is made to fit.

Comes in: text. Goes out: its width in terminal cells or in pixels of a sans-serif font, or a shorter text.
Always holds: a shortened text fits and ends (or is broken) by "…"; no character is cut in half: marks that combine with
the one before stay with it. Pixel widths are estimates, a little too large rather than too small.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

ELLIPSIS = "…"

#: Widths as shares of the font size: those of DejaVu Sans, the widest of the fonts a reader is likely to have.
_WIDTHS = {
    c: width
    for width, characters in {
        0.30: "'IJijl",
        0.36: " ,.-/\\|:;·",
        0.41: "!()[]ftr",
        0.53: '"*_`?csz',
        0.70: "ABCEKPRSTVXYZ",
        0.79: "DGHNOQU&",
        0.84: "#+<=>~^w≤≥±",
        0.99: "%MWm@…",
    }.items()
    for c in characters
}
_USUAL = 0.64
_BOLD = 1.13


def cells(text: str) -> int:
    """The columns a terminal needs: two for a wide character, none for one that combines with its neighbour.

    >>> cells("abc"), cells("天気"), cells("e\\u0301")
    (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_cell, text))


def pixels(text: str, size: float, bold: bool = False) -> float:
    """About how wide the text is at this font size."""
    return sum(map(_share, text)) * size * (_BOLD if bold else 1.0)


def fit_cells(text: str, width: int) -> str:
    """The text, broken in its middle by "…" where it is wider than that many cells.

    >>> fit_cells("outlook in {sunny, rain}", 15)
    'outlook…, rain}'
    """
    if cells(text) <= width:
        return text
    room = max(0, width - 1)
    head = _start(text, room // 2, cells)
    return head + ELLIPSIS + _end(text, room - cells(head))


def fit_pixels(text: str, width: float, size: float, bold: bool = False) -> str:
    """The text, ended by "…" where it is wider than that many pixels."""
    if pixels(text, size, bold) <= width + 0.01:  # cards are made as wide as their texts, but for rounding
        return text
    room = width - pixels(ELLIPSIS, size, bold)
    return _start(text, room, lambda part: pixels(part, size, bold)).rstrip() + ELLIPSIS


def _start(text: str, width: float, measured: Callable[[str], float]) -> str:
    """As much of the start as fits."""
    used, end = 0.0, 0
    for i, c in enumerate(text):
        used += measured(c)
        if used > width:
            break
        end = i + 1
    return text[:end]


def _end(text: str, width: int) -> str:
    """As much of the end as fits; it does not begin with a mark that belongs to what was cut."""
    used, start = 0, len(text)
    while start > 0 and used + _cell(text[start - 1]) <= width:
        start -= 1
        used += _cell(text[start])
    while start < len(text) and _cell(text[start]) == 0:
        start += 1
    return text[start:]


def _cell(c: str) -> int:
    if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in "WF" else 1


def _share(c: str) -> float:
    known = _WIDTHS.get(c)
    if known is not None:
        return known
    if c.isascii():
        return _USUAL
    wide = _cell(c)
    return 0.0 if wide == 0 else 1.05 if wide == 2 else 0.7
