"""Summarise the columns of partitions, merge the summaries into a schema, and encode partition by partition.

Merging works in any order and grouping, and partitions without rows change nothing. The rules are those of `encode`: a
summary is turned into a few representative rows, which are described and encoded. All faults are found before growing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.data.arrays import Array
from treewright.data.columns import by_value, from_codes, from_objects, plainness, shared_kind
from treewright.data.dropped_columns import identifier, warn_dropped
from treewright.data.encoding import (
    Encoded,
    check_table,
    describe,
    encode,
    encode_rows,
    refuse_missing_target,
    refuse_missing_weight,
)
from treewright.data.frame import Frame, RawColumn, pop_column
from treewright.data.kinds import MOST_LEVELS, KindChoice, check_kinds, finite_numbers_of
from treewright.data.reader import read_partition, require_some
from treewright.data.schema import LEVEL_KINDS, TIME_KINDS, Kind, Level, Schema, Task
from treewright.data.value_text import listed, moment
from treewright.errors import DataError

#: Of too many values so many of the smallest are kept, and the largest: three cannot all be 0 and 1.
_SMALLEST = 3


@dataclass(frozen=True)
class DistinctValues:
    """Different values of one kind, sorted. `cut`: there are or may be more, and these are the outermost."""

    values: tuple[Level, ...]
    cut: bool = False


@dataclass(frozen=True)
class ColumnSummary:
    """What is known about one column.

    `found` has values by the kind of the parts they were in. `declared` are the levels that all parts declare, if they
    `agree`. `whole`: all numbers came as integers. `n_listed`: how many levels the user lists for it, if any.
    """

    name: str
    n_missing: int
    found: Mapping[Kind, DistinctValues]
    declared: tuple[Level, ...] | None
    agree: bool
    whole: bool
    n_listed: int | None


@dataclass(frozen=True)
class TableSummary:
    """What is known about every column."""

    n_rows: int
    columns: tuple[ColumnSummary, ...]
    target: ColumnSummary | None = None
    weight: ColumnSummary | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.columns)


#: The summary of no rows.
NOTHING = TableSummary(0, ())


# --- one part -------------------------------------------------------------------------------------------------------


def frame_of(native: object, only: Collection[str] | None = None, schema: Schema | None = None) -> Frame:
    """Return any table as a `Frame`, one without rows too."""
    if isinstance(native, (list, tuple)) and not native:
        return Frame((), 0)
    return read_partition(native, only=only, schema=schema)


def summarize(frame: Frame, target: str, weight: str | None, kinds: Mapping[str, KindChoice] | None) -> TableSummary:
    """Summarise one partition. Distinct numbers are counted only for the target and where `kinds` needs them."""
    if not frame.n_rows:
        return NOTHING
    chosen = dict(kinds or {})
    truth, weights, frame = _separated(frame, target, weight)
    return TableSummary(
        frame.n_rows,
        tuple(_summary_of(column, chosen.get(column.name)) for column in frame.columns),
        _summary_of(truth, chosen.get(target), counted=True),
        None if weights is None else _summary_of(weights),
    )


def encode_partition(frame: Frame, schema: Schema, target: str, weight: str | None) -> Encoded:
    """Return the rows of one part, coded; all parts together are what `encode` makes of the whole table."""
    if not frame.n_rows:
        names = (*schema.names, target, *(() if weight is None else (weight,)))
        frame = Frame(tuple(RawColumn(name, "numeric", np.empty(0)) for name in names), 0)
    truth, weights, frame = _separated(frame, target, weight)
    return encode_rows(frame, schema, training=True, target=truth, weight=weights)


def _separated(frame: Frame, target: str, weight: str | None) -> tuple[RawColumn, RawColumn | None, Frame]:
    truth, frame = pop_column(frame, target)
    return (truth, None, frame) if weight is None else (truth, *pop_column(frame, weight, "weight"))


def _summary_of(column: RawColumn, choice: KindChoice | None = None, counted: bool = False) -> ColumnSummary:
    n_listed = len(choice) if isinstance(choice, (list, tuple)) else None
    missing = column.missing
    n_missing = int(np.count_nonzero(missing))
    there = n_missing < column.n_rows
    found: dict[Kind, DistinctValues] = {}
    if there and column.levels is not None:
        used = np.zeros(len(column.levels) + 1, dtype=bool)
        used[column.values] = True  # code -1 finds the last entry
        levels = (level for level, there in zip(column.levels, used.tolist(), strict=False) if there)
        found[column.kind] = _outermost(levels, n_listed)
    elif there and (counted or n_listed is not None or choice in LEVEL_KINDS):
        found[column.kind] = _counted(column.values[~missing] if n_missing else column.values, n_listed)
    elif there:
        found[column.kind] = DistinctValues(_ends(column.values), cut=True)
    declares = column.declared and column.kind != "boolean"
    return ColumnSummary(
        column.name,
        n_missing,
        found,
        column.levels if declares else None,
        agree=declares or not there,
        whole=column.whole or column.kind != "numeric",
        n_listed=n_listed,
    )


def _counted(values: Array, n_listed: int | None) -> DistinctValues:
    """Return the different numbers. Where they are too many, the first rows show it already."""
    most = _most(n_listed)
    first = np.unique(values[: 2 * most + 2])
    if len(first) > most:
        return _outermost((*first[: _few(n_listed)].tolist(), *_ends(values)), n_listed, cut=True)
    found = np.unique(values) if len(values) > 2 * most + 2 else first
    return _outermost((found + 0.0).tolist(), n_listed)  # -0.0 is 0.0


def _ends(values: Array) -> tuple[float, ...]:
    """Return the smallest and the largest number; NaN is none."""
    return float(np.fmin.reduce(values)), float(np.fmax.reduce(values))


# --- several parts --------------------------------------------------------------------------------------------------


def merge(first: TableSummary, second: TableSummary) -> TableSummary:
    """Merge two summaries."""
    if not first.n_rows or not second.n_rows:
        return first if first.n_rows else second
    assert first.target is not None
    assert second.target is not None
    weight = None
    if first.weight is not None and second.weight is not None:
        weight = _both(first.weight, second.weight)
    other = {one.name: one for one in second.columns}
    if set(other) != set(first.names):
        odd = sorted(set(other) ^ set(first.names))
        raise DataError(
            f"the parts of the table differ in their columns: {listed(odd)} "
            f"{'is' if len(odd) == 1 else 'are'} not in all of them; every part needs the same columns"
        )
    columns = tuple(_both(one, other[one.name]) for one in first.columns)
    return TableSummary(first.n_rows + second.n_rows, columns, _both(first.target, second.target), weight)


def _both(first: ColumnSummary, second: ColumnSummary) -> ColumnSummary:
    one, other = first.declared, second.declared
    agree = first.agree and second.agree and (one is None or other is None or one == other)
    found = {
        kind: _together([one.found[kind] for one in (first, second) if kind in one.found], first.n_listed)
        for kind in sorted({*first.found, *second.found})
    }
    return ColumnSummary(
        first.name,
        first.n_missing + second.n_missing,
        found,
        (other if one is None else one) if agree else None,
        agree,
        first.whole and second.whole,
        first.n_listed,
    )


def _together(found: list[DistinctValues], n_listed: int | None) -> DistinctValues:
    if len(found) == 2 and found[0] == found[1]:  # most columns have few levels, and every part has them all
        return found[0]
    values = (value for some in found for value in some.values)
    return _outermost(values, n_listed, cut=any(some.cut for some in found))


def _outermost(values: Iterable[Level], n_listed: int | None, cut: bool = False) -> DistinctValues:
    """Different values, sorted; of too many, only the outermost numbers and texts.

    Of values with levels listed by the user, one more than listed is kept, of which one must be unlisted.
    """
    ordered = sorted(dict.fromkeys(sorted(values, key=plainness)), key=by_value)
    if not cut and len(ordered) <= _most(n_listed):
        return DistinctValues(tuple(ordered))
    few = _few(n_listed)
    numbers = [value for value in ordered if not isinstance(value, str)]
    texts = [value for value in ordered if isinstance(value, str)]
    kept = [dict.fromkeys((*some[:few], *some[-1:])) for some in (numbers, texts)]
    return DistinctValues((*kept[0], *kept[1]), cut=True)


def _most(n_listed: int | None) -> int:
    return MOST_LEVELS if n_listed is None else n_listed


def _few(n_listed: int | None) -> int:
    return _SMALLEST if n_listed is None else n_listed + 1


# --- the whole table ------------------------------------------------------------------------------------------------


def described(
    summary: TableSummary,
    task: Task | None = None,
    kinds: Mapping[str, KindChoice] | None = None,
    keep_columns: bool = False,
) -> Schema:
    """Return what the columns and the target of the whole table are; `kinds` as they were given to `summarize`.

    Columns that nothing can be learned from are left out, unless `keep_columns`.
    What `describe` and `encode` would find wrong with the whole table is an error here.
    """
    require_some(summary.n_rows, len(summary.columns) + 1)
    target, weight = summary.target, summary.weight
    assert target is not None
    check_table(len(summary.columns), summary.n_rows, target.name)
    chosen = check_kinds(kinds, (*summary.names, target.name))
    refuse_missing_target(target.name, target.n_missing, summary.n_rows)
    reasons = {} if keep_columns else _useless(summary, chosen)
    warn_dropped(reasons, len(summary.columns))
    used = [one for one in summary.columns if one.name not in reasons]
    short = [_stand_in(one, chosen.get(one.name)) for one in used]
    truth = _stand_in(target, chosen.get(target.name))
    weights = None if weight is None else _stand_in(weight, None)
    # One row more than there are classes shows that a class has several rows, unless that would be more than there are.
    n_rows = min(summary.n_rows, 1 + max(column.n_rows for column in (*short, truth, weights) if column is not None))
    frame = Frame(tuple(_repeated(column, n_rows) for column in short), n_rows)
    truth = _repeated(truth, n_rows)
    schema = describe(frame, truth, task, kinds, summary.n_rows)
    encode(frame, schema, training=True, target=truth)
    if weight is not None and weights is not None:
        refuse_missing_weight(weight.name, weight.n_missing)
        encode(frame, schema, training=True, weight=_repeated(weights, n_rows))
    for column, spec in zip(frame.columns, schema.columns, strict=True):
        if not spec.has_levels:
            finite_numbers_of(column)
    return schema


def _useless(summary: TableSummary, chosen: Mapping[str, KindChoice]) -> dict[str, str]:
    """Return what `useless_columns` finds in the whole table."""
    reasons = {}
    for one in summary.columns:
        if one.name in chosen:
            continue
        why = None if one.found else "no values"
        if one.found and _kind(one, None) == "nominal" and not (one.agree and one.declared is not None):
            crowded = any(found.cut for found in one.found.values())
            n_levels = MOST_LEVELS + 1 if crowded else sum(len(found.values) for found in one.found.values())
            why = identifier(n_levels, summary.n_rows - one.n_missing)
        if why is not None:
            reasons[one.name] = why
    return reasons


def _stand_in(summary: ColumnSummary, choice: KindChoice | None) -> RawColumn:
    """Return a short column of which everything holds that holds of the whole."""
    nothing = [None] if summary.n_missing else []
    if not summary.found:
        return replace(from_objects(summary.name, nothing), stand_in=True)
    kind = _kind(summary, choice)
    values = [value for part, found in summary.found.items() for value in _values(found, part, kind, summary.whole)]
    column: RawColumn
    if kind in ("numeric", "boolean"):
        column = from_objects(summary.name, [*values, *nothing])
    elif kind in TIME_KINDS:
        column = RawColumn(summary.name, kind, np.array([*values, *(np.nan for _ in nothing)]))
    elif summary.agree and summary.declared is not None:
        place = {level: code for code, level in enumerate(summary.declared)}
        codes = np.array([*(place[value] for value in values), *(-1 for _ in nothing)], dtype=np.int32)
        column = from_codes(summary.name, kind, codes, summary.declared, declared=True)
    else:
        codes = np.array([*range(len(values)), *(-1 for _ in nothing)], dtype=np.int32)
        column = from_codes(summary.name, "nominal", codes, values, declared=False)
    return replace(column, stand_in=True, crowded=any(found.cut for found in summary.found.values()))


def _kind(summary: ColumnSummary, choice: KindChoice | None) -> Kind:
    """Return the kind that the column has in the whole table."""
    kind = shared_kind(set(summary.found))
    if kind == "ordinal" and not summary.agree and not isinstance(choice, (list, tuple)):
        raise DataError(
            f"the parts of the table declare different levels for the ordinal column {summary.name!r}; give them in "
            f"order with kinds={{{summary.name!r}: [...]}}"
        )
    uncounted = any(found.cut for part, found in summary.found.items() if part not in LEVEL_KINDS)
    if kind == "nominal" and uncounted and choice is None:
        kinds = sorted(summary.found, key=lambda part: part in LEVEL_KINDS)
        example = next(iter(_values(summary.found[kinds[1]], kinds[1], kind, summary.whole)))
        raise DataError(
            f"column {summary.name!r} is {kinds[0]} in some parts of the table and {kinds[1]} in others, for example "
            f"{example!r}; give it one type in all parts, or give kinds={{{summary.name!r}: 'nominal'}}"
        )
    return kind


def _values(found: DistinctValues, part: Kind, kind: Kind, whole: bool) -> Iterable[Any]:
    """Return values as they are in a column of that kind."""
    if part in TIME_KINDS and kind not in TIME_KINDS:
        return (moment(part, float(value)) for value in found.values)
    if part == "numeric" and whole:
        return (int(value) if np.isfinite(value) else value for value in found.values)
    return found.values


def _repeated(column: RawColumn, n_rows: int) -> RawColumn:
    return replace(column, values=np.resize(column.values, n_rows))
