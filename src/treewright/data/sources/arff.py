"""ARFF, Weka's format: attributes with their types, then rows, dense or sparse.

Names, levels and values may be quoted; ? is missing; what a sparse row omits is zero: of levels the first, of dates the
start of 1970.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from treewright.data.sources.declared import Attribute, Row
from treewright.errors import DataError

_NUMBERS = ("numeric", "real", "integer")
_ATTRIBUTE = re.compile(r"@attribute\s+('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\S+)\s+(.+)", re.IGNORECASE)
_BLANKS = re.compile(r"\s*")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_PLACE = re.compile(r"[0-9]{1,9}")
_JAVA = (("yyyy", "%Y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S"), ("'", ""))


def read_header(path: str) -> tuple[Attribute, ...]:
    """Return what the file declares."""
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
    """Yield the rows below @data."""
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
            raise DataError(f"{path}, line {line}: weights of rows ({fields[-1][:60]}) are not read: make a column")
        if len(fields) != len(attributes):
            raise DataError(f"{path}, line {line}: {len(fields)} values for {len(attributes)} attributes")
        yield line, fields


def _lines(path: str) -> Iterator[tuple[int, str]]:
    """Yield lines with something in them."""
    with Path(path).open(encoding="utf-8", errors="replace") as file:
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
        return Attribute(name, "nominal", _levels(path, line, name, kind))
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


def _levels(path: str, line: int, name: str, kind: str) -> tuple[str, ...]:
    if not kind.endswith("}"):
        raise DataError(f"{path}, line {line}: the levels of {name!r} begin with {{ but do not end with }}")
    return tuple("?" if level is None else level for level in _fields(kind[1:-1]))


def _fields(text: str) -> list[str | None]:
    """Return the values between commas; each sign is looked at once."""
    fields: list[str | None] = []
    start = 0
    while start <= len(text):
        begin = _BLANKS.match(text, start).end()  # type: ignore[union-attr]  # it matches nothing too
        quoted = _QUOTED.match(text, begin)
        comma = text.find(",", begin if quoted is None else quoted.end())
        end = len(text) if comma < 0 else comma
        value = text[begin:end].rstrip()
        fields.append(None if value == "?" else _unquoted(value))
        start = end + 1
    return fields


def _sparse(path: str, line: int, text: str, attributes: tuple[Attribute, ...]) -> list[str | None]:
    if not text.endswith("}"):
        raise DataError(f"{path}, line {line}: a sparse row begins with {{ and ends with }}, but this one does not end")
    row: list[str | None] = [_zero(attribute) for attribute in attributes]
    inside = text[1:-1].strip()
    for field in _fields(inside) if inside else []:
        place, _, value = (field or "").partition(" ")
        if not _PLACE.fullmatch(place) or int(place) >= len(attributes):
            raise DataError(f"{path}, line {line}: {str(field)[:60]!r} is no place and value of a sparse row")
        row[int(place)] = None if value.strip() == "?" else _unquoted(value.strip())
    return row


def _zero(attribute: Attribute) -> str:
    """Return what stands for the number zero in a column."""
    if attribute.kind == "moment":
        with suppress(ValueError):  # a format that no date fits is refused with the first value
            return datetime(1970, 1, 1).strftime(attribute.moment)  # noqa: DTZ001  # ARFF has no time zones
    return attribute.levels[0] if attribute.levels else "0"


def _unquoted(text: str) -> str:
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
