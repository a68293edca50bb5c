"""How good a recipe is on rows its trees have not seen: rows set aside, and cross-validation.

Comes in: an encoded table and recipes. Goes out: scores beside what the root alone would do.
Always holds: which rows are set aside depends on their values and the seed, never on their order, and every class has
its share of them. All recipes are compared on the same folds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.encoding import Encoded
from treewright.data.schema import Schema
from treewright.errors import TreewrightError
from treewright.growing.grow import grow
from treewright.prediction.evaluation import score_on
from treewright.pruning.cross_validation import deal, some_rows
from treewright.pruning.prune import grow_and_prune, prune_rows
from treewright.recipes.pruners import Pruner, ReducedError
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Scores:
    """What one recipe reached: a measure, its mean over the folds, and how far that can be trusted.

    `baseline` is what the most frequent class or the mean reaches. Where the recipe cannot do it, `refused` says why.
    `measures` has the means of all measures by name: balanced accuracy and ROC AUC beside accuracy, R² beside errors.
    """

    measure: str
    value: float
    error: float
    baseline: float
    leaves: float
    depth: float
    refused: str | None = None
    measures: Mapping[str, float] = field(default_factory=dict)

    @property
    def higher_is_better(self) -> bool:
        return self.measure == "accuracy"


def set_aside(rows: Encoded, share: float, seed: int) -> Mask:
    """Which rows are kept for testing."""
    order = _order(rows, 2, seed)
    chosen: Mask = np.floor((order + 1) * share) > np.floor(order * share)
    return chosen


def fold_masks(rows: Encoded, folds: int, seed: int) -> list[Mask]:
    """Which rows each fold tests."""
    order = _order(rows, folds, seed)
    return [order % folds == fold for fold in range(min(folds, rows.n_rows))]


def _order(rows: Encoded, folds: int, seed: int) -> NDArray[np.intp]:
    """Each row's place when all are put in an order by class and chance."""
    first = deal(replace(rows, weight=None), folds, seed, stratified=True).first
    return np.argsort(np.argsort(first, kind="stable"), kind="stable")


def cross_validated(
    rows: Encoded,
    schema: Schema,
    recipe: Recipe,
    pruners: Sequence[Pruner | None],
    masks: Sequence[Mask],
    n_threads: int = 0,
    progress: Callable[[], object] = lambda: None,
) -> list[Scores]:
    """One `Scores` per pruner; the trees of a fold are grown once. `progress` is called after every fold and pruner."""
    found: list[list[tuple[Tree, Encoded]]] = [[] for _ in pruners]
    refused: list[str | None] = [None] * len(pruners)
    for mask in masks:
        training, test = some_rows(rows, ~mask), some_rows(rows, mask)
        whole: Tree | None = None
        for place, pruner in enumerate(pruners):
            if refused[place] is None:
                try:
                    if whole is None and not isinstance(pruner, ReducedError):
                        whole = grow(training, schema, replace(recipe, pruning=None), n_threads)
                    tree = _pruned(whole, training, schema, recipe, pruner, n_threads)
                    found[place].append((tree, test))
                except TreewrightError as error:
                    refused[place] = str(error)
            progress()
    return [_summary(some, why) for some, why in zip(found, refused, strict=True)]


def impossible(why: str) -> Scores:
    """What is told of a recipe that cannot do it."""
    return Scores("", math.nan, math.nan, math.nan, math.nan, math.nan, why)


def _pruned(
    whole: Tree | None, training: Encoded, schema: Schema, recipe: Recipe, pruner: Pruner | None, n_threads: int
) -> Tree:
    if isinstance(pruner, ReducedError) or whole is None:  # it also decides which rows the tree is grown from
        return grow_and_prune(training, schema, replace(recipe, pruning=pruner), n_threads)
    return whole if pruner is None else prune_rows(whole, pruner, training, n_threads)


def _summary(found: list[tuple[Tree, Encoded]], refused: str | None) -> Scores:
    if refused is not None or not found:
        return impossible(refused or "there are no rows to test")
    scores = [score_on(tree, test) for tree, test in found]
    heads = [score["headline"] for score in scores]
    values = np.array([head["value"] for head in heads])
    error = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return Scores(
        measure=heads[0]["name"],
        value=float(values.mean()),
        error=error,
        baseline=float(np.mean([head["baseline"] for head in heads])),
        leaves=float(np.mean([tree.n_leaves for tree, _ in found])),
        depth=float(np.mean([tree.depth for tree, _ in found])),
        measures=_means([score["measures"] for score in scores]),
    )


def _means(folds: list[list[dict[str, Any]]]) -> dict[str, float]:
    """The mean of each measure over the folds where it is defined."""
    values: dict[str, list[float]] = {}
    for measures in folds:
        for measure in measures:
            values.setdefault(measure["name"], []).append(measure["value"])
    return {name: float(np.mean(found)) for name, found in values.items()}
