"""Predict ranges with a calibrated tree: an interval for numbers, a set of classes."""

from __future__ import annotations

import numpy as np

from treewright.data.arrays import BoolArray, FloatArray
from treewright.errors import DataError
from treewright.prediction.encode_rows import encoded
from treewright.prediction.routing import predict_values, route
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.calibration import Calibration
from treewright.tree.tree import Tree


def predict_interval(tree: TreeLike, data: object, *, n_threads: int = 0) -> FloatArray:
    """Predict an interval for the number of each row.

    Parameters
    ----------
    tree : Tree or fitted estimator
        A tree for a numeric target, as `calibrate` returns it.
    data : table
        Rows with the tree's columns.
    n_threads : int, default=0
        Number of threads; 0 means all processors.

    Returns
    -------
    ndarray of shape (n_rows, 2)
        The lower and the upper limit of each row.
    """
    tree = as_tree(tree)
    calibration = _calibration_of(tree, classes=False)
    rows = encoded(tree, data)
    value = predict_values(tree, rows, n_threads)
    reach = np.array(calibration.score)[route(tree, rows, n_threads), None]
    limits: FloatArray = value + reach * np.array([-1.0, 1.0])
    return limits


def predict_set(tree: TreeLike, data: object, *, n_threads: int = 0) -> BoolArray:
    """Predict a set of classes for each row.

    Parameters
    ----------
    tree : Tree or fitted estimator
        A tree for classes, as `calibrate` returns it.
    data : table
        Rows with the tree's columns.
    n_threads : int, default=0
        Number of threads; 0 means all processors.

    Returns
    -------
    ndarray of bool, shape (n_rows, n_classes)
        Whether a class is in the row's set, in the order of `tree.schema.target.classes`.
    """
    tree = as_tree(tree)
    calibration = _calibration_of(tree, classes=True)
    rows = encoded(tree, data)
    probabilities = predict_values(tree, rows, n_threads)
    limit = np.array(calibration.score)[route(tree, rows, n_threads), None]
    inside: BoolArray = 1.0 - probabilities <= limit
    return inside


def _calibration_of(tree: Tree, *, classes: bool) -> Calibration:
    if classes != (tree.schema.target.classes is not None):
        fitting = "predict_interval" if classes else "predict_set"
        raise DataError(
            f"the target {tree.schema.target.name!r} is {'a number' if classes else 'a class'}; use {fitting}"
        )
    if tree.calibration is None:
        raise DataError("the tree is not calibrated; tree = tw.calibrate(tree, rows it has not seen) does that")
    return tree.calibration
