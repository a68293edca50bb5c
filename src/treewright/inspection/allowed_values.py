"""Which values of a column lead a certain way, and which of them is nearest to the one a row has.

`as_is`: the value the row has now (a missing one too) leads there; all other values that do are in `pieces`
(numbers) or `codes` (levels).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from treewright.data.schema import TIME_KINDS, ColumnSpec
from treewright.tree.conditions import Interval
from treewright.tree.split import Split
from treewright.tree.text import break_text, level_text

_DAY = 86_400_000_000


def nearest(interval: Interval, x: float, unit: float) -> float | None:
    """Return the value in the interval closest to `x`, a whole number of units where there is one; None if empty."""
    if x != x:
        x = interval.low if interval.low > -math.inf else interval.high if interval.high < math.inf else 0.0
    if x in interval:
        found = x
    elif x <= interval.low:
        found = interval.low if interval.with_low else math.nextafter(interval.low, math.inf)
    else:
        found = interval.high if interval.with_high else math.nextafter(interval.high, -math.inf)
    if unit:
        found = (math.ceil if x <= interval.low else math.floor)(found / unit) * unit
        if found not in interval and found - unit in interval:
            found -= unit
    return found if found in interval else None


@dataclass(frozen=True)
class Allowed:
    """The values that lead along a path, as far as one column is used; None stands for all."""

    as_is: bool = True
    pieces: tuple[Interval, ...] | None = None
    codes: frozenset[int] | None = None

    def narrowed(self, other: Allowed) -> Allowed:
        """Return the values that both allow."""
        pieces, codes = self.pieces, self.codes
        if other.pieces is not None:
            pieces = tuple(a.within(b) for a in pieces for b in other.pieces) if pieces is not None else other.pieces
        if other.codes is not None:
            codes = codes & other.codes if codes is not None else other.codes
        return Allowed(self.as_is and other.as_is, pieces, codes)


def leading_to(split: Split, child: int, as_is: bool) -> Allowed:
    """Return the values that a split sends to one child."""
    branch = split.branches[child]
    return Allowed(as_is, codes=frozenset(branch.codes)) if split.spec.has_levels else Allowed(as_is, branch.intervals)


def kept(spec: ColumnSpec) -> Allowed:
    """Nothing but the value the row has."""
    return Allowed(codes=frozenset()) if spec.has_levels else Allowed(pieces=())


@dataclass(frozen=True)
class Move:
    """A new value for a column: encoded, how far it is from the old one (at most about 1), and its place in words."""

    value: float
    distance: float
    words: str


def nearest_move(spec: ColumnSpec, allowed: Allowed, value: float, span: tuple[float, float]) -> Move | None:
    """Return the smallest move that is allowed; None if there is none.

    A number's move is measured by the `span` of the tree's breaks, stretched to the value itself, an ordinal level's
    by the number of levels; another nominal level, or a value where there was none, is a move of 1.
    """
    if spec.has_levels:
        return _nearest_level(spec, sorted(allowed.codes or ()), int(value))
    unit = {"date": float(_DAY)}.get(spec.kind, 1.0 if spec.kind in TIME_KINDS else 0.0)
    known = value == value
    scale = max(span[1], value) - min(span[0], value) if known else 0.0
    best: Move | None = None
    for piece in allowed.pieces or ():
        inside = piece.within(Interval(0.0, float(_DAY), with_low=True)) if spec.kind == "time" else piece
        found = nearest(inside, value, unit)
        if found is None:
            continue
        distance = abs(found - value) / scale if known and scale > 0 else 1.0
        if best is None or distance < best.distance:
            tidy = found if unit else _tidy(inside, found, value, (scale or span[1] - span[0]) / 20)
            best = Move(tidy, distance, _piece_words(spec, piece, value, tidy))
    return best


def plain_value(spec: ColumnSpec, value: float) -> Any:
    """Return the encoded value as one would type it: a level, a number, a date."""
    if spec.levels is not None:
        return spec.levels[int(value)]
    if spec.kind not in TIME_KINDS:
        return value
    try:
        span = timedelta(microseconds=value)
        moment = datetime(1970, 1, 1) + span  # noqa: DTZ001  a tree's moments are in UTC and know no zone
        plain: date | timedelta | Any = {"date": moment.date(), "datetime": moment, "time": moment.time()}.get(
            spec.kind, span
        )
    except OverflowError:  # no calendar goes that far
        return value
    return plain


def _nearest_level(spec: ColumnSpec, codes: list[int], code: int) -> Move | None:
    levels = spec.levels or ()
    others = [i for i in codes if i != code]
    if not others:
        return None
    ordered = spec.kind == "ordinal" and code >= 0
    nearest = min(others, key=lambda i: (abs(i - code) if ordered else 0, i))
    distance = abs(nearest - code) / max(1, len(levels) - 1) if ordered else 1.0
    first = [nearest, *(i for i in others if i != nearest)]
    return Move(float(nearest), distance, _either([level_text(levels[i]) for i in first]))


def _either(texts: list[str], most: int = 3) -> str:
    if len(texts) > most:
        texts = [*texts[: most - 1], f"{len(texts) - most + 1} others"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def _piece_words(spec: ColumnSpec, piece: Interval, value: float, found: float) -> str:
    """Return the interval in words, nearer bound first: "above 34", "at most 3", "above 2 and at most 3"."""
    parts = []
    if piece.low > -math.inf:
        text = break_text(spec, piece.low, not piece.with_low)
        parts.append(f"{'at least' if piece.with_low else 'above'} {text}")
    if piece.high < math.inf:
        text = break_text(spec, piece.high, piece.with_high)
        parts.append(f"{'at most' if piece.with_high else 'below'} {text}")
    return " and ".join(parts if value != value or found > value else reversed(parts)) or "known"


def _tidy(piece: Interval, exact: float, value: float, slack: float) -> float:
    """Return a number with few digits beside the exact one, still inside and hardly farther away."""
    upward = value != value or exact > value
    for digits in range(16):
        for candidate in _roundings(exact, digits, upward):
            if candidate in piece and abs(candidate - exact) <= slack:
                return candidate
    return exact


def _roundings(x: float, digits: int, upward: bool) -> Iterable[float]:
    scale = 10.0**digits
    if not math.isfinite(x * scale):
        return ()
    return ((math.ceil if upward else math.floor)(x * scale) / scale,)
