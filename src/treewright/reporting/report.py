"""The report: everything a page, a studio or a notebook shows of a tree, as plain values.

Comes in: a `Tree`; where they are at hand, its training rows and rows it has not seen. Goes out: one dictionary of
lists, numbers and texts, ready for JSON.
Always holds: each part is told by one small function and by the room that knows it; without rows, all that the tree
alone can tell is there. Names and levels are plain text: whoever shows them escapes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from treewright.data.encoding import Encoded
from treewright.prediction.evaluation import score_on, score_told
from treewright.render.colours import SCALE, class_colours
from treewright.reporting.details import details, importances, inner_rules, rule_table
from treewright.reporting.pruning_steps import pruned_trees, pruning_steps
from treewright.reporting.rows import read_rows, sample
from treewright.reporting.structure import facts, nodes, schema, splits
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.ordinary_numbers import ordinary_numbers
from treewright.tree.tree import Tree

__all__ = ["report"]

#: Written into every report, so that a page knows what it reads.
FORM = 1


@ordinary_numbers()
def report(
    tree: TreeLike,
    data: object = None,
    *,
    held_out: object = None,
    row_numbers: Sequence[int] | NDArray[Any] | None = None,
) -> dict[str, Any]:
    """All there is to show of a tree.

    `data` are its training rows, `held_out` rows it has not seen; both are tables that hold the target under its own
    name. Where `data` is a part of a table, `row_numbers` are the numbers of its rows in that table.
    """
    tree = as_tree(tree)
    training = None if data is None else read_rows(tree, data)
    unseen = None if held_out is None else read_rows(tree, held_out)
    steps = pruning_steps(tree, unseen)
    return {
        "form": FORM,
        "facts": facts(tree),
        "schema": schema(tree),
        "colours": _colours(tree),
        "nodes": nodes(tree),
        "splits": splits(tree),
        "details": details(tree),
        "rules": rule_table(tree),
        "inner_rules": inner_rules(tree),
        "importances": importances(tree, *((data, training) if unseen is None else (held_out, unseen))),
        "pruning": steps,
        "scores": _scores(tree, training, unseen),
        "pruned": [
            None if cut is None else _pruned(cut, training, unseen)
            for cut in pruned_trees(tree, steps, sum(rows.n_rows for rows in (training, unseen) if rows is not None))
        ],
        "rows": None if training is None else sample(tree, training, row_numbers),
    }


def _pruned(tree: Tree, training: Encoded | None, unseen: Encoded | None) -> dict[str, Any]:
    """What is told of a step of the pruning path; shuffling every column for every step would take too long."""
    return {"scores": _scores(tree, training, unseen), "importances": importances(tree, None, None)}


def _scores(tree: Tree, training: Encoded | None, unseen: Encoded | None) -> dict[str, Any]:
    """How well a tree answers both kinds of rows; without training rows, as far as its leaves tell."""
    return {
        "training": score_told(tree) if training is None else score_on(tree, training),
        "held_out": None if unseen is None else score_on(tree, unseen),
    }


def _colours(tree: Tree) -> list[str]:
    """One colour per class; for numbers a scale from low to high."""
    classes = tree.schema.target.classes
    return list(SCALE) if classes is None else class_colours(len(classes))
