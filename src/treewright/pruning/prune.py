"""Pruning: a grown tree becomes a smaller one.

Comes in: a `Tree`, a pruner, and rows where the pruner looks at rows. Goes out: a new `Tree`.
Always holds: no pruner adds a leaf; a tree that loses nothing comes back with the same arrays; the tree's recipe names
the pruner, and its cuts say what was taken away and why. Which function serves which pruner is in one table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from treewright.data.encoding import Encoded
from treewright.data.schema import Schema
from treewright.errors import DataError, RecipeError
from treewright.growing.checks import check_recipe
from treewright.growing.grow_partitions import as_partitions, grow_table
from treewright.growing.partitions import Partitions
from treewright.growing.progress import UNREPORTED, Progress, Stage
from treewright.growing.weights import added_up, class_weights, refuse_weightless
from treewright.prediction.encode_rows import encode_labelled
from treewright.pruning.by_hand import prune_equal_leaves, prune_nodes, prune_to_depth, prune_to_leaves
from treewright.pruning.cost_complexity import (
    prune_by_complexity,
    prune_by_validated_complexity,
    prune_by_validated_threshold,
)
from treewright.pruning.error_based import prune_by_errors
from treewright.pruning.estimates import (
    prune_critical_value,
    prune_minimum_description,
    prune_minimum_error,
    prune_pessimistic,
)
from treewright.pruning.path import PruningPath, as_grown, cross_validated_path, training_path
from treewright.pruning.reduced_error import grow_and_reduce, prune_reduced_error
from treewright.recipes.pruners import (
    PRUNERS,
    CollapseNodes,
    CostComplexity,
    CostComplexityCV,
    CriticalValue,
    ErrorBased,
    ImpurityThresholdCV,
    MaxDepth,
    MaxLeaves,
    MergeEqualLeaves,
    MinimumDescription,
    MinimumError,
    Pessimistic,
    Pruner,
    ReducedError,
)
from treewright.recipes.recipe import Recipe
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.ordinary_numbers import ordinary_numbers
from treewright.tree.tree import Tree

#: A pruner's function: the tree, the pruner, the rows at hand (None if there are none), the number of threads.
Prune = Callable[[Tree, Any, Encoded | Partitions | None, int], Tree]

#: A pruner's function that grows more trees, and reports how far it is.
Validate = Callable[[Tree, Any, Encoded | Partitions | None, int, Stage], Tree]

_FUNCTIONS: dict[type[Pruner], Prune] = {
    MaxLeaves: prune_to_leaves,
    CollapseNodes: prune_nodes,
    CostComplexity: prune_by_complexity,
    CriticalValue: prune_critical_value,
    ErrorBased: prune_by_errors,
    MinimumDescription: prune_minimum_description,
    MinimumError: prune_minimum_error,
    Pessimistic: prune_pessimistic,
    ReducedError: prune_reduced_error,
    MergeEqualLeaves: prune_equal_leaves,
    MaxDepth: prune_to_depth,
}

_VALIDATED: dict[type[Pruner], Validate] = {
    CostComplexityCV: prune_by_validated_complexity,
    ImpurityThresholdCV: prune_by_validated_threshold,
}

#: Pruners that also decide what the tree is grown from: the encoded table, its schema, the recipe, threads,
#: progress.
_GROWERS: dict[type[Pruner], Callable[[Encoded | Partitions, Schema, Recipe, int, Stage], Tree]] = {
    ReducedError: grow_and_reduce
}


@ordinary_numbers()
def prune(
    tree: TreeLike,
    pruner: Pruner,
    data: object = None,
    target: object = None,
    weight: object = None,
    n_threads: int = 0,
) -> Tree:
    """A smaller tree, by one of the pruners.

    `data` is a table with the tree's columns, where the pruner needs one: the training rows for a choice by
    cross-validation, other rows for `ReducedError`. `target` and `weight` are names of its columns, or arrays; without
    `target`, the column is named as in training.
    """
    tree = as_tree(tree)
    return prune_rows(tree, pruner, encode_labelled(tree, data, target, weight), n_threads)


@ordinary_numbers()
def pruning_path(
    tree: TreeLike,
    data: object = None,
    target: object = None,
    weight: object = None,
    *,
    pruner: CostComplexityCV | None = None,
    n_threads: int = 0,
) -> PruningPath:
    """The cost-complexity path of a tree as it was grown; with its training rows, cross-validated as `pruner` says.

    A tree that was cut before has only the rest of its path without `data`, and the whole path with it.
    """
    tree = as_tree(tree)
    rows = encode_labelled(tree, data, target, weight)
    chosen = CostComplexityCV() if pruner is None else pruner
    if not isinstance(chosen, CostComplexityCV):
        raise RecipeError(f"pruner must be a CostComplexityCV, which says how the path is made, not {chosen!r}")
    if rows is None:
        return training_path(tree, chosen)
    return cross_validated_path(as_grown(tree, rows, n_threads), chosen, rows, n_threads)


def prune_rows(
    tree: Tree, pruner: Pruner, rows: Encoded | Partitions | None, n_threads: int, stage: Stage = UNREPORTED
) -> Tree:
    """`prune` for rows that are encoded already."""
    _refuse(pruner, tree.schema)
    validate = _VALIDATED.get(type(pruner))
    if validate is not None:
        pruned = validate(tree, pruner, rows, n_threads, stage)
    else:
        pruned = _FUNCTIONS[type(pruner)](tree, pruner, rows, n_threads)
    return Tree(pruned.arrays, pruned.schema, replace(pruned.recipe, pruning=pruner), pruned.cuts)


def grow_and_prune(
    encoded: Encoded | Partitions,
    schema: Schema,
    recipe: Recipe,
    n_threads: int,
    progress: Progress | None = None,
) -> Tree:
    """The tree of an encoded table, cut back as the recipe says; `progress` reaches 1 when that is done."""
    tree = _grown_and_pruned(encoded, schema, recipe, n_threads, Stage(progress))
    if progress is not None:
        progress(1.0)
    return tree


def _grown_and_pruned(
    encoded: Encoded | Partitions, schema: Schema, recipe: Recipe, n_threads: int, stage: Stage
) -> Tree:
    pruner = recipe.pruning
    if schema.target.priors is not None:
        parts = as_partitions(encoded)
        refuse_weightless(schema.target, added_up(parts.map(class_weights), parts.n_classes))
    if pruner is None:
        return grow_table(encoded, schema, recipe, n_threads, stage)
    refuse(recipe, schema)
    grower = _GROWERS.get(type(pruner))
    if grower is not None:
        return grower(encoded, schema, recipe, n_threads, stage)
    fold_trees = pruner.folds * pruner.repeats if isinstance(pruner, (CostComplexityCV, ImpurityThresholdCV)) else 0
    trees = 1 + fold_trees
    grown = grow_table(encoded, schema, recipe, n_threads, stage.part(0, trees))
    return prune_rows(grown, pruner, encoded, n_threads, stage.part(1, trees, fold_trees) if fold_trees else stage)


def refuse(recipe: Recipe, schema: Schema) -> None:
    """What neither growing nor pruning by this recipe can learn from, whatever the values."""
    check_recipe(recipe, schema)
    if recipe.pruning is not None:
        _refuse(recipe.pruning, schema)


def _refuse(pruner: Pruner, schema: Schema) -> None:
    if not isinstance(pruner, PRUNERS):
        raise RecipeError(f"pruner must be a pruner such as treewright.pruning.CostComplexity(0.01), not {pruner!r}")
    if pruner.classes_only and schema.target.task == "regression":
        raise DataError(
            f"{type(pruner).__name__} counts wrong classes, but the target {schema.target.name!r} is a number; prune "
            "with CostComplexityCV() or ReducedError(), or learn with pruning=None"
        )
