"""Learn the best tree of small depth: read, encode and search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter

from treewright.data.encoding import Encoded
from treewright.data.kinds import KindChoice
from treewright.data.schema import Schema, Task
from treewright.errors import RecipeError
from treewright.growing.weights import weighted
from treewright.optimal.search import find_optimal
from treewright.optimal.settings import OBJECTIVES, Objective, SearchSettings
from treewright.out_of_core.memory_limit import memory_size
from treewright.recipes.missing import Missing
from treewright.training.learn import FitOptions, training_table
from treewright.tree.tree import Tree


def learn_optimal(
    data: object,
    target: object,
    *,
    max_depth: int = 3,
    min_samples_leaf: int = 1,
    leaf_penalty: float = 0.0,
    max_leaves: int | None = None,
    objective: Objective | None = None,
    missing: Missing | str = "learned",
    max_levels: int = 5,
    time_limit: float | None = None,
    memory_limit: float | str | None = None,
    weight: object = None,
    kinds: Mapping[str, KindChoice] | None = None,
    task: Task | None = None,
    class_weight: object = None,
    costs: object = None,
    priors: object = None,
    n_threads: int = 0,
    progress: Callable[[float, float], object] | None = None,
) -> Tree:
    """Learn the tree of least training loss among all trees of a given depth.

    Greedy growth takes the best next split; this search compares whole trees, with every threshold of every numeric
    column, and proves that none is better. It is meant for trees that people read: depth 2 to 4. The search can be
    stopped at any time, by `time_limit`, `memory_limit` or Ctrl-C; the result is then the best tree found, never worse
    than that of greedy growth at the same limits, and a bound on how much better another could be.

    Parameters
    ----------
    data : table, path or query
        Any table `treewright.learn` reads into memory.
    target : str or array-like
        Name of the target column, or one value per row.
    max_depth : int, default=3
        Maximum depth of the tree.
    min_samples_leaf : int, default=1
        Minimum number of rows in a leaf.
    leaf_penalty : float, default=0.0
        Price of a leaf: in units of the error rate (or mean cost) for classes, and as a fraction of the variance of
        the target for numbers.
    max_leaves : int, optional
        Maximum number of leaves.
    objective : {"misclassification", "balanced_accuracy", "squared_error"}, optional
        What the tree minimises: weighted errors or, with `costs`, their cost; one minus the mean recall of the classes;
        squared error. By default the first for classes and the last for numbers.
    missing : {"learned", "own", "majority"} or Missing, default="learned"
        Where a missing value goes: to the better side of each split, or alone against all others ("own" is the same in
        a tree of two-way splits); or to the child of more known weight.
    max_levels : int, default=5
        A nominal column with at most so many levels may be split into any two sets of levels; one with more into one
        level against the rest.
    time_limit : float, optional
        Seconds after which the call returns the best tree found.
    memory_limit : float or str, optional
        Bytes, or text such as "2GB", that the search may use beside the table; it then returns the best tree found. By
        default half of the memory that is free.
    weight : str or array-like, optional
        Column with the weight of each row, or one weight per row.
    kinds : dict, optional
        Kinds of columns, as in `treewright.learn`.
    task : {"classification", "regression"}, optional
        Inferred from the target by default.
    class_weight : dict or "balanced", optional
        Weights of the classes; ``"balanced"`` minimises one minus the balanced accuracy.
    costs : dict or array-like, optional
        Costs of wrong predictions, by true and predicted class.
    priors : dict or array-like, optional
        Class frequencies to assume instead of those of the table.
    n_threads : int, default=0
        Number of threads; 0 uses all processors. The tree does not depend on it.
    progress : callable, optional
        Called with the lower bound and the loss of the best tree so far, both in units of the certificate.

    Returns
    -------
    Tree
        With a `certificate`: the loss, a lower bound, and whether the tree is proven to be the best.

    Examples
    --------
    No single split says anything about an exclusive or, so greedy growth finds nothing:

    >>> import treewright as tw
    >>> table = {"a": [0, 0, 1, 1] * 2, "b": [0, 1, 0, 1] * 2, "y": ["no", "yes", "yes", "no"] * 2}
    >>> print(tw.learn_optimal(table, "y", max_depth=2).certificate)
    proven best of depth 2 by error rate (0)
    """
    started = perf_counter()
    memory = None if memory_limit is None else memory_size(memory_limit)
    settings = SearchSettings(
        max_depth, min_samples_leaf, leaf_penalty, max_leaves, max_levels, missing, time_limit, memory
    )
    options = FitOptions(weight, kinds, task, class_weight, costs, priors)
    rows, schema, balanced = search_rows(data, target, options, objective)
    return find_optimal(rows, schema, settings, n_threads, progress, balanced=balanced, started=started)


def search_rows(
    data: object, target: object, options: FitOptions, objective: Objective | None = None
) -> tuple[Encoded, Schema, bool]:
    """Read and encode a table for the search; the last value is whether the classes are balanced."""
    options = with_objective(options, objective)
    rows, schema = training_table(data, target, options)
    encoded = weighted(rows, schema, options.class_weight)
    assert isinstance(encoded, Encoded)
    return encoded, schema, isinstance(options.class_weight, str) and options.class_weight == "balanced"


def with_objective(options: FitOptions, objective: Objective | None) -> FitOptions:
    """Return the options with the task and the class weights of an objective."""
    if objective is None:
        return options
    if objective not in OBJECTIVES:
        raise RecipeError(f"objective={objective!r} is not known; choose from {', '.join(map(repr, OBJECTIVES))}")
    task: Task = "regression" if objective == "squared_error" else "classification"
    if options.task not in (None, task):
        raise RecipeError(f"objective={objective!r} is for {task}, but task={options.task!r}")
    if objective != "balanced_accuracy":
        return replace(options, task=task)
    if options.class_weight not in (None, "balanced") or options.costs is not None or options.priors is not None:
        raise RecipeError(
            "objective='balanced_accuracy' sets the class weights; leave out class_weight, costs and priors"
        )
    return replace(options, task=task, class_weight="balanced")
