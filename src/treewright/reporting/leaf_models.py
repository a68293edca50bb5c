"""The linear models of a tree as the page shows them: formulas, and of each leaf some rows with their residuals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from treewright.data.arrays import FloatArray, IndexArray
from treewright.data.encoding import Encoded
from treewright.prediction.routing import predict_values, route
from treewright.render.model_text import guard_text
from treewright.tree.json_form import plain
from treewright.tree.text import model_text, term_name
from treewright.tree.tree import Node, Tree

#: A picture of a leaf has at most so many rows, and fewer where all leaves would have more than this together.
_ROWS_OF_A_LEAF = 150
_ROWS = 30_000


def leaf_models(tree: Tree, rows: Encoded | None) -> list[dict[str, Any]] | None:
    """Return one entry per node: its model as a saved tree has it, in words, and of leaves the residuals of the rows.

    None where leaves predict constants.
    """
    if not tree.models:
        return None
    found = [_model(node) for node in tree]
    if rows is None or rows.target is None:
        return found
    at, residual = route(tree, rows, 0), rows.target - predict_values(tree, rows, 0)[:, 0]
    order = np.argsort(at, kind="stable")
    ends, first = np.unique(at[order], return_index=True)
    most = max(10, min(_ROWS_OF_A_LEAF, _ROWS // len(ends)))
    for node, here in zip(ends.tolist(), np.split(order, first[1:]), strict=True):
        found[node]["residual"] = math.sqrt(float(np.mean(residual[here] ** 2)))
        found[node]["sample"] = _sample(tree[node], rows, residual, here, most)
    return found


def _model(node: Node) -> dict[str, Any]:
    model = node.model
    assert model is not None  # all nodes have one, or none
    names = [term_name(node.tree.schema, term) for term in model.terms]
    return model.as_dict() | {"text": model_text(node.tree.schema, model), "guard": guard_text(model), "names": names}


def _sample(node: Node, rows: Encoded, residual: FloatArray, here: IndexArray, most: int) -> dict[str, Any]:
    """Return rows of a leaf: `truth`, `residual`, and `x`, the first term that is a number, with its `range`."""
    assert node.model is not None
    assert rows.target is not None
    chosen = here[np.unique(np.linspace(0, len(here) - 1, min(most, len(here))).astype(int))]
    found: dict[str, Any] = {"truth": plain(rows.target[chosen]), "residual": plain(residual[chosen])}
    column = next((term.column for term in node.model.terms if term.levels is None), None)
    if column is None or np.isnan(rows.columns[column][here]).all():
        return found
    x = rows.columns[column][chosen]
    ends = [float(np.nanmin(rows.columns[column][here])), float(np.nanmax(rows.columns[column][here]))]
    return found | {"column": column, "range": ends, "x": [None if v != v else v for v in plain(x)]}
