"""A derivation as text for a terminal.

Tables line up; long arithmetic is broken between its terms; a curve is one line of bars.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np

from treewright.data.grid import Grid
from treewright.inspection.derivation.blocks import Block, Plot, Remark, Steps, Title, curve_text
from treewright.inspection.derivation.threshold_curve import Curve

WIDTH = 100
_BARS = "▁▂▃▄▅▆▇█"
_SPARKS = 60
#: Stands for a blank at which no line may be broken.
_TIED = "\x1f"


def text(blocks: Sequence[Block], width: int = WIDTH) -> str:
    """Return all blocks, blank lines between different kinds; lines are broken at `width`."""
    parts: list[str] = []
    for i, block in enumerate(blocks):
        apart = i and not (isinstance(block, Remark) and isinstance(blocks[i - 1], Remark))
        parts.append(("\n" if apart else "") + _block(block, width))
    return "\n".join(parts)


def _block(block: Block, width: int) -> str:
    match block:
        case Title(words):
            return words
        case Remark(words):
            return textwrap.fill(words, width)
        case Grid():
            return block.text()
        case Steps():
            return _steps(block, width)
        case Plot(caption, curve):
            return f"{caption}\n  {sparkline(curve)}\n  {curve_text(curve)}"


def _steps(block: Steps, width: int) -> str:
    lines = [block.caption]
    digits = len(str(len(block.steps)))
    indent = " " * (digits + 4)
    for place, (words, step) in enumerate(block.with_formulas(), 1):
        lines += _wrapped(step.label + words, f"  {place:>{digits}}. ", indent, width)
        lines += [line.replace(_TIED, " ") for line in _wrapped(_tied(step.text), indent, indent + "    ", width)]
    return "\n".join(lines)


def _wrapped(words: str, first: str, later: str, width: int) -> list[str]:
    return textwrap.wrap(
        words, width, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )


def _tied(words: str) -> str:
    """Blanks inside brackets, and around × and =, hold together."""
    depth, out = 0, []
    for c in words:
        depth += (c == "(") - (c == ")")
        out.append(_TIED if c == " " and depth else c)
    return "".join(out).replace(" × ", f"{_TIED}×{_TIED}").replace(" log2(", f"{_TIED}log2(").replace("= ", f"={_TIED}")


def sparkline(curve: Curve) -> str:
    """Return one bar per cut, or the best of several; a dot where no cut is allowed."""
    n = len(curve.scores)
    groups = np.array_split(np.arange(n), min(n, _SPARKS))
    tops = [float(curve.scores[g].max()) for g in groups]
    low, high = min(0.0, *tops), max(tops)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    bars = [_BARS[round((top - low) * scale)] for top in tops]
    return "".join(bar if curve.allowed[g].any() else "·" for g, bar in zip(groups, bars, strict=True))
