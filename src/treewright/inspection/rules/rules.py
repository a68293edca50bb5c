"""Rules: a tree as sentences "if ... then ...".

Comes in: a tree; for a list, or to measure on rows, a table. Goes out: `Rules`, a sequence of `Rule` values.
Always holds: leaf rules (`kind="leaves"`) are the tree's leaves, one rule each, and together answer as the tree does. A
list (`kind="list"`) is made from its paths in the manner of C4.5rules: the first rule that applies answers, and its
accuracy stands beside the tree's. A rule's figures are those of the training rows that meet it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from treewright.data.encoding import Encoded
from treewright.data.schema import Level
from treewright.data.survey import survey
from treewright.errors import DataError
from treewright.inspection.rules.conditions import Condition, merged_paths, node_paths
from treewright.inspection.rules.rule_list import RuleList, columns_with_missing, first_match, rule_list
from treewright.inspection.rules.rule_text import listing, markdown_table, rule_text, web_table
from treewright.prediction.encode_rows import encode_labelled, encoded
from treewright.prediction.predict import answered, named
from treewright.prediction.scores import chosen_measure, measured
from treewright.pruning.bottom_up import labels, staying
from treewright.pruning.cross_validation import real_weight
from treewright.render.node_text import same
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.ordinary_numbers import ordinary_numbers
from treewright.tree.tree import Node, Tree

FloatArray = NDArray[np.float64]
Kind = Literal["leaves", "list"]
Style = Literal["formal", "plain"]


@dataclass(frozen=True)
class Rule:
    """If all of `tests` hold, then `answer`.

    `support` is the weight of the training rows that meet it, `coverage` their share of all, `confidence` the share of
    them that is of the answer's class, and `lift` how many times more frequent that class is here than everywhere. For
    a number, `mean` and `deviation` stand instead. `node` is the leaf the rule comes from; None for a default.
    """

    target: str
    tests: tuple[Condition, ...]
    answer: Level
    support: float
    rows: int
    coverage: float
    confidence: float | None = None
    lift: float | None = None
    mean: float | None = None
    deviation: float | None = None
    node: int | None = None
    weighted: bool = False

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions in words."""
        return tuple(test.words() for test in self.tests)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(test.column for test in self.tests)

    def text(self, style: Style = "formal", most: int | None = None) -> str:
        """The rule as a sentence; "plain" is for those who follow it, `most` cuts long lists of levels."""
        return rule_text(self, style, most)

    def __str__(self) -> str:
        return self.text()

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        figures = ("support", "rows", "coverage", "confidence", "lift", "mean", "deviation", "node")
        return {
            "if": list(self.conditions),
            "then": self.answer,
            **{name: getattr(self, name) for name in figures},
            "text": self.text(),
            "plain": self.text("plain"),
        }


class Evaluation(NamedTuple):
    """How well rules and the tree they come from answer some rows."""

    measure: str
    rules: float
    tree: float


