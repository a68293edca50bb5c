"""Columns from numpy arrays and plain Python values.

Text is never parsed. A column of objects has the kind that all its values share, otherwise it is nominal; levels that
are not declared are sorted, numbers before text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from treewright.data.arrays import Array, FloatArray, Int32Array
from treewright.data.frame import RawColumn
from treewright.data.schema import Kind, Level
from treewright.errors import DataError

#: Beyond this, neighbouring integers are the same float64.
LARGEST_EXACT = 2**53

#: Numbers that need no copy: the core takes either precision, at any distance from each other.
READ_IN_PLACE = (np.dtype(np.float32), np.dtype(np.float64))

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MISSING_TYPES = frozenset({"NoneType", "NAType", "NaTType"})
_CONTAINERS = (bytes, bytearray, memoryview, list, tuple, dict, set, frozenset, np.ndarray)


def from_array(name: str, array: Array) -> RawColumn:
    """Return a column from a one-dimensional array of any type."""
    if isinstance(array, np.ma.MaskedArray):
        array = _unmasked(array)
    letter = array.dtype.kind
    if letter in "iuf":
        return _numbers(name, array)
    if letter == "b":
        return RawColumn(name, "boolean", array.astype(np.int32), (False, True), declared=True)
    if letter in "mM":
        return _moments(name, array)
    if letter in "OUT":
        return from_objects(name, array.tolist())
    if letter == "c":
        raise DataError(f"Complex data not supported: column {name!r} has the type {array.dtype}")
    raise unsupported(name, str(array.dtype))


def from_objects(name: str, values: Sequence[object]) -> RawColumn:
    """Return a column from Python values. Work is done once per distinct value, not once per row."""
    types = set(map(type, values)) - {type(None)}
    if types and types <= {int, float}:
        numbers = _floats(values)
        if int not in types or not (np.abs(numbers) >= LARGEST_EXACT).any():  # else the road below keeps them exact
            return RawColumn(name, "numeric", numbers, whole=float not in types)
    # True, 1 and 1.0 are equal: where types are mixed, the first of them would stand for all.
    keys: Sequence[Any] = list(zip(map(type, values), values, strict=True)) if len(types - {str}) > 1 else values
    try:
        found = list(dict.fromkeys(keys))
    except TypeError:
        raise unsupported(name, type(_first_unhashable(values)).__name__) from None
    place = {key: number for number, key in enumerate(found)}
    codes = np.fromiter(map(place.__getitem__, keys), np.int32, count=len(values))
    distinct = found if keys is values else [value for _, value in found]
    known = [value for value in distinct if not is_missing(value)]
    kind = shared_kind({_kind_of(value) for value in known})
    if kind == "nominal":
        return from_codes(name, "nominal", codes, distinct, declared=False)
    if kind == "boolean":
        return from_codes(name, "boolean", codes, distinct, declared=True, order=(False, True))
    if kind == "numeric":
        return _number_objects(name, codes, distinct)
    lookup = np.array([np.nan if is_missing(value) else _microseconds(value) for value in distinct])
    return RawColumn(name, kind, lookup[codes])


def from_codes(
    name: str,
    kind: Kind,
    codes: NDArray[np.integer[Any]],
    values: Sequence[object],
    *,
    declared: bool,
    order: Sequence[Level] | None = None,
) -> RawColumn:
    """Return a column of levels from codes (-1 is missing) into `values`.

    Values become plain levels; equal ones share a code and missing ones lose theirs. `order` is the declared order:
    by default that of `values`; sorted when nothing is declared.
    """
    plain: Sequence[Any] = values
    if set(map(type, values)) != {str}:  # a million different texts need no second look
        plain = [None if is_missing(value) else plain_level(name, value) for value in values]
    there = [value for value in plain if value is not None]
    if not declared:
        there = sorted(sorted(there, key=plainness), key=by_value)
    levels = list(dict.fromkeys(there)) if order is None else list(order)
    place = {value: number for number, value in enumerate(levels)}
    moved = [-1 if value is None else place[value] for value in plain]
    if moved == list(range(len(values))):
        return RawColumn(name, kind, np.ascontiguousarray(codes, dtype=np.int32), tuple(levels), declared)
    lookup: Int32Array = np.array([*moved, -1], dtype=np.int32)  # code -1 finds the last entry
    return RawColumn(name, kind, lookup[codes], tuple(levels), declared)


def by_value(level: Level) -> tuple[bool, Level]:
    """Return the order of levels that is not declared: numbers before text."""
    return isinstance(level, str), level


def plainness(level: Level) -> int:
    """Of 1, 1.0 and True, which are the same level, the integer is kept, whichever row it is in."""
    return 2 if isinstance(level, bool) else 0 if isinstance(level, int) else 1


def is_missing(value: object) -> bool:
    """Return None, NaN, NaT or NA."""
    if type(value).__name__ in _MISSING_TYPES:
        return True
    scalar = isinstance(value, (float, np.floating, Decimal, np.datetime64, np.timedelta64))
    return scalar and bool(value != value)


def plain_level(name: str, value: object) -> Level:
    """Convert a value to a level that any file can hold: text, number or boolean; other types become text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, str):
        return str.__str__(value)  # the text itself, also of an enumeration whose str() is its name
    if _is_whole_decimal(value):
        return int(value)
    if isinstance(value, (float, Decimal, Fraction)):
        number = float(value)
        if number in (np.inf, -np.inf):
            raise DataError(
                f"column {name!r} has the level {value!r}; replace infinities by a missing value or a number"
            )
        return number + 0.0  # -0.0 is 0.0
    if isinstance(value, complex):
        raise DataError(f"Complex data not supported: column {name!r} holds {value!r}")
    wordless = type(value).__str__ is object.__str__ and type(value).__repr__ is object.__repr__
    if isinstance(value, _CONTAINERS) or wordless:
        raise unsupported(name, type(value).__name__)
    return str(value)


