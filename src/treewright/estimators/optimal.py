"""Estimators of the best tree of small depth: `fit` searches instead of growing."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

from treewright.estimators.base import TreeEstimator, threads
from treewright.estimators.tasks import ClassifierBase, RegressorBase
from treewright.optimal.learn_optimal import search_rows
from treewright.optimal.search import find_optimal
from treewright.optimal.settings import SearchSettings
from treewright.out_of_core.memory_limit import memory_size
from treewright.recipes.missing import Missing
from treewright.training.learn import FitOptions
from treewright.training.parameters import described, documented
from treewright.tree.tree import Tree

#: What the parameters mean where growing has others or none of the name.
DESCRIPTIONS = described("""
max_depth : int
    Maximum depth of the tree, at most 8.
max_leaves : int or None
    Maximum number of leaves; None is no limit.
min_samples_leaf : int
    Minimum number of rows of a leaf.
leaf_penalty : float
    Price of a leaf: in units of the error rate (or mean cost), or as a fraction of the variance of y.
missing : {'learned', 'own', 'majority'} or Missing
    Where a row with a missing value goes: to the better side or alone, or to the child of more known weight.
costs : dict, array-like or None
    Misclassification costs {truth: {prediction: cost}}, 1 where left out; or an array with the truth in rows
    and the prediction in columns, in the order of `classes_`. The tree has the least mean cost.
max_levels : int
    A nominal column of at most so many levels is split into any two sets, another into one level and the rest.
time_limit : float or None
    Seconds after which `fit` ends with the best tree found.
memory_limit : float, str or None
    Bytes, or text such as '2GB', for the search beside the table; beyond them it ends with the best tree found.
""")


@dataclass(kw_only=True, eq=False, repr=False)
class _OptimalEstimator(TreeEstimator):
    max_depth: int = 3
    max_leaves: int | None = None
    min_samples_leaf: int = 1
    leaf_penalty: float = 0.0
    missing: str | Missing = "learned"
    max_levels: int = 5
    time_limit: float | None = None
    memory_limit: float | str | None = None

    def _learn(self, data: Any, target: Any, options: FitOptions) -> Tree:
        started = perf_counter()
        settings = SearchSettings(
            self.max_depth,
            self.min_samples_leaf,
            self.leaf_penalty,
            self.max_leaves,
            self.max_levels,
            self.missing,
            self.time_limit,
            None if self.memory_limit is None else memory_size(self.memory_limit),
        )
        rows, schema, balanced = search_rows(data, target, options)
        return find_optimal(rows, schema, settings, threads(self.n_jobs), balanced=balanced, started=started)


@dataclass(kw_only=True, eq=False, repr=False)
class OptimalTreeClassifier(ClassifierBase, _OptimalEstimator):
    """The tree of least training error, or cost, among all trees of a small depth, with a certificate.

    `class_weight="balanced"` minimises one minus the balanced accuracy. `tree_.certificate` holds the loss, a lower
    bound and whether the tree is proven to be the best (`treewright.learn_optimal`).

    Examples
    --------
    >>> import treewright as tw
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, ["no", "yes", "yes", "no"] * 5
    >>> print(tw.OptimalTreeClassifier(max_depth=2).fit(X, y).tree_.certificate)
    proven best of depth 2 by error rate (0)
    """


@dataclass(kw_only=True, eq=False, repr=False)
class OptimalTreeRegressor(RegressorBase, _OptimalEstimator):
    """The tree of least squared error among all trees of a small depth, with a certificate.

    `tree_.certificate` holds the loss (1 - R²), a lower bound and whether the tree is proven to be the best
    (`treewright.learn_optimal`).
    """


for _estimator in (OptimalTreeClassifier, OptimalTreeRegressor):
    documented(_estimator, DESCRIPTIONS)
