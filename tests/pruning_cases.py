"""What the tests of pruning share: recipes that grow large trees, and made-up tables as the engine takes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from oracle_tables import Table

import treewright as tw
from treewright.data.encoding import Encoded
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.growing.grow import grow
from treewright.prediction.routing import predict_values

KINDS = ("numeric", "ordinal", "nominal")
FREE = tw.stopping.Stopping(zero_gain=True)
RECIPES = {
    "C45": replace(tw.C45, stopping=FREE, simplify=None, pruning=None),
    "J48": replace(tw.J48, pruning=None),
    "grouped": replace(tw.C45, branching=tw.branching.Grouped(), stopping=FREE, simplify=None, pruning=None),
    "CART": replace(tw.CART, stopping=FREE, pruning=None),
    "ignore": replace(tw.CART, missing=tw.missing.Ignore(), stopping=FREE, pruning=None),
    "random": replace(tw.C45, missing=tw.missing.RandomChild(), stopping=FREE, simplify=None, pruning=None),
    "own": replace(tw.CART, missing=tw.missing.OwnCategory(), stopping=FREE, pruning=None),
    "smoothed": replace(tw.CART, leaves=tw.stopping.Leaves(smoothing="m_estimate"), stopping=FREE, pruning=None),
}

# Without shrinking: a failure is reported at once; shrinking an expensive comparison can take longer than the suite.
promised = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=25,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def schema_of(table: Table) -> Schema:
    columns = tuple(
        ColumnSpec(f"x{i}", KINDS[kind], tuple(range(levels)) if levels else None)
        for i, (kind, levels) in enumerate(zip(table.kinds, table.levels, strict=True))
    )
    if table.n_classes:
        return Schema(columns, TargetSpec("y", "classification", tuple(range(table.n_classes))))
    return Schema(columns, TargetSpec("y", "regression"))


def encoded(table: Table) -> Encoded:
    return Encoded(
        tuple(table.columns), tuple(table.kinds), tuple(table.levels), table.n_rows, table.target, table.n_classes,
        table.weight,
    )  # fmt: skip


def grown(table: Table, recipe: str) -> tw.Tree:
    return grow(encoded(table), schema_of(table), RECIPES[recipe], 1)


def accuracy(tree: tw.Tree, table: Table) -> float:
    """The weight of the rows answered rightly; for numbers, the squared error with a minus."""
    weight = np.ones(table.n_rows) if table.weight is None else table.weight
    values = predict_values(tree, encoded(table), 1)
    if table.n_classes:
        return float(weight[values.argmax(axis=1) == table.target].sum())
    return -float((weight * (values[:, 0] - table.target) ** 2).sum())
