"""Determine the kind of a column, and convert its values to that kind.

Text is never parsed as a number or a date, so a given kind and an inferred one behave the same at prediction. Levels
are matched by value, never by code; 1, 1.0 and True are the same value. `kinds` maps a column to the name of a kind,
or to a list of levels, which means ordinal in that order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from treewright.data.arrays import BoolArray, FloatArray, Int32Array
from treewright.data.columns import LARGEST_EXACT
from treewright.data.frame import Frame, RawColumn
from treewright.data.level_codes import level_codes
from treewright.data.schema import KINDS, LEVEL_KINDS, TIME_KINDS, ColumnSpec, Kind, Level, level_fault
from treewright.data.value_text import listed, moment
from treewright.errors import DataError

#: The name of a kind, or the levels of an ordinal column from low to high.
KindChoice = str | Sequence[Level]

#: More levels than this is an identifier, not a description; it also keeps a level's code within 16 bits in the core.
MOST_LEVELS = 65_535


# --- choosing -------------------------------------------------------------------------------------------------------


def check_kinds(kinds: Mapping[str, KindChoice] | None, names: Sequence[str]) -> dict[str, KindChoice]:
    """`kinds` as a dict, every name and kind in it known."""
    chosen = dict(kinds or {})
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise DataError(f"kinds names {listed(unknown)}, but the table has only {listed(names)}")
    for name, choice in chosen.items():
        if isinstance(choice, str) and choice not in KINDS:
            raise DataError(f"kinds[{name!r}] is {choice!r}; choose from {listed(KINDS)}, or give a list of levels")
        if not isinstance(choice, (str, list, tuple)):
            raise DataError(f"kinds[{name!r}] must be the name of a kind or a list of levels, not {choice!r}")
        if not isinstance(choice, str) and len(set(choice)) != len(choice):
            raise DataError(f"kinds[{name!r}] lists a level twice: {listed(choice)}")
        if not isinstance(choice, str) and not all(isinstance(value, (str, int, float)) for value in choice):
            raise DataError(f"kinds[{name!r}] must list text, numbers or truth values: {listed(choice)}")
    return chosen


def specify_columns(columns: Sequence[RawColumn], chosen: Mapping[str, KindChoice]) -> tuple[ColumnSpec, ...]:
    """Return the descriptions of the columns of a table; numbers that become levels are coded together."""
    without_levels = ("numeric", "boolean", *TIME_KINDS)  # no set: a choice may be a list
    work_out_levels([each for each in columns if chosen.get(each.name, "numeric") not in without_levels])
    return tuple(specify(column, chosen.get(column.name)) for column in columns)


def specify(column: RawColumn, choice: KindChoice | None = None) -> ColumnSpec:
    """Return the column's description, by the user's choice or else by its type."""
    if isinstance(choice, (list, tuple)):
        return _ordered(column, tuple(choice))
    kind = column.kind if choice is None else cast(Kind, choice)
    row = misfit(column, kind)
    if row is not None:
        raise DataError(
            f"column {column.name!r} cannot be {kind}: {column.text(row)}{column.place(row)} is not {_A[kind]}; "
            f"convert the column first, or let it be {column.kind}"
        )
    if kind not in LEVEL_KINDS:
        return ColumnSpec(column.name, kind)
    levels = (False, True) if kind == "boolean" else levels_of(column)[1]
    if column.levels is None and levels and (levels[0] == -np.inf or levels[-1] == np.inf):
        finite_numbers_of(column)  # no infinity among the levels either
    _check_levels(column.name, levels, column.crowded)
    return ColumnSpec(column.name, kind, levels)


def _check_levels(name: str, levels: tuple[Level, ...], crowded: bool = False) -> None:
    """Refuse identifiers, and numbers that no file holds."""
    if crowded or len(levels) > MOST_LEVELS:
        count = f"more than {MOST_LEVELS}" if crowded else len(levels)
        raise DataError(
            f"column {name!r} has {count} levels, for example {levels[0]!r}; at most {MOST_LEVELS} are possible. "
            f"Drop it, group its rare levels, or, if it holds numbers, declare it with kinds={{{name!r}: 'numeric'}}"
        )
    floats = [level for level in levels if type(level) is float]
    if len(floats) == len(levels) and all(map(math.isfinite, floats)):
        return  # a thousand levels need no closer look
    for level in levels:
        fault = level_fault(level)
        if fault is not None:
            raise DataError(f"column {name!r} has a level that is {fault}; give the column as text")


def kinds_from_categorical_features(categorical_features: Any, frame: Frame) -> dict[str, KindChoice]:
    """scikit-learn's `categorical_features` as `kinds`.

    "from_dtype": every column by its type. Names, places or a mask: these columns are nominal (ordinal and boolean ones
    stay so) and every other column is a number. None: no column is nominal.
    """
    if isinstance(categorical_features, str):
        if categorical_features == "from_dtype":
            return {}
        raise DataError(
            f"categorical_features={categorical_features!r} is not known; use 'from_dtype', None, or a list of names, "
            "places or truth values"
        )
    picked = _picked([] if categorical_features is None else list(categorical_features), frame)
    kinds: dict[str, KindChoice] = {}
    for column in frame.columns:
        if column.name in picked and column.kind not in LEVEL_KINDS:
            kinds[column.name] = "nominal"
        elif column.name not in picked and column.kind == "nominal" and not column.all_missing:
            kinds[column.name] = "numeric"
    return kinds


# --- values as a kind -----------------------------------------------------------------------------------------------


def misfit(column: RawColumn, kind: Kind) -> int | None:
    """Return the first row whose value the kind cannot hold; None if it can hold them all."""
    if kind in ("nominal", "ordinal") or (column.levels is None and column.kind == kind) or column.all_missing:
        return None
    if column.levels is not None:
        fits = np.array([_level_fits(value, kind) for value in column.levels])
        bad: BoolArray = ~fits[column.values] & (column.values >= 0)
    elif kind == "boolean" and column.kind == "numeric":
        bad = ~np.isin(column.values, (0.0, 1.0)) & ~np.isnan(column.values)
    elif {column.kind, kind} == {"date", "datetime"}:
        return None
    else:
        bad = ~np.isnan(column.values)
    return int(np.argmax(bad)) if bad.any() else None


def numbers_of(column: RawColumn, role: str = "column") -> FloatArray:
    """Return the values as numbers with NaN for missing; a column that `misfit` has passed. They may be infinite."""
    if column.levels is None:
        return column.values
    _refuse_inexact(column, role)
    lookup = [np.nan if isinstance(value, str) else float(value) for value in column.levels]
    values: FloatArray = np.array([*lookup, np.nan])[column.values]
    return values


def finite_numbers_of(column: RawColumn, role: str = "column", table: str = "X") -> FloatArray:
    """Return the same, refusing infinities."""
    values = numbers_of(column, role)
    infinite = np.isinf(values)
    if infinite.any():
        row = int(np.argmax(infinite))
        raise infinity(column.name, values[row], None if column.stand_in else row, role, table)
    return values


def infinity(name: str, value: float, row: int | None, role: str = "column", table: str = "X") -> DataError:
    """Return the error for an infinite number, beginning as scikit-learn's does."""
    place = "" if row is None else f" in row {row}"
    return DataError(
        f"Input {table} contains infinity or a value too large for dtype('float64'). {role.capitalize()} {name!r} has "
        f"{value}{place}: replace it by a missing value or by a finite number"
    )


