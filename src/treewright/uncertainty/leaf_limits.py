"""`leaf_limits`: exact binomial confidence limits of the probabilities in the leaves of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.criteria import binomial_limits
from treewright.data.arrays import FloatArray, Int64Array
from treewright.data.encoding import Encoded
from treewright.data.grid import Grid, Results
from treewright.data.number_text import percent
from treewright.errors import DataError
from treewright.prediction.encode_rows import encode_labelled
from treewright.prediction.routing import route
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.shape import is_leaf
from treewright.tree.text import level_text, name_text
from treewright.tree.tree import Tree


@dataclass(frozen=True, eq=False)
class LeafLimits(Results):
    """Confidence limits of the probability of every class in every leaf.

    Attributes
    ----------
    tree : Tree
        The tree.
    confidence : float
        The probability with which a pair of limits holds the true probability, at least.
    held_out : bool
        Whether the rows that were counted took no part in growing the tree.
    leaves : ndarray of int
        The nodes that are leaves.
    rows : ndarray of float, shape (n_leaves,)
        The number of rows counted in each leaf.
    share : ndarray of float, shape (n_leaves, n_classes)
        The share of each class among them; NaN in a leaf without rows.
    low, high : ndarray of float, shape (n_leaves, n_classes)
        The limits of each probability.
    """

    tree: Tree
    confidence: float
    held_out: bool
    leaves: Int64Array
    rows: FloatArray
    share: FloatArray
    low: FloatArray
    high: FloatArray

    def grid(self) -> Grid:
        """Return the table as it is read: one row per leaf, the predicted class only."""
        classes, rows = self.tree.schema.target.classes or (), []
        for i, leaf in enumerate(self.leaves):
            prediction = self.tree[int(leaf)].prediction
            k = classes.index(prediction)
            share = "" if np.isnan(self.share[i, k]) else percent(float(self.share[i, k]))
            limits = f"{percent(float(self.low[i, k]))} to {percent(float(self.high[i, k]))}"
            rows.append((str(leaf), level_text(prediction), f"{self.rows[i]:,.0f}", share, limits))
        where = "rows held out" if self.held_out else "training rows, from which the splits were chosen too"
        caption = f"probability of {name_text(self.tree.schema.target.name)} in each leaf, from {where}"
        header = ("leaf", "class", "rows", "share", f"{percent(self.confidence)} limits")
        return Grid(caption, header, tuple(rows), align="><>>>")

    def _columns(self) -> dict[str, list[Any]]:
        classes = self.tree.schema.target.classes or ()
        n = len(classes)
        return {
            "leaf": np.repeat(self.leaves, n).tolist(),
            "class": [*classes] * len(self.leaves),
            "rows": np.repeat(self.rows, n).tolist(),
            "share": [None if np.isnan(x) else x for x in self.share.ravel().tolist()],
            "low": self.low.ravel().tolist(),
            "high": self.high.ravel().tolist(),
        }

    def __repr__(self) -> str:
        return f"<LeafLimits: {len(self.leaves)} leaves, confidence {self.confidence:g}>"


def leaf_limits(tree: TreeLike, data: object = None, target: object = None, confidence: float = 0.95) -> LeafLimits:
    """Compute exact binomial confidence limits of the class probabilities in the leaves (Clopper and Pearson).

    Parameters
    ----------
    tree : Tree or fitted estimator
        A tree for classes.
    data : table, optional
        Rows that took no part in growing the tree, with their target: only then do the limits hold as stated. By
        default the training rows are counted, whose shares are too good because the splits were chosen to make them so;
        of an honest tree, the rows that filled its leaves.
    target : str or array-like, optional
        The target column of `data`, by name or value; by default named as in training.
    confidence : float, default=0.95
        The probability, above 0 and below 1, with which a pair of limits holds the true probability, at least.

    Returns
    -------
    LeafLimits
        The limits of every leaf and class; it prints as a table of the predicted classes.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"x": list(range(40)), "y": ["a"] * 20 + ["b"] * 20}
    >>> found = tw.leaf_limits(tw.learn(table, "y"), table)
    >>> found.low.round(3).tolist()
    [[0.832, 0.0], [0.0, 0.832]]
    """
    tree = as_tree(tree)
    if tree.schema.target.classes is None:
        raise DataError(
            f"the target {tree.schema.target.name!r} is a number and has no probabilities; calibrate gives intervals"
        )
    return limits_of_rows(tree, encode_labelled(tree, data, target, None), confidence)


def limits_of_rows(tree: Tree, rows: Encoded | None, confidence: float) -> LeafLimits:
    """Return the limits from encoded rows; None: from the training rows."""
    classes = tree.schema.target.classes or ()
    leaves = np.flatnonzero(is_leaf(tree))
    counts = _trained(tree, leaves) if rows is None else _counted(tree, leaves, rows)
    total = counts.sum(axis=1)
    trials = np.repeat(total, len(classes))
    limits = binomial_limits(np.minimum(counts.ravel(), trials), trials, confidence).reshape(*counts.shape, 2)
    share = np.divide(counts, total[:, None], out=np.full(counts.shape, np.nan), where=total[:, None] > 0)
    judged = rows is not None or tree.honest is not None  # by rows that chose no split
    return LeafLimits(tree, confidence, judged, leaves, total, share, limits[..., 0], limits[..., 1])


def _trained(tree: Tree, leaves: Int64Array) -> FloatArray:
    """Return the training rows of each leaf and class; weights are scaled to the number of rows.

    Of an honest tree those that filled the leaves, by weight.
    """
    if tree.honest is not None:
        return np.array(tree.honest.stats, dtype=np.float64)[leaves]
    stats = np.asarray(tree.arrays["stats"][leaves], dtype=np.float64)
    weight = stats.sum(axis=1)
    scale = np.divide(tree.arrays["rows"][leaves], weight, out=np.zeros(len(leaves)), where=weight > 0)
    found: FloatArray = stats * scale[:, None]
    return found


def _counted(tree: Tree, leaves: Int64Array, rows: Encoded) -> FloatArray:
    assert rows.target is not None
    n = rows.n_classes
    at = route(tree, rows, 0).astype(np.int64)
    counts = np.bincount(at * n + rows.target, minlength=tree.n_nodes * n).reshape(-1, n)
    return counts[leaves].astype(np.float64)
