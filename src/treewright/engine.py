"""The engine as Python sees it: an encoded table becomes a tree, encoded rows find their nodes and answers.

Comes in: `Encoded` arrays, a schema and a recipe, or a tree. Goes out: a `Tree` as it was grown, or one node or one
answer per row.
Always holds: everything that could be wrong with the input is found before the core starts. The tree does not depend on
the order of rows or on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright import _core
from treewright.choices import Custom, Poisson, Refused, RefuseMissing, Surrogates
from treewright.costs import altered
from treewright.encode import Encoded
from treewright.errors import DataError
from treewright.kinds import infinity
from treewright.recipe import Recipe
from treewright.schema import Schema
from treewright.tree import Tree
from treewright.tree_check import STOP_HERE
from treewright.wording import listed


def grow(
    encoded: Encoded, schema: Schema, recipe: Recipe, n_threads: int, progress: Callable[[float], object] | None = None
) -> Tree:
    """The core's tree of an encoded table, if the recipe can learn from it; `recipe.pruning` is not applied.

    `progress` is told now and then which part of the rows has found its leaf, from 0 to 1.
    """
    refuse_recipe(recipe, schema)
    missing = survey(encoded, schema, n_threads)
    refuse_values([doubts(encoded, recipe, schema)], recipe, schema)
    assert encoded.target is not None
    criterion = recipe.criterion if encoded.n_classes else recipe.regression
    seen = altered(schema.target, encoded.target, encoded.weight)
    arrays = _core.grow(
        columns=encoded.columns,
        kinds=list(encoded.kinds),
        levels=list(encoded.levels),
        target=encoded.target,
        n_classes=encoded.n_classes,
        weight=seen.weight,
        recipe=lean(recipe, missing).as_dict(),
        n_threads=n_threads,
        custom=criterion.function if isinstance(criterion, Custom) else None,
        factor=seen.factor,
        cost=seen.cost,
        binned=encoded.coded,
        progress=progress,
    )
    return Tree.grown(arrays, schema, recipe)


def coded(encoded: Encoded, n_threads: int) -> Encoded:
    """The same table, coded now: worth it where several trees are grown on its rows."""
    if encoded.coded is not None:
        return encoded
    return replace(encoded, coded=_core.BinnedTable(encoded.columns, list(encoded.kinds), encoded.n_rows, n_threads))


def lean(recipe: Recipe, missing: bool) -> Recipe:
    """The recipe without a search for surrogates that it does not want in a table without missing values."""
    if missing or not isinstance(recipe.missing, Surrogates) or recipe.missing.sought == "always":
        return recipe
    return replace(recipe, missing=replace(recipe.missing, maximum=0))


def route(tree: Tree, rows: Encoded, n_threads: int) -> NDArray[np.int32]:
    """The node that answers each row; where a row goes down several branches, the heaviest."""
    nodes: NDArray[np.int32] = _asked(tree, rows, _router(tree).apply, n_threads)
    return nodes


def answers(tree: Tree, rows: Encoded, n_threads: int) -> NDArray[np.float64]:
    """Each row's class probabilities, or its number: the weighted sum over all paths."""
    values: NDArray[np.float64] = _asked(tree, rows, _router(tree).predict, n_threads)
    return values


def classify(tree: Tree, rows: Encoded, n_threads: int) -> NDArray[np.int32]:
    """The place of each row's most probable class, the first of equals."""
    places: NDArray[np.int32] = _asked(tree, rows, _router(tree).classify, n_threads)
    return places


@dataclass(frozen=True, eq=False)
class Trace:
    """One row at every node, whether it comes there or not.

    `child`: where it goes from there: a child's number, `SPREAD` or `STOP_HERE` (leaves stop). `guide`: what it goes
    by: 0 its answer, 1 and up that surrogate, -1 its missing value, -2 a level that no child holds. `weight`: how much
    of the row comes there.
    """

    child: NDArray[np.int32]
    guide: NDArray[np.int32]
    weight: NDArray[np.float64]


