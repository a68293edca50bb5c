"""The rows of a node, weighed as growing weighs them.

A row spread over branches has the fraction of its weight that reaches the node; costs and priors have already altered
the weights; rows that growing leaves out weigh nothing. The whole table stays, because some rules (quantile groups,
observed thresholds) look at all of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from treewright.data.arrays import BoolArray, FloatArray
from treewright.data.encoding import MISSING_CODE, Encoded, encode
from treewright.data.kinds import KindChoice
from treewright.data.reader import read, taken
from treewright.data.rows import is_missing
from treewright.data.schema import Schema, Task
from treewright.errors import DataError
from treewright.growing.weights import growing_weights
from treewright.prediction.routing import reach
from treewright.recipes.recipe import Recipe
from treewright.training.learn import FitOptions, training_table
from treewright.tree.tree import Tree

ALL_THREADS = 0

#: Rows of so few classes are counted by one mask for each.
_FEW_CLASSES = 16


@dataclass(frozen=True, eq=False)
class Entries:
    """An encoded table, how much of each row is at the node, and how much takes part in the whole tree."""

    encoded: Encoded
    schema: Schema
    weight: FloatArray
    everywhere: FloatArray

    @property
    def total(self) -> float:
        return float(self.weight.sum())

    @cached_property
    def class_masks(self) -> tuple[BoolArray, ...] | None:
        """Which rows have each class, where every row counts once and classes are few; otherwise None."""
        classes, target = self.schema.target.classes, self.encoded.target
        if classes is None or target is None or len(classes) > _FEW_CLASSES or not (self.weight == 1.0).all():
            return None
        return tuple(target == k for k in range(len(classes)))

    @property
    def n_rows(self) -> int:
        return int(np.count_nonzero(self.weight))

    def missing(self, column: int) -> BoolArray:
        """Return where the column has no value."""
        return is_missing(self.encoded.columns[column])


def of_table(
    data: object,
    target: object,
    recipe: Recipe,
    weight: object = None,
    kinds: Mapping[str, KindChoice] | None = None,
    task: Task | None = None,
) -> Entries:
    """Return the rows of a root, for a table from which nothing was learned yet."""
    if target is None:
        raise DataError("rank_splits needs to know the target: name its column, or give a tree")
    encoded, schema = training_table(data, target, FitOptions(weight, kinds, task, keep_columns=True))
    return _entries(encoded, schema, recipe)


def at_node(tree: Tree, node: int, data: object, target: object = None, weight: object = None) -> Entries:
    """Return the rows that reach a node of a tree, as they did when it grew."""
    name = tree.schema.target.name
    frame = read(data, schema=tree.schema)
    if target is None and name not in frame.names:
        raise DataError(
            f"the table lacks the target {name!r}, without which nothing can be counted; it has the columns "
            f"{', '.join(map(repr, frame.names[:10]))}; give the table the tree was learned from, target included"
        )
    targets, frame = taken(frame, name if target is None else target, "target")
    weights = None
    if weight is not None:
        weights, frame = taken(frame, weight, "weight")
    encoded = encode(frame, tree.schema, training=False, unseen=tree.recipe.unseen, target=targets, weight=weights)
    return reaching(tree, entries_of(tree, encoded), node)


def entries_of(tree: Tree, encoded: Encoded) -> Entries:
    """Return the rows of the root, for rows that have been encoded by the tree's schema."""
    return _entries(encoded, tree.schema, tree.recipe)


def reaching(tree: Tree, entries: Entries, node: int) -> Entries:
    """Return the entries of the root with the weights that reach a node."""
    return replace(entries, weight=entries.weight * reach(tree, entries.encoded, node, ALL_THREADS))


def _entries(encoded: Encoded, schema: Schema, recipe: Recipe) -> Entries:
    assert encoded.target is not None
    weight = growing_weights(encoded, schema, recipe)
    # To growing, a level from elsewhere is no level.
    known = tuple(np.maximum(c, MISSING_CODE) if k else c for c, k in zip(encoded.columns, encoded.kinds, strict=True))
    return Entries(replace(encoded, columns=known, weight=None), schema, weight, weight)
