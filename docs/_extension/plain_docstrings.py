"""Docstrings as they are written here: plain prose, `code`, and examples.

Comes in: the lines of a docstring. Goes out: the same lines, with whatever reStructuredText would take for markup
outside of backticks, examples and headings escaped.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

_CODE = re.compile(r"(`[^`]*`)")
_MARKUP = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")


def plain(_app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example and not line.startswith(".. ") and not line.lstrip().startswith(":"):
            lines[i] = "".join(_part(part) for part in _CODE.split(line))


def _part(text: str) -> str:
    return text if text.startswith("`") else _MARKUP.sub(r"\\\1", text)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", plain, priority=400)  # before napoleon turns sections into fields
    return {"parallel_read_safe": True, "parallel_write_safe": True}
