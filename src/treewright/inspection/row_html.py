"""An explanation as a fragment of HTML.

Comes in: an `Explanation`. Goes out: one element with its own small style, for any page, light or dark.
Always holds: every name, level and number is escaped; nothing is loaded from anywhere and nothing needs a script. All
style is bound to the element's own class.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from treewright.inspection.row_text import absent_text, change_lines, headline, own_part, sum_text
from treewright.tree.text import amount, level_text, name_text, percent

if TYPE_CHECKING:
    from treewright.inspection.explain_row import Explanation, Step

#: Tables are cut after this many lines, and say so.
_MOST = 40

_STYLE = """
.tw-explain { font: 14px/1.45 system-ui, sans-serif; max-width: 46rem; color: inherit; }
.tw-explain h3 { font-size: 1.15em; margin: 0 0 .4em; }
.tw-explain h4 { font-size: 1em; margin: 1.1em 0 .3em; }
.tw-explain table { border-collapse: collapse; width: 100%; margin: 0; font-size: 1em; }
.tw-explain td { padding: .15em .7em .15em 0; text-align: left; vertical-align: top; border: 0; }
.tw-explain tr { border-top: 1px solid rgba(128, 128, 128, .25); background: none; }
.tw-explain tr:first-child { border-top: 0; }
.tw-explain .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.tw-explain .bars { width: 45%; }
.tw-explain .track { position: relative; display: block; height: .8em; margin-top: .3em; }
.tw-explain .track { background: rgba(128, 128, 128, .15); }
.tw-explain .bar { position: absolute; top: 0; bottom: 0; background: #2a78b5; }
.tw-explain .against { background: #d0652f; }
.tw-explain .other { background: rgba(128, 128, 128, .6); }
.tw-explain .aside { opacity: .7; margin: .4em 0 0; }
.tw-explain ul { margin: 0; padding-left: 1.2em; }
"""


def html(explanation: Explanation) -> str:
    """The path, the probabilities, what would change the answer, and the contributions."""
    parts = [
        f"<h3>{escape(headline(explanation))}</h3>",
        _steps(explanation),
        _probabilities(explanation),
        "<h4>What would change it</h4>",
        f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in change_lines(explanation))}</ul>",
        _contributions(explanation),
    ]
    return f'<div class="tw-explain"><style>{_STYLE}</style>{"".join(parts)}</div>'


def _steps(explanation: Explanation) -> str:
    absent = absent_text(explanation)
    note = f'<p class="aside">{escape(absent)}</p>' if absent else ""
    if not explanation.steps:
        return f"<p>nothing is asked: the tree answers every row the same</p>{note}"
    first = own_part(explanation, explanation.steps[0].before)
    lines = [f'<tr><td>at first</td><td></td><td class="number">{escape(first)}</td></tr>']
    lines += [_step(explanation, step) for step in explanation.steps[:_MOST]]
    if len(explanation.steps) > _MOST:
        lines.append(f"<tr><td>… {len(explanation.steps) - _MOST} more steps</td></tr>")
    together = f'<p class="aside">together: {escape(sum_text(explanation))}</p>' if len(explanation.paths) > 1 else ""
    return f"<h4>The way to it</h4><table>{''.join(lines)}</table>{together}{note}"


def _step(explanation: Explanation, step: Step) -> str:
    """One line per branch taken; a step that only part of the row takes says how much."""
    values = explanation.tree.arrays["value"]
    part = f"{percent(step.weight)} of the row: " if step.weight < 1 else ""
    why = escape(part + step.why)
    if not step.branches:
        return f'<tr><td>{why}</td><td></td><td class="number">{escape(own_part(explanation, step.before))}</td></tr>'
    lines = []
    for branch in step.branches:
        share = "" if len(step.branches) == 1 else f" ({percent(branch.share)})".replace(" %", "\N{NO-BREAK SPACE}%")
        after = own_part(explanation, tuple(values[branch.node].tolist()))
        way = escape(f"→ {branch.condition}{share}")
        lines.append(f'<tr><td>{why}</td><td>{way}</td><td class="number">{escape(after)}</td></tr>')
        why = ""
    return "".join(lines)


def _probabilities(explanation: Explanation) -> str:
    classes = explanation.tree.schema.target.classes
    if classes is None:
        return ""
    there = [i for i, p in enumerate(explanation.value) if p > 0 or len(classes) <= 3]
    order = sorted(there, key=lambda i: (-explanation.value[i], i))
    lines = [
        _line(level_text(classes[i]), percent(explanation.value[i]), 0.0, explanation.value[i], _kind(i, explanation))
        for i in order[:_MOST]
    ]
    left_out = len(classes) - len(lines)
    if left_out:
        least = "0" if len(order) <= _MOST else "less"
        lines.append(f'<tr><td>{left_out} other classes</td><td class="number">{least}</td><td></td></tr>')
    return f"<h4>Probabilities</h4><table>{''.join(lines)}</table>"


def _kind(place: int, explanation: Explanation) -> str:
    return "" if place == explanation.place else " other"


def _contributions(explanation: Explanation) -> str:
    classes = explanation.tree.schema.target.classes
    told = explanation.shap_values.lines(0, None if classes is None else explanation.prediction)
    if not told:
        return ""
    largest = max(abs(value) for _, value in told)
    lines = []
    for name, value in told[:_MOST]:
        half = abs(value) / largest / 2
        start, kind = (0.5, "") if value > 0 else (0.5 - half, " against")
        lines.append(_line(name_text(name), ("+" if value > 0 else "") + amount(value), start, half, kind))
    if len(told) > _MOST:
        lines.append(f"<tr><td>… {len(told) - _MOST} smaller ones</td></tr>")
    to = "" if classes is None else f" to {level_text(explanation.prediction)}"
    return f"<h4>What each column contributes{escape(to)}</h4><table>{''.join(lines)}</table>"


def _line(name: str, number: str, start: float, length: float, kind: str) -> str:
    """A name, a number and a bar; `start` and `length` are parts of the whole width."""
    bar = f'<span class="bar{kind}" style="left: {100 * start:.2f}%; width: {100 * length:.2f}%"></span>'
    return (
        f'<tr><td>{escape(name)}</td><td class="number">{escape(number)}</td>'
        f'<td class="bars"><span class="track">{bar}</span></td></tr>'
    )
