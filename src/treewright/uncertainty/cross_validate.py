"""`cross_validate`: the held-out score of whole recipes, pruning included, on the same folds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from treewright.criteria.checks import check_confidence
from treewright.data.grid import Grid, Results
from treewright.data.kinds import KindChoice
from treewright.data.number_text import figure
from treewright.data.reader import read, taken
from treewright.data.schema import Task
from treewright.errors import DataError
from treewright.growing.progress import Progress
from treewright.growing.weights import weighted
from treewright.recipes.named import CART, named_recipe
from treewright.recipes.recipe import Recipe
from treewright.training.cross_validation import Scores, cross_validated
from treewright.training.folds import Fold, grouped_folds, ordered_folds, random_folds
from treewright.training.learn import FitOptions, training_table
from treewright.uncertainty.arguments import check_whole
from treewright.uncertainty.corrected_test import corrected_error, interval, paired_p

_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class CrossValidation(Results):
    """Held-out scores of recipes on the same folds.

    Attributes
    ----------
    scores : dict
        For each recipe, by name, its `Scores`: the measure, its mean and its value in every fold, the baseline, the
        mean size of the trees.
    folds : tuple of Fold
        Masks of the rows learned from and tested, fold by fold.
    """

    scores: Mapping[str, Scores]
    folds: tuple[Fold, ...]

    @property
    def best(self) -> str:
        """The name of the recipe with the best mean; of equals the one with fewer leaves, then the first."""
        return min(self.scores, key=lambda name: (-self.scores[name].merit, self.scores[name].leaves))

    @property
    def test_ratio(self) -> float:
        """The number of test rows per training row, averaged over the folds."""
        return math.fsum(fold.test.sum() / fold.training.sum() for fold in self.folds) / len(self.folds)

    def error(self, name: str) -> float:
        """Return the standard error of a recipe's mean, corrected for training rows that folds share.

        Parameters
        ----------
        name : str
            The name of the recipe.

        Returns
        -------
        float
            The corrected standard error (Nadeau and Bengio 2003).
        """
        return corrected_error(self._of(name).values, self.test_ratio)

    def interval(self, name: str, confidence: float = _CONFIDENCE) -> tuple[float, float]:
        """Return the confidence interval of a recipe's mean score.

        Parameters
        ----------
        name : str
            The name of the recipe.
        confidence : float, default=0.95
            The probability, above 0 and below 1, with which such intervals hold the true mean.

        Returns
        -------
        tuple of float
            The lower and the upper limit.
        """
        check_confidence(confidence)
        return interval(self._of(name).values, self.test_ratio, confidence)

    def p_value(self, first: str, second: str) -> float:
        """Return the p-value of the difference between two recipes.

        Parameters
        ----------
        first, second : str
            The names of the recipes.

        Returns
        -------
        float
            Two-sided, by the corrected paired t test of Nadeau and Bengio (2003).
        """
        return paired_p(self._of(first).values, self._of(second).values, self.test_ratio)

    def grid(self) -> Grid:
        """Return the table as it is read: one row per recipe, the best first."""
        best = self.best
        names = sorted(self.scores, key=lambda name: -self.scores[name].merit)
        rows = []
        for name in names:
            one = self.scores[name]
            low, high = self.interval(name)
            p = "" if name == best else figure(self.p_value(name, best))
            size = f"{one.leaves:.1f}", f"{one.depth:.1f}"
            rows.append(
                (name, figure(one.value), figure(self.error(name)), f"{figure(low)} to {figure(high)}", p, *size)
            )
        first = self.scores[best]
        caption = f"{first.measure} on held-out rows, {len(self.folds)} folds"
        header = ("recipe", first.measure, "error", "95 % interval", "p against the best", "leaves", "depth")
        notes = (
            f"baseline (the root alone): {figure(first.baseline)}",
            "error, interval and p: corrected for training rows that folds share (Nadeau and Bengio 2003)",
        )
        return Grid(caption, header, tuple(rows), notes=notes)

    def _columns(self) -> dict[str, list[Any]]:
        pairs = [(name, fold, value) for name, one in self.scores.items() for fold, value in enumerate(one.values)]
        names = ("recipe", "fold", "score")
        return {name: [pair[i] for pair in pairs] for i, name in enumerate(names)}

    def __repr__(self) -> str:
        return f"<CrossValidation: {len(self.scores)} recipes, {len(self.folds)} folds>"

    def _of(self, name: str) -> Scores:
        if name not in self.scores:
            raise DataError(f"there is no recipe {name!r} here; there are {', '.join(map(repr, self.scores))}")
        return self.scores[name]


def cross_validate(
    data: object,
    target: object,
    recipes: Recipe | str | Iterable[Recipe | str] | Mapping[str, Recipe | str] = CART,
    *,
    folds: int = 10,
    repeats: int = 1,
    stratified: bool = True,
    groups: object = None,
    time: object = None,
    weight: object = None,
    kinds: Mapping[str, KindChoice] | None = None,
    task: Task | None = None,
    class_weight: object = None,
    costs: object = None,
    priors: object = None,
    seed: int = 0,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> CrossValidation:
    """Score recipes on rows that their trees have not seen.

    Every fold repeats the whole procedure, pruning included.

    Parameters
    ----------
    data : table
        A table in memory or a file, as for `learn`.
    target : str or array-like
        Name of the target column, or one value per row.
    recipes : Recipe, str, list or dict, default=CART
        One recipe or several, compared on the same folds; a dict gives them names.
    folds : int, default=10
        Number of folds; no more than rows.
    repeats : int, default=1
        How often the rows are dealt into folds anew; 1 with `time`.
    stratified : bool, default=True
        Whether every fold has its share of each class.
    groups : str or array-like, optional
        Column, or one value per row, whose equal values stay in one fold. It is not learned from.
    time : str or array-like, optional
        Column, or one value per row, that orders the rows: each fold learns from earlier rows and tests the next. It is
        not learned from.
    weight, kinds, task, class_weight, costs, priors : optional
        As for `learn`.
    seed : int, default=0
        Seed of the folds, which do not depend on the order of rows.
    n_threads : int, default=0
        Number of threads; 0 means all processors.
    progress : callable, optional
        Called with the fraction of the work that is done.

    Returns
    -------
    CrossValidation
        Means, corrected standard errors and intervals, and p-values of differences; it prints as a table.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"x": list(range(60)), "y": ["a"] * 30 + ["b"] * 30}
    >>> found = tw.cross_validate(table, "y", ["cart", "c45"], folds=5)
    >>> found.scores["CART"].value > 0.9
    True
    """
    chosen = _named(recipes)
    check_whole(folds=(folds, 2), repeats=(repeats, 1), seed=(seed, 0))
    if groups is not None and time is not None:
        raise DataError("groups and time are two ways to choose folds; give one of them")
    if time is not None and repeats > 1:
        raise DataError(
            f"rows have one order in time, so there is nothing to deal anew {repeats} times; leave repeats out"
        )
    frame = read(data)
    apart = None
    if groups is not None or time is not None:
        apart, frame = taken(frame, groups if time is None else time, "groups" if time is None else "time")
    options = FitOptions(weight, kinds, task, class_weight, costs, priors)
    rows, schema = training_table(frame, target, options)
    dealt: list[Fold]
    if apart is None:
        dealt = random_folds(rows, folds, seed, repeats=repeats, stratified=stratified)
    else:
        dealt = grouped_folds(apart, folds, seed, repeats=repeats) if time is None else ordered_folds(apart, folds)
    rows = weighted(rows, schema, class_weight)
    step = _steps(progress, len(dealt) * len(chosen))
    scores = {}
    for name, recipe in chosen.items():
        scores[name] = cross_validated(rows, schema, recipe, [recipe.pruning], dealt, n_threads, step)[0]
        if scores[name].refused is not None:
            raise DataError(f"{name}: {scores[name].refused}")
    return CrossValidation(scores, tuple(dealt))


def _named(recipes: Any) -> dict[str, Recipe]:
    if isinstance(recipes, Mapping) and recipes:
        return {str(name): named_recipe(recipe) for name, recipe in recipes.items()}
    listed = [recipes] if isinstance(recipes, (Recipe, str)) else list(recipes)
    if not listed:
        raise DataError("recipes is empty; give at least one")
    found: dict[str, Recipe] = {}
    for recipe in map(named_recipe, listed):
        name, again = recipe.name, 2
        while name in found:
            name, again = f"{recipe.name} {again}", again + 1
        found[name] = recipe
    return found


def _steps(progress: Progress | None, total: int) -> Any:
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done / total)

    return step
