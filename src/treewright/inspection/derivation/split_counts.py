"""What a split does with the rows of a node, as its score sees it.

Only what the score counts is in it: rows without a value are in a branch where the policy scores them there, and
otherwise apart. Nothing is rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treewright.criteria.statistics import impurity_of, spread_of
from treewright.data.arrays import Array, FloatArray, IndexArray
from treewright.data.schema import TargetSpec
from treewright.inspection.derivation.node_rows import Entries
from treewright.recipes.missing import LearnedDirection, Missing, OwnCategory
from treewright.tree.split import Split
from treewright.tree.tree import Node, Tree


@dataclass(frozen=True)
class BranchCounts:
    """One branch: its condition and its rows. `counts` for classes, `mean` and `deviation` for numbers.

    `rows` is None where only the weight is known; `label` is the condition without the name of the column.
    """

    condition: str
    rows: int | None
    weight: float
    counts: tuple[float, ...] | None = None
    mean: float | None = None
    deviation: float | None = None
    label: str = ""


@dataclass(frozen=True, eq=False)
class Division:
    """Statistics as the criterion reads them, of the rows scored together and of each branch.

    `moments` are what a test reads: class weights; or weight, sum and sum of squares, measured from `origin`.
    `centred` are weight, zero and sum of squares of all rows and then of each branch, each measured from its own mean:
    equal targets then have no variance at all, where sums from elsewhere leave a trace of rounding.
    `weight` is the node's, `missing` the part of it that was not scored; `rows` of each branch, if known.
    """

    parent: FloatArray
    children: FloatArray
    moments: FloatArray
    weight: float
    missing: float
    rows: tuple[int, ...] | None
    missing_rows: int = 0
    origin: float = 0.0
    centred: FloatArray | None = None

    @property
    def numeric(self) -> bool:
        return self.centred is not None

    @property
    def weights(self) -> FloatArray:
        """The weight of each branch."""
        return self.moments[:, 0] if self.numeric else self.moments.sum(axis=1)

    @property
    def known(self) -> float:
        """The weight that was scored."""
        return float(self.parent[0] if self.numeric else self.parent.sum())

    def branches(self, conditions: Sequence[str]) -> tuple[BranchCounts, ...]:
        """Return the branches for people."""
        rows = self.rows or (None,) * len(conditions)
        table = self.moments.tolist()
        if self.centred is None:
            parts = zip(conditions, rows, table, strict=True)
            return tuple(BranchCounts(words, n, sum(counts), counts=tuple(counts)) for words, n, counts in parts)
        means = [self.origin + total / weight if weight > 0 else math.nan for weight, total, _ in table]
        spread = [impurity_of("standard_deviation", row) for row in self.centred[1:]]
        several = zip(conditions, rows, self.weights.tolist(), means, spread, strict=True)
        return tuple(BranchCounts(words, n, w, None, mean, deviation) for words, n, w, mean, deviation in several)


def scores_missing(policy: Missing) -> bool:
    """Return whether rows without a value are scored in the branch they go to."""
    return isinstance(policy, (OwnCategory, LearnedDirection))


# --- counted from rows ------------------------------------------------------------------------------------------------


def child_of_rows(entries: Entries, split: Split, policy: Missing) -> IndexArray:
    """Return the branch in which each row is scored; -1: in none."""
    absent = entries.missing(split.column_index)
    instead = split.missing if scores_missing(policy) and isinstance(split.missing, int) else -1
    return np.where(absent, instead, split.child_of(entries.encoded.columns[split.column_index]))


def divided(entries: Entries, split: Split, policy: Missing, name: str) -> Division:
    """Return the division of the rows by a split, for the criterion of that name."""
    if len(split.breaks) == 1 and split.child_of_bin == (0, 1) and split.n_children == 2:
        quick = threshold_division(entries, split.column_index, split.breaks[0], split.test == "<=", policy)
        if quick is not None:
            return quick
    return divided_by(entries, child_of_rows(entries, split, policy), split.n_children, name)


def threshold_division(
    entries: Entries, column: int, threshold: float, closed: bool, policy: Missing
) -> Division | None:
    """Return the division of rows by a threshold where it is a matter of counting masks; otherwise None.

    So a dragged cut is scored in milliseconds on a million rows.
    """
    masks = entries.class_masks
    if masks is None:
        return None
    values = entries.encoded.columns[column]
    low = values <= threshold if closed else values < threshold
    high = values > threshold if closed else values >= threshold
    counts = [[int(np.count_nonzero(side & mask)) for mask in masks] for side in (low, high)]
    n_known = sum(map(sum, counts))
    missing = entries.encoded.n_rows - n_known
    if missing and scores_missing(policy):
        return None
    children = np.array(counts, dtype=np.float64)
    rows = tuple(sum(side) for side in counts)
    return Division(
        children.sum(axis=0), children, children, float(entries.encoded.n_rows), float(missing), rows, missing
    )


def divided_by(entries: Entries, child: Array, n_children: int, name: str) -> Division:
    """Return the division by a branch per row, -1 for rows that are not scored."""
    here = entries.weight > 0
    scored = here & (child >= 0)
    weight, child = entries.weight[scored], child[scored]
    assert entries.encoded.target is not None
    target: Array = entries.encoded.target[scored]
    rows = np.bincount(child, minlength=n_children)
    total = entries.total
    classes = entries.schema.target.classes
    if classes is not None:
        flat = np.bincount(child * len(classes) + target, weight, n_children * len(classes))
        children = moments = flat.reshape(n_children, len(classes)).astype(np.float64)
        parent, origin, centred = children.sum(axis=0), 0.0, None
    else:
        origin = float(np.average(target, weights=weight)) if weight.sum() > 0 else 0.0
        moments = _sums(child, n_children, weight, (target - origin, (target - origin) ** 2))
        centred = _centred(child, weight, target - origin, moments)
        parent, children = _as_read(name, child, n_children, weight, target, moments, centred)
    lost = total - float(weight.sum()) if len(weight) < np.count_nonzero(here) else 0.0
    return Division(
        parent, children, moments, total, max(0.0, lost), tuple(rows.tolist()),
        int(np.count_nonzero(here)) - len(weight), origin, centred,
    )  # fmt: skip


def _sums(child: Array, n_children: int, weight: FloatArray, values: Sequence[FloatArray]) -> FloatArray:
    parts = [np.bincount(child, weight * value, n_children) for value in (np.ones_like(weight), *values)]
    return np.ascontiguousarray(np.stack(parts, axis=1))


def _centred(child: Array, weight: FloatArray, away: FloatArray, moments: FloatArray) -> FloatArray:
    """Weight, zero, squares of all rows and of each branch, each from its own mean."""
    means = np.divide(moments[:, 1], moments[:, 0], out=np.zeros(len(moments)), where=moments[:, 0] > 0)
    squares = np.bincount(child, weight * (away - means[child]) ** 2, len(moments))
    total = weight.sum()
    whole = (weight * (away - (weight @ away) / total) ** 2).sum() if total > 0 else 0.0
    sizes = np.append(total, moments[:, 0])
    return np.stack([sizes, np.zeros(len(sizes)), np.append(whole, squares)], axis=1)


def _as_read(
    name: str,
    child: Array,
    n_children: int,
    weight: FloatArray,
    target: FloatArray,
    moments: FloatArray,
    centred: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return a numeric target's statistics as the criterion reads them: of all rows, and of each branch."""
    if name in ("standard_deviation", "fifth_root"):  # the root makes much of a trace of rounding
        return centred[0], centred[1:]
    if name == "poisson":
        children = _sums(child, n_children, weight, (target, _y_log_y(target)))
        return children.sum(axis=0), children
    if name != "absolute_error":
        return moments.sum(axis=0), moments
    parts = [np.arange(len(child)), *(np.flatnonzero(child == i) for i in range(n_children))]
    rows = [[weight[p].sum(), 0.0, _deviations(target[p], weight[p])] for p in parts]
    return np.array(rows[0]), np.array(rows[1:])


