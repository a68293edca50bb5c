"""How good answers are: one number for the answers to some rows.

Comes in: what is true, what was answered, the weight of each row. Goes out: a number, and whether more is better.
Always holds: classes come as their places, numbers as themselves; every row counts by its weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from treewright.encode import Encoded
from treewright.errors import DataError
from treewright.schema import TargetSpec
from treewright.tree import cost_array

Array = NDArray[Any]
FloatArray = NDArray[np.float64]

Measure = Literal["accuracy", "cost", "variance explained", "squared error", "absolute error"]


@dataclass(frozen=True)
class Scale:
    """A measure: its function of (target, truth, answers, weight), for which task, and whether more is better."""

    function: Callable[[TargetSpec, Array, Array, FloatArray], float]
    task: str
    more_is_better: bool


def chosen_measure(measure: str | None, target: TargetSpec) -> str:
    """The measure asked for, if it fits the target; without one accuracy, with costs cost, of numbers R²."""
    if measure is None:
        if target.task == "regression":
            return "variance explained"
        return "accuracy" if target.costs is None else "cost"
    if measure not in SCALES or SCALES[measure].task != target.task:
        fitting = ", ".join(repr(name) for name, scale in SCALES.items() if scale.task == target.task)
        raise DataError(f"measure must be one of {fitting} for the target {target.name!r}, not {measure!r}")
    return measure


def measured(measure: str, target: TargetSpec, rows: Encoded, answers: Array) -> float:
    """How good the answers to rows with known targets are."""
    assert rows.target is not None
    weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    return SCALES[measure].function(target, rows.target, answers, weight)


def _accuracy(_target: TargetSpec, truth: Array, answers: Array, weight: FloatArray) -> float:
    return float(weight[truth == answers].sum() / weight.sum())


def _cost(target: TargetSpec, truth: Array, answers: Array, weight: FloatArray) -> float:
    return float(weight @ cost_array(target)[truth, answers] / weight.sum())


def _squared_error(_target: TargetSpec, truth: Array, answers: Array, weight: FloatArray) -> float:
    return float(weight @ (truth - answers) ** 2 / weight.sum())


def _absolute_error(_target: TargetSpec, truth: Array, answers: Array, weight: FloatArray) -> float:
    return float(weight @ np.abs(truth - answers) / weight.sum())


def _variance_explained(target: TargetSpec, truth: Array, answers: Array, weight: FloatArray) -> float:
    mean = np.full(len(truth), weight @ truth / weight.sum())
    around_mean = _squared_error(target, truth, mean, weight)
    return 1.0 - _squared_error(target, truth, answers, weight) / around_mean if around_mean > 0 else 0.0


SCALES: dict[str, Scale] = {
    "accuracy": Scale(_accuracy, "classification", True),
    "cost": Scale(_cost, "classification", False),
    "variance explained": Scale(_variance_explained, "regression", True),
    "squared error": Scale(_squared_error, "regression", False),
    "absolute error": Scale(_absolute_error, "regression", False),
}
