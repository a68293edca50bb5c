"""Values as words: how a number, a moment or a level is printed.

Comes in: one value as the core holds it (a number, microseconds, a code). Goes out: short text.
Always holds: a printed number reads back as the same number; a moment shows only as much of the clock as it needs.
Only the standard library is used, so a saved tree prints without anything else installed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

from treewright.data.schema import TIME_KINDS, ColumnSpec, Kind, Level

MISSING = "missing"
UNSEEN = "unseen"

_DAY = 86_400_000_000
_EPOCH = date(1970, 1, 1).toordinal()


def number(value: float) -> str:
    """The shortest text that reads back as `value`: 89.5, 3, 1e+300."""
    value = float(value)
    if math.isnan(value):
        return MISSING
    if abs(value) < 1e15 and value.is_integer():
        return str(int(value))
    return repr(value)


def level(value: Level) -> str:
    """A level as text, without quotes."""
    return number(value) if isinstance(value, float) else str(value)


def moment(kind: Kind, microseconds: float) -> str:
    """A date, datetime, time or duration given in microseconds."""
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
        return f"{number(microseconds)} microseconds after 1970-01-01"
    return day if rest == 0 else f"{day} {_clock(rest)}"


def decode(column: ColumnSpec, value: float) -> str:
    """An encoded value of `column` (a number, microseconds, or a level's code) as text."""
    if column.levels is not None:
        code = int(value)
        return level(column.levels[code]) if code >= 0 else (MISSING if code == -1 else UNSEEN)
    return moment(column.kind, value) if column.kind in TIME_KINDS else number(value)


def listed(values: Sequence[object], most: int = 10) -> str:
    """Values in quotes as they would be typed, shortened after `most` of them."""
    shown = ", ".join(repr(value) for value in values[:most])
    return shown if len(values) <= most else f"{shown} and {len(values) - most} more"


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


def size_text(n_bytes: int) -> str:
    """Bytes as people say them.

    >>> size_text(1_536_000_000)
    '1.5 GB'
    """
    for unit, size in (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n_bytes >= size:
            return f"{n_bytes / size:.1f} {unit}"
    return f"{n_bytes} bytes"
