"""The prediction along one column: lines between knots, flat for constant leaves, sloped for linear models.

Every line is exact: its knots are the tree's breaks and the places where a range guard begins to hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from treewright.tree.models import LinearModel
from treewright.tree.tree import Tree

#: Knots: a place on the axis and the prediction there.
Line = list[tuple[float, float]]


@dataclass(frozen=True)
class Along:
    """A column as an axis; `values` of the other columns as the core has them, those not named are missing.

    `unit`: how many of the tree's numbers are one on the axis.
    """

    tree: Tree
    column: int
    values: Mapping[int, float]
    unit: float

    def lines(self, node: int, low: float, high: float, output: int) -> list[Line]:
        """Return the prediction of a node from one place of the axis to another."""
        tree = self.tree
        model = tree[node].model
        if model is None:
            return [[(x, float(tree.arrays["value"][node, output])) for x in (low, high)]]
        if tree.schema.columns[self.column].has_levels:  # a level takes the place from half before to half behind it
            levels = [float(code) for code in range(round(low + 0.5), round(high + 0.5))]
            return [[(code + end, model.predict(self._row(code))) for end in (-0.5, 0.5)] for code in levels]
        inside = [x for x in self._guarded_from(model) if low < x < high]
        return [[(x, model.predict(self._row(x * self.unit))) for x in (low, *sorted(inside), high)]]

    def _row(self, x: float) -> list[float | None]:
        known = {**self.values, self.column: x}
        columns = range(len(self.tree.schema.columns))
        # A level that the tree does not know is -2, and counts as a missing one.
        return [None if i not in known or self._is_unseen(i, known[i]) else known[i] for i in columns]

    def _is_unseen(self, column: int, value: float) -> bool:
        return self.tree.schema.columns[column].has_levels and value < 0

    def _guarded_from(self, model: LinearModel) -> list[float]:
        """Return where a model reaches its limits."""
        free = LinearModel(model.intercept, model.terms)
        slope = sum(term.coefficient for term in model.terms if term.column == self.column)
        if slope == 0 or model.is_free:
            return []
        at_zero = free.predict(self._row(0.0))
        return [(limit - at_zero) / slope / self.unit for limit in (model.low, model.high)]
