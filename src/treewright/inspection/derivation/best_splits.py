"""Every column's best split at a node, found by the engine itself.

No search is written here: a tree of depth one is grown on the node's rows and its split and rivals are read. What a
recipe learns from the whole table (quantile groups, observed thresholds) is learned from the whole table here too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.encoding import Encoded
from treewright.data.schema import ColumnSpec, Schema
from treewright.data.value_text import decode
from treewright.growing.grow import grow
from treewright.inspection.derivation.node_rows import ALL_THREADS, Entries
from treewright.inspection.derivation.split_counts import scores_missing
from treewright.recipes.branching import EachValue
from treewright.recipes.criterion import Gini, Variance
from treewright.recipes.missing import Ignore, Surrogates
from treewright.recipes.numeric import Binned, Threshold
from treewright.recipes.recipe import Recipe
from treewright.recipes.stopping import Stopping
from treewright.tree.split import Split
from treewright.tree.text import level_text
from treewright.tree.tree import Tree

ORDINAL = 1


@dataclass(frozen=True)
class BestSplits:
    """`splits`, best first; `chosen`: the engine takes the first; `stop`: otherwise why not; `reasons` by column."""

    splits: tuple[Split, ...]
    chosen: bool
    stop: str | None
    reasons: dict[int, str]


def best_splits(entries: Entries, recipe: Recipe) -> BestSplits:
    """Return the best split of each column on these rows."""
    if not entries.n_rows:
        return BestSplits((), False, "empty", dict.fromkeys(range(len(entries.schema.columns)), "no row comes here"))
    used = for_one_node(recipe, len(entries.schema.columns))
    root = _grown(entries, used).root
    splits = ((root.split,) if root.split is not None else ()) + root.rivals
    seen = {split.column_index for split in splits}
    rest = [i for i in range(len(entries.schema.columns)) if i not in seen]
    reasons = {i: reason_of(entries, used, i, root.stop) for i in rest}
    return BestSplits(splits, root.split is not None, root.stop, reasons)


def for_one_node(recipe: Recipe, n_columns: int) -> Recipe:
    """Return the recipe for one decision: limits on branches hold, limits on the node itself do not."""
    stopping = replace(
        recipe.stopping,
        max_depth=1,
        min_samples_split=2,
        min_weight_split=0.0,
        max_leaf_nodes=None,
        max_features=None,
        min_impurity_decrease=0.0,
        max_impurity=None,
    )
    missing = recipe.missing
    if isinstance(missing, Surrogates):
        missing = replace(missing, maximum=0)  # they have no part in choosing
    return replace(recipe, stopping=stopping, missing=missing, simplify=None, pruning=None, rivals=n_columns)


def _grown(entries: Entries, recipe: Recipe) -> Tree:
    """Return the tree of depth one; its splits speak of the columns as the schema has them."""
    schema = replace(entries.schema, target=replace(entries.schema.target, costs=None, priors=None))
    part = bool((entries.weight != entries.everywhere).any())
    if not part:
        return grow(_weighed(entries.encoded, entries.weight), schema, recipe, ALL_THREADS)
    if isinstance(recipe.numeric, Binned):
        return _grown_in_groups(entries, schema, recipe)
    if isinstance(recipe.numeric, Threshold) and recipe.numeric.at == "observed":
        plain = replace(recipe, numeric=replace(recipe.numeric, at="midpoint"))
        tree = grow(_weighed(entries.encoded, entries.weight), schema, plain, ALL_THREADS)
        return _with_observed(tree, entries)
    return grow(_weighed(entries.encoded, entries.weight), schema, recipe, ALL_THREADS)


def _weighed(encoded: Encoded, weight: FloatArray) -> Encoded:
    return replace(encoded, weight=None if (weight == 1.0).all() else np.ascontiguousarray(weight))


# --- what is learned from the whole table -----------------------------------------------------------------------------


def _with_observed(tree: Tree, entries: Entries) -> Tree:
    """Thresholds moved from midpoints down to the largest value of the whole table, as the recipe stores them."""
    breaks = tree.arrays["breaks"].copy()
    for i, column in enumerate(tree.arrays["column"].tolist()):
        start, end = tree.arrays["break_start"][i : i + 2].tolist()
        if start == end:
            continue
        values = entries.encoded.columns[column]
        here = values[(entries.weight > 0) & (values > breaks[start])]
        limit = (
            min(breaks[start] + tree.recipe.tie_tolerance, np.nextafter(here.min(), -np.inf)) if len(here) else np.inf
        )
        lower = values[(entries.everywhere > 0) & (values <= limit)]
        breaks[start] = lower.max() + 0.0
    return Tree.grown(dict(tree.arrays) | {"breaks": breaks}, tree.schema, tree.recipe)


def _grown_in_groups(entries: Entries, schema: Schema, recipe: Recipe) -> Tree:
    """Group numbers as in the whole table, which the node's own rows would not give."""
    bounds = _group_bounds(entries, schema, recipe)
    columns, kinds, levels = list(entries.encoded.columns), list(entries.encoded.kinds), list(entries.encoded.levels)
    specs = list(schema.columns)
    for i, between in bounds.items():
        codes = np.searchsorted(between, columns[i], side="left").astype(np.int32)
        columns[i] = np.where(np.isnan(columns[i]), np.int32(-1), codes).astype(np.int32)
        kinds[i], levels[i] = ORDINAL, len(between) + 1
        specs[i] = ColumnSpec(specs[i].name, "ordinal", tuple(range(levels[i])))
    encoded = replace(entries.encoded, columns=tuple(columns), kinds=tuple(kinds), levels=tuple(levels))
    tree = grow(_weighed(encoded, entries.weight), replace(schema, columns=tuple(specs)), recipe, ALL_THREADS)
    return _with_breaks(tree, bounds, schema)


