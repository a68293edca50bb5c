"""Stability: the same recipe on resamples of the table, compared with the tree split by split and row by row."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from treewright.data.arrays import Array, FloatArray, Int32Array
from treewright.data.encoding import Encoded
from treewright.errors import DataError
from treewright.growing.grow import with_bins
from treewright.growing.progress import Progress
from treewright.prediction.encode_rows import encode_labelled
from treewright.prediction.predict import codes_at_leaves, predicted_codes
from treewright.prediction.routing import overlap, own_splits, route
from treewright.tree.as_tree import TreeLike, constant_tree
from treewright.tree.shape import is_leaf
from treewright.tree.tree import Tree
from treewright.uncertainty.arguments import check_whole
from treewright.uncertainty.resamples import Scheme, only_grows, refit, resample
from treewright.uncertainty.stability_report import SplitStability, Stability

#: Stands for the column of a leaf.
_NO_SPLIT = -1


def stability(
    tree: TreeLike,
    data: object,
    target: object = None,
    weight: object = None,
    *,
    scheme: Scheme = "bootstrap",
    resamples: int = 200,
    seed: int = 0,
    max_splits: int = 100,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> Stability:
    """Learn the tree again on resamples of its training rows and report what stays the same.

    Every refit follows the tree's whole recipe, pruning included. A split of the tree is looked up in a refit at the
    node that shares most of its rows (by the Jaccard index).

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    data : table
        The rows it was learned from.
    target : str or array-like, optional
        The target column of `data`, by name or value; by default named as in training.
    weight : str or array-like, optional
        The weights of the rows, as in training.
    scheme : {"bootstrap", "subsample", "cross-validation"}, default="bootstrap"
        As many rows as the table has, drawn with replacement; half of the rows, drawn without; all rows but a fold.
    resamples : int, default=200
        Number of refits; for cross-validation, the number of folds.
    seed : int, default=0
        Seed of the draws, which depend on the values of the rows and not on their order.
    max_splits : int, default=100
        Maximum number of splits looked up: those with the most rows.
    n_threads : int, default=0
        Number of threads; 0 means all processors. The report is the same for any number.
    progress : callable, optional
        Called with the fraction of the refits that are done.

    Returns
    -------
    Stability
        How often each split, column and prediction stays; it prints as text and has `to_frame()`.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"x": list(range(40)), "noise": [7 * i % 11 for i in range(40)], "y": ["a"] * 20 + ["b"] * 20}
    >>> tree = tw.learn(table, "y", tw.CART)
    >>> found = tw.stability(tree, table, resamples=50)
    >>> found.splits[0].kept
    1.0
    """
    tree = constant_tree(tree, "stability")
    check_whole(max_splits=(max_splits, 1))
    rows = _rows_of(tree, data, target, weight)
    return stability_on(tree, rows, scheme, resamples, seed, max_splits, n_threads, progress)


def stability_on(
    tree: Tree,
    rows: Encoded,
    scheme: Scheme = "bootstrap",
    resamples: int = 200,
    seed: int = 0,
    max_splits: int = 100,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> Stability:
    """Compare a tree with refits on resamples of encoded rows; see `stability`."""
    _refuse_searched(tree)
    rows = with_bins(rows, n_threads)
    samples = resample(rows, scheme, resamples, seed, only_grown=only_grows(tree, rows))
    nodes = _largest_splits(tree, max_splits)
    leaf, predicted = route(tree, rows, n_threads), predicted_codes(tree, rows, n_threads)

    is_class = tree.schema.target.classes is not None

    def summarize(fitted: Tree) -> tuple[_Refit, Array]:
        found, values = _compared(tree, leaf, nodes, fitted, rows)
        return found, values != predicted if is_class else (values - predicted) ** 2

    refits: list[_Refit] = []
    changes = np.zeros(rows.n_rows)  # added up in the order of the resamples, whichever thread is first
    for one, moved in refit(samples, tree, summarize, n_threads):
        changes += moved
        refits.append(one)
        if progress is not None:
            progress(min(1.0, len(refits) / resamples))
    mean = changes / len(refits)
    return _report(tree, nodes, refits, 1.0 - mean if is_class else np.sqrt(mean), scheme, seed)


def _rows_of(tree: Tree, data: object, target: object, weight: object) -> Encoded:
    rows = encode_labelled(tree, data, target, weight)
    if rows is None:
        raise DataError("the tree is learned again on resamples of its training rows; give them as data")
    return rows


def _refuse_searched(tree: Tree) -> None:
    if tree.certificate is not None:
        raise DataError(
            "this tree comes from a search for the best tree and not from a recipe, so it cannot be learned again here"
        )


def _largest_splits(tree: Tree, limit: int) -> Int32Array:
    """Return the inner nodes with the most rows, in their order."""
    inner = np.flatnonzero(~is_leaf(tree))
    largest = np.argsort(-tree.arrays["rows"][inner], kind="stable")[:limit]
    return np.sort(inner[largest]).astype(np.int32)


# --- one refit ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Refit:
    """What is kept of a refit: for each split looked up its column, cut and Jaccard index, and facts of the tree."""

    column: Array
    cut: FloatArray
    jaccard: FloatArray
    columns_used: set[int]
    rand: float
    n_leaves: int
    depth: int


def _compared(tree: Tree, leaf: Int32Array, nodes: Int32Array, fitted: Tree, rows: Encoded) -> tuple[_Refit, Array]:
    """Compare a refit with the tree, where each row ends in `leaf`; return the predictions of the rows too."""
    there = route(fitted, rows, 1)
    alike = overlap(tree, leaf, fitted, there, nodes)
    column, cut = _splits_at(fitted, alike.closest)
    used = set(fitted.arrays["column"][own_splits(fitted)].tolist())
    found = _Refit(column, cut, alike.jaccard, used, alike.rand, fitted.n_leaves, fitted.depth)
    return found, codes_at_leaves(fitted, rows, there)


def _splits_at(tree: Tree, nodes: Int32Array) -> tuple[Array, FloatArray]:
    """Return the column of each node's split, and its threshold; NaN where there is not exactly one."""
    arrays = tree.arrays
    column, cut = np.full(len(nodes), _NO_SPLIT), np.full(len(nodes), np.nan)
    inner = (arrays["stop"][nodes] == 0).nonzero()[0]
    split = arrays["split_start"][nodes[inner]]
    column[inner] = arrays["column"][split]
    first = arrays["break_start"][split]
    single = arrays["break_start"][split + 1] - first == 1
    cut[inner[single]] = arrays["breaks"][first[single]]
    return column, cut


