"""Levels that a tree does not know: counted while encoding, reported once. Predictions do not depend on this."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from treewright.data.encoding import UnseenLevels
from treewright.errors import UnseenLevelsWarning
from treewright.recipes.recipe import Recipe

#: Frames from here up to the caller of `predict`.
_CALLER = 4


def added(first: Iterable[UnseenLevels], second: Iterable[UnseenLevels]) -> tuple[UnseenLevels, ...]:
    """Return what was counted in two tables, column by column."""
    found: dict[str, UnseenLevels] = {}
    for one in (*first, *second):
        before = found.get(one.column)
        found[one.column] = (
            one if before is None else UnseenLevels(one.column, before.count + one.count, before.example)
        )
    return tuple(found.values())


def unseen_text(found: Iterable[UnseenLevels], recipe: Recipe) -> str:
    """Return a line that names each column, how many rows, and an example."""
    columns = ", ".join(
        f"column {one.column!r} in {one.count:,} row{'' if one.count == 1 else 's'} (for example {one.example})"
        for one in found
    )
    meaning = "go with the largest branch" if recipe.unseen == "majority" else "count as missing"
    return f"levels that the tree does not know, which {meaning}: {columns}"


def warn_unseen(found: tuple[UnseenLevels, ...], recipe: Recipe) -> None:
    """Warn once for all columns, if there is anything to report."""
    if found:
        warnings.warn(unseen_text(found, recipe), UnseenLevelsWarning, stacklevel=_CALLER)
