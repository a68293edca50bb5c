"""The tree as plain values: a list of dictionaries, or a data frame with one row per node.

Comes in: a `Tree`. Goes out: dictionaries of plain values, or a frame of the package asked for.
Always holds: rows are in depth-first order, a node's number is its place; what does not apply is None.
"""

from __future__ import annotations

from typing import Any, Literal

from treewright.errors import ExportError
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.text import level_text
from treewright.tree.tree import Node

FrameKind = Literal["pandas", "polars", "arrow", "dict"]


def nodes(tree: TreeLike) -> list[dict[str, Any]]:
    """Every node as a dictionary of plain values, JSON's kinds only.

    `condition` is the answer that leads from the parent to the node, `column` and the rest of the split what the node
    asks itself; `counts` and `probabilities` are lists in the order of the classes, None for numbers.
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
    """One row per node as a frame of pandas, polars or Arrow, or as a dict of columns.

    Classes have a column `count_<class>` and `probability_<class>` each; lists of the plain form are left out.
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
    return _framed(columns, kind)


def _framed(columns: dict[str, list[Any]], kind: str) -> Any:
    if kind == "dict":
        return columns
    try:
        if kind == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        if kind == "polars":
            import polars as pl

            return pl.DataFrame(columns, strict=False)
        if kind == "arrow":
            import pyarrow as pa

            return pa.table(columns)
    except ImportError as error:
        raise ExportError(f"{kind} is not installed; install it, or ask for kind='dict'") from error
    raise ExportError(f"kind must be 'pandas', 'polars', 'arrow' or 'dict', not {kind!r}")
