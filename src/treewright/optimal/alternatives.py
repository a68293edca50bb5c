"""Trees that are nearly as good as the best: how many, which columns all of them use, and a few to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from treewright.data.grid import Grid, Results
from treewright.data.kinds import KindChoice
from treewright.data.number_text import amount, many
from treewright.data.schema import Task
from treewright.errors import RecipeError
from treewright.optimal.learn_optimal import search_rows
from treewright.optimal.near_trees import MOST_COLUMNS, NearTreeCounter, NearTrees, binned
from treewright.optimal.search import SearchTable, searched
from treewright.optimal.settings import Objective, SearchSettings
from treewright.recipes.missing import Missing
from treewright.training.learn import FitOptions
from treewright.tree.certificate import Certificate
from treewright.tree.text import name_text
from treewright.tree.tree import Tree

#: Quantile bins per column for counting, by the depth of the trees; deeper ones have too many trees.
_BINS = {0: 32, 1: 32, 2: 32, 3: 8, 4: 4}


@dataclass(frozen=True)
class ColumnRole:
    """What a column means to the trees near the best.

    Attributes
    ----------
    column : str
        Its name.
    root_loss : float
        The objective of the best tree whose root splits on it.
    lost : float
        What that tree loses against the best.
    proven : bool
        Whether no tree with this root is better.
    at_root, using : int, optional
        How many of the trees counted split on it at the root, and anywhere; None where they were not counted.
    needed : bool, optional
        Whether every tree within epsilon uses the column, with any cuts; None if the search was stopped before it knew.
    """

    column: str
    root_loss: float
    lost: float
    proven: bool
    at_root: int | None
    using: int | None
    needed: bool | None


@dataclass(frozen=True, eq=False)
class Alternatives(Results):
    """The trees within `epsilon` of the best.

    Attributes
    ----------
    best : Tree
        The best tree.
    epsilon : float
        The distance from its objective, in the same unit.
    count : int
        How many trees come within epsilon; trees that differ only by cuts in the same bins count once.
    complete : bool
        Whether all of them were counted; otherwise `count` is a lower bound.
    bins : int
        How many bins of each column were distinguished.
    columns : tuple of ColumnRole
        The columns, by what the best tree with them at the root loses.
    trees : tuple of Tree
        A few different trees within epsilon, best first: the best one for each column at the root.
    """

    best: Tree
    epsilon: float
    count: int
    complete: bool
    bins: int
    columns: tuple[ColumnRole, ...]
    trees: tuple[Tree, ...]

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns that all trees within epsilon use."""
        return tuple(each.column for each in self.columns if each.needed)

    def grid(self) -> Grid:
        """Return the table as it is read."""
        certificate = _certificate(self.best)
        rows = tuple(
            (
                name_text(each.column),
                amount(each.root_loss) + ("" if each.proven else " or less"),
                amount(each.lost),
                "" if each.at_root is None else f"{each.at_root:,}",
                "" if each.using is None else f"{each.using:,}",
                {True: "yes", False: "no", None: "unknown"}[each.needed],
            )
            for each in self.columns
        )
        count = many(self.count, "tree") if self.complete else f"at least {many(self.count, 'tree')}"
        comes = "comes" if self.count == 1 and self.complete else "come"
        caption = (
            f"{count} of depth {certificate.max_depth} {comes} within {amount(self.epsilon)} of the best "
            f"({certificate.objective} {amount(certificate.loss)})"
        )
        notes = (
            *((f"all of them use {', '.join(map(name_text, self.needed))}",) if self.needed else ()),
            f"counted by column and bin at each node, with at most {self.bins} bins per column",
            *(() if certificate.proven else (f"the best tree is not proven: {certificate}",)),
        )
        header = ("root column", certificate.objective, "lost", "trees with this root", "trees that use it", "needed")
        return Grid(caption, header, rows, notes=notes)

    def _columns(self) -> dict[str, Sequence[Any]]:
        names = ("column", "root_loss", "lost", "proven", "at_root", "using", "needed")
        return {name: [getattr(each, name) for each in self.columns] for name in names}

    def __repr__(self) -> str:
        return f"<Alternatives: {'' if self.complete else 'at least '}{self.count} trees within {self.epsilon:g}>"


