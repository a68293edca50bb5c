"""What is shown of one node when it is chosen, and what explains the whole tree: rules and importances.

Comes in: a tree, and rows where they are at hand. Goes out: plain values.
Always holds: worked arithmetic is HTML with every name escaped; all else is plain text. A tree of very many nodes tells
the arithmetic of its heaviest ones only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treewright.encode import Encoded
from treewright.report.structure import MOST_LEVELS, edge_text
from treewright.tree import Node, Split, Tree
from treewright.tree_words import name_text

#: A larger tree tells rivals, surrogates and arithmetic of so many questions only, those that most rows meet.
MOST_QUESTIONS = 2000


def details(tree: Tree) -> list[dict[str, Any]]:
    """One entry per node, with what it has: `worked`, `rivals`, `surrogates`; `condition` where one was cut short."""
    told: list[dict[str, Any]] = [{} for _ in range(tree.n_nodes)]
    for i in detailed(tree):
        told[i] = _detail(tree[i])
    for node in tree:
        if node.is_leaf or len(tree.schema.columns[_asked(node)].levels or ()) <= MOST_LEVELS:
            continue
        split = node.split
        assert split is not None
        for child, words in zip(node.children, split.words(with_missing=False), strict=True):
            told[child]["condition"] = words
    return told


def detailed(tree: Tree) -> list[int]:
    """The nodes whose questions are told in detail: all, or the heaviest."""
    inner = np.flatnonzero(tree.arrays["stop"] == 0)
    heaviest = np.argsort(-tree.arrays["weight"][inner], kind="stable")[:MOST_QUESTIONS]
    return sorted(inner[heaviest].tolist())


def _asked(node: Node) -> int:
    return int(node.tree.arrays["column"][node.tree.arrays["split_start"][node.id]])


def rule_table(tree: Tree) -> list[dict[str, Any]]:
    return []


def importances(tree: Tree, training: Encoded | None, unseen: Encoded | None) -> list[dict[str, Any]]:
    return []


def _detail(node: Node) -> dict[str, Any]:
    rivals = [_rival(split) for split in node.rivals]
    surrogates = [_rival(s) | {"agreement": s.agreement, "adjusted": s.adjusted} for s in node.surrogates]
    return {"rivals": rivals, "surrogates": surrogates}


def _rival(split: Split) -> dict[str, Any]:
    told: dict[str, Any] = {"words": _words(split), "score": split.score, "gain": split.gain}
    return told if split.p_adjusted is None else told | {"p": split.p_adjusted}


def _words(split: Split) -> str:
    """A split in one line: what leads to its first branch where it has two, else every branch."""
    words = split.words(most=MOST_LEVELS, with_missing=False)
    if len(words) == 2:
        return words[0]
    return f"{name_text(split.column)}: {' | '.join(edge_text(split, text) for text in words)}"
