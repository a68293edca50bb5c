"""Search for the best tree of encoded rows: the call into the core, and the certificate."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from treewright import _core
from treewright.data.encoding import Encoded
from treewright.data.rows import take
from treewright.data.schema import Schema
from treewright.errors import DataError
from treewright.growing.grow import grow
from treewright.optimal.build_tree import recipe_of, tree_of_cuts
from treewright.optimal.objective import RowLoss
from treewright.optimal.ordered_columns import OrderedColumn, ordered_columns
from treewright.optimal.settings import SearchSettings
from treewright.out_of_core.memory_limit import memory_size
from treewright.prediction.routing import route
from treewright.recipes.branching import Binary, OneVsRest
from treewright.recipes.criterion import Gini
from treewright.tree.certificate import Certificate
from treewright.tree.tree import Tree

#: Called with the lower bound and the loss of the best tree so far.
OnGap = Callable[[float, float], object]


@dataclass(frozen=True, eq=False)
class SearchTable:
    """Encoded rows as the core searches them."""

    rows: Encoded
    schema: Schema
    columns: list[OrderedColumn]
    loss: RowLoss

    @staticmethod
    def of(
        rows: Encoded, schema: Schema, max_levels: int, n_threads: int, balanced: bool, seconds: float | None = None
    ) -> SearchTable | None:
        """Order the rows by every column; None if that takes more than `seconds`."""
        rows = _plain(rows)
        pairs = zip(rows.columns, rows.kinds, strict=True)
        numbers = [np.ascontiguousarray(column, dtype=np.float64) for column, kind in pairs if kind == 0]
        ranks = _core.rank_columns(numbers, n_threads, seconds)
        if len(ranks) < len(numbers):
            return None
        columns = ordered_columns(rows, max_levels, iter(ranks))
        if not columns:
            raise DataError("every column has the same value in all rows; there is nothing to split on")
        return SearchTable(rows, schema, columns, RowLoss.of(rows, schema.target, balanced))


def _plain(rows: Encoded) -> Encoded:
    """Return the rows that have weight, as one array per column, in an order that does not depend on the table's."""
    if rows.weight is not None and not rows.weight.all():  # rows without weight must not shift cuts
        rows = take(rows, rows.weight > 0)
    columns: Any = rows.columns
    rows = replace(rows, columns=tuple(columns.T)) if isinstance(columns, np.ndarray) else rows
    counted = rows.n_classes > 0 and rows.weight is None  # numbers of rows, which add up exactly in any order
    return rows if counted else _by_target(rows)


def _by_target(rows: Encoded) -> Encoded:
    """Return the rows by target and weight: whatever rows are added up, it is in the same order of numbers."""
    assert rows.target is not None
    order = np.lexsort((rows.target,) if rows.weight is None else (rows.weight, rows.target))
    return rows if (np.diff(order) > 0).all() else take(rows, order)


def find_optimal(
    rows: Encoded,
    schema: Schema,
    settings: SearchSettings,
    n_threads: int = 0,
    progress: OnGap | None = None,
    *,
    balanced: bool = False,
    started: float | None = None,
) -> Tree:
    """Return the best tree of encoded rows; the time limit counts from `started`, a `perf_counter` time."""
    begun = perf_counter() if started is None else started
    rows = _plain(rows)
    # Under a limit the greedy tree comes first, while there is time; otherwise it is needed after Ctrl-C only.
    is_limited = settings.time_limit is not None or settings.memory_limit is not None
    greedy = _greedy(rows, schema, settings, n_threads) if is_limited else None
    left = None if settings.time_limit is None else max(0.0, settings.time_limit - (perf_counter() - begun))
    table = SearchTable.of(rows, schema, settings.max_levels, n_threads, balanced, left)
    if table is None:
        assert greedy is not None
        loss = RowLoss.of(rows, schema.target, balanced)
        return _unsearched(greedy, rows, loss, settings, n_threads, perf_counter() - begun)
    tree = searched(table, settings, n_threads, progress, started=begun)[0]
    certificate = tree.certificate
    assert certificate is not None
    if certificate.proven:
        return tree
    greedy = _greedy(rows, schema, settings, n_threads) if greedy is None else greedy
    reached = _loss_of(greedy, rows, table.loss, settings, n_threads)
    if reached >= certificate.loss:
        return tree
    kept = replace(certificate, loss=reached, lower_bound=min(reached, certificate.lower_bound))
    return replace(greedy, recipe=recipe_of(settings), certificate=kept)


def _loss_of(tree: Tree, rows: Encoded, loss: RowLoss, settings: SearchSettings, n_threads: int) -> float:
    return loss.of_leaves(route(tree, rows, n_threads)) / loss.unit + settings.leaf_penalty * tree.n_leaves


