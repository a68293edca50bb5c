"""The tree itself as plain lists: who stands where, what each node asks, counts and answers.

Comes in: a `Tree`. Goes out: facts, the schema, one list per property of nodes and of splits.
Always holds: numbers are exact, so that a row routed by these lists ends where the tree sends it; texts are for people,
and long lists of levels are cut in them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.schema import ColumnSpec
from treewright.inspection.derivation.criterion_names import criterion_of, measure_of
from treewright.recipes.missing import RefuseMissing
from treewright.render.node_text import MOST_LEVELS, branch_words, missing_remarks, same
from treewright.tree.json_form import plain
from treewright.tree.text import level_text, name_text, printable
from treewright.tree.tree import Split, Tree, predicted_index

_SPLIT_LISTS = (("break_start", "breaks"), ("bin_start", "child_of_bin"), ("share_start", "share"))


def facts(tree: Tree) -> dict[str, Any]:
    """What is said about the tree as a whole."""
    root = tree.root
    return {
        "target": name_text(tree.schema.target.name),
        "task": tree.schema.target.task,
        "recipe": printable(tree.recipe.name),
        "settings": tree.recipe.as_dict(),
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
    """The columns and the target; levels and classes as texts, in code order."""
    target = tree.schema.target
    return {
        "columns": [_column(spec) for spec in tree.schema.columns],
        "target": {
            "name": name_text(target.name),
            "task": target.task,
            "classes": None if target.classes is None else [level_text(c) for c in target.classes],
            "costs": None if target.costs is None else [list(row) for row in target.costs],
        },
    }


def nodes(tree: Tree) -> dict[str, list[Any] | None]:
    """One entry per node. `stats` and `value` are flat: as many numbers per node as there are classes (numbers: 3, 1).

    `value` is None where it is nothing but the shares of `stats`. `condition` leads to the node and has the column's
    name, `edge` is the same without it; `asks` is the column a node asks about, -1 for a leaf.
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
        "asks": np.where(arrays["stop"] == 0, column, -1).tolist(),
        "answer": None if tree.schema.target.classes is None else _answers(tree),
        "condition": condition,
        "edge": edge,
    }


def splits(tree: Tree) -> dict[str, list[Any]]:
    """The split table of docs/boundary.md as far as rows need it: each node's own split, then its surrogates."""
    arrays = tree.arrays
    start = arrays["split_start"]
    kept = np.where(arrays["stop"] == 0, 1 + arrays["n_surrogates"], 0)
    chosen = np.concatenate([np.arange(s, s + n) for s, n in zip(start[:-1], kept, strict=True)]).astype(int)
    table: dict[str, list[Any]] = {"start": np.append(0, np.cumsum(kept)).tolist()}
    for name in ("column", "closed", "missing", "unseen"):
        table[name] = arrays[name][chosen].tolist()
    for begin, items in _SPLIT_LISTS:
        sizes = np.diff(arrays[begin])[chosen]
        table[begin] = np.append(0, np.cumsum(sizes)).tolist()
        parts = [arrays[items][arrays[begin][i] : arrays[begin][i + 1]] for i in chosen]
        table[items] = plain(np.concatenate(parts)) if parts else []
    return table


def edge_text(split: Split, condition: str) -> str:
    """A condition as it stands on the branch of a node that names the column already: `<= 3`, `a`, `{a, b}`."""
    rest = condition.removeprefix(f"{name_text(split.column)} ")
    return rest.removeprefix("= ").removeprefix("in ") if rest != condition and split.spec.has_levels else rest


def _column(spec: ColumnSpec) -> dict[str, Any]:
    levels = None if spec.levels is None else [level_text(level) for level in spec.levels]
    return {"name": name_text(spec.name), "kind": spec.kind, "levels": levels}


def _conditions(tree: Tree) -> tuple[list[str], list[str]]:
    condition, edge = [""] * tree.n_nodes, [""] * tree.n_nodes
    for node in tree:
        split = node.split
        if split is None:
            continue
        for child, words in zip(node.children, branch_words(node, MOST_LEVELS), strict=True):
            condition[child], edge[child] = words, edge_text(split, words)
    return condition, edge


def _answers(tree: Tree) -> list[int]:
    return [int(place) for place in predicted_index(tree.schema.target, tree.arrays["value"])]


def _are_shares(tree: Tree) -> bool:
    if tree.schema.target.classes is None:
        return False
    stats, weight = tree.arrays["stats"], tree.arrays["weight"]
    if not (weight > 0).all():
        return False
    return bool((stats / weight[:, np.newaxis] == tree.arrays["value"]).all())