def alternatives(
    data: object,
    target: object,
    *,
    epsilon: float = 0.01,
    max_depth: int = 2,
    min_samples_leaf: int = 1,
    leaf_penalty: float = 0.0,
    objective: Objective | None = None,
    missing: Missing | str = "learned",
    max_levels: int = 5,
    bins: int | None = None,
    n_trees: int = 5,
    time_limit: float | None = None,
    weight: object = None,
    kinds: Mapping[str, KindChoice] | None = None,
    task: Task | None = None,
    class_weight: object = None,
    costs: object = None,
    priors: object = None,
    n_threads: int = 0,
) -> Alternatives:
    """Return how many trees come near the best, what each column means to them, and a few of them.

    The best tree with each column at the root, and whether a tree within `epsilon` can do without a column, come from
    searches over every cut (`learn_optimal`). Trees are counted over the cuts between quantile bins, so that cuts that
    lie close together do not inflate the number.

    Parameters
    ----------
    data : table, path or query
        Any table `treewright.learn` reads into memory.
    target : str or array-like
        Name of the target column, or one value per row.
    epsilon : float, default=0.01
        The distance from the best objective, in its unit: the error rate, mean cost or 1 - R2.
    max_depth : int, default=2
        Maximum depth of the trees. At depth 2 all trees over the bins are counted, with up to 32 bins per column;
        deeper ones with fewer bins, and only as many as `time_limit` allows.
    min_samples_leaf : int, default=1
        Minimum number of rows in a leaf.
    leaf_penalty : float, default=0.0
        Price of a leaf, as in `learn_optimal`.
    objective : {"misclassification", "balanced_accuracy", "squared_error"}, optional
        What the trees are compared by, as in `learn_optimal`.
    missing : {"learned", "own", "majority"} or Missing, default="learned"
        Where a missing value goes, as in `learn_optimal`.
    max_levels : int, default=5
        Levels of nominal columns that are split into any two sets, as in `learn_optimal`.
    bins : int, optional
        Maximum number of bins per column for the count; 32 at depth 2, 8 at depth 3 and 4 beyond.
    n_trees : int, default=5
        How many trees to return.
    time_limit : float, optional
        Seconds for all searches and the count together.
    weight, kinds, task, class_weight, costs, priors : optional
        As in `learn_optimal`.
    n_threads : int, default=0
        Number of threads; 0 uses all processors.

    Returns
    -------
    Alternatives
        Prints as a table with one line per column; `trees` holds a few trees, `to_frame` the numbers.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"a": [0, 0, 1, 1] * 5, "b": [0, 1, 0, 1] * 5, "y": ["no", "yes", "yes", "no"] * 5}
    >>> near = tw.alternatives(table, "y")
    >>> near.count, near.needed
    (2, ('a', 'b'))
    """
    started = perf_counter()
    if not 0 <= epsilon < float("inf"):
        raise RecipeError(f"epsilon must be a finite number that is not negative, not {epsilon!r}")
    settings = SearchSettings(
        max_depth, min_samples_leaf, leaf_penalty, None, max_levels, missing, time_limit=time_limit
    )
    bins = _BINS.get(max_depth, 4) if bins is None else bins
    if bins < 2:
        raise RecipeError(f"bins must be at least 2, not {bins!r}")
    options = FitOptions(weight, kinds, task, class_weight, costs, priors)
    rows, schema, balanced = search_rows(data, target, options, objective)
    table = SearchTable.of(rows, schema, max_levels, n_threads, balanced)
    assert table is not None  # without a limit of time
    runs = _Runs(table, settings, n_threads, started)
    best = runs.best()
    columns = sorted({each.column for each in table.columns})
    by_root = runs.by_root(columns)
    limit = _certificate(best).loss + epsilon
    needed = runs.needed(columns, best, limit)
    near = runs.count(bins, limit)
    roles = [_role(table, c, by_root[c], best, near, needed[c]) for c in columns]
    shown = [tree for tree in by_root.values() if _certificate(tree).loss <= limit and tree.n_leaves > 1]
    return Alternatives(
        best=best,
        epsilon=float(epsilon),
        count=near.total,
        complete=near.complete,
        bins=int(bins),
        columns=tuple(sorted(roles, key=lambda role: role.root_loss)),
        trees=tuple(sorted(shown, key=lambda tree: _certificate(tree).loss)[:n_trees]),
    )


def _certificate(tree: Tree) -> Certificate:
    assert tree.certificate is not None
    return tree.certificate


def _role(
    table: SearchTable, column: int, rooted: Tree, best: Tree, near: NearTrees, needed: bool | None
) -> ColumnRole:
    found, least = _certificate(rooted), _certificate(best).loss
    counted = len(table.schema.columns) <= MOST_COLUMNS
    return ColumnRole(
        table.schema.columns[column].name,
        found.loss,
        max(0.0, found.loss - least),
        found.proven,
        near.by_root.get(column, 0),
        near.using.get(column, 0) if counted else None,
        needed,
    )


@dataclass
class _Runs:
    """The searches of one call, which share its time: each gets an equal part of what is left of its stage."""

    table: SearchTable
    settings: SearchSettings
    n_threads: int
    started: float
    best_cuts: Sequence[tuple[int, int]] = ()

    def _left(self, share: float, pending: int = 1) -> float | None:
        limit = self.settings.time_limit
        return None if limit is None else max(0.0, limit * share - (perf_counter() - self.started)) / pending

    def best(self) -> Tree:
        """Search all trees."""
        tree, self.best_cuts = searched(self.table, replace(self.settings, time_limit=self._left(0.3)), self.n_threads)
        return tree

    def by_root(self, columns: Sequence[int]) -> dict[int, Tree]:
        """Search the trees of each column at the root."""
        found = {}
        for place, column in enumerate(columns):
            settings = replace(self.settings, time_limit=self._left(0.6, len(columns) - place))
            found[column] = searched(self.table, settings, self.n_threads, roots=(column,))[0]
        return found

    def needed(self, columns: Sequence[int], best: Tree, limit: float) -> dict[int, bool | None]:
        """Return which columns every tree up to the limit uses; None where the search did not end."""
        used = [c for c in columns if any(node.split and node.split.column_index == c for node in best.walk())]
        found: dict[int, bool | None] = dict.fromkeys(columns, False)
        for place, column in enumerate(used):
            settings = replace(self.settings, time_limit=self._left(0.8, len(used) - place))
            found[column] = len(columns) == 1
            if len(columns) > 1:
                least = _certificate(searched(self.table, settings, self.n_threads, without=(column,))[0])
                found[column] = True if least.lower_bound > limit else False if least.loss <= limit else None
        return found

    def count(self, bins: int, limit: float) -> NearTrees:
        """Count the trees up to the limit."""
        loss = self.table.loss
        until = None if self.settings.time_limit is None else self.started + self.settings.time_limit
        counter = NearTreeCounter(binned(self.table.columns, bins, self.best_cuts), loss, self.settings, until)
        return counter.count(limit * loss.unit * (1 + 1e-12) + 1e-12 * loss.unit)
