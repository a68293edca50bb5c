"""A fitted scikit-learn decision tree, made into a `Tree`.

The tree predicts as the estimator does, for every float64 and for missing values too. scikit-learn rounds a value to
float32 before it compares, so thresholds are moved to where that rounding turns.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.errors import DataError
from treewright.importers.build import Draft, DraftSplit, assembled
from treewright.recipes.criterion import AbsoluteError, Gini, InformationGain, Poisson, Variance
from treewright.recipes.named import SKLEARN
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree

_CLASSES: dict[str, Any] = {"gini": Gini(), "entropy": InformationGain(), "log_loss": InformationGain()}
_NUMBERS: dict[str, Any] = {
    "squared_error": Variance(), "friedman_mse": Variance(), "absolute_error": AbsoluteError(), "poisson": Poisson(),
}  # fmt: skip


def from_sklearn(estimator: Any, *, columns: Sequence[str] | None = None, target: str = "y") -> Tree:
    """Return the tree of a fitted scikit-learn decision tree.

    Parameters
    ----------
    estimator : DecisionTreeClassifier, DecisionTreeRegressor or their extra-random kin
        The fitted estimator.
    columns : sequence of str, optional
        Names of the columns, where the estimator has none; by default x0, x1, ...
    target : str, default="y"
        The name of the target.

    Returns
    -------
    Tree
        A tree that predicts as the estimator does.

    Notes
    -----
    The deviation of a numeric target is known for squared errors only.
    """
    inner = getattr(estimator, "tree_", None)
    if inner is None or not hasattr(inner, "children_left"):
        raise DataError(
            f"expected a fitted scikit-learn decision tree, not {type(estimator).__name__}; fit it first, and give the "
            "trees of a forest one by one (forest.estimators_)"
        )
    if getattr(estimator, "n_outputs_", 1) != 1:
        raise DataError(f"the estimator has {estimator.n_outputs_} outputs, but a tree predicts one target")
    classes = getattr(estimator, "classes_", None)
    labels = None if classes is None else tuple(np.asarray(classes).tolist())
    schema = Schema(
        tuple(ColumnSpec(name, "numeric") for name in _names(estimator, inner, columns)),
        TargetSpec(target, "regression" if labels is None else "classification", labels),
    )
    drafts = _drafts(inner, labels is None, str(getattr(estimator, "criterion", "")))
    return assembled(drafts, schema, _recipe(str(getattr(estimator, "criterion", ""))))


def _recipe(criterion: str) -> Recipe:
    """scikit-learn's recipe with the criterion that was used, as far as it is known here."""
    return dataclasses.replace(
        SKLEARN,
        criterion=_CLASSES.get(criterion, SKLEARN.criterion),
        regression=_NUMBERS.get(criterion, SKLEARN.regression),
    )


def _names(estimator: Any, inner: Any, columns: Sequence[str] | None) -> list[str]:
    found = columns if columns is not None else getattr(estimator, "feature_names_in_", None)
    names = [f"x{i}" for i in range(inner.n_features)] if found is None else [str(name) for name in found]
    if len(names) != inner.n_features or len(set(names)) < len(names):
        raise DataError(f"the estimator has {inner.n_features} columns; columns= must name each of them once")
    return names


def _drafts(inner: Any, numeric: bool, criterion: str) -> list[Draft]:
    value = np.asarray(inner.value, dtype=np.float64)[:, 0, :]
    weight = np.asarray(inner.weighted_n_node_samples, dtype=np.float64)
    impurity = np.asarray(inner.impurity, dtype=np.float64)
    if numeric:
        squares = impurity * weight if criterion in ("squared_error", "friedman_mse") else np.zeros_like(weight)
        stats = np.column_stack([weight, value[:, 0], np.maximum(squares, 0.0)])
    else:
        totals = value.sum(axis=1, keepdims=True)  # old versions hold weights here, new ones shares
        value = value / np.where(totals > 0, totals, 1.0)
        stats = value * weight[:, np.newaxis]
    left, right, column = (np.asarray(part) for part in (inner.children_left, inner.children_right, inner.feature))
    breaks = _turning(np.asarray(inner.threshold, dtype=np.float64))
    to_left = np.asarray(getattr(inner, "missing_go_to_left", np.zeros(len(left))))
    return [
        Draft(
            stats=tuple(stats[i].tolist()),
            value=tuple(value[i].tolist()),
            rows=int(inner.n_node_samples[i]),
            impurity=max(0.0, float(impurity[i])),
            split=None if left[i] < 0 else _split_of(int(column[i]), float(breaks[i]), bool(to_left[i])),
            children=() if left[i] < 0 else (int(left[i]), int(right[i])),
        )
        for i in range(len(left))
    ]


def _split_of(column: int, at: float, missing_left: bool) -> DraftSplit:
    if math.isfinite(at):
        return DraftSplit(column, (0, 1), (at,), missing=0 if missing_left else 1)
    return DraftSplit(
        column, (0 if at > 0 else 1,), missing=0 if missing_left else 1
    )  # only missing values go elsewhere


def _turning(threshold: FloatArray) -> FloatArray:
    """Return the largest float64 that, rounded to float32, is not above the threshold."""
    largest = float(np.finfo(np.float32).max)
    inside = np.abs(threshold) < largest
    near = np.where(inside, threshold, 0.0).astype(np.float32)
    below = np.where(near.astype(np.float64) > threshold, np.nextafter(near, np.float32(-largest)), near)
    above = np.nextafter(below, np.float32(largest))
    # Half-way between two float32 lies a float64, which is rounded to the one of them that is even.
    half = below.astype(np.float64) / 2 + above.astype(np.float64) / 2
    turning = np.where(half.astype(np.float32) == below, half, np.nextafter(half, -np.inf))
    return np.where(inside, turning, threshold)
