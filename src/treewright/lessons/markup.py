"""Marks in the words of a lesson.

Comes in: words with `code` between backticks and **weight** between double asterisks. Goes out: pieces with their mark.
Always holds: the pieces put together are the words without their marks.
"""

from __future__ import annotations

import re
from typing import Literal

Mark = Literal["strong", "code", ""]

_MARKED = re.compile(r"\*\*(.+?)\*\*|`(.+?)`", re.DOTALL)


def pieces(words: str) -> list[tuple[str, Mark]]:
    """Words cut at their marks.

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
