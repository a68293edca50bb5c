"""What the tab "How sure" shows: stability of splits, both estimates of an honest tree, ranges, probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright.data.encoding import Encoded
from treewright.data.rows import weights_of
from treewright.render.node_text import calibrated_range, honest_text, prediction_text
from treewright.tree.honest import Honest
from treewright.tree.shape import is_leaf
from treewright.tree.text import break_text, level_text, name_text
from treewright.tree.tree import Tree, predicted_index
from treewright.uncertainty.leaf_limits import limits_of_rows
from treewright.uncertainty.reliability import reliability_on
from treewright.uncertainty.stability_report import SplitStability, Stability

#: Limits are listed of so many leaves, those with the most rows.
_MOST_LEAVES = 500
_CONFIDENCE = 0.95
#: Where the bands of cuts begin and end: nine of ten, half of all, the middle.
_BANDS = (0.05, 0.25, 0.5, 0.75, 0.95)


def how_sure(tree: Tree, unseen: Encoded | None, stability: Stability | None) -> dict[str, Any]:
    """Return its parts, None where the tree or the rows do not give one."""
    return {
        "stability": None if stability is None else _stability(stability),
        "honest": None if tree.honest is None else _honest(tree, tree.honest),
        "calibration": _calibration(tree),
        "reliability": _reliability(tree, unseen),
        "limits": None if tree.schema.target.classes is None else _limits(tree, unseen),
    }


def _stability(found: Stability) -> dict[str, Any]:
    grid = found.grid()
    return {
        "caption": grid.caption,
        "summary": found.summary,
        "notes": list(grid.notes),
        "resamples": found.resamples,
        "splits": [_split(one) for one in found.splits],
        "columns": [{"name": name_text(name), "share": share} for name, share in found.columns.items()],
    }


def _split(one: SplitStability) -> dict[str, Any]:
    return {
        "node": one.node,
        "condition": one.condition,
        "rows": one.rows,
        "kept": one.kept,
        "jaccard": one.jaccard,
        "cut": _cut(one),
        "instead": [
            {"name": "no split" if name is None else name_text(name), "share": share}
            for name, share in list(one.instead.items())[:5]
        ],
    }


def _cut(one: SplitStability) -> dict[str, Any] | None:
    """Return the band of a split's cuts: quantiles with their texts, and the tree's own cut."""
    threshold = one.split.threshold
    if not one.cuts or threshold is None:
        return None
    bands = np.quantile(one.cuts, _BANDS, method="inverted_cdf").tolist()
    texts = [break_text(one.split.spec, x, one.split.test == "<=") for x in (bands[0], bands[-1])]
    return {"at": float(threshold), "bands": bands, "low": texts[0], "high": texts[1]}


def _honest(tree: Tree, honest: Honest) -> dict[str, Any]:
    """Return, leaf by leaf, the estimate by the rows that chose the splits and by the others."""
    leaves = np.flatnonzero(is_leaf(tree))
    heaviest = leaves[np.argsort(-tree.arrays["rows"][leaves], kind="stable")[:_MOST_LEAVES]]
    classes = tree.schema.target.classes
    place = predicted_index(tree.schema.target, np.asarray(tree.arrays["value"])) if classes is not None else None
    own = np.asarray(tree.arrays["stats"], dtype=np.float64)

    def estimate(statistics: Sequence[float], node: int) -> float | None:
        """Return the share of the class that is predicted, or the mean; None without rows."""
        total = float(sum(statistics)) if place is not None else statistics[0]
        if not total > 0:
            return None
        return float(statistics[place[node]] / total) if place is not None else float(statistics[1])

    return {
        "text": str(honest),
        "estimates": [honest_text(node) for node in tree],
        "measure": "mean" if classes is None else "share",
        "more": max(0, len(leaves) - _MOST_LEAVES),
        "leaves": [
            {
                "node": node,
                "prediction": prediction_text(tree[node]),
                "rows": int(tree.arrays["rows"][node]),
                "chosen": estimate(own[node].tolist(), node),
                "other_rows": honest.weight(node, classes=classes is not None),
                "other": estimate(honest.stats[node], node),
            }
            for node in heaviest.tolist()
        ],
    }


def _reliability(tree: Tree, unseen: Encoded | None) -> dict[str, Any] | None:
    """Return the reliability curve of every class on held-out rows; of two classes, of the second."""
    if unseen is None or tree.schema.target.classes is None or not weights_of(unseen).sum() > 0:
        return None
    found = reliability_on(tree, unseen)
    curves: dict[str, list[dict[str, float]]] = {}
    for one in found.bins:
        point = {name: getattr(one, name) for name in ("low", "high", "rows", "predicted", "observed")}
        curves.setdefault(level_text(one.level), []).append(point)
    scores = (
        ("Brier score", found.brier_score, found.baseline_brier_score),
        ("log loss", found.log_loss, found.baseline_log_loss),
        ("calibration error", found.calibration_error, None),
    )
    return {
        "rows": found.rows,
        "curves": [{"class": level, "bins": bins} for level, bins in curves.items()],
        "scores": [{"name": name, "value": value, "baseline": baseline} for name, value, baseline in scores],
    }


def _calibration(tree: Tree) -> dict[str, Any] | None:
    if tree.calibration is None:
        return None
    return {"text": str(tree.calibration), "ranges": [calibrated_range(node) for node in tree]}


def _limits(tree: Tree, unseen: Encoded | None) -> dict[str, Any]:
    """Return, leaf by leaf, the probability that the tree states and the limits that rows give it."""
    found = limits_of_rows(tree, unseen, _CONFIDENCE)
    heaviest = np.argsort(-found.rows, kind="stable")[:_MOST_LEAVES]
    value = np.asarray(tree.arrays["value"][found.leaves], dtype=np.float64)
    place = predicted_index(tree.schema.target, value)
    classes = tree.schema.target.classes or ()
    return {
        "held_out": found.held_out,
        "confidence": found.confidence,
        "more": max(0, len(found.leaves) - _MOST_LEAVES),
        "leaves": [
            {
                "node": int(found.leaves[i]),
                "class": level_text(classes[place[i]]),
                "stated": float(value[i, place[i]]),
                "rows": float(found.rows[i]),
                "share": None if found.rows[i] == 0 else float(found.share[i, place[i]]),
                "low": float(found.low[i, place[i]]),
                "high": float(found.high[i, place[i]]),
            }
            for i in heaviest.tolist()
        ],
    }
