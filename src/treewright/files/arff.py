"""ARFF, Weka's format: attributes with their types, then rows, dense or sparse.

Comes in: a path. Goes out: the attributes, and rows of texts.
Always holds: names, levels and values may be quoted; ? is missing; what a sparse row leaves out is zero, or the first
level.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from treewright.errors import DataError
from treewright.files.declared import Attribute, Row

_NUMBERS = ("numeric", "real", "integer")
_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)\s+(.+)", re.IGNORECASE)
_FIELD = re.compile(r"\s*('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^,]*?)\s*(?:,|$)")
_JAVA = (("yyyy", "%Y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S"), ("'", ""))


def read_header(path: str) -> tuple[Attribute, ...]:
    """What the file declares."""
    attributes: list[Attribute] = []
    for line, text in _lines(path):
        word = text.split(maxsplit=1)[0].lower()
        if word == "@data":
            break
        if word == "@attribute":
            attributes.append(_attribute(path, line, text))
    else:
        raise DataError(f"{path} has no @data line; is it an ARFF file?")
    return tuple(attributes)


def read_rows(path: str, attributes: tuple[Attribute, ...]) -> Iterator[Row]:
    """The rows below @data."""
    lines = _lines(path)
    for _, text in lines:
        if text.lower().startswith("@data"):
            break
    for line, text in lines:
        if text.startswith("{"):
            yield line, _sparse(path, line, text, attributes)
            continue
        fields = _fields(text)
        if len(fields) == len(attributes) + 1 and fields[-1] and fields[-1].startswith("{"):
            raise DataError(f"{path}, line {line}: weights of rows ({fields[-1]}) are not read; make them a column")
        if len(fields) != len(attributes):
            raise DataError(f"{path}, line {line}: {len(fields)} values for {len(attributes)} attributes")
        yield line, fields


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """Lines with something in them."""
    with open(path, encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        for number, line in enumerate(file, 1):
            text = line.strip()
            if text and not text.startswith("%"):
                yield number, text


def _attribute(path: str, line: int, text: str) -> Attribute:
    found = _ATTRIBUTE.match(text)
    if not found:
        raise DataError(f"{path}, line {line}: not understood: {text[:60]!r}; expected @attribute NAME TYPE")
    name, kind = _unquoted(found[1]), found[2].strip()
    if kind.startswith("{"):
        return Attribute(name, "nominal", tuple(str(level) for level in _fields(kind[1 : kind.rindex("}")])))
    word, _, rest = kind.partition(" ")
    if word.lower() in _NUMBERS:
        return Attribute(name, "numeric")
    if word.lower() == "string":
        return Attribute(name, "text")
    if word.lower() == "date":
        form = rest.strip().strip("\"'") or "yyyy-MM-dd'T'HH:mm:ss"
        for java, python in _JAVA:
            form = form.replace(java, python)
        return Attribute(name, "moment", moment=form)
    raise DataError(f"{path}, line {line}: the type {kind[:40]!r} is not known; numbers, levels, text and dates are")


def _fields(text: str) -> list[str | None]:
    fields: list[str | None] = []
    position = 0
    while position < len(text):
        found = _FIELD.match(text, position)
        if not found:
            fields.append(text[position:])
            break
        fields.append(None if found[1] == "?" else _unquoted(found[1]))
        if found.end() == position:
            break
        position = found.end()
    if text.endswith(","):
        fields.append("")
    return fields


def _sparse(path: str, line: int, text: str, attributes: tuple[Attribute, ...]) -> list[str | None]:
    row: list[str | None] = [a.levels[0] if a.levels else "0" for a in attributes]
    for field in _fields(text.strip("{} \t")) if text.strip("{} \t") else []:
        place, _, value = (field or "").partition(" ")
        if not place.isdigit() or int(place) >= len(attributes):
            raise DataError(f"{path}, line {line}: {field!r} is no place and value of a sparse row")
        row[int(place)] = None if value.strip() == "?" else _unquoted(value.strip())
    return row


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
