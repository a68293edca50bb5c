"""Answers for new rows.

Comes in: a `Tree` and any table with its columns, in memory or not. Goes out: one answer, one row of probabilities or
one node per row.
Always holds: the tree alone decides where missing and unseen values go; there is no option for it here. A row's answer
does not depend on the other rows or on the number of threads. Of a large input only some rows are held at a time; a
dask collection is not computed, its answers are a dask collection too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treewright.data.encoding import Encoded, UnseenLevels
from treewright.data.schema import Level
from treewright.data.sources.source import BATCH
from treewright.errors import DataError
from treewright.out_of_core.inputs import is_dask, is_large, tables
from treewright.prediction.encode_rows import encoded
from treewright.prediction.routing import classify, predict_values, route
from treewright.prediction.unseen_levels import added, warn_unseen
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.tree import Tree, predicted_index

#: As many threads as there are processors.
ALL_THREADS = 0

#: What can be asked: the answer, the probability of each class, the node that answers.
Kind = Literal["answer", "probabilities", "node"]
Question = Callable[[Tree, Encoded, int], NDArray[Any]]


def predict(tree: TreeLike, data: object, *, n_threads: int = ALL_THREADS) -> NDArray[Any]:
    """The most probable class of each row (with costs, the cheapest answer), the first of equals; or the number.

    A file ("rows.parquet", "rows/*.csv"), a query (`sql`), a pyarrow dataset, a DuckDB relation or an iterator of
    tables is read some rows at a time. A dask DataFrame gives a dask Series with its index, a dask Array gives a dask
    Array, and nothing is computed.
    """
    tree = as_tree(tree)
    return _answer(tree, data, "answer", n_threads)


def predict_proba(tree: TreeLike, data: object, *, n_threads: int = ALL_THREADS) -> NDArray[np.float64]:
    """The probability of each class, in the order of `tree.schema.target.classes`; dask names the columns by them."""
    tree = as_tree(tree)
    return _answer(tree, data, "probabilities", n_threads)


def apply(tree: TreeLike, data: object, *, n_threads: int = ALL_THREADS) -> NDArray[np.int32]:
    """The id of the node that answers each row; where a row goes down several branches, the heaviest."""
    tree = as_tree(tree)
    return _answer(tree, data, "node", n_threads)


def predict_batches(
    tree: TreeLike, data: object, *, size: int = BATCH, kind: Kind = "answer", n_threads: int = ALL_THREADS
) -> Iterator[NDArray[Any]]:
    """The same answers some rows at a time, for when even they do not fit in memory.

    `data` is whatever `predict` takes. Arrays come in the order of the rows, none with more than `size`; `kind` says
    what is asked: "answer" (`predict`), "probabilities" (`predict_proba`) or "node" (`apply`).

    >>> import treewright as tw
    >>> tree = tw.learn({"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}, "y", tw.SKLEARN)
    >>> frames = ({"x": [4 * i, 1]} for i in range(2))
    >>> for answers in tw.predict_batches(tree, frames):
    ...     print(answers)
    ['a' 'a']
    ['b' 'a']
    """
    tree = as_tree(tree)
    _require_possible(tree, kind)
    if size < 1:
        raise DataError(f"size must be a number of rows, at least 1, not {size!r}")
    if is_dask(data):
        from treewright.out_of_core.dask_lazy import computed

        return computed(_answer(tree, data, kind, n_threads), size)
    found = batches_of(tree, data) if is_large(data) else iter([Batch(0, data, encoded(tree, data))])
    return _asked(tree, found, _ASK[kind], size, n_threads, [])


# --- large inputs -----------------------------------------------------------------------------------------------------


class Batch(NamedTuple):
    """Some rows of a large input: the number of the first, their table, and the rows as the tree reads them."""

    start: int
    table: Any
    rows: Encoded


def batches_of(tree: Tree, data: object, keep: tuple[str, ...] = ()) -> Iterator[Batch]:
    """A large input some rows at a time; `keep` names columns that are wanted besides the tree's own."""
    start = 0
    for table in tables(data, tree.schema, keep):
        with counted_from(start):
            rows = encoded(tree, table)
        yield Batch(start, table, rows)
        start += rows.n_rows


@contextmanager
def counted_from(start: int) -> Iterator[None]:
    """A message about the rows of a later batch says where it begins."""
    try:
        yield
    except DataError as error:
        if start == 0:
            raise
        raise DataError(f"{error} (rows are counted from row {start} here)") from error


def _asked(
    tree: Tree,
    found: Iterator[Batch],
    ask: Question,
    size: int,
    n_threads: int,
    counted: list[tuple[UnseenLevels, ...]],
) -> Iterator[NDArray[Any]]:
    """The answers, batch by batch; `counted` receives what each batch had of levels that the tree does not know."""
    for batch in found:
        counted.append(batch.rows.unseen)
        for start in range(0, batch.rows.n_rows, size):
            with counted_from(batch.start + start):
                answer = ask(tree, _some(batch.rows, start, size), n_threads)
            yield answer


def _some(rows: Encoded, start: int, size: int) -> Encoded:
    if rows.n_rows <= size:
        return rows
    end = min(start + size, rows.n_rows)
    columns: Any = rows.columns
    matrix = isinstance(columns, np.ndarray)
    some: Any = columns[start:end] if matrix else tuple(column[start:end] for column in columns)
    return replace(rows, columns=some, n_rows=end - start)


# --- any input --------------------------------------------------------------------------------------------------------


def _answer(tree: Tree, data: object, kind: Kind, n_threads: int) -> NDArray[Any]:
    _require_possible(tree, kind)
    if not is_large(data):
        rows = encoded(tree, data)
        warn_unseen(rows.unseen, tree.recipe)
        return _ASK[kind](tree, rows, n_threads)
    if is_dask(data):
        from treewright.out_of_core.dask_lazy import answers_of

        lazy: NDArray[Any] = answers_of(data, tree, _answer, kind, _empty(tree, kind), _name(tree, kind))
        return lazy
    ask = answered if kind == "answer" else _ASK[kind]  # of classes only the places are kept, until all are there
    counted: list[tuple[UnseenLevels, ...]] = []
    whole = np.concatenate(list(_asked(tree, batches_of(tree, data), ask, BATCH, n_threads, counted)))
    warn_unseen(reduce(added, counted, ()), tree.recipe)
    return _told(tree, whole) if kind == "answer" else whole


def _require_possible(tree: Tree, kind: Kind) -> None:
    if kind not in _ASK:
        raise DataError(f"kind={kind!r} is not known; choose from 'answer', 'probabilities' and 'node'")
    if kind == "probabilities" and tree.schema.target.classes is None:
        raise DataError(f"the target {tree.schema.target.name!r} is a number and has no classes; use predict")


def _empty(tree: Tree, kind: Kind) -> NDArray[Any]:
    """The answers to no rows."""
    classes = tree.schema.target.classes
    if kind == "node":
        return np.empty(0, np.int32)
    if kind == "probabilities":
        return np.empty((0, len(classes or ())))
    return np.empty(0) if classes is None else class_array(classes)[:0]


def _name(tree: Tree, kind: Kind) -> str | tuple[Level, ...]:
    """The name of a column of answers, as the SQL export has it, or those of several."""
    if kind == "probabilities":
        return tree.schema.target.classes or ()
    return "prediction" if kind == "answer" else "leaf"


def predicted(tree: Tree, rows: Encoded, n_threads: int) -> NDArray[Any]:
    """What `predict` says of rows that have been read."""
    return _told(tree, answered(tree, rows, n_threads))


def answered(tree: Tree, rows: Encoded, n_threads: int) -> NDArray[Any]:
    """The same, with classes by their places."""
    target = tree.schema.target
    if target.classes is None:
        return predict_values(tree, rows, n_threads)[:, 0]
    if target.costs is None:
        return classify(tree, rows, n_threads)
    return predicted_index(target, predict_values(tree, rows, n_threads))


_ASK: dict[Kind, Question] = {"answer": predicted, "probabilities": predict_values, "node": route}


def _told(tree: Tree, found: NDArray[Any]) -> NDArray[Any]:
    return found if tree.schema.target.classes is None else named(tree, found)


def named(tree: Tree, places: NDArray[Any]) -> NDArray[Any]:
    """The classes at some places."""
    classes: NDArray[Any] = tree.keep("classes", lambda: class_array(tree.schema.target.classes or ()))
    found: NDArray[Any] = classes[places]
    return found


def class_array(classes: tuple[Level, ...]) -> NDArray[Any]:
    """The classes as an array that holds each of them unchanged."""
    array = np.array(classes)
    if array.tolist() == list(classes):
        return array
    return np.array(classes, dtype=object)  # mixed types: numpy would turn the numbers into text
