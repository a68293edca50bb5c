"""Why a row gets its prediction: its path, its probabilities, what would change them and what each column adds.

The row goes where prediction sends it, for the core gives the path (`routing.trace`) and the prediction; nothing
here routes. The weights of all paths add up to one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from treewright.data.grid import Grid, Results
from treewright.data.number_text import MISSING
from treewright.data.schema import Level
from treewright.inspection.counterfactuals import Counterfactuals, Want, places_of, search, wanted
from treewright.inspection.one_row import OneRow, one_row
from treewright.inspection.shap import ShapValues, of_rows
from treewright.prediction.predict import predicted
from treewright.prediction.routing import Trace, predict_values, trace
from treewright.tree.as_tree import TreeLike, as_tree, constant_tree
from treewright.tree.split import Split
from treewright.tree.text import break_text, name_text
from treewright.tree.tree import Node, Tree
from treewright.tree.validation import BOTH_BINS, FRACTIONAL, STOP_HERE

Guide = Literal["known", "surrogate", "unseen", "missing"]
_GUIDES: dict[int, Guide] = {0: "known", -1: "missing", -2: "unseen"}  # by the core's number; surrogates count from 1


@dataclass(frozen=True)
class TakenBranch:
    """A way out of a node: the child, its condition in words, and the part of the row that takes it."""

    node: int
    condition: str
    share: float


@dataclass(frozen=True)
class PathStep:
    """What happens to a row at one node with a split.

    `value` is the row's value of the split column, in words. `guide` is what the row goes by: its "known" value, a
    "surrogate" in its place, a rule for "unseen" levels or the rule for "missing" ones; `why` is the same in words.
    `branches` are those taken: one; several, where the row is spread; none, where it stops. `weight` is how much of the
    row comes here, `before` the node's own prediction: class probabilities, or a number.
    """

    node: int
    weight: float
    column: str
    value: str
    guide: Guide
    why: str
    branches: tuple[TakenBranch, ...]
    before: tuple[float, ...]


@dataclass(frozen=True)
class Path:
    """One way from the root to a prediction: its nodes, its weight, and the prediction at its end."""

    nodes: tuple[int, ...]
    weight: float
    value: tuple[float, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Results):
    """All about one prediction.

    `row`: the row's values in words; `absent`: columns that were not given and count as missing. `probabilities`: by
    class, None for a number. `steps` in the order of nodes; `paths` are the ways the row takes, one unless a missing
    value sent it several ways. `counterfactuals` and `shap_values` are worked out when first requested.
    """

    tree: Tree
    prediction: Level
    probabilities: Mapping[Level, float] | None
    row: Mapping[str, str]
    absent: tuple[str, ...]
    steps: tuple[PathStep, ...]
    paths: tuple[Path, ...]
    value: tuple[float, ...]
    _source: OneRow = field(repr=False)
    _asked: tuple[Want, tuple[str, ...], int] = field(repr=False)

    @cached_property
    def counterfactuals(self) -> Counterfactuals:
        """The nearest changes of the row that would give another prediction, or the one wanted."""
        constant_tree(self.tree, "counterfactuals")
        return search(self.tree, self._source, *self._asked)

    @cached_property
    def shap_values(self) -> ShapValues:
        """What each column adds to the prediction."""
        constant_tree(self.tree, "shap_values")
        return of_rows(self.tree, self._source.rows, 1)

    @property
    def values(self) -> list[float | None]:
        """Per column of the schema the number or the place of the level; None where it is missing or unseen."""
        return self._source.values

    @property
    def is_wanted(self) -> bool:
        """Whether the prediction is already the one wanted."""
        now = np.array([self.value])
        return bool(wanted(self.tree, now[0], self._asked[0])(now)[0])

    @property
    def place(self) -> int:
        """Which of `value` is the prediction's own: the class's place, or 0."""
        classes = self.tree.schema.target.classes
        return 0 if classes is None else classes.index(self.prediction)

    @property
    def probability(self) -> float | None:
        """The probability of the prediction; None for a number."""
        return None if self.probabilities is None else self.probabilities[self.prediction]

    def as_dict(self) -> dict[str, Any]:
        """Return all of it as plain values, ready for JSON."""
        classes = self.tree.schema.target.classes
        return {
            "target": self.tree.schema.target.name,
            "prediction": self.prediction,
            "probabilities": None
            if classes is None
            else [[name, p] for name, p in zip(classes, self.value, strict=True)],
            "row": dict(self.row),
            "absent": list(self.absent),
            "steps": [
                {**vars(step), "branches": [vars(branch) for branch in step.branches], "before": list(step.before)}
                for step in self.steps
            ],
            "paths": [{"nodes": list(p.nodes), "weight": p.weight, "value": list(p.value)} for p in self.paths],
            "changes": [
                {"text": str(change), "columns": list(change.values), "prediction": change.prediction}
                for change in self.counterfactuals
            ],
            "contributions": [
                [name, value] for name, value in self.shap_values.lines(0, None if classes is None else self.prediction)
            ],
        }

    def text(self) -> str:
        from treewright.inspection.row_text import text

        return text(self)

    def html(self) -> str:
        """Return a fragment of HTML that stands by itself in any page."""
        from treewright.inspection.row_html import html

        return html(self)

    def _repr_html_(self) -> str:
        return self.html()

    def grid(self) -> Grid:
        """Return the path as a table."""
        from treewright.inspection.row_html import path_grid

        return path_grid(self)

    def _columns(self) -> dict[str, list[Any]]:
        taken = [
            (step, branch)
            for step in self.steps
            for branch in (step.branches or (TakenBranch(step.node, "", 1.0),))  # the row stops here
        ]
        return {
            "node": [step.node for step, _ in taken],
            "column": [step.column for step, _ in taken],
            "value": [step.value for step, _ in taken],
            "guide": [step.guide for step, _ in taken],
            "condition": [branch.condition or None for _, branch in taken],
            "child": [branch.node if branch.condition else None for _, branch in taken],
            "weight": [step.weight * branch.share for step, branch in taken],
        }

    def __repr__(self) -> str:
        return f"<Explanation: {self.tree.schema.target.name!r} is {self.prediction!r}, {len(self.steps)} steps>"


def explain_row(
    tree: TreeLike, row: object, *, want: Want = None, fixed: Sequence[str] = (), most: int = 3
) -> Explanation:
    """Explain the prediction of one row: its path, counterfactuals and SHAP values.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    row : dict, Series, sequence or table of one row
        The row. Columns that a dict leaves out count as missing.
    want : class, ("<" or ">", number) or number, optional
        The prediction wanted: a class; for a numeric target a bound, or how far the prediction should move, either way.
        By default any other class, or half the standard deviation of the target.
    fixed : sequence of str, default=()
        Columns that must keep their values.
    most : int, default=3
        The largest number of counterfactuals.

    Returns
    -------
    Explanation
        The nodes the row passes and the reason for each step; prints as text.
    """
    tree = as_tree(tree)
    if most < 1:
        raise ValueError(f"most must be at least 1, not {most}")
    source = one_row(tree, row)
    values = predict_values(tree, source.rows, 1)
    wanted(tree, values[0], want)  # refuse what cannot be wanted now, not when the changes are requested
    places_of(tree, fixed)
    classes, names = tree.schema.target.classes, tree.schema.names
    value = tuple(values[0].tolist())
    way = trace(tree, source.rows)
    return Explanation(
        tree=tree,
        prediction=predicted(tree, source.rows, 1).tolist()[0],
        probabilities=None if classes is None else dict(zip(classes, value, strict=True)),
        row=dict(zip(names, source.texts, strict=True)),
        absent=source.absent,
        steps=tuple(_step(tree[i], source, way) for i in _reached(way) if not tree[i].is_leaf),
        paths=tuple(_path(tree, i, way, source) for i in _reached(way) if tree[i].is_leaf or way.child[i] == STOP_HERE),
        value=value,
        _source=source,
        _asked=(want, tuple(fixed), most),
    )


def _reached(way: Trace) -> list[int]:
    nodes: list[int] = np.flatnonzero(way.weight > 0).tolist()
    return nodes


def _path(tree: Tree, end: int, way: Trace, row: OneRow) -> Path:
    nodes = [end]
    while (parent := tree[nodes[-1]].parent) is not None:
        nodes.append(parent)
    model = tree[end].model
    value = tree.arrays["value"][end].tolist() if model is None else [model.predict(row.values)]
    return Path(tuple(reversed(nodes)), float(way.weight[end]), tuple(value))


def _step(node: Node, row: OneRow, way: Trace) -> PathStep:
    split = node.split
    assert split is not None
    number, goes = int(way.guide[node.id]), int(way.child[node.id])
    guide = "surrogate" if number > 0 else _GUIDES[number]
    several = goes in (FRACTIONAL, BOTH_BINS)
    taken = range(split.n_children) if several else () if goes == STOP_HERE else (goes,)
    weight = float(way.weight[node.id])
    words = split.words(most=6, with_missing=False)
    return PathStep(
        node=node.id,
        weight=weight,
        column=split.column,
        value=row.texts[split.column_index],
        guide=guide,
        why=_why(node, split, row, guide, number, goes),
        branches=tuple(
            TakenBranch(node.children[i], words[i], float(way.weight[node.children[i]]) / weight if several else 1.0)
            for i in taken
            if not several or way.weight[node.children[i]] > 0
        ),
        before=tuple(node.tree.arrays["value"][node.id].tolist()),
    )


def _why(node: Node, split: Split, row: OneRow, guide: Guide, number: int, goes: int) -> str:
    """Return why the row goes on as it does."""
    name, value = name_text(split.column), row.texts[split.column_index]
    is_missing = row.is_missing(split.column_index)
    lacking = f"{name} is {MISSING}" if is_missing else f"{name} is {value}, which no branch here holds"
    if goes == BOTH_BINS:
        low, high = (break_text(split.spec, x, split.test == "<=") for x in split.band or ())
        return f"{name} is {value}, between {low} and {high}: both branches"
    if guide == "known":
        return f"{name} is {value}"
    if guide == "surrogate":
        surrogate = node.surrogates[number - 1]
        other = f"{name_text(surrogate.column)} is {row.texts[surrogate.column_index]}"
        return f"{lacking}; instead, {other} (surrogate: {surrogate.words(most=6, with_missing=False)[goes]})"
    if guide == "unseen":
        return f"{lacking}: such levels go this way"
    rule = {
        "spread": "every branch, by its share",
        "stop": "prediction of this node",
        "random": "a branch drawn by lot",
    }
    counts = "" if is_missing else " and counts as missing"
    return (
        f"{lacking}{counts}: {rule[split.missing] if isinstance(split.missing, str) else 'missing values go this way'}"
    )
