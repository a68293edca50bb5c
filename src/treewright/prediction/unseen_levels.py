"""Levels that a tree does not know: counted, and reported once.

Comes in: what `encode` counted in one table or in several batches. Goes out: one line of text, or a warning.
Always holds: answers do not depend on this; nothing is reported where every level is known.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from treewright.data.encoding import UnseenLevels
from treewright.errors import UnseenLevelsWarning
from treewright.recipes.recipe import Recipe

#: From here up to whoever called `predict`.
_CALLER = 4


def added(first: Iterable[UnseenLevels], second: Iterable[UnseenLevels]) -> tuple[UnseenLevels, ...]:
    """What was counted in two tables, column by column."""
    found: dict[str, UnseenLevels] = {}
    for one in (*first, *second):
        before = found.get(one.column)
        found[one.column] = (
            one if before is None else UnseenLevels(one.column, before.count + one.count, before.example)
        )
    return tuple(found.values())


def unseen_text(found: Iterable[UnseenLevels], recipe: Recipe) -> str:
    """A line that names each column, how many rows, and an example."""
    told = ", ".join(
        f"column {one.column!r} in {one.count:,} row{'' if one.count == 1 else 's'} (for example {one.example})"
        for one in found
    )
    meaning = "go with the largest branch" if recipe.unseen == "majority" else "count as missing"
    return f"levels that the tree does not know, which {meaning}: {told}"


def warn_unseen(found: tuple[UnseenLevels, ...], recipe: Recipe) -> None:
    """One warning for all columns, if there is anything to report."""
    if found:
        warnings.warn(unseen_text(found, recipe), UnseenLevelsWarning, stacklevel=_CALLER)
