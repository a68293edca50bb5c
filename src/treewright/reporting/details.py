"""What is shown of one node when it is chosen, and what explains the whole tree: rules and importances.

Comes in: a tree, and rows where they are at hand. Goes out: plain values.
Always holds: worked arithmetic is HTML with every name escaped; all else is plain text. A tree of very many nodes tells
the arithmetic of its heaviest ones only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.data.encoding import Encoded
from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.importance import Importance, importance
from treewright.inspection.rules.rules import Rule, rules, rules_inside
from treewright.render.node_text import MOST_LEVELS, branch_words
from treewright.reporting.structure import edge_text
from treewright.tree.text import level_text, name_text
from treewright.tree.tree import Node, Split, Tree

#: A larger tree tells rivals, surrogates and arithmetic of so many nodes only, those that most rows meet.
MOST_NODES = 1000
#: Rules are left out where their paths have more steps than this together.
_MOST_CONDITIONS = 500_000
#: Shuffling is left out where it would route more rows than this.
_MOST_SHUFFLED = 5_000_000
_SHUFFLES = 10


def details(tree: Tree) -> list[dict[str, Any]]:
    """One entry per node, with what it has: `explain_node`, `rivals`, `surrogates`; `condition` where one was cut
    short."""
    told: list[dict[str, Any]] = [{} for _ in range(tree.n_nodes)]
    heaviest = np.argsort(-tree.arrays["weight"], kind="stable")[:MOST_NODES]
    for i in sorted(heaviest.tolist()):
        told[i] = _detail(tree[i])
    for node in tree:
        if node.is_leaf or len(tree.schema.columns[_asked(node)].levels or ()) <= MOST_LEVELS:
            continue
        for child, words in zip(node.children, branch_words(node), strict=True):
            told[child]["condition"] = words
    return told


def rule_table(tree: Tree) -> list[dict[str, Any]] | None:
    """One rule per leaf; None for a tree so deep that nobody could read them."""
    steps = tree.arrays["depth"][tree.arrays["stop"] != 0].sum()
    return None if steps > _MOST_CONDITIONS else [_rule(rule) for rule in rules(tree)]


def inner_rules(tree: Tree) -> list[dict[str, Any]] | None:
    """The rule that each node with a question would be as a leaf: the rules of pruned trees are among these."""
    steps = tree.arrays["depth"].sum()
    return None if steps > _MOST_CONDITIONS else [_rule(rule) for rule in rules_inside(tree)]


def importances(tree: Tree, data: object, rows: Encoded | None) -> list[dict[str, Any]]:
    """Which columns matter: to the tree, with its surrogates, and to its answers for the rows at hand."""
    if tree.root.is_leaf:
        return []
    told = [_importance(importance(tree), "By impurity", "share of the impurity that a column's splits take away")]
    if tree.arrays["n_surrogates"].any():
        about = "share of the gain; a surrogate counts as far as it agrees"
        told.append(_importance(importance(tree, kind="surrogate"), "With surrogates", about))
    if rows is not None and rows.n_rows * len(tree.schema.columns) * _SHUFFLES <= _MOST_SHUFFLED:
        shuffled = importance(tree, data, kind="permutation", n_repeats=_SHUFFLES)
        about = f"how much worse {shuffled.measure} gets without a column's order; the line spans 90\u00a0% of shuffles"
        told.append(_importance(shuffled, "By shuffling", about))
    return told


def _asked(node: Node) -> int:
    return int(node.tree.arrays["column"][node.tree.arrays["split_start"][node.id]])


def _detail(node: Node) -> dict[str, Any]:
    told: dict[str, Any] = {"worked": explain_node(node.tree, node.id).html()}
    if not node.is_leaf:
        told["rivals"] = [_rival(split) for split in node.rivals]
        told["surrogates"] = [
            {"words": _words(split), "agreement": split.agreement, "adjusted": split.adjusted}
            for split in node.surrogates
        ]
    return told


def _rule(rule: Rule) -> dict[str, Any]:
    figures = ("support", "coverage", "confidence", "lift", "deviation", "node")
    told = {"conditions": list(rule.conditions), "answer": level_text(rule.answer)}
    return told | {name: getattr(rule, name) for name in figures}


def _importance(found: Importance, title: str, about: str) -> dict[str, Any]:
    """Columns that do not matter at all are left out."""
    kept = [i for i, value in enumerate(found.values) if value != 0]
    told: dict[str, Any] = {"title": title, "about": about, "columns": [name_text(found.columns[i]) for i in kept]}
    for name in ("values", "low", "high"):
        numbers = getattr(found, name)
        told[name] = None if numbers is None else [numbers[i] for i in kept]
    return told


def _rival(split: Split) -> dict[str, Any]:
    told: dict[str, Any] = {"words": _words(split), "score": split.score, "gain": split.gain}
    return told if split.p_adjusted is None else told | {"p": split.p_adjusted}


def _words(split: Split) -> str:
    """A split in one line: what leads to its first branch where it has two, else every branch."""
    words = split.words(most=MOST_LEVELS, with_missing=False)
    if len(words) == 2:
        return words[0]
    return f"{name_text(split.column)}: {' | '.join(edge_text(split, text) for text in words)}"
