"""A tree's arrays read and followed by the rule of docs/boundary.md, without the core's help.

Only the arrays, the row and the seed are looked at; no recipe, no policy.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from oracle_missing import FRACTIONAL, RANDOM, STOP, Surrogate
from oracle_table import NUMBER, Split, Value, route

Arrays = Mapping[str, np.ndarray]
Tree = dict[str, Any]

AS_MISSING = -4
UNSEEN = -2
_MASK = 2**64 - 1


# --- reading ----------------------------------------------------------------------------------------------------------


def decode(arrays: Arrays, node: int = 0) -> Tree:
    """The node and all below it."""
    first, end = arrays["split_start"][node : node + 2]
    children = arrays["children"][arrays["child_start"][node] : arrays["child_start"][node + 1]].tolist()
    splits = [decode_split(arrays, s) for s in range(first, end)]
    own, others = (splits[0], splits[1:]) if children else (None, splits)
    n_surrogates = int(arrays["n_surrogates"][node])
    tree = {name: arrays[name][node].tolist() for name in ("rows", "weight", "impurity", "gain", "stop", "depth")}
    return tree | {
        "id": node,
        "stats": arrays["stats"][node].tolist(),
        "value": arrays["value"][node].tolist(),
        "split": own["split"] if own else None,
        "own": own,
        "missing": own["missing"] if own else STOP,
        "unseen": own["unseen"] if own else AS_MISSING,
        "share": own["share"] if own else [],
        "surrogates": [Surrogate(s["split"], s["score"], s["adjusted"]) for s in others[:n_surrogates]],
        "rivals": others[n_surrogates:],
        "children": [decode(arrays, child) for child in children],
    }


def decode_split(arrays: Arrays, s: int) -> Tree:
    """One row of the split table."""

    def part(name: str, start: str) -> list[Any]:
        return arrays[name][arrays[start][s] : arrays[start][s + 1]].tolist()

    share = part("share", "share_start")
    split = Split(
        int(arrays["column"][s]),
        tuple(part("breaks", "break_start")),
        tuple(part("child_of_bin", "bin_start")),
        bool(arrays["closed"][s]),
        len(share),
    )
    names = ("score", "adjusted", "split_gain", "statistic", "degrees", "log_p", "log_multiplier", "missing", "unseen")
    return {"split": split, "share": share} | {name: arrays[name][s].tolist() for name in names}


def nodes_of(tree: Tree) -> list[Tree]:
    """Depth first, a node before its children."""
    return [tree, *(node for child in tree["children"] for node in nodes_of(child))]


# --- following --------------------------------------------------------------------------------------------------------


def ends_of(tree: Tree, row: Sequence[Value], kinds: Sequence[int], seed: int) -> list[tuple[Tree, float]]:
    """Every node that answers the row, with its weight. A value of None is missing, a code of -2 was never declared."""
    return follow_row(tree, row, kinds, mix(seed, 0), 1.0)


def follow_row(
    tree: Tree, row: Sequence[Value], kinds: Sequence[int], key: int, weight: float
) -> list[tuple[Tree, float]]:
    if not tree["children"]:
        return [(tree, weight)]
    child = destination(tree, row, kinds)
    if child == RANDOM:
        child = draw(tree["share"], key, row, kinds)
    if child == STOP:
        return [(tree, weight)]
    paths = [(child, 1.0)] if child != FRACTIONAL else [(i, s) for i, s in enumerate(tree["share"]) if s > 0]
    found = []
    for i, share in paths:
        found += follow_row(tree["children"][i], row, kinds, mix(key, i + 1), weight * share)
    return found


def destination(tree: Tree, row: Sequence[Value], kinds: Sequence[int]) -> int:
    split: Split = tree["split"]
    value = row[split.column]
    child = -1 if value is None else route(split, kinds[split.column], value)
    if child < 0 and value is not None and tree["unseen"] != AS_MISSING:
        child = tree["unseen"]
    for surrogate in tree["surrogates"]:
        other = row[surrogate.split.column]
        if child < 0 and other is not None:
            child = route(surrogate.split, kinds[surrogate.split.column], other)
    return child if child >= 0 else tree["missing"]


def predict(tree: Tree, row: Sequence[Value], kinds: Sequence[int], seed: int) -> list[float]:
    reached = ends_of(tree, row, kinds, seed)
    return [math.fsum(w * node["value"][i] for node, w in reached) for i in range(len(tree["value"]))]


def heaviest(tree: Tree, row: Sequence[Value], kinds: Sequence[int], seed: int) -> set[int]:
    """The ids among which `apply` may choose: several only where paths weigh the same."""
    reached = ends_of(tree, row, kinds, seed)
    top = max(w for _, w in reached)
    return {node["id"] for node, w in reached if w >= top * (1 - 1e-12)}


# --- chance (core/base/hash.hpp) --------------------------------------------------------------------------------------


def mix(a: int, b: int) -> int:
    x = a ^ ((b + 0x9E3779B97F4A7C15 + ((a << 6) & _MASK) + (a >> 2)) & _MASK)
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & _MASK
    return x ^ (x >> 31)


def draw(share: Sequence[float], key: int, row: Sequence[Value], kinds: Sequence[int]) -> int:
    """A child by its share; the draw depends on the seed, the node's path and the row's values alone."""
    chance = (mix(key, hash_row(row, kinds)) >> 11) * 2.0**-53
    reached, last = 0.0, 0
    for i, s in enumerate(share):
        if s > 0:
            reached, last = reached + s, i
            if chance < reached:
                return i
    return last


def hash_row(row: Sequence[Value], kinds: Sequence[int]) -> int:
    state = 1
    for value, kind in zip(row, kinds, strict=True):
        if kind == NUMBER:
            bits = 0x7FF8 if value is None else struct.unpack("<Q", struct.pack("<d", value + 0.0))[0]
        else:
            bits = (-1 if value is None else int(value)) & _MASK
        state = mix(state, bits)
    return state
