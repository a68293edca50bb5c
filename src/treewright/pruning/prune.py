"""Prune a tree: the public functions, and the table from pruner to function.

No pruner adds a leaf; a tree that loses nothing keeps its arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from treewright.data.encoding import Encoded
from treewright.data.finite_arithmetic import finite_arithmetic
from treewright.errors import DataError, RecipeError
from treewright.fitting.fit_models import with_models
from treewright.growing.checks import check_pruner
from treewright.growing.partitions import Partitions
from treewright.growing.progress import UNREPORTED, Stage
from treewright.prediction.encode_rows import encode_labelled
from treewright.pruning.adjusted_error import prune_by_adjusted_error
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
from treewright.pruning.model_losses import with_residuals
from treewright.pruning.path import PruningPath, as_grown, cross_validated_path, training_path
from treewright.pruning.reduced_error import hold_out, prune_reduced_error
from treewright.recipes.criterion import PiecewiseLinear
from treewright.recipes.leaves import Linear
from treewright.recipes.missing import Surrogates
from treewright.recipes.pruners import (
    AdjustedError,
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
from treewright.recipes.stopping import Complexity
from treewright.tree.as_tree import TreeLike, as_tree, constant_tree
from treewright.tree.leaf_values import shrunk, unshrunk
from treewright.tree.tree import Tree

#: Pruners that need the tree alone.
_BY_TREE: dict[type[Pruner], Callable[[Tree, Any], Tree]] = {
    CollapseNodes: prune_nodes,
    CriticalValue: prune_critical_value,
    MaxDepth: prune_to_depth,
    MaxLeaves: prune_to_leaves,
    MergeEqualLeaves: prune_equal_leaves,
    MinimumDescription: prune_minimum_description,
    MinimumError: prune_minimum_error,
    Pessimistic: prune_pessimistic,
}

#: Pruners that need rows too: (tree, pruner, rows or None, n_threads, stage).
_BY_ROWS: dict[type[Pruner], Callable[[Tree, Any, Encoded | Partitions | None, int, Stage], Tree]] = {
    AdjustedError: prune_by_adjusted_error,
    CostComplexity: prune_by_complexity,
    CostComplexityCV: prune_by_validated_complexity,
    ErrorBased: prune_by_errors,
    ImpurityThresholdCV: prune_by_validated_threshold,
    ReducedError: prune_reduced_error,
}

#: Pruners that compare no predictions, so that the nodes they make leaves predict by their linear models.
_KEEPS_MODELS = (CollapseNodes, MaxDepth)

#: Pruners that compare the errors of linear models on the training rows; those of Linear they fit anew.
_COMPARES_MODELS = (AdjustedError, CostComplexity, CostComplexityCV)


@finite_arithmetic()
def prune(
    tree: TreeLike,
    pruner: Pruner,
    data: object = None,
    target: object = None,
    weight: object = None,
    n_threads: int = 0,
) -> Tree:
    """Prune a tree.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree; it is not changed.
    pruner : Pruner
        The method, such as `tw.pruning.CostComplexity(0.01)`.
    data : table, optional
        Rows with the tree's columns, where the pruner needs them: the training rows for cross-validation and subtree
        raising, validation rows for `ReducedError`.
    target : str or array-like, optional
        The target column of `data`, by name or value; by default named as in training.
    weight : str or array-like, optional
        The weights of the rows of `data`.
    n_threads : int, default=0
        Number of threads; 0 means all processors.

    Returns
    -------
    Tree
        The smaller tree; `cuts` lists what was removed and why.
    """
    tree = as_tree(tree)
    if tree.honest is not None:
        raise DataError(
            "the leaves of an honest tree are filled by rows that did not choose its splits, and pruning would compare "
            "both; put the pruner into the recipe of learn(..., honest=True)"
        )
    if tree.soft is not None:
        raise DataError("pruning counts rows on either side of a threshold; prune the tree first and soften it then")
    rows = encode_labelled(tree, data, target, weight)
    if rows is not None and tree.models and isinstance(pruner, _COMPARES_MODELS):
        bare = replace(tree, models=()) if isinstance(tree.recipe.leaves, Linear) else tree
        return with_models(prune_rows(bare, pruner, rows, n_threads), rows, n_threads)
    if tree.models and not isinstance(pruner, _KEEPS_MODELS):
        constant_tree(tree, f"{type(pruner).__name__}, applied to a finished tree,")
    return shrunk(prune_rows(unshrunk(tree), pruner, rows, n_threads))


@finite_arithmetic()
def pruning_path(
    tree: TreeLike,
    data: object = None,
    target: object = None,
    weight: object = None,
    *,
    pruner: CostComplexityCV | None = None,
    n_threads: int = 0,
) -> PruningPath:
    """Compute the cost-complexity path of a tree, cross-validated if its training rows are given.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree. Without `data`, the path of a pruned tree is only the rest of its path.
    data : table, optional
        The training rows, for held-out risks.
    target : str or array-like, optional
        The target column of `data`, by name or value; by default named as in training.
    weight : str or array-like, optional
        The weights of the rows of `data`.
    pruner : CostComplexityCV, optional
        Folds, repeats, seed and risk; by default `CostComplexityCV()`.
    n_threads : int, default=0
        Number of threads; 0 means all processors.

    Returns
    -------
    PruningPath
        One entry per nested tree, from the whole tree to its root.
    """
    tree = as_tree(tree)
    rows = encode_labelled(tree, data, target, weight)
    if tree.models and rows is None:
        raise DataError("pruning_path compares linear models of the training rows; give them as data=")
    if isinstance(tree.recipe.leaves, Linear):
        tree = replace(tree, models=())
    tree = unshrunk(tree)
    chosen = CostComplexityCV() if pruner is None else pruner
    if not isinstance(chosen, CostComplexityCV):
        raise RecipeError(f"pruner must be a CostComplexityCV, which defines how the path is made, not {chosen!r}")
    if rows is None:
        return training_path(tree, chosen)
    grown = with_residuals(as_grown(tree, rows, n_threads), rows, n_threads)
    return cross_validated_path(grown, chosen, rows, n_threads)


def worth_completing(recipe: Recipe) -> bool:
    """Return whether rivals and surrogates are better searched once it is known which nodes are kept.

    The pruners of a limit only cut, and leave little of a tree that was grown in full. Where leaves are limited, the
    order of growth matters, so it cannot be repeated for some nodes.
    """
    cuts_much = isinstance(recipe.pruning, (CostComplexity, CostComplexityCV, ImpurityThresholdCV)) or (
        recipe.pruning is None and isinstance(recipe.simplify, Complexity)
    )
    extras = recipe.rivals > 0 or isinstance(recipe.missing, Surrogates)
    pieces = isinstance(recipe.regression, PiecewiseLinear)
    return cuts_much and extras and not pieces and recipe.stopping.max_leaf_nodes is None


def rows_for(
    pruner: Pruner, rows: Encoded | Partitions, resources: ExitStack
) -> tuple[Encoded | Partitions, Encoded | Partitions]:
    """Return the rows to grow from and those to prune with: the same, unless the pruner holds rows out."""
    if not isinstance(pruner, ReducedError):
        return rows, rows
    growing, pruning = hold_out(rows, pruner)
    resources.callback(growing.close)
    resources.callback(pruning.close)
    return growing, pruning


def prune_rows(
    tree: Tree, pruner: Pruner, rows: Encoded | Partitions | None, n_threads: int, stage: Stage = UNREPORTED
) -> Tree:
    """Prune with rows that are encoded already, a tree whose predictions are not shrunk."""
    check_pruner(pruner, tree.schema)
    by_rows = _BY_ROWS.get(type(pruner))
    pruned = _BY_TREE[type(pruner)](tree, pruner) if by_rows is None else by_rows(tree, pruner, rows, n_threads, stage)
    recipe = replace(pruned.recipe, pruning=pruner)
    return Tree(pruned.arrays, pruned.schema, recipe, pruned.cuts, edits=pruned.edits, models=pruned.models)
