"""What a table in parts is, said by its parts: described as if it were whole, then coded part by part.

Comes in: the `Frame` of one part after the other, or of several at once. Goes out: a `TableSummary` of each, which
merge into
one; the `Schema` of the whole table; the `Encoded` rows of each part.
Always holds: a digest is small and travels. Digests merge in any order and any grouping with the same result, and parts
without rows, or without a value in some column, say nothing. The rules are those of `encode`: a digest is turned into a
few representative rows, and these are described and coded. All that could be wrong with any row is found here,
before work
starts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.columns import by_value, from_codes, from_objects, plainness, shared_kind
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
from treewright.data.left_out import identifier, warn_left_out
from treewright.data.reader import read_partition, require_some
from treewright.data.schema import LEVEL_KINDS, TIME_KINDS, Kind, Level, Schema, Task
from treewright.data.value_text import listed, moment
from treewright.errors import DataError

#: Of too many values so many of the smallest are kept, and the largest: three cannot all be 0 and 1.
_SMALLEST = 3


@dataclass(frozen=True)
class Found:
    """Different values of one kind, sorted. `cut`: there are or may be more, and these are the outermost."""

    values: tuple[Level, ...]
    cut: bool = False


@dataclass(frozen=True)
class ColumnSummary:
    """What the rows so far say about one column.

    `found` has values by the kind of the parts they were in. `declared` are the levels that all parts declare, if they
    `agree`. `whole`: all numbers came as integers. `n_listed`: how many levels the user lists for it; None if he lists
    none.
    """

    name: str
    n_missing: int
    found: Mapping[Kind, Found]
    declared: tuple[Level, ...] | None
    agree: bool
    whole: bool
    n_listed: int | None


@dataclass(frozen=True)
class TableSummary:
    """What the rows so far say about every column."""

    n_rows: int
    columns: tuple[ColumnSummary, ...]
    target: ColumnSummary | None = None
    weight: ColumnSummary | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(said.name for said in self.columns)


#: What no rows say: it changes nothing that it is merged with.
NOTHING = TableSummary(0, ())


# --- one part -------------------------------------------------------------------------------------------------------


def frame_of(native: object, only: Collection[str] | None = None, schema: Schema | None = None) -> Frame:
    """Any table as a `Frame`, one without rows too."""
    if isinstance(native, (list, tuple)) and not native:
        return Frame((), 0)
    return read_partition(native, only=only, schema=schema)


def summarize(frame: Frame, target: str, weight: str | None, kinds: Mapping[str, KindChoice] | None) -> TableSummary:
    """What one part says. Numbers are told apart only where `kinds` or being the target asks for it."""
    if not frame.n_rows:
        return NOTHING
    chosen = dict(kinds or {})
    answers, frame = pop_column(frame, target)
    weights = None
    if weight is not None:
        weights, frame = pop_column(frame, weight, "weight")
    return TableSummary(
        frame.n_rows,
        tuple(_said(column, chosen.get(column.name)) for column in frame.columns),
        _said(answers, chosen.get(target), counted=True),
        None if weights is None else _said(weights),
    )


def encode_partition(frame: Frame, schema: Schema, target: str, weight: str | None) -> Encoded:
    """The rows of one part, coded; all parts together are what `encode` makes of the whole table."""
    if not frame.n_rows:
        names = (*schema.names, target, *(() if weight is None else (weight,)))
        frame = Frame(tuple(RawColumn(name, "numeric", np.empty(0)) for name in names), 0)
    answers, frame = pop_column(frame, target)
    weights = None
    if weight is not None:
        weights, frame = pop_column(frame, weight, "weight")
    return encode_rows(frame, schema, training=True, target=answers, weight=weights)


def _said(column: RawColumn, choice: KindChoice | None = None, counted: bool = False) -> ColumnSummary:
    n_listed = len(choice) if isinstance(choice, (list, tuple)) else None
    missing = column.missing
    n_missing = int(np.count_nonzero(missing))
    there = n_missing < column.n_rows
    found: dict[Kind, Found] = {}
    if there and column.levels is not None:
        used = np.zeros(len(column.levels) + 1, dtype=bool)
        used[column.values] = True  # code -1 finds the last entry
        levels = (level for level, there in zip(column.levels, used.tolist(), strict=False) if there)
        found[column.kind] = _outermost(levels, n_listed)
    elif there and (counted or n_listed is not None or choice in LEVEL_KINDS):
        found[column.kind] = _counted(column.values[~missing] if n_missing else column.values, n_listed)
    elif there:
        found[column.kind] = Found(_ends(column.values), cut=True)
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


def _counted(values: NDArray[Any], n_listed: int | None) -> Found:
    """The different numbers. Where they are too many, the first rows show it already."""
    most = _most(n_listed)
    first = np.unique(values[: 2 * most + 2])
    if len(first) > most:
        return _outermost((*first[: _few(n_listed)].tolist(), *_ends(values)), n_listed, cut=True)
    found = np.unique(values) if len(values) > 2 * most + 2 else first
    return _outermost((found + 0.0).tolist(), n_listed)  # -0.0 is 0.0


def _ends(values: NDArray[Any]) -> tuple[float, ...]:
    """The smallest and the largest number; NaN is none."""
    return float(np.fmin.reduce(values)), float(np.fmax.reduce(values))


# --- several parts --------------------------------------------------------------------------------------------------


def merge(first: TableSummary, second: TableSummary) -> TableSummary:
    """What the rows of both say."""
    if not first.n_rows or not second.n_rows:
        return first if first.n_rows else second
    assert first.target is not None
    assert second.target is not None
    weight = None
    if first.weight is not None and second.weight is not None:
        weight = _both(first.weight, second.weight)
    other = {said.name: said for said in second.columns}
    if set(other) != set(first.names):
        odd = sorted(set(other) ^ set(first.names))
        raise DataError(
            f"the parts of the table differ in their columns: {listed(odd)} "
            f"{'is' if len(odd) == 1 else 'are'} not in all of them; every part needs the same columns"
        )
    columns = tuple(_both(said, other[said.name]) for said in first.columns)
    return TableSummary(first.n_rows + second.n_rows, columns, _both(first.target, second.target), weight)


def _both(first: ColumnSummary, second: ColumnSummary) -> ColumnSummary:
    one, other = first.declared, second.declared
    agree = first.agree and second.agree and (one is None or other is None or one == other)
    found = {
        kind: _together([said.found[kind] for said in (first, second) if kind in said.found], first.n_listed)
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


def _together(found: list[Found], n_listed: int | None) -> Found:
    if len(found) == 2 and found[0] == found[1]:  # most columns have few levels, and every part has them all
        return found[0]
    values = (value for some in found for value in some.values)
    return _outermost(values, n_listed, cut=any(some.cut for some in found))


def _outermost(values: Iterable[Level], n_listed: int | None, cut: bool = False) -> Found:
    """Different values, sorted; of too many, only the outermost numbers and texts.

    Of values for which the user lists levels one more than he lists is kept, among which one must be strange.
    """
    ordered = sorted(dict.fromkeys(sorted(values, key=plainness)), key=by_value)
    if not cut and len(ordered) <= _most(n_listed):
        return Found(tuple(ordered))
    few = _few(n_listed)
    numbers = [value for value in ordered if not isinstance(value, str)]
    texts = [value for value in ordered if isinstance(value, str)]
    kept = [dict.fromkeys((*some[:few], *some[-1:])) for some in (numbers, texts)]
    return Found((*kept[0], *kept[1]), cut=True)


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
    """What the columns and the target of the whole table are; `kinds` as they were given to `summarize`.

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
    warn_left_out(reasons, len(summary.columns))
    used = [said for said in summary.columns if said.name not in reasons]
    short = [_stand_in(said, chosen.get(said.name)) for said in used]
    answers = _stand_in(target, chosen.get(target.name))
    weights = None if weight is None else _stand_in(weight, None)
    # One row more than there are classes says that a class has several rows, unless that would be more than there are.
    n_rows = min(summary.n_rows, 1 + max(column.n_rows for column in (*short, answers, weights) if column is not None))
    frame = Frame(tuple(_repeated(column, n_rows) for column in short), n_rows)
    answers = _repeated(answers, n_rows)
    schema = describe(frame, answers, task, kinds, summary.n_rows)
    encode(frame, schema, training=True, target=answers)
    if weight is not None and weights is not None:
        refuse_missing_weight(weight.name, weight.n_missing)
        encode(frame, schema, training=True, weight=_repeated(weights, n_rows))
    for column, spec in zip(frame.columns, schema.columns, strict=True):
        if not spec.has_levels:
            finite_numbers_of(column)
    return schema


