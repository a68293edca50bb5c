"""How a split is put into words: values, levels, conditions.

Comes in: a column's description and the plain parts of a split. Goes out: one line of text.
Always holds: the text is printable and has no line break, whatever names and levels contain; two different breaks of
one split never read the same. Words are for people: the exact numbers are in the split.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from treewright.data.schema import TIME_KINDS, ColumnSpec, Level
from treewright.data.value_text import moment

_DAY = 86_400_000_000


def printable(text: str) -> str:
    """The text with line breaks, control characters and the like written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def name_text(name: str) -> str:
    """A column's or target's name; quoted when it would otherwise not be seen."""
    shown = printable(name)
    return shown if shown.strip() else f'"{shown}"'


def level_text(level: Level) -> str:
    """A level or class; quoted when it could be misread inside a list."""
    if isinstance(level, str):
        shown = printable(level)
        plain = shown and shown == shown.strip() and not any(c in ',{}"' for c in shown)
        return shown if plain else '"' + shown.replace('"', '\\"') + '"'
    return number_text(level) if isinstance(level, float) else str(level)


def number_text(x: float) -> str:
    """Short but honest: whole numbers in full, else about six digits and never less than cents.

    >>> [number_text(x) for x in (2.4500000000000002, 5.0, 0.8166666666666667, 1000000.5, -1.5e-7)]
    ['2.45', '5', '0.816667', '1000000.5', '-1.5e-07']
    """
    if not math.isfinite(x):
        return str(x)
    if x == int(x) and abs(x) < 1e15:
        return str(int(x))
    exact = f"{x:.15g}"  # fifteen digits drop the noise of binary fractions
    if len(exact) <= 10:
        return exact
    if 1e4 <= abs(x) < 1e15:
        return f"{x:.2f}".rstrip("0").rstrip(".")
    return f"{x:.6g}"


def amount(x: float) -> str:
    """A number at a glance: four digits, or cents.

    >>> amount(0.35714285714285715), amount(1234567.891)
    ('0.3571', '1234567.9')
    """
    return number_text(float(f"{x:.4g}") if abs(x) < 1000 else round(x, 1))


def percent(share: float) -> str:
    """What is not quite certain is never told as 100 %, what is not quite impossible never as 0 %.

    >>> percent(0.643), percent(0.999), percent(0.001), percent(1.0), percent(0.0)
    ('64 %', '>99 %', '<1 %', '100 %', '0 %')
    """
    whole = round(100 * share)
    if whole == 100 and share < 1 - 1e-12:
        return ">99 %"
    return "<1 %" if whole == 0 and share > 1e-12 else f"{whole} %"


def break_texts(spec: ColumnSpec, breaks: Sequence[float], closed: bool) -> list[str]:
    """One text per break: a number, or a moment for a column of times."""
    texts = [_break_text(spec, x, closed) for x in breaks]
    return texts if len(set(texts)) == len(texts) else [repr(float(x)) for x in breaks]


def conditions(
    spec: ColumnSpec,
    breaks: Sequence[float],
    child_of_bin: Sequence[int],
    closed: bool,
    n_children: int,
    most: int | None = None,
) -> list[str]:
    """What is known about a value that goes to each child; "" when no known value does. `most` cuts long lists."""
    bins = bins_of_children(child_of_bin, n_children)
    name = name_text(spec.name)
    if spec.has_levels:
        levels = spec.levels or ()
        return [_levels(name, [levels[i] for i in held], most) for held in bins]
    texts = break_texts(spec, breaks, closed)
    return [_intervals(name, texts, held, closed) for held in bins]


def prediction_text_of(
    spec: ColumnSpec, breaks: Sequence[float], child_of_bin: Sequence[int], closed: bool, n_children: int
) -> list[list[str]]:
    """The answers that lead to each child, without the column's name: levels, or intervals such as "> 3, ≤ 5"."""
    bins = bins_of_children(child_of_bin, n_children)
    if spec.has_levels:
        levels = spec.levels or ()
        return [[level_text(levels[i]) for i in held] for held in bins]
    texts = break_texts(spec, breaks, closed)
    below, above = ("≤", ">") if closed else ("<", "≥")
    return [
        [
            ", ".join(
                ([f"{above} {texts[first - 1]}"] if first > 0 else [])
                + ([f"{below} {texts[last]}"] if last < len(texts) else [])
            )
            or "known"
            for first, last in _runs(held)
        ]
        for held in bins
    ]


def bins_of_children(child_of_bin: Sequence[int], n_children: int) -> list[list[int]]:
    """The bins of each child, rising."""
    bins: list[list[int]] = [[] for _ in range(n_children)]
    for i, child in enumerate(child_of_bin):
        if child >= 0:
            bins[child].append(i)
    return bins


def _levels(name: str, levels: Sequence[Level], most: int | None) -> str:
    if not levels:
        return ""
    if len(levels) == 1:
        return f"{name} = {level_text(levels[0])}"
    shown = len(levels) if most is None or len(levels) <= most else most - 1
    texts = [level_text(level) for level in levels[:shown]]
    if shown < len(levels):
        texts.append(f"… {len(levels) - shown} more")
    return f"{name} in {{{', '.join(texts)}}}"


def _intervals(name: str, texts: Sequence[str], bins: Sequence[int], closed: bool) -> str:
    below, above = ("<=", ">") if closed else ("<", ">=")
    parts = []
    for first, last in _runs(bins):
        low = texts[first - 1] if first > 0 else None
        high = texts[last] if last < len(texts) else None
        if low is not None and high is not None:
            parts.append(f"{low} {'<' if closed else '<='} {name} {below} {high}")
        elif high is not None:
            parts.append(f"{name} {below} {high}")
        elif low is not None:
            parts.append(f"{name} {above} {low}")
        else:
            parts.append(f"{name} is known")
    return " or ".join(parts)


def _runs(bins: Sequence[int]) -> list[tuple[int, int]]:
    """Neighbouring bins as (first, last)."""
    runs: list[tuple[int, int]] = []
    for i in bins:
        if runs and runs[-1][1] == i - 1:
            runs[-1] = (runs[-1][0], i)
        else:
            runs.append((i, i))
    return runs


def _break_text(spec: ColumnSpec, x: float, closed: bool) -> str:
    if spec.kind == "date" and abs(x) < 1e18:  # beyond that there is no calendar
        # Dates are whole days, so a break at noon divides them as its own day does for <=, the next day for <.
        x = (math.floor(x / _DAY) if closed else math.ceil(x / _DAY)) * _DAY
    return moment(spec.kind, x) if spec.kind in TIME_KINDS else number_text(x)
