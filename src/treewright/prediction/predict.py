"""Predict new rows: the class or value, the probabilities, or the leaf of each.

The tree alone decides where missing and unseen values go. A prediction depends neither on the other rows nor on the
number of threads. Large inputs are read in batches; Dask collections stay lazy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Any, Literal, NamedTuple

import numpy as np

from treewright.data.arrays import Array, FloatArray, Int32Array
from treewright.data.encoding import Encoded, UnseenLevels
from treewright.data.rows import take
from treewright.data.schema import Level
from treewright.data.sources.source import BATCH
from treewright.errors import DataError
from treewright.out_of_core.inputs import is_dask, is_large, tables
from treewright.prediction.encode_rows import encoded, is_plain_matrix
from treewright.prediction.routing import classify, predict_matrix, predict_values, route
from treewright.prediction.unseen_levels import added, warn_unseen
from treewright.recipes.missing import Fractional
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.tree import Tree, predicted_index

#: As many threads as there are processors.
ALL_THREADS = 0

#: What is predicted: the class or value, the probability of each class, the leaf.
Kind = Literal["prediction", "probabilities", "node"]
PredictRows = Callable[[Tree, Encoded, int], Array]


def predict(tree: TreeLike, data: object, *, n_threads: int = ALL_THREADS) -> Array:
    """Predict the class (ties go to the first class) or the value of each row.

    With misclassification costs, the class of least expected cost.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    data : table
        Rows with the tree's columns, in any form that `learn` takes. Files, queries, datasets and iterators are read
        in batches; Dask collections give lazy Dask collections.
    n_threads : int, default=0
        Number of threads; 0 means all processors.

    Returns
    -------
    ndarray
        One prediction per row; for Dask input a Dask Series or Array.
    """
    tree = as_tree(tree)
    return _predict(tree, data, "prediction", n_threads)


def predict_proba(tree: TreeLike, data: object, *, n_threads: int = ALL_THREADS) -> FloatArray:
    """Predict the probability of each class.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    data : table
        Rows with the tree's columns, in any form that `learn` takes. Files, queries, datasets and iterators are read
        in batches; Dask collections give lazy Dask collections.
    n_threads : int, default=0
        Number of threads; 0 means all processors.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Probabilities in the order of `tree.schema.target.classes`; for Dask input a Dask collection.
    """
    tree = as_tree(tree)
    return _predict(tree, data, "probabilities", n_threads)


def apply(tree: TreeLike, data: object, *, n_threads: int = ALL_THREADS) -> Int32Array:
    """Return the id of the leaf that each row reaches.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    data : table
        Rows with the tree's columns, in any form that `learn` takes. Files, queries, datasets and iterators are read
        in batches; Dask collections give lazy Dask collections.
    n_threads : int, default=0
        Number of threads; 0 means all processors.

    Returns
    -------
    ndarray of int
        Node ids; for a fractional row the leaf with most of its weight.
    """
    tree = as_tree(tree)
    return _predict(tree, data, "node", n_threads)


def predict_batches(
    tree: TreeLike, data: object, *, size: int = BATCH, kind: Kind = "prediction", n_threads: int = ALL_THREADS
) -> Iterator[Array]:
    """Predict in batches, for when even the predictions do not fit in memory.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    data : table
        Rows with the tree's columns, in any form that `learn` takes. Files, queries, datasets and iterators are read
        in batches; Dask collections give lazy Dask collections.
    size : int, default=65536
        Maximum number of rows per batch.
    kind : {"prediction", "probabilities", "node"}, default="prediction"
        What is returned: as `predict`, `predict_proba` or `apply`.
    n_threads : int, default=0
        Number of threads; 0 means all processors.

    Returns
    -------
    iterator of ndarray
        The results of the next rows, in order.

    Examples
    --------
    >>> import treewright as tw
    >>> tree = tw.learn({"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}, "y", tw.SKLEARN)
    >>> frames = ({"x": [4 * i, 1]} for i in range(2))
    >>> for predictions in tw.predict_batches(tree, frames):
    ...     print(predictions)
    ['a' 'a']
    ['b' 'a']
    """
    tree = as_tree(tree)
    _require_possible(tree, kind)
    if size < 1:
        raise DataError(f"size must be a number of rows, at least 1, not {size!r}")
    if is_dask(data):
        from treewright.out_of_core.dask_lazy import computed

        return computed(_predict(tree, data, kind, n_threads), size)
    found = batches_of(tree, data) if is_large(data) else iter([Batch(0, data, encoded(tree, data))])
    return _in_batches(tree, found, _FUNCTIONS[kind], size, n_threads, [])


# --- large inputs -----------------------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """Some rows of a large input: the index of the first, their table, and the encoded rows."""

    start: int
    table: Any
    rows: Encoded


def batches_of(tree: Tree, data: object, keep: tuple[str, ...] = ()) -> Iterator[Batch]:
    """Read a large input in batches; `keep` names further columns to read besides the tree's own."""
    start = 0
    for table in tables(data, tree.schema, keep):
        with counted_from(start):
            rows = encoded(tree, table)
        yield Batch(start, table, rows)
        start += rows.n_rows


@contextmanager
def counted_from(start: int) -> Iterator[None]:
    """Add to an error about a later batch where that batch begins."""
    try:
        yield
    except DataError as error:
        if start == 0:
            raise
        raise DataError(f"{error} (rows are counted from row {start} here)") from error


def _in_batches(
    tree: Tree,
    found: Iterator[Batch],
    function: PredictRows,
    size: int,
    n_threads: int,
    counted: list[tuple[UnseenLevels, ...]],
) -> Iterator[Array]:
    """Yield predictions batch by batch; `counted` receives the unseen levels of each batch."""
    for batch in found:
        counted.append(batch.rows.unseen)
        for start in range(0, batch.rows.n_rows, size):
            rows = batch.rows if batch.rows.n_rows <= size else take(batch.rows, slice(start, start + size))
            with counted_from(batch.start + start):
                predictions = function(tree, rows, n_threads)
            yield predictions


# --- any input --------------------------------------------------------------------------------------------------------


def _predict(tree: Tree, data: Any, kind: Kind, n_threads: int) -> Array:
    if kind == "prediction" and is_plain_matrix(tree, data) and tree.schema.target.costs is None:
        found = predict_matrix(tree, data, n_threads)
        if found is not None:
            return _with_labels(tree, found)
    _require_possible(tree, kind)
    if not is_large(data):
        rows = encoded(tree, data)
        warn_unseen(rows.unseen, tree.recipe)
        return _FUNCTIONS[kind](tree, rows, n_threads)
    if is_dask(data):
        from treewright.out_of_core.dask_lazy import predictions_of

        lazy: Array = predictions_of(data, tree, _predict, kind, _empty(tree, kind), _name(tree, kind))
        return lazy
    # Classes are kept as indices until all are there.
    function = predicted_codes if kind == "prediction" else _FUNCTIONS[kind]
    counted: list[tuple[UnseenLevels, ...]] = []
    whole = np.concatenate(list(_in_batches(tree, batches_of(tree, data), function, BATCH, n_threads, counted)))
    warn_unseen(reduce(added, counted, ()), tree.recipe)
    return _with_labels(tree, whole) if kind == "prediction" else whole


def _require_possible(tree: Tree, kind: Kind) -> None:
    if kind not in _FUNCTIONS:
        raise DataError(f"kind={kind!r} is not known; choose from 'prediction', 'probabilities' and 'node'")
    if kind == "probabilities" and tree.schema.target.classes is None:
        raise DataError(f"the target {tree.schema.target.name!r} is a number and has no classes; use predict")


def _empty(tree: Tree, kind: Kind) -> Array:
    """Return the predictions of no rows."""
    classes = tree.schema.target.classes
    if kind == "node":
        return np.empty(0, np.int32)
    if kind == "probabilities":
        return np.empty((0, len(classes or ())))
    return np.empty(0) if classes is None else class_array(classes)[:0]


def _name(tree: Tree, kind: Kind) -> str | tuple[Level, ...]:
    """Return the name of the column of predictions, as in the SQL export, or the names of several."""
    if kind == "probabilities":
        return tree.schema.target.classes or ()
    return "prediction" if kind == "prediction" else "leaf"


def predicted(tree: Tree, rows: Encoded, n_threads: int) -> Array:
    """Predict encoded rows, as `predict` does."""
    return _with_labels(tree, predicted_codes(tree, rows, n_threads))


def predicted_codes(tree: Tree, rows: Encoded, n_threads: int) -> Array:
    """Predict encoded rows, with classes by index."""
    target = tree.schema.target
    if target.classes is None:
        return predict_values(tree, rows, n_threads)[:, 0]
    if target.costs is None:
        return classify(tree, rows, n_threads)
    return predicted_index(target, predict_values(tree, rows, n_threads))


def codes_at_leaves(tree: Tree, rows: Encoded, leaf: Int32Array) -> Array:
    """Predict encoded rows whose leaf is known already, with classes by index."""
    if tree.models or (isinstance(tree.recipe.missing, Fractional) and (any(rows.levels) or not rows.complete)):
        return predicted_codes(tree, rows, 1)  # a row may end in several leaves, or the leaf alone does not decide
    values = tree.arrays["value"]
    target = tree.schema.target
    by_node = values[:, 0] if target.classes is None else predicted_index(target, values).astype(np.int32)
    found: Array = by_node[leaf]
    return found


_FUNCTIONS: dict[Kind, PredictRows] = {"prediction": predicted, "probabilities": predict_values, "node": route}


def _with_labels(tree: Tree, found: Array) -> Array:
    return found if tree.schema.target.classes is None else named(tree, found)


def named(tree: Tree, indices: Array) -> Array:
    """Return the classes with these indices."""
    classes: Array = tree.keep("classes", lambda: class_array(tree.schema.target.classes or ()))
    found: Array = classes.take(indices)  # sooner than classes[indices]
    return found


def class_array(classes: tuple[Level, ...]) -> Array:
    """Return the classes as an array that holds each of them unchanged."""
    array = np.array(classes)
    if array.tolist() == list(classes):
        return array
    return np.array(classes, dtype=object)  # mixed types: numpy would turn the numbers into text
