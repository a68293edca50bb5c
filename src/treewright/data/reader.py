"""Read a table of another library as a `Frame`: pandas, polars, pyarrow, numpy, Arrow, dicts, lists, files, queries.

Only the requested columns are read. Whether their values are usable is checked later, by their use.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from treewright.data.arrays import Array
from treewright.data.columns import from_array, from_objects
from treewright.data.frame import Frame, RawColumn, pop_column
from treewright.data.schema import Schema
from treewright.data.series import from_series
from treewright.data.sources import Source, is_source, open_source
from treewright.data.sources.source import columns_of_rows
from treewright.data.value_text import listed, repeated
from treewright.errors import DataError

__all__ = ["Frame", "RawColumn", "pop_column", "read", "read_column"]

_ACCEPTED = (
    "a pandas, polars or pyarrow table, a 2-D numpy array, a dict of columns, a list of rows, an Arrow "
    "stream, or the name of a file"
)
_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if "
    "it contains a single sample."
)


def read(
    data: object, *, only: Collection[str] | None = None, nameless: bool = False, schema: Schema | None = None
) -> Frame:
    """Return the table as a `Frame`.

    `only`: read no other columns than these; an array has no names, so it is read whole. `nameless`: go by place and
    call the columns x0, x1, ... whatever their names, as for an array. `schema`: what the columns of a text file are,
    so that they need not be guessed.
    """
    frame = read_partition(data, only=only, nameless=nameless, schema=schema)
    require_some(frame.n_rows, len(frame.columns) + len(frame.skipped))
    return frame


def read_partition(
    data: object, *, only: Collection[str] | None = None, nameless: bool = False, schema: Schema | None = None
) -> Frame:
    """Return the same for a part of a table, which may have no rows."""
    if is_source(data):
        data = open_source(data, schema=schema)
    if isinstance(data, Source):
        frame = read_partition(data.whole(only), nameless=nameless)
        skipped = tuple(name for name in data.columns if name not in frame.names)
        return replace(frame, skipped=skipped, text_form=data.text_form)
    if isinstance(data, Frame):
        return data
    if type(data) is np.ndarray:  # the most frequent table of few rows, where every microsecond counts
        return _from_numpy(data, only, nameless)
    _refuse_sparse(data)
    data = nw.to_native(data, pass_through=True)
    if isinstance(data, Mapping):
        return _from_mapping(data, only, nameless)
    if isinstance(data, (list, tuple)):
        return _from_rows(data, only, nameless)
    if isinstance(data, np.ndarray):
        return _from_numpy(data, only, nameless)
    native = _eager(data, only)
    if isinstance(native, dict):
        return _from_mapping(native, only, nameless)
    if native is not None:
        return _from_native(native, only, nameless)
    if hasattr(data, "__array__"):
        return _from_numpy(np.asarray(data), only, nameless)
    raise DataError(f"expected {_ACCEPTED}; got {type(data).__name__}")


def read_column(values: object, name: str) -> RawColumn:
    """Return one column that comes by itself, such as a target or weights: a series, a 1-D array or a list."""
    if type(values) is not np.ndarray:
        _refuse_sparse(values)
        values = nw.to_native(values, pass_through=True)
    if isinstance(values, (list, tuple, range)):
        return from_objects(name, values)
    if not isinstance(values, np.ndarray):
        values = _as_series(values)
        series = nw.from_native(values, pass_through=True, allow_series=True)
        if isinstance(series, nw.Series):
            return from_series(name, series)
        if not hasattr(values, "__array__"):
            raise DataError(f"{name!r} should be a 1d array, a series or a list; got {type(values).__name__}")
        values = np.asarray(values)
    if values.ndim != 1:
        raise DataError(f"{name!r} should be a 1d array, got an array of shape {values.shape} instead; use .ravel()")
    return from_array(name, values)


def taken(frame: Frame, what: object, role: str) -> tuple[RawColumn, Frame]:
    """Return a column of the frame by its name, and the frame without it; or a column that comes by itself."""
    if isinstance(what, str):
        return pop_column(frame, what, role)
    if isinstance(what, RawColumn):
        return what, frame
    return read_column(what, str(getattr(what, "name", None) or role)), frame


# --- each kind of table ---------------------------------------------------------------------------------------------


def _from_mapping(data: Mapping[Any, Any], only: Collection[str] | None, nameless: bool) -> Frame:
    names = _made_up(len(data)) if nameless else _checked_names(list(data), "use {str(name): values}")
    values_of = dict(zip(names, data.values(), strict=True))
    lengths = {name: _length(name, values) for name, values in values_of.items()}
    if len(set(lengths.values())) > 1:
        first, other = names[0], next(name for name in names if lengths[name] != lengths[names[0]])
        raise DataError(
            f"columns differ in length: {first!r} has {lengths[first]} rows, {other!r} has {lengths[other]}"
        )
    n_rows = lengths[names[0]] if names else 0
    wanted = [name for name in names if nameless or only is None or name in only]
    columns = tuple(read_column(values_of[name], name) for name in wanted)
    return Frame(columns, n_rows, not nameless, _skipped(names, columns))


def _from_rows(rows: Sequence[Any], only: Collection[str] | None, nameless: bool) -> Frame:
    """Return a list of dicts, or a list of rows without names."""
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(name for row in rows for name in row)
        return _from_mapping({name: [row.get(name) for row in rows] for name in names}, only, nameless)
    try:
        array = np.array(rows)
        if array.dtype.kind not in "biufc":  # numpy would turn the numbers of a mixed row into text
            array = np.array(rows, dtype=object)
    except ValueError:
        raise DataError("the rows differ in length; every row needs one value per column") from None
    return _from_numpy(array, only, nameless)


def _from_numpy(array: Array, only: Collection[str] | None, nameless: bool) -> Frame:
    array = array if np.ma.isMaskedArray(array) else np.asarray(array)  # a matrix would stay two-dimensional
    if array.dtype.names is not None and array.ndim == 1:  # a structured array is a table with names
        return _from_mapping({name: array[name] for name in array.dtype.names}, only, nameless)
    if array.ndim < 2:
        shape = "1D array" if array.ndim else "scalar array"
        raise DataError(f"Expected 2D array, got {shape} instead:\narray={array}.\n{_RESHAPE}")
    if array.ndim > 2:
        raise DataError(f"Found array with dim {array.ndim}, while dim <= 2 is required.")
    by_column = _transposed(array) if array.dtype.kind in "iu" and not np.ma.isMaskedArray(array) else array.T
    names = _made_up(array.shape[1])
    columns = tuple(from_array(name, values) for name, values in zip(names, by_column, strict=True))
    return Frame(columns, array.shape[0], named=False)


def _from_native(native: Any, only: Collection[str] | None, nameless: bool) -> Frame:
    """Return an eager table of a library that narwhals knows."""
    found = list(getattr(native, "column_names", native.columns))
    if nameless:
        names = _made_up(len(found))
        native = native.rename_columns(names) if hasattr(native, "rename_columns") else _renamed(native, found, names)
    else:
        names = _checked_names(found, "use df.columns = df.columns.astype(str)")
    frame = nw.from_native(native, eager_only=True)
    columns = tuple(
        from_series(name, series)
        for name, series in zip(names, frame.iter_columns(), strict=True)
        if nameless or only is None or name in only
    )
    return Frame(columns, len(frame), not nameless, _skipped(names, columns))


def _eager(data: Any, only: Collection[str] | None) -> Any:
    """Return the data as an eager table; None if it is no table at all."""
    if nw.dependencies.is_pandas_dataframe(data):  # before narwhals sees it, which refuses names we explain better
        return data
    if nw.dependencies.is_pyarrow_table(data):
        return data
    known = nw.from_native(data, pass_through=True, allow_series=True)
    arrow = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    if arrow and not isinstance(known, (nw.Series, nw.DataFrame)) and not nw.dependencies.is_polars_lazyframe(data):
        return _from_arrow(data)
    if isinstance(known, nw.Series):
        raise DataError(f"Expected 2D array, got 1D array instead: a {type(data).__name__}. {_RESHAPE}")
    if isinstance(known, nw.LazyFrame):
        names = known.collect_schema().names()
        wanted = names if only is None else [name for name in names if name in only] or names
        return known.select(wanted).collect().to_native()
    return data if isinstance(known, nw.DataFrame) else None


def _from_arrow(data: Any) -> Any:
    """Anything with an Arrow stream, opened by whichever Arrow reader is there."""
    for package, opener in (("pyarrow", "table"), ("polars", "DataFrame")):
        if importlib.util.find_spec(package) is not None:
            try:
                return getattr(importlib.import_module(package), opener)(data)
            except (TypeError, ValueError) as error:
                raise DataError(f"the Arrow data of this {type(data).__name__} is not a table: {error}") from error
    if hasattr(data, "fetchall") and hasattr(data, "columns"):  # DuckDB can do without
        return columns_of_rows(tuple(data.columns), data.fetchall())
    raise DataError(f"reading a {type(data).__name__} needs an Arrow reader: pip install pyarrow (or polars)")


# --- small helpers --------------------------------------------------------------------------------------------------


def _as_series(values: Any) -> Any:
    """Return arrays of pandas and pyarrow as series, so that their types and categories are not lost."""
    pandas, pyarrow = nw.dependencies.get_pandas(), nw.dependencies.get_pyarrow()
    if pandas is not None and isinstance(values, (pandas.Index, pandas.api.extensions.ExtensionArray)):
        return pandas.Series(values)
    if pyarrow is not None and isinstance(values, pyarrow.Array):
        return pyarrow.chunked_array([values])
    return values


def _length(name: str, values: Any) -> int:
    try:
        if not isinstance(values, (str, bytes, Mapping)):
            return len(values)
    except TypeError:
        pass
    raise DataError(f"column {name!r} is a single {type(values).__name__}; give a list or an array of values")


def _refuse_sparse(data: object) -> None:
    if hasattr(data, "nnz") and (hasattr(data, "toarray") or hasattr(data, "todense")):
        raise TypeError("Sparse data was passed, but dense data is required. Use '.toarray()' to convert it to dense.")


def require_some(n_rows: int, n_columns: int) -> None:
    """Raise unless the table has rows and columns."""
    shape = f"(shape=({n_rows}, {n_columns})) while a minimum of 1 is required."
    if n_columns == 0:
        raise DataError(f"Found array with 0 feature(s) {shape} The table has no columns.")
    if n_rows == 0:
        raise DataError(f"Found array with 0 sample(s) {shape} The table is empty: it has no rows.")


def _skipped(names: list[str], columns: tuple[RawColumn, ...]) -> tuple[str, ...]:
    there = {column.name for column in columns}
    return tuple(name for name in names if name not in there)


def _made_up(count: int) -> list[str]:
    return [f"x{place}" for place in range(count)]


def _checked_names(names: list[Any], remedy: str) -> list[str]:
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        kinds = ", ".join(sorted({type(name).__name__ for name in odd}))
        raise DataError(f"column names must be strings, but {listed(odd)} ({kinds}) are not; {remedy}")
    if twice := repeated(names):
        raise DataError(
            f"column names must be unique, but {listed(twice)} occurs more than once; rename it or drop one"
        )
    return [str(name) for name in names]


def _renamed(native: Any, found: list[Any], names: list[str]) -> Any:
    if hasattr(native, "set_axis"):  # pandas: by place, so that repeated or odd names do no harm
        return native.set_axis(names, axis=1)
    return nw.from_native(native, eager_only=True).rename(dict(zip(found, names, strict=True))).to_native()


def _transposed(array: Array) -> Array:
    """Return columns as contiguous rows of one block, copied in strips that fit in cache."""
    if array.flags.f_contiguous:
        return array.T
    block = np.empty(array.shape[::-1], dtype=array.dtype)
    for start in range(0, len(array), 4096):
        block[:, start : start + 4096] = array[start : start + 4096].T
    return block
