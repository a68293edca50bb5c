"""Trees by hand: edits as values, applied one by one or from a log. The public namespace is `treewright.edit`.

`edits` has the values, `apply` performs one; a log of edits is JSON lines and replays to the same tree, bit for bit.
"""

from treewright.editing.apply import apply
from treewright.editing.edits import Allow, Collapse, Edit, Forbid, Grow, Lock, Prune, SetPrediction, Split, Unlock
from treewright.editing.log import read_log, write_log
from treewright.editing.replay import replay
from treewright.editing.script import script

__all__ = [
    "Allow", "Collapse", "Edit", "Forbid", "Grow", "Lock", "Prune", "SetPrediction", "Split", "Unlock", "apply",
    "read_log", "replay", "script", "write_log",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__
