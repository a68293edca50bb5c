"""Route encoded rows through a tree: the leaf, the prediction, the path, the Shapley values of each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright import _core
from treewright.data.arrays import Array, FloatArray, Int32Array, Int64Array
from treewright.data.encoding import Encoded
from treewright.data.rows import take
from treewright.data.survey import check_threads, survey
from treewright.recipes.missing import Surrogates
from treewright.tree.models import model_arrays
from treewright.tree.tree import Tree
from treewright.tree.validation import FRACTIONAL, STOP_HERE

#: Fractions of rows at nodes that are held at once.
_AT_ONCE = 1 << 22

#: Places that numpy looks up as they are, without a copy.
_PLACES = np.dtype(np.int64)


def route(tree: Tree, rows: Encoded, n_threads: int) -> Int32Array:
    """Return the leaf of each row; for a row that follows several paths the one with most of its weight."""
    nodes: Int32Array = _called(tree, rows, _router(tree).apply, n_threads, complete=rows.complete)
    return nodes


@dataclass(frozen=True, eq=False)
class Overlap:
    """How alike two trees are on the same rows.

    Of each node looked up: the `closest` node of the other tree by the Jaccard index (rows in both over rows in either;
    of equals the one nearest the root) and that index, `jaccard`. `rand`: how far both put the same pairs of rows into
    one leaf, 1 if all, 0 as chance would (the adjusted Rand index, Hubert and Arabie 1985).
    """

    closest: Int32Array
    jaccard: FloatArray
    rand: float


def overlap(first: Tree, first_leaf: Int32Array, second: Tree, second_leaf: Int32Array, nodes: Int32Array) -> Overlap:
    """Compare two trees by the leaf of each row in both; `nodes` of the first are looked up in the second."""
    return Overlap(*_core.overlap(first_leaf, first.arrays["parent"], second_leaf, second.arrays["parent"], nodes))


def predict_values(tree: Tree, rows: Encoded, n_threads: int) -> FloatArray:
    """Return each row's class probabilities, or its number: the weighted sum over all paths."""
    values: FloatArray = _called(tree, rows, _router(tree).predict, n_threads)
    return values


