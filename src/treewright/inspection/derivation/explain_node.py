"""Every number can show its arithmetic: a node's split, or its answer, worked out step by step.

Comes in: a tree and a node; the rows it was learned from, if there are questions the tree alone cannot answer. Goes
out: a `NodeExplanation`: plain values, and text, Markdown with LaTeX and HTML made of them.
Always holds: steps are shown only if they end in what the tree stores (to rounding), or are said to be about the rows
given; what is not known is said to be unknown, never guessed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from treewright.data.schema import Level
from treewright.errors import DataError
from treewright.inspection.derivation.best_splits import best_splits
from treewright.inspection.derivation.blocks import blocks
from treewright.inspection.derivation.criterion_names import criterion_of, measure_of, shown_name
from treewright.inspection.derivation.html import html
from treewright.inspection.derivation.impurity_steps import Step
from treewright.inspection.derivation.leaf_steps import prediction_steps, stop_text
from treewright.inspection.derivation.markdown import markdown
from treewright.inspection.derivation.node_rows import Entries, at_node
from treewright.inspection.derivation.numbers import amount, figure
from treewright.inspection.derivation.score_steps import Derivation, derive, gain_before_penalty, solved_cuts, told
from treewright.inspection.derivation.split_counts import (
    Branch,
    Division,
    divided,
    scores_missing,
    stored,
    stored_weight,
)
from treewright.inspection.derivation.test_steps import Expected, significance_steps
from treewright.inspection.derivation.text import text
from treewright.inspection.derivation.threshold_curve import Curve, curve_of
from treewright.recipes.branching import Merge
from treewright.recipes.criterion import Criterion, Custom, GainRatio
from treewright.recipes.numeric import Threshold
from treewright.render.node_text import many, merges_missing
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.text import level_text, name_text
from treewright.tree.tree import Node, Split, Tree

#: Longer lists of levels are cut in conditions.
_MOST_LEVELS = 4


@dataclass(frozen=True)
class Rival:
    """A split that was beaten, or the one that won: its column, question, score and gain."""

    column: str
    question: str
    score: float
    gain: float
    won: bool = False


@dataclass(frozen=True)
class NodeExplanation:
    """The derivation of one node.

    `steps` lead to `score` (and `gain`), both None where they are not known; `stored` is the score the tree holds.
    `significance` has the steps of a test that is no part of the score. `complete`: the steps end in what the tree
    stores. `remarks` say what is unknown or unusual. `branches`, `rivals`, `expected` (chi-square) and `curve` (a
    numeric column, with data) go with them. A leaf has `column` None, and steps that lead to its answer.
    """

    node: int
    column: str | None
    criterion: str
    heading: str
    classes: tuple[Level, ...] | None
    branches: tuple[Branch, ...]
    steps: tuple[Step, ...]
    score: float | None
    gain: float | None
    stored: float | None
    complete: bool
    remarks: tuple[str, ...] = ()
    rivals: tuple[Rival, ...] = ()
    significance: tuple[Step, ...] = ()
    expected: Expected | None = None
    curve: Curve | None = None

    def text(self) -> str:
        """The derivation for a terminal."""
        return text(blocks(self))

    def markdown(self) -> str:
        """The derivation as Markdown, its arithmetic as LaTeX between dollars."""
        return markdown(blocks(self))

    def html(self) -> str:
        """The derivation as a fragment of HTML, without scripts or styles; everything is escaped."""
        return html(blocks(self))

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        return self.html()

    def _repr_markdown_(self) -> str:
        return self.markdown()


def explain_node(
    tree: TreeLike,
    node: int = 0,
    data: object = None,
    *,
    column: str | None = None,
    target: object = None,
    weight: object = None,
) -> NodeExplanation:
    """Work out a node: its split, or for a leaf its answer.

    `data` is what the tree was learned from (`target` and `weight` as for `learn`, where they are no columns of it);
    with it everything can be counted anew: rows with missing values, the curve over all cuts of a number, and with
    `column` another column than the chosen one.

    >>> import treewright as tw
    >>> sky, wind = ["sun", "sun", "rain", "rain"], ["no", "yes", "no", "yes"]
    >>> tree = tw.learn({"sky": sky, "wind": wind, "play": ["yes", "yes", "yes", "no"]}, "play", tw.ID3)
    >>> print(tw.explain_node(tree).steps[0].text)
    entropy(1, 3) = -(1/4) log2(1/4) - (3/4) log2(3/4) = 0.8113
    >>> tw.explain_node(tree).gain == tree.root.gain
    True
    """
    tree = as_tree(tree)
    if not isinstance(tree, Tree):
        raise TypeError(f"expected a Tree, as learn gives it (an estimator's is its tree_), not {type(tree).__name__}")
    at = tree[node]
    if column is not None and column not in tree.schema.names:
        raise DataError(f"the tree has no column {column!r}; it has {', '.join(map(repr, tree.schema.names[:20]))}")
    if column is None and at.is_leaf:
        return _leaf(at)
    entries = None if data is None else at_node(tree, at.id, data, target, weight)
    split = at.split
    if split is not None and column in (None, split.column):
        return _split(at, split, entries)
    assert column is not None
    return _rival(at, column, entries)


def _leaf(node: Node) -> NodeExplanation:
    """The answer of a leaf."""
    tree = node.tree
    size = f"{node.rows:,} row{'' if node.rows == 1 else 's'}"
    prediction = node.prediction
    shown = figure(prediction) if isinstance(prediction, float) and node.counts is None else level_text(prediction)
    rows = Branch("this leaf", node.rows, node.weight, node.counts, node.mean, node.deviation)
    return NodeExplanation(
        node=node.id,
        column=None,
        criterion=shown_name(criterion_of(tree.recipe, tree.schema.target)),
        heading=f"Node {node.id} answers {shown} ({size})",
        classes=tree.schema.target.classes,
        branches=(rows,),
        steps=prediction_steps(node),
        score=None,
        gain=None,
        stored=None,
        complete=True,
        remarks=(f"It asks nothing: {stop_text(node)}.",),
        rivals=_rivals(None, node.rivals),
    )


def _rival(node: Node, column: str, entries: Entries | None) -> NodeExplanation:
    """Another column than the chosen one, or a column of a leaf."""
    if entries is None:
        split = next((rival for rival in node.rivals if rival.column == column), None)
        if split is None:
            raise DataError(
                f"node {node.id} remembers no split by {column!r}; give data=, the table the tree was learned from"
            )
        return _split(node, split, None, own=False)
    found = best_splits(entries, node.tree.recipe)
    split = next((one for one in found.splits if one.column == column), None)
    if split is None:
        place = node.tree.schema.names.index(column)
        raise DataError(f"{column!r} cannot split node {node.id}: {found.reasons[place]}")
    return _split(node, split, entries, own=False)


# --- a split ----------------------------------------------------------------------------------------------------------


def _split(node: Node, split: Split, entries: Entries | None, own: bool = True) -> NodeExplanation:
    """The derivation of a split, from the rows given or from what the tree stores."""
    tree = node.tree
    criterion = criterion_of(tree.recipe, tree.schema.target)
    name = measure_of(criterion).name
    conditions = split.words(most=_MOST_LEVELS, with_missing=merges_missing(tree.recipe))
    curve = None
    if entries is not None:
        curve = curve_of(entries, split.column_index, tree.recipe, criterion, split.threshold)
        division: Division | None = divided(entries, split, tree.recipe.missing, name)
    else:
        division = stored(node, name) if own else None
    derived = None
    if division is not None and division.known > 0 and division.weights.max() > 0:
        derived = _derived(criterion, tree, split, division, conditions, curve)
    # A root turns the last digit of a sum into half of all digits.
    near = 1e-7 * (1 + node.impurity) if name == "standard_deviation" else 1e-9
    complete = derived is not None and _same(derived.score, split.score, near) and _same(derived.gain, split.gain, near)
    remarks = _remarks(node, split, division, derived, complete, entries, own)
    shown = derived if complete or entries is not None else None
    chosen, rivals = split if own else node.split, node.rivals
    significance: tuple[Step, ...] = ()
    if shown is not None and division is not None and split.statistic is not None and shown.expected is None:
        significance = tuple(significance_steps(division)[0]) if name not in ("chi_square", "f") else ()
    return NodeExplanation(
        node=node.id,
        column=split.column,
        criterion=shown_name(criterion),
        heading=_heading(node, split, own),
        classes=tree.schema.target.classes,
        branches=() if division is None else division.branches(conditions),
        steps=() if shown is None else shown.steps,
        score=None if shown is None else shown.score,
        gain=None if shown is None else shown.gain,
        stored=split.score,
        complete=complete,
        remarks=(*remarks, *_beaten(criterion, chosen, rivals)),
        rivals=_rivals(chosen, rivals),
        significance=significance,
        expected=None if shown is None else shown.expected,
        curve=None if split.spec.has_levels else curve,
    )


def _derived(
    criterion: Criterion, tree: Tree, split: Split, division: Division, conditions: Sequence[str], curve: Curve | None
) -> Derivation:
    if isinstance(criterion, Custom):
        return told(criterion, split.score, split.gain)
    numeric = tree.recipe.numeric
    cuts = None
    if isinstance(numeric, Threshold) and numeric.mdl_penalty and split.spec.kind not in ("nominal", "boolean"):
        before = gain_before_penalty(division)
        counted = curve.n_tried if curve is not None else 0
        cuts = counted or solved_cuts(before, division, split.gain)
    merged = isinstance(tree.recipe.branching, Merge)
    multiplier = split.log_multiplier if merged else None
    return derive(criterion, division, conditions, cuts=cuts, log_multiplier=multiplier)


def _same(a: float, b: float, near: float = 1e-9) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=near)


def _heading(node: Node, split: Split, own: bool) -> str:
    size = f"{node.rows:,} row{'' if node.rows == 1 else 's'}"
    verb = "asks" if own else "could ask"
    question = name_text(split.column)
    if split.threshold_text is not None:
        question += f" {split.test} {split.threshold_text}"
    return f"Node {node.id} {verb} {question} ({size})"


def _rivals(chosen: Split | None, rivals: Sequence[Split]) -> tuple[Rival, ...]:
    """All that was compared here, best first: the winner, then those it beat."""
    several = rivals if chosen is None else (chosen, *rivals)
    return tuple(Rival(s.column, _question(s), s.score, s.gain, s is chosen) for s in several)


def _question(split: Split) -> str:
    if split.n_children > 2:
        return f"{name_text(split.column)}, {split.n_children} branches"
    return split.words(most=_MOST_LEVELS, with_missing=False)[0]


# --- what is unknown or unusual ---------------------------------------------------------------------------------------


def _remarks(
    node: Node,
    split: Split,
    division: Division | None,
    derived: Derivation | None,
    complete: bool,
    entries: Entries | None,
    own: bool,
) -> tuple[str, ...]:
    tree, remarks = node.tree, []
    name = name_text(split.column)
    if not complete:
        remarks.append(_why_not(node, split, division, derived, entries, own))
    elif entries is None and division is not None and _unscored(node, split, division):  # by a user's formula
        remarks.append(f"Some rows have no value of {name}; the branches show all rows that went there.")
    if complete and division is not None and division.missing_rows:
        remarks.append(
            f"No value of {name}: {many(division.missing_rows, 'row')} of weight {amount(division.missing)}, not "
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
    """Whether the rows given are the rows the tree has here."""
    weight = stored_weight(node)
    return node.rows == entries.n_rows and math.isclose(weight, entries.total, rel_tol=1e-6)


def _unscored(node: Node, split: Split, division: Division) -> bool:
    """Whether rows without a value are in the branches but were not scored there.

    Then branches do not weigh the shares of the rows with a value, or rows were left behind or doubled.
    """
    if scores_missing(node.tree.recipe.missing):
        return False
    if sum(division.rows or ()) != node.rows:
        return True
    shares = division.weights / max(float(division.weights.sum()), 1e-300)
    return any(abs(a - b) > 1e-9 for a, b in zip(shares.tolist(), split.share, strict=True))


def _beaten(criterion: Criterion, chosen: Split | None, rivals: Sequence[Split]) -> list[str]:
    """Why the choice beat its best rival."""
    if chosen is None or not rivals:
        return []
    rival = rivals[0]
    ours, theirs = name_text(chosen.column), name_text(rival.column)
    if rival.score > chosen.score and isinstance(criterion, GainRatio) and criterion.average_rule:
        gain = figure(rival.gain)
        return [f"{theirs} has the larger ratio, but its gain {gain} is below the average of all columns."]
    if _same(rival.score, chosen.score):
        return [f"{ours} and {theirs} are equal; the first column wins."]
    return [f"{ours} wins: {figure(chosen.score)} against {figure(rival.score)} for {theirs}."]
