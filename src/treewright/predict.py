"""Answers for new rows.

Comes in: a `Tree` and any table with its columns. Goes out: one answer, one row of probabilities or one node per row.
Always holds: the tree alone decides where missing and unseen values go; there is no option for it here. A row's answer
does not depend on the other rows or on the number of threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.choices import RefuseMissing
from treewright.columns import READ_IN_PLACE
from treewright.encode import Encoded, encode
from treewright.engine import answers, classify, route
from treewright.errors import DataError
from treewright.schema import Level
from treewright.table import read
from treewright.tree import Tree, answer_places, require_tree

#: As many threads as there are processors.
ALL_THREADS = 0


def predict(tree: Tree, data: object, *, n_threads: int = ALL_THREADS) -> NDArray[Any]:
    """The most probable class of each row (with costs, the cheapest answer), the first of equals; or the number."""
    return predicted(tree, encoded(tree, data), n_threads)


def predicted(tree: Tree, rows: Encoded, n_threads: int) -> NDArray[Any]:
    """The same, for rows that have been read."""
    found = answered(tree, rows, n_threads)
    return found if tree.schema.target.classes is None else named(tree, found)


def answered(tree: Tree, rows: Encoded, n_threads: int) -> NDArray[Any]:
    """The same, with classes by their places."""
    target = tree.schema.target
    if target.classes is None:
        return answers(tree, rows, n_threads)[:, 0]
    if target.costs is None:
        return classify(tree, rows, n_threads)
    return answer_places(target, answers(tree, rows, n_threads))


def named(tree: Tree, places: NDArray[Any]) -> NDArray[Any]:
    """The classes at some places."""
    classes: NDArray[Any] = tree.keep("classes", lambda: class_array(tree.schema.target.classes or ()))
    found: NDArray[Any] = classes[places]
    return found


def predict_proba(tree: Tree, data: object, *, n_threads: int = ALL_THREADS) -> NDArray[np.float64]:
    """The probability of each class, in the order of `tree.schema.target.classes`."""
    if tree.schema.target.classes is None:
        raise DataError(f"the target {tree.schema.target.name!r} is a number and has no classes; use predict")
    return answers(tree, encoded(tree, data), n_threads)


def apply(tree: Tree, data: object, *, n_threads: int = ALL_THREADS) -> NDArray[np.int32]:
    """The id of the node that answers each row; where a row goes down several branches, the heaviest."""
    return route(tree, encoded(tree, data), n_threads)


def class_array(classes: tuple[Level, ...]) -> NDArray[Any]:
    """The classes as an array that holds each of them unchanged."""
    array = np.array(classes)
    if array.tolist() == list(classes):
        return array
    return np.array(classes, dtype=object)  # mixed types: numpy would turn the numbers into text


def encoded(tree: Tree, data: object) -> Encoded:
    """The rows as the tree reads them: the one door, whatever is then asked of them."""
    require_tree(tree)
    rows = _matrix(tree, data)
    if rows is None:
        # An array has no names and is read whole; of a table only the tree's own columns are.
        rows = encode(read(data, only=tree.schema.names), tree.schema, training=False, unseen=tree.recipe.unseen)
        if isinstance(tree.recipe.missing, RefuseMissing):
            _refuse_missing(tree, rows)
    return rows


def _matrix(tree: Tree, data: object) -> Encoded | None:
    """The data as it is, if it is a matrix that the core can read so.

    This is how rows come one at a time, where every microsecond counts, and by the million.
    """
    if type(data) is not np.ndarray or data.dtype not in READ_IN_PLACE or data.ndim != 2 or len(data) == 0:
        return None
    plain = tree.keep("plain", lambda: _is_plain(tree))
    if not plain or data.shape[1] != plain:
        return None
    columns: Any = data  # the core takes a matrix for its columns
    return Encoded(columns, tree.keep("kinds", lambda: (0,) * plain), (), len(data))


def _is_plain(tree: Tree) -> int:
    """The number of columns, if all are numbers and may be missing; otherwise 0."""
    numbers = all(column.kind == "numeric" for column in tree.schema.columns)
    return len(tree.schema.columns) if numbers and not isinstance(tree.recipe.missing, RefuseMissing) else 0


def _refuse_missing(tree: Tree, rows: Encoded) -> None:
    inner = tree.arrays["stop"] == 0
    asked = np.unique(tree.arrays["column"][tree.arrays["split_start"][:-1][inner]])
    for i in asked:
        values = rows.columns[i]
        missing = int(np.count_nonzero(np.isnan(values) if values.dtype.kind == "f" else values == -1))
        if missing:
            raise DataError(
                f"column {tree.schema.columns[i].name!r} is missing in {missing} of {rows.n_rows} rows, and the recipe "
                f"{tree.recipe.name!r} refuses missing values; fill them in, or learn with another missing policy"
            )
