"""The pruning path: the nested trees from the whole tree to its root, with their risks.

Alphas rise and leaves fall from step to step. Splits that are worth nothing are not in the first tree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright import _core
from treewright.data.arrays import FloatArray
from treewright.data.encoding import UNSEEN_CODE, Encoded
from treewright.data.grid import Grid, Results
from treewright.data.number_text import many, number_text
from treewright.data.schema import Schema
from treewright.errors import DataError
from treewright.fitting.pilot import grow_by_criterion
from treewright.growing.grow import binned_once
from treewright.growing.memory_partitions import as_partitions
from treewright.growing.partitions import Partitions
from treewright.growing.progress import UNREPORTED, Stage
from treewright.pruning.cross_validation import (
    HeldOut,
    deal_partitions,
    held_out,
    real_by_class,
    total_weight,
    used_rows,
)
from treewright.pruning.losses import node_risk
from treewright.pruning.nested_trees import nested_trees
from treewright.recipes.pruners import CostComplexity, CostComplexityCV, ImpurityThresholdCV, Rule
from treewright.tree.tree import Tree

#: Two sums of the same losses, added up in another order, may differ by this share.
_NOISE = 1e-10


@dataclass(frozen=True)
class PruningPath(Results):
    """The nested trees of cost-complexity pruning, from the largest tree to the root alone.

    Step i is the smallest tree of least risk for every alpha from `alpha[i]` up to `alpha[i + 1]`. Risks are fractions
    of the total weight; divided by `root_risk` they are rpart's CP, rel error, xerror and xstd.

    Parameters
    ----------
    alpha : tuple of float
        Smallest alpha of each step.
    leaves : tuple of int
        Number of leaves.
    risk : tuple of float
        Risk on the training rows.
    held_out : tuple of float, optional
        Cross-validated risk.
    error : tuple of float, optional
        Standard error of the cross-validated risk.
    """

    alpha: tuple[float, ...]
    leaves: tuple[int, ...]
    risk: tuple[float, ...]
    held_out: tuple[float, ...] | None = None
    error: tuple[float, ...] | None = None

    def __len__(self) -> int:
        return len(self.alpha)

    @property
    def root_risk(self) -> float:
        """The risk of the root alone."""
        return self.risk[-1]

    def chosen(self, rule: Rule = "1se") -> int:
        """Choose a step by its held-out risk.

        Parameters
        ----------
        rule : {"1se", "min"}, default="1se"
            The last step within one standard error of the lowest risk, or the last of lowest risk.

        Returns
        -------
        int
            The index of the step.
        """
        if self.held_out is None or self.error is None:
            raise ValueError("this path has no held-out risks; give pruning_path the training rows as data=")
        return choose(np.array(self.held_out), np.array(self.error), rule)

    def grid(self) -> Grid:
        """Return the table as it is printed; the middle of a long path is left out.

        Returns
        -------
        Grid
            One row per step.
        """
        columns = self._columns()
        rows = [tuple(number_text(column[i]) for column in columns.values()) for i in range(len(self))]
        header, left_out = tuple(name.replace("_", " ") for name in columns), len(rows) - 30
        if left_out <= 0:
            return Grid("", header, tuple(rows), words=0)
        rows[15:-15] = [("…",) * len(columns)]
        return Grid("", header, tuple(rows), words=0, notes=(f"… {many(left_out, 'more step')}",))

    def _columns(self) -> dict[str, Sequence[float]]:
        columns: dict[str, Sequence[float]] = {"alpha": self.alpha, "leaves": self.leaves, "risk": self.risk}
        if self.held_out is not None and self.error is not None:
            columns |= {"held_out": self.held_out, "error": self.error}
        return columns

    def __str__(self) -> str:
        return self.grid().text(indent="")


def prices(tree: Tree, pruner: CostComplexity | CostComplexityCV) -> FloatArray:
    """Return the alpha from which each node is cut; 0 for leaves. Alphas that differ by rounding alone are one."""
    risk, whole = node_risk(tree, pruner.risk)
    found: Any = _core.weakest_links(tree.arrays["parent"], risk, pruner.weakest_link == "exact")
    alpha = np.asarray(found, dtype=np.float64)
    steps = np.unique(np.append(0.0, alpha))
    apart = np.append(True, np.diff(steps) > 1e-12 * steps[1:] + 1e-13 * risk[0])
    same: FloatArray = steps[apart][np.searchsorted(steps[apart], alpha, side="right") - 1] / whole
    return same


def training_path(tree: Tree, pruner: CostComplexity | CostComplexityCV) -> PruningPath:
    """Return the path by the training rows alone, whose losses the tree holds.

    Rows that stay at a node because no value decides where they belong count in no leaf below it (as in rpart).
    """
    limit = prices(tree, pruner)
    alphas = _alphas(tree, limit)
    family = nested_trees(tree, limit, alphas)
    leaves = family.sums(np.ones(tree.n_nodes))
    risk, whole = node_risk(tree, pruner.risk)
    risks = family.sums(risk) / whole
    return PruningPath(
        tuple(alphas.tolist()), tuple(np.rint(leaves).astype(int).tolist()), tuple(risks.clip(min=0).tolist())
    )


def cross_validated_path(
    tree: Tree, pruner: CostComplexityCV, rows: Encoded | Partitions, n_threads: int, stage: Stage = UNREPORTED
) -> PruningPath:
    """Return the path with held-out risks.

    A fold's tree is judged at the geometric mean of neighbouring alphas: what the step stands for, not its very edge.
    """
    path = training_path(tree, pruner)
    alpha = np.array(path.alpha)
    typical = np.append(np.sqrt(alpha[:-1] * alpha[1:]), np.inf)
    means, errors = validated(tree, pruner, rows, typical, lambda fold: prices(fold, pruner), n_threads, stage)
    return replace(path, held_out=tuple(means.tolist()), error=tuple(errors.tolist()))


def validated(
    tree: Tree,
    pruner: CostComplexityCV | ImpurityThresholdCV,
    rows: Encoded | Partitions,
    limits: FloatArray,
    limit_of_nodes: Callable[[Tree], FloatArray],
    n_threads: int,
    stage: Stage = UNREPORTED,
) -> tuple[FloatArray, FloatArray]:
    """Return the held-out risk of the trees of each limit (rising), and its standard error.

    With repeats, both are averages: of the risks, and of their variances.
    """

    def judge(fold: HeldOut) -> tuple[FloatArray, FloatArray]:
        sums = (fold.as_leaf, fold.at_inner, fold.squares_as_leaf, fold.squares_at_inner)
        counted = np.any([each != 0 for each in sums], axis=0)
        family = nested_trees(fold.tree, limit_of_nodes(fold.tree), limits, counted)
        return (family.sums(fold.as_leaf, fold.at_inner), family.sums(fold.squares_as_leaf, fold.squares_at_inner))

    table = as_partitions(rows).changed(used_rows, tree.recipe)
    table = binned_once(table, n_threads)
    total = total_weight(table, real_by_class(table, tree.schema))
    risk, variance = np.zeros(len(limits)), np.zeros(len(limits))
    for repeat in range(pruner.repeats):
        folds, dealt = deal_partitions(table, pruner.folds, pruner.seed + repeat, pruner.stratified)
        losses, squares = np.zeros(len(limits)), np.zeros(len(limits))
        part = stage.part(repeat, pruner.repeats)
        for loss, square in held_out(dealt, folds.n, tree.schema, tree.recipe, judge, n_threads, part):
            losses += loss
            squares += square
        dealt.close()
        mean = losses / total
        risk += mean / pruner.repeats
        variance += (squares / total - mean * mean).clip(min=0) / folds.units / pruner.repeats
    table.close()
    return risk, np.sqrt(variance)


def choose(risk: FloatArray, error: FloatArray, rule: Rule) -> int:
    """Return the last step whose risk is the least, or within one standard error of it."""
    best = int(np.flatnonzero(risk <= risk.min() * (1 + _NOISE))[-1])
    bar = risk[best] + (error[best] if rule == "1se" else 0.0)
    return int(np.flatnonzero(risk <= bar * (1 + _NOISE))[-1])


def as_grown(tree: Tree, rows: Encoded | Partitions, n_threads: int) -> Tree:
    """Return the tree before anything was cut off it: what is chosen then does not depend on earlier cuts.

    A tree that was edited by hand cannot be grown again and stays as it is.
    """
    as_partitions(rows).map(_refuse_unseen, tree.schema)
    return grow_by_criterion(rows, tree.schema, tree.recipe, n_threads) if tree.cuts and not tree.edits else tree


def _refuse_unseen(rows: Encoded, schema: Schema) -> None:
    """Raise for levels that are not in the schema: trees are grown from these rows."""
    for column, values in zip(schema.columns, rows.columns, strict=True):
        if column.has_levels and (values == UNSEEN_CODE).any():
            raise DataError(
                f"column {column.name!r} has levels that were not there when the tree was learned, so these cannot be "
                "its training rows; cross-validation needs the rows the tree was learned from"
            )


def _alphas(tree: Tree, limit: FloatArray) -> FloatArray:
    """Return where the tree changes; the first is 0, for the tree as it is or without splits that are worth nothing."""
    return np.unique(np.append(0.0, limit[tree.arrays["stop"] == 0]))
