"""Linear models of leaves in a workbook: the sheet `Models` has one row per node, `Steps` one formula per term and row.

Each distinct regressor of the tree has two columns in `Models`, its coefficient and the value that counts where it is
missing or unseen; both are 0 in nodes that do not use it.
"""

from __future__ import annotations

from treewright.data.schema import TIME_KINDS
from treewright.export.program.plan import Plan
from treewright.export.xlsx_file import Cell, letters
from treewright.tree.models import Term

#: The largest number that a cell takes.
_LARGEST = 9.99999999999999e307
#: The columns of `Models` before those of the regressors.
_HEAD = ("node", "intercept", "low", "high")

#: An input, and the places of the levels for which it counts as 1; None for numbers.
Regressor = tuple[int, tuple[int, ...] | None]


def regressors_of(plan: Plan) -> list[Regressor]:
    """Return the distinct regressors of all models, in the order of their terms."""
    return list(dict.fromkeys(_key(term) for model in plan.models for term in model.terms))


def _key(term: Term) -> Regressor:
    return term.column, term.levels


def model_sheet(plan: Plan) -> list[list[Cell]]:
    """Return the rows of `Models`."""
    regressors = regressors_of(plan)
    titles = [f"{what} of {_title(plan, one)}" for one in regressors for what in ("coefficient", "mean")]
    table: list[list[Cell]] = [[*_HEAD, *titles]]
    for i, step in enumerate(plan.steps):
        model = step.model
        if model is None:
            table.append([i])
            continue
        terms = {_key(term): (term.coefficient, term.fill) for term in model.terms}
        limits = (max(model.low, -_LARGEST), min(model.high, _LARGEST))
        table.append([i, model.intercept, *limits, *(x for one in regressors for x in terms.get(one, (0.0, 0.0)))])
    return table


def _title(plan: Plan, regressor: Regressor) -> str:
    spec, levels = plan.inputs[regressor[0]], regressor[1]
    held = "" if levels is None else " = " + " or ".join(str((spec.levels or ())[place]) for place in levels)
    return f"{spec.name}{held}"[:200]


def term_formula(plan: Plan, place: int, node: str, known: str, value: str) -> str:
    """Return the formula of a term: the coefficient in the row's node times the value, or times its mean there."""
    column = len(_HEAD) + 2 * place
    coefficient, fill = (_of_node(plan, column + k, node) for k in (0, 1))
    return f'IF({node}="","",{coefficient}*IF({known},{value},{fill}))'


def number_formula(kind: str, cell: str, epoch: int, day: int) -> str:
    """Return a number as the models take it: moments in microseconds."""
    if kind not in TIME_KINDS:
        return cell
    return f"({cell}-{epoch})*{day}" if kind in ("date", "datetime") else f"{cell}*{day}"


def sum_formula(plan: Plan, node: str, terms: str) -> str:
    """Return the formula of a prediction; `terms` are the cells to be added, each after a comma."""
    intercept, low, high = (_of_node(plan, column, node) for column in (1, 2, 3))
    return f'IF({node}="","",MAX({low},MIN({high},SUM({intercept}{terms}))))'


def _of_node(plan: Plan, column: int, node: str) -> str:
    letter = letters(column)
    return f"INDEX(Models!${letter}$2:${letter}${len(plan.steps) + 1},{node}+1)"
