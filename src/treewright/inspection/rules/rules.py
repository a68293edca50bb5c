"""Rules: a tree as sentences "if ... then ...".

Leaf rules (`kind="leaves"`) are the tree's leaves, one rule each, and together predict as the tree does. A list
(`kind="list"`) is made from its paths in the manner of C4.5rules: the first rule that applies predicts, and its
accuracy stands beside the tree's. A rule's figures are those of the training rows that meet it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from treewright.criteria.checks import check_confidence
from treewright.data.arrays import Array
from treewright.data.encoding import Encoded
from treewright.data.finite_arithmetic import finite_arithmetic
from treewright.data.grid import Grid, Results, page_fragment
from treewright.data.schema import Level
from treewright.data.survey import survey
from treewright.errors import DataError
from treewright.inspection.rules.paths import merged_paths, node_paths
from treewright.inspection.rules.rule_list import RuleList, columns_with_missing, first_match, rule_list
from treewright.inspection.rules.rule_text import listing, markdown_table, rule_text, rules_grid
from treewright.prediction.encode_rows import encode_labelled, encoded
from treewright.prediction.predict import named, predicted_codes
from treewright.prediction.scores import chosen_measure, measured
from treewright.pruning.bottom_up import staying
from treewright.pruning.cross_validation import real_weight
from treewright.render.model_text import leaf_text
from treewright.render.node_text import calibrated_range, same
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.conditions import Condition
from treewright.tree.tree import Node, Tree, node_classes

Kind = Literal["leaves", "list"]
Style = Literal["formal", "plain"]


@dataclass(frozen=True)
class Rule:
    """If all of `tests` hold, then `prediction`.

    `support` is the weight of the training rows that meet it, `coverage` their share of all, `confidence` the share of
    them that is of the prediction's class, and `lift` how many times more frequent that class is here than everywhere.
    For a number, `mean` and `deviation` stand instead. `node` is the leaf the rule comes from; None for a default.
    `covered` has the interval or classes that cover new rows in a calibrated tree, `model` a linear model; in words.
    """

    target: str
    tests: tuple[Condition, ...]
    prediction: Level
    support: float
    rows: int
    coverage: float
    confidence: float | None = None
    lift: float | None = None
    mean: float | None = None
    deviation: float | None = None
    node: int | None = None
    weighted: bool = False
    covered: str = ""
    model: str = ""

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions in words."""
        return tuple(test.words() for test in self.tests)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(test.column for test in self.tests)

    def text(self, style: Style = "formal", most: int | None = None) -> str:
        """Return the rule as a sentence; "plain" is for those who follow it, `most` cuts long lists of levels."""
        return rule_text(self, style, most)

    def __str__(self) -> str:
        return self.text()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as for JSON."""
        figures = ("support", "rows", "coverage", "confidence", "lift", "mean", "deviation", "node", "covered", "model")
        return {
            "if": list(self.conditions),
            "then": self.prediction,
            **{name: getattr(self, name) for name in figures},
            "text": self.text(),
            "plain": self.text("plain"),
        }


class Evaluation(NamedTuple):
    """How well rules and the tree they come from predict some rows."""

    measure: str
    rules: float
    tree: float


@dataclass(frozen=True, eq=False)
class Rules(Results, Sequence[Rule]):
    """The rules of a tree. `default` predicts where no rule of a list applies; None for leaf rules.

    `accuracy` and `tree_accuracy` are on the training rows (None for a number). `part`: these are some of the rules
    only, so that they cannot predict every row. `missing_met`: a list was made from rows of which some lack a value.
    """

    tree: Tree
    kind: Kind
    rules: tuple[Rule, ...]
    default: Rule | None = None
    accuracy: float | None = None
    tree_accuracy: float | None = None
    part: bool = False
    missing_met: bool = False

    # --- a sequence ---

    def __len__(self) -> int:
        return len(self.rules)

    @overload
    def __getitem__(self, place: int) -> Rule: ...

    @overload
    def __getitem__(self, place: slice) -> Rules: ...

    def __getitem__(self, place: int | slice) -> Rule | Rules:
        return self._some(self.rules[place]) if isinstance(place, slice) else self.rules[place]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    # --- choosing and ordering ---

    @property
    def n_conditions(self) -> int:
        """How many conditions one has to read, in all rules together."""
        return sum(len(rule.tests) for rule in self.rules)

    def for_class(self, label: Level) -> Rules:
        """Return the rules that give this prediction."""
        classes = self.tree.schema.target.classes
        if classes is not None and label not in classes:
            raise DataError(f"{label!r} is no class of the target {self.tree.schema.target.name!r}: {list(classes)}")
        return self._some(tuple(rule for rule in self.rules if rule.prediction == label))

    def with_column(self, column: str) -> Rules:
        """Return the rules with a condition on this column."""
        if column not in self.tree.schema.names:
            raise DataError(f"{column!r} is no column of the tree; it has {list(self.tree.schema.names)}")
        return self._some(tuple(rule for rule in self.rules if column in rule.columns))

    def where(self, holds: Callable[[Rule], bool]) -> Rules:
        """Return the rules for which a function returns True."""
        return self._some(tuple(rule for rule in self.rules if holds(rule)))

    def sorted(
        self, by: Literal["support", "confidence", "lift", "prediction", "deviation", "node"] = "support"
    ) -> Rules:
        """Sort the rules: largest first, or "node" for the tree's order. A rule list has a fixed order."""
        if self.kind == "list":
            raise DataError("the order of a rule list decides what it predicts; sort rules of kind='leaves'")
        sign = 1.0 if by == "node" else -1.0

        def key(rule: Rule) -> tuple[float, int]:
            value = getattr(rule, by)
            if isinstance(value, str):
                value = -(self.tree.schema.target.classes or ()).index(value)
            return sign * (0.0 if value is None else float(value)), rule.node or 0

        return replace(self, rules=tuple(sorted(self.rules, key=key)))

    def _some(self, rules: tuple[Rule, ...]) -> Rules:
        return replace(self, rules=rules, part=self.part or len(rules) < len(self.rules))

    # --- predicting ---

    def predict(self, data: object, *, n_threads: int = 0) -> Array:
        """Predict each row. Leaf rules follow the tree, missing values included; a list goes from the top."""
        found = self._predictions(encoded(self.tree, data), n_threads)
        return found if self.tree.schema.target.classes is None else named(self.tree, found)

    def evaluate(
        self, data: object, target: object = None, weight: object = None, *, measure: str | None = None
    ) -> Evaluation:
        """Return how well rules and tree predict rows whose target is known, such as rows held out."""
        name, rows = chosen_measure(measure, self.tree.schema.target), encode_labelled(self.tree, data, target, weight)
        if rows is None:
            raise DataError("evaluate needs a table with the tree's columns and its target; give it as data=")
        return self._compared(rows, name)

    def _compared(self, rows: Encoded, measure: str) -> Evaluation:
        both = (self._predictions(rows, 0), predicted_codes(self.tree, rows, 0))
        return Evaluation(measure, *(measured(measure, self.tree.schema.target, rows, codes) for codes in both))

    def _predictions(self, rows: Encoded, n_threads: int) -> Array:
        if self.part:
            raise DataError("these are some of the rules only and cannot predict every row; use all of them")
        if self.default is None:
            return predicted_codes(self.tree, rows, n_threads)
        survey(rows, self.tree.schema, n_threads)  # infinite numbers are an error here as for the tree
        classes = self.tree.schema.target.classes or ()
        places = np.array([classes.index(rule.prediction) for rule in (*self.rules, self.default)])
        found: Array = places[first_match([rule.tests for rule in self.rules], rows)]
        return found

    # --- being shown ---

    def text(self, style: Style = "formal", *, most: int | None = 6, max_rules: int = 50) -> str:
        """Return one line per rule, `max_rules` at most; `most` cuts long lists of levels."""
        return listing(self, style, most, max_rules)

    def __repr__(self) -> str:
        where = "in a list" if self.kind == "list" else "of leaves"
        return f"<Rules: {len(self)} {where}, {self.n_conditions} conditions>"

    def markdown(self, style: Style = "formal") -> str:
        """Return a table for a document."""
        return markdown_table(self, style)

    def html(self, style: Style = "formal") -> str:
        """Return a table for a page: a fragment, everything in it escaped."""
        return page_fragment(rules_grid(self, style).html())

    def grid(self) -> Grid:
        """Return the table as it is read."""
        return rules_grid(self, "formal")

    def _columns(self) -> dict[str, list[Any]]:
        rules = (*self.rules, *([self.default] if self.default is not None and not self.part else []))
        figures = ("support", "rows", "coverage", "confidence", "lift", "mean", "deviation", "node")
        return {
            "if": [" and ".join(rule.conditions) for rule in rules],
            "prediction": [rule.prediction for rule in rules],
            **{name: [getattr(rule, name) for rule in rules] for name in figures},
        }

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as for JSON."""
        return {
            "kind": self.kind,
            "target": self.tree.schema.target.name,
            "accuracy": self.accuracy,
            "tree_accuracy": self.tree_accuracy,
            "rules": [rule.as_dict() for rule in self.rules],
            "default": None if self.default is None else self.default.as_dict(),
        }


# --- making them ------------------------------------------------------------------------------------------------------


@finite_arithmetic()
def rules(
    tree: TreeLike,
    data: object = None,
    *,
    kind: Kind = "leaves",
    target: object = None,
    weight: object = None,
    confidence: float = 0.25,
) -> Rules:
    """Return the rules of a tree.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    data : table, optional
        The training rows: required for `kind="list"`; for leaf rules only to measure their accuracy.
    kind : {"leaves", "list"}, default="leaves"
        "leaves": one rule per leaf that has rows, heaviest first. "list": a shorter, ordered list in the manner of
        C4.5rules, for classes.
    target : str or array, optional
        The target of the rows, where it is not the column of `data` with the name it had in training.
    weight : str or array, optional
        The weights of the rows.
    confidence : float, default=0.25
        The confidence of the error estimates of a list; less is more pessimistic, most of all for small rules.

    Returns
    -------
    Rules
        The rules in order; prints as text.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"age": [20, 31, 35, 44, 61, 70], "pays": ["no", "no", "yes", "yes", "no", "no"]}
    >>> print(tw.rules(tw.learn(table, "pays", tw.SKLEARN)).for_class("yes")[0])
    if 33 < age <= 52.5 then pays = yes  (2 rows, 100 %)
    """
    tree = as_tree(tree)
    if kind not in ("leaves", "list"):
        raise DataError(f"kind must be 'leaves' or 'list', not {kind!r}")
    if kind == "list":
        _refuse_list(tree, data, confidence)
    rows = encode_labelled(tree, data, target, weight)
    return _leaf_rules(tree, rows) if kind == "leaves" else _listed_rules(tree, rows, confidence)


def _refuse_list(tree: Tree, data: object, confidence: float) -> None:
    target = tree.schema.target
    if target.classes is None:
        raise DataError(f"a rule list predicts classes, but {target.name!r} is a number; use kind='leaves'")
    if data is None:
        raise DataError("a rule list is made from the rows the tree was learned from; give them as data=")
    check_confidence(confidence)


def _leaf_rules(tree: Tree, rows: Encoded | None) -> Rules:
    made = [_leaf_rule(leaf, tests) for leaf, tests in merged_paths(tree) if leaf.weight > 0]
    heaviest = tuple(sorted(made, key=lambda rule: (-rule.support, rule.node)))
    target = tree.schema.target
    if target.classes is None:
        accuracy = None
    elif rows is None:
        accuracy = _right(tree)
    else:
        accuracy = measured("accuracy", target, rows, predicted_codes(tree, rows, 0))
    return Rules(tree, "leaves", heaviest, accuracy=accuracy, tree_accuracy=accuracy)


def rules_inside(tree: Tree) -> list[Rule]:
    """Return the rule of every node with a question, as if the tree ended there."""
    return [_leaf_rule(node, tests) for node, tests in node_paths(tree) if not node.is_leaf and node.weight > 0]


def _leaf_rule(leaf: Node, tests: tuple[Condition, ...]) -> Rule:
    root = leaf.tree.root
    rule = Rule(
        target=leaf.tree.schema.target.name,
        tests=tests,
        prediction=leaf.prediction,
        support=leaf.weight,
        rows=leaf.rows,
        coverage=_share(leaf.weight, root.weight),
        mean=leaf.mean,
        deviation=leaf.deviation,
        node=leaf.id,
        weighted=not same(root.weight, root.rows),
        covered=calibrated_range(leaf),
        model=leaf_text(leaf) or "",
    )
    if leaf.counts is None or root.counts is None:
        return rule
    place = (leaf.tree.schema.target.classes or ()).index(leaf.prediction)
    return _certain(rule, _share(leaf.counts[place], leaf.weight), _share(root.counts[place], root.weight))


def _share(part: float, whole: float) -> float:
    """Of a tree whose source gave no weights, nothing."""
    return part / whole if whole > 0 else 0.0


def _certain(rule: Rule, confidence: float, base_rate: float) -> Rule:
    return replace(rule, confidence=confidence, lift=confidence / base_rate if base_rate > 0 else None)


def _right(tree: Tree) -> float:
    """Return the share of training weight that leaves (and nodes that keep rows) predict correctly."""
    own = node_classes(tree)
    leaf = tree.arrays["stop"] != 0
    counts = np.where(leaf[:, np.newaxis], tree.arrays["stats"], staying(tree))
    return _share(float(counts[np.arange(tree.n_nodes), own].sum()), float(tree.arrays["weight"][0]))


def _listed_rules(tree: Tree, rows: Encoded | None, confidence: float) -> Rules:
    assert rows is not None
    found = rule_list(tree, rows, confidence)
    made, default = _measured_rules(tree, rows, found)
    listed = Rules(tree, "list", made, default, missing_met=any(columns_with_missing(rows)))
    compared = listed._compared(rows, "accuracy")
    return replace(listed, accuracy=compared.rules, tree_accuracy=compared.tree)


def _measured_rules(tree: Tree, rows: Encoded, found: RuleList) -> tuple[tuple[Rule, ...], Rule]:
    """Measure each rule on all rows that meet it, and the default on the rest."""
    assert rows.target is not None
    target, weight = rows.target, real_weight(rows, tree.schema)
    classes, whole = tree.schema.target.classes or (), float(weight.sum())
    rate = np.bincount(target, weights=weight, minlength=len(classes)) / whole

    def rule(tests: tuple[Condition, ...], prediction: int, met: Array, node: int | None) -> Rule:
        heavy, right = float(weight[met].sum()), float(weight[met][target[met] == prediction].sum())
        weighted = not same(whole, rows.n_rows)
        name = tree.schema.target.name
        made = Rule(name, tests, classes[prediction], heavy, len(met), heavy / whole, node=node, weighted=weighted)
        return _certain(made, right / heavy, float(rate[prediction])) if heavy > 0 else made

    rest = np.ones(rows.n_rows, dtype=np.bool_)
    for one in found.rules:
        rest[one.rows] = False
    made = tuple(rule(one.conditions, one.prediction, one.rows, one.node) for one in found.rules)
    return made, rule((), found.default, np.flatnonzero(rest), None)
