"""`soften`: bands around thresholds in which a row follows both children."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from treewright.data.arrays import Array, BoolArray, FloatArray, Int64Array
from treewright.data.encoding import Encoded
from treewright.data.rows import take, weights_of
from treewright.data.survey import check_threads
from treewright.errors import DataError
from treewright.growing.progress import Progress
from treewright.prediction.encode_rows import encode_labelled
from treewright.prediction.routing import predict_values, route
from treewright.pruning.cut import rearranged
from treewright.tree.as_tree import TreeLike, constant_tree
from treewright.tree.shape import ends, rows_below
from treewright.tree.soft import Soft, softenable
from treewright.tree.tree import Tree, cost_array, predicted_index
from treewright.uncertainty.stability import stability_on

Method = Literal["error", "bootstrap"]
#: A node, and the ends of the band of its threshold.
Band = tuple[int, float, float]


def soften(
    tree: TreeLike,
    data: object,
    target: object = None,
    weight: object = None,
    *,
    method: Method = "error",
    resamples: int = 200,
    seed: int = 0,
    n_threads: int = 0,
) -> Tree:
    """Give every threshold a band in which a row follows both children.

    The weight of the child above the threshold goes from 0 at the lower end over a half at the threshold to 1 at the
    upper end, linearly on either side (the soft thresholds of C4.5's option -p). Predictions are weighted sums, as for
    a missing value that is spread; `apply` returns the leaf with most of the row's weight.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree; it is not changed.
    data : table
        The rows it was learned from.
    target : str or array-like, optional
        The target column of `data`, by name or value; by default named as in training.
    weight : str or array-like, optional
        The weights of the rows, as in training.
    method : {"error", "bootstrap"}, default="error"
        "error" (C4.5): the ends are where the threshold would make one standard error more errors on the rows of the
        node (for numbers: squared errors). "bootstrap": between them lie nine of ten thresholds of trees that are
        learned again on bootstrap samples (`stability`).
    resamples : int, default=200
        Number of bootstrap samples.
    seed : int, default=0
        Seed of the bootstrap samples.
    n_threads : int, default=0
        Number of threads; 0 means all processors. The tree is the same for any number.

    Returns
    -------
    Tree
        The same tree with bands (`tree.soft`) where thresholds have room for one. It predicts, explains itself, is
        saved, and is exported to SQL, C, Rust, JavaScript and Python; other exports refuse it.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"x": [1, 2, 3, 4, 5, 6, 7, 8], "y": list("aaabaabb")}
    >>> tree = tw.soften(tw.learn(table, "y", tw.CART.with_(max_depth=1, pruning=None)), table)
    >>> [round(end, 2) for end in tree.root.split.band]
    [4.88, 7.12]
    >>> tw.predict_proba(tree, {"x": [3, 6, 6.5, 8]}).round(2)[:, 1].tolist()
    [0.17, 0.45, 0.58, 1.0]
    """
    tree = constant_tree(tree, "soften")
    check_threads(n_threads)
    if method not in get_args(Method):
        raise DataError(f"method must be {' or '.join(map(repr, get_args(Method)))}, not {method!r}")
    if tree.calibration is not None:
        raise DataError("this tree is calibrated for crisp thresholds; soften it first and calibrate it then")
    rows = encode_labelled(tree, data, target, weight)
    if rows is None:
        raise DataError("the bands of thresholds depend on the training rows; give them as data")
    return softened_on(tree, rows, method, resamples, seed, n_threads)


def softened_on(
    tree: Tree,
    rows: Encoded,
    method: Method = "error",
    resamples: int = 200,
    seed: int = 0,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> Tree:
    """Soften a tree by encoded rows; see `soften`."""
    tree = replace(tree, soft=None)
    if method == "error":
        bands = _error_bands(tree, rows, n_threads)
    else:
        bands = _bootstrap_bands(tree, rows, resamples, seed, n_threads, progress)
    found = [(node, lower, upper) for node, lower, upper in bands if lower < upper]
    if not found:
        return tree
    node, lower, upper = zip(*found, strict=True)
    return replace(tree, soft=Soft(method, node, lower, upper))


# --- by errors --------------------------------------------------------------------------------------------------------


def _error_bands(tree: Tree, rows: Encoded, n_threads: int) -> Iterator[Band]:
    """Yield the band of each threshold by the errors of its node's rows; a row belongs to its heaviest path."""
    order, first, last = rows_below(tree, route(tree, rows, n_threads))
    end = ends(tree)
    for node in range(tree.n_nodes):
        threshold = softenable(tree.arrays, node)
        if threshold is None:
            continue
        split = tree[node].split
        assert split is not None
        here = take(rows, order[first[node] : last[node]])
        here = take(here, ~np.isnan(here.columns[split.column_index]))
        if here.n_rows:
            x = here.columns[split.column_index]
            below, above = (
                _losses(_subtree(tree, tree[node].children[child], end), here) for child in split.child_of_bin
            )
            low_side, weight = (x <= threshold if split.test == "<=" else x < threshold), weights_of(here)
            error = _standard_error(tree, np.where(low_side, below, above), weight)
            yield node, *band_by_loss(x, below * weight, above * weight, threshold, low_side, error)


