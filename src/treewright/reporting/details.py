"""What the page shows of one node, and what explains the whole tree: rules and importances.

Derivations are HTML with every name escaped; all else is plain text.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from treewright.data.encoding import Encoded
from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.derivation.node_rows import entries_of, reaching
from treewright.inspection.histograms import histograms_of
from treewright.inspection.importance import Importance, importance
from treewright.inspection.rules.rules import Rule, rules, rules_inside
from treewright.render.node_text import MOST_LEVELS, branch_words
from treewright.render.picture.histogram import Histogram
from treewright.tree.split import Split
from treewright.tree.text import break_text, level_text, name_text
from treewright.tree.tree import Node, Tree

#: A larger tree has derivations, rivals, surrogates and histograms of so many nodes only, the heaviest.
MOST_NODES = 1000
#: Histograms are made of the heaviest nodes until they have so many numbers.
_MOST_BARS = 300_000
_BARS = 24
#: Rules are left out where their paths have more steps than this together.
_MOST_CONDITIONS = 500_000
#: Derivations are counted anew from the rows as long as no more rows than this are routed for them.
_MOST_COUNTED = 10_000_000
#: Permutation importance is left out where it would route more rows than this.
_MOST_SHUFFLED = 5_000_000
_SHUFFLES = 10


def details(tree: Tree, rows: Encoded | None) -> list[dict[str, Any]]:
    """Return one entry per node: `derivation`, `rivals`, `surrogates`, and the whole `condition` of one cut short."""
    found: list[dict[str, Any]] = [{} for _ in range(tree.n_nodes)]
    entries = None if rows is None else entries_of(tree, rows)
    left = _MOST_COUNTED
    for i in _heaviest(tree):
        explained = explain_node(tree, i)
        if not explained.complete and entries is not None and left > 0:
            left -= entries.n_rows
            counted = explain_node(tree, i, reaching(tree, entries, i))
            explained = counted if counted.complete else explained
        found[i] = _detail(tree[i], explained.html())
    for node in tree:
        if node.split is None or len(node.split.spec.levels or ()) <= MOST_LEVELS:
            continue
        for child, words in zip(node.children, branch_words(node), strict=True):
            found[child]["condition"] = words
    return found


def node_histograms(tree: Tree, rows: Encoded | None) -> list[dict[str, Any] | None] | None:
    """Return the histograms of the heaviest nodes, None for others; None without rows."""
    if rows is None:
        return None
    each = _BARS * max(1, rows.n_classes)
    chosen = set(_heaviest(tree)[: max(1, _MOST_BARS // each)])
    drawn = histograms_of(tree, rows, bars=_BARS, only=chosen)
    found: list[dict[str, Any] | None] = [None] * tree.n_nodes
    for i, histogram in drawn.items():
        found[i] = asdict(histogram) | {"cut_texts": _cut_texts(tree[i], histogram)}
    return found


def rule_table(tree: Tree) -> list[dict[str, Any]] | None:
    """Return one rule per leaf; None for a tree too deep for readable rules."""
    steps = tree.arrays["depth"][tree.arrays["stop"] != 0].sum()
    return None if steps > _MOST_CONDITIONS else [_rule(rule) for rule in rules(tree)]


def inner_rules(tree: Tree) -> list[dict[str, Any]] | None:
    """Return the rule that each inner node would be as a leaf: the rules of pruned trees are among these."""
    steps = tree.arrays["depth"].sum()
    return None if steps > _MOST_CONDITIONS else [_rule(rule) for rule in rules_inside(tree)]


def importances(tree: Tree, data: object, rows: Encoded | None) -> list[dict[str, Any]]:
    """Return the importances: by impurity, with surrogates, and by permutation of the rows given."""
    if tree.root.is_leaf:
        return []
    found = [_importance(importance(tree), "By impurity", "share of the impurity decrease of a column's splits")]
    if tree.arrays["n_surrogates"].any():
        about = "share of the gain; a surrogate split counts by its agreement"
        found.append(_importance(importance(tree, kind="surrogate"), "With surrogates", about))
    if rows is not None and rows.n_rows * len(tree.schema.columns) * _SHUFFLES <= _MOST_SHUFFLED:
        shuffled = importance(tree, data, kind="permutation", n_repeats=_SHUFFLES)
        change = "rise of" if shuffled.measure == "cost" else "drop in"
        about = f"{change} {shuffled.measure} when the column is shuffled; the line spans 90\u00a0% of shuffles"
        found.append(_importance(shuffled, "By permutation", about))
    return found


def _heaviest(tree: Tree) -> list[int]:
    found: list[int] = np.argsort(-tree.arrays["weight"], kind="stable")[:MOST_NODES].tolist()
    return found


def _cut_texts(node: Node, histogram: Histogram) -> list[str]:
    """Return the breaks of a numeric split as they stand in conditions."""
    split = node.split
    if split is None or split.spec.has_levels:
        return []
    return [break_text(split.spec, cut, split.test == "<=") for cut in histogram.cuts]


def _detail(node: Node, derivation: str) -> dict[str, Any]:
    found: dict[str, Any] = {"derivation": derivation}
    if not node.is_leaf:
        found["rivals"] = [_rival(split) for split in node.rivals]
        found["surrogates"] = [
            {"condition": _condition(split), "agreement": split.agreement, "adjusted": split.adjusted}
            for split in node.surrogates
        ]
    return found


def _rule(rule: Rule) -> dict[str, Any]:
    figures = ("support", "coverage", "confidence", "lift", "deviation", "node", "covered")
    texts = {"conditions": list(rule.conditions), "prediction": rule.model or level_text(rule.prediction)}
    found = texts | {name: getattr(rule, name) for name in figures}
    return found | {"deviation": None} if rule.model else found  # the deviation of the targets is not that of the model


def _importance(found: Importance, title: str, about: str) -> dict[str, Any]:
    """Return the columns that matter at all."""
    kept = [i for i, value in enumerate(found.values) if value != 0]
    shown: dict[str, Any] = {"title": title, "about": about, "columns": [name_text(found.columns[i]) for i in kept]}
    for name in ("values", "low", "high"):
        numbers = getattr(found, name)
        shown[name] = None if numbers is None else [numbers[i] for i in kept]
    return shown


def _rival(split: Split) -> dict[str, Any]:
    found: dict[str, Any] = {"condition": _condition(split), "score": split.score, "gain": split.gain}
    return found if split.p_adjusted is None else found | {"p": split.p_adjusted}


def _condition(split: Split) -> str:
    """Return a split in one line: the condition of its first child where it has two, else those of all."""
    if split.n_children == 2:
        return split.words(most=MOST_LEVELS, with_missing=False)[0]
    return f"{name_text(split.column)}: {' | '.join(split.words(most=MOST_LEVELS, with_missing=False, named=False))}"