# --- all of them ----------------------------------------------------------------------------------------------------


def _report(
    tree: Tree, nodes: Int32Array, refits: list[_Refit], rows: FloatArray, scheme: Scheme, seed: int
) -> Stability:
    column = np.stack([one.column for one in refits])
    cut = np.stack([one.cut for one in refits])
    jaccard = np.stack([one.jaccard for one in refits])
    used = Counter(i for one in refits for i in one.columns_used)
    names = tree.schema.names
    return Stability(
        tree=tree,
        scheme=scheme,
        resamples=len(refits),
        seed=seed,
        splits=tuple(
            _split_report(tree, int(node), column[:, i], cut[:, i], jaccard[:, i]) for i, node in enumerate(nodes)
        ),
        columns={names[i]: used[i] / len(refits) for i in sorted(used, key=lambda i: (-used[i], i))},
        rows=rows,
        rand=tuple(one.rand for one in refits),
        n_leaves=tuple(one.n_leaves for one in refits),
        depth=tuple(one.depth for one in refits),
    )


def _split_report(tree: Tree, node: int, column: Array, cut: FloatArray, jaccard: FloatArray) -> SplitStability:
    split = tree[node].split
    assert split is not None
    kept = column == split.column_index
    others = Counter(int(i) for i in column[~kept])
    names = tree.schema.names
    cuts = cut[kept & ~np.isnan(cut)] if split.threshold is not None else cut[:0]
    return SplitStability(
        node=node,
        split=split,
        rows=tree[node].rows,
        kept=float(kept.mean()),
        cuts=tuple(np.sort(cuts).tolist()),
        instead={
            None if i == _NO_SPLIT else names[i]: others[i] / len(column)
            for i in sorted(others, key=lambda i: (-others[i], i))
        },
        jaccard=float(jaccard.mean()),
    )