def _useless(summary: TableSummary, chosen: Mapping[str, KindChoice]) -> dict[str, str]:
    """What `left_out.useless_columns` finds in the whole table."""
    reasons = {}
    for said in summary.columns:
        if said.name in chosen:
            continue
        why = None if said.found else "no values"
        if said.found and _kind(said, None) == "nominal" and not (said.agree and said.declared is not None):
            crowded = any(found.cut for found in said.found.values())
            n_levels = MOST_LEVELS + 1 if crowded else sum(len(found.values) for found in said.found.values())
            why = identifier(n_levels, summary.n_rows - said.n_missing)
        if why is not None:
            reasons[said.name] = why
    return reasons


def _stand_in(said: ColumnSummary, choice: KindChoice | None) -> RawColumn:
    """A short column of which everything holds that holds of the whole."""
    nothing = [None] if said.n_missing else []
    if not said.found:
        return replace(from_objects(said.name, nothing), stand_in=True)
    kind = _kind(said, choice)
    values = [value for part, found in said.found.items() for value in _values(found, part, kind, said.whole)]
    column: RawColumn
    if kind in ("numeric", "boolean"):
        column = from_objects(said.name, [*values, *nothing])
    elif kind in TIME_KINDS:
        column = RawColumn(said.name, kind, np.array([*values, *(np.nan for _ in nothing)]))
    elif said.agree and said.declared is not None:
        place = {level: code for code, level in enumerate(said.declared)}
        codes = np.array([*(place[value] for value in values), *(-1 for _ in nothing)], dtype=np.int32)
        column = from_codes(said.name, kind, codes, said.declared, declared=True)
    else:
        codes = np.array([*range(len(values)), *(-1 for _ in nothing)], dtype=np.int32)
        column = from_codes(said.name, "nominal", codes, values, declared=False)
    return replace(column, stand_in=True, crowded=any(found.cut for found in said.found.values()))


