"""How well a tree answers: a confusion matrix or residuals, beside what the root alone would do.

Comes in: a tree, and rows with their answers, or nothing but what the tree stores of its own. Goes out: plain values
with one headline.
Always holds: the baseline is the root's answer given to every row; a matrix has the truth in its rows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.encoding import Encoded
from treewright.prediction.class_scores import average_precisions, balanced_accuracy, per_class, roc_aucs
from treewright.prediction.routing import predict_values
from treewright.prediction.scores import measured
from treewright.recipes.criterion import AbsoluteError
from treewright.tree.json_form import plain
from treewright.tree.tree import Tree, cost_array, predicted_index

FloatArray = NDArray[np.float64]

_BINS = 25


def score_on(tree: Tree, rows: Encoded) -> dict[str, Any]:
    """How the tree answers these rows."""
    assert rows.target is not None
    given = predict_values(tree, rows, 0)
    if tree.schema.target.classes is None:
        return _residuals(tree, rows, given[:, 0])
    n = rows.n_classes
    matrix = np.zeros((n, n))
    truth = rows.target.astype(np.intp)
    np.add.at(matrix, (truth, predicted_index(tree.schema.target, given)), 1.0)
    return _classes(tree, matrix, "rows", truth, given, np.ones(rows.n_rows))


def score_told(tree: Tree) -> dict[str, Any] | None:
    """How the tree answers the rows it was grown from, as far as its leaves tell; None if they tell of no row."""
    if not tree.arrays["weight"][tree.arrays["stop"] != 0].sum() > 0 or not tree.arrays["weight"][0] > 0:
        return None
    leaf = tree.arrays["stop"] != 0
    stats = tree.arrays["stats"][leaf]
    if tree.schema.target.classes is None:
        weight, squares = float(stats[:, 0].sum()), float(stats[:, 2].sum())
        whole = tree.arrays["stats"][0]
        headline = _headline("root mean squared error", math.sqrt(squares / weight), math.sqrt(whole[2] / whole[0]))
        return {"told": "by the leaves", "n": weight, "headline": headline, "measures": [headline]}
    matrix = np.zeros((stats.shape[1],) * 2)
    np.add.at(matrix.T, predicted_index(tree.schema.target, tree.arrays["value"][leaf]), stats)
    n_leaves, n_classes = stats.shape
    truth, shares = np.tile(np.arange(n_classes), n_leaves), np.repeat(tree.arrays["value"][leaf], n_classes, axis=0)
    return _classes(tree, matrix, "by the leaves", truth, shares, stats.ravel())


def _classes(
    tree: Tree, matrix: FloatArray, told: str, truth: NDArray[np.intp], shares: FloatArray, weight: FloatArray
) -> dict[str, Any]:
    whole, target = float(matrix.sum()), tree.schema.target
    root = int(predicted_index(target, tree.arrays["value"][:1])[0])
    accuracy = _headline("accuracy", float(np.trace(matrix)) / whole, float(matrix[root].sum()) / whole)
    found: dict[str, Any] = {"told": told, "n": plain(np.array([whole]))[0], "headline": accuracy}
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


def _residuals(tree: Tree, rows: Encoded, given: FloatArray) -> dict[str, Any]:
    assert rows.target is not None
    left = rows.target - given
    alone = np.full(rows.n_rows, tree.arrays["value"][0, 0])
    error = {
        name: [measured(name, tree.schema.target, rows, said) for said in (given, alone)]
        for name in ("absolute error", "squared error")
    }
    absolute = _headline("mean absolute error", *error["absolute error"])
    squared = _headline("root mean squared error", *map(math.sqrt, error["squared error"]))
    explained = measured("variance explained", tree.schema.target, rows, given)
    none_explained = measured("variance explained", tree.schema.target, rows, alone)
    low, high = np.quantile(left, [0.005, 0.995])
    counts, edges = np.histogram(left.clip(low, high), bins=_BINS)
    return {
        "told": "rows",
        "n": rows.n_rows,
        "headline": absolute if isinstance(tree.recipe.regression, AbsoluteError) else squared,
        "errors": [squared, absolute],
        "explained": explained,
        "measures": [squared, absolute, _headline("R²", explained, none_explained)],
        "quantiles": np.quantile(left, [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1]).tolist(),
        "histogram": {"counts": counts.tolist(), "edges": edges.tolist()},
    }


def _headline(name: str, value: float, baseline: float) -> dict[str, Any]:
    return {"name": name, "value": value, "baseline": baseline}
