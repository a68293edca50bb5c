"""What pruning took off a tree, in words.

The tree alone is read; a line names the place by the conditions that lead there.
"""

from __future__ import annotations

from treewright.render.node_text import branch_words
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.tree import Tree


def cuts(tree: TreeLike) -> str:
    """Return what pruning removed, one line per cut.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.

    Returns
    -------
    str
        The place of each cut, its split, the number of leaves removed and the reason.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"x": [1, 2, 3, 4, 5, 6], "y": ["a", "b", "a", "b", "b", "b"]}
    >>> tree = tw.learn(table, "y", tw.CART.with_(pruning=tw.pruning.MaxDepth(1)))
    >>> print(tw.render.cuts(tree))
    x <= 3.5: split on x <= 1.5; 2 leaves less: by hand: no path longer than 1
    """
    tree = as_tree(tree)
    lines = []
    for one in tree.cuts:
        leaves = f"{one.leaves} {'leaf' if one.leaves == 1 else 'leaves'} less"
        lines.append(f"{_path(tree, one.node)}: split on {one.question}; {leaves}: {one.reason}")
    return "\n".join(lines) or "nothing was cut"


def _path(tree: Tree, node_id: int) -> str:
    """Return the conditions from the root to a node."""
    words: list[str] = []
    node = tree[node_id]
    while node.parent is not None:
        above = tree[node.parent]
        assert above.split is not None
        words.append(branch_words(above, 4)[above.children.index(node.id)])
        node = above
    return " and ".join(reversed(words)) or "the root"
