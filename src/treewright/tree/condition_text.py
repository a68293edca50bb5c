"""The text of a condition: "34 < age <= 60", "size >= medium", "the outlook is sunny or rain"."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from treewright.data.schema import TIME_KINDS, ColumnSpec
from treewright.tree.conditions import Condition, Interval, Style
from treewright.tree.text import break_text, joined, level_text, name_text

#: Sets of more levels than this are named by the levels left out, if those are fewer.
FEW_LEVELS = 3


def condition_text(condition: Condition, style: Style, most: int | None, named: bool) -> str:
    """Return the condition as text; see `Condition.words`."""
    if style == "plain":
        return _plain(condition, most)
    name = name_text(condition.spec.name)
    if condition.spec.has_levels:
        known = _levels(condition, name, most, named, compact=style == "formal")
    else:
        known = " or ".join(_interval(condition, one, name, named) for one in condition.intervals)
    if not known:
        return ("is missing" if not named else f"{name} is missing") if condition.missing else f"no value of {name}"
    return known + (" or missing" if condition.missing and condition.mentions_missing else "")


def value_texts(condition: Condition) -> list[str]:
    """Return the values that meet a condition, one by one: levels, or intervals such as "> 3, ≤ 5"."""
    if condition.spec.has_levels:
        levels = condition.spec.levels or ()
        return [level_text(levels[code]) for code in condition.codes]
    found = []
    for one in condition.intervals:
        low, high = _bounds(condition, one)
        ends = [f"{'≥' if one.with_low else '>'} {low}"] if low else []
        found.append(", ".join(ends + ([f"{'≤' if one.with_high else '<'} {high}"] if high else [])) or "known")
    return found


def _bounds(condition: Condition, interval: Interval) -> tuple[str, str]:
    """Return the texts of both bounds, "" for none; they differ."""
    bounds = ((interval.low, not interval.with_low), (interval.high, interval.with_high))
    low, high = ("" if abs(x) == inf else break_text(condition.spec, x, closed) for x, closed in bounds)
    if condition.exact or (low and low == high):
        low, high = (repr(float(x)) if abs(x) != inf else "" for x, _ in bounds)
    if condition.about:
        low, high = (
            f"about {text}" if text and x in condition.about else text
            for text, (x, _) in zip((low, high), bounds, strict=True)
        )
    return low, high


def _interval(condition: Condition, interval: Interval, name: str, named: bool) -> str:
    low, high = _bounds(condition, interval)
    below = "<=" if interval.with_high else "<"
    if low and high:
        return f"{low} {'<=' if interval.with_low else '<'} {name} {below} {high}"
    start = f"{name} " if named else ""
    if low:
        return f"{start}{'>=' if interval.with_low else '>'} {low}"
    return f"{start}{below} {high}" if high else f"{start}is known"


def _levels(condition: Condition, name: str, most: int | None, named: bool, compact: bool) -> str:
    spec, codes, levels = condition.spec, condition.codes, condition.spec.levels or ()
    if compact and _is_range(spec, codes):
        ways = "{name} <= {last}", "{name} >= {first}", "{first} <= {name} <= {last}"
        return _range_text(ways, [level_text(level) for level in levels], codes, name)
    others = _left_out(len(levels), codes) if compact else None
    if others is not None:
        texts = [level_text(levels[i]) for i in others]
        return f"{name} != {texts[0]}" if len(texts) == 1 else f"{name} not in {{{joined(texts, ', ', most)}}}"
    if not codes:
        return ""
    if len(codes) == 1:
        return f"{name} = {level_text(levels[codes[0]])}" if named else level_text(levels[codes[0]])
    shown = codes if most is None else codes[:most]  # of very many levels, few are written
    texts = [level_text(levels[i]) for i in shown] + [""] * (len(codes) - len(shown))
    return f"{f'{name} in ' if named else ''}{{{joined(texts, ', ', most)}}}"


# --- sentences --------------------------------------------------------------------------------------------------------


def _plain(condition: Condition, most: int | None) -> str:
    spec, subject = condition.spec, f"the {name_text(condition.spec.name).replace('_', ' ').strip()}"
    if spec.has_levels:
        parts = [_plain_levels(spec, condition.codes, most)] if condition.codes else []
    else:
        parts = [_plain_interval(condition, one) for one in condition.intervals]
    if condition.missing and condition.mentions_missing:
        parts.append("not known")
    return f"{subject} is {' or '.join(parts)}" if parts else f"{subject} is impossible"


#: Above, from, below and up to: of quantities, and of moments.
_ORDER_WORDS = {False: ("above", "at least", "below", "at most"), True: ("after", "not before", "before", "not after")}


def _plain_interval(condition: Condition, interval: Interval) -> str:
    kind = condition.spec.kind
    above, from_, below, up_to = _ORDER_WORDS[kind in TIME_KINDS and kind != "duration"]
    low, high = _bounds(condition, interval)
    parts = [f"{from_ if interval.with_low else above} {low}"] if low else []
    return " and ".join(parts + ([f"{up_to if interval.with_high else below} {high}"] if high else [])) or "known"


def _plain_levels(spec: ColumnSpec, codes: Sequence[int], most: int | None) -> str:
    levels = spec.levels or ()
    texts = [str(level).lower() if isinstance(level, bool) else level_text(level) for level in levels]
    if _is_range(spec, codes):
        return _range_text(("{last} or lower", "{first} or higher", "from {first} to {last}"), texts, codes)
    others = _left_out(len(levels), codes)
    if others is None:
        return joined([texts[i] for i in codes], " or ", most)
    return f"anything but {joined([texts[i] for i in others], ' or ', most)}"


# --- sets of levels ---------------------------------------------------------------------------------------------------


def _is_range(spec: ColumnSpec, codes: Sequence[int]) -> bool:
    """Return whether ordinal levels are consecutive, at least two of them, and not all."""
    together = len(codes) > 1 and codes[-1] - codes[0] == len(codes) - 1
    return spec.kind == "ordinal" and together and len(codes) < len(spec.levels or ())


def _range_text(ways: tuple[str, str, str], texts: Sequence[str], codes: Sequence[int], name: str = "") -> str:
    """Name a range by its ends: from the first level on, up to the last, or both."""
    way = 0 if codes[0] == 0 else 1 if codes[-1] == len(texts) - 1 else 2
    return ways[way].format(name=name, first=texts[codes[0]], last=texts[codes[-1]])


def _left_out(n_levels: int, codes: Sequence[int]) -> list[int] | None:
    """Return the levels left out, where naming them is shorter."""
    if len(codes) <= FEW_LEVELS or not 0 < n_levels - len(codes) < len(codes):
        return None
    held = set(codes)
    return [i for i in range(n_levels) if i not in held]
