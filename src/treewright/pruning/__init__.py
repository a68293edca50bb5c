"""Pruning: a grown tree becomes a smaller one. This namespace offers the methods; `treewright.prune` applies one.

One file per family of methods; which function serves which pruner is in the table of `prune.py`.
"""

from treewright.recipes.pruners import *  # noqa: F403
from treewright.recipes.pruners import __all__ as __all__
from treewright.recipes.pruners import __dir__ as __dir__
