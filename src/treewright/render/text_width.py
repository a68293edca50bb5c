"""How wide a text is, and how it is made to fit.

A shortened text fits and ends (or is broken) by "…"; no character is cut in half: marks that combine with the one
before stay with it. Pixel widths are estimates, a little too large rather than too small.
"""

from __future__ import annotations

from collections.abc import Callable

from treewright.data.grid import cell_width, cells

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


def pixels(text: str, size: float, bold: bool = False) -> float:
    """About how wide the text is at this font size."""
    return sum(map(_share, text)) * size * (_BOLD if bold else 1.0)


def fit_cells(text: str, width: int) -> str:
    """Return the text, broken in its middle by "…" where it is wider than that many cells.

    >>> fit_cells("outlook in {sunny, rain}", 15)
    'outlook…, rain}'
    """
    if cells(text) <= width:
        return text
    room = max(0, width - 1)
    head = _start(text, room // 2, cells)
    return head + ELLIPSIS + _end(text, room - cells(head))


def fit_pixels(text: str, width: float, size: float, bold: bool = False) -> str:
    """Return the text, ended by "…" where it is wider than that many pixels."""
    if pixels(text, size, bold) <= width + 0.01:  # cards are made as wide as their texts, but for rounding
        return text
    room = width - pixels(ELLIPSIS, size, bold)
    return _start(text, room, lambda part: pixels(part, size, bold)).rstrip() + ELLIPSIS


def _start(text: str, width: float, measured: Callable[[str], float]) -> str:
    """Return as much of the start as fits."""
    used, end = 0.0, 0
    for i, c in enumerate(text):
        used += measured(c)
        if used > width:
            break
        end = i + 1
    return text[:end]


def _end(text: str, width: int) -> str:
    """Return as much of the end as fits; it does not begin with a mark that belongs to what was cut."""
    used, start = 0, len(text)
    while start > 0 and used + cell_width(text[start - 1]) <= width:
        start -= 1
        used += cell_width(text[start])
    while start < len(text) and cell_width(text[start]) == 0:
        start += 1
    return text[start:]


def _share(c: str) -> float:
    known = _WIDTHS.get(c)
    if known is not None:
        return known
    if c.isascii():
        return _USUAL
    wide = cell_width(c)
    return 0.0 if wide == 0 else 1.05 if wide == 2 else 0.7
