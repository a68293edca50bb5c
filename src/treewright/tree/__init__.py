"""The Tree: a plain value that predicts, prints itself and is saved (validation, json_form, saved, text)."""

from treewright.tree.cuts import Cut
from treewright.tree.saved import load, save
from treewright.tree.split import Split
from treewright.tree.tree import Node, Tree

__all__ = ["Cut", "Node", "Split", "Tree", "load", "save"]