def trace(tree: Tree, rows: Encoded, row: int = 0) -> Trace:
    """The way of one row through the tree, as prediction sends it."""
    return Trace(*_router(tree).trace(rows.columns, list(rows.kinds), rows.n_rows, row))


def contribute(tree: Tree, rows: Encoded, n_threads: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What the tree says when nothing is known, [answers], and what each column adds, [rows, columns, answers]."""
    survey(rows, tree.schema, n_threads)
    contributor: Any = tree.keep("contributor", lambda: _core.TreeShap(dict(tree.arrays), tree.recipe.seed))
    base: NDArray[np.float64] = contributor.base()
    values: NDArray[np.float64] = contributor.values(rows.columns, list(rows.kinds), rows.n_rows, n_threads)
    return base, values.reshape(rows.n_rows, len(tree.schema.columns), len(base))


def _asked(tree: Tree, rows: Encoded, question: Callable[..., Any], n_threads: int) -> Any:
    answer, infinite = question(rows.columns, list(rows.kinds), rows.n_rows, n_threads)
    if infinite:
        survey(rows, tree.schema, n_threads)  # which says where
    return answer


def reach(tree: Tree, rows: Encoded, node: int, n_threads: int) -> NDArray[np.float64]:
    """How much of each row comes to a node while a tree grows: all, nothing, or a share where rows are spread.

    The router adds up answers over all paths; where a node of this subtree answers one and any other nothing, the sum
    is the part of the row that came here.
    """
    if node == 0:
        return np.ones(rows.n_rows)
    depth = tree.arrays["depth"]
    deeper = np.append(depth[node + 1 :] > depth[node], False)
    inside = np.zeros((tree.n_nodes, 1))
    inside[node : node + 1 + int(np.argmin(deeper))] = 1.0  # depth first: a subtree is one run of nodes
    router = _core.Predictor(dict(tree.arrays) | {"value": inside, "missing": _while_growing(tree)}, tree.recipe.seed)
    parts = _asked(tree, rows, router.predict, n_threads)
    return np.asarray(parts[:, 0], dtype=np.float64)


def _while_growing(tree: Tree) -> NDArray[np.int32]:
    """Where splits send missing values while growing; rpart's `majority="all"` settles only afterwards."""
    missing: NDArray[np.int32] = tree.arrays["missing"].copy()
    policy = tree.recipe.missing
    if not (isinstance(policy, Surrogates) and policy.majority == "all" and policy.then == "majority"):
        return missing
    for i in tree.arrays["split_start"][:-1][tree.arrays["stop"] == 0]:
        share = tree.arrays["share"][tree.arrays["share_start"][i] : tree.arrays["share_start"][i + 1]]
        missing[i] = share.argmax() if np.count_nonzero(share == share.max()) == 1 else STOP_HERE
    return missing


def survey(encoded: Encoded, schema: Schema, n_threads: int) -> bool:
    """Whether any row with weight lacks a value. An infinite number is an error. The core looks, for it is quick."""
    return settled([surveyed(encoded, n_threads)], schema)


@dataclass(frozen=True)
class Surveyed:
    """What was seen in some rows: whether one with weight lacks a value, and the first infinite number, if any.

    `infinite`: its column, its row and itself.
    """

    n_rows: int
    missing: bool
    infinite: tuple[int, int, float] | None


def surveyed(encoded: Encoded, n_threads: int) -> Surveyed:
    """A look at all values of some rows."""
    missing, infinite = _core.check_values(
        encoded.columns, list(encoded.kinds), encoded.n_rows, n_threads, encoded.weight
    )
    if infinite is None:
        return Surveyed(encoded.n_rows, bool(missing), None)
    column, row = infinite
    values: Any = encoded.columns
    value = values[row, column] if isinstance(values, np.ndarray) else values[column][row]
    return Surveyed(encoded.n_rows, bool(missing), (column, row, float(value)))


def settled(looks: Sequence[Surveyed], schema: Schema) -> bool:
    """Whether any row with weight lacks a value, by looks at rows that follow each other; see `survey`."""
    found = [
        (look.infinite[0], n_before + look.infinite[1], look.infinite[2])
        for look, n_before in zip(looks, accumulate((look.n_rows for look in looks), initial=0), strict=False)
        if look.infinite is not None
    ]
    if found:
        column, row, value = min(found)
        raise infinity(schema.columns[column].name, value, row)
    return any(look.missing for look in looks)


def _router(tree: Tree) -> Any:
    """The tree made ready for rows, once."""
    return tree.keep("router", lambda: _core.Predictor(dict(tree.arrays), tree.recipe.seed))


def refuse_recipe(recipe: Recipe, schema: Schema) -> None:
    """What this recipe cannot learn from, whatever the values."""
    regression = schema.target.task == "regression"
    if (recipe.regression if regression else recipe.criterion) is None:
        raise DataError(
            f"the recipe {recipe.name!r} has no criterion for {schema.target.task}, but the target "
            f"{schema.target.name!r} {'is numeric' if regression else 'has classes'}; "
            + (
                "use CART or CHAID, or task='classification' if its numbers are names"
                if regression
                else "use CART, or task='regression' if its classes are numbers"
            )
        )
    numbers = [column.name for column in schema.columns if not column.has_levels]
    if isinstance(recipe.numeric, Refused) and numbers:
        raise DataError(
            f"the recipe {recipe.name!r} asks about levels only, but {listed(numbers)} "
            f"{'is numeric' if len(numbers) == 1 else 'are numeric'}; use C45 or CART, give the recipe "
            "numeric=Binned(10), or declare the column nominal with kinds="
        )


@dataclass(frozen=True)
class Doubts:
    """What a recipe may refuse, counted in some rows: missing values by column, and the target's size.

    `used`: whether a row is left to grow from, where rows without any value are left out.
    """

    n_rows: int
    missing: tuple[int, ...] = ()
    negative: bool = False
    positive: bool = True
    used: bool = True


def doubts(encoded: Encoded, recipe: Recipe, schema: Schema) -> Doubts:
    """Counts what this recipe asks about, and nothing else."""
    missing: tuple[int, ...] = ()
    if isinstance(recipe.missing, RefuseMissing):
        missing = tuple(
            int(np.count_nonzero(values < 0 if column.has_levels else np.isnan(values)))
            for column, values in zip(schema.columns, encoded.columns, strict=True)
        )
    used = not recipe.drop_blank_rows or _any_used(encoded)
    if not (isinstance(recipe.regression, Poisson) and schema.target.task == "regression"):
        return Doubts(encoded.n_rows, missing, used=used)
    assert encoded.target is not None
    return Doubts(encoded.n_rows, missing, bool((encoded.target < 0).any()), bool((encoded.target > 0).any()), used)


def _any_used(encoded: Encoded) -> bool:
    """Whether a row with weight has any value; most tables say so in their first column."""
    weighty = True if encoded.weight is None else encoded.weight > 0
    known = (~np.isnan(c) if c.dtype.kind == "f" else c >= 0 for c in encoded.columns)
    return any(bool(np.any(column & weighty)) for column in known)


def refuse_values(found: Sequence[Doubts], recipe: Recipe, schema: Schema) -> None:
    """What this recipe cannot learn from, given what its values are, in all parts of the table together."""
    for column, counts in zip(schema.columns, zip(*(each.missing for each in found), strict=True), strict=False):
        if any(counts):
            raise DataError(
                f"column {column.name!r} is missing in {sum(counts)} of {sum(each.n_rows for each in found)} rows, and "
                f"the recipe {recipe.name!r} refuses missing values; fill them in, or choose missing=Spread() or "
                "another policy"
            )
    if not any(each.used for each in found):
        raise DataError(
            f"no row with weight has a value in any column, and the recipe {recipe.name!r} leaves out rows without "
            "values; give rows that have some, or choose drop_blank_rows=False"
        )
    if any(each.negative for each in found) or not any(each.positive for each in found):
        raise DataError(
            f"the target {schema.target.name!r} must not be negative, nor all zero, for the Poisson criterion; "
            "use Variance()"
        )