def _unsearched(
    greedy: Tree, rows: Encoded, loss: RowLoss, settings: SearchSettings, n_threads: int, seconds: float
) -> Tree:
    """Return the greedy tree of a table for which the time did not suffice to begin a search."""
    certificate = Certificate(
        objective=_objective(loss, settings),
        max_depth=int(settings.max_depth),
        max_leaves=None if settings.max_leaves is None else int(settings.max_leaves),
        loss=_loss_of(greedy, rows, loss, settings, n_threads),
        lower_bound=settings.leaf_penalty,
        ended="time limit",
        searched="nothing: the time limit came before the search",
        subproblems=0,
        seconds=seconds,
    )
    return replace(greedy, recipe=recipe_of(settings), certificate=certificate)


def _objective(loss: RowLoss, settings: SearchSettings) -> str:
    return loss.name + (f" + {settings.leaf_penalty:g} per leaf" if settings.leaf_penalty else "")


def searched(
    table: SearchTable,
    settings: SearchSettings,
    n_threads: int = 0,
    progress: OnGap | None = None,
    *,
    started: float | None = None,
    roots: Collection[int] | None = None,
    without: Collection[int] = (),
) -> tuple[Tree, list[tuple[int, int]]]:
    """Search the trees whose root splits on one of the columns `roots`, and no node on those of `without`.

    Returns the tree, and its cuts as orderings and codes.
    """
    loss = table.loss
    begun = perf_counter() if started is None else started
    columns = [each for each in table.columns if each.column not in without]
    left = None if settings.time_limit is None else max(0.0, settings.time_limit - (perf_counter() - begun))
    found = _core.find_optimal(
        codes=[each.codes for each in columns],
        n_codes=[each.n_codes for each in columns],
        missing=[-1 if each.missing_code is None else each.missing_code for each in columns],
        label=loss.label,
        target=loss.target,
        n_classes=table.rows.n_classes,
        weight=loss.weight,
        cost=loss.cost,
        max_depth=settings.max_depth,
        max_leaves=settings.max_leaves,
        min_samples_leaf=settings.min_samples_leaf,
        missing_to_majority=settings.to_majority,
        leaf_penalty=settings.leaf_penalty * loss.unit,
        is_root=[] if roots is None else [each.column in roots for each in columns],
        n_threads=n_threads,
        seconds=left,
        max_bytes=memory_size(settings.memory_limit),
        progress=None if progress is None else lambda low, high: progress(low / loss.unit, high / loss.unit),
    )
    tree = tree_of_cuts(found, columns, table.rows, table.schema, settings)
    cuts = [(c, cut) for c, cut in zip(found["column"].tolist(), found["cut"].tolist(), strict=True) if c >= 0]
    certificate = _certificate(found, columns, table, settings, perf_counter() - begun)
    if roots is not None:
        certificate = replace(certificate, root=" or ".join(table.schema.columns[i].name for i in roots))
    return replace(tree, certificate=certificate), cuts


def _certificate(
    found: dict[str, Any], columns: list[OrderedColumn], table: SearchTable, settings: SearchSettings, seconds: float
) -> Certificate:
    loss = table.loss
    return Certificate(
        objective=_objective(loss, settings),
        max_depth=int(settings.max_depth),
        max_leaves=None if settings.max_leaves is None else int(settings.max_leaves),
        loss=found["loss"] / loss.unit,
        lower_bound=min(found["lower"], found["loss"]) / loss.unit,
        ended=found["ended"],
        searched=_searched(columns, table.rows, settings),
        subproblems=found["subproblems"],
        seconds=seconds,
    )


def _greedy(rows: Encoded, schema: Schema, settings: SearchSettings, n_threads: int) -> Tree:
    """Return the tree of greedy growth at the same limits: what a search that is stopped must not fall behind."""
    nominal = [i for i, kind in enumerate(rows.kinds) if kind == 2]
    many_levels = any(_n_levels(rows, i) > settings.max_levels for i in nominal)
    recipe = recipe_of(settings).with_(
        criterion=Gini(),
        missing="majority" if settings.to_majority else "learned",
        branching=OneVsRest() if many_levels else Binary(),
        **({"max_depth": 0} if settings.max_leaves == 1 else {}),
    )
    return grow(rows, schema, recipe, n_threads)


def _n_levels(rows: Encoded, column: int) -> int:
    values = rows.columns[column]
    return len(np.unique(values[values >= 0]))


def _searched(columns: list[OrderedColumn], rows: Encoded, settings: SearchSettings) -> str:
    used = {each.column for each in columns}
    cuts = sum(each.n_codes - 1 for each in columns)
    parts = [f"{len(used)} columns, {cuts} cuts"]
    nominal = [_n_levels(rows, i) for i in used if rows.kinds[i] == 2]
    if any(n <= settings.max_levels for n in nominal):
        parts.append(f"all sets of up to {settings.max_levels} levels")
    if any(n > settings.max_levels for n in nominal):
        parts.append("one level against the rest where there are more")
    if settings.min_samples_leaf > 1:
        parts.append(f"leaves of at least {settings.min_samples_leaf} rows")
    if any(each.missing_code is not None for each in columns):
        parts.append("missing values in the larger child" if settings.to_majority else "missing values on either side")
    return ", ".join(parts)
