"""What a node and the way to it say in a diagram: short plain lines, nothing escaped yet.

Comes in: a node. Goes out: lines of text. Always holds: lines are printable; long lists of levels are cut short.
"""

from __future__ import annotations

from treewright.tree.text import level_text, name_text, number_text, prediction_text_of
from treewright.tree.tree import Node, Split

#: More levels than this on one way are counted, not named.
MOST_LEVELS = 8


def node_lines(node: Node) -> list[str]:
    """What the node asks or answers, how sure it is, and its rows."""
    first = f"{name_text(node.split.column)}?" if node.split is not None else level_text(node.prediction)
    rows = f"{node.rows} row{'' if node.rows == 1 else 's'}"
    if node.probabilities is None:
        mean = f"{number_text(float(node.prediction))}, " if node.split is not None else ""
        return [first, f"{mean}{rows}"]
    share = node.probabilities[(node.tree.schema.target.classes or ()).index(node.prediction)]
    answer = f"{level_text(node.prediction)} " if node.split is not None else ""
    return [first, f"{answer}{share:.0%} of {rows}"]


def way_texts(split: Split) -> list[str]:
    """One text per child: the answers that lead to it."""
    texts = []
    for held in prediction_text_of(split.spec, split.breaks, split.child_of_bin, split.test == "<=", split.n_children):
        shown = (
            held if len(held) <= MOST_LEVELS else [*held[: MOST_LEVELS - 1], f"… {len(held) - MOST_LEVELS + 1} more"]
        )
        texts.append((", " if split.spec.has_levels else " or ").join(shown))
    for what, child in (("missing", split.missing), ("others", split.unseen if split.spec.has_levels else None)):
        if isinstance(child, int):
            texts[child] = f"{texts[child]} or {what}" if texts[child] else what
    return [text or "nothing" for text in texts]
