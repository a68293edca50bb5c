"""Linear models of nodes in words, in full or as much as fits, and their range guards."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treewright.data.grid import cells
from treewright.data.number_text import amount, many, number_text
from treewright.render.text_width import fit_cells
from treewright.tree.models import LinearModel
from treewright.tree.text import model_parts, model_text, term_name
from treewright.tree.tree import Node, Tree

#: Longer models do not stand in the line of their leaf, and the list of models is as wide.
_MOST_CELLS = 100


def short_model_text(tree: Tree, model: LinearModel, fits: Callable[[str], bool]) -> str:
    """Return as many terms of a model as fit, with three digits; "…" stands for the others.

    >>> import treewright as tw
    >>> table = {"x": [1.0, 2.0, 3.0, 5.0] * 4, "z": [1.0, 4.0, 2.0, 2.0] * 4}
    >>> table["y"] = [2 + x - z / 3 for x, z in zip(table["x"], table["z"])]
    >>> tree = tw.learn(table, "y", tw.CART.with_(leaves="linear", max_depth=0, pruning=None), task="regression")
    >>> [short_model_text(tree, tree.root.model, lambda text: len(text) < n) for n in (10, 20)]
    ['2 + 1 x …', '2 + 1 x - 0.333 z']
    """
    signs = ["-" if term.coefficient < 0 else "+" for term in model.terms]
    parts = [
        f" {sign} {_three(abs(term.coefficient))} {fit_cells(term_name(tree.schema, term), 16)}"
        for sign, term in zip(signs, model.terms, strict=True)
    ]
    words = _three(model.intercept)
    for i, part in enumerate(parts):
        rest = " …" if i + 1 < len(parts) else ""
        if not fits(words + part + rest):
            return f"{words} …"
        words += part
    return words


def _three(x: float) -> str:
    text = number_text(float(f"{x:.3g}"))
    return text if text != "-0" else "0"


def guard_text(model: LinearModel) -> str:
    """Return the range that predictions are kept in; "" where there is none."""
    return "" if model.is_free else f"within {amount(model.low)} to {amount(model.high)}"


def leaf_text(node: Node) -> str | None:
    """Return the model by which a node predicts; None where it predicts a constant."""
    return None if node.model is None else model_text(node.tree.schema, node.model)


def has_long_models(tree: Tree) -> bool:
    """Return whether the model of a leaf is too long for a line of the tree."""
    return bool(tree.models) and any(cells(leaf_text(node) or "") > _MOST_CELLS for node in tree if node.is_leaf)


def model_lines(nodes: Sequence[Node], width: int | None, max_lines: int, most_levels: int) -> list[str]:
    """Return the models of nodes one below the other, each over as many lines as it needs; about `max_lines` in all.

    A term names at most so many levels.
    """
    wrapped = min(width or _MOST_CELLS, _MOST_CELLS)
    lines: list[str] = []
    for done, node in enumerate(nodes):
        if len(lines) >= max_lines:
            return [*lines, f"… {many(len(nodes) - done, 'model')} not shown; tree[{node.id}].model is the next"]
        lines += _wrapped(model_name(node) + ":", node, wrapped, most_levels)
    return lines


def model_name(node: Node) -> str:
    """Return what a line of the tree says instead of a long model."""
    return f"model {node.id}"


def _wrapped(head: str, node: Node, width: int, most_levels: int) -> list[str]:
    """Return a model over several lines, which break before the sign of a term."""
    assert node.model is not None  # nodes of such a tree all have one
    lines = [head]
    for part in model_parts(node.tree.schema, node.model, most_levels):
        if cells(lines[-1]) + 1 + cells(part) <= width:
            lines[-1] += " " + part
        else:
            lines.append(fit_cells("    " + part, width))
    return lines
