"""A log of edits as a Python script that makes the same tree.

Nothing of the log is code: all of it is written by repr.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from os import PathLike, fspath
from typing import Any

from treewright.editing.edits import Edit
from treewright.recipes.choice import Choice
from treewright.recipes.recipe import Recipe

_SCRIPT = '''"""Edit a tree by a log, and save it."""

import treewright as tw

LOG = [
{edits}]

tree = tw.edit.replay(tw.load({tree!r}), LOG, {rows})
tw.save(tree, {save!r})
print(tree)
'''


def script(
    log: Iterable[Edit],
    tree: str | PathLike[str],
    data: str | PathLike[str],
    save: str | PathLike[str],
    *,
    target: str | None = None,
    weight: str | None = None,
    holdout: float | None = None,
) -> str:
    """Return a Python script that replays a log.

    Parameters
    ----------
    log : iterable of Edit
        The edits, in order.
    tree : str or PathLike
        The file of the tree that the first edit was made to, as the script will find it.
    data : str or PathLike
        The file of the rows that the tree was learned from.
    save : str or PathLike
        The file that the script writes the edited tree to.
    target : str, optional
        The target column, if it is not named as in training.
    weight : str, optional
        The column of the weights.
    holdout : float, optional
        The share of the rows that were held out, as for `replay`.

    Returns
    -------
    str
        The script.

    Examples
    --------
    >>> import treewright as tw
    >>> print(tw.edit.script([tw.edit.Collapse(3)], "tree.json", "rows.csv", "edited.json").splitlines()[5])
        tw.edit.Collapse(3),
    """
    named = {"target": target, "weight": weight, "holdout": holdout}
    rows = ", ".join([repr(fspath(data)), *(f"{name}={given!r}" for name, given in named.items() if given is not None)])
    edits = "".join(f"    {_call(edit)},\n" for edit in log)
    return _SCRIPT.format(tree=fspath(tree), save=fspath(save), rows=rows, edits=edits)


def _call(edit: Edit) -> str:
    written = edit.as_dict()
    shown = [(one.name, getattr(edit, one.name)) for one in fields(edit) if one.name in written]
    parts = [
        _value(value, written[name]) if name == "node" else f"{name}={_value(value, written[name])}"
        for name, value in shown
    ]
    return f"tw.edit.{type(edit).__name__}({', '.join(parts)})"


def _value(value: Any, written: Any) -> str:
    if isinstance(value, Choice):
        return f"tw.pruning.{value!r}"
    if not isinstance(value, Recipe):
        return repr(value)
    return repr(written) if isinstance(written, str) else f"tw.Recipe.from_dict({written!r})"
