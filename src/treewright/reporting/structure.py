"""The tree itself as plain lists: nodes, conditions, statistics and predictions.

Numbers are exact, so that a row routed by these lists ends where the tree sends it; texts cut long lists of levels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.schema import ColumnSpec
from treewright.inspection.counterfactuals import break_spans
from treewright.inspection.derivation.criterion_names import criterion_of, measure_of
from treewright.recipes.missing import RefuseMissing
from treewright.render.node_text import MOST_LEVELS, branch_words, hand_marks, missing_remarks, same
from treewright.reporting.settings_text import settings_text
from treewright.tree.json_form import plain
from treewright.tree.text import level_text, name_text, printable
from treewright.tree.tree import Tree, node_classes


def facts(tree: Tree) -> dict[str, Any]:
    """Return what the head of the page shows, and the settings as sentences."""
    root = tree.root
    return {
        "target": name_text(tree.schema.target.name),
        "task": tree.schema.target.task,
        "recipe": printable(tree.recipe.name),
        "settings": settings_text(tree),
        "certificate": None if tree.certificate is None else str(tree.certificate),
        "rows": root.rows,
        "weight": root.weight,
        "weighted": not same(root.weight, root.rows),
        "impurity": measure_of(criterion_of(tree.recipe, tree.schema.target)).impurity,
        "nodes": tree.n_nodes,
        "leaves": tree.n_leaves,
        "depth": tree.depth,
        "refuses_missing": isinstance(tree.recipe.missing, RefuseMissing),
        "refuses_unseen": tree.recipe.unseen == "error",
        "remarks": missing_remarks(tree),
        "cuts": [str(cut) for cut in tree.cuts[:100]],
    }


def schema(tree: Tree) -> dict[str, Any]:
    """Return the columns and the target; levels and classes as texts, in code order.

    `span` is the range of a column's breaks, by which counterfactuals measure a move.
    """
    target = tree.schema.target
    return {
        "columns": [_column(*both) for both in zip(tree.schema.columns, break_spans(tree), strict=True)],
        "target": {
            "name": name_text(target.name),
            "task": target.task,
            "classes": None if target.classes is None else [level_text(c) for c in target.classes],
            "costs": None if target.costs is None else [list(row) for row in target.costs],
        },
    }


def nodes(tree: Tree) -> dict[str, list[Any] | None]:
    """Return one list per property of nodes; `stats` and `value` are flat, one number per class (numbers: 3, 1).

    `value` is None where it equals the shares of `stats`. `condition` leads to the node and has the column's name,
    `edge` is the same without it; `column` is the column of the node's split, -1 for a leaf; `prediction` the index of
    the predicted class; `by_hand` what was done to the node by hand, None where nothing was to any.
    """
    arrays = tree.arrays
    value = None if _are_shares(tree) else plain(arrays["value"].ravel())
    condition, edge = _conditions(tree)
    first = np.minimum(arrays["split_start"][:-1], max(len(arrays["column"]) - 1, 0))
    column = arrays["column"][first] if len(arrays["column"]) else np.zeros(tree.n_nodes, dtype=int)
    return {
        "parent": arrays["parent"].tolist(),
        "rows": arrays["rows"].tolist(),
        "weight": plain(arrays["weight"]),
        "stats": plain(arrays["stats"].ravel()),
        "value": value,
        "impurity": plain(arrays["impurity"]),
        "gain": plain(arrays["gain"]),
        "stop": [node.stop for node in tree],
        "column": np.where(arrays["stop"] == 0, column, -1).tolist(),
        "prediction": None if tree.schema.target.classes is None else _predictions(tree),
        "condition": condition,
        "edge": edge,
        "by_hand": [hand_marks(node) for node in tree] if tree.edits else None,
    }


def _column(spec: ColumnSpec, span: tuple[float, float]) -> dict[str, Any]:
    levels = None if spec.levels is None else [level_text(level) for level in spec.levels]
    found = {"name": name_text(spec.name), "kind": spec.kind, "levels": levels}
    return found | {"span": list(span)} if span[0] <= span[1] else found


def _conditions(tree: Tree) -> tuple[list[str], list[str]]:
    condition, edge = [""] * tree.n_nodes, [""] * tree.n_nodes
    for node in tree:
        split = node.split
        if split is None:
            continue
        for child, text in zip(node.children, branch_words(node, MOST_LEVELS), strict=True):
            condition[child] = text
        for child, text in zip(node.children, branch_words(node, MOST_LEVELS, named=False), strict=True):
            edge[child] = text
    return condition, edge


def _predictions(tree: Tree) -> list[int]:
    return [int(index) for index in node_classes(tree)]


def _are_shares(tree: Tree) -> bool:
    if tree.schema.target.classes is None:
        return False
    stats, weight = tree.arrays["stats"], tree.arrays["weight"]
    if not (weight > 0).all():
        return False
    return bool((stats / weight[:, np.newaxis] == tree.arrays["value"]).all())
