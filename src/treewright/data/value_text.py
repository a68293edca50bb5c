"""Values as text: numbers, times, levels.

A printed number reads back as the same number. Only the standard library is used, so a saved tree prints without other
packages.
"""

from __future__ import annotations

import difflib
import math
from collections import Counter
from collections.abc import Sequence
from datetime import date

from treewright.data.number_text import MISSING, exact_number
from treewright.data.schema import TIME_KINDS, ColumnSpec, Kind, Level

UNSEEN = "unseen"

_DAY = 86_400_000_000
_EPOCH = date(1970, 1, 1).toordinal()


def level(value: Level) -> str:
    """Return a level as text, without quotes."""
    return exact_number(value) if isinstance(value, float) else str(value)


def moment(kind: Kind, microseconds: float) -> str:
    """Return a date, datetime, time or duration given in microseconds."""
    microseconds = float(microseconds)
    if math.isnan(microseconds):
        return MISSING
    if kind == "duration":
        return _duration(microseconds)
    days, rest = _days(microseconds)
    if kind == "time" and days == 0:
        return _clock(rest)
    try:
        day = date.fromordinal(_EPOCH + days).isoformat()
    except (ValueError, OverflowError):  # outside the years 1 to 9999
        return f"{exact_number(microseconds)} microseconds after 1970-01-01"
    return day if rest == 0 else f"{day} {_clock(rest)}"


def decode(column: ColumnSpec, value: float) -> str:
    """Return an encoded value of `column` (a number, microseconds, or a level's code) as text."""
    if column.levels is not None:
        code = int(value)
        return level(column.levels[code]) if code >= 0 else (MISSING if code == -1 else UNSEEN)
    return moment(column.kind, value) if column.kind in TIME_KINDS else exact_number(value)


def listed(values: Sequence[object], most: int = 10) -> str:
    """Return values in quotes as they would be typed, shortened after `most` of them."""
    shown = ", ".join(repr(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"


def repeated(names: Sequence[str]) -> list[str]:
    """Return the names that occur more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def _days(microseconds: float) -> tuple[int, float]:
    days, rest = divmod(microseconds, _DAY)
    return (int(days) + 1, 0.0) if rest >= _DAY else (int(days), rest)  # a tiny negative remainder rounds up to a day


def _clock(microseconds: float, seconds: bool = False) -> str:
    """Time of day; seconds and their fraction only where they are not zero (or on request)."""
    whole, part = divmod(microseconds, 1.0)
    total, micro = divmod(int(whole), 1_000_000)
    hour, minute, second = total // 3600, total // 60 % 60, total % 60
    fraction = f"{micro:06d}{f'{part:.9f}'[2:]}".rstrip("0")
    text = f"{hour:02d}:{minute:02d}"
    if seconds or second or fraction:
        text += f":{second:02d}"
    return f"{text}.{fraction}" if fraction else text


def _duration(microseconds: float) -> str:
    sign = "-" if microseconds < 0 else ""
    days, rest = _days(abs(microseconds))
    parts = [f"{days} day{'' if days == 1 else 's'}"] if days else []
    if rest or not days:
        parts.append(_clock(rest, seconds=True))
    return sign + " ".join(parts)


def name_hint(name: object, names: Sequence[str], owner: str = "it") -> str:
    """Return the closest of the names as a question, otherwise a list of them.

    >>> name_hint("Age", ["age", "sex"]), name_hint("x", ["age", "sex"])
    ("did you mean 'age'?", "it has 'age', 'sex'")
    """
    close = difflib.get_close_matches(str(name), names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"{owner} has {listed(names)}"


def size_text(n_bytes: int) -> str:
    """Return bytes as people write them.

    >>> size_text(1_536_000_000)
    '1.5 GB'
    """
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"
