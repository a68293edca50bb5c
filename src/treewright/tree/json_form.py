"""The written form of a tree's arrays and recipe: plain lists and dictionaries, as JSON knows them.

What is written and read again is the same bit for bit, and reading guesses nothing: a wrong type, a missing key or an
unknown key is refused. Only settings in `ADDED_SETTINGS` may be missing: older files lack them. Whether the arrays are
a tree is checked by `validation`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np

from treewright.data.arrays import Array
from treewright.data.schema import json_kind, require_keys
from treewright.data.sparse_rows import SparseRows, is_large
from treewright.errors import FileError, RecipeError
from treewright.recipes.recipe import Recipe
from treewright.recipes.saved_names import ADDED_SETTINGS, saved_setting, with_added_settings
from treewright.tree.validation import NODE_ARRAYS, SPLIT_ARRAYS, WIDE_ARRAYS, place_of


def write_arrays(arrays: Mapping[str, Array]) -> dict[str, dict[str, Any]]:
    """Return the two tables, column by column; a large matrix without its zeros."""
    return {
        "nodes": {name: _written(arrays[name]) for name in NODE_ARRAYS},
        "splits": {name: _written(arrays[name]) for name in SPLIT_ARRAYS},
    }


def _written(array: Array | SparseRows) -> Any:
    """Return the numbers as a list, whole ones as int, which is shorter and faster to read."""
    if isinstance(array, SparseRows):
        kept: dict[str, Array] = {"start": array.start, "column": array.column, "number": array.value}
        return {"width": array.width} | {name: _written(numbers) for name, numbers in kept.items()}
    if array.dtype.kind != "f" or not array.size:
        return list(array.tolist())
    if array.ndim > 1:
        flat, width = _written(array.ravel()), array.shape[1]
        return [flat[i : i + width] for i in range(0, len(flat), width)]
    whole = (np.rint(array) == array) & (np.abs(array) < 2.0**53) & ~(np.signbit(array) & (array == 0))
    if not whole.any():
        return list(array.tolist())
    ints = np.where(whole, array, 0.0).astype(np.int64).tolist()
    if whole.all():
        return list(ints)
    return [i if is_whole else x for i, x, is_whole in zip(ints, array.tolist(), whole.tolist(), strict=True)]


def read_arrays(nodes: object, splits: object) -> dict[str, Any]:
    """Return the arrays that `write_arrays` wrote."""
    arrays: dict[str, Any] = {}
    for table, names, place in ((nodes, NODE_ARRAYS, "$.nodes"), (splits, SPLIT_ARRAYS, "$.splits")):
        columns = require_keys(table, place, names)
        for name, dtype in names.items():
            read: Any = _read_wide if name in WIDE_ARRAYS else _read_flat
            arrays[name] = read(columns[name], np.dtype(dtype), place_of(name))
    return arrays


def read_recipe(written: object, place: str = "$.recipe") -> Recipe:
    """Return the recipe that `Recipe.as_dict` wrote: every field, every setting, nothing else.

    A setting in `ADDED_SETTINGS` may be left out: it takes the value that means what was done before it existed.
    """
    added = ADDED_SETTINGS.get("Recipe", {})
    names = [saved_setting(Recipe, f.name) for f in dataclasses.fields(Recipe)]
    fields = require_keys(written, place, [name for name in names if name not in added], added)
    fields = {
        name: with_added_settings(value.get("choice"), value) if isinstance(value, dict) else value
        for name, value in with_added_settings("Recipe", fields).items()
    }
    try:
        recipe = Recipe.from_dict(fields)
    except (RecipeError, TypeError, OverflowError) as error:
        raise FileError(f"{place}: {str(error)[:300]}") from error
    # A recipe fills in what is left out with today's defaults. A file must not depend on them: what it leaves out is
    # in the table or an error.
    for name, again in recipe.as_dict().items():
        _require_same(fields[name], again, f"{place}.{name}")
    return recipe


def _require_same(written: Any, again: Any, place: str) -> None:
    if isinstance(written, dict) and isinstance(again, dict):
        for key, value in again.items():
            if key not in written:
                raise FileError(f"{place} has no {key!r}")
            _require_same(written[key], value, f"{place}.{key}")
    elif type(written) is not type(again) or written != again:
        raise FileError(f"{place} is written in a form this version does not know")


def _read_flat(values: object, dtype: np.dtype[Any], place: str) -> Array:
    if type(values) is not list:
        raise FileError(f"{place} must be a list, not {json_kind(values)}")
    allowed = {int} if dtype.kind == "i" else {int, float}
    if not set(map(type, values)) <= allowed:
        i = next(i for i, value in enumerate(values) if type(value) not in allowed)
        what = "a whole number" if dtype.kind == "i" else "a number"
        raise FileError(f"{place}[{i}] must be {what}, not {json_kind(values[i])}")
    low, high = _range(dtype)
    # Tested before numpy sees them: it would wrap some large numbers around and refuse others in words of its own.
    if values and not (low <= min(values) and max(values) <= high):
        i = next((i for i, value in enumerate(values) if not low <= value <= high), 0)
        raise FileError(f"{place}[{i}] does not fit: {low} to {high} is possible")
    return np.array(values, dtype=dtype)


def _read_wide(rows: object, dtype: np.dtype[Any], place: str) -> Array | SparseRows:
    if type(rows) is dict:
        return _read_sparse(rows, place)
    if type(rows) is not list:
        raise FileError(f"{place} must be a list, not {json_kind(rows)}")
    width = len(rows[0]) if rows and type(rows[0]) is list else 0
    for i, row in enumerate(rows):
        if type(row) is not list or len(row) != width or width == 0:
            raise FileError(f"{place}[{i}] must be a list of numbers, as long as every other in {place}")
    try:
        flat = _read_flat(list(chain.from_iterable(rows)), dtype, place)
    except FileError:
        for i, row in enumerate(rows):  # again, row by row, for a message that names the row
            _read_flat(row, dtype, f"{place}[{i}]")
        raise
    return flat.reshape(len(rows), width)


def _read_sparse(written: object, place: str) -> Array | SparseRows:
    """Return a matrix without its zeros; `validation` checks that it is as large as the tree needs."""
    parts = require_keys(written, place, ("width", "start", "column", "number"))
    width = int(_read_flat([parts["width"]], np.dtype(np.int32), f"{place}.width")[0])
    start = _read_flat(parts["start"], np.dtype(np.int64), f"{place}.start")
    column = _read_flat(parts["column"], np.dtype(np.int32), f"{place}.column")
    number = _read_flat(parts["number"], np.dtype(np.float64), f"{place}.number")
    if not len(start) or start[0] != 0 or start[-1] != len(column) or (start[1:] < start[:-1]).any():
        raise FileError(f"{place}.start must rise from 0 to {len(column)}, the length of column")
    if len(number) != len(column) or not number.all():
        raise FileError(f"{place}.number must have a number for each column, and no zero")
    sparse = SparseRows(width, start, column, number)
    keys = sparse.rows().astype(np.int64) * width + column
    if ((column < 0) | (column >= width)).any() or (keys[1:] <= keys[:-1]).any():
        raise FileError(f"{place}.column must rise within each row, from 0 to {width - 1}")
    return sparse if is_large(sparse.shape) else np.asarray(sparse)


def _range(dtype: np.dtype[Any]) -> tuple[float, float]:
    if dtype.kind == "i":
        return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return -float(np.finfo(dtype).max), float(np.finfo(dtype).max)


def plain(numbers: Array) -> list[Any]:
    """Return numbers as JSON writes them shortest: whole ones without a fraction."""
    if numbers.dtype.kind != "f":
        listed: list[Any] = numbers.tolist()
        return listed
    return [int(x) if x.is_integer() and abs(x) < 2**53 else x for x in numbers.tolist()]
