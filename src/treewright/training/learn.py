"""Learning: read, describe, encode, grow, prune. The composition of the house's arrows, on one screen.

Comes in: any table, a target, a recipe. Goes out: a `Tree`.
Always holds: everything that could be wrong with the input is found before the core starts; nothing is left half-done.
The tree does not depend on the order of rows or on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from inspect import signature
from os import PathLike
from typing import Never

from treewright.data.encoding import Encoded, describe, encode
from treewright.data.kinds import KindChoice
from treewright.data.left_out import without_useless
from treewright.data.reader import read, taken
from treewright.data.schema import Schema, Task
from treewright.growing.weights import target_with, weighted
from treewright.out_of_core.dask_partitions import is_partitioned
from treewright.out_of_core.inputs import is_large, with_target
from treewright.pruning.prune import grow_and_prune
from treewright.recipes.named import CART, named_recipe
from treewright.recipes.recipe import Recipe
from treewright.training.learn_large import FitOptions, fits_in_memory, learn_large
from treewright.training.parameters import unknown_argument
from treewright.tree.tree import Tree


def learn(
    data: object,
    target: object,
    recipe: Recipe | str = CART,
    *,
    weight: object = None,
    kinds: Mapping[str, KindChoice] | None = None,
    task: Task | None = None,
    class_weight: object = None,
    costs: object = None,
    priors: object = None,
    n_threads: int = 0,
    progress: Callable[[float], object] | None = None,
    memory_limit: float | str | None = None,
    scratch: str | PathLike[str] | None = None,
    **unknown: Never,
) -> Tree:
    """Learn a tree.

    `data` is any table, the name of a file ("rows.csv", "rows.parquet", ...) or a query over files. `target` and
    `weight` are names of columns, or arrays with one value per row. `kinds` says what columns are where their type does
    not: "numeric", "nominal", "ordinal", "date", ..., or a list of levels in order. `n_threads=0` means all processors;
    the tree is the same for any number. `progress` is called now and then with the fraction of the fit that is done: it
    counts the trees of all folds of a cross-validation, never falls, and reaches 1 at the end. Ctrl-C ends a long fit.
    Settings such as max_depth belong to the recipe: `tw.CART.with_(max_depth=3)`. A named recipe may
    be given by its name: "c45".

    `task` is "classification" or "regression". Without it, text, categories and truth values are classes, and numbers
    go by one rule, the same from the shell and for tables in files: whole numbers of at most two different values, or
    of at most ten with five rows or more for each on average, are classes; all others are numbers. Where whole numbers
    leave a doubt the printed tree says what was inferred. Text that differs in nearly every row (more than 20 levels,
    fewer than three rows for each) and columns without values are left out, with a warning; `kinds` keeps them.

    `class_weight` multiplies the weight of rows by class: a dict, or "balanced". `costs` says what wrong answers cost:
    {truth: {answer: cost}}, or an array with the truth in rows and the answer in columns, in the order of the classes;
    `priors` how frequent the classes really are. Costs and priors mean what rpart means by them (docs/pruning.md).

    >>> import treewright as tw
    >>> sky, wind = ["sun", "sun", "rain", "rain"], ["no", "yes", "no", "yes"]
    >>> table = {"sky": sky, "wind": wind, "play": ["yes", "yes", "yes", "no"]}
    >>> tree = tw.learn(table, "play", tw.ID3)
    >>> tree.n_leaves
    3
    """
    if unknown:
        raise TypeError(unknown_argument(unknown, list(signature(learn).parameters)[:-1], named_recipe(recipe)))
    return learn_from(
        data,
        target,
        recipe,
        FitOptions("", None, kinds, task, class_weight, costs, priors, memory_limit, scratch),
        weight,
        n_threads,
        progress,
    )


def learn_from(
    data: object,
    target: object,
    recipe: Recipe | str,
    options: FitOptions,
    weight: object = None,
    n_threads: int = 0,
    progress: Callable[[float], object] | None = None,
) -> Tree:
    """`learn` with all settings in one value; the names of target and weight are put into it here."""
    recipe = named_recipe(recipe)
    if (is_large(data) or is_partitioned(data)) and not fits_in_memory(data, options.memory_limit):
        table, target_name, weight_name = with_target(data, target, weight)
        return learn_large(table, replace(options, target=target_name, weight=weight_name), recipe, n_threads, progress)
    encoded, schema = training_table(
        data, target, weight, options.kinds, options.task, options.costs, options.priors, options.keep_columns
    )
    return grow_and_prune(weighted(encoded, schema, options.class_weight), schema, recipe, n_threads, progress)


def training_table(
    data: object,
    target: object,
    weight: object = None,
    kinds: Mapping[str, KindChoice] | None = None,
    task: Task | None = None,
    costs: object = None,
    priors: object = None,
    keep_columns: bool = False,
) -> tuple[Encoded, Schema]:
    """A table read, described and coded, ready to be learned from; `keep_columns`: no column is left out."""
    frame = read(data)
    answers, frame = taken(frame, target, "target")
    weights = None
    if weight is not None:
        weights, frame = taken(frame, weight, "weight")
    if not keep_columns:
        frame = without_useless(frame, kinds)
    schema = describe(frame, answers, task, kinds)
    schema = replace(schema, target=target_with(schema.target, costs, priors))
    return encode(frame, schema, training=True, target=answers, weight=weights), schema
