"""Build a `Tree` from the nodes that another program describes.

The arrays are what the core would hand over for such a tree: depth first, with impurities and gains by the core's own
formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.criteria.statistics import impurity_of, score_of
from treewright.data.schema import Schema
from treewright.recipes.criterion import GainRatio, InformationGain
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree
from treewright.tree.validation import AS_MISSING, NODE_ARRAYS, SPLIT_ARRAYS

NO_REASON = 4  # why a leaf stopped is not known: no column can split it any more


@dataclass(frozen=True)
class DraftSplit:
    """A split as the arrays have it; `column` is the place of a column in the schema."""

    column: int
    child_of_bin: tuple[int, ...]
    breaks: tuple[float, ...] = ()
    closed: bool = True
    missing: int = 0
    unseen: int = AS_MISSING


@dataclass(frozen=True)
class Draft:
    """A node. `stats`: weight per class, or weight, mean and sum of squared deviations. `children`: their places."""

    stats: tuple[float, ...]
    value: tuple[float, ...]
    rows: int
    split: DraftSplit | None = None
    children: tuple[int, ...] = ()
    surrogates: tuple[DraftSplit, ...] = ()
    impurity: float | None = None


def assembled(drafts: Sequence[Draft], schema: Schema, recipe: Recipe) -> Tree:
    """Return the tree whose root is the first draft."""
    order, parents = _depth_first(drafts)
    place = {draft: i for i, draft in enumerate(order)}
    names = {**NODE_ARRAYS, **SPLIT_ARRAYS}
    lists: dict[str, list[Any]] = {name: [0] if name.endswith("_start") else [] for name in names}
    depth = [0] * len(order)
    for i, at in enumerate(order):
        draft, parent = drafts[at], parents[i]
        depth[i] = depth[parent] + 1 if i else 0
        below = [drafts[child] for child in draft.children]
        gain = _gain(draft, below, schema, recipe)
        entry = {
            "parent": parent if i else -1, "depth": depth[i], "rows": draft.rows, "stats": draft.stats,
            "weight": _weight(draft, schema), "value": draft.value, "impurity": _impurity(draft, schema, recipe),
            "gain": gain, "stop": 0 if below else NO_REASON, "n_surrogates": len(draft.surrogates),
        }  # fmt: skip
        for name, number in entry.items():
            lists[name].append(number)
        lists["children"] += [place[child] for child in draft.children]
        lists["child_start"].append(len(lists["children"]))
        share = _shares([_weight(child, schema) for child in below])
        for used in (*([draft.split] if draft.split else []), *draft.surrogates):
            _add_split(lists, used, share, gain)
        lists["split_start"].append(len(lists["column"]))
    return Tree({name: np.array(lists[name], dtype=kind) for name, kind in names.items()}, schema, recipe)


def one_hot(place: int, n: int) -> tuple[float, ...]:
    """Return all for one class."""
    return tuple(float(i == place) for i in range(n))


def probabilities_for(stats: Sequence[float], prediction: int) -> tuple[float, ...]:
    """Return class shares whose largest is the prediction; a tie is broken by the smallest step of a double."""
    total, n = sum(stats), len(stats)
    if not total > 0 or stats[prediction] < max(stats):
        return one_hot(prediction, n)
    value = [each / total for each in stats]
    if value.index(max(value)) != prediction:
        value[prediction] = float(np.nextafter(max(value), 2.0))
    return tuple(value)


def _depth_first(drafts: Sequence[Draft]) -> tuple[list[int], list[int]]:
    """Return places of drafts in depth-first order, and the place in that order of each one's parent."""
    order: list[int] = []
    parents: list[int] = []
    pending = [(0, -1)]
    while pending:
        at, parent = pending.pop()
        pending += [(child, len(order)) for child in reversed(drafts[at].children)]
        order.append(at)
        parents.append(parent)
    return order, parents


def _add_split(lists: dict[str, list[Any]], split: DraftSplit, share: Sequence[float], gain: float) -> None:
    entry = {"column": split.column, "closed": int(split.closed), "missing": split.missing, "unseen": split.unseen}
    entry |= dict.fromkeys(("adjusted", "statistic", "degrees", "log_p", "log_multiplier"), 0)
    for name, number in entry.items():
        lists[name].append(number)
    lists["score"].append(gain)
    lists["split_gain"].append(gain)
    for start, items, values in (
        ("break_start", "breaks", split.breaks),
        ("bin_start", "child_of_bin", split.child_of_bin),
        ("share_start", "share", share),
    ):
        lists[items] += values
        lists[start].append(len(lists[items]))


def _weight(draft: Draft, schema: Schema) -> float:
    return float(draft.stats[0] if schema.target.classes is None else sum(draft.stats))


def _shares(weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [weight / total if total > 0 else 1 / len(weights) for weight in weights]


def _measure(schema: Schema, recipe: Recipe) -> tuple[str, str]:
    """Return the impurity and the gain that a tree of this recipe shows."""
    if schema.target.classes is None:
        return "variance", "variance"
    bits = isinstance(recipe.criterion, (InformationGain, GainRatio))
    return ("entropy", "information_gain") if bits else ("gini", "gini")


def _impurity(draft: Draft, schema: Schema, recipe: Recipe) -> float:
    if draft.impurity is not None:
        return draft.impurity
    if not _weight(draft, schema) > 0:
        return 0.0
    return impurity_of(_measure(schema, recipe)[0], _statistics(draft, draft, schema))


def _gain(draft: Draft, below: Sequence[Draft], schema: Schema, recipe: Recipe) -> float:
    weights = [_weight(child, schema) for child in below]
    if not below or not sum(weights) > 0:
        return 0.0
    children = np.array([_statistics(child, draft, schema) for child in below])
    return max(0.0, score_of(_measure(schema, recipe)[1], children.sum(axis=0), children))


def _statistics(draft: Draft, origin: Draft, schema: Schema) -> Any:
    """Return what the formulas read: class weights; or weight, sum and sum of squares, measured from a mean nearby."""
    if schema.target.classes is not None:
        return np.array(draft.stats, dtype=np.float64)
    weight, mean, squares = draft.stats
    away = mean - origin.stats[1]
    return np.array([weight, weight * away, squares + weight * away * away])
