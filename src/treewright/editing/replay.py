"""Replay a log of edits: the same tree, bit for bit, wherever it is done."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath

from treewright.editing.apply import apply_rows
from treewright.editing.edits import Edit
from treewright.editing.log import read_log
from treewright.editing.training_rows import rows_for_edits
from treewright.errors import DataError
from treewright.tree.as_tree import TreeLike, constant_tree
from treewright.tree.tree import Tree


def replay(
    tree: TreeLike,
    log: Iterable[Edit] | str | PathLike[str],
    data: object = None,
    target: object = None,
    weight: object = None,
    n_threads: int = 0,
    *,
    holdout: float | None = None,
) -> Tree:
    """Apply the edits of a log to a tree, one after the other; the rows are read once.

    A shorter log is the undo: without its last edit, the tree is the one before that edit.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree that the first edit was made to; it is not changed.
    log : iterable of Edit, str or PathLike
        The edits, or the file that `write_log` wrote.
    data : table, optional
        The rows that the tree was learned from, where `Split` or `Grow` is among the edits.
    target : str or array-like, optional
        The target column of `data`, by name or value; by default named as in training.
    weight : str or array-like, optional
        The weights of the rows of `data`.
    n_threads : int, default=0
        Number of threads; 0 means all processors. The tree is the same for any number.
    holdout : float, optional
        The share of the rows of `data` that were held out, as `treewright.studio` does: the tree was learned from the
        others. Which rows depends on their values alone.

    Returns
    -------
    Tree
        The edited tree.

    Raises
    ------
    DataError
        If an edit is impossible; the message names it.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"age": [20, 25, 40, 60], "town": ["a", "b", "a", "b"], "buys": ["no", "no", "yes", "yes"]}
    >>> tree = tw.learn(table, "buys", tw.CART.with_(pruning=None))
    >>> log = [tw.edit.Split(0, "age", threshold=30), tw.edit.SetPrediction(1, "yes")]
    >>> tw.edit.replay(tree, log, table)[1].prediction
    'yes'
    >>> tw.edit.replay(tree, log[:0], table) == tree
    True
    """
    tree = constant_tree(tree, "edit.replay")
    edits = read_log(log) if isinstance(log, (str, PathLike)) else tuple(log)
    for edit in edits:
        if not isinstance(edit, Edit):
            raise DataError(f"a log holds edits, such as tw.edit.Collapse(3), not {edit!r}")
    rows = rows_for_edits(tree, edits, data, target, weight, n_threads, holdout)
    for i, edit in enumerate(edits, 1):
        try:
            tree = apply_rows(tree, edit, rows, n_threads)
        except DataError as error:
            place = f" of {fspath(log)}" if isinstance(log, (str, PathLike)) else ""
            raise DataError(f"edit {i}{place}, {type(edit).__name__} of node {edit.node}: {error}") from error
    return tree
