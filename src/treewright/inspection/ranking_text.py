"""A ranking as a table of text.

Every candidate has its line; names and levels are printable, long lists are cut, visibly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treewright.data.grid import Grid
from treewright.data.number_text import count_text, figure, many, p_text
from treewright.data.schema import Level
from treewright.inspection.derivation.criterion_names import TESTS
from treewright.inspection.derivation.node_rows import Entries
from treewright.tree.text import level_text, name_text

if TYPE_CHECKING:
    from treewright.inspection.derivation.split_counts import BranchCounts
    from treewright.inspection.ranking import Candidate

_MOST_BRANCHES = 4
_MOST_CLASSES = 5
_MOST_LETTERS = 50


def ranking_grid(
    heading: str,
    criteria: Sequence[str],
    candidates: Sequence[Candidate],
    classes: Sequence[Level] | None,
    stop: str | None,
) -> Grid:
    """Return the heading and one row per candidate."""
    titles = [title for name in criteria for title in ([f"{name} (-ln p)", "p"] if name in TESTS else [name])]
    rows = tuple(
        (
            str(place),
            name_text(one.column),
            *(text for name in criteria for text in _scores(one, name)),
            _branches(one, classes),
        )
        for place, one in enumerate(candidates, 1)
    )
    notes = () if stop is None else (f"no split here: {stop}",)
    header = ("", "column", *titles, f"branches: {_count_names(classes)}")
    return Grid(heading, header, rows, align="><" + ">" * len(titles) + "<", notes=notes)


def rows_text(entries: Entries) -> str:
    """Return the rows ranked: how many, and their classes."""
    target, n = entries.schema.target, entries.n_rows
    size = many(n, "row")
    if abs(entries.total - n) > 1e-9 * max(1.0, n):
        size += f" of weight {count_text(entries.total)}"
    start = f"{name_text(target.name)}: {size}"
    if target.classes is None or not n:
        return start
    assert entries.encoded.target is not None
    counts = np.bincount(entries.encoded.target, entries.weight, len(target.classes))
    shown = [f"{level_text(c)} {count_text(w)}" for c, w in zip(target.classes, counts[:_MOST_CLASSES], strict=False)]
    more = len(target.classes) - len(shown)
    return ", ".join([start, *shown, *([f"… {more} more"] if more else [])])


def _count_names(classes: Sequence[Level] | None) -> str:
    """Return what the numbers of a branch are."""
    if classes is None:
        return "mean ± deviation (rows)"
    return "/".join(map(level_text, classes)) if len(classes) <= _MOST_CLASSES else "rows"


def _scores(candidate: Candidate, criterion: str) -> list[str]:
    """Return the score by a criterion, and for a test its p-value, which is the adjusted one for CHAID."""
    score = candidate.scores[criterion]
    texts = ["-" if score is None else figure(score)]
    if criterion in TESTS:
        texts.append("-" if score is None else p_text(-score))
    return texts


def _branches(candidate: Candidate, classes: Sequence[Level] | None) -> str:
    if candidate.split is None:
        return candidate.reason or ""
    branches = candidate.children
    shown = len(branches) if len(branches) <= _MOST_BRANCHES else _MOST_BRANCHES - 1
    parts = [f"{_cut(branch.label)}: {_size(branch, classes)}" for branch in branches[:shown]]
    if shown < len(branches):
        parts.append(f"… {len(branches) - shown} more")
    notes = [] if candidate.reason is None else [candidate.reason]
    if candidate.missing:
        notes.append(f"{candidate.missing} missing")
    return " | ".join(parts) + (f"  ({'; '.join(notes)})" if notes else "")


def _cut(words: str) -> str:
    return words if len(words) <= _MOST_LETTERS else words[: _MOST_LETTERS - 1] + "…"


def _size(branch: BranchCounts, classes: Sequence[Level] | None) -> str:
    if branch.counts is None:
        if not branch.weight:
            return "none"
        return f"{figure(branch.mean or 0.0)} ± {figure(branch.deviation or 0.0)} ({count_text(branch.weight)})"
    if classes is not None and len(classes) <= _MOST_CLASSES:
        return "/".join(map(count_text, branch.counts))
    return count_text(branch.weight)
