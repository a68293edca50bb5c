"""Resamples of a table as weights of its rows, and refits on them.

A resample depends on the values of the rows and the seed, never on their order: rows are drawn in the order of a hash.
The table is shared by all refits and never copied.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal, TypeVar, get_args

import numpy as np

from treewright.data.encoding import Encoded
from treewright.data.rows import weights_of
from treewright.errors import DataError
from treewright.growing.side_by_side import threads_worth
from treewright.pruning.cross_validation import deal, row_draws
from treewright.recipes.criterion import PiecewiseLinear
from treewright.recipes.leaves import Constant
from treewright.training.honest import learn_honestly
from treewright.training.learn import grow_and_prune
from treewright.tree.tree import Tree
from treewright.uncertainty.arguments import check_whole

#: Rows drawn with replacement; half of the rows, drawn without; all rows but a fold.
Scheme = Literal["bootstrap", "subsample", "cross-validation"]

#: Of so many rows at a time something is worked out that is larger than they are.
AT_ONCE = 1 << 16

Item = TypeVar("Item")
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class Resamples:
    """The resamples of a table by number; each is made on access, so that few exist at a time."""

    n: int
    make: Callable[[int], Encoded]

    def __getitem__(self, i: int) -> Encoded:
        if not 0 <= i < self.n:
            raise IndexError(i)
        return self.make(i)


def resample(rows: Encoded, scheme: Scheme, resamples: int, seed: int, *, only_grown: bool = False) -> Resamples:
    """Return the rows of each resample: the same table with other weights; a row that is not in it has weight zero.

    `only_grown`: only `grow` reads the rows, and it needs no weights beside the number of repeats.
    """
    if scheme not in get_args(Scheme):
        raise DataError(f"scheme must be {', '.join(map(repr, get_args(Scheme)))}, not {scheme!r}")
    check_whole(resamples=(resamples, 2), seed=(seed, 0))
    if scheme == "cross-validation":
        folds = deal(rows, resamples, seed, stratified=True)
        return Resamples(folds.n, lambda i: replace(rows, weight=weights_of(rows) * (1.0 - folds.share_in(i))))
    n = rows.n_rows
    order = np.argsort(row_draws(rows, seed), kind="stable").astype(np.int32)

    def drawn(i: int) -> Encoded:
        rng = np.random.default_rng((seed, i))
        repeats = np.zeros(n, dtype=np.int32)
        if scheme == "subsample":
            repeats[order] = rng.permutation(n) < (n + 1) // 2
        elif n <= AT_ONCE:
            repeats[order] = np.bincount(rng.integers(0, n, n), minlength=n)
        else:  # the same draws in less memory
            for start in range(0, n, AT_ONCE):
                np.add.at(repeats, order[rng.integers(0, n, min(AT_ONCE, n - start))], 1)
        if only_grown and rows.weight is None:
            return replace(rows, repeats=repeats)
        weight = repeats.astype(np.float64) if rows.weight is None else rows.weight * repeats
        return replace(rows, weight=weight, repeats=repeats)

    return Resamples(resamples, drawn)


def refit(samples: Resamples, tree: Tree, summarize: Callable[[Tree], Found], n_threads: int) -> Iterator[Found]:
    """Learn the tree again from each sample; return summaries of the refits in order."""
    again = procedure(tree)
    return in_order(range(samples.n), lambda i: summarize(again(samples[i])), n_threads)


def only_grows(tree: Tree, rows: Encoded) -> bool:
    """Return whether a refit is nothing but growing, and whether a value is missing does not depend on the sample."""
    recipe, target = tree.recipe, tree.schema.target
    counts = isinstance(recipe.leaves, Constant) and not isinstance(recipe.regression, PiecewiseLinear)
    chooses = isinstance(recipe.leaves, Constant) and recipe.leaves.smoothing == "shrinkage_cv"
    plain = counts and not chooses and recipe.pruning is None and not recipe.drop_blank_rows
    return plain and rows.complete and tree.honest is None and target.priors is None and target.costs is None


def procedure(tree: Tree) -> Callable[[Encoded], Tree]:
    """Return how the tree was learned, with pruning and honest leaves, as a function of other rows."""
    recipe = replace(tree.recipe, rivals=0)  # which change no tree and are not read

    def grown(rows: Encoded) -> Tree:
        return grow_and_prune(rows, tree.schema, recipe, n_threads=1)

    if tree.honest is None:
        return grown
    return lambda rows: learn_honestly(rows, grown, recipe.seed, n_threads=1)


def in_order(items: Iterable[Item], function: Callable[[Item], Found], n_threads: int) -> Iterator[Found]:
    """Yield the function of each item, in the order of the items, computed in threads.

    No more results than threads wait to be read.
    """
    n = threads_worth(n_threads)
    with ThreadPoolExecutor(n) as pool:
        waiting: deque[Future[Found]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) > n:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for each in waiting:
                each.cancel()
