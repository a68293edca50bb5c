"""A derivation laid out: titles, tables, steps, a curve, remarks, in the order they are read.

Long tables are cut here, once for all writers, with the number of rows left out; names and levels are printable, but
not yet escaped for any form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from treewright.data.grid import Grid
from treewright.data.number_text import count_text, figure, p_text
from treewright.inspection.derivation.criterion_names import TESTS
from treewright.inspection.derivation.impurity_steps import DerivationStep
from treewright.inspection.derivation.threshold_curve import Curve
from treewright.tree.text import break_text, level_text, name_text

if TYPE_CHECKING:
    from treewright.inspection.derivation.explain_node import NodeExplanation
    from treewright.inspection.derivation.split_counts import BranchCounts

MOST_ROWS = 12
MOST_CLASSES = 8


@dataclass(frozen=True)
class Title:
    text: str


@dataclass(frozen=True)
class Remark:
    text: str


@dataclass(frozen=True)
class Steps:
    caption: str
    steps: tuple[DerivationStep, ...]

    def with_formulas(self) -> list[tuple[str, DerivationStep]]:
        """Return each step, after its formula in words where that was not just stated."""
        before = ["", *(step.formula for step in self.steps)]
        pairs = zip(self.steps, before, strict=False)
        return [("" if step.formula == shown else f": {step.formula}", step) for step, shown in pairs]


@dataclass(frozen=True)
class Plot:
    caption: str
    curve: Curve


Block = Title | Remark | Grid | Steps | Plot


def blocks(explained: NodeExplanation) -> list[Block]:
    """Return the blocks of a derivation."""
    laid: list[Block] = [Title(explained.heading)]
    if explained.branches:
        laid.append(_branches(explained))
    if explained.expected is not None:
        laid.append(_expected(explained))
    if explained.steps:
        title = f"By {explained.criterion.replace('_', ' ')}" if explained.column else "The prediction"
        laid.append(Steps(title, explained.steps))
    if explained.significance:
        laid.append(Steps("Significance of this split", explained.significance))
    if explained.curve is not None:
        laid.append(_plot(explained.curve))
    if len(explained.rivals) > 1 or (explained.rivals and not explained.rivals[0].won):
        laid.append(_rivals(explained))
    laid += [Remark(remark) for remark in explained.remarks]
    if explained.steps:
        laid.append(Remark("Numbers are shown to four digits and computed with all of them."))
    return laid


def shortened(rows: Sequence[tuple[str, ...]], most: int = MOST_ROWS) -> tuple[tuple[str, ...], ...]:
    """Return the first of many rows, and a last one with the number of the others."""
    if len(rows) <= most:
        return tuple(rows)
    return (*rows[: most - 1], (f"… {len(rows) - most + 1} more", *[""] * (len(rows[0]) - 1)))


# --- tables -----------------------------------------------------------------------------------------------------------


def _branches(explained: NodeExplanation) -> Grid:
    what = "Rows of this leaf" if explained.column is None else "Rows of each branch"
    if explained.classes is None:
        rows = [_number_row(branch) for branch in explained.branches]
        return Grid(what, ("", _size_title(explained.branches), "mean", "deviation"), shortened(rows))
    sums = [sum(column) for column in zip(*(branch.counts or () for branch in explained.branches), strict=True)]
    places = _shown_classes(sums)
    more = len(sums) - len(places)
    names = [*(level_text(explained.classes[i]) for i in places), *([f"… {more} more"] if more else [])]
    lines = [(b.condition, *_counts(b.counts or (), places), count_text(b.weight)) for b in explained.branches]
    together = () if len(lines) == 1 else (("together", *_counts(sums, places), count_text(sum(sums))),)
    return Grid(what, ("", *names, _size_title(explained.branches)), (*shortened(lines), *together))


def _size_title(branches: Sequence[BranchCounts]) -> str:
    """Return rows where each weighs one."""
    plain = all(b.rows is not None and abs(b.weight - b.rows) <= 1e-9 * max(1.0, b.weight) for b in branches)
    return "rows" if plain else "weight"


def _number_row(branch: BranchCounts) -> tuple[str, ...]:
    if not branch.weight > 0:
        return (branch.condition, "0", "", "")
    return (branch.condition, count_text(branch.weight), figure(branch.mean or 0.0), figure(branch.deviation or 0.0))


def _shown_classes(weights: Sequence[float]) -> list[int]:
    """Return the places of all classes, or of the heaviest where they are many, in their order."""
    if len(weights) <= MOST_CLASSES:
        return list(range(len(weights)))
    heaviest = sorted(range(len(weights)), key=lambda i: -weights[i])
    return sorted(heaviest[: MOST_CLASSES - 1])


def _counts(counts: Sequence[float], places: Sequence[int]) -> list[str]:
    """Return the classes shown, and the others together."""
    shown = [count_text(counts[i]) for i in places]
    if len(places) == len(counts):
        return shown
    return [*shown, count_text(max(0.0, sum(counts) - sum(counts[i] for i in places)))]


def _expected(explained: NodeExplanation) -> Grid:
    """Observed counts with the expected ones in brackets."""
    assert explained.expected is not None
    assert explained.classes is not None
    observed, expected = explained.expected.observed, explained.expected.expected
    places = _shown_classes([sum(column) for column in zip(*observed, strict=True)])
    more = len(explained.classes) - len(places)
    titles = [*(level_text(explained.classes[i]) for i in places), *([f"… {more} more"] if more else [])]
    rows = [
        (branch.condition, *(f"{count_text(seen[i])} ({figure(wanted[i])})" for i in places), *[""] * bool(more))
        for branch, seen, wanted in zip(explained.branches, observed, expected, strict=True)
    ]
    return Grid("Observed (and expected: row × column / all)", ("", *titles), shortened(rows))


def _rivals(explained: NodeExplanation) -> Grid:
    caption = "What was compared here, best first" if any(r.won for r in explained.rivals) else "Possible splits"
    if explained.criterion in TESTS:  # the score is -ln p, adjusted where the recipe adjusts; the gain is not adjusted
        titles, numbers = ["-ln p", "p"], [[figure(r.score), p_text(-r.score)] for r in explained.rivals]
    elif any(figure(r.gain) != figure(r.score) for r in explained.rivals):
        titles, numbers = ["score", "gain"], [[figure(r.score), figure(r.gain)] for r in explained.rivals]
    else:
        titles, numbers = ["score"], [[figure(r.score)] for r in explained.rivals]
    rows = [
        (name_text(r.column), r.question, *texts, "chosen" * r.won)
        for r, texts in zip(explained.rivals, numbers, strict=True)
    ]
    return Grid(caption, ("column", "question", *titles, ""), shortened(rows), words=2)


# --- the curve --------------------------------------------------------------------------------------------------------


def _plot(curve: Curve) -> Plot:
    return Plot(f"{curve.measure[:1].upper()}{curve.measure[1:]} over the cuts of {name_text(curve.spec.name)}", curve)


def curve_text(curve: Curve) -> str:
    """Return the best cut, how many there are, and how many may be chosen."""
    if curve.best is None:
        return f"{len(curve.cuts):,} cuts, none of them allowed"
    cut = break_text(curve.spec, float(curve.cuts[curve.best]), True)
    of = (
        f"{len(curve.cuts):,} cuts shown, {curve.n_allowed:,} allowed" if curve.thinned else f"{len(curve.cuts):,} cuts"
    )
    limit = "" if curve.thinned or curve.allowed.all() else f", {curve.n_allowed:,} allowed"
    return f"best at {cut}: {figure(float(curve.scores[curve.best]))} ({of}{limit})"