@dataclass(frozen=True, eq=False)
class Rules(Sequence[Rule]):
    """The rules of a tree. `default` answers where no rule of a list applies; None for leaf rules.

    `accuracy` and `tree_accuracy` are on the training rows (None for a number). `part`: these are some of the rules
    only, so that they cannot answer every row. `missing_met`: a list was made from rows of which some lack a value.
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

    def for_class(self, answer: Level) -> Rules:
        """The rules that give this answer."""
        classes = self.tree.schema.target.classes
        if classes is not None and answer not in classes:
            raise DataError(f"{answer!r} is no class of the target {self.tree.schema.target.name!r}: {list(classes)}")
        return self._some(tuple(rule for rule in self.rules if rule.answer == answer))

    def with_column(self, column: str) -> Rules:
        """The rules that ask about this column."""
        if column not in self.tree.schema.names:
            raise DataError(f"{column!r} is no column of the tree; it has {list(self.tree.schema.names)}")
        return self._some(tuple(rule for rule in self.rules if column in rule.columns))

    def where(self, holds: Callable[[Rule], bool]) -> Rules:
        """The rules for which a function says yes."""
        return self._some(tuple(rule for rule in self.rules if holds(rule)))

    def sorted(self, by: Literal["support", "confidence", "lift", "answer", "deviation", "node"] = "support") -> Rules:
        """The same rules in another order: largest first, "node" in the tree's order. A list's order has a meaning and
        stays as it is."""
        if self.kind == "list":
            raise DataError("the order of a rule list decides what it answers; sort rules of kind='leaves'")
        sign = 1.0 if by == "node" else -1.0

        def key(rule: Rule) -> tuple[float, int]:
            value = getattr(rule, by)
            if isinstance(value, str):
                value = -(self.tree.schema.target.classes or ()).index(value)
            return sign * (0.0 if value is None else float(value)), rule.node or 0

        return replace(self, rules=tuple(sorted(self.rules, key=key)))

    def _some(self, rules: tuple[Rule, ...]) -> Rules:
        return replace(self, rules=rules, part=self.part or len(rules) < len(self.rules))

    # --- answering ---

    def predict(self, data: object, *, n_threads: int = 0) -> NDArray[Any]:
        """The answer for each row. Leaf rules follow the tree, missing values included; a list goes from the top."""
        found = self._answers(encoded(self.tree, data), n_threads)
        return found if self.tree.schema.target.classes is None else named(self.tree, found)

    def evaluate(
        self, data: object, target: object = None, weight: object = None, *, measure: str | None = None
    ) -> Evaluation:
        """How well rules and tree answer rows whose target is known, such as rows held out."""
        spec = self.tree.schema.target
        name, rows = chosen_measure(measure, spec), encode_labelled(self.tree, data, target, weight)
        if rows is None:
            raise DataError("evaluate needs a table with the tree's columns and its target; give it as data=")
        both = (measured(name, spec, rows, found) for found in (self._answers(rows, 0), answered(self.tree, rows, 0)))
        return Evaluation(name, *both)

    def _answers(self, rows: Encoded, n_threads: int) -> NDArray[Any]:
        if self.part:
            raise DataError("these are some of the rules only and cannot answer every row; ask all of them")
        if self.default is None:
            return answered(self.tree, rows, n_threads)
        survey(rows, self.tree.schema, n_threads)  # infinite numbers are an error here as for the tree
        classes = self.tree.schema.target.classes or ()
        places = np.array([classes.index(rule.answer) for rule in (*self.rules, self.default)])
        found: NDArray[Any] = places[first_match([rule.tests for rule in self.rules], rows)]
        return found

    # --- being shown ---

    def text(self, style: Style = "formal", *, most: int | None = 6, max_rules: int = 50) -> str:
        """One line per rule, `max_rules` at most; `most` cuts long lists of levels."""
        return listing(self, style, most, max_rules)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        where = "in a list" if self.kind == "list" else "of leaves"
        return f"<Rules: {len(self)} {where}, {self.n_conditions} conditions>"

    def markdown(self, style: Style = "formal") -> str:
        """A table for a document."""
        return markdown_table(self, style)

    def html(self, style: Style = "formal") -> str:
        """A table for a page: a fragment, everything in it escaped."""
        return web_table(self, style)

    def _repr_html_(self) -> str:
        return self.html()

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as for JSON."""
        return {
            "kind": self.kind,
            "target": self.tree.schema.target.name,
            "accuracy": self.accuracy,
            "tree_accuracy": self.tree_accuracy,
            "rules": [rule.as_dict() for rule in self.rules],
            "default": None if self.default is None else self.default.as_dict(),
        }


# --- making them ------------------------------------------------------------------------------------------------------


