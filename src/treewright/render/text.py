"""The tree as lines of text.

Comes in: a `Tree`. Goes out: a header and one line per node, drawn with ├─ └─ │.
Always holds: at most about `max_lines` lines, and what is left out is said; a line never breaks, whatever the names
and levels contain. Missing values are mentioned only where the tree met some while growing.
"""

from __future__ import annotations

import numpy as np

from treewright.choices import LearnedDirection, OwnCategory
from treewright.tree import Node, Split, Tree
from treewright.tree_words import level_text, name_text, number_text, printable

#: Longer lists of levels are cut: the tree is for reading, `Split.conditions` has them all.
_MOST_LEVELS = 6


def text(tree: Tree, max_depth: int | None = None, max_lines: int = 200) -> str:
    """The tree as text, to `max_depth`, or as deep as fits into `max_lines`."""
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be 0 or more, or None, not {max_depth}")
    if max_lines < 1:
        raise ValueError(f"max_lines must be at least 1, not {max_lines}")
    lines, drawn = _lines(tree, _depth_that_fits(tree, max_depth, max_lines), max_lines)
    lines += missing_remarks(tree)
    left_out = tree.n_nodes - 1 - drawn
    if left_out:
        lines.append(f"… {count_text(left_out, 'node')} not shown; text(tree, max_depth=…, max_lines=…) shows more")
    return "\n".join([_header(tree), *lines])


def missing_remarks(tree: Tree) -> list[str]:
    """What must be said where `met_missing` cannot tell."""
    if tree.root.is_leaf or not isinstance(tree.recipe.missing, (OwnCategory, LearnedDirection)):
        return []
    return ["where missing is not mentioned, a missing value goes to the largest branch"]


def _header(tree: Tree) -> str:
    root = tree.root
    weight = "" if same_size(root.weight, root.rows) else f" of weight {number_text(rounded(root.weight))}"
    return (
        f"{printable(tree.recipe.name)} tree for {name_text(tree.schema.target.name)}: "
        f"{count_text(root.rows, 'row')}{weight}, {count_text(tree.n_leaves, 'leaf')}, depth {tree.depth}"
    )


def _depth_that_fits(tree: Tree, max_depth: int | None, max_lines: int) -> int:
    """Whole levels are shown, so that no branch is told at length while another is not told at all."""
    limit = tree.depth if max_depth is None else min(max_depth, tree.depth)
    lines_to = np.cumsum(np.bincount(tree.arrays["depth"])) - 1  # the root has no line of its own
    fits = int(np.count_nonzero(lines_to <= max_lines)) - 1
    return min(limit, max(fits, 1))


def _lines(tree: Tree, max_depth: int, max_lines: int) -> tuple[list[str], int]:
    """The lines, and how many nodes they show; remarks on missing values do not count against `max_lines`."""
    if tree.root.is_leaf or max_depth == 0:
        return [f"└─ {'always' if tree.root.is_leaf else 'any row'}{_answer(tree.root)}"], 0
    lines: list[str] = []
    drawn = 0
    # A stack and not recursion: a tree may be deeper than Python's own limit. Each entry is a line still to come.
    stack = _entries(tree.root, "")
    while stack and drawn < max_lines:
        lead, bar, words, node = stack.pop()
        drawn += node is not None
        if node is None:
            lines.append(lead + words)
        elif node.is_leaf or node.depth == max_depth:
            lines.append(lead + words + _answer(node))
        else:
            lines.append(lead + words)
            stack += _entries(node, bar)
    return lines, drawn


#: A line to come: what stands before it, what stands before the lines below it, its words, its node (None: a remark).
Entry = tuple[str, str, str, Node | None]


def _entries(node: Node, bar: str) -> list[Entry]:
    """The lines directly below a node, last first."""
    split = node.split
    assert split is not None  # only nodes with children come here
    children = [node.tree[child] for child in node.children]
    met = met_missing(node, split, children)
    remark = _missing_remark(node, split) if met else None
    texts = split.words(most=_MOST_LEVELS, with_missing=met and remark is None)
    words: list[tuple[str, Node | None]] = list(zip(texts, children, strict=True))
    if remark is not None:
        words.append((remark, None))
    last = len(words) - 1
    entries = [
        (bar + ("└─ " if i == last else "├─ "), bar + ("   " if i == last else "│  "), line, child)
        for i, (line, child) in enumerate(words)
    ]
    return entries[::-1]


