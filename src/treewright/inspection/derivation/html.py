"""A derivation as a fragment of HTML.

No script, no style sheet, nothing loaded; every name and level is escaped; the curve is drawn in `currentColor`, so it
is seen on dark and on light.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from treewright.data.grid import Grid
from treewright.inspection.derivation.blocks import Block, Plot, Remark, Steps, Title, curve_text
from treewright.inspection.derivation.formula import mathml_terms
from treewright.inspection.derivation.impurity_steps import DerivationStep
from treewright.inspection.derivation.threshold_curve import Curve
from treewright.tree.text import break_text

_WIDTH, _HEIGHT, _MARGIN = 480, 120, 8
#: More points than pixels cannot be seen.
_POINTS = 480


def html(blocks: Sequence[Block]) -> str:
    """Return all blocks in one section."""
    return '<section class="tw-worked">\n' + "\n".join(map(_block, blocks)) + "\n</section>\n"


def _block(block: Block) -> str:
    match block:
        case Title(words):
            return f"<h3>{escape(words)}</h3>"
        case Remark(words):
            return f'<p class="tw-remark">{escape(words)}</p>'
        case Grid():
            return block.html()
        case Steps():
            items = "\n".join(
                f"<li><strong>{escape(step.label)}</strong>{escape(words)}{_equation(step)}</li>"
                for words, step in block.with_formulas()
            )
            return f'<h4>{escape(block.caption)}</h4>\n<ol class="tw-steps">\n{items}\n</ol>'
        case Plot(caption, curve):
            words = escape(curve_text(curve))
            caption = f"<figcaption>{escape(caption)}: {words}</figcaption>"
            return f'<figure class="tw-curve">\n{_svg(curve)}\n{caption}\n</figure>'


def _equation(step: DerivationStep) -> str:
    """Return one <math> per term, because browsers break lines between such elements but never inside one."""
    pieces: list[str] = []
    for side in step.sides:
        first, *others = mathml_terms(side)
        pieces += [f"<mo>=</mo>{first}" if pieces else first, *others]
    # Fractions in two lines of a formula would touch.
    written = " ".join(f'<math displaystyle="true" style="margin-block:.25em">{piece}</math>' for piece in pieces)
    # What is too long even so is scrolled rather than let it widen the page.
    about = f'role="math" aria-label="{escape(step.text)}"'
    return f'<div class="tw-equation" {about} style="overflow-x:auto;padding:.3em 0">{written}</div>'


# --- the curve --------------------------------------------------------------------------------------------------------


def _svg(curve: Curve) -> str:
    """Return the scores over the cuts, the best one marked; cuts that are not allowed are faint."""
    x, y = _places(curve)
    keep = np.unique(np.linspace(0, len(x) - 1, min(len(x), _POINTS)).round().astype(int))
    line = " ".join(f"{x[i]:.1f},{y[i]:.1f}" for i in keep)
    dots = ""
    if len(x) <= 60:
        faint = ["" if allowed else ' opacity="0.35"' for allowed in curve.allowed.tolist()]
        dots = "".join(f'<circle cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="2"{faint[i]}/>' for i in range(len(x)))
    best = ""
    if curve.best is not None:
        at = f"{x[curve.best]:.1f}"
        best = (
            f'<line x1="{at}" x2="{at}" y1="{_MARGIN}" y2="{_HEIGHT}" stroke-dasharray="3 3"/>'
            f'<circle cx="{at}" cy="{y[curve.best]:.1f}" r="4"/>'
        )
    first, last = (break_text(curve.spec, float(curve.cuts[i]), True) for i in (0, -1))
    base = _HEIGHT + 14
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT + 20}" width="{_WIDTH}" height="{_HEIGHT + 20}" role="img" '
        f'aria-label="{escape(curve_text(curve))}" fill="currentColor" stroke="currentColor" font-size="11">'
        f'<line x1="0" x2="{_WIDTH}" y1="{_HEIGHT}" y2="{_HEIGHT}" opacity="0.5"/>'
        f'<polyline points="{line}" fill="none" stroke-width="1.5"/><g stroke="none">{dots}</g>{best}'
        f'<g stroke="none"><text x="{_MARGIN}" y="{base}">{escape(first)}</text>'
        f'<text x="{_WIDTH - _MARGIN}" y="{base}" text-anchor="end">{escape(last)}</text></g></svg>'
    )


def _places(curve: Curve) -> tuple[np.ndarray, np.ndarray]:
    """Return cuts and scores as places in the picture; the line starts at a score of zero."""
    cuts, scores = curve.cuts, np.nan_to_num(curve.scores, neginf=0.0, posinf=0.0)
    wide = cuts[-1] / 2 - cuts[0] / 2
    across = (cuts / 2 - cuts[0] / 2) / wide if wide > 0 else np.full(len(cuts), 0.5)
    low = min(0.0, float(scores.min()))
    high = float(scores.max())
    up = (scores - low) / (high - low) if high > low else np.zeros(len(scores))
    return _MARGIN + across * (_WIDTH - 2 * _MARGIN), _HEIGHT - up * (_HEIGHT - _MARGIN)
