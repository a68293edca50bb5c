"""A tree from parts: the engine's `grow` for rows that lie elsewhere.

Comes in: `Partitions`, a schema and a recipe. Goes out: a `Tree` as it was grown, the same as from one table in memory.
Always holds: what cannot be learned from is refused before growing starts. Nodes of few rows are sent here whole and
finished here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.data.encoding import Encoded
from treewright.data.rows import as_it_is, joined
from treewright.data.schema import Schema
from treewright.data.survey import merge_surveys, survey_rows
from treewright.data.value_text import size_text
from treewright.errors import DataError
from treewright.growing.checks import check_recipe, check_values, data_checks
from treewright.growing.grow import coded, grow, without_surrogates
from treewright.growing.memory_partitions import MemoryPartitions
from treewright.growing.partitions import Partitions
from treewright.growing.weights import Altered, added_up, altered_by, class_weights
from treewright.recipes.criterion import Custom
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree

_log = logging.getLogger("treewright.growing.partitions")


def as_partitions(rows: Encoded | Partitions) -> Partitions:
    """A table as its only part."""
    return MemoryPartitions([rows]) if isinstance(rows, Encoded) else rows


def gathered(rows: Encoded | Partitions) -> Encoded:
    """All rows here, in one piece."""
    if isinstance(rows, Encoded):
        return rows
    pieces = rows.map(as_it_is)
    return pieces[0] if len(pieces) == 1 else joined(pieces)


def coded_once(parts: Partitions, n_threads: int) -> Partitions:
    """The same rows, coded now where they are one part in memory: worth it where several trees are grown on them."""
    return parts.changed(coded, n_threads) if _is_one_piece(parts) else parts


def grow_table(
    rows: Encoded | Partitions,
    schema: Schema,
    recipe: Recipe,
    n_threads: int,
    progress: Callable[[float], object] | None = None,
) -> Tree:
    """The tree of a table, wherever it lies; `recipe.pruning` is not applied."""
    if isinstance(rows, Encoded) or _is_one_piece(rows):
        tree = grow(gathered(rows), schema, recipe, n_threads, progress)
    else:
        tree = grow_partitions(rows, schema, recipe, n_threads, progress)
    if progress is not None:
        progress(1.0)
    return tree


def _is_one_piece(parts: Partitions) -> bool:
    return isinstance(parts, MemoryPartitions) and len(parts.sizes) == 1


def grow_partitions(
    parts: Partitions,
    schema: Schema,
    recipe: Recipe,
    n_threads: int = 0,
    progress: Callable[[float], object] | None = None,
) -> Tree:
    """The core's tree of a table in parts, if the recipe can learn from it; `recipe.pruning` is not applied."""
    check_recipe(recipe, schema)
    missing = merge_surveys(parts.map(survey_rows, 1), schema)
    check_values(parts.map(data_checks, recipe, schema), recipe, schema)
    grown, seen = seen_by_growing(parts, schema)
    lean_recipe = without_surrogates(recipe, missing).as_dict()
    criterion = recipe.criterion if parts.n_classes else recipe.regression
    growth = grown.growth(lean_recipe)
    try:
        arrays = _core.grow_remote(
            kinds=list(parts.kinds),
            levels=list(parts.levels),
            n_rows=sum(parts.sizes),
            n_classes=parts.n_classes,
            weighted=any(grown.map(has_weight)),
            recipe=lean_recipe,
            send_request=_told(growth.ask),
            max_detached_rows=parts.limits.apart,
            max_rows_at_once=parts.limits.at_once,
            memory=parts.limits.memory,
            n_threads=n_threads,
            custom=criterion.function if isinstance(criterion, Custom) else None,
            factor=seen.factor,
            cost=seen.cost,
            progress=progress,
        )
    except _core.TooManyValues as error:
        raise _too_many_values(str(error), schema, recipe, parts.limits.memory) from None
    finally:
        growth.close()
        if grown is not parts:
            grown.close()
    return Tree.grown(arrays, schema, recipe)


def _told(ask: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Asks, and logs how much went to and fro."""
    total = [0, 0, 0]

    def asked(question: bytes) -> bytes:
        begun = time.perf_counter()
        answer = ask(question)
        total[:] = total[0] + 1, total[1] + len(question), total[2] + len(answer)
        _log.info(
            "request %d: sent %s, received %s in %.3f s; in all %s and %s",
            total[0],
            size_text(len(question)),
            size_text(len(answer)),
            time.perf_counter() - begun,
            size_text(total[1]),
            size_text(total[2]),
        )
        return answer

    return asked


def _too_many_values(told: str, schema: Schema, recipe: Recipe, limit: int) -> DataError:
    choice, column, size = told.split()
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


def seen_by_growing(parts: Partitions, schema: Schema) -> tuple[Partitions, Altered]:
    """The parts with the weights that growing sees: costs and priors alter those of each class."""
    target = schema.target
    if target.classes is None or (target.costs is None and target.priors is None):
        return parts, Altered(None)
    factors = altered_by(target, added_up(parts.map(class_weights), parts.n_classes))
    return parts.changed(reweighted, factors.seen), Altered(None, factors.factor, factors.cost)


def has_weight(part: Encoded) -> bool:
    """Whether rows have weights of their own."""
    return part.weight is not None


def reweighted(part: Encoded, by_class: NDArray[np.float64]) -> Encoded:
    """The part with each row's weight multiplied by its class's."""
    assert part.target is not None
    weight = np.ones(part.n_rows) if part.weight is None else part.weight
    return replace(part, weight=weight * by_class[part.target])
