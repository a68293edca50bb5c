"""A condition in words: as a formula for those who check it, or plainly for those who follow it.

Comes in: a column's description, the intervals or codes that are allowed, whether missing values are to be mentioned.
Goes out: one line of text.
Always holds: the text is printable whatever names and levels contain (`tree_words`); a set of levels is named by those
left out where they are the fewer; ordinal levels that lie together are named by their ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from treewright.data.schema import TIME_KINDS, ColumnSpec, Level
from treewright.tree.text import break_texts, conditions, level_text, name_text

#: A place between numbers and an interval of two, as `conditions` has them.
Place = tuple[float, bool]
Interval = tuple[Place, Place]

#: Sets of more levels than this are named by the levels left out, if those are fewer.
FEW_LEVELS = 3


def formal(
    spec: ColumnSpec, intervals: Sequence[Interval], codes: Sequence[int], missing: bool, most: int | None
) -> str:
    """Such as "34 < age <= 60", "outlook in {sunny, rain}", "size >= medium or missing"."""
    name = name_text(spec.name)
    if spec.has_levels:
        known = _formal_levels(spec, codes, most)
    else:
        known = " or ".join(_formal_interval(spec, interval) for interval in intervals)
    if not known:
        return f"{name} is missing" if missing else f"no value of {name}"
    return known + (" or missing" if missing else "")


def plain(
    spec: ColumnSpec, intervals: Sequence[Interval], codes: Sequence[int], missing: bool, most: int | None
) -> str:
    """Such as "the age is above 34 and at most 60", "the outlook is sunny or rain"."""
    subject = f"the {name_text(spec.name).replace('_', ' ').strip()}"
    if spec.has_levels:
        parts = [_plain_levels(spec, codes, most)] if codes else []
    else:
        parts = [_plain_interval(spec, interval) for interval in intervals]
    if missing:
        parts.append("not known")
    return f"{subject} is {' or '.join(parts)}" if parts else f"{subject} is impossible"


# --- numbers and times ------------------------------------------------------------------------------------------------


def _ends(interval: Interval) -> tuple[Place | None, Place | None]:
    """The ends of an interval; None where it has none."""
    low, high = interval
    return (None if low[0] == float("-inf") else low), (None if high[0] == float("inf") else high)


def _formal_interval(spec: ColumnSpec, interval: Interval) -> str:
    low, high = _ends(interval)
    if low is not None and high is not None and low[1] == high[1]:
        return conditions(spec, (low[0], high[0]), (-1, 0, -1), low[1], 1)[0]
    parts = [conditions(spec, (low[0],), (-1, 0), low[1], 1)[0]] if low is not None else []
    parts += [conditions(spec, (high[0],), (0, -1), high[1], 1)[0]] if high is not None else []
    return " and ".join(parts) or conditions(spec, (), (0,), True, 1)[0]


def _plain_interval(spec: ColumnSpec, interval: Interval) -> str:
    low, high = _ends(interval)
    above, from_, below, up_to = _ORDER_WORDS[spec.kind in TIME_KINDS and spec.kind != "duration"]
    parts = []
    if low is not None:
        parts.append(f"{above if low[1] else from_} {break_texts(spec, (low[0],), low[1])[0]}")
    if high is not None:
        parts.append(f"{up_to if high[1] else below} {break_texts(spec, (high[0],), high[1])[0]}")
    return " and ".join(parts) or "known"


#: Above, from, below and up to: of quantities, and of moments.
_ORDER_WORDS = {
    False: ("above", "at least", "below", "at most"),
    True: ("after", "not before", "before", "not after"),
}


# --- levels -----------------------------------------------------------------------------------------------------------


def _formal_levels(spec: ColumnSpec, codes: Sequence[int], most: int | None) -> str:
    levels, name = spec.levels or (), name_text(spec.name)
    texts = [level_text(level) for level in levels]
    if _is_range(spec, codes):
        ways = "{name} <= {last}", "{name} >= {first}", "{first} <= {name} <= {last}"
        return _range_words(ways, texts, codes, name)
    others = _left_out(levels, codes)
    if others is None:
        marks = [0 if i in set(codes) else -1 for i in range(len(levels))]
        return conditions(spec, (), marks, True, 1, most)[0]
    if len(others) == 1:
        return f"{name} != {texts[others[0]]}"
    return f"{name} not in {{{_cut_list([texts[i] for i in others], ', ', ', ', most)}}}"


def _plain_levels(spec: ColumnSpec, codes: Sequence[int], most: int | None) -> str:
    levels = spec.levels or ()
    texts = [str(level).lower() if isinstance(level, bool) else level_text(level) for level in levels]
    if _is_range(spec, codes):
        return _range_words(("{last} or lower", "{first} or higher", "from {first} to {last}"), texts, codes)
    others = _left_out(levels, codes)
    if others is None:
        return _cut_list([texts[i] for i in codes], ", ", " or ", most)
    return f"anything but {_cut_list([texts[i] for i in others], ', ', ' or ', most)}"


def _is_range(spec: ColumnSpec, codes: Sequence[int]) -> bool:
    """Whether ordinal levels lie together, at least two of them, and are not all."""
    together = len(codes) > 1 and codes[-1] - codes[0] == len(codes) - 1
    return spec.kind == "ordinal" and together and len(codes) < len(spec.levels or ())


def _range_words(ways: tuple[str, str, str], texts: Sequence[str], codes: Sequence[int], name: str = "") -> str:
    """By its ends: one way for a range from the first level on, one for a range to the last, one for any other."""
    way = 0 if codes[0] == 0 else 1 if codes[-1] == len(texts) - 1 else 2
    return ways[way].format(name=name, first=texts[codes[0]], last=texts[codes[-1]])


def _left_out(levels: Sequence[Level], codes: Sequence[int]) -> list[int] | None:
    """The levels left out, where they say it in fewer words."""
    others = [i for i in range(len(levels)) if i not in set(codes)]
    return others if len(codes) > FEW_LEVELS and 0 < len(others) < len(codes) else None


def _cut_list(texts: list[str], comma: str, last: str, most: int | None) -> str:
    if most is not None and len(texts) > most:
        texts = [*texts[: most - 1], f"… {len(texts) - most + 1} more"]
    return last.join([comma.join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]
