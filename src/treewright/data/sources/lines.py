"""The lines of a text file: header, delimiter, and the line of a value.

The delimiter is the only one of comma, semicolon, tab and bar that the first line has outside quotes. Line numbers are
determined only for error messages.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from treewright.data.sources.formats import Reading
from treewright.data.value_text import listed, repeated
from treewright.errors import DataError

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def delimiter_of(path: str, reading: Reading) -> str:
    """Return what stands between the values."""
    if reading.delimiter is not None:
        return reading.delimiter
    if reading.format == "tsv":
        return "\t"
    with _lines(path) as lines:
        first = _record(lines)
    plain = "".join(first.split('"')[::2])  # every second piece is inside of quotes
    found = [sign for sign in _DELIMITERS if sign in plain]
    if len(found) > 1:
        names = " and a ".join(_DELIMITERS[sign] for sign in found)
        raise DataError(
            f"{path}: its first line has a {names}, and either could divide the values; name it with delimiter= in "
            f"tw.csv, or with --delimiter {found[0]!r}"
        )
    return found[0] if found else ","


def names_of(path: str, reading: Reading, delimiter: str) -> tuple[str, ...]:
    """Return the names of the columns; made up where the file gives none."""
    with _lines(path) as lines:
        record = next(_records(path, lines, delimiter), None)
    if record is None:
        raise DataError(f"{path} is empty; a table begins with the names of its columns")
    if not record:
        raise DataError(f"{path}, line 1: it is empty, and should have the names of the columns; remove it")
    width = len(str(len(record) - 1))
    made_up = [f"column{place:0{width}}" for place in range(len(record))]
    if not reading.header:
        return tuple(made_up)
    names = tuple(name.strip() or given for name, given in zip(record, made_up, strict=True))
    if twice := repeated(names):
        raise DataError(f"{path}, line 1: the column name {listed(twice)} occurs more than once; rename one")
    return names


def line_of_width(path: str, delimiter: str, expected: int) -> tuple[int, int] | None:
    """Return the first line with another number of values than expected, and how many it has."""
    with _lines(path) as lines:
        for number, record in _numbered(path, lines, delimiter):
            if record and len(record) != expected:
                return number, len(record)
    return None


def line_of_nothing(path: str, delimiter: str) -> int | None:
    """Return the first line without a sign in it."""
    with _lines(path) as lines:
        return next((number for number, record in _numbered(path, lines, delimiter) if not record), None)


def line_of_value(path: str, delimiter: str, place: int, text: str, header: bool) -> int | None:
    """Return the first line that has this text in this column."""
    with _lines(path) as lines:
        for number, record in _numbered(path, lines, delimiter):
            if len(record) > place and record[place].strip() == text and not (header and number == 1):
                return number
    return None


def line_of_end(path: str) -> int | None:
    """Return the first line that ends in another way than the one before it."""
    with _lines(path) as lines:
        first = None
        for number, line in enumerate(lines, 1):
            end = line[len(line.rstrip("\r\n")) :]
            first = first or end
            if end and end != first:
                return number
    return None


def _numbered(path: str, lines: Any, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield records with the number of their first line."""
    before = 0
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    try:
        for record in reader:
            yield before + 1, record
            before = reader.line_num
    except csv.Error as error:
        raise DataError(f"{path}, line {before + 1}: {error}") from error


def _records(path: str, lines: Any, delimiter: str) -> Iterator[list[str]]:
    if len(delimiter) != 1:
        raise DataError(f"the delimiter {delimiter!r} must be one sign")
    return (record for _, record in _numbered(path, lines, delimiter))


def _record(lines: Any) -> str:
    """Return the first line, and those after it that a quoted name goes on in."""
    found = ""
    for line in lines:
        found += line
        if found.count('"') % 2 == 0:
            break
    return found


@contextmanager
def _lines(path: str) -> Iterator[io.TextIOWrapper]:
    """Open the file as decompressed text."""
    with _opened(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", newline="") as text:
        try:
            yield text
        except UnicodeDecodeError as error:
            raise not_utf8(path) from error


def not_utf8(path: str) -> DataError:
    """Return the error for text in another encoding."""
    with _opened(path) as raw:
        wrong = next(((number, line) for number, line in enumerate(raw, 1) if not _is_utf8(line)), (1, b""))
    known = "UTF-16" if wrong[1].startswith((b"\xff\xfe", b"\xfe\xff")) else "LATIN1"
    return DataError(
        f"{path}, line {wrong[0]}: the text is not UTF-8; convert the file first, as in: iconv -f {known} -t UTF-8"
    )


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _opened(path: str) -> Any:
    if path.lower().endswith(".gz"):
        import gzip

        return gzip.open(path, "rb")
    if path.lower().endswith(".zst"):
        from treewright.data.sources.arrow import unpacked

        return unpacked(path)
    return Path(path).open("rb")
