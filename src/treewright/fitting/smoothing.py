"""M5's smoothing: the model of a node is averaged with those of its ancestors.

Quinlan (1992): on the way from a leaf to the root, the prediction p of a node of n rows and the prediction q of its
parent become (n p + k q) / (n + k). Predictions are linear, so the models themselves are averaged, once, and the tree
predicts as any other.
"""

from __future__ import annotations

from dataclasses import replace

from treewright.tree.models import LinearModel, Term
from treewright.tree.tree import Tree


def smoothed(tree: Tree, rows: float) -> Tree:
    """Return the tree with the model of every node smoothed, each as if it were a leaf; k is `rows`."""
    if rows == 0 or not tree.models:
        return tree
    parent, honest = tree.arrays["parent"].tolist(), tree.honest
    weight = tree.arrays["weight"].tolist() if honest is None else [each[0] for each in honest.stats]
    models = []
    for node, own in enumerate(tree.models):
        parts, at = [(1.0, own)], node
        while parent[at] >= 0:
            share = weight[at] / (weight[at] + rows)
            parts = [(share * part, model) for part, model in parts]
            at = parent[at]
            parts.append((1.0 - share, tree.models[at]))
        models.append(_average(own, parts))
    return replace(tree, models=tuple(models))


def _average(own: LinearModel, parts: list[tuple[float, LinearModel]]) -> LinearModel:
    """Return the weighted sum of models, terms in the order of columns, with the guard of the node's own."""
    intercept = 0.0
    found: dict[tuple[int, tuple[int, ...] | None], Term] = {}
    for part, model in parts:
        intercept += part * model.intercept
        for term in model.terms:
            key = (term.column, term.levels)
            before = found[key].coefficient if key in found else 0.0
            known = found.get(key, term)
            found[key] = known._replace(coefficient=before + part * term.coefficient)
    terms = sorted(found.values(), key=lambda term: (term.column, -len(term.levels or ()), term.levels or ()))
    return LinearModel(intercept, tuple(terms), own.low, own.high)
