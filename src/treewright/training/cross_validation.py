"""Score recipes on held-out rows and by cross-validation, beside the baseline (the root alone).

Held-out rows depend on values and the seed, never on row order, and are stratified. All recipes share the same folds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from treewright.data.encoding import Encoded
from treewright.data.rows import take
from treewright.data.schema import Schema
from treewright.errors import TreewrightError
from treewright.fitting.fit_models import with_models
from treewright.growing.grow import grow
from treewright.prediction.class_scores import per_class
from treewright.prediction.evaluation import score_on
from treewright.pruning.prune import prune_rows
from treewright.recipes.criterion import PiecewiseLinear
from treewright.recipes.leaves import Constant
from treewright.recipes.pruners import Pruner
from treewright.recipes.recipe import Recipe
from treewright.training.folds import Fold
from treewright.training.learn import grow_and_prune
from treewright.tree.leaf_values import shrunk
from treewright.tree.tree import Tree


@dataclass(frozen=True)
class Scores:
    """What one recipe reached: a measure, its mean over the folds, and how far that can be trusted.

    `baseline` is what the most frequent class of the training rows, or their mean, reaches. `refused`: why the recipe
    cannot do it.
    `measures` has the means of all measures by name: balanced accuracy and ROC AUC beside accuracy, R² beside errors;
    `values` has the measure in each fold; `classes` has rows, recall and precision of each class over the held-out rows
    of all folds, and the mean of its average precisions.
    """

    measure: str
    value: float
    error: float
    baseline: float
    leaves: float
    depth: float
    refused: str | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    values: tuple[float, ...] = ()
    classes: tuple[Mapping[str, Any], ...] = ()

    @property
    def higher_is_better(self) -> bool:
        return self.measure == "accuracy"

    @property
    def merit(self) -> float:
        """The mean, with its sign changed where less is better."""
        return self.value if self.higher_is_better else -self.value


def cross_validated(
    rows: Encoded,
    schema: Schema,
    recipe: Recipe,
    pruners: Sequence[Pruner | None],
    folds: Sequence[Fold],
    n_threads: int = 0,
    progress: Callable[[], object] = lambda: None,
) -> list[Scores]:
    """Return one `Scores` per pruner; each fold's tree is grown once. `progress` is called after each."""
    divided = ((take(rows, fold.training), take(rows, fold.test)) for fold in folds)
    return scores_of(divided, schema, recipe, pruners, n_threads, progress)


def scores_of(
    divided: Iterable[tuple[Encoded, Encoded]],
    schema: Schema,
    recipe: Recipe,
    pruners: Sequence[Pruner | None],
    n_threads: int = 0,
    progress: Callable[[], object] = lambda: None,
) -> list[Scores]:
    """Return the same for folds that are divided already, into the rows to learn from and the rows to test."""
    found: list[list[tuple[Tree, Encoded]]] = [[] for _ in pruners]
    refused: list[str | None] = [None] * len(pruners)
    for training, test in divided:
        whole: Tree | None = None
        for place, pruner in enumerate(pruners):
            if refused[place] is None:
                try:
                    shared = pruner is None or not pruner.holds_out
                    if whole is None and shared and not isinstance(recipe.regression, PiecewiseLinear):
                        whole = grow(training, schema, replace(recipe, pruning=None), n_threads)
                    tree = _pruned(whole, training, schema, recipe, pruner, n_threads)
                    found[place].append((tree, test))
                except TreewrightError as error:
                    refused[place] = str(error)
            progress()
    return [_summary(some, why) for some, why in zip(found, refused, strict=True)]


def impossible(why: str) -> Scores:
    """Return the scores of a recipe that cannot learn the table."""
    return Scores("", math.nan, math.nan, math.nan, math.nan, math.nan, why)


def _pruned(
    whole: Tree | None, training: Encoded, schema: Schema, recipe: Recipe, pruner: Pruner | None, n_threads: int
) -> Tree:
    leaves = recipe.leaves
    chooses = isinstance(leaves, Constant) and leaves.smoothing == "shrinkage_cv"  # by trees that are pruned too
    if whole is None or chooses or (pruner is not None and pruner.holds_out):
        return grow_and_prune(training, schema, replace(recipe, pruning=pruner), n_threads)
    tree = shrunk(whole if pruner is None else prune_rows(whole, pruner, training, n_threads))
    return with_models(tree, training, n_threads)


def _summary(found: list[tuple[Tree, Encoded]], refused: str | None) -> Scores:
    if refused is not None or not found:
        return impossible(refused or "there are no rows to test")
    scores = [score_on(tree, test) for tree, test in found]
    heads = [score["headline"] for score in scores]
    values = np.array([head["value"] for head in heads])
    with np.errstate(over="ignore", invalid="ignore"):  # squares of huge numbers are infinite, their spread is unknown
        mean, spread = values.mean(), values.std(ddof=1) if len(values) > 1 else math.nan
    return Scores(
        measure=heads[0]["name"],
        value=float(mean),
        error=float(spread / math.sqrt(len(values))),
        baseline=float(np.mean([_baseline(tree, score) for (tree, _), score in zip(found, scores, strict=True)])),
        leaves=float(np.mean([tree.n_leaves for tree, _ in found])),
        depth=float(np.mean([tree.depth for tree, _ in found])),
        measures=_means([score["measures"] for score in scores]),
        values=tuple(values.tolist()),
        classes=_classes(scores),
    )


def _baseline(tree: Tree, score: Mapping[str, Any]) -> float:
    """Return the score of the class that is most frequent among the training rows, or of their mean.

    The most frequent class of the tested rows would reach more than can be known, in small folds much more.
    """
    head = score["headline"]
    if head["name"] != "accuracy":
        return float(head["baseline"])
    rows = np.sum(score["matrix"], axis=1)
    return float(rows[int(tree.arrays["stats"][:1].argmax())] / rows.sum())


def _classes(folds: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], ...]:
    """Return the scores of each class, if the target has classes."""
    if "matrix" not in folds[0]:
        return ()
    entries = per_class(np.sum([fold["matrix"] for fold in folds], axis=0))
    for place, entry in enumerate(entries):
        known = [fold["classes"][place]["average_precision"] for fold in folds]
        defined = [precision for precision in known if precision is not None]
        entry["average_precision"] = float(np.mean(defined)) if defined else None
    return tuple(entries)


def _means(folds: list[list[dict[str, Any]]]) -> dict[str, float]:
    """Return the mean of each measure over the folds where it is defined."""
    values: dict[str, list[float]] = {}
    for measures in folds:
        for measure in measures:
            values.setdefault(measure["name"], []).append(measure["value"])
    return {name: float(np.mean(found)) for name, found in values.items()}
