"""Docstrings and examples as they are written here: plain prose, `code`, and blocks of `>>>`.

Escapes what reStructuredText would take for markup outside backticks and examples, names types in signatures, and drops
the empty line that ends an example for doctest. No word is changed.
"""

from __future__ import annotations

import re

from docutils import nodes
from sphinx.application import Sphinx

_CODE = re.compile(r"(`[^`]*`)")
_ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
_MARKUP = re.compile(r"([*|\\]|(?<=\w)_(?!\w))")


def plain(_app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]) -> None:
    example = False
    for i, line in enumerate(lines):
        example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
        if not example and not line.strip().isidentifier():  # a name by itself is the head of an entry
            lines[i] = "".join(_part(part) for part in _CODE.split(line))


def _part(text: str) -> str:
    return text if text.startswith("`") else _MARKUP.sub(r"\\\1", text)


def short(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, signature: str | None, returned: str | None
) -> tuple[str | None, str | None]:
    """An alias by its name, also inside of other types; a default that is made anew each time as three dots."""
    named = (_ALIAS.sub(r"\1", text) if text else text for text in (signature, returned))
    signature, returned = named
    return signature and signature.replace("<factory>", "..."), returned


def trim(_app: Sphinx, page: nodes.document) -> None:
    for block in page.findall(nodes.literal_block):
        if block.get("language") == "pycon":
            text = block.astext().rstrip()
            block.rawsource = text
            block[:] = [nodes.Text(text)]


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("autodoc-process-docstring", plain, priority=400)  # before napoleon turns sections into fields
    app.connect("autodoc-process-signature", short)
    app.connect("doctree-read", trim)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
