"""The columns at a node: kind, missing values, distribution by class or mean, and the share of the target explained."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.arrays import Array, FloatArray, IndexArray
from treewright.data.rows import is_missing
from treewright.inspection.derivation.node_rows import Entries
from treewright.interactive.plain import finite, summed
from treewright.tree.text import break_text, level_text

_BARS = 20
_MOST_LEVELS = 12
#: Of a larger node so many rows are to be looked at: a picture of a column does not show more.
MOST_ROWS = 50_000


def column_dicts(entries: Entries) -> list[dict[str, Any]]:
    """Return one entry per column of the tree."""
    here = np.flatnonzero(entries.weight > 0)
    assert entries.encoded.target is not None
    target, weight = entries.encoded.target[here], entries.weight[here]
    found = []
    for i, spec in enumerate(entries.schema.columns):
        values = entries.encoded.columns[i][here]
        known = ~is_missing(values)
        shown = {"name": spec.name, "kind": spec.kind, "missing": float(1 - weight[known].sum() / weight.sum())}
        if known.any():
            place, labels = _places(values[known], spec, 0 if not spec.has_levels else len(spec.levels or ()))
            shown |= _bars(place, labels, target[known], weight[known], entries)
            if not spec.has_levels:
                shown["ends"] = [break_text(spec, float(x), True) for x in (values[known].min(), values[known].max())]
            shown["explains"] = finite(_strength(values[known], spec.has_levels, target[known], weight[known], entries))
        found.append(shown)
    return found


def _places(values: Array, spec: Any, n_levels: int) -> tuple[IndexArray, list[str]]:
    """Return the bar of each value, and the names of the bars; for numbers none."""
    if spec.has_levels:
        order = np.argsort(-np.bincount(values, minlength=n_levels), kind="stable")[:_MOST_LEVELS]
        order = np.sort(order) if spec.kind == "ordinal" else order
        place = np.full(n_levels, len(order), dtype=np.intp)
        place[order] = np.arange(len(order))
        rest = ["others"] if n_levels > len(order) else []
        return place[values], [level_text((spec.levels or ())[i]) for i in order] + rest
    low, high = float(values.min()), float(values.max())
    wide = high - low if high > low else 1.0
    return np.clip(((values - low) / wide * _BARS).astype(np.intp), 0, _BARS - 1), []


def _bars(place: IndexArray, labels: list[str], target: Array, weight: FloatArray, entries: Entries) -> dict[str, Any]:
    n = len(labels) or _BARS
    classes = entries.schema.target.classes
    if classes is not None:
        counts = np.bincount(place * len(classes) + target, weight, n * len(classes)).reshape(n, len(classes))
        return {"labels": labels, "counts": counts.tolist()}
    total, sums = np.bincount(place, weight, n), np.bincount(place, weight * target, n)
    means = np.divide(sums, total, out=np.full(n, np.nan), where=total > 0)
    return {"labels": labels, "weight": total.tolist(), "mean": [finite(x) for x in means.tolist()]}


def _strength(values: Array, has_levels: bool, target: Array, weight: FloatArray, entries: Entries) -> float:
    """Return the correlation ratio: the share of the target's variance that groups of the column's values explain.

    Numbers are grouped into twenty parts of equal size; of classes, each counts by its own variance. For a number and
    a target of two classes this follows their correlation, and it is 0 to 1 for any kinds.
    """
    if has_levels:
        group = np.unique(values, return_inverse=True)[1]
    else:
        cuts = np.unique(np.quantile(values, np.linspace(0, 1, _BARS + 1)[1:-1]))
        group = np.searchsorted(cuts, values, side="left")
    n = int(group.max()) + 1
    size = np.bincount(group, weight, n)
    n_classes = len(entries.schema.target.classes or ())
    sides = [target] if not n_classes else [(target == k).astype(np.float64) for k in range(n_classes)]
    whole = within = 0.0
    for side in sides:
        mean = summed(weight, side) / float(weight.sum())
        whole += summed(weight, (side - mean) ** 2)
        sums = np.bincount(group, weight * side, n)
        means = np.divide(sums, size, out=np.zeros(n), where=size > 0)
        within += summed(weight, (side - means[group]) ** 2)
    return 1.0 - within / whole if whole > 0 else 0.0
