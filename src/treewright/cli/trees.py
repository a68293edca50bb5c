"""The tree a command works on.

Comes in: the name of a saved tree. Goes out: the `Tree`.
Always holds: a file that is no saved tree is told as such.
"""

from __future__ import annotations

import click

from treewright.data.sources.formats import not_there
from treewright.errors import FileError
from treewright.tree.saved import load
from treewright.tree.tree import Tree

tree_argument = click.argument("tree_file", metavar="TREE")


def read_tree(path: str) -> Tree:
    """The saved tree."""
    try:
        return load(path)
    except FileNotFoundError:
        raise FileError(str(not_there(path))) from None
    except FileError as error:
        raise FileError(f"{error}. Trees are saved with: treewright learn DATA --target COLUMN --save FILE") from error
