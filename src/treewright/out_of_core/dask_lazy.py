"""Dask collections: predictions that are not computed yet, and a table and its target as one.

Nothing is computed; a partition without rows gives an empty result of the right type.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas as pd

from treewright.data.arrays import Array
from treewright.data.schema import Level
from treewright.data.value_text import listed
from treewright.errors import DataError
from treewright.tree.tree import Tree

#: One column of predictions, or several.
Name = str | tuple[Level, ...]
Predict = Callable[[Tree, object, Any, int], Array]


def predictions_of(data: Any, tree: Tree, predict: Predict, kind: str, empty: Array, name: Name) -> Any:
    """Return `predict(tree, partition, kind, n_threads)` of every partition; `empty` are the predictions of no rows.

    A DataFrame gives a Series, or a DataFrame if there are several names; an Array gives an Array.
    """
    whole = _handed(tree)
    if isinstance(data, dask.dataframe.DataFrame):
        meta = _labelled(empty, data._meta.index, name)
        return data.map_partitions(_frame_predictions, whole, predict, kind, empty, name, meta=meta)
    several = empty.ndim == 2
    data = _one_block_wide(data)
    return data.map_blocks(
        _array_predictions,
        whole,
        predict,
        kind,
        empty,
        dtype=empty.dtype,
        chunks=(data.chunks[0], (empty.shape[1],)) if several else (data.chunks[0],),
        drop_axis=None if several else 1,
        meta=empty,
    )


def _handed(tree: Tree) -> Any:
    """Return the tree as one entry of the graph; two calls give the same entry."""
    name = f"tree-{hashlib.blake2b(pickle.dumps(tree), digest_size=16).hexdigest()}"
    return dask.delayed(tree, name=name, traverse=False)


def computed(predictions: Any, size: int) -> Iterator[Array]:
    """Yield the predictions of one partition after the other, at most `size` at a time."""
    for part in np.ravel(predictions.to_delayed()):
        values = np.asarray(part.compute())
        for start in range(0, len(values), size):
            yield values[start : start + size]


def _frame_predictions(frame: Any, tree: Tree, predict: Predict, kind: str, empty: Array, name: Name) -> Any:
    return _labelled(_array_predictions(frame, tree, predict, kind, empty), frame.index, name)


def _array_predictions(rows: Any, tree: Tree, predict: Predict, kind: str, empty: Array) -> Array:
    return predict(tree, rows, kind, 1) if len(rows) else empty  # the cluster's own threads are enough


def _labelled(values: Array, index: Any, name: Name) -> Any:
    if isinstance(name, str):
        guess = object if values.dtype == object else None  # classes of several types, some of which a partition lacks
        return pd.Series(values, index=index, name=name, dtype=guess)
    return pd.DataFrame(values, index=index, columns=pd.Index(list(name), tupleize_cols=False))


def _one_block_wide(data: Any) -> Any:
    """Return a dask Array whose blocks hold whole rows."""
    if not isinstance(data, dask.array.Array) or data.ndim != 2:
        raise DataError(
            f"expected a dask DataFrame, or a dask Array with rows and columns; got a dask {type(data).__name__}"
            + (f" of {data.ndim} dimension(s)" if isinstance(data, dask.array.Array) else "")
        )
    return data if len(data.chunks[1]) == 1 else data.rechunk({1: -1})


def each(predictions: Any, function: Callable[[Any], Any]) -> Any:
    """Apply a function to the predictions of each partition."""
    if isinstance(predictions, dask.array.Array):
        return predictions.map_blocks(function, meta=predictions._meta)
    return predictions.map_partitions(function, meta=predictions._meta)


def together(*series: Any) -> tuple[Any, ...]:
    """Several Series, computed in one pass."""
    found: tuple[Any, ...] = dask.compute(*series)
    return found


# --- a table and its target -------------------------------------------------------------------------------------------


def with_target(data: Any, target: Any, weight: Any = None) -> tuple[Any, str, str | None]:
    """Return a dask DataFrame that holds the target and the weights too, and what they are called there.

    Both are names of columns, or have the partitions of the data: a dask Series or Array. Rows go together by their
    place in a partition, whatever their index.
    """
    frame = _as_frame(data)
    named = isinstance(target, dask.dataframe.Series) and target.name is not None
    frame, target_name = _with(frame, target, "target", str(target.name) if named else "target")
    if weight is None:
        return frame, target_name, None
    unused = "sample_weight"
    while unused in frame.columns:
        unused += "_"
    frame, weight_name = _with(frame, weight, "weight", unused)
    return frame, target_name, weight_name


def _as_frame(data: Any) -> Any:
    if isinstance(data, dask.dataframe.DataFrame):
        return data
    rows = _one_block_wide(data)
    return dask.dataframe.from_dask_array(rows, columns=[f"x{place}" for place in range(rows.shape[1])])


def _with(frame: Any, column: Any, role: str, name: str) -> tuple[Any, str]:
    """Return the frame with one more column, unless the column is named and there already."""
    if isinstance(column, str):
        if column not in frame.columns:
            raise DataError(f"the {role} {column!r} is not a column of the table; it has {listed(list(frame.columns))}")
        return frame, column
    if isinstance(column, dask.array.Array) and column.ndim == 1:
        column = dask.dataframe.from_dask_array(column, columns=name)
    if not isinstance(column, dask.dataframe.Series):
        raise DataError(
            f"where the table is a dask collection, the {role} is a dask Series or a 1-D dask Array with the same "
            f"partitions, or the name of a column; got {type(column).__name__}"
        )
    if column.npartitions != frame.npartitions:
        raise DataError(
            f"the table has {frame.npartitions} partitions, the {role} {name!r} has {column.npartitions}; take both "
            "from one DataFrame, or repartition one of them"
        )
    if name in frame.columns:
        raise DataError(f"the {role} {name!r} has the name of a column of the table; drop that column, or rename one")
    meta = frame._meta.assign(**{name: column._meta.reset_index(drop=True)})
    return frame.map_partitions(_put, column, name, role, meta=meta, align_dataframes=False), name


def _put(frame: Any, column: Any, name: str, role: str) -> Any:
    if len(frame) != len(column):
        raise DataError(
            f"a partition of the table has {len(frame)} rows, that of the {role} {name!r} has {len(column)}; take both "
            "from one DataFrame"
        )
    return frame.assign(**{name: column.set_axis(frame.index)})
