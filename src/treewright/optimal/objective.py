"""What a search minimises: sums over rows for the core, and the loss of a tree in the units of the certificate."""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum

import numpy as np

from treewright.data.arrays import Array, FloatArray, IndexArray, Int32Array
from treewright.data.encoding import Encoded
from treewright.data.rows import weights_of
from treewright.data.schema import TargetSpec
from treewright.growing.weights import class_totals

#: Sums of weights are exact as long as weights are whole numbers below this.
_EXACT = 2.0**52


@dataclass(frozen=True, eq=False)
class RowLoss:
    """What the search adds up over rows, and the `unit` that turns its sums into the certificate's numbers."""

    name: str
    unit: float
    label: Int32Array | None = None
    target: FloatArray | None = None
    weight: FloatArray | None = None
    cost: FloatArray | None = None
    n_classes: int = 0

    @staticmethod
    def of(rows: Encoded, target: TargetSpec, balanced: bool) -> RowLoss:
        """Return the loss of a task: errors, costs or squared errors, by weight."""
        assert rows.target is not None
        weight = real_weights(rows, target)
        if target.classes is None:
            # Measured from a value near the mean: the sums of whole numbers stay exact, whatever their order.
            mean = np.average(rows.target, weights=weight)
            centred = np.ascontiguousarray(
                rows.target - rows.target[np.abs(rows.target - mean).argmin()], dtype=np.float64
            )
            variance = float(weight @ (rows.target - mean) ** 2)
            unit = variance if variance > 0 else 1.0
            return RowLoss("1 - R2", unit, target=centred, weight=None if rows.weight is None else weight)
        cost = None if target.costs is None else np.ascontiguousarray(target.costs, dtype=np.float64)
        name = "mean cost" if cost is not None else "1 - balanced accuracy" if balanced else "error rate"
        label = np.ascontiguousarray(rows.target, dtype=np.int32)
        if rows.weight is None and target.priors is None:
            return RowLoss(name, float(rows.n_rows), label, cost=cost, n_classes=rows.n_classes)
        whole = weight  # sums of whole numbers do not depend on the order of rows
        total = fsum(weight)
        if (weight != np.floor(weight)).any() or total > _EXACT:
            whole = np.round(weight / total * _EXACT)
        return RowLoss(name, float(whole.sum()), label, weight=whole, cost=cost, n_classes=rows.n_classes)

    def of_leaves(self, leaf: Int32Array) -> float:
        """Return the sum of the losses of leaves, given the leaf of each row."""
        place = np.unique(leaf, return_inverse=True)[1]
        return float(self.of_sums(self.sums(place, int(place.max()) + 1)).sum())

    def sums(self, group: Array, n_groups: int, rows: IndexArray | None = None) -> FloatArray:
        """Return sums over the rows of each group: of weight by class, or of weight, value and square; [sum, group]."""
        some = slice(None) if rows is None else rows
        weight = np.ones(len(group)) if self.weight is None else self.weight[some]
        if self.label is None:
            assert self.target is not None
            y = self.target[some]
            return np.array([np.bincount(group, weights=weight * y**power, minlength=n_groups) for power in (0, 1, 2)])
        cell = self.label[some] * n_groups + group
        found = np.bincount(cell, weights=weight, minlength=n_groups * self.n_classes)
        return np.asarray(found.reshape(self.n_classes, n_groups), dtype=np.float64)

    def of_sums(self, sums: FloatArray) -> FloatArray:
        """Return the loss of leaves with these sums, [sum, leaf]."""
        if self.label is None:
            total, first, second = sums
            return np.asarray(np.maximum(second - first**2 / np.where(total > 0, total, 1.0), 0.0))
        if self.cost is None:
            return np.asarray(sums.sum(axis=0) - sums.max(axis=0))
        return np.asarray((self.cost.T @ sums).min(axis=0))


def real_weights(rows: Encoded, target: TargetSpec) -> FloatArray:
    """Return the weights of the rows; with priors, those that give the classes their prior frequencies."""
    weight = weights_of(rows)
    if target.priors is None:
        return weight
    found = class_totals(rows)
    factor = np.asarray(target.priors) * found.sum() / np.where(found > 0, found, 1.0)
    return np.asarray(weight * factor[rows.target])