@ordinary_numbers()
def rules(
    tree: TreeLike,
    data: object = None,
    *,
    kind: Kind = "leaves",
    target: object = None,
    weight: object = None,
    confidence: float = 0.25,
) -> Rules:
    """The rules of a tree.

    `kind="leaves"`: one rule per leaf that has rows, heaviest first; `data` is not needed and only measures `accuracy`.
    `kind="list"`: a shorter, ordered list in the manner of C4.5rules, for classes; `data` is the table the tree was
    learned from, `target` and `weight` its columns (names or arrays) where they are not as in training. `confidence`
    says how errors are estimated: with less of it more pessimistically, most of all in small rules.

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
        raise DataError(f"a rule list answers with classes, but {target.name!r} is a number; use kind='leaves'")
    if data is None:
        raise DataError("a rule list is made from the rows the tree was learned from; give them as data=")
    if not 0 < confidence < 1:
        raise DataError(f"confidence must lie between 0 and 1, not {confidence!r}")


def _leaf_rules(tree: Tree, rows: Encoded | None) -> Rules:
    made = [_leaf_rule(leaf, tests) for leaf, tests in merged_paths(tree) if leaf.weight > 0]
    heaviest = tuple(sorted(made, key=lambda rule: (-rule.support, rule.node)))
    accuracy = None
    if tree.schema.target.classes is not None:
        known = rows is not None
        accuracy = measured("accuracy", tree.schema.target, rows, answered(tree, rows, 0)) if known else _right(tree)  # type: ignore[arg-type]
    return Rules(tree, "leaves", heaviest, accuracy=accuracy, tree_accuracy=accuracy)


def rules_inside(tree: Tree) -> list[Rule]:
    """The rule of every node with a question, as if the tree ended there."""
    return [_leaf_rule(node, tests) for node, tests in node_paths(tree) if not node.is_leaf and node.weight > 0]


def _leaf_rule(leaf: Node, tests: tuple[Condition, ...]) -> Rule:
    root = leaf.tree.root
    rule = Rule(
        target=leaf.tree.schema.target.name,
        tests=tests,
        answer=leaf.prediction,
        support=leaf.weight,
        rows=leaf.rows,
        coverage=_share(leaf.weight, root.weight),
        mean=leaf.mean,
        deviation=leaf.deviation,
        node=leaf.id,
        weighted=not same(root.weight, root.rows),
    )
    if leaf.counts is None or root.counts is None:
        return rule
    place = (leaf.tree.schema.target.classes or ()).index(leaf.prediction)
    return _certain(rule, _share(leaf.counts[place], leaf.weight), _share(root.counts[place], root.weight))


def _share(part: float, whole: float) -> float:
    """Of a tree whose source told no weights, nothing."""
    return part / whole if whole > 0 else 0.0


def _certain(rule: Rule, confidence: float, base_rate: float) -> Rule:
    return replace(rule, confidence=confidence, lift=confidence / base_rate if base_rate > 0 else None)


def _right(tree: Tree) -> float:
    """The share of training weight where leaves (and nodes that keep rows) answer rightly, as the tree counts it."""
    own = labels(tree)
    leaf = tree.arrays["stop"] != 0
    counts = np.where(leaf[:, np.newaxis], tree.arrays["stats"], staying(tree))
    return _share(float(counts[np.arange(tree.n_nodes), own].sum()), float(tree.arrays["weight"][0]))


def _listed_rules(tree: Tree, rows: Encoded | None, confidence: float) -> Rules:
    assert rows is not None
    found = rule_list(tree, rows, confidence)
    made, default = _measured_rules(tree, rows, found)
    listed = Rules(tree, "list", made, default, missing_met=any(columns_with_missing(rows)))
    spec = tree.schema.target
    accuracy, tree_accuracy = (
        measured("accuracy", spec, rows, answers) for answers in (listed._answers(rows, 0), answered(tree, rows, 0))
    )
    return replace(listed, accuracy=accuracy, tree_accuracy=tree_accuracy)


def _measured_rules(tree: Tree, rows: Encoded, found: RuleList) -> tuple[tuple[Rule, ...], Rule]:
    """The rules with the figures of the rows that meet each, whatever comes before; the default's are of the rest."""
    assert rows.target is not None
    target, weight = rows.target, real_weight(rows, tree.schema)
    classes, whole = tree.schema.target.classes or (), float(weight.sum())
    rate = np.bincount(target, weights=weight, minlength=len(classes)) / whole

    def rule(tests: tuple[Condition, ...], answer: int, met: NDArray[Any], node: int | None) -> Rule:
        heavy, right = float(weight[met].sum()), float(weight[met][target[met] == answer].sum())
        weighted = not same(whole, rows.n_rows)
        name = tree.schema.target.name
        made = Rule(name, tests, classes[answer], heavy, len(met), heavy / whole, node=node, weighted=weighted)
        return _certain(made, right / heavy, float(rate[answer])) if heavy > 0 else made

    rest = np.ones(rows.n_rows, dtype=np.bool_)
    for one in found.rules:
        rest[one.rows] = False
    made = tuple(rule(one.conditions, one.answer, one.rows, one.node) for one in found.rules)
    return made, rule((), found.default, np.flatnonzero(rest), None)
