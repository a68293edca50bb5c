"""Rows of a node for people: a page of a sorted table, points of a scatter, and where held-out mistakes lie."""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.arrays import Array, IndexArray
from treewright.data.encoding import Encoded
from treewright.data.schema import ColumnSpec, Schema
from treewright.data.value_text import decode
from treewright.errors import DataError
from treewright.interactive.plain import finite
from treewright.prediction.routing import predict_values
from treewright.tree.text import level_text
from treewright.tree.tree import Tree, predicted_index

MOST_ROWS = 200
_MOST_POINTS = 1500


def rows_page(
    tree: Tree,
    rows: Encoded,
    numbers: Array,
    here: Array,
    sort: str | None,
    down: bool,
    first: int,
    n: int,
) -> dict[str, Any]:
    """Return rows of a node as texts, sorted by a column, by the target or by their number."""
    schema = tree.schema
    here = np.sort(here)
    order = _order(rows, schema, here, sort)
    if down:
        order = order[::-1]
    chosen = here[order][first : first + min(n, MOST_ROWS)]
    assert rows.target is not None
    predicted = _predicted(tree, rows, chosen)
    return {
        "total": len(here),
        "first": first,
        "columns": list(schema.names),
        "row": numbers[chosen].tolist(),
        "truth": [_target_text(schema, x) for x in rows.target[chosen].tolist()],
        "predicted": [_target_text(schema, x) for x in predicted],
        "cells": [[_cell(spec, x) for x in rows.columns[i][chosen].tolist()] for i, spec in enumerate(schema.columns)],
    }


def _order(rows: Encoded, schema: Schema, here: Array, sort: str | None) -> IndexArray:
    if sort is None:
        return np.arange(len(here))
    assert rows.target is not None
    if sort == schema.target.name:
        return np.argsort(rows.target[here], kind="stable")
    if sort not in schema.names:
        raise DataError(f"there is no column {sort!r} to sort by")
    return np.argsort(rows.columns[schema.names.index(sort)][here], kind="stable")


def _predicted(tree: Tree, rows: Encoded, chosen: Array) -> list[Any]:
    from treewright.data.rows import take

    if not len(chosen):
        return []
    given = predict_values(tree, take(rows, chosen), 1)
    if tree.schema.target.classes is None:
        return list(given[:, 0].tolist())
    return list(predicted_index(tree.schema.target, given).tolist())


def _target_text(schema: Schema, value: float) -> str:
    classes = schema.target.classes
    return f"{value:.6g}" if classes is None else level_text(classes[int(value)])


def _cell(spec: ColumnSpec, value: float) -> str | None:
    if spec.levels is not None:
        return level_text(spec.levels[int(value)]) if value >= 0 else None
    return None if value != value else decode(spec, value)


def scatter(
    tree: Tree,
    rows: Encoded,
    numbers: Array,
    here: Array,
    names: tuple[str, str],
    loss: Array | None,
) -> dict[str, Any]:
    """Return points of two columns; `loss` of held-out rows marks mistakes. Levels are their codes."""
    here = np.sort(here)
    if len(here) > _MOST_POINTS:
        here = here[np.linspace(0, len(here) - 1, _MOST_POINTS).astype(np.intp)]
    places = []
    for name in names:
        if name not in tree.schema.names:
            raise DataError(f"there is no column {name!r} to draw; choose one of the tree's columns")
        places.append(tree.schema.names.index(name))
    assert rows.target is not None
    axes = [_axis(tree.schema.columns[i], rows.columns[i][here]) for i in places]
    return {
        "x": axes[0],
        "y": axes[1],
        "row": numbers[here].tolist(),
        "truth": rows.target[here].tolist(),
        "loss": None if loss is None else loss[here].tolist(),
    }


def _axis(spec: ColumnSpec, values: Array) -> dict[str, Any]:
    levels = None if spec.levels is None else [level_text(one) for one in spec.levels]
    shown = [None if x < 0 else x for x in values.tolist()] if spec.has_levels else [finite(x) for x in values.tolist()]
    return {"column": spec.name, "levels": levels, "kind": spec.kind, "values": shown}


def boundary(tree: Tree, node: int, names: tuple[str, str], most: int = 400) -> list[dict[str, Any]]:
    """Return the cuts below a node on these two columns, each with the rectangle of the node it cuts.

    A rectangle has an interval per axis (None: no end); on levels it has none, and the cut is not drawn.
    """
    places = [tree.schema.names.index(name) for name in names]
    found: list[dict[str, Any]] = []
    waiting: list[tuple[int, list[list[float | None]]]] = [(node, [[None, None], [None, None]])]
    while waiting and len(found) < most:
        at, box = waiting.pop()
        split = tree[at].split
        if split is None:
            continue
        axis = places.index(split.column_index) if split.column_index in places else None
        for child, held in enumerate(split.bins):
            inner = [list(one) for one in box]
            if axis is not None and not split.spec.has_levels and held:
                low, high = min(held), max(held)
                if low > 0:
                    inner[axis][0] = split.breaks[low - 1]
                if high < len(split.breaks):
                    inner[axis][1] = split.breaks[high]
            waiting.append((tree[at].children[child], inner))
        if axis is not None and not split.spec.has_levels:
            found += [{"axis": axis, "at": cut, "box": box, "node": at} for cut in split.breaks]
    return found
