"""The report: everything a page or a notebook shows of a tree, as plain values ready for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treewright.data.arrays import Array
from treewright.data.encoding import Encoded
from treewright.data.finite_arithmetic import finite_arithmetic
from treewright.export.javascript_source import split_lists
from treewright.prediction.evaluation import score_of_leaves, score_on
from treewright.render.colours import SCALE, class_colours
from treewright.reporting.details import details, importances, inner_rules, node_histograms, rule_table
from treewright.reporting.how_sure import how_sure
from treewright.reporting.leaf_models import leaf_models
from treewright.reporting.pruning_steps import pruned_trees, pruning_steps
from treewright.reporting.rows import read_rows, sample
from treewright.reporting.structure import facts, nodes, schema
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.tree import Tree
from treewright.uncertainty.stability_report import Stability

__all__ = ["report"]

#: Written into every report, so that a page knows what it reads.
FORM = 2


@finite_arithmetic()
def report(
    tree: TreeLike,
    data: object = None,
    *,
    held_out: object = None,
    row_numbers: Sequence[int] | Array | None = None,
    stability: Stability | None = None,
) -> dict[str, Any]:
    """Return what there is to show of a tree, as plain values.

    Names and levels are plain text: the page escapes them.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree to report.
    data : table, optional
        The training rows, with the target under its own name. Without them the report has what the tree alone
        determines.
    held_out : table, optional
        Rows the tree has not seen, with the target: they are scored beside the training rows, and importances are
        measured on them.
    row_numbers : sequence of int, optional
        The numbers of the rows of `data`, where it is a selection from a larger table.
    stability : Stability, optional
        What `treewright.stability` found of the tree: the report then shows how often each split stays.

    Returns
    -------
    dict
        Lists, numbers and texts, ready for JSON. `form` is the version of its structure.

    See Also
    --------
    treewright.render.html : The page that shows it.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}
    >>> found = tw.report(tw.learn(table, "y"), table)
    >>> found["facts"]["leaves"], found["scores"]["training"]["matrix"]
    (2, [[2, 0], [0, 2]])
    """
    tree = as_tree(tree)
    training = None if data is None else read_rows(tree, data)
    unseen = None if held_out is None else read_rows(tree, held_out)
    steps = None if tree.models else pruning_steps(tree, unseen)
    return {
        "form": FORM,
        "facts": facts(tree),
        "schema": schema(tree),
        "colours": colours(tree),
        "nodes": nodes(tree),
        "splits": split_lists(tree),
        "models": leaf_models(tree, training),
        "details": details(tree, training),
        "histograms": node_histograms(tree, training),
        "rules": rule_table(tree),
        "inner_rules": inner_rules(tree),
        "importances": importances(tree, *((data, training) if unseen is None else (held_out, unseen))),
        "pruning": steps,
        "scores": _scores(tree, training, unseen),
        "sure": how_sure(tree, unseen, stability),
        "pruned": [] if steps is None else _all_pruned(tree, steps, training, unseen),
        "rows": None if training is None else sample(tree, training, row_numbers),
    }


def _all_pruned(
    tree: Tree, steps: dict[str, Any], training: Encoded | None, unseen: Encoded | None
) -> list[dict[str, Any] | None]:
    n_rows = sum(rows.n_rows for rows in (training, unseen) if rows is not None)
    return [None if cut is None else _pruned(cut, training, unseen) for cut in pruned_trees(tree, steps, n_rows)]


def _pruned(tree: Tree, training: Encoded | None, unseen: Encoded | None) -> dict[str, Any]:
    """Return the figures of a step of the pruning path; permuting every column for every step would take too long."""
    return {"scores": _scores(tree, training, unseen), "importances": importances(tree, None, None)}


def _scores(tree: Tree, training: Encoded | None, unseen: Encoded | None) -> dict[str, Any]:
    """Return the scores on both kinds of rows; without training rows, by the statistics of the leaves."""
    return {
        "training": score_of_leaves(tree) if training is None else score_on(tree, training, charts=True),
        "held_out": None if unseen is None else score_on(tree, unseen, charts=True),
    }


def colours(tree: Tree) -> list[str]:
    """Return one colour per class; for numbers a scale from low to high."""
    classes = tree.schema.target.classes
    return list(SCALE) if classes is None else class_colours(len(classes))
