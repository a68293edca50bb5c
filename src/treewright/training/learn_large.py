"""Learning from a table that is not in memory: on disk some rows at a time, or on a Dask cluster.

Comes in: names of files, datasets, queries, iterators of tables, Dask tables. Goes out: a `Tree`, the same as from the
whole table in memory.
Always holds: what an engine cannot do is refused before growing starts, and the choice is named. A table that has room
in memory is learned from there. Nothing is left behind in the scratch folder.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

from treewright.data.encoding import Encoded
from treewright.data.frame import Frame
from treewright.data.kinds import KindChoice
from treewright.data.rows import joined
from treewright.data.schema import Schema, Task
from treewright.data.sources import is_source, open_source
from treewright.data.value_text import size_text
from treewright.errors import DataError
from treewright.growing.grow_partitions import reweighted
from treewright.growing.partitions import Limits, Partitions
from treewright.growing.weights import added_up, class_factors, class_weights, require_classes, target_with, weighted
from treewright.out_of_core import column_summary
from treewright.out_of_core.chunks import Chunks, chunked
from treewright.out_of_core.dask_partitions import from_dask, has_client, is_partitioned, partitions
from treewright.out_of_core.disk_partitions import row_bytes, write_partitions
from treewright.out_of_core.memory_limit import working_memory
from treewright.out_of_core.scratch_folder import scratch
from treewright.pruning.prune import grow_and_prune, refuse
from treewright.recipes.pruners import CostComplexityCV, ErrorBased, ImpurityThresholdCV, ReducedError
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree

_log = logging.getLogger("treewright.growing.partitions")

SECONDS_BETWEEN_LINES = 5

#: Growing in memory takes about this many times what the encoded rows take.
IN_MEMORY = 3

#: What dealing a row into folds takes, here and not where the row lies: its draw, class, units and place.
BYTES_TO_DEAL = 40


@dataclass(frozen=True)
class FitOptions:
    """What the user says about the table, and how much room there is."""

    target: str
    weight: str | None = None
    kinds: Mapping[str, KindChoice] | None = None
    task: Task | None = None
    class_weight: object = None
    costs: object = None
    priors: object = None
    memory_limit: float | str | None = None
    scratch: str | os.PathLike[str] | None = None
    keep_columns: bool = False


def fits_in_memory(data: object, memory_limit: float | str | None) -> bool:
    """Whether this names a table of known size that memory has room for: such a table is read at once."""
    if not is_source(data):
        return False
    size = open_source(data).n_bytes
    room = working_memory(memory_limit, None if size is None else IN_MEMORY * size)
    return size is not None and IN_MEMORY * size <= room


def learn_large(
    data: object,
    options: FitOptions,
    recipe: Recipe,
    n_threads: int = 0,
    progress: Callable[[float], object] | None = None,
) -> Tree:
    """Learn a tree from a large input."""
    limit = working_memory(options.memory_limit)
    with ExitStack() as stack:
        rows: Encoded | Partitions
        if is_partitioned(data) and has_client():
            rows, schema = from_dask(
                data,
                options.target,
                options.weight,
                options.kinds,
                options.task,
                limits=Limits(memory=limit),
                keep_columns=options.keep_columns,
            )
            stack.callback(rows.close)
            schema = _checked_schema(schema, options, recipe)
        else:
            folder = stack.enter_context(scratch(options.scratch))
            rows, schema = _from_chunks(_chunks(data, limit, folder), options, recipe, limit, folder, n_threads)
        if not isinstance(rows, Encoded):
            refuse_pruning(recipe, sum(rows.sizes), max(rows.map(row_bytes)), limit)
        seen = _weighted(rows, schema, options.class_weight)
        if not isinstance(seen, Encoded):
            stack.callback(seen.close)
        return grow_and_prune(seen, schema, recipe, n_threads, progress)


def _chunks(data: object, limit: int, folder: Path) -> Chunks:
    given = partitions(data) if is_partitioned(data) else data
    found = chunked(given, memory_limit=limit, scratch=folder)
    if found is None:
        raise DataError(f"a {type(data).__name__} cannot be read some rows at a time")
    return found


def _from_chunks(
    chunks: Chunks, options: FitOptions, recipe: Recipe, limit: int, folder: Path, n_threads: int
) -> tuple[Encoded | Partitions, Schema]:
    """Two passes over the rows: what the columns are, then the rows coded; in memory if there is room."""
    frames = _logged("described", chunks.frames())
    each = (column_summary.summarize(frame, options.target, options.weight, options.kinds) for frame in frames)
    said = reduce(column_summary.merge, each, column_summary.NOTHING)
    found = column_summary.described(said, options.task, options.kinds, options.keep_columns)
    schema = _checked_schema(replace(found, text_form=chunks.text_form), options, recipe)

    def coded(frame: Frame) -> Encoded:
        return column_summary.encode_partition(frame, schema, options.target, options.weight)

    pieces = map(coded, _logged(f"of {said.n_rows:,} coded", chunks.frames()))
    first = next(pieces)
    if IN_MEMORY * said.n_rows * row_bytes(first) <= limit:
        return joined([first, *pieces]), schema

    def all_pieces() -> Iterator[Encoded]:
        yield first
        yield from pieces

    return write_partitions(all_pieces(), folder, memory_limit=limit, n_threads=n_threads, n_rows=said.n_rows), schema


def _checked_schema(schema: Schema, options: FitOptions, recipe: Recipe) -> Schema:
    """The schema with costs and priors; what cannot be is refused, before the rows are written anywhere."""
    refuse(recipe, schema)
    return replace(schema, target=target_with(schema.target, options.costs, options.priors))


def _logged(what: str, frames: Iterator[Frame]) -> Iterator[Frame]:
    """The frames, and now and then a line in the log about how many rows they were."""
    begun = last = time.perf_counter()
    n_rows = 0
    for frame in frames:
        yield frame
        n_rows += frame.n_rows
        if time.perf_counter() - last > SECONDS_BETWEEN_LINES:
            last = time.perf_counter()
            _log.info("%s rows %s, %.0f s", f"{n_rows:,}", what, last - begun)
    _log.info("%s rows %s, %.1f s", f"{n_rows:,}", what, time.perf_counter() - begun)


def _weighted(rows: Encoded | Partitions, schema: Schema, class_weight: object) -> Encoded | Partitions:
    """The rows with their weights multiplied by their classes' weights."""
    if class_weight is None:
        return rows
    require_classes(schema)
    if isinstance(rows, Encoded):
        return weighted(rows, schema, class_weight)
    factors = class_factors(class_weight, schema.target, added_up(rows.map(class_weights), rows.n_classes))
    return rows.changed(reweighted, factors)


def refuse_pruning(recipe: Recipe, n_rows: int, bytes_per_row: int, limit: int) -> None:
    """Some pruners need something of every row in one place; what has no room there is refused."""
    pruner = recipe.pruning
    name = type(pruner).__name__
    if isinstance(pruner, (CostComplexityCV, ImpurityThresholdCV)):
        needed, why = BYTES_TO_DEAL * n_rows, "deals all rows into folds"
        remedy = "CostComplexity(alpha)"
    elif isinstance(pruner, ReducedError):
        needed = int((BYTES_TO_DEAL + pruner.share * bytes_per_row) * n_rows)
        why, remedy = "sets a share of the rows aside", "CostComplexity(alpha), or a smaller share"
    elif isinstance(pruner, ErrorBased) and pruner.raising:
        needed, why, remedy = bytes_per_row * n_rows, "sends all rows down the tree again", "ErrorBased(raising=False)"
    else:
        return
    if needed > limit:
        raise DataError(
            f"the recipe {recipe.name!r} is pruned by {name}, which {why}: that takes {size_text(needed)} here, and "
            f"memory_limit is {size_text(limit)}; choose pruning={remedy} or pruning=None, or allow more memory"
        )
