"""A derivation laid out: titles, tables, steps, a curve, remarks, in the order they are read.

Comes in: a `Worked`. Goes out: a list of blocks that every writer (text, Markdown, HTML) writes in its own way.
Always holds: long tables are cut here, once for all writers, and say how much more there is; names and levels are
printable, but not yet escaped for any form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treewright.explain.curve import Curve
from treewright.explain.figures import amount, figure
from treewright.explain.steps import Step
from treewright.schema import Level
from treewright.tree_words import break_texts, level_text, name_text

if TYPE_CHECKING:
    from treewright.explain.division import Branch
    from treewright.explain.worked import Worked

MOST_ROWS = 12
MOST_CLASSES = 8


@dataclass(frozen=True)
class Title:
    text: str


@dataclass(frozen=True)
class Remark:
    text: str


@dataclass(frozen=True)
class Grid:
    """A table: the first column is words, the others are numbers unless `words` says more of them are."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1


@dataclass(frozen=True)
class Steps:
    caption: str
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Plot:
    caption: str
    curve: Curve


Block = Title | Remark | Grid | Steps | Plot


def blocks(worked: Worked) -> list[Block]:
    """The blocks of a derivation."""
    laid: list[Block] = [Title(worked.heading)]
    if worked.branches:
        laid.append(_branches(worked))
    if worked.expected is not None:
        laid.append(_expected(worked))
    if worked.steps:
        laid.append(Steps(f"By {worked.criterion.replace('_', ' ')}" if worked.column else "The answer", worked.steps))
    if worked.significance:
        laid.append(Steps("Significance of this split", worked.significance))
    if worked.curve is not None:
        laid.append(_plot(worked.curve))
    if len(worked.rivals) > 1 or (worked.rivals and not worked.rivals[0].won):
        laid.append(_rivals(worked))
    laid += [Remark(remark) for remark in worked.remarks]
    if worked.steps:
        laid.append(Remark("Numbers are shown to four digits and computed with all of them."))
    return laid


def shortened(rows: Sequence[tuple[str, ...]], most: int = MOST_ROWS) -> tuple[tuple[str, ...], ...]:
    """The first of many rows, and a last one that says how many more there are."""
    if len(rows) <= most:
        return tuple(rows)
    return (*rows[: most - 1], (f"… {len(rows) - most + 1} more", *[""] * (len(rows[0]) - 1)))


# --- tables -----------------------------------------------------------------------------------------------------------


def _branches(worked: Worked) -> Grid:
    what = "Rows of this leaf" if worked.column is None else "Rows of each branch"
    if worked.classes is None:
        rows = [_number_row(branch) for branch in worked.branches]
        return Grid(what, ("", "weight", "mean", "deviation"), shortened(rows))
    names, merged = _class_names(worked.classes)
    rows = [(b.condition, *_counts(b.counts or (), merged), amount(b.weight)) for b in worked.branches]
    if worked.column is not None:
        rows = [*shortened(rows), _all(worked.branches, merged)]
        return Grid(what, ("", *names, "weight"), tuple(rows))
    return Grid(what, ("", *names, "weight"), shortened(rows))


def _number_row(branch: Branch) -> tuple[str, ...]:
    if not branch.weight > 0:
        return (branch.condition, "0", "", "")
    return (branch.condition, amount(branch.weight), figure(branch.mean or 0.0), figure(branch.deviation or 0.0))


def _class_names(classes: Sequence[Level]) -> tuple[list[str], bool]:
    """The classes as column titles; whether the last stands for several."""
    if len(classes) <= MOST_CLASSES:
        return [level_text(level) for level in classes], False
    shown = [level_text(level) for level in classes[: MOST_CLASSES - 1]]
    return [*shown, f"… {len(classes) - MOST_CLASSES + 1} more"], True


def _counts(counts: Sequence[float], merged: bool) -> list[str]:
    if not merged:
        return [amount(count) for count in counts]
    return [*map(amount, counts[: MOST_CLASSES - 1]), amount(sum(counts[MOST_CLASSES - 1 :]))]


def _all(branches: Sequence[Branch], merged: bool) -> tuple[str, ...]:
    sums = [sum(column) for column in zip(*(branch.counts or () for branch in branches), strict=True)]
    return ("together", *_counts(sums, merged), amount(sum(branch.weight for branch in branches)))


def _expected(worked: Worked) -> Grid:
    """Observed counts with the expected ones in brackets."""
    assert worked.expected is not None
    assert worked.classes is not None
    shown = min(len(worked.classes), MOST_CLASSES)
    titles = [level_text(level) for level in worked.classes[:shown]]
    more = [f"… {len(worked.classes) - shown} more"] if shown < len(worked.classes) else []
    rows = [
        (branch.condition, *(f"{amount(o)} ({figure(e)})" for o, e in zip(seen[:shown], wanted, strict=False)), *more)
        for branch, seen, wanted in zip(
            worked.branches, worked.expected.observed, worked.expected.expected, strict=True
        )
    ]
    blank = [(row[0], *row[1 : 1 + shown], *[""] * len(more)) for row in rows]
    return Grid("Observed (and expected: row × column / all)", ("", *titles, *more), shortened(blank))


def _rivals(worked: Worked) -> Grid:
    rows = [
        (name_text(r.column), r.question, figure(r.score), figure(r.gain), "chosen" if r.won else "")
        for r in worked.rivals
    ]
    caption = "What was compared here, best first" if any(r.won for r in worked.rivals) else "What could be asked here"
    return Grid(caption, ("column", "question", "score", "gain", ""), shortened(rows), words=2)


# --- the curve --------------------------------------------------------------------------------------------------------


def _plot(curve: Curve) -> Plot:
    return Plot(f"{curve.measure[:1].upper()}{curve.measure[1:]} of every cut of {name_text(curve.spec.name)}", curve)


def curve_words(curve: Curve) -> str:
    """The best cut, how many there are, and how many may be chosen."""
    if curve.best is None:
        return f"{len(curve.cuts):,} cuts, none of them allowed"
    cut = break_texts(curve.spec, [float(curve.cuts[curve.best])], True)[0]
    of = f"{len(curve.cuts):,} cuts shown, {curve.n_allowed:,} allowed" if curve.thinned else f"{len(curve.cuts):,} cuts"
    limit = "" if curve.thinned or curve.allowed.all() else f", {curve.n_allowed:,} allowed"
    return f"best at {cut}: {figure(float(curve.scores[curve.best]))} ({of}{limit})"
