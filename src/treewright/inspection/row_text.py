"""An explanation as lines of text.

One path is shown step by step, several are shown one line each with the sum they make; what is left out is mentioned. A
line never breaks, whatever names and levels contain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from treewright.data.grid import aligned
from treewright.data.number_text import MISSING, amount, percent
from treewright.render.model_text import guard_text
from treewright.tree.text import level_text, model_text, name_text

if TYPE_CHECKING:
    from treewright.inspection.explain_row import Explanation, Path, PathStep

#: More paths, or steps of one path, than this are not all shown.
_MOST = 16


def text(explanation: Explanation) -> str:
    """Return all of it, part by part."""
    parts = [headline(explanation), _way(explanation)]
    parts += [_models(explanation)] if explanation.tree.models else [_changes(explanation), _contributions(explanation)]
    return "\n\n".join(part for part in parts if part)


def headline(explanation: Explanation) -> str:
    """Return the prediction, and how sure it is."""
    prediction = level_text(explanation.prediction)
    target = name_text(explanation.tree.schema.target.name)
    if explanation.probabilities is None:
        return f"{target}: {prediction}"
    others = sorted((-p, i) for i, p in enumerate(explanation.value) if i != explanation.place and p > 0)
    classes = explanation.tree.schema.target.classes or ()
    shown = [f"{level_text(classes[i])}: {percent(-p)}" for p, i in others[:4]]
    rest = f", {len(others) - 4} more" if len(others) > 4 else ""
    beside = f"; {', '.join(shown)}{rest}" if shown else ""
    return f"{target}: {prediction}  ({percent(explanation.value[explanation.place])}{beside})"


def own_part(explanation: Explanation, value: tuple[float, ...]) -> str:
    """Return a node's prediction as far as the final one is concerned: "yes 64 %", or the number."""
    own = value[explanation.place]
    return amount(own) if explanation.probabilities is None else f"{level_text(explanation.prediction)}: {percent(own)}"


def absent_text(explanation: Explanation) -> str:
    """Return which columns were not given; "" if all were."""
    absent = [name_text(name) for name in explanation.absent]
    if not absent:
        return ""
    shown = ", ".join(absent[:6]) + (f" and {len(absent) - 6} more" if len(absent) > 6 else "")
    return f"not given, so taken as {MISSING}: {shown}"


def sum_text(explanation: Explanation) -> str:
    """Return how several paths make one prediction: 0.36 * 0.4 + 0.64 * 1 = 0.78."""
    own = explanation.place
    terms = [f"{amount(path.weight)} * {amount(path.value[own])}" for path in explanation.paths[:_MOST]]
    more = [f"… {len(explanation.paths) - _MOST} more"] if len(explanation.paths) > _MOST else []
    of = "" if explanation.probabilities is None else f"{level_text(explanation.prediction)} = "
    return f"{of}{' + '.join(terms + more)} = {amount(explanation.value[own])}"


def _way(explanation: Explanation) -> str:
    absent = absent_text(explanation)
    if not explanation.steps:
        same = (
            "every row has the same linear model" if explanation.tree.models else "every row gets the same prediction"
        )
        lines = [f"one leaf: {same}"]
    elif len(explanation.paths) == 1:
        lines = _one_path(explanation)
    else:
        lines = _several_paths(explanation)
    return "\n".join([*lines, absent] if absent else lines)


def _one_path(explanation: Explanation) -> list[str]:
    values = explanation.tree.arrays["value"]
    lines = [("at first", "", own_part(explanation, explanation.steps[0].before))]
    for step in explanation.steps:
        taken = step.branches[0] if step.branches else None
        after = "" if taken is None else own_part(explanation, tuple(values[taken.node].tolist()))
        lines.append((step.why, "" if taken is None else taken.condition, after))
    left_out = len(lines) - 1 - _MOST
    if left_out > 0:
        lines = [*lines[: 1 + _MOST // 2], (f"… {left_out} steps", "", ""), *lines[-(_MOST - _MOST // 2) :]]
    rows = [(why, f"→ {condition}" if condition else "", prediction) for why, condition, prediction in lines]
    return aligned(rows, lambda _: "<", indent="  ")


def _several_paths(explanation: Explanation) -> list[str]:
    steps = {step.node: step for step in explanation.steps}
    met = list(dict.fromkeys(step.why for step in explanation.steps if len(step.branches) > 1))
    lines = [f"  {why}" for why in met[:_MOST]]
    lines += [f"  {_path_line(explanation, path, steps)}" for path in explanation.paths[:_MOST]]
    left_out = len(explanation.paths) - _MOST
    if left_out > 0:
        lines.append(f"  … {left_out} more paths")
    return [*lines, f"  together: {sum_text(explanation)}"]


def _path_line(explanation: Explanation, path: Path, steps: dict[int, PathStep]) -> str:
    taken = []
    for node, after in zip(path.nodes, path.nodes[1:], strict=False):
        taken += [branch.condition for branch in steps[node].branches if branch.node == after]
    if path.nodes[-1] in steps:
        taken.append(f"{name_text(steps[path.nodes[-1]].column)} is {MISSING}")
    return f"{percent(path.weight):>5}  {', '.join(taken)}: {own_part(explanation, path.value)}"


def _models(explanation: Explanation) -> str:
    """Return the arithmetic of the linear models at the ends of the paths."""
    lines = [line for path in explanation.paths[:_MOST] for line in model_lines(explanation, path)]
    return "\n".join(["by its linear model", *(f"  {line}" for line in lines)])


def model_lines(explanation: Explanation, path: Path) -> list[str]:
    """Return the linear model at the end of a path, with its names and with the numbers of the row."""
    tree, model = explanation.tree, explanation.tree[path.nodes[-1]].model
    if model is None:
        return []
    total, numbers = model.intercept, amount(model.intercept)
    for term in model.terms:
        x = term.value(explanation.values[term.column])
        total += term.coefficient * x
        sign = "-" if term.coefficient < 0 else "+"
        numbers += f" {sign} {amount(abs(term.coefficient))} * {amount(x)}"
    filled = [name_text(tree.schema.columns[term.column].name) for term in model.terms]
    known = zip(filled, model.terms, strict=True)
    absent = [name for name, term in known if explanation.values[term.column] is None]
    lines = [model_text(tree.schema, model), f"= {numbers} = {amount(total)}"]
    lines += [f"{name} is {MISSING} or unseen: its mean in the leaf counts" for name in dict.fromkeys(absent)]
    if model.guarded(total) != total:
        lines.append(f"beyond the range guard ({guard_text(model)}), so {amount(model.guarded(total))}")
    return lines


def _changes(explanation: Explanation) -> str:
    return "\n".join(["what would change it", *(f"  {line}" for line in change_lines(explanation))])


def change_lines(explanation: Explanation) -> list[str]:
    """Return one line per change, or the reason why there is none."""
    if explanation.counterfactuals:
        return [str(change) for change in explanation.counterfactuals]
    met = explanation.is_wanted
    return ["nothing: it is what is wanted"] if met else [str(explanation.counterfactuals)]


def _contributions(explanation: Explanation) -> str:
    classes = explanation.tree.schema.target.classes
    return explanation.shap_values.text(0, None if classes is None else explanation.prediction)
