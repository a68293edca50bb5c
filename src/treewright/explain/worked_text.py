"""A derivation as text for a terminal.

Comes in: blocks. Goes out: lines.
Always holds: tables line up; long arithmetic is broken between terms and never in a number; a curve is one line of bars.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np

from treewright.explain.blocks import Block, Grid, Plot, Remark, Steps, Title, curve_words
from treewright.explain.curve import Curve

WIDTH = 100
_BARS = "▁▂▃▄▅▆▇█"
_SPARKS = 60


def text(blocks: Sequence[Block]) -> str:
    """All blocks, with a blank line between those of different kind."""
    parts: list[str] = []
    for i, block in enumerate(blocks):
        apart = i and not (isinstance(block, Remark) and isinstance(blocks[i - 1], Remark))
        parts.append(("\n" if apart else "") + _block(block))
    return "\n".join(parts)


def _block(block: Block) -> str:
    match block:
        case Title(words):
            return words
        case Remark(words):
            return textwrap.fill(words, WIDTH)
        case Grid():
            return _grid(block)
        case Steps():
            return _steps(block)
        case Plot(caption, curve):
            return f"{caption}\n  {sparkline(curve)}\n  {curve_words(curve)}"


def _grid(grid: Grid) -> str:
    table = [grid.header, *grid.rows]
    widths = [max(len(row[i]) for row in table) for i in range(len(grid.header))]
    lines = [grid.caption]
    for row in table:
        cells = [
            cell.ljust(width) if i < grid.words else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(("  " + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def _steps(block: Steps) -> str:
    lines = [block.caption]
    digits = len(str(len(block.steps)))
    for place, step in enumerate(block.steps, 1):
        indent = " " * (digits + 4)
        lines.append(f"  {place:>{digits}}. {step.label}: {step.formula}")
        lines += textwrap.wrap(
            step.text, WIDTH, initial_indent=indent, subsequent_indent=indent + "    ", break_long_words=False,
            break_on_hyphens=False,
        )  # fmt: skip
    return "\n".join(lines)


def sparkline(curve: Curve) -> str:
    """One bar per cut, or the best of several; a dot where no cut is allowed."""
    n = len(curve.scores)
    groups = np.array_split(np.arange(n), min(n, _SPARKS))
    tops = [float(curve.scores[g].max()) for g in groups]
    low, high = min(0.0, *tops), max(tops)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    bars = [_BARS[round((top - low) * scale)] if curve.allowed[g].any() else "·" for g, top in zip(groups, tops, strict=True)]
    return "".join(bars)
