"""`calibrate`: conformal intervals and prediction sets, leaf by leaf."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from treewright.data.arrays import FloatArray, Int32Array
from treewright.data.encoding import Encoded
from treewright.data.rows import take
from treewright.errors import DataError
from treewright.prediction.encode_rows import encode_labelled
from treewright.prediction.routing import predict_values, route
from treewright.training.folds import random_folds
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.calibration import Calibration
from treewright.tree.shape import rows_below
from treewright.tree.tree import Tree
from treewright.uncertainty.arguments import check_whole
from treewright.uncertainty.resamples import in_order, procedure


def calibrate(
    tree: TreeLike,
    data: object,
    target: object = None,
    coverage: float = 0.9,
    *,
    folds: int | None = None,
    seed: int = 0,
    n_threads: int = 0,
) -> Tree:
    """Give every leaf an interval, or a set of classes, that covers the target of new rows with a stated probability.

    Split conformal prediction per leaf: of the distances between target and prediction of m calibration rows in a
    leaf, the ceil((m + 1) coverage)-th smallest is the limit. A new row that is exchangeable with them is covered with
    at least the stated probability, whatever the distribution. A leaf with too few rows uses its nearest ancestor that
    has enough; the promise then holds over the rows of that ancestor, not within the leaf.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree; it is not changed.
    data : table
        Rows that were not used to grow or prune the tree; with `folds`, the training rows.
    target : str or array-like, optional
        The target column of `data`, by name or value; by default named as in training.
    coverage : float, default=0.9
        The probability to cover a new row's target, above 0 and below 1.
    folds : int, optional
        Calibrate on the training rows instead: each row is predicted by a tree of the same recipe that was learned
        without its fold (cross-conformal; the coverage is then approximate).
    seed : int, default=0
        Seed of the folds.
    n_threads : int, default=0
        Number of threads; 0 means all processors.

    Returns
    -------
    Tree
        The same tree with a `calibration`, for `predict_interval` and `predict_set`.

    Examples
    --------
    >>> import treewright as tw
    >>> grown = tw.learn({"x": [1, 2, 3, 4] * 5, "y": [1.0, 2.5, 7.0, 8.5] * 5}, "y", tw.CART.with_(max_depth=1))
    >>> tree = tw.calibrate(grown, {"x": [1, 4] * 9, "y": [1.2, 7.9] * 9})
    >>> tw.predict_interval(tree, {"x": [2]}).round(2)
    array([[1.2, 2.3]])
    """
    tree = as_tree(tree)
    check_coverage(coverage)
    rows = encode_labelled(tree, data, target, None)
    if rows is None:
        raise DataError("calibration needs rows with their target; give them as data")
    return calibrated_on(tree, rows, coverage, folds, seed, n_threads)


def check_coverage(coverage: object) -> None:
    """Raise `DataError` unless this is a probability between 0 and 1."""
    if not isinstance(coverage, (int, float)) or isinstance(coverage, bool) or not 0 < coverage < 1:
        raise DataError(f"coverage must lie between 0 and 1, such as 0.9, not {coverage!r}")


def calibrated_on(
    tree: Tree, rows: Encoded, coverage: float, folds: int | None = None, seed: int = 0, n_threads: int = 0
) -> Tree:
    """Calibrate a tree on encoded rows; see `calibrate`."""
    scores = _scores(tree, rows) if folds is None else _held_out_scores(tree, rows, folds, seed, n_threads)
    source, score = _limits(tree, route(tree, rows, n_threads), scores, float(coverage))
    method = "split" if folds is None else "cross"
    return replace(tree, calibration=Calibration(float(coverage), rows.n_rows, method, source, score))


def _scores(tree: Tree, rows: Encoded) -> FloatArray:
    """Return how badly the tree predicts each row: the distance, or 1 - the probability of the true class."""
    values = predict_values(tree, rows, 1)
    assert rows.target is not None
    scores: FloatArray
    if tree.schema.target.classes is None:
        scores = np.abs(rows.target - values[:, 0])
    else:
        scores = 1.0 - values[np.arange(rows.n_rows), rows.target]
    return scores


def _held_out_scores(tree: Tree, rows: Encoded, folds: int, seed: int, n_threads: int) -> FloatArray:
    check_whole(folds=(folds, 2), seed=(seed, 0))
    if tree.certificate is not None:
        raise DataError(
            "this tree comes from a search for the best tree and not from a recipe, so folds cannot learn it again; "
            "calibrate it on rows that were set aside"
        )
    dealt = random_folds(rows, folds, seed)
    found = np.empty(rows.n_rows)
    trees = in_order((take(rows, fold.training) for fold in dealt), procedure(tree), n_threads)
    for fold, fitted in zip(dealt, trees, strict=True):
        found[fold.test] = _scores(fitted, take(rows, fold.test))
    return found


def _limits(
    tree: Tree, leaf: Int32Array, scores: FloatArray, coverage: float
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return for each node the node whose rows calibrate it, and the limit that they give."""
    order, first, last = rows_below(tree, leaf)
    sorted_scores = scores[order]
    source, limit = [0] * tree.n_nodes, [0.0] * tree.n_nodes
    for node, (start, stop) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        place = math.ceil((stop - start + 1) * coverage - 1e-9)
        if place <= stop - start:
            source[node] = node
            limit[node] = float(np.partition(sorted_scores[start:stop], place - 1)[place - 1])
        elif node == 0:
            needed = math.ceil(coverage / (1 - coverage) - 1e-9)
            raise DataError(
                f"a coverage of {coverage:g} needs at least {needed} calibration rows, and there are {len(leaf)}; give "
                "more rows, or a smaller coverage"
            )
        else:
            parent = int(tree.arrays["parent"][node])
            source[node], limit[node] = source[parent], limit[parent]
    return tuple(source), tuple(limit)
