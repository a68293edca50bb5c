"""Files that declare their columns: ARFF, and C4.5's .names with .data.

Declared levels keep their order, unused ones included; any other value is an error that names its line.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from treewright.data.columns import from_array, from_codes, from_objects
from treewright.data.frame import Frame, RawColumn
from treewright.data.sources.formats import Reading
from treewright.data.sources.source import Source, Table
from treewright.data.value_text import listed
from treewright.errors import DataError

#: Python also reads 1_000 and digits of other scripts as numbers, which no program that writes such files means.
_PLAIN = re.compile(r"[ -^`-~]*\Z")

#: A line's number and its values, None for missing.
Row = tuple[int, Sequence[str | None]]


@dataclass(frozen=True)
class Attribute:
    """A declared column: numbers, the given levels, moments in a format (as strptime has it), or any text."""

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    moment: str = ""


def open_declared(path: str, reading: Reading) -> Source:
    """Return a file whose header declares its columns."""
    rows: Callable[[], Iterator[Row]]
    if reading.format == "arff":
        from treewright.data.sources.arff import read_header, read_rows

        attributes = read_header(path)
        rows, target = partial(read_rows, path, attributes), None
    else:
        from treewright.data.sources.c45_names import read_data, read_names

        names, data = _pair(path)
        attributes, target = read_names(names)
        rows = partial(read_data, data, attributes, reading.missing or ("?",))
    _refuse_duplicates(path, attributes)
    usable = tuple(attribute.name for attribute in attributes if attribute.kind != "ignore")
    columns = reading.kept(usable, path)
    return Source(path, str(reading.format), columns, partial(_read, path, attributes, rows), target=target)


def _refuse_duplicates(path: str, attributes: tuple[Attribute, ...]) -> None:
    """Refuse a name that two attributes have, and a level that one attribute lists twice."""
    for what, names in (("attribute", [attribute.name for attribute in attributes]), *(
        (f"level of {attribute.name!r}", attribute.levels) for attribute in attributes
    )):  # fmt: skip
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise DataError(f"{path} declares the {what} {twice[0][:60]!r} twice; rename one of them")


def _pair(path: str) -> tuple[str, str]:
    """Return the .names and the .data file; .test is data too."""
    given = Path(path)
    names = given if given.suffix == ".names" else given.with_suffix(".names")
    data = given.with_suffix(".data") if given.suffix == ".names" else given
    for file in (names, data):
        if not file.exists():
            raise DataError(
                f"C4.5 keeps a table in two files, and {file} is not there; if {data} is plain text with commas, "
                "read it with --format csv --no-header"
            )
    return str(names), str(data)


def _read(
    path: str,
    attributes: tuple[Attribute, ...],
    rows: Callable[[], Iterator[Row]],
    columns: tuple[str, ...],
    size: int | None,
) -> Iterator[Table]:
    wanted = [(place, attribute) for place, attribute in enumerate(attributes) if attribute.name in columns]
    remaining = rows()
    while True:
        some = list(remaining if size is None else itertools.islice(remaining, size))
        if not some and size is not None:
            return
        lines = [line for line, _ in some]
        yield Frame(tuple(_column(path, a, lines, [row[i] for _, row in some]) for i, a in wanted), len(some))
        if size is None:
            return


def _column(path: str, attribute: Attribute, lines: list[int], values: list[str | None]) -> RawColumn:
    if attribute.kind == "numeric":
        numbers = [_number(path, attribute, *pair) for pair in zip(lines, values, strict=True)]
        return from_array(attribute.name, np.array(numbers))
    if attribute.kind == "nominal":
        place = {level: code for code, level in enumerate(attribute.levels)}
        for line, value in zip(lines, values, strict=True):
            if value is not None and value not in place:
                raise DataError(
                    f"{path}, line {line}: {value[:60]!r} is not among the declared levels of {attribute.name!r}: "
                    f"{listed(attribute.levels)}"
                )
        codes = np.array([-1 if value is None else place[value] for value in values], dtype=np.int32)
        return from_codes(attribute.name, "nominal", codes, attribute.levels, declared=True)
    if attribute.kind == "moment":
        return from_objects(
            attribute.name, [_moment(path, attribute, *pair) for pair in zip(lines, values, strict=True)]
        )
    return from_objects(attribute.name, values)


def _number(path: str, attribute: Attribute, line: int, value: str | None) -> float:
    try:
        return float("nan") if value is None else float(value if _PLAIN.match(value) else "no number")
    except ValueError:
        raise DataError(
            f"{path}, line {line}: {attribute.name!r} has {str(value)[:60]!r}, which is not a number"
        ) from None


def _moment(path: str, attribute: Attribute, line: int, value: str | None) -> object:
    from datetime import datetime

    try:
        return None if value is None else datetime.strptime(value, attribute.moment)  # noqa: DTZ007
    except (ValueError, re.error):  # a format that names the month twice is no pattern
        raise DataError(
            f"{path}, line {line}: {attribute.name!r} has {str(value)[:60]!r}, which is no moment as declared"
        ) from None
