"""The explanation of one row as a fragment of HTML, for any page, light or dark. Everything is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from treewright.data.grid import Bar, Cell, Grid, page_fragment
from treewright.data.number_text import percent
from treewright.inspection.row_text import absent_text, change_lines, headline, model_lines, own_part, sum_text
from treewright.tree.text import level_text

if TYPE_CHECKING:
    from treewright.inspection.explain_row import Explanation, PathStep

#: Tables are cut after this many rows, visibly.
_MOST = 40


def html(explanation: Explanation) -> str:
    """Return the path, the probabilities, counterfactuals and SHAP values."""
    classes = explanation.tree.schema.target.classes
    grids = [path_grid(explanation), *([] if classes is None else [_probabilities(explanation)])]
    if explanation.tree.models:
        lines = [line for path in explanation.paths[:_MOST] for line in model_lines(explanation, path)]
        models = f"<h4>By its linear model</h4>{_list(lines)}"
        return page_fragment(
            f"<h3>{escape(headline(explanation))}</h3>{''.join(grid.html() for grid in grids)}{models}"
        )
    shap = explanation.shap_values.row_grid(0, None if classes is None else explanation.prediction)
    return page_fragment(
        f"<h3>{escape(headline(explanation))}</h3>{''.join(grid.html() for grid in grids)}"
        f"<h4>What would change it</h4>{_list(change_lines(explanation))}{shap.html()}"
    )


def _list(lines: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def path_grid(explanation: Explanation) -> Grid:
    """Return the path of the row: each step with the branch taken and the prediction after it."""
    absent = absent_text(explanation)
    notes = (absent,) if absent else ()
    if not explanation.steps:
        return Grid("one leaf: every row gets the same prediction", (), (), notes=notes)
    rows = [("at first", "", own_part(explanation, explanation.steps[0].before))]
    rows += [row for step in explanation.steps[:_MOST] for row in _step(explanation, step)]
    if len(explanation.steps) > _MOST:
        rows.append((f"… {len(explanation.steps) - _MOST} more steps", "", ""))
    if len(explanation.paths) > 1:
        notes = (f"together: {sum_text(explanation)}", *notes)
    return Grid("Path", ("", "", ""), tuple(rows), words=2, notes=notes)


def _step(explanation: Explanation, step: PathStep) -> list[tuple[str, str, str]]:
    """Return one row per branch taken; a step that only part of the row takes shows how much."""
    why = (f"{percent(step.weight)} of the row: " if step.weight < 1 else "") + step.why
    if not step.branches:
        return [(why, "", own_part(explanation, step.before))]
    rows = []
    for branch in step.branches:
        share = "" if len(step.branches) == 1 else f" ({percent(branch.share)})".replace(" %", "\N{NO-BREAK SPACE}%")
        after = own_part(explanation, tuple(explanation.tree.arrays["value"][branch.node].tolist()))
        rows.append((why, f"→ {branch.condition}{share}", after))
        why = ""
    return rows


def _probabilities(explanation: Explanation) -> Grid:
    classes, value = explanation.tree.schema.target.classes or (), explanation.value
    present = [i for i, p in enumerate(value) if p > 0 or len(classes) <= 3]
    order = sorted(present, key=lambda i: (-value[i], i))
    rows: list[tuple[Cell, ...]] = [
        (level_text(classes[i]), percent(value[i]), Bar(value[i], muted=i != explanation.place)) for i in order[:_MOST]
    ]
    left_out = len(classes) - len(rows)
    if left_out:
        rows.append((f"{left_out} other classes", "0" if len(order) <= _MOST else "less", ""))
    return Grid("Probabilities", ("", "", ""), tuple(rows), align="<><")