def _y_log_y(target: FloatArray) -> FloatArray:
    """Return y ln y, 0 at 0, the summand of the Poisson deviance."""
    product: FloatArray = target * np.log(target, out=np.zeros_like(target), where=target > 0)
    return product


def _deviations(values: FloatArray, weight: FloatArray) -> float:
    """Return the sum of absolute deviations from the median."""
    if not len(values):
        return 0.0
    return spread_of("absolute_error", values, np.ascontiguousarray(weight)) * float(weight.sum())


# --- read from the tree -----------------------------------------------------------------------------------------------


def stored(node: Node, name: str) -> Division:
    """Return the division that a node's own split made, as far as the tree stores it: as if no value were missing."""
    tree = node.tree
    places = [node.id, *node.children]
    statistics = tree.arrays["stats"][places]
    rows = tuple(tree.arrays["rows"][places[1:]].tolist())
    if tree.schema.target.classes is not None:
        seen = statistics * alteration(tree) if tree.schema.target.costs is not None else statistics
        return Division(seen[0], seen[1:], seen[1:], float(seen[0].sum()), 0.0, rows)
    origin = float(statistics[0, 1])
    away = statistics[:, 1] - origin
    weight = statistics[:, 0]
    moments = np.stack([weight, weight * away, statistics[:, 2] + weight * away**2], axis=1)
    moments[weight == 0] = 0.0
    centred = np.stack([weight, np.zeros(len(weight)), np.where(weight > 0, statistics[:, 2], 0.0)], axis=1)
    read = centred if name in ("standard_deviation", "fifth_root") else moments
    if name in ("absolute_error", "poisson"):
        # These read more than moments; the impurity each node stores makes up for it.
        total, impurity = weight * statistics[:, 1], tree.arrays["impurity"][places]
        middle = np.zeros_like(weight) if name == "absolute_error" else total
        level = 0.0 if name == "absolute_error" else _y_log_y(statistics[:, 1])
        read = np.stack([weight, middle, weight * (impurity + level)], axis=1)
    return Division(read[0], read[1:], moments[1:], float(weight[0]), 0.0, rows, 0, origin, centred)


def stored_weight(node: Node) -> float:
    """Return the weight of a node as growing sees it."""
    if node.tree.schema.target.costs is None:
        return node.weight
    return float(node.tree.arrays["stats"][node.id] @ alteration(node.tree))


def alteration(tree: Tree) -> FloatArray:
    """Return how much more growing weighed each class: by all that errors on it cost, the whole unchanged."""

    def make() -> FloatArray:
        target: TargetSpec = tree.schema.target
        factor = np.array(target.costs).sum(axis=1)
        root = tree.arrays["stats"][0]
        scaled: FloatArray = factor * (root.sum() / (root @ factor))
        return scaled

    return tree.keep("alteration", make)
