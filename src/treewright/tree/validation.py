"""Whether arrays are a tree: the one gate between foreign numbers and the core.

Arrays that passed can be walked, routed through and written without looking again: every index is in range, every node
is reached once, every number is finite. All checks work on whole arrays, so the gate costs milliseconds for a hundred
thousand nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from treewright.data.arrays import Array
from treewright.data.schema import Schema
from treewright.data.sparse_rows import SparseRows, kept_numbers
from treewright.errors import FileError

#: One entry per array of the node table: its type.
NODE_ARRAYS: dict[str, str] = {
    "parent": "int32",
    "depth": "int32",
    "rows": "int64",
    "weight": "float64",
    "stats": "float64",
    "value": "float64",
    "impurity": "float64",
    "gain": "float64",
    "stop": "int32",
    "child_start": "int32",
    "children": "int32",
    "split_start": "int32",
    "n_surrogates": "int32",
}
#: One entry per array of the split table: its type.
SPLIT_ARRAYS: dict[str, str] = {
    "column": "int32",
    "closed": "int32",
    "score": "float64",
    "adjusted": "float64",
    "split_gain": "float64",
    "statistic": "float64",
    "degrees": "float64",
    "log_p": "float64",
    "log_multiplier": "float64",
    "missing": "int32",
    "unseen": "int32",
    "break_start": "int32",
    "breaks": "float64",
    "bin_start": "int32",
    "child_of_bin": "int32",
    "share_start": "int32",
    "share": "float64",
}
#: The arrays with one row per node and several columns.
WIDE_ARRAYS = frozenset({"stats", "value"})

#: Why a node is a leaf, by the number in `stop`; 0 is a node that was split.
STOP_REASONS: dict[int, str] = {
    1: "pure",
    2: "depth",
    3: "too few rows",
    4: "no column",
    5: "no gain",
    6: "children too small",
    7: "leaf limit",
    8: "impurity low enough",
    9: "not significant",
    10: "collapsed",
    11: "complexity",
    12: "empty",
    13: "decrease too small",
    14: "pruned",
    15: "by hand",
}

#: The reason of a leaf that pruning made; `tree.cuts` has the details.
PRUNED = 14
#: The reason of a leaf that an edit left as it is.
BY_HAND = 15

FRACTIONAL, STOP_HERE, RANDOM, AS_MISSING, BOTH_BINS = -1, -2, -3, -4, -5


def place_of(name: str) -> str:
    """Return where an array stands in a saved file."""
    return f"$.{'nodes' if name in NODE_ARRAYS else 'splits'}.{name}"


def check(arrays: Mapping[str, Array], schema: Schema) -> None:
    """Raise `FileError` unless the arrays are a tree over the schema."""
    _check_types(arrays)
    _check_lengths(arrays, schema)
    _check_starts(arrays)
    _check_tree(arrays)
    _check_numbers(arrays, schema)
    _check_split_table(arrays)
    _check_columns(arrays, schema)
    _check_routes(arrays)


def _fail(name: str, index: Any, message: str) -> NoReturn:
    where = "" if index is None else "".join(f"[{int(i)}]" for i in np.atleast_1d(index))
    raise FileError(f"{place_of(name)}{where} {message}")


def _require_all(good: Array, name: str, message: str) -> None:
    """Raise unless every element is good, naming the first bad one."""
    if not good.all():
        _fail(name, np.argwhere(~good)[0], message)


def _check_types(arrays: Mapping[str, Array]) -> None:
    wanted = NODE_ARRAYS | SPLIT_ARRAYS
    unknown = sorted(set(arrays) - set(wanted))
    if unknown:
        raise FileError(f"there is no tree array called {unknown[0]!r}; docs/boundary.md lists them")
    for name, dtype in wanted.items():
        if name not in arrays:
            raise FileError(f"{place_of(name)} is not there")
        array: Any = arrays[name]
        dimensions = 2 if name in WIDE_ARRAYS else 1
        if (
            not isinstance(array, (np.ndarray, SparseRows))
            or array.dtype != np.dtype(dtype)
            or array.ndim != dimensions
        ):
            found = f"{array.dtype} in {array.ndim}" if isinstance(array, np.ndarray) else type(array).__name__
            _fail(name, None, f"must be an array of {dtype} in {dimensions} dimension(s), not {found}")
        if dtype == "float64":
            numbers = kept_numbers(array)
            _require_all(np.isfinite(numbers), name, "must be a finite number")


def _check_lengths(arrays: Mapping[str, Array], schema: Schema) -> None:
    n, s = len(arrays["parent"]), len(arrays["column"])
    if n == 0:
        _fail("parent", None, "is empty; a tree has at least its root")
    lengths = dict.fromkeys(("depth", "rows", "weight", "stats", "value", "impurity", "gain", "stop"), n)
    lengths |= {"n_surrogates": n, "child_start": n + 1, "split_start": n + 1, "children": n - 1}
    lengths |= dict.fromkeys(("closed", "score", "adjusted", "split_gain", "statistic", "degrees"), s)
    lengths |= dict.fromkeys(("log_p", "log_multiplier", "missing", "unseen"), s)
    lengths |= dict.fromkeys(("break_start", "bin_start", "share_start"), s + 1)
    for name, length in lengths.items():
        if len(arrays[name]) != length:
            table = f"{n} nodes" if name in NODE_ARRAYS else f"{s} splits"
            _fail(name, None, f"has {len(arrays[name])} entries, but {table} need {length}")
    classes = schema.target.classes
    for name, width in (("stats", len(classes) if classes else 3), ("value", len(classes) if classes else 1)):
        if arrays[name].shape[1] != width:
            _fail(name, None, f"has {arrays[name].shape[1]} numbers per node, but the target needs {width}")


def _check_starts(arrays: Mapping[str, Array]) -> None:
    pairs = {"child_start": "children", "split_start": "column", "break_start": "breaks"}
    pairs |= {"bin_start": "child_of_bin", "share_start": "share"}
    for name, items in pairs.items():
        start = arrays[name]
        if start[0] != 0:
            _fail(name, 0, "must be 0")
        # Compared, not subtracted: a difference of two int32 may overflow.
        _require_all(np.append(True, start[1:] >= start[:-1]), name, "is less than the start before it")
        if start[-1] != len(arrays[items]):
            _fail(name, len(start) - 1, f"must be {len(arrays[items])}, the length of {items}")


def _check_tree(arrays: Mapping[str, Array]) -> None:
    parent, depth, n = arrays["parent"], arrays["depth"], len(arrays["parent"])
    if parent[0] != -1 or depth[0] != 0:
        _fail("parent" if parent[0] != -1 else "depth", 0, "is wrong: the first node is the root, parent -1, depth 0")
    ids = np.arange(n)
    _require_all((ids == 0) | ((parent >= 0) & (parent < ids)), "parent", "must be the id of an earlier node")
    above = np.append(-1, depth[parent[1:]])
    _require_all(depth == above + 1, "depth", "must be one more than its parent's depth")
    # In depth-first order a node's parent is the last earlier node one level up. Every (depth, id) becomes one sortable
    # key, so "the last earlier node of that depth" is one binary search for all nodes together.
    keys = depth.astype(np.int64) * n + ids
    ordered = np.sort(keys)
    last = ordered[np.searchsorted(ordered, keys[1:] - n) - 1] - (depth[1:].astype(np.int64) - 1) * n
    _require_all(np.append(True, last == parent[1:]), "parent", "breaks the depth-first order of the nodes")
    fan = np.bincount(parent[1:], minlength=n)
    _require_all(np.append(True, arrays["child_start"][1:] == np.cumsum(fan)), "child_start", "disagrees with parent")
    expected = np.argsort(parent[1:], kind="stable") + 1
    _require_all(arrays["children"] == expected, "children", "disagrees with parent, or is out of order")
    stop = arrays["stop"]
    _require_all((stop >= 0) & (stop <= max(STOP_REASONS)), "stop", "is not a known reason")
    _require_all((stop == 0) == (fan > 0), "stop", "must be 0 for a node with children and a reason for a leaf")
    if (fan == 1).any():
        _fail("children", arrays["child_start"][np.argmax(fan == 1)], "is an only child; a split has at least two")


def _check_numbers(arrays: Mapping[str, Array], schema: Schema) -> None:
    for name in ("rows", "weight", "n_surrogates", "degrees"):
        _require_all(arrays[name] >= 0, name, "must not be negative")
    stats, value, weight = arrays["stats"], arrays["value"], arrays["weight"]
    numeric = schema.target.classes is None
    good = kept_numbers(stats) >= 0
    if numeric:
        good[:, 1] = True  # the mean may be anything
    _require_all(good, "stats", "must not be negative")
    with np.errstate(over="ignore", invalid="ignore"):
        total = stats[:, 0] if numeric else stats.sum(axis=1)
        same = np.isfinite(total) & (np.abs(weight - total) <= 1e-6 * np.maximum(weight, total))
    _require_all(same, "weight", "must be what the weights in the node's stats add up to")
    if not numeric:
        shares = kept_numbers(value)
        _require_all((shares >= 0) & (shares <= 1), "value", "must be a probability, 0 to 1")
        _require_all(np.abs(value.sum(axis=1) - 1) < 1e-6, "value", "must have probabilities that add up to 1")


def _check_split_table(arrays: Mapping[str, Array]) -> None:
    """Check that each node has as many splits as it declares, each with as many children as the node."""
    fan, count = np.diff(arrays["child_start"]), np.diff(arrays["split_start"])
    surrogates, inner = arrays["n_surrogates"], fan > 0
    _require_all(inner | (surrogates == 0), "n_surrogates", "must be 0 for a leaf, which has no split")
    _require_all(count - inner >= surrogates, "n_surrogates", "leaves no room for the node's own split")
    node = np.repeat(np.arange(len(fan)), count)
    position = np.arange(len(node)) - arrays["split_start"][node]
    imitates = inner[node] & (position <= surrogates[node])
    children = np.diff(arrays["share_start"])
    _require_shares(~imitates | (children == fan[node]), "must be one per child of the node")
    _require_shares(children >= 2, "must be at least two, one per child")


def _require_shares(good: Array, message: str) -> None:
    if not good.all():
        split = int(np.argmax(~good))
        raise FileError(f"{place_of('share')}: the shares of split {split} {message}")


def _check_columns(arrays: Mapping[str, Array], schema: Schema) -> None:
    column, columns = arrays["column"], schema.columns
    _require_all((column >= 0) & (column < len(columns)), "column", f"must be 0 to {len(columns) - 1}")
    with_levels = np.array([c.has_levels for c in columns], dtype=bool)[column]
    levels = np.array([len(c.levels or ()) for c in columns], dtype=np.int64)[column]
    breaks, bins = np.diff(arrays["break_start"]), np.diff(arrays["bin_start"])
    _require_all(~with_levels | (breaks == 0), "column", "has levels, so its split cannot have breaks")
    _require_all(~with_levels | (bins == levels), "column", "needs a split with one bin per level")
    _require_all(with_levels | (bins == breaks + 1), "column", "needs a split with one more bin than breaks")
    values, starts = arrays["breaks"], arrays["break_start"]
    rising = np.append(True, values[1:] > values[:-1])[: len(values)]
    rising[starts[:-1][starts[:-1] < len(values)]] = True  # the first break of a split follows nothing
    _require_all(rising, "breaks", "must be more than the break before it")


def _check_routes(arrays: Mapping[str, Array]) -> None:
    children = np.diff(arrays["share_start"])
    closed, missing, unseen = arrays["closed"], arrays["missing"], arrays["unseen"]
    _require_all((closed == 0) | (closed == 1), "closed", "must be 0 or 1")
    _require_all((missing >= RANDOM) & (missing < children), "missing", "must be -3 to -1 or a child's number")
    good = (unseen == AS_MISSING) | ((unseen >= 0) & (unseen < children))
    _require_all(good, "unseen", "must be -4 or a child's number")
    child, limit = arrays["child_of_bin"], np.repeat(children, np.diff(arrays["bin_start"]))
    _require_all((child >= -1) & (child < limit), "child_of_bin", "must be -1 or a child's number")
    share = arrays["share"]
    _require_all((share >= 0) & (share <= 1 + 1e-9), "share", "must be 0 to 1")
    totals = np.add.reduceat(share, arrays["share_start"][:-1])  # every split has shares: that was checked before
    _require_shares(np.abs(totals - 1) < 1e-6, "must add up to 1")