def _missing_remark(node: Node, split: Split) -> str | None:
    """A line of its own where a missing value does more than go to one child."""
    answers = {
        "spread": ": every branch, by share",
        "random": ": one branch, drawn by share",
        "stop": _answer(node, False),
    }
    instead = ", ".join(name_text(surrogate.column) for surrogate in node.surrogates)
    if isinstance(split.missing, str):
        last = answers[split.missing]
    elif instead:
        last = f": {split.words(most=_MOST_LEVELS, with_missing=False)[split.missing]}"
    else:
        return None
    start = f"{name_text(split.column)} is missing"
    return f"{start}: asks {instead}; else{last.removeprefix(':')}" if instead else start + last


def met_missing(node: Node, split: Split, children: list[Node]) -> bool:
    """Whether rows without an answer were seen here while growing, as far as the tree can tell.

    Rows were then left behind or doubled, or the children's weights are not the shares of the known rows. Policies that
    score missing rows with the rest leave no such trace; for them only a child that is not the heaviest is remarkable,
    because without missing rows they choose that one (a last line of the text says so).
    """
    if sum(child.rows for child in children) != node.rows:
        return True
    weights = [child.weight for child in children]
    if isinstance(node.tree.recipe.missing, (OwnCategory, LearnedDirection)):
        return split.missing != weights.index(max(weights))
    total = sum(weights)
    return total > 0 and any(abs(w / total - share) > 1e-6 for w, share in zip(weights, split.share, strict=True))


def _answer(node: Node, count_below: bool = True) -> str:
    below = f", {count_text(_size(node) - 1, 'node')} below" if count_below and not node.is_leaf else ""
    prediction, counts = node.prediction, node.counts
    shown = name_text(prediction) if isinstance(prediction, str) else level_text(prediction)
    return f": {shown}  ({_size_text(node)}{_certainty(node, counts)}{below})"


def _certainty(node: Node, counts: tuple[float, ...] | None) -> str:
    """How far the rows here agree with the answer: the class's share, or the standard deviation."""
    if counts is None:
        return f", ± {number_text(rounded(node.deviation or 0.0))}" if node.rows > 1 else ""
    total = sum(counts)
    own = counts[list(node.tree.schema.target.classes or ()).index(node.prediction)]
    return f", {percent_text(own / total)}" if total > 0 else ""


def _size_text(node: Node) -> str:
    root = node.tree.root
    return size_text(node.weight, node.rows, weighted=not same_size(root.weight, root.rows))


def size_text(weight: float, rows: int, weighted: bool) -> str:
    """Rows, in fractions where rows were spread; or weight, where rows came with weights."""
    if weighted:
        return f"weight {number_text(rounded(weight))}"
    return count_text(rows, "row") if same_size(weight, rows) else f"{number_text(rounded(weight))} rows"


def _size(node: Node) -> int:
    """Nodes in the subtree: in depth-first order they follow until one is not deeper."""
    depth = node.tree.arrays["depth"][node.id + 1 :]
    ends = np.flatnonzero(depth <= node.depth)
    return 1 + (int(ends[0]) if len(ends) else len(depth))


def percent_text(share: float) -> str:
    """A share in whole percent; what is not all is never called 100 %."""
    whole = round(100 * share)
    return ">99 %" if whole == 100 and share < 1 - 1e-12 else f"{whole} %"


def rounded(x: float) -> float:
    """Four digits, or one decimal of large numbers."""
    return float(f"{x:.4g}") if abs(x) < 1000 else round(x, 1)


def same_size(weight: float, rows: int) -> bool:
    """Whether so many rows weigh one each."""
    return abs(weight - rows) <= 1e-9 * max(1.0, float(rows))


def count_text(count: int, what: str) -> str:
    """A number of things: "1 leaf", "1,200 rows"."""
    plural = {"leaf": "leaves"}.get(what, f"{what}s")
    return f"{count:,} {what if count == 1 else plural}"
