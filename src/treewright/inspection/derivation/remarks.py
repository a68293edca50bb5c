"""Remarks on a derivation: what is unknown, what is unusual, and why a split won."""

from __future__ import annotations

import math
from collections.abc import Sequence

from treewright.data.number_text import count_text, figure, many
from treewright.inspection.derivation.node_rows import Entries
from treewright.inspection.derivation.score_steps import Derivation
from treewright.inspection.derivation.split_counts import Division, scores_missing, stored_weight
from treewright.recipes.criterion import Criterion, GainRatio
from treewright.tree.split import Split
from treewright.tree.text import name_text
from treewright.tree.tree import Node


def is_close(a: float, b: float, near: float = 1e-9) -> bool:
    """Return whether two scores agree to rounding."""
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=near)


def remarks_on(
    node: Node,
    split: Split,
    division: Division | None,
    derived: Derivation | None,
    complete: bool,
    entries: Entries | None,
    own: bool,
) -> tuple[str, ...]:
    """Return remarks on what is unknown or unusual in the derivation of a split."""
    tree, remarks = node.tree, []
    name = name_text(split.column)
    if not complete:
        remarks.append(_why_not(node, split, division, derived, entries, own))
    elif entries is None and division is not None and _unscored(node, split, division):  # by a user's formula
        remarks.append(f"Some rows have no value of {name}; the branches show all rows that went there.")
    if complete and division is not None and division.missing_rows:
        remarks.append(
            f"No value of {name}: {many(division.missing_rows, 'row')} of weight {count_text(division.missing)}, not "
            "scored; the branches show the rows that are."
        )
    if tree.schema.target.costs is not None or tree.schema.target.priors is not None:
        remarks.append("Weights are altered by costs or priors, as the split was chosen by them.")
    return tuple(remarks)


def _why_not(
    node: Node, split: Split, division: Division | None, derived: Derivation | None, entries: Entries | None, own: bool
) -> str:
    name, score = name_text(split.column), figure(split.score)
    if not own and entries is None:
        return (
            f"Of a split that was beaten the tree stores its score, {score}, and gain, {figure(split.gain)}, but no "
            f"counts; explain_node(tree, {node.id}, data, column=…) counts them."
        )
    if entries is not None:
        found = "no score" if derived is None else f"the score {figure(derived.score)}"
        if node.tree.cuts and _same_rows(node, entries):
            return (
                f"The rows that are here now lead to {found}, the tree stores {score}: pruning put this question in "
                "the place of another, below which it had been chosen on fewer rows."
            )
        return (
            f"The rows given lead to {found}, the tree stores {score}: they are not the rows, or have not the weights, "
            "that this split was chosen by."
        )
    if division is not None and _unscored(node, split, division):
        return (
            f"Some rows have no value of {name}. The score {score} counts only rows that have one, while the tree "
            f"stores each branch with all rows that went there, so how they were counted is unknown; "
            f"explain_node(tree, {node.id}, data) counts them."
        )
    if node.tree.cuts:
        return (
            f"Pruning moved rows after this split was chosen, so the stored counts no longer lead to its score "
            f"{score}; what they were is unknown."
        )
    return (
        f"The stored counts do not lead to the stored score {score}: rows without a value of {name} were counted "
        f"elsewhere, or the tree was not grown here; explain_node(tree, {node.id}, data) counts anew."
    )


def _same_rows(node: Node, entries: Entries) -> bool:
    """Return whether the rows given are the rows the tree has here."""
    weight = stored_weight(node)
    return node.rows == entries.n_rows and math.isclose(weight, entries.total, rel_tol=1e-6)


def _unscored(node: Node, split: Split, division: Division) -> bool:
    """Return whether rows without a value are in the branches but were not scored there.

    Then branches do not weigh the shares of the rows with a value, or rows were left behind or doubled.
    """
    if scores_missing(node.tree.recipe.missing):
        return False
    if sum(division.rows or ()) != node.rows:
        return True
    shares = division.weights / max(float(division.weights.sum()), 1e-300)
    return any(abs(a - b) > 1e-9 for a, b in zip(shares.tolist(), split.share, strict=True))


def is_given(node: Node) -> bool:
    """Return whether the split of the node was given by hand."""
    return node.edit is not None and node.edit.split


def given_remarks(node: Node) -> list[str]:
    """Return that a split was given by hand, and what the recipe has against it."""
    if node.edit is None or not node.edit.split:
        return []
    against = node.edit.against
    return [
        "The split was given by hand."
        if against is None
        else f"The split was given by hand, against the recipe: {against}."
    ]


def comparison(criterion: Criterion, chosen: Split | None, rivals: Sequence[Split], given: bool = False) -> list[str]:
    """Return why the choice beat its best rival; of a split that was given, what it costs."""
    if chosen is None or not rivals:
        return []
    rival = rivals[0]
    ours, theirs = name_text(chosen.column), name_text(rival.column)
    if given:
        return [f"{ours} has {figure(chosen.score)}; the best other split, by {theirs}, has {figure(rival.score)}."]
    if rival.score > chosen.score and isinstance(criterion, GainRatio) and criterion.average_rule:
        gain = figure(rival.gain)
        return [f"{theirs} has the larger ratio, but its gain {gain} is below the average of all columns."]
    if is_close(rival.score, chosen.score):
        return [f"{ours} and {theirs} are equal; the first column wins."]
    return [f"{ours} wins: {figure(chosen.score)} against {figure(rival.score)} for {theirs}."]
