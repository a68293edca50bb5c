"""The `Tree` of the cuts that a search found."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.arrays import FloatArray, IndexArray
from treewright.data.encoding import Encoded
from treewright.data.schema import Schema
from treewright.importers.build import Draft, assembled
from treewright.optimal.objective import real_weights
from treewright.optimal.ordered_columns import OrderedColumn, split_at
from treewright.optimal.settings import SearchSettings
from treewright.recipes.criterion import Misclassification
from treewright.recipes.named import CART
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree


def tree_of_cuts(
    found: dict[str, Any], columns: list[OrderedColumn], rows: Encoded, schema: Schema, settings: SearchSettings
) -> Tree:
    """Return the tree, with the statistics of the rows at each node."""
    return assembled(_drafts(found, columns, rows, schema), schema, recipe_of(settings))


def _drafts(found: dict[str, Any], columns: list[OrderedColumn], rows: Encoded, schema: Schema) -> list[Draft]:
    """Return nodes with the statistics of their rows; the core lists a parent before its children."""
    weight = real_weights(rows, schema.target)
    at_node = {0: np.arange(rows.n_rows)}
    drafts = []
    for node, (column, cut) in enumerate(zip(found["column"].tolist(), found["cut"].tolist(), strict=True)):
        here = at_node.pop(node)
        stats = _statistics(rows, schema, weight, here)
        value = stats[1:2] if schema.target.classes is None else tuple(each / (sum(stats) or 1.0) for each in stats)
        split = None
        children: tuple[int, ...] = ()
        if column >= 0:
            children = (int(found["low"][node]), int(found["high"][node]))
            low = columns[column].codes[here] <= cut
            at_node[children[0]], at_node[children[1]] = here[low], here[~low]
            split = split_at(columns[column], cut, rows, here)
        drafts.append(Draft(stats, value, len(here), split, children))
    return drafts


def _statistics(rows: Encoded, schema: Schema, weight: FloatArray, at_node: IndexArray) -> tuple[float, ...]:
    """Return the weight per class, or weight, mean and sum of squared deviations."""
    assert rows.target is not None
    here, w = rows.target[at_node], weight[at_node]
    if schema.target.classes is not None:
        return tuple(np.bincount(here, weights=w, minlength=rows.n_classes).tolist())
    total = float(w.sum())
    mean = float(np.clip(np.average(here, weights=w if total > 0 else None), here.min(), here.max()))
    return total, mean, float(w @ (here - mean) ** 2)


def recipe_of(settings: SearchSettings) -> Recipe:
    """Return the recipe under which the tree is listed."""
    return CART.with_(
        name="OPTIMAL",
        criterion=Misclassification(),
        missing=settings.missing,
        pruning=None,
        max_depth=int(settings.max_depth),
        min_samples_leaf=int(settings.min_samples_leaf),
        max_leaf_nodes=None if settings.max_leaves is None or settings.max_leaves < 2 else int(settings.max_leaves),
    )