def path_ends(tree: Tree, rows: Encoded, n_threads: int) -> tuple[Int64Array, Int64Array, FloatArray]:
    """Return where the paths of the rows end: row, node, and the fraction of the row that comes there."""
    if not forks(tree) or rows.n_rows == 0:
        return np.arange(rows.n_rows), route(tree, rows, n_threads).astype(np.int64), np.ones(rows.n_rows)
    # The router adds up the values of the nodes where paths end: with a value of its own for each, their fractions.
    router = _core.Predictor(_arrays(tree) | {"value": np.eye(tree.n_nodes)}, tree.recipe.seed)
    found = []
    for start in range(0, rows.n_rows, step := max(1, _AT_ONCE // tree.n_nodes)):
        fractions = _called(tree, take(rows, slice(start, start + step)), router.predict, n_threads)
        row, node = np.nonzero(fractions)
        found.append((row + start, node, fractions[row, node]))
    row, node, fraction = (np.concatenate(each) for each in zip(*found, strict=True))
    return row, node, fraction


def forks(tree: Tree) -> bool:
    """Return whether a row may follow several children of a node."""
    return tree.soft is not None or bool((tree.arrays["missing"][own_splits(tree)] == FRACTIONAL).any())


def own_splits(tree: Tree) -> Int32Array:
    """Return the place of every inner node's own split in the split table."""
    places: Int32Array = tree.arrays["split_start"][:-1][tree.arrays["stop"] == 0]
    return places


def classify(tree: Tree, rows: Encoded, n_threads: int) -> Int32Array:
    """Return the place of each row's most probable class, the first of equals."""
    places: Int32Array = _called(tree, rows, _router(tree).classify, n_threads)
    return places


def predict_matrix(tree: Tree, matrix: Array, n_threads: int) -> Array | None:
    """Return each row's class by its place, or its number, of a matrix of the tree's columns.

    None: a number is infinite, which the general way reports.
    """
    check_threads(n_threads)
    router = _router(tree)
    if tree.schema.target.classes is None:
        found: Array = np.empty(len(matrix))
        return None if router.predict_matrix(matrix, found, n_threads) else found
    found = np.empty(len(matrix), _PLACES)
    return None if router.classify_matrix(matrix, found, n_threads) else found


@dataclass(frozen=True, eq=False)
class Trace:
    """One row at every node, whether it comes there or not.

    `child`: where it goes from there: a child's number, `FRACTIONAL`, `BOTH_BINS` or `STOP_HERE` (leaves stop).
    `guide`: what it goes by: 0 its value, 1 and up that surrogate, -1 its missing value, -2 a level that no child
    holds. `weight`: how much of the row comes there.
    """

    child: Int32Array
    guide: Int32Array
    weight: FloatArray


def trace(tree: Tree, rows: Encoded, row: int = 0) -> Trace:
    """Return the way of one row through the tree, as prediction sends it."""
    return Trace(*_router(tree).trace(rows.columns, list(rows.kinds), rows.n_rows, row))


def shap_parts(tree: Tree, rows: Encoded, n_threads: int) -> tuple[FloatArray, FloatArray]:
    """Return the base value, [outputs], and the SHAP value of each column, [rows, columns, outputs]."""
    survey(rows, tree.schema, n_threads)
    contributor: Any = tree.keep("contributor", lambda: _core.TreeShap(_arrays(tree), tree.recipe.seed))
    base: FloatArray = contributor.base()
    values: FloatArray = contributor.values(rows.columns, list(rows.kinds), rows.n_rows, n_threads)
    return base, values.reshape(rows.n_rows, len(tree.schema.columns), len(base))


def _called(tree: Tree, rows: Encoded, function: Callable[..., Any], n_threads: int, **known: bool) -> Any:
    check_threads(n_threads)
    found, infinite = function(rows.columns, list(rows.kinds), rows.n_rows, n_threads, **known)
    if infinite:
        survey(rows, tree.schema, n_threads)  # which names the place
    return found


def reach(tree: Tree, rows: Encoded, node: int, n_threads: int) -> FloatArray:
    """Return how much of each row comes to a node while a tree grows: all, nothing, or a share where rows are spread.

    The router adds up values over all paths; where the nodes of this subtree have the value 1 and all others 0, the sum
    is the part of the row that came here.
    """
    if node == 0:
        return np.ones(rows.n_rows)
    depth = tree.arrays["depth"]
    deeper = np.append(depth[node + 1 :] > depth[node], False)
    inside = np.zeros((tree.n_nodes, 1))
    inside[node : node + 1 + int(np.argmin(deeper))] = 1.0  # depth first: a subtree is one run of nodes
    router = _core.Predictor(
        dict(tree.arrays) | {"value": inside, "missing": missing_while_growing(tree)}, tree.recipe.seed
    )
    parts = _called(tree, rows, router.predict, n_threads)
    return np.asarray(parts[:, 0], dtype=np.float64)


def missing_while_growing(tree: Tree) -> Int32Array:
    """Return where splits send missing values while growing; rpart's `majority="all"` settles only afterwards."""
    missing: Int32Array = tree.arrays["missing"].copy()
    policy = tree.recipe.missing
    if not (isinstance(policy, Surrogates) and policy.majority == "all" and policy.then == "majority"):
        return missing
    given = {edit.node for edit in tree.edits if edit.missing}
    for node in np.flatnonzero(tree.arrays["stop"] == 0):
        if int(node) in given:
            continue
        i = tree.arrays["split_start"][node]
        share = tree.arrays["share"][tree.arrays["share_start"][i] : tree.arrays["share_start"][i + 1]]
        missing[i] = share.argmax() if np.count_nonzero(share == share.max()) == 1 else STOP_HERE
    return missing


def _router(tree: Tree) -> Any:
    """Return the tree made ready for rows, once."""
    return tree.keep("router", lambda: _core.Predictor(_arrays(tree) | _models(tree), tree.recipe.seed))


def _models(tree: Tree) -> dict[str, Array]:
    """Return the linear models of the nodes as prediction reads them."""
    return model_arrays(tree.models, tree.schema) if tree.models else {}


def _arrays(tree: Tree) -> dict[str, Any]:
    """Return the arrays of the tree as prediction reads them, with the bands of soft thresholds."""
    arrays = dict(tree.arrays)
    return arrays if tree.soft is None else arrays | tree.soft.split_arrays(tree.arrays["split_start"])
