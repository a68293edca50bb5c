"""`permutation_test`: whether a recipe finds more than chance, by learning shuffled targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.data.arrays import Array, FloatArray
from treewright.data.encoding import Encoded
from treewright.data.grid import Grid, Results
from treewright.data.kinds import KindChoice
from treewright.data.number_text import figure
from treewright.data.rows import take
from treewright.data.schema import Schema, Task
from treewright.errors import DataError
from treewright.growing.grow import grow, with_bins
from treewright.growing.progress import Progress
from treewright.pruning.cross_validation import row_draws, without
from treewright.recipes.named import CART, named_recipe
from treewright.recipes.recipe import Recipe
from treewright.training.cross_validation import scores_of
from treewright.training.folds import Mask, random_folds
from treewright.training.learn import FitOptions, training_table
from treewright.tree.text import name_text
from treewright.uncertainty.arguments import check_whole
from treewright.uncertainty.resamples import in_order

Target = Array


@dataclass(frozen=True, eq=False)
class PermutationTest(Results):
    """What a recipe reaches with the true target and with shuffled ones.

    Attributes
    ----------
    measure : str
        The held-out measure, such as "accuracy".
    higher_is_better : bool
        Whether a larger value of it is better.
    score : float
        Its mean over the folds, with the true target.
    shuffled_scores : ndarray
        The same for every shuffled target.
    root_column : str or None
        The column of the first split; None if there is none.
    root_score : float
        The score of the first split; minus infinity if there is none.
    shuffled_root_scores : ndarray
        The score of the best first split over all columns, for every shuffled target.
    """

    measure: str
    higher_is_better: bool
    score: float
    shuffled_scores: FloatArray
    root_column: str | None
    root_score: float
    shuffled_root_scores: FloatArray

    @property
    def p_value(self) -> float:
        """The share of targets, the true one included, with at least its held-out score."""
        sign = 1.0 if self.higher_is_better else -1.0
        return _share_as_good(sign * self.score, sign * self.shuffled_scores)

    @property
    def root_p_value(self) -> float:
        """The same for the first split; adjusted for all columns and cuts, because each target had its best one."""
        return _share_as_good(self.root_score, self.shuffled_root_scores)

    def grid(self) -> Grid:
        """Return the table as it is read."""
        first = "no first split" if self.root_column is None else f"first split ({name_text(self.root_column)})"
        lines = (
            (f"{self.measure} on held-out rows", self.score, self.shuffled_scores, self.p_value),
            (first, self.root_score, self.shuffled_root_scores, self.root_p_value),
        )
        rows = tuple(
            (name, _text(own), _text(float(np.median(shuffled))), figure(p)) for name, own, shuffled, p in lines
        )
        n = len(self.shuffled_scores)
        return Grid(f"against {n:,} shuffled targets", ("", "true target", "median shuffled", "p"), rows)

    def _columns(self) -> dict[str, list[Any]]:
        return {
            "target": ["true", *["shuffled"] * len(self.shuffled_scores)],
            "score": [self.score, *self.shuffled_scores.tolist()],
            "root_score": [self.root_score, *self.shuffled_root_scores.tolist()],
        }

    def __repr__(self) -> str:
        return f"<PermutationTest: p = {figure(self.p_value)} from {len(self.shuffled_scores)} shuffled targets>"


def permutation_test(
    data: object,
    target: object,
    recipe: Recipe | str = CART,
    *,
    permutations: int = 199,
    folds: int = 5,
    weight: object = None,
    kinds: Mapping[str, KindChoice] | None = None,
    task: Task | None = None,
    costs: object = None,
    priors: object = None,
    seed: int = 0,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> PermutationTest:
    """Test whether a recipe predicts better than it would if the target had nothing to do with the columns.

    The target is shuffled among the rows and the whole procedure repeated: cross-validation with pruning in every
    fold, and the search for the first split.

    Parameters
    ----------
    data : table
        A table in memory or a file, as for `learn`.
    target : str or array-like
        Name of the target column, or one value per row.
    recipe : Recipe or str, default=CART
        The algorithm.
    permutations : int, default=199
        Number of shuffled targets. The smallest possible p-value is 1 / (permutations + 1).
    folds : int, default=5
        Number of folds of the held-out score.
    weight, kinds, task, costs, priors : optional
        As for `learn`.
    seed : int, default=0
        Seed of the folds and shuffles, which do not depend on the order of rows.
    n_threads : int, default=0
        Number of threads; 0 means all processors. The result is the same for any number.
    progress : callable, optional
        Called with the fraction of the work that is done.

    Returns
    -------
    PermutationTest
        The p-values of the held-out score and of the first split; it prints as a table.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"x": list(range(40)), "y": ["a"] * 20 + ["b"] * 20}
    >>> tw.permutation_test(table, "y", permutations=19).p_value
    0.05
    """
    recipe = replace(named_recipe(recipe), rivals=0)
    check_whole(permutations=(permutations, 1), folds=(folds, 2), seed=(seed, 0))
    rows, schema = training_table(data, target, FitOptions(weight, kinds, task, None, costs, priors))
    dealt = random_folds(rows, folds, seed, stratified=False)  # folds must not know the target
    rows = with_bins(rows, n_threads)
    divided = [_Divided(without(rows, ~fold.training), take(rows, fold.test), fold.test) for fold in dealt]

    def one(target: Target) -> _Found:
        return _measured(target, rows, divided, schema, recipe)

    found: list[_Found] = []
    for each in in_order(_targets(rows, permutations, seed), one, n_threads):
        found.append(each)
        if progress is not None:
            progress(len(found) / (permutations + 1))
    own, *shuffled = found
    return PermutationTest(
        measure=own.measure,
        higher_is_better=own.higher_is_better,
        score=own.score,
        shuffled_scores=np.array([each.score for each in shuffled]),
        root_column=own.root_column,
        root_score=own.root_score,
        shuffled_root_scores=np.array([each.root_score for each in shuffled]),
    )


def _targets(rows: Encoded, permutations: int, seed: int) -> Iterator[Target]:
    """Yield the target of the rows, then shuffled ones."""
    assert rows.target is not None
    yield rows.target
    order = np.argsort(row_draws(rows, seed), kind="stable")
    for i in range(permutations):
        shuffled = np.empty_like(rows.target)
        shuffled[order] = rows.target[np.random.default_rng((seed, i)).permutation(order)]
        yield shuffled


@dataclass(frozen=True)
class _Found:
    measure: str
    higher_is_better: bool
    score: float
    root_column: str | None
    root_score: float


@dataclass(frozen=True, eq=False)
class _Divided:
    """A fold of all targets: the whole table, binned once, without the weight of the test rows; and these."""

    training: Encoded
    test: Encoded
    is_test: Mask

    def with_target(self, target: Target) -> tuple[Encoded, Encoded]:
        return replace(self.training, target=target), replace(self.test, target=target[self.is_test])


def _measured(target: Target, rows: Encoded, divided: list[_Divided], schema: Schema, recipe: Recipe) -> _Found:
    pieces = (fold.with_target(target) for fold in divided)
    scores = scores_of(pieces, schema, recipe, [recipe.pruning], n_threads=1)[0]
    if scores.refused is not None:
        raise DataError(scores.refused)
    root = grow(replace(rows, target=target), schema, recipe.with_(max_depth=1, pruning=None), n_threads=1)[0].split
    column, score = (None, -np.inf) if root is None else (root.column, root.score)
    return _Found(scores.measure, scores.higher_is_better, scores.value, column, float(score))


def _share_as_good(own: float, others: FloatArray) -> float:
    return (1 + int(np.count_nonzero(others >= own))) / (1 + len(others))


def _text(value: float) -> str:
    return figure(value) if np.isfinite(value) else ""
