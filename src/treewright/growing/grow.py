"""The call into the core that grows a tree, for rows in memory and for rows in partitions.

Both give the same tree, whatever the order of rows, the number of threads or the partitions.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np

from treewright import _core
from treewright.data.arrays import FloatArray, Int32Array
from treewright.data.encoding import Encoded
from treewright.data.schema import Schema
from treewright.data.sparse_rows import from_core
from treewright.data.survey import merge_surveys, survey, survey_rows
from treewright.data.value_text import size_text
from treewright.errors import DataError
from treewright.growing.checks import check_recipe, check_values, data_checks
from treewright.growing.memory_partitions import MemoryPartitions, gathered
from treewright.growing.partitions import Partitions
from treewright.growing.prepared import core_recipe, preparation, prepared, restored
from treewright.growing.progress import Progress
from treewright.growing.weights import altered, altered_partitions
from treewright.recipes.branching import Ordered
from treewright.recipes.criterion import Custom, PiecewiseLinear
from treewright.recipes.leaves import Linear
from treewright.recipes.missing import Imputed, Surrogates
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree

_log = logging.getLogger("treewright.growing.partitions")


def grow(
    rows: Encoded | Partitions, schema: Schema, recipe: Recipe, n_threads: int = 0, progress: Progress | None = None
) -> Tree:
    """Grow a tree; `recipe.pruning` is not applied.

    Parameters
    ----------
    rows : Encoded or Partitions
        The training rows, encoded by the schema.
    schema : Schema
        The columns and the target.
    recipe : Recipe
        The choices of the algorithm.
    n_threads : int, default=0
        Number of threads; 0 means all processors.
    progress : callable, optional
        Called with the fraction of the rows that have reached a leaf, from 0 to 1.

    Returns
    -------
    Tree
        The tree, not pruned.
    """
    check_recipe(recipe, schema)
    if isinstance(rows, Encoded) or _is_one_piece(rows):
        arrays = _grow_in_memory(gathered(rows), schema, recipe, n_threads, progress)
    else:
        arrays = _grow_in_partitions(rows, schema, recipe, n_threads, progress)
    if progress is not None:
        progress(1.0)
    return Tree.grown(arrays, schema, recipe)


def grow_at(
    rows: Encoded,
    schema: Schema,
    recipe: Recipe,
    given: dict[str, Any],
    n_threads: int = 0,
    progress: Progress | None = None,
) -> tuple[Tree, int]:
    """Grow or split one node of a tree that exists; nodes that do not lie on the way to it are leaves.

    Parameters
    ----------
    rows : Encoded
        The rows that the tree was grown on.
    schema : Schema
        The columns and the target.
    recipe : Recipe
        The choices of the algorithm.
    given : dict
        "arrays" of the tree, the "node", its "split" or None, and for each column whether it is "allowed"
        (docs/boundary.md).
    n_threads : int, default=0
        Number of threads; 0 means all processors.
    progress : callable, optional
        Called with the fraction of the rows that have reached a leaf; what it raises ends the work.

    Returns
    -------
    tree : Tree
        The way to the node and what was grown there.
    against : int
        Why the recipe would not have chosen the given split, as in `stop`; 0: it might have.
    """
    check_recipe(recipe, schema)
    check_grows_nodes(recipe)
    arrays = _grow_in_memory(rows, schema, recipe, n_threads, progress, given=given)
    against = int(arrays.pop("against"))
    return Tree.grown(arrays, schema, recipe), against


def check_grows_nodes(recipe: Recipe) -> None:
    """Raise `DataError` if a recipe cannot grow one node of a tree."""
    if isinstance(recipe.missing, Imputed) or isinstance(recipe.branching, Ordered):
        raise DataError(
            f"the recipe {recipe.name!r} changes the table before it grows a tree (Imputed, Ordered), so it cannot "
            "grow one node of a tree; use another recipe for the edit"
        )


def grow_with_followers(
    rows: Encoded,
    followers: Int32Array,
    schema: Schema,
    recipe: Recipe,
    n_threads: int = 0,
    progress: Progress | None = None,
    *,
    complete: bool = False,
) -> tuple[Tree, Int32Array]:
    """Grow a tree, and return the node where each follower ends: a row of the table, by its number.

    The tree has nodes only, so it can be priced but predicts nothing: the arrays of its splits are empty, unless its
    leaves are going to be linear models, which are fitted to the rows that the splits send there. Surrogates are found
    only where a row of the node or a follower needs them; otherwise the tree is that of `grow`.
    `complete`: a survey of more rows has found nothing missing and nothing infinite.
    """
    check_recipe(recipe, schema)
    surveyed = replace(rows, complete=True) if complete else rows
    splits = isinstance(recipe.leaves, Linear)
    arrays = _grow_in_memory(surveyed, schema, recipe, n_threads, progress, followers, splits=splits)
    ends: Int32Array = arrays.pop("follower_node")
    if progress is not None:
        progress(1.0)
    return Tree.grown(arrays, schema, recipe), ends


def grow_bare(
    rows: Encoded, schema: Schema, recipe: Recipe, n_threads: int = 0, progress: Progress | None = None
) -> Tree:
    """Grow a tree that is going to be pruned: without rivals, and without surrogates that no row needs."""
    check_recipe(recipe, schema)
    no_followers = np.empty(0, np.int32)
    arrays = _grow_in_memory(rows, schema, replace(recipe, rivals=0), n_threads, progress, no_followers, bare=True)
    del arrays["follower_node"]
    if progress is not None:
        progress(1.0)
    return Tree.grown(arrays, schema, recipe)


def grow_kept(rows: Encoded, pruned: Tree, n_threads: int = 0) -> Tree:
    """Grow a pruned tree again, with the rivals and surrogates of its nodes. Its cuts are as they were."""
    kept = (pruned.arrays["child_start"], pruned.arrays["children"], pruned.arrays["stop"])
    arrays = _grow_in_memory(rows, pruned.schema, pruned.recipe, n_threads, None, kept=kept)
    return Tree({name: from_core(array) for name, array in arrays.items()}, pruned.schema, pruned.recipe, pruned.cuts)


def _grow_in_memory(
    rows: Encoded,
    schema: Schema,
    recipe: Recipe,
    n_threads: int,
    progress: Progress | None,
    followers: Int32Array | None = None,
    kept: tuple[Int32Array, Int32Array, Int32Array] | None = None,
    given: dict[str, Any] | None = None,
    *,
    splits: bool = True,
    bare: bool = False,
) -> dict[str, Any]:
    has_missing = survey(rows, schema, n_threads)
    _refuse_pieces(recipe)
    check_values([data_checks(rows, recipe, schema)], recipe, schema)
    assert rows.target is not None
    done = preparation(rows, recipe)
    table = rows if done is None else prepared(rows, done)
    seen = altered(rows, schema.target)
    weight, repeats = _per_repeat(rows, seen.weight)
    needed = _needed(core_recipe(rows, recipe), has_missing)
    _log_plan(table, needed, weighted=weight is not None, remote=False)
    arrays: dict[str, Any] = _core.grow(
        columns=table.columns,
        kinds=list(table.kinds),
        levels=list(table.levels),
        target=rows.target,
        n_classes=rows.n_classes,
        weight=weight,
        repeats=repeats,
        recipe=needed.as_dict(),
        n_threads=n_threads,
        custom=_custom(recipe, schema),
        factor=seen.factor,
        cost=seen.cost,
        binned=table.coded,
        progress=progress,
        followers=followers,
        kept=kept,
        given=given,
        has_missing=has_missing,
        splits=splits,
        bare=bare,
    )
    return arrays if done is None else restored(arrays, done, rows.levels)


def _per_repeat(rows: Encoded, weight: FloatArray | None) -> tuple[FloatArray | None, Int32Array | None]:
    """Return the weight of a row each time it is in the sample (None: one), and how often it is."""
    if rows.repeats is None or weight is None:
        return weight, rows.repeats
    if np.array_equal(weight, rows.repeats):
        return None, rows.repeats
    repeats = np.where(weight > 0, rows.repeats, 0).astype(np.int32)
    each = weight / np.maximum(repeats, 1)
    return (None if (each[repeats > 0] == 1).all() else each), repeats


def _grow_in_partitions(
    parts: Partitions, schema: Schema, recipe: Recipe, n_threads: int, progress: Progress | None
) -> dict[str, Any]:
    _refuse_pieces(recipe)
    has_missing = merge_surveys(parts.map(survey_rows, 1), schema)
    check_values(parts.map(data_checks, recipe, schema), recipe, schema)
    weighted, seen = altered_partitions(parts, schema.target)
    done = preparation(parts, recipe)
    tables = weighted if done is None else weighted.changed(prepared, done)
    needed = _needed(core_recipe(parts, recipe), has_missing)
    written = needed.as_dict()
    _log_plan(tables, needed, weighted=any(weighted.map(_has_weight)), remote=True)
    growth = tables.growth(written)
    try:
        arrays: dict[str, Any] = _core.grow_remote(
            kinds=list(tables.kinds),
            levels=list(tables.levels),
            n_rows=sum(parts.sizes),
            n_classes=parts.n_classes,
            weighted=any(weighted.map(_has_weight)),
            recipe=written,
            send_request=_logged(growth.send),
            max_detached_rows=parts.limits.apart,
            max_rows_at_once=parts.limits.at_once,
            memory=parts.limits.memory,
            n_threads=n_threads,
            custom=_custom(recipe, schema),
            factor=seen.factor,
            cost=seen.cost,
            progress=progress,
        )
    except _core.TooManyValues as error:
        raise _too_many_values(str(error), schema, recipe, parts.limits.memory) from None
    finally:
        growth.close()
        for made in (tables, weighted):
            if made is not parts:
                made.close()
    return arrays if done is None else restored(arrays, done, parts.levels)


def with_bins(rows: Encoded, n_threads: int) -> Encoded:
    """Bin and survey the columns now: worth it where several trees are grown from the same rows."""
    if rows.coded is not None:
        return rows
    found = survey_rows(replace(rows, weight=None), n_threads)
    return replace(
        rows,
        coded=_core.BinnedTable(rows.columns, list(rows.kinds), rows.n_rows, n_threads),
        complete=not found.missing and found.infinite is None,
    )


def binned_once(parts: Partitions, n_threads: int) -> Partitions:
    """Bin rows that are one piece in memory; leave others as they are."""
    return parts.changed(with_bins, n_threads) if _is_one_piece(parts) else parts


def one_piece(parts: Partitions) -> Encoded | None:
    """Return the table, if all of it is one piece in memory."""
    return gathered(parts) if _is_one_piece(parts) else None


def _is_one_piece(parts: Partitions) -> bool:
    return isinstance(parts, MemoryPartitions) and len(parts.sizes) == 1


def _refuse_pieces(recipe: Recipe) -> None:
    if isinstance(recipe.regression, PiecewiseLinear):
        raise DataError(
            f"the recipe {recipe.name!r} compares linear pieces (PiecewiseLinear), which only learn and pruning do; "
            "use another recipe, such as CART or M5"
        )


def _needed(recipe: Recipe, has_missing: bool) -> Recipe:
    """Return the recipe without the search for surrogates where it is made only for tables with missing values."""
    if has_missing or not isinstance(recipe.missing, Surrogates) or recipe.missing.search == "always":
        return recipe
    return recipe.without_surrogates


def _custom(recipe: Recipe, schema: Schema) -> Callable[[Any, Any], Any] | None:
    criterion = recipe.regression if schema.target.classes is None else recipe.criterion
    return criterion.function if isinstance(criterion, Custom) else None


def _log_plan(rows: Encoded | Partitions, recipe: Recipe, *, weighted: bool, remote: bool) -> None:
    """Log which column is searched how."""
    if _log.isEnabledFor(logging.DEBUG):
        plan = _core.search_plan(list(rows.kinds), rows.n_classes, weighted, recipe.as_dict(), remote=remote)
        _log.debug("search plan: %s", plan.replace("\n", "; "))


def _has_weight(part: Encoded) -> bool:
    return part.weight is not None


def _logged(send: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Log the size of every request and reply."""
    total = [0, 0, 0]

    def send_request(request: bytes) -> bytes:
        begun = time.perf_counter()
        reply = send(request)
        total[:] = total[0] + 1, total[1] + len(request), total[2] + len(reply)
        _log.info(
            "request %d: sent %s, received %s in %.3f s; in all %s and %s",
            total[0],
            size_text(len(request)),
            size_text(len(reply)),
            time.perf_counter() - begun,
            size_text(total[1]),
            size_text(total[2]),
        )
        return reply

    return send_request


def _too_many_values(fault: str, schema: Schema, recipe: Recipe, limit: int) -> DataError:
    """Word the core's fault: the choice that needs every value, the column, and its size in bytes."""
    choice, column, size = fault.split()
    name = "regression" if choice == "criterion" and schema.target.classes is None else choice
    value: Any = recipe
    for step in name.split("."):
        value = getattr(value, step)
    shown = type(value).__name__ if is_dataclass(value) else value
    return DataError(
        f"the recipe {recipe.name!r} has {name}={shown}, which looks at every value of a column in one place; "
        f"{schema.columns[int(column)].name!r} may take {size_text(int(size))} there, and {size_text(limit)} are "
        "allowed; allow more memory, round the column to fewer values, or use another choice, such as those of CART"
    )
