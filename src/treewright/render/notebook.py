"""The tree in a notebook: a picture of moderate size and a line of facts.

Everything that comes from names and levels is escaped; no script.
"""

from __future__ import annotations

import html

import numpy as np

from treewright.data.number_text import many
from treewright.render.picture.picture import picture
from treewright.render.svg_writer import write
from treewright.tree.text import name_text
from treewright.tree.tree import Tree

_MOST_NODES = 60
_WIDEST = 1100.0
_MOST_NAMES = 8


def notebook(tree: Tree) -> str:
    """Return what a notebook shows for a tree; a wide picture can be scrolled and has the root where that starts."""
    drawn = picture(tree, _MOST_NODES)
    if drawn.width > _WIDEST:
        drawn = picture(tree, _MOST_NODES, direction="right")
    return (
        f'<div style="overflow-x:auto;max-width:100%">{write(drawn)}</div>'
        f'<p style="margin:0.3em 0">{html.escape(_facts(tree))}</p>'
    )


def _facts(tree: Tree) -> str:
    """Return which columns the tree splits on, the most frequent first."""
    first_splits = tree.arrays["split_start"][:-1][tree.arrays["stop"] == 0]
    used = np.bincount(tree.arrays["column"][first_splits], minlength=len(tree.schema.columns))
    order = [int(i) for i in np.argsort(-used, kind="stable") if used[i]]
    columns = many(len(tree.schema.columns), "column")
    if not order:
        return f"splits on none of {columns}"
    names = ", ".join(name_text(tree.schema.columns[i].name) for i in order[:_MOST_NAMES])
    more = f", … {len(order) - _MOST_NAMES} more" if len(order) > _MOST_NAMES else ""
    return f"splits on {len(order)} of {columns}: {names}{more}"