def _subtree(tree: Tree, node: int, end: Int64Array) -> Tree:
    kept = np.arange(node, end[node])
    return Tree.grown(rearranged(tree.arrays, 0, kept, kept[:0]), tree.schema, tree.recipe)


def _losses(tree: Tree, rows: Encoded) -> FloatArray:
    """Return the loss of each row: its cost, 1 for a wrong class without costs, or its squared error."""
    assert rows.target is not None
    values, target = predict_values(tree, rows, 1), tree.schema.target
    losses: FloatArray
    if target.classes is None:
        losses = (rows.target - values[:, 0]) ** 2
    else:
        losses = cost_array(target)[rows.target.astype(np.intp), predicted_index(target, values)]
    return losses


def _standard_error(tree: Tree, losses: FloatArray, weight: FloatArray) -> float:
    """Return the standard error of the sum of losses: C4.5's for wrong classes, else that of a sum of rows."""
    n, total = float(weight.sum()), float(weight @ losses)
    if tree.schema.target.classes is not None and tree.schema.target.costs is None:
        return math.sqrt((total + 0.5) * (n - total + 0.5) / (n + 1))
    return math.sqrt(float(weight @ (losses - total / n) ** 2)) if n > 0 else 0.0


def band_by_loss(
    x: Array,
    below: FloatArray,
    above: FloatArray,
    threshold: float,
    low_side: BoolArray,
    standard_error: float,
) -> tuple[float, float]:
    """Return where a threshold would lose one standard error more than it does.

    `below` and `above` are the losses of the rows on either side. Between two values the loss is taken as linear; where
    it stays smaller, the band ends at the last value.
    """
    values, place = np.unique(x, return_inverse=True)
    moved = np.bincount(place, below - above, len(values))
    loss = float(above.sum()) + np.cumsum(moved)  # of the threshold at each value
    base = float(np.where(low_side, below, above).sum())
    limit = base + standard_error
    lower, upper = np.flatnonzero(values < threshold)[::-1], np.flatnonzero(values > threshold)
    return (
        _crossing(threshold, base, values[lower].tolist(), loss[lower].tolist(), limit),
        _crossing(threshold, base, values[upper].tolist(), loss[upper].tolist(), limit),
    )


def _crossing(at: float, loss: float, values: list[float], losses: list[float], limit: float) -> float:
    """Return the first point of a broken line from (at, loss) on that reaches the limit, or its last point."""
    for value, next_loss in zip(values, losses, strict=True):
        if next_loss >= limit > loss:
            return at + (value - at) * (limit - loss) / (next_loss - loss)
        at, loss = value, next_loss
    return at


# --- by refits --------------------------------------------------------------------------------------------------------


def _bootstrap_bands(
    tree: Tree, rows: Encoded, resamples: int, seed: int, n_threads: int, progress: Progress | None
) -> Iterator[Band]:
    """Yield the band of each threshold: nine of ten thresholds of the refits that keep the column."""
    found = stability_on(
        tree,
        rows,
        resamples=resamples,
        seed=seed,
        max_splits=tree.n_nodes,
        n_threads=n_threads,
        progress=progress,
    )
    for one in found.splits:
        threshold = softenable(tree.arrays, one.node)
        if threshold is not None and one.cut_range is not None:
            low, high = one.cut_range
            yield one.node, min(low, threshold), max(high, threshold)