def _group_bounds(entries: Entries, schema: Schema, recipe: Recipe) -> dict[int, FloatArray]:
    """Return the breaks between the quantile groups of each column of numbers.

    The engine makes the groups; a branch for each of them, whatever their target, makes it report them.
    """
    numeric = entries.schema.target.classes is None
    probe = Recipe(
        branching=EachValue(),
        numeric=recipe.numeric,
        criterion=None if numeric else Gini(),
        regression=Variance() if numeric else None,
        missing=Ignore(),
        stopping=Stopping(max_depth=1, zero_gain=True),
        rivals=len(schema.columns),
    )
    root = grow(_weighed(entries.encoded, entries.everywhere), schema, probe, ALL_THREADS).root
    splits = ((root.split,) if root.split is not None else ()) + root.rivals
    found = {split.column_index: np.array(split.breaks) for split in splits if not split.spec.has_levels}
    numbers = (i for i, column in enumerate(schema.columns) if not column.has_levels)
    return {i: found.get(i, np.zeros(0)) for i in numbers}


def _with_breaks(tree: Tree, bounds: dict[int, FloatArray], schema: Schema) -> Tree:
    """Return the same splits with numeric conditions: neighbouring groups of one branch are one interval."""
    arrays = dict(tree.arrays)
    breaks: list[float] = []
    bins: list[int] = []
    break_start, bin_start = [0], [0]
    for i, column in enumerate(arrays["column"].tolist()):
        children = arrays["child_of_bin"][arrays["bin_start"][i] : arrays["bin_start"][i + 1]].tolist()
        if column in bounds:
            changes = [j for j in range(1, len(children)) if children[j] != children[j - 1]]
            breaks += [float(bounds[column][j - 1]) for j in changes]
            children = [children[0], *(children[j] for j in changes)]
        bins += children
        break_start.append(len(breaks))
        bin_start.append(len(bins))
    arrays["breaks"], arrays["child_of_bin"] = np.array(breaks, np.float64), np.array(bins, np.int32)
    arrays["break_start"], arrays["bin_start"] = np.array(break_start, np.int32), np.array(bin_start, np.int32)
    arrays["closed"] = np.where(np.isin(arrays["column"], list(bounds)), 1, arrays["closed"]).astype(np.int32)
    return Tree.grown(arrays, schema, tree.recipe)


# --- why a column cannot split ----------------------------------------------------------------------------------------


def reason_of(entries: Entries, recipe: Recipe, column: int, stop: str | None) -> str:
    """Return why a column has no split here."""
    spec = entries.schema.columns[column]
    here, absent = entries.weight > 0, entries.missing(column)
    known = np.unique(entries.encoded.columns[column][here & ~absent])
    if not len(known):
        return "no value is known here"
    if len(known) == 1 and not (scores_missing(recipe.missing) and (here & absent).any()):
        value = level_text(spec.levels[int(known[0])]) if spec.levels is not None else decode(spec, known[0])
        return f"constant: only {value} here"
    if stop == "pure":
        return "all rows have the same target, there is nothing to split"
    if isinstance(recipe.numeric, Threshold) and recipe.numeric.mdl_penalty and stop != "too few rows":
        bare = replace(recipe, numeric=replace(recipe.numeric, mdl_penalty=False))
        root = _grown(entries, bare).root
        if column in {s.column_index for s in ((root.split,) if root.split is not None else ()) + root.rivals}:
            return "the gain is not above the penalty for choosing among its cuts"
    return f"every split is refused: {_limits(recipe)}"


def _limits(recipe: Recipe) -> str:
    """Return the settings that can refuse a branch, with their values."""
    plain, stopping = Stopping(), recipe.stopping
    names = ("min_samples_leaf", "min_weight_leaf", "min_weight_two")
    texts = [f"{name}={getattr(stopping, name):g}" for name in names if getattr(stopping, name) != getattr(plain, name)]
    if isinstance(recipe.numeric, Threshold):
        texts += ["a tenth of the rows per class on each side"] if recipe.numeric.min_tenth_per_class else []
        texts += [f"min_gap={recipe.numeric.min_gap:g}"] if recipe.numeric.min_gap else []
    return ", ".join(texts) if texts else "the criterion cannot rate it"
