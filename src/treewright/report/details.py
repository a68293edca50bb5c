"""What is shown of one node when it is chosen, and what explains the whole tree: rules and importances.

Comes in: a tree, and rows where they are at hand. Goes out: plain values.
Always holds: worked arithmetic is HTML with every name escaped; all else is plain text. A tree of very many nodes tells
the arithmetic of its heaviest ones only.
"""

from __future__ import annotations

from typing import Any

from treewright.encode import Encoded
from treewright.report.structure import MOST_LEVELS, edge_text
from treewright.tree import Node, Split, Tree
from treewright.tree_words import name_text


def details(tree: Tree) -> list[dict[str, Any]]:
    """One entry per node, with what it has: `condition` in full, `worked`, `rivals`, ..."""
    told = [_detail(node) for node in tree]
    for node in tree:
        split = node.split
        for child, words in zip(node.children, () if split is None else split.words(), strict=True):
            told[child]["condition"] = words
    return told


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