def unsupported(name: str, type_name: str) -> DataError:
    """Return the error for a column that holds values a tree cannot split on."""
    return DataError(
        f"column {name!r} has the type {type_name}, which a tree cannot split on; drop it, or turn it into numbers, "
        "text, truth values or times first"
    )


def _numbers(name: str, array: Array) -> RawColumn:
    whole = array.dtype.kind in "iu"
    if whole and array.dtype.itemsize == 8 and len(array):
        low, high = int(array.min()), int(array.max())
        if max(high, -low) > LARGEST_EXACT:
            distinct, codes = np.unique(array, return_inverse=True)
            return RawColumn(name, "numeric", codes.astype(np.int32), tuple(distinct.tolist()), whole=True)
    if array.dtype in READ_IN_PLACE:
        return RawColumn(name, "numeric", array if is_strided(array) else array.copy())
    return RawColumn(name, "numeric", np.ascontiguousarray(array, dtype=np.float64), whole=whole)


def is_strided(array: Array) -> bool:
    """Return whether the core can step through the array: not packed records, nor unaligned numbers."""
    size = array.itemsize
    for stride in array.strides:  # a plain loop: this is asked for every row that is predicted by itself
        if stride % size:
            return False
    return bool(array.flags.aligned)


def _floats(values: Sequence[Any]) -> FloatArray:
    """Convert to float64: None becomes NaN, an integer too large for a float infinity."""
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError:
        limit = int(np.finfo(np.float64).max)
        return np.array(
            [None if value is None else float(value) if abs(value) <= limit else np.inf for value in values], np.float64
        )


def _number_objects(name: str, codes: Int32Array, distinct: list[object]) -> RawColumn:
    known = [value for value in distinct if not is_missing(value)]
    whole = all(isinstance(value, (int, np.integer)) for value in known)
    if any(_is_large_integer(value) for value in known):
        return replace(from_codes(name, "numeric", codes, distinct, declared=False), whole=whole)
    lookup = _floats([None if is_missing(value) else value for value in distinct])
    return RawColumn(name, "numeric", lookup[codes], whole=whole)


def _is_large_integer(value: Any) -> bool:
    integer = isinstance(value, (int, np.integer)) or _is_whole_decimal(value)
    return integer and bool(abs(value) > LARGEST_EXACT)


def _is_whole_decimal(value: object) -> TypeGuard[Decimal]:
    return isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value()


def _first_unhashable(values: Sequence[object]) -> object:
    for value in values:
        try:
            hash(value)
        except TypeError:
            return value
    return None


def _moments(name: str, array: Array) -> RawColumn:
    """datetime64 and timedelta64 of any unit, as microseconds; finer units are rounded down."""
    letter = array.dtype.kind
    is_date = letter == "M" and np.datetime_data(array.dtype)[0] in ("Y", "M", "W", "D")
    unit: str = "datetime64[us]" if letter == "M" else "timedelta64[us]"
    values = array.astype(unit).astype(np.int64).astype(np.float64)
    values[np.isnat(array)] = np.nan
    return RawColumn(name, "duration" if letter == "m" else "date" if is_date else "datetime", values)


def shared_kind(kinds: Collection[Kind]) -> Kind:
    """Return the kind of a column whose values are of these different kinds."""
    if len(kinds) == 1:
        return next(iter(kinds))
    if kinds == {"date", "datetime"}:
        return "datetime"
    if kinds == {"boolean", "numeric"}:
        return "numeric"
    return "nominal"


def _kind_of(value: object) -> Kind:
    if isinstance(value, (bool, np.bool_)):
        return "boolean"
    if isinstance(value, (np.timedelta64, timedelta)):  # before integers: timedelta64 is one to numpy
        return "duration"
    if isinstance(value, (int, float, np.integer, np.floating, Decimal, Fraction)):
        return "numeric"
    if isinstance(value, (datetime, np.datetime64)):
        return "datetime"
    if isinstance(value, date):
        return "date"
    return "time" if isinstance(value, time) else "nominal"


def _microseconds(value: object) -> float:
    """Return a moment since 1970 in UTC, a time of day since midnight in UTC, or a duration."""
    if isinstance(value, np.datetime64):
        return float(value.astype("datetime64[us]").astype(np.int64))
    if isinstance(value, np.timedelta64):
        return float(value.astype("timedelta64[us]").astype(np.int64))
    if isinstance(value, timedelta):
        return float(value // _MICROSECOND)
    if isinstance(value, time):
        shift = value.utcoffset() or timedelta(0)
        clock = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond)
        return float(((clock - shift) % timedelta(days=1)) // _MICROSECOND)
    if isinstance(value, datetime):
        zoned = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return float((zoned - _EPOCH) // _MICROSECOND)
    assert isinstance(value, date)  # the one kind of moment left
    return float((value.toordinal() - _EPOCH.toordinal()) * 86_400_000_000)


def _unmasked(array: np.ma.MaskedArray[Any, Any]) -> Array:
    """Return a masked array with its masked places missing."""
    letter = array.dtype.kind
    plain = np.asarray(array.data).astype(object if letter not in "fmM" else array.dtype)  # always a copy
    plain[np.ma.getmaskarray(array)] = np.nan if letter == "f" else "NaT" if letter in "mM" else None
    return plain
