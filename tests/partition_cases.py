"""What the tests of tables in parts share: a table cut up, where to cut it, and the tree as text.

Cuts may meet, so that parts may be empty; each part has arrays of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from treewright.data.encoding import Encoded
from treewright.data.schema import Schema
from treewright.errors import TreewrightError
from treewright.growing.grow import grow
from treewright.growing.memory_partitions import MemoryPartitions
from treewright.growing.partitions import Limits
from treewright.recipes.recipe import Recipe
from treewright.tree.saved import to_json
from treewright.tree.tree import Tree

#: No node is sent whole; some are; all are.
LIMITS = (Limits(apart=0), Limits(apart=5, at_once=7), Limits(apart=5), Limits(apart=1 << 20, at_once=1 << 20))


def limits() -> st.SearchStrategy[Limits]:
    return st.sampled_from(LIMITS)


def cuts() -> st.SearchStrategy[list[float]]:
    """Where to cut, as shares of the rows: 1 to 6 pieces."""
    return st.lists(st.one_of(st.sampled_from((0.0, 0.5, 1.0)), st.floats(0, 1)), max_size=5)


def cut_up(whole: Encoded, places: Sequence[float], limit: Limits) -> MemoryPartitions:
    edges = [0, *sorted(round(share * whole.n_rows) for share in places), whole.n_rows]

    def rows(start: int, stop: int) -> Encoded:
        arrays = {name: getattr(whole, name) for name in ("target", "weight")}
        return replace(
            whole,
            columns=tuple(np.ascontiguousarray(column[start:stop]) for column in whole.columns),
            n_rows=stop - start,
            **{name: None if array is None else array[start:stop].copy() for name, array in arrays.items()},
        )

    return MemoryPartitions([rows(start, stop) for start, stop in pairwise(edges)], limit)


def check_parts(whole: Encoded, schema: Schema, recipe: Recipe, places: Sequence[float], limit: Limits) -> int:
    """The tree of the parts is that of the whole, and so is what is refused; how many nodes it has."""
    grown = _outcome(lambda: grow(whole, schema, recipe, 1))
    parts = _outcome(lambda: grow(cut_up(whole, places, limit), schema, recipe, 1))
    if not (isinstance(grown, Tree) and isinstance(parts, Tree)):
        assert parts == grown
        return 0
    same_tree(parts, grown)
    return grown.n_nodes


def _outcome(work: Callable[[], Tree]) -> Tree | tuple[type, str]:
    try:
        return work()
    except TreewrightError as error:
        return type(error), str(error)


def same_tree(found: Tree, expected: Tree) -> None:
    """Equal as they are saved. If not, the arrays that differ say so in fewer words."""
    if to_json(found) != to_json(expected):
        assert {name: array.tolist() for name, array in found.arrays.items()} == {
            name: array.tolist() for name, array in expected.arrays.items()
        }
        raise AssertionError("the trees differ in more than their arrays")
