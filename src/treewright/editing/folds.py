"""Cross-validate a tree that was edited by hand: its log is replayed on the training rows of each fold.

The choices were made by somebody who saw the rows, so the score is a little too good; what a recipe searches in each
fold anew is not. An edit finds its node along the same splits; where these have grown otherwise in a fold, or the rows
of the fold make the edit impossible, it is passed over and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from treewright.data.encoding import Encoded
from treewright.data.rows import counting, take
from treewright.editing.apply import apply_rows, way_to
from treewright.editing.edits import Edit
from treewright.errors import DataError
from treewright.growing.grow import with_bins
from treewright.growing.progress import Progress
from treewright.prediction.evaluation import score_of_predictions
from treewright.prediction.routing import predict_values
from treewright.training.folds import Fold
from treewright.tree.tree import Tree


@dataclass(frozen=True)
class Replayed:
    """The tree of a fold, and the numbers of the edits (from 0) that it does not have."""

    tree: Tree
    passed_over: tuple[int, ...] = ()


def replay_elsewhere(
    begin: Tree, trees: Sequence[Tree], log: Sequence[Edit], rows: Encoded, progress: Progress | None = None
) -> Replayed:
    """Repeat a log on other rows.

    Parameters
    ----------
    begin : Tree
        The tree of those rows that the log begins with.
    trees : sequence of Tree
        The tree before each edit, as it was when the edit was made.
    log : sequence of Edit
        The edits.
    rows : Encoded
        The other rows.
    progress : callable, optional
        Called with the fraction of the edits that are done; what it raises ends the work.
    """
    tree, passed_over = begin, []
    for i, (before, edit) in enumerate(zip(trees, log, strict=True)):
        if progress is not None:
            progress(i / len(log))
        node = _counterpart(before, edit.node, tree)
        try:
            if node is None:
                raise DataError(f"node {edit.node} has no counterpart")
            tree = apply_rows(tree, replace(edit, node=node), rows)
        except DataError:
            passed_over.append(i)
    return Replayed(tree, tuple(passed_over))


def _counterpart(before: Tree, node: int, other: Tree) -> int | None:
    """Return the node that lies along the same columns and children in another tree; None where there is none."""
    place = 0
    for above, child in way_to(before, node):
        ours, theirs = before[above].split, other[place].split
        if ours is None or theirs is None or ours.column != theirs.column or child >= len(other[place].children):
            return None
        place = other[place].children[child]
    return place


def score_by_folds(
    begin: Callable[[Encoded], Tree],
    trees: Sequence[Tree],
    log: Sequence[Edit],
    rows: Encoded,
    folds: Sequence[Fold],
    progress: Progress,
) -> list[dict[str, Any]]:
    """Return for each fold the headline of the score on its test rows, and how many edits were passed over.

    `begin` gives the tree that the log begins with, for the training rows of a fold. These are not copied: the others
    have the weight 0.
    """

    def repeated(training: Encoded, progress: Progress) -> Replayed:
        return replay_elsewhere(begin(training), trees, log, training, progress)

    rows, found = with_bins(rows, 0), []
    targets = replace(rows, columns=())  # a copy of the columns of a fold would be the most memory of all
    for i, fold in enumerate(folds):

        def part(done: float, i: int = i) -> object:
            return progress((i + done) / len(folds))

        made = repeated(counting(rows, fold.training), part)
        given = predict_values(made.tree, rows, 0)[fold.test]
        head = score_of_predictions(made.tree, take(targets, fold.test), given)["headline"]
        found.append(head | {"passed_over": len(made.passed_over)})
    return found
