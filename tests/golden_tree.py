"""The tree of another program as one of ours, so that what we do to trees can be compared by itself.

Splits, counts and predictions are the golden's; what a golden lacks (gain, score) is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from golden_predictions import shares_of

import treewright as tw

PURE, NO_GAIN, EMPTY = 1, 5, 12
FRACTIONAL, AS_MISSING = -1, -4


def tree_of(golden: dict[str, Any], schema: tw.Schema, recipe: tw.Recipe) -> tw.Tree:
    nodes = list(_walk(golden["tree"], -1, 0, []))
    parent = np.array([parent for _, parent, _ in nodes], dtype=np.int32)
    stats = np.array([node["dist"] for node, _, _ in nodes], dtype=np.float64)
    inner = [node for node, _, _ in nodes if "split" in node]
    splits = [_split(node, schema) for node in inner]
    n, s = len(nodes), len(splits)
    fan = [len(node.get("children", [])) for node, _, _ in nodes]
    arrays: dict[str, Any] = {
        "parent": parent,
        "depth": np.array([depth for _, _, depth in nodes], dtype=np.int32),
        "rows": np.ceil(stats.sum(axis=1) - 1e-9).astype(np.int64),
        "weight": stats.sum(axis=1),
        "stats": stats,
        "value": np.array([shares_of(node, _above(nodes, at), golden["program"]) for node, at, _ in nodes]),
        "impurity": np.zeros(n),
        "gain": np.zeros(n),
        "stop": np.array([_stop(node) for node, _, _ in nodes], dtype=np.int32),
        "child_start": _starts(fan),
        "children": (np.argsort(parent[1:], kind="stable") + 1).astype(np.int32),
        "split_start": _starts([int(count > 0) for count in fan]),
        "n_surrogates": np.zeros(n, dtype=np.int32),
        "column": np.array([split["column"] for split in splits], dtype=np.int32),
        "closed": np.ones(s, dtype=np.int32),
        "missing": np.full(s, FRACTIONAL, dtype=np.int32),
        "unseen": np.full(s, AS_MISSING, dtype=np.int32),
    }
    for name in ("score", "adjusted", "split_gain", "statistic", "degrees", "log_p", "log_multiplier"):
        arrays[name] = np.zeros(s)
    for items, start, kind in (
        ("breaks", "break_start", "f8"),
        ("child_of_bin", "bin_start", "i4"),
        ("share", "share_start", "f8"),
    ):
        arrays[items] = np.array([x for split in splits for x in split[items]], dtype=kind)
        arrays[start] = _starts([len(split[items]) for split in splits])
    return tw.Tree(arrays, schema, recipe)


def _walk(node: dict[str, Any], parent: int, depth: int, seen: list[Any]) -> list[tuple[dict[str, Any], int, int]]:
    """Every node with its parent's place and its depth, depth first."""
    place = len(seen)
    seen.append((node, parent, depth))
    for child in _in_our_order(node):
        _walk(child, place, depth + 1, seen)
    return seen


def _in_our_order(node: dict[str, Any]) -> list[dict[str, Any]]:
    children: list[dict[str, Any]] = node.get("children", [])
    return children[::-1] if node.get("split", {}).get("low") == 1 else children


def _split(node: dict[str, Any], schema: tw.Schema) -> dict[str, Any]:
    split = node["split"]
    column = schema.names.index(split["column"])
    weights = np.array([sum(child["dist"]) for child in _in_our_order(node)])
    shares = (weights / weights.sum()).tolist()
    if "cut" in split:
        return {"column": column, "breaks": [split["cut"]], "child_of_bin": [0, 1], "share": shares}
    holder = {level: child for child, levels in enumerate(split["groups"]) for level in levels}
    bins = [holder.get(level, -1) for level in schema.columns[column].levels or ()]
    return {"column": column, "breaks": [], "child_of_bin": bins, "share": shares}


def _above(nodes: list[tuple[dict[str, Any], int, int]], parent: int) -> dict[str, Any] | None:
    return None if parent < 0 else nodes[parent][0]


def _stop(node: dict[str, Any]) -> int:
    if "split" in node:
        return 0
    if node.get("empty"):
        return EMPTY
    return PURE if sum(count > 0 for count in node["dist"]) == 1 else NO_GAIN


def _starts(lengths: list[int]) -> Any:
    return np.append(0, np.cumsum(lengths)).astype(np.int32)
