"""The tree as plain values: a list of dictionaries, or a data frame with one row per node.

Rows are in depth-first order, a node's number is its place; what does not apply is None.
"""

from __future__ import annotations

from typing import Any

from treewright.data.grid import FrameKind, framed
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.text import level_text
from treewright.tree.tree import Node


def nodes(tree: TreeLike) -> list[dict[str, Any]]:
    """Return every node as a dictionary of plain values that JSON can hold.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.

    Returns
    -------
    list of dict
        Nodes in depth-first order. `condition` leads from the parent to the node; `column` and the rest of the split
        are what the node splits on; `counts` and `probabilities` are in the order of the classes, None for numbers.
        Trees with linear models have `model`, and `prediction` is then the mean of the node.
    """
    tree = as_tree(tree)
    rows: list[dict[str, Any]] = []
    conditions: list[str | None] = [None] * tree.n_nodes
    for node in tree.walk():
        if node.split is not None:
            for child, text in zip(node.children, node.split.conditions, strict=True):
                conditions[child] = text
        rows.append(_row(node, conditions[node.id]))
    return rows


def _row(node: Node, condition: str | None) -> dict[str, Any]:
    split = node.split
    return {
        "node": node.id,
        "parent": node.parent,
        "depth": node.depth,
        "leaf": node.is_leaf,
        "condition": condition,
        "prediction": node.prediction,
        **({} if node.model is None else {"model": node.model.as_dict()}),
        "rows": node.rows,
        "weight": node.weight,
        "counts": None if node.counts is None else list(node.counts),
        "probabilities": None if node.probabilities is None else list(node.probabilities),
        "mean": node.mean,
        "deviation": node.deviation,
        "impurity": node.impurity,
        "stop": node.stop,
        "column": None if split is None else split.column,
        "gain": None if split is None else split.gain,
        "threshold": None if split is None else split.threshold,
        "groups": None if split is None or split.groups is None else [list(group) for group in split.groups],
        "missing": None if split is None else split.missing,
        "children": list(node.children),
        "surrogates": [surrogate.column for surrogate in node.surrogates],
    }


_FLAT = ("node", "parent", "depth", "leaf", "condition", "prediction", "rows", "weight", "mean", "deviation")
_SPLIT = ("impurity", "stop", "column", "gain", "threshold", "missing")


def frame(tree: TreeLike, kind: FrameKind = "pandas") -> Any:
    """Return a data frame with one row per node.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    kind : {"pandas", "polars", "arrow", "dict"}, default="pandas"
        The package of the frame; "dict" returns a dict of lists and needs none.

    Returns
    -------
    DataFrame, Table or dict
        Each class has the columns `count_<class>` and `probability_<class>`.
    """
    tree = as_tree(tree)
    rows = nodes(tree)
    numeric = tree.schema.target.classes is None
    names = [name for name in (*_FLAT, *_SPLIT) if numeric or name not in ("mean", "deviation")]
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in names}
    columns["missing"] = [None if value is None else str(value) for value in columns["missing"]]
    for i, label in enumerate(tree.schema.target.classes or ()):
        columns[f"count_{level_text(label)}"] = [row["counts"][i] for row in rows]
        columns[f"probability_{level_text(label)}"] = [row["probabilities"][i] for row in rows]
    return framed(columns, kind)
