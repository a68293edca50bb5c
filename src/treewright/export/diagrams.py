"""Diagrams: DOT for Graphviz, Mermaid for Markdown. Names and levels are escaped, whatever they contain."""

from __future__ import annotations

import re
from collections.abc import Iterator

from treewright.data.number_text import many, number_text, percent
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.condition_text import value_texts
from treewright.tree.split import Split
from treewright.tree.text import level_text, model_text, name_text
from treewright.tree.tree import Node, Tree

#: More levels than this on one edge are counted, not named.
_MOST_LEVELS = 8


def dot(tree: TreeLike, *, max_depth: int | None = None) -> str:
    """Return the tree as Graphviz source: `dot -Tsvg tree.dot` draws it.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    max_depth : int, optional
        Deepest level drawn; all by default.

    Returns
    -------
    str
        A graph in the DOT language.
    """
    tree = as_tree(tree)
    lines = [
        "digraph tree {",
        '  node [shape=box, fontname="sans-serif", fontsize=11, margin="0.15,0.08"];',
        '  edge [fontname="sans-serif", fontsize=10];',
    ]
    for node, cut in _shown(tree, max_depth):
        label = "\\n".join(_dot_text(line) for line in [*_node_lines(node), *(["…"] if cut else [])])
        style = ', style="rounded,filled", fillcolor="#eef3f8"' if node.is_leaf else ""
        lines.append(f'  n{node.id} [label="{label}"{style}];')
        if not cut and node.split is not None:
            ways = zip(node.children, _branch_texts(node.split), strict=True)
            lines += [f'  n{node.id} -> n{child} [label="{_dot_text(way)}"];' for child, way in ways]
    return "\n".join([*lines, "}", ""])


def mermaid(tree: TreeLike, *, max_depth: int | None = None) -> str:
    """Return the tree as a Mermaid flowchart, which many sites draw in Markdown.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    max_depth : int, optional
        Deepest level drawn; all by default.

    Returns
    -------
    str
        A flowchart.
    """
    tree = as_tree(tree)
    lines = ["flowchart TD"]
    for node, cut in _shown(tree, max_depth):
        label = "<br/>".join(_mermaid_text(line) for line in [*_node_lines(node), *(["…"] if cut else [])])
        lines.append(f'  n{node.id}(["{label}"])' if node.is_leaf else f'  n{node.id}["{label}"]')
        if not cut and node.split is not None:
            ways = zip(node.children, _branch_texts(node.split), strict=True)
            lines += [f'  n{node.id} -->|"{_mermaid_text(way)}"| n{child}' for child, way in ways]
    return "\n".join([*lines, ""])


def _node_lines(node: Node) -> list[str]:
    """Return the split column or the prediction, its share and the number of rows."""
    predicted = level_text(node.prediction) if node.model is None else model_text(node.tree.schema, node.model)
    first = f"{name_text(node.split.column)}?" if node.split is not None else predicted
    rows = many(node.rows, "row")
    if node.probabilities is None:
        mean = f"{number_text(float(node.prediction))}, " if node.split is not None else ""
        return [first, f"{mean}{rows}"]
    share = node.probabilities[(node.tree.schema.target.classes or ()).index(node.prediction)]
    prediction = f"{level_text(node.prediction)} " if node.split is not None else ""
    return [first, f"{prediction}{percent(share)} of {rows}"]


def _branch_texts(split: Split) -> list[str]:
    """Return the values that lead to each child."""
    texts = []
    for held in map(value_texts, split.branches):
        shown = (
            held if len(held) <= _MOST_LEVELS else [*held[: _MOST_LEVELS - 1], f"… {len(held) - _MOST_LEVELS + 1} more"]
        )
        texts.append((", " if split.spec.has_levels else " or ").join(shown))
    for what, child in (("missing", split.missing), ("others", split.unseen if split.spec.has_levels else None)):
        if isinstance(child, int):
            texts[child] = f"{texts[child]} or {what}" if texts[child] else what
    return [text or "nothing" for text in texts]


def _shown(tree: Tree, max_depth: int | None) -> Iterator[tuple[Node, bool]]:
    """Yield the nodes to draw, and whether what is below them is cut off."""
    for node in tree.walk():
        if max_depth is None or node.depth <= max_depth:
            yield node, node.depth == max_depth and not node.is_leaf


def _dot_text(text: str) -> str:
    # Graphviz reads backslashes and HTML entities in labels.
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


def _mermaid_text(text: str) -> str:
    # Everything that Mermaid or the Markdown in it could read as a sign is written as the number of its character.
    return re.sub(r"[^\w\s,.%?!≤≥…'-]|^\s*[-+\d]+[.)]?(?=\s)|_|^-", lambda found: "".join(map(_entity, found[0])), text)


def _entity(character: str) -> str:
    return f"#{ord(character)};"