def levels_of(column: RawColumn) -> tuple[Int32Array, tuple[Level, ...]]:
    """Return the values as codes and levels; times become text. Worked out once per column."""
    if column.levels is not None:
        return column.values, column.levels
    if "levels" not in column.kept:
        work_out_levels([column])
    found: tuple[Int32Array, tuple[Level, ...]] = column.kept["levels"]
    return found


def work_out_levels(columns: Sequence[RawColumn]) -> None:
    """Work out and keep the levels of columns of one table, which takes less time than one by one."""
    numbers = [column for column in columns if column.levels is None and "levels" not in column.kept]
    if not numbers:
        return
    for column, (codes, values) in zip(numbers, level_codes([each.values for each in numbers]), strict=True):
        column.kept["levels"] = codes, _as_levels(column, values.tolist())


def _as_levels(column: RawColumn, values: list[float]) -> tuple[Level, ...]:
    if column.kind in TIME_KINDS:
        return tuple(moment(column.kind, value) for value in values)
    return tuple(map(int, values)) if column.whole else tuple(values)


def has_numbers(levels: Sequence[Level]) -> bool:
    """Return whether any level is a number or a truth value."""
    return any(not isinstance(value, str) for value in levels)


def has_text(levels: Sequence[Level]) -> bool:
    """Return whether any level is text."""
    return any(isinstance(value, str) for value in levels)


_A = {
    "numeric": "a number",
    "boolean": "true or false",
    "date": "a date",
    "datetime": "a datetime",
    "time": "a time of day",
    "duration": "a duration",
}


def _level_fits(value: Level, kind: Kind) -> bool:
    if kind == "boolean":
        return not isinstance(value, str) and value in (0, 1)
    return kind == "numeric" and not isinstance(value, str)


def _refuse_inexact(column: RawColumn, role: str) -> None:
    """Integers that a float64 cannot hold would silently become their neighbours."""
    large = [isinstance(value, int) and abs(value) > LARGEST_EXACT for value in column.levels or ()]
    bad = np.array([*large, False])[column.values]
    if bad.any():
        row = int(np.argmax(bad))
        raise DataError(
            f"{role} {column.name!r} has {column.text(row)}{column.place(row)}, an integer beyond 2**53, which no "
            f"float64 holds exactly; declare it nominal with kinds={{{column.name!r}: 'nominal'}}, or scale it"
        )


def _ordered(column: RawColumn, order: tuple[Level, ...]) -> ColumnSpec:
    codes, levels = levels_of(column)
    listed_levels = set(order)
    stray = np.array([*(value not in listed_levels for value in levels), False])[codes]
    if stray.any():
        row = int(np.argmax(stray))
        raise DataError(
            f"column {column.name!r} has {column.text(row)}{column.place(row)}, which kinds[{column.name!r}] does not "
            f"list; add it to {listed(order)}"
        )
    _check_levels(column.name, order)
    return ColumnSpec(column.name, "ordinal", order)


def _picked(wanted: list[Any], frame: Frame) -> set[str]:
    """Return the names of the columns that a list of names, places or truth values picks."""
    names = frame.names
    if all(isinstance(item, str) for item in wanted):
        unknown = [name for name in wanted if name not in names]
        if unknown:
            raise DataError(f"categorical_features names {listed(unknown)}, but the table has {listed(names)}")
        return set(wanted)
    if all(isinstance(item, (bool, np.bool_)) for item in wanted):
        if len(wanted) != len(names):
            raise DataError(f"categorical_features has {len(wanted)} truth values for {len(names)} columns")
        return {name for name, picked in zip(names, wanted, strict=True) if picked}
    if all(isinstance(item, (int, np.integer)) and not isinstance(item, bool) for item in wanted):
        beyond = [int(place) for place in wanted if not 0 <= place < len(names)]
        if beyond:
            raise DataError(
                f"categorical_features has the place {beyond[0]}, but places run from 0 to {len(names) - 1}"
            )
        return {names[place] for place in wanted}
    raise DataError(f"categorical_features must hold only names, only places or only truth values: {listed(wanted)}")
