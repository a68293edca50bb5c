"""Learn a tree: read, encode, weight, grow, prune, for rows in memory and elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from inspect import signature
from os import PathLike
from typing import Never

from treewright.data.dropped_columns import without_useless
from treewright.data.encoding import Encoded, describe, encode
from treewright.data.kinds import KindChoice
from treewright.data.reader import read, taken
from treewright.data.schema import Schema, Task
from treewright.data.value_text import size_text
from treewright.errors import DataError
from treewright.fitting.fit_models import with_models
from treewright.fitting.pilot import grow_by_criterion
from treewright.growing.checks import check_recipe
from treewright.growing.grow import grow_bare, grow_kept, with_bins
from treewright.growing.partitions import Limits, Partitions
from treewright.growing.progress import Progress, Stage
from treewright.growing.weights import check_priors, weighted, with_costs
from treewright.out_of_core.dask_partitions import from_dask, has_client, is_partitioned
from treewright.out_of_core.disk_partitions import row_bytes
from treewright.out_of_core.encode_chunks import encode_chunks, fits_in_memory
from treewright.out_of_core.inputs import is_large, with_target
from treewright.out_of_core.memory_limit import memory_size, working_memory
from treewright.out_of_core.scratch_folder import scratch as scratch_folder
from treewright.pruning.prune import prune_rows, rows_for, worth_completing
from treewright.recipes.leaves import Constant, Pieces
from treewright.recipes.named import CART, named_recipes
from treewright.recipes.recipe import Recipe
from treewright.training.choose_recipe import FOLDS as CHOICE_FOLDS
from treewright.training.choose_recipe import NOT_IN_MEMORY, chosen_recipe
from treewright.training.honest import learn_honestly
from treewright.training.parameters import unknown_argument
from treewright.training.shrinkage_strength import FOLDS, chosen_strength
from treewright.tree.leaf_values import shrunk
from treewright.tree.tree import Tree


@dataclass(frozen=True)
class FitOptions:
    """What is known about the table besides the target, and the memory to use.

    `keep_columns`: columns that nothing can be learned from are kept, as scikit-learn's estimators must.
    """

    weight: object = None
    kinds: Mapping[str, KindChoice] | None = None
    task: Task | None = None
    class_weight: object = None
    costs: object = None
    priors: object = None
    memory_limit: float | str | None = None
    scratch: str | PathLike[str] | None = None
    keep_columns: bool = False
    honest: bool = False


_DEFAULTS = FitOptions()


def learn(
    data: object,
    target: object,
    recipe: Recipe | str | Sequence[Recipe | str] = CART,
    *,
    weight: object = None,
    kinds: Mapping[str, KindChoice] | None = None,
    task: Task | None = None,
    class_weight: object = None,
    costs: object = None,
    priors: object = None,
    honest: bool = False,
    n_threads: int = 0,
    progress: Callable[[float], object] | None = None,
    memory_limit: float | str | None = None,
    scratch: str | PathLike[str] | None = None,
    **unknown: Never,
) -> Tree:
    """Learn a tree from a table.

    Columns without values and text columns that differ in nearly every row (more than 20 levels, fewer than three rows
    each) are left out with a warning; `kinds` keeps them. A column that only numbers the rows is kept, with a warning.
    Ctrl-C ends a long fit.

    Parameters
    ----------
    data : table
        A pandas, polars or pyarrow table, a dict of columns, an array, the name of a file or pattern ("rows.csv",
        "parts/*.parquet"), a query (`sql`), a pyarrow dataset, a DuckDB relation, an iterator of tables or a Dask
        DataFrame.
    target : str or array-like
        Name of the target column, or one value per row.
    recipe : Recipe or str, or a sequence of them, default=CART
        The algorithm: a recipe or its name, such as "c45". Settings such as max_depth belong to it:
        `tw.CART.with_(max_depth=3)`. Of several, the one with the least error (squared error, for numbers) in a
        cross-validation of ten folds on these rows learns the tree; the first of equals.
    weight : str or array-like, optional
        Name of the column with the weights of rows, or one weight per row.
    kinds : dict, optional
        The kind of columns whose type does not show it: "numeric", "nominal", "ordinal", "boolean", "date",
        "datetime", "time", "duration", or a list of levels in order.
    task : {"classification", "regression"}, optional
        By default text, categories and booleans are classes, and so are whole numbers of at most two values, or of at
        most ten with five rows each on average; other numbers are numbers. The printed tree notes an inferred task.
    class_weight : dict or "balanced", optional
        Factor of the weight of rows by class; "balanced" gives all classes the same total weight.
    costs : dict or array-like, optional
        Misclassification costs {truth: {prediction: cost}}, or an array with the truth in rows and the prediction in
        columns, in the order of the classes. Costs and priors have rpart's meaning (docs/pruning.md).
    priors : dict or array-like, optional
        Class probabilities outside the table; by default as in it.
    honest : bool, default=False
        Choose the splits by one half of the rows and take the predictions from the other, so that no row makes a leaf
        look better than it is. The halves depend on the rows' values and the recipe's seed.
    n_threads : int, default=0
        Number of threads; 0 means all processors. The tree is the same for any number.
    progress : callable, optional
        Called with the fraction of the fit that is done, over the trees of all folds; it never falls and ends at 1.
    memory_limit : float or str, optional
        Memory for a table that is not in memory, such as "2GB"; by default half of what is free. A limit below what a
        fit needs (250 MB, or 600 MB where the table does not fit) raises a DataError before anything is read. A
        tree of many nodes takes 1 to 4 kB for each of them on top.
    scratch : str or PathLike, optional
        Folder for what has no room in memory; by default the system's folder for temporary files.
    **unknown
        Anything else raises a TypeError that names where the setting belongs.

    Returns
    -------
    Tree
        The tree, pruned by the recipe.

    Examples
    --------
    >>> import treewright as tw
    >>> sky, wind = ["sun", "sun", "rain", "rain"], ["no", "yes", "no", "yes"]
    >>> table = {"sky": sky, "wind": wind, "play": ["yes", "yes", "yes", "no"]}
    >>> tree = tw.learn(table, "play", tw.ID3)
    >>> tree.n_leaves
    3
    """
    if unknown:
        raise TypeError(unknown_argument(unknown, list(signature(learn).parameters)[:-1], named_recipes(recipe)[0]))
    if not isinstance(honest, bool):
        raise DataError(f"honest must be True or False, not {honest!r}")
    options = FitOptions(weight, kinds, task, class_weight, costs, priors, memory_limit, scratch, honest=honest)
    return learn_from(data, target, named_recipes(recipe), options, n_threads, progress)


def learn_from(
    data: object,
    target: object,
    recipe: tuple[Recipe, ...] | Callable[[Encoded | None], tuple[Recipe, ...]],
    options: FitOptions,
    n_threads: int = 0,
    progress: Progress | None = None,
) -> Tree:
    """Learn a tree, as `learn` does; a function as `recipe` gets the encoded rows, or None where they are not here."""

    def recipes_for(rows: Encoded | Partitions | None) -> tuple[Recipe, ...]:
        return recipe if isinstance(recipe, tuple) else recipe(rows if isinstance(rows, Encoded) else None)

    if options.memory_limit is not None:
        memory_size(options.memory_limit)  # a table in memory needs none, but a wrong one is no less wrong
    rows: Encoded | Partitions
    with ExitStack() as resources:
        if not (is_large(data) or is_partitioned(data)) or fits_in_memory(data, options.memory_limit):
            rows, schema = training_table(data, target, options)
        else:
            only, *others = recipes_for(None)
            if others:
                raise DataError(NOT_IN_MEMORY)
            rows, schema = training_partitions(data, target, only, options, n_threads, resources)
        rows = weighted(rows, schema, options.class_weight)
        recipes = recipes_for(rows)

        def fit(some: Encoded | Partitions) -> Tree:
            return grow_best(some, schema, recipes, n_threads, progress)

        if options.honest and any(isinstance(one.leaves, Pieces) for one in recipes):
            raise DataError(
                "honest=True fits the leaves to other rows than chose the splits, and Pieces come with the splits; use "
                "leaves=treewright.leaves.Linear()"
            )
        return learn_honestly(rows, fit, recipes[0].seed, n_threads) if options.honest else fit(rows)


def training_table(data: object, target: object, options: FitOptions = _DEFAULTS) -> tuple[Encoded, Schema]:
    """Read, describe and encode a table in memory."""
    frame = read(data)
    truth, frame = taken(frame, target, "target")
    weights = None
    if options.weight is not None:
        weights, frame = taken(frame, options.weight, "weight")
    if not options.keep_columns:
        frame = without_useless(frame, options.kinds)
    schema = describe(frame, truth, options.task, options.kinds, keep_empty=options.keep_columns)
    schema = with_costs(schema, options.costs, options.priors)
    return encode(frame, schema, training=True, target=truth, weight=weights), schema


def training_partitions(
    data: object, target: object, recipe: Recipe, options: FitOptions, n_threads: int, resources: ExitStack
) -> tuple[Encoded | Partitions, Schema]:
    """Read, describe and encode a table that is not in memory; what cannot work is refused before rows are written."""

    def checked(schema: Schema) -> Schema:
        check_recipe(recipe, schema)
        return with_costs(schema, options.costs, options.priors)

    data, target_name, weight_name = with_target(data, target, options.weight)
    limit = working_memory(options.memory_limit)
    columns = (target_name, weight_name, options.kinds, options.task, options.keep_columns)
    rows: Encoded | Partitions
    if is_partitioned(data) and has_client():
        rows, schema = from_dask(data, *columns, check=checked, limits=Limits(memory=limit))
        resources.callback(rows.close)
    else:
        folder = resources.enter_context(scratch_folder(options.scratch))
        rows, schema = encode_chunks(
            data, *columns, check=checked, memory_limit=limit, folder=folder, n_threads=n_threads
        )
    if not isinstance(rows, Encoded):
        check_pruning_memory(recipe, sum(rows.sizes), max(rows.map(row_bytes)), limit)
    return rows, schema


def grow_best(
    rows: Encoded | Partitions,
    schema: Schema,
    recipes: Sequence[Recipe],
    n_threads: int = 0,
    progress: Progress | None = None,
) -> Tree:
    """Grow and prune a tree by the recipe; of several, by the one that cross-validation chooses."""
    stage, steps = Stage(progress), CHOICE_FOLDS * len(recipes) + 1

    def fit(training: Encoded, recipe: Recipe, step: int) -> Tree:
        return grow_and_prune(training, schema, recipe, n_threads, stage.part(step, steps))

    if len(recipes) == 1:
        return grow_and_prune(rows, schema, recipes[0], n_threads, progress)
    chosen = chosen_recipe(rows, recipes, fit)
    part = None if progress is None else stage.part(steps - 1, steps)
    tree = grow_and_prune(rows, schema, chosen, n_threads, part)
    if progress is not None:
        progress(1.0)
    return tree


def grow_and_prune(
    rows: Encoded | Partitions, schema: Schema, recipe: Recipe, n_threads: int = 0, progress: Progress | None = None
) -> Tree:
    """Grow a tree from encoded rows and prune it by the recipe; `progress` reaches 1 at the end."""
    check_recipe(recipe, schema)
    check_priors(rows, schema.target)
    stage = Stage(progress)
    if isinstance(recipe.leaves, Constant) and recipe.leaves.smoothing == "shrinkage_cv":
        recipe = _with_strength(rows, schema, recipe, n_threads, stage.part(0, FOLDS + 1, FOLDS))
        stage = stage.part(FOLDS, FOLDS + 1)
    tree = _grown_and_pruned(rows, schema, recipe, n_threads, stage)
    if progress is not None:
        progress(1.0)
    return with_models(shrunk(tree), rows, n_threads)


def _grown_and_pruned(rows: Encoded | Partitions, schema: Schema, recipe: Recipe, n_threads: int, stage: Stage) -> Tree:
    pruner = recipe.pruning
    n_trees = 1 + (pruner.n_trees if pruner is not None else 0)
    with ExitStack() as resources:
        growing, pruning = (rows, rows) if pruner is None else rows_for(pruner, rows, resources)
        binned = None
        if isinstance(growing, Encoded) and worth_completing(recipe):
            binned = pruning = with_bins(growing, n_threads)  # once for all the trees to come
            tree = grow_bare(binned, schema, recipe, n_threads, stage.part(0, n_trees))
        else:
            tree = grow_by_criterion(growing, schema, recipe, n_threads, stage.part(0, n_trees))
        if pruner is not None:
            tree = prune_rows(tree, pruner, pruning, n_threads, stage.part(1, n_trees, n_trees - 1))
        if binned is not None:
            tree = replace(grow_kept(binned, tree, n_threads), models=tree.models)
    return tree


def _with_strength(rows: Encoded | Partitions, schema: Schema, recipe: Recipe, n_threads: int, stage: Stage) -> Recipe:
    """Return the recipe with the strength of shrinkage that cross-validation chooses."""
    plain = recipe.with_(rivals=0)  # which change no tree and are not read

    def fit(training: Encoded, fold: int) -> Tree:
        return _grown_and_pruned(training, schema, plain, n_threads, stage.part(fold, FOLDS))

    return recipe.with_(smoothing="shrinkage", m=chosen_strength(rows, fit, recipe.seed))


def check_pruning_memory(recipe: Recipe, n_rows: int, bytes_per_row: int, limit: int) -> None:
    """Raise `DataError` if the pruner needs more of the rows in one place than memory has room for."""
    needed = None if recipe.pruning is None else recipe.pruning.row_memory(n_rows, bytes_per_row)
    if needed is not None and needed.n_bytes > limit:
        raise DataError(
            f"the recipe {recipe.name!r} is pruned by {type(recipe.pruning).__name__}, which {needed.reason}: that "
            f"takes {size_text(needed.n_bytes)} here, and memory_limit is {size_text(limit)}; choose "
            f"pruning={needed.remedy} or pruning=None, or allow more memory"
        )
