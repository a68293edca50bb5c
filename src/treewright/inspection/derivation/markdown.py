"""A derivation as Markdown with LaTeX.

Names cannot break a table, start a heading or open a formula; what stands between dollars is plain LaTeX mathematics,
as KaTeX, MathJax and matplotlib read it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from treewright.data.grid import Grid
from treewright.inspection.derivation.blocks import Block, Plot, Remark, Steps, Title, curve_text
from treewright.inspection.derivation.formula import latex
from treewright.inspection.derivation.text import sparkline

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|$~&])")


def markdown(blocks: Sequence[Block]) -> str:
    """Return all blocks, a blank line between them."""
    return "\n\n".join(map(_block, blocks)) + "\n"


def _block(block: Block) -> str:
    match block:
        case Title(words):
            return f"### {_escaped(words)}"
        case Remark(words):
            return _escaped(words)
        case Grid():
            return _grid(block)
        case Steps():
            lines = [f"**{_escaped(block.caption)}**", ""]
            for place, (words, step) in enumerate(block.with_formulas(), 1):
                lines.append(
                    f"{place}. **{_escaped(step.label)}**{_escaped(words)}  \n   ${' = '.join(map(latex, step.sides))}$"
                )
            return "\n".join(lines)
        case Plot(caption, curve):
            return f"**{_escaped(caption)}**\n\n`{sparkline(curve)}`\n\n{_escaped(curve_text(curve))}"


def _grid(grid: Grid) -> str:
    rules = [":--" if grid.side(i) == "<" else "--:" for i in range(len(grid.header))]
    head, *rows = ([_escaped(str(cell)) for cell in row] for row in (grid.header, *grid.rows))
    lines = [f"| {' | '.join(row)} |" for row in (head, rules, *rows)]
    return "\n".join([f"**{_escaped(grid.caption)}**", "", *lines])


def _escaped(words: str) -> str:
    return _SPECIAL.sub(r"\\\1", words)