def _kind(said: ColumnSummary, choice: KindChoice | None) -> Kind:
    """The kind that the column has in the whole table."""
    kind = shared_kind(set(said.found))
    if kind == "ordinal" and not said.agree and not isinstance(choice, (list, tuple)):
        raise DataError(
            f"the parts of the table declare different levels for the ordinal column {said.name!r}; give them in order "
            f"with kinds={{{said.name!r}: [...]}}"
        )
    uncounted = any(found.cut for part, found in said.found.items() if part not in LEVEL_KINDS)
    if kind == "nominal" and uncounted and choice is None:
        kinds = sorted(said.found, key=lambda part: part in LEVEL_KINDS)
        example = next(iter(_values(said.found[kinds[1]], kinds[1], kind, said.whole)))
        raise DataError(
            f"column {said.name!r} is {kinds[0]} in some parts of the table and {kinds[1]} in others, for example "
            f"{example!r}; give it one type in all parts, or say kinds={{{said.name!r}: 'nominal'}}"
        )
    return kind


def _values(found: Found, part: Kind, kind: Kind, whole: bool) -> Iterable[Any]:
    """Values as they are in a column of that kind."""
    if part in TIME_KINDS and kind not in TIME_KINDS:
        return (moment(part, float(value)) for value in found.values)
    if part == "numeric" and whole:
        return (int(value) if np.isfinite(value) else value for value in found.values)
    return found.values


def _repeated(column: RawColumn, n_rows: int) -> RawColumn:
    return replace(column, values=np.resize(column.values, n_rows))
