"""Every number can show its arithmetic: a node's split, or its prediction, worked out step by step.

Steps are shown only if they end in what the tree stores (to rounding), or are stated to be about the rows given; what
is not known is stated to be unknown, never guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from treewright.data.grid import Grid, Results, page_fragment
from treewright.data.number_text import figure, many
from treewright.data.schema import Level
from treewright.errors import DataError
from treewright.inspection.derivation.best_splits import best_splits
from treewright.inspection.derivation.blocks import blocks
from treewright.inspection.derivation.criterion_names import criterion_of, measure_of, shown_name
from treewright.inspection.derivation.html import html
from treewright.inspection.derivation.impurity_steps import DerivationStep
from treewright.inspection.derivation.leaf_steps import prediction_steps, stop_text
from treewright.inspection.derivation.markdown import markdown
from treewright.inspection.derivation.node_rows import Entries, at_node
from treewright.inspection.derivation.remarks import comparison, given_remarks, is_close, is_given, remarks_on
from treewright.inspection.derivation.score_steps import Derivation, derive, gain_before_penalty, reported, solved_cuts
from treewright.inspection.derivation.split_counts import BranchCounts, Division, divided, stored
from treewright.inspection.derivation.test_steps import Expected, significance_steps
from treewright.inspection.derivation.text import text
from treewright.inspection.derivation.threshold_curve import Curve, curve_of
from treewright.recipes.branching import Merge
from treewright.recipes.criterion import Criterion, Custom
from treewright.recipes.numeric import Threshold
from treewright.render.node_text import merges_missing
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.split import Split
from treewright.tree.text import level_text, name_text
from treewright.tree.tree import Node, Tree

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
class NodeExplanation(Results):
    """The derivation of one node.

    `steps` lead to `score` (and `gain`), both None where they are not known; `stored` is the score the tree holds.
    `significance` has the steps of a test that is no part of the score. `complete`: the steps end in what the tree
    stores. `remarks` say what is unknown or unusual. `branches`, `rivals`, `expected` (chi-square) and `curve` (a
    numeric column, with data) go with them. A leaf has `column` None, and steps that lead to its prediction.
    """

    node: int
    column: str | None
    criterion: str
    heading: str
    classes: tuple[Level, ...] | None
    branches: tuple[BranchCounts, ...]
    steps: tuple[DerivationStep, ...]
    score: float | None
    gain: float | None
    stored: float | None
    complete: bool
    remarks: tuple[str, ...] = ()
    rivals: tuple[Rival, ...] = ()
    significance: tuple[DerivationStep, ...] = ()
    expected: Expected | None = None
    curve: Curve | None = None

    def text(self) -> str:
        """Return the derivation for a terminal."""
        return text(blocks(self))

    def markdown(self) -> str:
        """Return the derivation as Markdown, its arithmetic as LaTeX between dollars."""
        return markdown(blocks(self))

    def html(self) -> str:
        """Return the derivation as a fragment of HTML, without scripts or styles; everything is escaped."""
        return html(blocks(self))

    def _repr_html_(self) -> str:
        return page_fragment(self.html())

    def grid(self) -> Grid:
        """Return the steps as a table."""
        steps = (*self.steps, *self.significance)
        return Grid(self.heading, ("step", "arithmetic"), tuple((one.label, one.text) for one in steps), words=2)

    def _columns(self) -> dict[str, list[Any]]:
        steps = (*self.steps, *self.significance)
        return {
            "step": [one.label for one in steps],
            "formula": [one.formula for one in steps],
            "arithmetic": [one.text for one in steps],
            "result": [one.result for one in steps],
        }

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
    """Derive a node step by step: its split, or for a leaf its prediction.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    node : int, default=0
        The node.
    data : table, optional
        The training rows. With them everything is counted anew: rows with missing values, the scores of all cuts.
    column : str, optional
        Derive the best split of this column instead of the chosen one; needs `data`.
    target : str or array, optional
        The target of the rows, where it is not the column of `data` with the name it had in training.
    weight : str or array, optional
        The weights of the rows.

    Returns
    -------
    NodeExplanation
        The steps of the arithmetic; prints as text.

    Examples
    --------
    >>> import treewright as tw
    >>> sky, wind = ["sun", "sun", "rain", "rain"], ["no", "yes", "no", "yes"]
    >>> tree = tw.learn({"sky": sky, "wind": wind, "play": ["yes", "yes", "yes", "no"]}, "play", tw.ID3)
    >>> print(tw.explain_node(tree).steps[0].text)
    entropy(1, 3) = -(1/4) log2(1/4) - (3/4) log2(3/4) = 0.8113
    >>> tw.explain_node(tree).gain == tree.root.gain
    True
    """
    tree = as_tree(tree)
    at = _by_own_recipe(tree, node)
    tree = at.tree
    if column is not None and column not in tree.schema.names:
        raise DataError(f"the tree has no column {column!r}; it has {', '.join(map(repr, tree.schema.names[:20]))}")
    if column is None and at.is_leaf:
        return _leaf(at)
    entries = data if data is None or isinstance(data, Entries) else at_node(tree, at.id, data, target, weight)
    split = at.split
    if split is not None and column in (None, split.column):
        return _split(at, split, entries)
    assert column is not None
    return _rival(at, column, entries)


def _by_own_recipe(tree: Tree, node: int) -> Node:
    """Return the node in a tree of the recipe that made it, which an edit may have chosen."""
    recipe = tree[node].recipe
    return tree[node] if recipe is tree.recipe else replace(tree, recipe=recipe)[node]


def _leaf(node: Node) -> NodeExplanation:
    """Return the prediction of a leaf."""
    tree = node.tree
    size = many(node.rows, "row")
    prediction = node.prediction
    shown = figure(prediction) if isinstance(prediction, float) and node.counts is None else level_text(prediction)
    shown = shown if node.model is None else "by its linear model"
    rows = BranchCounts("this leaf", node.rows, node.weight, node.counts, node.mean, node.deviation)
    return NodeExplanation(
        node=node.id,
        column=None,
        criterion=shown_name(criterion_of(tree.recipe, tree.schema.target)),
        heading=f"Node {node.id} predicts {shown} ({size})",
        classes=tree.schema.target.classes,
        branches=(rows,),
        steps=prediction_steps(node),
        score=None,
        gain=None,
        stored=None,
        complete=True,
        remarks=(f"It has no split: {stop_text(node)}.",),
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
    """Return the derivation of a split, from the rows given or from what the tree stores."""
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
    near = {"standard_deviation": 1e-7, "fifth_root": 1e-3}.get(name, 0.0) * (1 + node.impurity) or 1e-9
    complete = (
        derived is not None and is_close(derived.score, split.score, near) and is_close(derived.gain, split.gain, near)
    )
    remarks = remarks_on(node, split, division, derived, complete, entries, own)
    shown = derived if complete or entries is not None else None
    chosen, rivals = split if own else node.split, node.rivals
    significance: tuple[DerivationStep, ...] = ()
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
        remarks=(*remarks, *given_remarks(node), *comparison(criterion, chosen, rivals, is_given(node))),
        rivals=_rivals(chosen, rivals),
        significance=significance,
        expected=None if shown is None else shown.expected,
        curve=None if split.spec.has_levels else curve,
    )


def _derived(
    criterion: Criterion, tree: Tree, split: Split, division: Division, conditions: Sequence[str], curve: Curve | None
) -> Derivation:
    if isinstance(criterion, Custom):
        return reported(criterion, split.score, split.gain)
    numeric = tree.recipe.numeric
    cuts = None
    if isinstance(numeric, Threshold) and numeric.mdl_penalty and split.spec.kind not in ("nominal", "boolean"):
        before = gain_before_penalty(division)
        counted = curve.n_tried if curve is not None else 0
        cuts = counted or solved_cuts(before, division, split.gain)
    merged = isinstance(tree.recipe.branching, Merge)
    multiplier = split.log_multiplier if merged else None
    return derive(criterion, division, conditions, cuts=cuts, log_multiplier=multiplier)


def _heading(node: Node, split: Split, own: bool) -> str:
    size = many(node.rows, "row")
    verb = "splits on" if own else "could split on"
    question = name_text(split.column)
    if split.threshold_text is not None:
        question += f" {split.test} {split.threshold_text}"
    return f"Node {node.id} {verb} {question} ({size})"


def _rivals(chosen: Split | None, rivals: Sequence[Split]) -> tuple[Rival, ...]:
    """Return all that was compared here, best first: the winner, then those it beat."""
    several = rivals if chosen is None else (chosen, *rivals)
    return tuple(Rival(s.column, _question(s), s.score, s.gain, s is chosen) for s in several)


def _question(split: Split) -> str:
    if split.n_children > 2:
        return f"{name_text(split.column)}, {split.n_children} branches"
    return split.words(most=_MOST_LEVELS, with_missing=False)[0]
