"""Which values of a column lead a certain way, and which of them is nearest to the one a row has.

Comes in: a split, one of its children, a row's value. Goes out: `Allowed`, which can only be narrowed.
Always holds: `as_is` says that the value the row has now (a missing one too) leads there; all other values that do are
in `pieces` (numbers) or `codes` (levels).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from treewright.data.schema import TIME_KINDS, ColumnSpec
from treewright.tree.text import bins_of_children, break_texts, level_text
from treewright.tree.tree import Split

_DAY = 86_400_000_000


@dataclass(frozen=True)
class Piece:
    """An interval of numbers; `with_low` and `with_high` say whether a bound belongs to it."""

    low: float = -math.inf
    with_low: bool = False
    high: float = math.inf
    with_high: bool = False

    def __contains__(self, x: float) -> bool:
        above = x >= self.low if self.with_low else x > self.low
        return above and (x <= self.high if self.with_high else x < self.high)

    def within(self, other: Piece) -> Piece:
        """What the two have in common."""
        low = max((self.low, not self.with_low), (other.low, not other.with_low))
        high = min((self.high, self.with_high), (other.high, other.with_high))
        return Piece(low[0], not low[1], high[0], high[1])

    def nearest(self, x: float, unit: float) -> float | None:
        """The value in here closest to `x`, a whole number of units where there is one; None if nothing is in here."""
        if x != x:
            x = self.low if self.low > -math.inf else self.high if self.high < math.inf else 0.0
        if x in self:
            found = x
        elif x <= self.low:
            found = self.low if self.with_low else math.nextafter(self.low, math.inf)
        else:
            found = self.high if self.with_high else math.nextafter(self.high, -math.inf)
        if unit:
            found = (math.ceil if x <= self.low else math.floor)(found / unit) * unit
            if found not in self and found - unit in self:
                found -= unit
        return found if found in self else None


@dataclass(frozen=True)
class Allowed:
    """The values that lead along a path, as far as one column is asked; None stands for all."""

    as_is: bool = True
    pieces: tuple[Piece, ...] | None = None
    codes: frozenset[int] | None = None

    def narrowed(self, other: Allowed) -> Allowed:
        """The values that both allow."""
        pieces, codes = self.pieces, self.codes
        if other.pieces is not None:
            pieces = tuple(a.within(b) for a in pieces for b in other.pieces) if pieces is not None else other.pieces
        if other.codes is not None:
            codes = codes & other.codes if codes is not None else other.codes
        return Allowed(self.as_is and other.as_is, pieces, codes)


def leading_to(split: Split, child: int, as_is: bool) -> Allowed:
    """The values that a split sends to one child."""
    bins = bins_of_children(split.child_of_bin, split.n_children)[child]
    if split.spec.has_levels:
        return Allowed(as_is, codes=frozenset(bins))
    bounds, closed = (-math.inf, *split.breaks, math.inf), split.test == "<="
    return Allowed(as_is, tuple(Piece(bounds[i], not closed, bounds[i + 1], closed) for i in bins))


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
    """The smallest move that is allowed; None if there is none.

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
        inside = piece.within(Piece(0.0, True, float(_DAY), False)) if spec.kind == "time" else piece
        found = inside.nearest(value, unit)
        if found is None:
            continue
        distance = abs(found - value) / scale if known and scale > 0 else 1.0
        if best is None or distance < best.distance:
            tidy = found if unit else _tidy(inside, found, value, (scale or span[1] - span[0]) / 20)
            best = Move(tidy, distance, _piece_words(spec, piece, value, tidy))
    return best


def plain_value(spec: ColumnSpec, value: float) -> Any:
    """The encoded value as one would type it: a level, a number, a date."""
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


def _piece_words(spec: ColumnSpec, piece: Piece, value: float, found: float) -> str:
    """The interval in words, nearer bound first: "above 34", "at most 3", "above 2 and at most 3"."""
    parts = []
    if piece.low > -math.inf:
        text = break_texts(spec, [piece.low], not piece.with_low)[0]
        parts.append(f"{'at least' if piece.with_low else 'above'} {text}")
    if piece.high < math.inf:
        text = break_texts(spec, [piece.high], piece.with_high)[0]
        parts.append(f"{'at most' if piece.with_high else 'below'} {text}")
    return " and ".join(parts if value != value or found > value else reversed(parts)) or "known"


def _tidy(piece: Piece, exact: float, value: float, slack: float) -> float:
    """A number with few digits beside the exact one, still inside and hardly farther away."""
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
