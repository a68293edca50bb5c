"""Columns from series of other libraries, read through narwhals.

Declared categories keep their order, unused ones included; ordered categoricals and Enums are ordinal. Values are
encoded by the other library, not by a loop in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from treewright.data.arrays import Int32Array
from treewright.data.columns import LARGEST_EXACT, from_array, from_codes, from_objects, unsupported
from treewright.data.frame import RawColumn
from treewright.data.schema import Kind

Series = nw.Series[Any]


def from_series(name: str, series: Series) -> RawColumn:
    """Return the column that a series holds, whichever library made it."""
    series = _unboxed(series)
    dtype = series.dtype
    if isinstance(dtype, (nw.Categorical, nw.Enum)):
        return _categories(name, series)
    if dtype == nw.String:
        return _text(name, series)
    if dtype == nw.Boolean:
        return _booleans(name, series)
    if dtype.is_integer():  # the slow road is exact: it ends as levels or as an error
        return from_objects(name, series.to_list()) if _is_large(series) else replace(_floats(name, series), whole=True)
    if dtype.is_float() or isinstance(dtype, (nw.Date, nw.Datetime, nw.Duration)):
        return from_array(name, series.to_numpy())
    if dtype.is_decimal():
        return from_objects(name, series.to_list()) if _is_large(series) else _decimals(name, series)
    if isinstance(dtype, (nw.Time, nw.Object)):
        return from_objects(name, series.to_list())
    if isinstance(dtype, nw.Unknown):
        return _unknown(name, series)
    raise unsupported(name, str(dtype))


def _unboxed(series: Series) -> Series:
    """Return pandas columns that are Arrow inside, as Arrow; sparse ones as dense ones."""
    native: Any = series.to_native()
    in_pandas: bool = nw.dependencies.is_pandas_series(native)
    box = type(native.dtype).__name__ if in_pandas else ""
    if box == "ArrowDtype":
        return nw.from_native(native.array.__arrow_array__(), series_only=True)
    if box == "SparseDtype":
        return nw.from_native(native.sparse.to_dense(), series_only=True)
    return series


def _categories(name: str, series: Series) -> RawColumn:
    native: Any = series.to_native()
    kind: Kind
    if nw.dependencies.is_pandas_series(native):
        kind = "ordinal" if native.cat.ordered else "nominal"
        return from_codes(name, kind, native.cat.codes.to_numpy(), native.cat.categories.tolist(), declared=True)
    if nw.dependencies.is_pyarrow_chunked_array(native):
        return _arrow_categories(name, native)
    if nw.dependencies.is_polars_series(native) and isinstance(series.dtype, nw.Enum):
        return from_codes(name, "ordinal", _polars_codes(native), native.dtype.categories.to_list(), declared=True)
    # A polars Categorical numbers its values by when they were first met anywhere, which declares nothing.
    return _text(name, series.cast(nw.String))


def _arrow_categories(name: str, native: Any) -> RawColumn:
    """Dictionaries that differ from chunk to chunk are what each chunk happened to hold: they declare no levels."""
    codes, values = _arrow_dictionary(native)
    first = native.chunks[0].dictionary if native.num_chunks else None
    if native.type.ordered or all(chunk.dictionary.equals(first) for chunk in native.chunks):
        return from_codes(name, "ordinal" if native.type.ordered else "nominal", codes, values, declared=True)
    used = np.zeros(len(values), dtype=bool)
    used[codes[codes >= 0]] = True
    found = [value if there else None for value, there in zip(values, used.tolist(), strict=True)]
    return from_codes(name, "nominal", codes, found, declared=False)


def _text(name: str, series: Series) -> RawColumn:
    native: Any = series.to_native()
    values: Sequence[object]
    if nw.dependencies.is_pandas_series(native):
        codes, uniques = native.factorize()
        values = uniques.tolist()
    elif nw.dependencies.is_polars_series(native):
        values = native.unique().drop_nulls().sort().to_list()
        codes = _polars_codes(native.cast(nw.get_native_namespace(series).Enum(values)))
    elif nw.dependencies.is_pyarrow_chunked_array(native):
        codes, values = _arrow_dictionary(native.dictionary_encode())
    else:
        return from_objects(name, series.to_list())
    return from_codes(name, "nominal", codes, values, declared=False)


def _booleans(name: str, series: Series) -> RawColumn:
    codes = series.fill_null(value=False).to_numpy().astype(np.int32)
    codes[series.is_null().to_numpy().astype(bool)] = -1
    return from_codes(name, "boolean", codes, (False, True), declared=True)


def _floats(name: str, series: Series) -> RawColumn:
    return from_array(name, series.cast(nw.Float64).to_numpy())


def _decimals(name: str, series: Series) -> RawColumn:
    """By way of their digits, which are rounded once; Arrow divides instead, and rounds twice."""
    return _floats(name, series.cast(nw.String))


def _is_large(series: Series) -> bool:
    """Return whether some value lies beyond the integers that a float64 holds exactly."""
    if series.null_count() == len(series):  # the least of nothing is None, or NA, which compares with nothing
        return False
    low, high = series.min(), series.max()
    return high is not None and (high > LARGEST_EXACT or low < -LARGEST_EXACT)


def _unknown(name: str, series: Series) -> RawColumn:
    """Types narwhals has no word for: columns without any value, and things no tree can use."""
    if series.null_count() == len(series):
        return from_objects(name, [None] * len(series))
    type_name = str(getattr(series.to_native(), "dtype", getattr(series.to_native(), "type", "unknown")))
    if type_name.startswith(("complex", "date64")):  # numpy knows these
        return from_array(name, series.to_numpy())
    raise unsupported(name, type_name)


def _polars_codes(enum: Any) -> Int32Array:
    physical = nw.from_native(enum.to_physical(), series_only=True)
    codes: Int32Array = physical.cast(nw.Int32).fill_null(-1).to_numpy()
    return codes


def _arrow_dictionary(encoded: Any) -> tuple[Int32Array, list[object]]:
    """Return codes and values of a dictionary column whose chunks may each have a dictionary of their own."""
    array = encoded.unify_dictionaries().combine_chunks()
    chunks = array.chunks if hasattr(array, "chunks") else [array]
    parts = [chunk.indices.cast("int32").fill_null(-1).to_numpy(zero_copy_only=False) for chunk in chunks]
    return np.concatenate(parts), chunks[0].dictionary.to_pylist()
