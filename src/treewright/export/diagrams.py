"""The tree as a diagram in a language for diagrams: DOT for Graphviz, Mermaid for Markdown.

Comes in: a `Tree`. Goes out: text that these programs draw.
Always holds: whatever names and levels contain is shown, not obeyed. Diagrams are for people; an answer needs the whole
tree, so `max_depth` alone cuts, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from treewright.export.diagram_text import node_lines, way_texts
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.tree import Node, Tree


def dot(tree: TreeLike, *, max_depth: int | None = None) -> str:
    """The tree for Graphviz: `dot -Tsvg tree.dot`."""
    tree = as_tree(tree)
    lines = [
        "digraph tree {",
        '  node [shape=box, fontname="sans-serif", fontsize=11, margin="0.15,0.08"];',
        '  edge [fontname="sans-serif", fontsize=10];',
    ]
    for node, cut in _shown(tree, max_depth):
        label = "\\n".join(_dot_text(line) for line in [*node_lines(node), *(["…"] if cut else [])])
        style = ', style="rounded,filled", fillcolor="#eef3f8"' if node.is_leaf else ""
        lines.append(f'  n{node.id} [label="{label}"{style}];')
        if not cut and node.split is not None:
            ways = zip(node.children, way_texts(node.split), strict=True)
            lines += [f'  n{node.id} -> n{child} [label="{_dot_text(way)}"];' for child, way in ways]
    return "\n".join([*lines, "}", ""])


def mermaid(tree: TreeLike, *, max_depth: int | None = None) -> str:
    """The tree as a Mermaid flowchart, as Markdown on many sites draws it."""
    tree = as_tree(tree)
    lines = ["flowchart TD"]
    for node, cut in _shown(tree, max_depth):
        label = "<br/>".join(_mermaid_text(line) for line in [*node_lines(node), *(["…"] if cut else [])])
        lines.append(f'  n{node.id}(["{label}"])' if node.is_leaf else f'  n{node.id}["{label}"]')
        if not cut and node.split is not None:
            ways = zip(node.children, way_texts(node.split), strict=True)
            lines += [f'  n{node.id} -->|"{_mermaid_text(way)}"| n{child}' for child, way in ways]
    return "\n".join([*lines, ""])


def _shown(tree: Tree, max_depth: int | None) -> Iterator[tuple[Node, bool]]:
    """The nodes to draw, and whether what is below them is cut off."""
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
