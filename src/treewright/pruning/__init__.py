"""Pruning: a grown tree becomes a smaller one.

Comes in: a `Tree`, a pruner, and rows where the pruner looks at rows. Goes out: a new `Tree`.
Always holds: no pruner adds a leaf; a tree that loses nothing comes back with the same arrays; the tree's recipe names
the pruner, and its cuts say what was taken away and why. Which function serves which pruner is in one table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from treewright.encode import Encoded, encode
from treewright.engine import grow
from treewright.errors import DataError, RecipeError
from treewright.pruners import PRUNERS, Pruner
from treewright.recipe import Recipe
from treewright.schema import Schema
from treewright.table import read, taken
from treewright.tree import Tree

#: A pruner's function: the tree, the pruner, the rows at hand (None if there are none), the number of threads.
Prune = Callable[[Tree, Any, Encoded | None, int], Tree]


def _as_is(tree: Tree, _pruner: Any, _rows: Encoded | None, _n_threads: int) -> Tree:
    return tree


_FUNCTIONS: dict[type[Pruner], Prune] = dict.fromkeys(PRUNERS, _as_is)

#: Pruners that also decide what the tree is grown from: the encoded table, its schema, the recipe, threads.
_GROWERS: dict[type[Pruner], Callable[[Encoded, Schema, Recipe, int], Tree]] = {}


def prune(
    tree: Tree, pruner: Pruner, data: object = None, target: object = None, weight: object = None, n_threads: int = 0
) -> Tree:
    """A smaller tree, by one of the pruners.

    `data` is a table with the tree's columns, where the pruner needs one: the training rows for a choice by
    cross-validation, other rows for `ReducedError`. `target` and `weight` are names of its columns, or arrays; without
    `target`, the column is named as in training.
    """
    if not isinstance(tree, Tree):
        raise TypeError(f"expected a Tree, as learn gives it (an estimator's is its tree_), not {type(tree).__name__}")
    return prune_rows(tree, pruner, _rows(tree, data, target, weight), n_threads)


def prune_rows(tree: Tree, pruner: Pruner, rows: Encoded | None, n_threads: int) -> Tree:
    """`prune` for rows that are encoded already."""
    _refuse(pruner, tree.schema)
    pruned = _FUNCTIONS[type(pruner)](tree, pruner, rows, n_threads)
    return Tree(pruned.arrays, pruned.schema, replace(pruned.recipe, pruning=pruner), pruned.cuts)


def grow_and_prune(encoded: Encoded, schema: Schema, recipe: Recipe, n_threads: int) -> Tree:
    """The tree of an encoded table, cut back as the recipe says."""
    pruner = recipe.pruning
    if pruner is None:
        return grow(encoded, schema, recipe, n_threads)
    _refuse(pruner, schema)
    grower = _GROWERS.get(type(pruner))
    if grower is not None:
        return grower(encoded, schema, recipe, n_threads)
    return prune_rows(grow(encoded, schema, recipe, n_threads), pruner, encoded, n_threads)


def _refuse(pruner: Pruner, schema: Schema) -> None:
    if not isinstance(pruner, PRUNERS):
        raise RecipeError(f"pruner must be a pruner such as treewright.CostComplexity(0.01), not {pruner!r}")
    if pruner.classes_only and schema.target.task == "regression":
        raise DataError(
            f"{type(pruner).__name__} counts wrong classes, but the target {schema.target.name!r} is a number; prune "
            "with CostComplexityCV() or ReducedError(), or learn with pruning=None"
        )


def _rows(tree: Tree, data: object, target: object, weight: object) -> Encoded | None:
    """The table at hand, coded as the tree's columns are."""
    if data is None:
        if target is not None or weight is not None:
            raise DataError("target and weight belong to a table; give it as data=")
        return None
    frame = read(data)
    answers, frame = taken(frame, tree.schema.target.name if target is None else target, "target")
    weights = None
    if weight is not None:
        weights, frame = taken(frame, weight, "weight")
    return encode(frame, tree.schema, training=False, unseen=tree.recipe.unseen, target=answers, weight=weights)
