"""Scores of a tree as plain values: a confusion matrix or residuals, beside a baseline.

The baseline is the most frequent class of the rows scored; for costs and numbers it is what the root predicts. A
matrix has the true class in its rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright.data.arrays import Array, FloatArray, IndexArray, Int64Array
from treewright.data.encoding import Encoded
from treewright.prediction.class_scores import (
    average_precisions,
    balanced_accuracy,
    per_class,
    roc_aucs,
    threshold_steps,
)
from treewright.prediction.routing import predict_values
from treewright.prediction.scores import measured
from treewright.recipes.criterion import AbsoluteError
from treewright.tree.json_form import plain
from treewright.tree.tree import Tree, cost_array, predicted_index

_BINS = 25
#: A curve has at most so many thresholds, a chart at most so many rows.
_POINTS = 400


def score_on(tree: Tree, rows: Encoded, *, charts: bool = False) -> dict[str, Any]:
    """Score the predictions for labelled rows; `charts` adds a `curve` for two classes, `points` for numbers."""
    return score_of_predictions(tree, rows, predict_values(tree, rows, 0), charts=charts)


def score_of_predictions(tree: Tree, rows: Encoded, given: FloatArray, *, charts: bool = False) -> dict[str, Any]:
    """Score predictions that are there already; of the rows, only the target is read."""
    assert rows.target is not None
    if tree.schema.target.classes is None:
        found = _residuals(tree, rows, given[:, 0])
        return found | {"points": _points(given[:, 0], rows.target)} if charts else found
    n = rows.n_classes
    matrix = np.zeros((n, n))
    truth = rows.target.astype(np.intp)
    np.add.at(matrix, (truth, predicted_index(tree.schema.target, given)), 1.0)
    found = _classes(tree, matrix, "rows", truth, given, np.ones(rows.n_rows))
    return found | {"curve": _curve(truth, given, np.ones(rows.n_rows))} if charts and n == 2 else found


def score_of_leaves(tree: Tree) -> dict[str, Any] | None:
    """Score the tree on its training rows by the statistics of its leaves; None if these do not suffice."""
    if tree.models or not tree.arrays["weight"][tree.arrays["stop"] != 0].sum() > 0 or not tree.arrays["weight"][0] > 0:
        return None
    leaf = tree.arrays["stop"] != 0
    stats = tree.arrays["stats"][leaf]
    if tree.schema.target.classes is None:
        moved = stats[:, 0] * (tree.arrays["value"][leaf, 0] - stats[:, 1]) ** 2  # a prediction may not be the mean
        weight, squares = float(stats[:, 0].sum()), float((stats[:, 2] + moved).sum())
        whole = tree.arrays["stats"][0]
        headline = _headline("root mean squared error", math.sqrt(squares / weight), math.sqrt(whole[2] / whole[0]))
        return {"source": "leaves", "n": weight, "headline": headline, "measures": [headline]}
    matrix = np.zeros((stats.shape[1],) * 2)
    np.add.at(matrix.T, predicted_index(tree.schema.target, tree.arrays["value"][leaf]), stats)
    n_leaves, n_classes = stats.shape
    truth, shares = np.tile(np.arange(n_classes), n_leaves), np.repeat(tree.arrays["value"][leaf], n_classes, axis=0)
    found = _classes(tree, matrix, "leaves", truth, shares, stats.ravel())
    return found | {"curve": _curve(truth, shares, stats.ravel())} if n_classes == 2 else found


def _classes(
    tree: Tree, matrix: FloatArray, source: str, truth: IndexArray, shares: FloatArray, weight: FloatArray
) -> dict[str, Any]:
    whole, target = float(matrix.sum()), tree.schema.target
    root = int(predicted_index(target, tree.arrays["value"][:1])[0])
    # Class weights and priors can make the root predict a rare class; the baseline stays the most frequent one.
    accuracy = _headline("accuracy", float(np.trace(matrix)) / whole, float(matrix.sum(axis=1).max()) / whole)
    found: dict[str, Any] = {"source": source, "n": plain(np.array([whole]))[0], "headline": accuracy}
    if target.costs is not None:
        costs = cost_array(target)
        paid, alone = float((matrix * costs).sum()), float(matrix.sum(axis=1) @ costs[:, root])
        found["accuracy"] = accuracy
        found["headline"] = _headline("cost per row", paid / whole, alone / whole)
    aucs = roc_aucs(truth, shares, weight)
    classes = per_class(matrix)
    for score, auc, precision in zip(classes, aucs, average_precisions(truth, shares, weight), strict=True):
        score |= {"roc_auc": auc, "average_precision": precision}
    there = int(np.count_nonzero(matrix.sum(axis=1)))
    measures = [accuracy, _headline("balanced accuracy", balanced_accuracy(matrix), 1 / there)]
    known = [auc for auc in aucs if auc is not None]
    if known:
        measures.append(_headline("ROC AUC", float(np.mean(known[1:] if len(aucs) == 2 else known)), 0.5))
    return found | {"measures": measures, "classes": classes, "matrix": [plain(row) for row in matrix]}


def _curve(truth: IndexArray, shares: FloatArray, weight: FloatArray) -> dict[str, list[Any]]:
    """Return, per threshold from the highest down, the weight of each class with at least that probability.

    `hits` counts the second class, `alarms` the first. Of a curve of very many thresholds some are left out.
    """
    threshold, found, others = threshold_steps(truth == 1, shares[:, 1], weight)
    own = max(0, int(np.count_nonzero(threshold > 0.5)) - 1)  # where the tree itself predicts
    kept = np.unique([*np.linspace(0, len(threshold) - 1, min(len(threshold), _POINTS)).astype(int), own])
    columns = {"threshold": threshold, "hits": np.cumsum(found), "alarms": np.cumsum(others)}
    return {name: plain(values[kept]) for name, values in columns.items()}


def _histogram(values: FloatArray) -> tuple[Int64Array, FloatArray]:
    """Count the values, those far out in the outermost bins; wider bins where there are too few doubles for so many."""
    low, high = np.quantile(values, [0.005, 0.995]).tolist()
    inside = values.clip(low, high)
    narrowest = 2 * _BINS * math.ulp(max(abs(low), abs(high)))
    if high - low < narrowest:
        half = max(narrowest, 0.5 if low == high else 0.0)
        low, high = low - half, high + half
    return np.histogram(inside, bins=_BINS, range=(low, high))


def _residuals(tree: Tree, rows: Encoded, given: FloatArray) -> dict[str, Any]:
    assert rows.target is not None
    left = rows.target - given
    alone = np.full(rows.n_rows, tree.arrays["value"][0, 0])
    error = {
        name: [measured(name, tree.schema.target, rows, predicted) for predicted in (given, alone)]
        for name in ("absolute error", "squared error")
    }
    absolute = _headline("mean absolute error", *error["absolute error"])
    squared = _headline("root mean squared error", *map(math.sqrt, error["squared error"]))
    explained = measured("variance explained", tree.schema.target, rows, given)
    none_explained = measured("variance explained", tree.schema.target, rows, alone)
    counts, edges = _histogram(left)
    return {
        "source": "rows",
        "n": rows.n_rows,
        "headline": absolute if isinstance(tree.recipe.regression, AbsoluteError) else squared,
        "errors": [squared, absolute],
        "explained": explained,
        "measures": [squared, absolute, _headline("R²", explained, none_explained)],
        "quantiles": np.quantile(left, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]).tolist(),
        "histogram": {"counts": counts.tolist(), "edges": edges.tolist()},
    }


def _points(given: FloatArray, truth: Array) -> dict[str, list[float]]:
    """Return predicted and actual values of some rows, the same rows for every tree."""
    kept = np.unique(np.linspace(0, len(given) - 1, min(len(given), _POINTS)).astype(int))
    return {"predicted": given[kept].tolist(), "actual": truth[kept].astype(float).tolist()}


def _headline(name: str, value: float, baseline: float) -> dict[str, Any]:
    return {"name": name, "value": value, "baseline": baseline}
