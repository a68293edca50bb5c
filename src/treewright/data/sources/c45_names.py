r"""C4.5's two files: .names describes the columns, .data (or .test) has the rows.

| starts a comment, a period ends an entry, \ escapes a character, ? is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from treewright.data.sources.declared import Attribute, Row
from treewright.errors import DataError

#: C4.5 gives the class no name.
CLASS = "class"

_COMMENT = re.compile(r"(?<!\\)\|.*")
_PERIOD = re.compile(r"(?<!\\)\.(?=\s|$)")
_COMMA = re.compile(r"(?<!\\),")
_COLON = re.compile(r"(?<!\\):")


def read_names(path: str) -> tuple[tuple[Attribute, ...], str]:
    """Return the attributes, and the name of the target."""
    with Path(path).open(encoding="utf-8", errors="replace") as file:
        text = "\n".join(_COMMENT.sub("", line.rstrip("\n")) for line in file)
    # A line that begins an attribute ends the entry before it, even where its period was forgotten.
    text = re.sub(r"\n(?=[^\n,]*(?<!\\):)", ".\n", text)
    entries = [" ".join(entry.split()) for entry in _PERIOD.split(text)]
    entries = [entry.rstrip(".") for entry in entries if entry.rstrip(".")]
    if not entries:
        raise DataError(f"{path} is empty; it should begin with the classes, as in: yes, no.")
    classes = _values(entries[0])
    attributes = [_attribute(path, entry) for entry in entries[1:]]
    named = [attribute.name for attribute in attributes]
    if len(classes) == 1 and classes[0] in named:  # C5.0's way: the first entry names the target
        return tuple(attributes), classes[0]
    if CLASS in named:
        raise DataError(f"{path} has an attribute called {CLASS!r}, which is what the target is called; rename it")
    return (*attributes, Attribute(CLASS, "nominal", classes)), CLASS


def read_data(path: str, attributes: tuple[Attribute, ...], missing: tuple[str, ...]) -> Iterator[Row]:
    """Yield the rows."""
    with Path(path).open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            text = _COMMENT.sub("", line).strip()
            if not text:
                continue
            values = _values(_PERIOD.sub("", text))
            if len(values) != len(attributes):
                raise DataError(f"{path}, line {number}: {len(values)} values for {len(attributes)} columns")
            yield number, [None if value in missing else value for value in values]


def _attribute(path: str, entry: str) -> Attribute:
    parts = _COLON.split(entry, maxsplit=1)
    if len(parts) != 2:
        raise DataError(f"{path}: not understood: {entry[:60]!r}; expected NAME: continuous, or NAME: value, value")
    name, kind = _plain(parts[0]), parts[1].strip()
    if kind == "continuous":
        return Attribute(name, "numeric")
    if kind in {"ignore", "label"}:
        return Attribute(name, "ignore")
    if re.fullmatch(r"discrete \d+", kind):
        return Attribute(name, "text")
    return Attribute(name, "nominal", _values(kind.removeprefix("[ordered]")))


def _values(text: str) -> tuple[str, ...]:
    return tuple(_plain(value) for value in _COMMA.split(text))


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", " ".join(text.split()))
