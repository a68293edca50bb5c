"""A ranking as a table of text.

Comes in: candidates and what they were ranked by. Goes out: lines, one per column of the table.
Always holds: every candidate has its line; names and levels are printable, long lists are cut and say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from treewright.data.schema import Level
from treewright.inspection.derivation.node_rows import Entries
from treewright.inspection.derivation.numbers import amount, figure
from treewright.tree.text import level_text, name_text

if TYPE_CHECKING:
    from treewright.inspection.derivation.split_counts import Branch
    from treewright.inspection.ranking import Candidate

_MOST_BRANCHES = 4
_MOST_CLASSES = 5
_MOST_LETTERS = 50
#: What is compared is the logarithm, not the statistic.
_IN_LOGS = {"chi_square", "likelihood_ratio", "f"}


def table(
    heading: str,
    criteria: Sequence[str],
    candidates: Sequence[Candidate],
    classes: Sequence[Level] | None,
    stop: str | None,
) -> str:
    """The heading and one line per candidate."""
    titles = [f"{name} (-ln p)" if name in _IN_LOGS else name for name in criteria]
    cells = [
        [str(place), name_text(candidate.column), *(_score(candidate.scores[name]) for name in criteria)]
        for place, candidate in enumerate(candidates, 1)
    ]
    rows = [["", "column", *titles], *cells]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    last = [f"branches: {_told(classes)}", *(_branches(candidate, classes) for candidate in candidates)]
    lines = []
    for row, tail in zip(rows, last, strict=True):
        left = [row[0].rjust(widths[0]), row[1].ljust(widths[1])]
        right = [text.rjust(width) for text, width in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join([*left, *right, tail]).rstrip())
    note = [f"nothing is asked here: {stop}"] if stop is not None else []
    return "\n".join([heading, *lines, *note])


def rows_text(entries: Entries) -> str:
    """The rows ranked: how many, and their answers."""
    target, n = entries.schema.target, entries.n_rows
    size = f"{n:,} row{'' if n == 1 else 's'}"
    if abs(entries.total - n) > 1e-9 * max(1.0, n):
        size += f" of weight {amount(entries.total)}"
    start = f"{name_text(target.name)}: {size}"
    if target.classes is None or not n:
        return start
    assert entries.encoded.target is not None
    counts = np.bincount(entries.encoded.target, entries.weight, len(target.classes))
    shown = [f"{level_text(c)} {amount(w)}" for c, w in zip(target.classes, counts[:_MOST_CLASSES], strict=False)]
    more = len(target.classes) - len(shown)
    return ", ".join([start, *shown, *([f"… {more} more"] if more else [])])


def _told(classes: Sequence[Level] | None) -> str:
    """What the numbers of a branch are."""
    if classes is None:
        return "mean ± deviation (rows)"
    return "/".join(map(level_text, classes)) if len(classes) <= _MOST_CLASSES else "rows"


def _score(score: float | None) -> str:
    return "-" if score is None else figure(score)


def _branches(candidate: Candidate, classes: Sequence[Level] | None) -> str:
    if candidate.split is None:
        return candidate.reason or ""
    start, branches = f"{name_text(candidate.column)} ", candidate.children
    shown = len(branches) if len(branches) <= _MOST_BRANCHES else _MOST_BRANCHES - 1
    # The column has just been named: "= sun" and "<= 3" say enough.
    words = [_cut(branch.condition.removeprefix(start).removeprefix("= ").removeprefix("in ")) for branch in branches]
    parts = [f"{text}: {_size(branch, classes)}" for text, branch in zip(words[:shown], branches, strict=False)]
    if shown < len(branches):
        parts.append(f"… {len(branches) - shown} more")
    notes = [] if candidate.reason is None else [candidate.reason]
    if candidate.missing:
        notes.append(f"{candidate.missing} missing")
    return " | ".join(parts) + (f"  ({'; '.join(notes)})" if notes else "")


def _cut(words: str) -> str:
    return words if len(words) <= _MOST_LETTERS else words[: _MOST_LETTERS - 1] + "…"


def _size(branch: Branch, classes: Sequence[Level] | None) -> str:
    if branch.counts is None:
        if not branch.weight:
            return "none"
        return f"{figure(branch.mean or 0.0)} ± {figure(branch.deviation or 0.0)} ({amount(branch.weight)})"
    if classes is not None and len(classes) <= _MOST_CLASSES:
        return "/".join(map(amount, branch.counts))
    return amount(branch.weight)
