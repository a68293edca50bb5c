"""Scores of predictions for rows whose target is known: one number per measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from treewright.data.arrays import Array, FloatArray
from treewright.data.encoding import Encoded
from treewright.data.frame import RawColumn, pop_column
from treewright.data.kinds import levels_of, numbers_of
from treewright.data.reader import read, read_column
from treewright.data.rows import weights_of
from treewright.data.schema import TargetSpec
from treewright.errors import DataError
from treewright.out_of_core.inputs import is_dask
from treewright.prediction.predict import batches_of, predict, predicted_codes
from treewright.tree.tree import Tree, cost_array

Measure = Literal["accuracy", "cost", "variance explained", "squared error", "absolute error"]


@dataclass(frozen=True)
class Scale:
    """A measure: its function of (target, truth, predictions, weight), its task, and whether larger is better."""

    function: Callable[[TargetSpec, Array, Array, FloatArray], float]
    task: str
    more_is_better: bool


def chosen_measure(measure: str | None, target: TargetSpec) -> str:
    """Return the measure, if it fits the target; by default accuracy, cost (with costs) or R²."""
    if measure is None:
        if target.task == "regression":
            return "variance explained"
        return "accuracy" if target.costs is None else "cost"
    if measure not in SCALES or SCALES[measure].task != target.task:
        fitting = ", ".join(repr(name) for name, scale in SCALES.items() if scale.task == target.task)
        raise DataError(f"measure must be one of {fitting} for the target {target.name!r}, not {measure!r}")
    return measure


def measured(measure: str, target: TargetSpec, rows: Encoded, predictions: Array) -> float:
    """Compute a measure for the predictions of encoded rows."""
    assert rows.target is not None
    weight = weights_of(rows)
    if not weight.any():
        raise DataError(
            f"{measure!r} cannot be measured: all {rows.n_rows} test rows have weight 0; leave the weights out, or use "
            "fewer folds"
        )
    with np.errstate(over="ignore"):  # an error beyond all numbers is infinite
        return SCALES[measure].function(target, rows.target, predictions, weight)


def measured_in_batches(
    measure: str, tree: Tree, data: object, target: str, weight: str | None = None, n_threads: int = 0
) -> float:
    """Compute a measure for a large input that contains the target; truth, prediction and weight are kept per row."""
    columns = zip(*_labelled(tree, data, target, weight, n_threads), strict=True)
    truth, predictions, weights = (np.concatenate(values) for values in columns)
    return SCALES[measure].function(tree.schema.target, truth, predictions, weights)


def _labelled(
    tree: Tree, data: Any, target: str, weight: str | None, n_threads: int
) -> Iterator[tuple[Array, Array, FloatArray]]:
    """Yield truth, predictions and weights batch by batch."""
    names = [target, *([] if weight is None else [weight])]
    if is_dask(data):
        from treewright.out_of_core.dask_lazy import together

        predictions, *columns = map(
            read_column, together(predict(tree, data), *(data[name] for name in names)), names * 2
        )
        yield _codes(tree, columns[0]), _codes(tree, predictions), _weights(columns)
        return
    for batch in batches_of(tree, data, keep=tuple(names)):
        frame = read(batch.table, only=names)
        columns = [pop_column(frame, name, role)[0] for name, role in zip(names, ("target", "weight"), strict=False)]
        yield _codes(tree, columns[0]), predicted_codes(tree, batch.rows, n_threads), _weights(columns)


def _codes(tree: Tree, column: RawColumn) -> Array:
    """Return the target as numbers or class indices; -1 for a class that the tree does not know."""
    if column.missing.any():
        raise DataError(
            f"Input y contains NaN. The target {column.name!r} is missing in some rows; drop those rows first"
        )
    classes = tree.schema.target.classes
    if classes is None:
        return numbers_of(column)
    codes, found = levels_of(column)
    index = {level: i for i, level in enumerate(classes)}
    indices: Array = np.array([index.get(level, -1) for level in found])[codes]
    return indices


def _weights(columns: list[RawColumn]) -> FloatArray:
    return np.ones(columns[0].n_rows) if len(columns) == 1 else numbers_of(columns[1]).astype(np.float64)


def _accuracy(_target: TargetSpec, truth: Array, predictions: Array, weight: FloatArray) -> float:
    return float(weight[truth == predictions].sum() / weight.sum())


def _cost(target: TargetSpec, truth: Array, predictions: Array, weight: FloatArray) -> float:
    return float(weight @ cost_array(target)[truth, predictions] / weight.sum())


def _squared_error(_target: TargetSpec, truth: Array, predictions: Array, weight: FloatArray) -> float:
    return float(weight @ (truth - predictions) ** 2 / weight.sum())


def _absolute_error(_target: TargetSpec, truth: Array, predictions: Array, weight: FloatArray) -> float:
    return float(weight @ np.abs(truth - predictions) / weight.sum())


def _variance_explained(target: TargetSpec, truth: Array, predictions: Array, weight: FloatArray) -> float:
    mean = np.full(len(truth), weight @ truth / weight.sum())
    around_mean = _squared_error(target, truth, mean, weight)
    return 1.0 - _squared_error(target, truth, predictions, weight) / around_mean if around_mean > 0 else 0.0


SCALES: dict[str, Scale] = {
    "accuracy": Scale(_accuracy, "classification", True),
    "cost": Scale(_cost, "classification", False),
    "variance explained": Scale(_variance_explained, "regression", True),
    "squared error": Scale(_squared_error, "regression", False),
    "absolute error": Scale(_absolute_error, "regression", False),
}
