"""A workbook for Excel and LibreOffice: type or paste rows, formulas predict.

Sheets: `Rows` (inputs, prediction, probabilities, node), `Steps` (one formula per split and row), `Splits` (breakpoints
and children), `Levels`, `Predictions` (one row per node), `Models` (of linear leaves). Breakpoints stand in cells
because a number inside a formula has 15 digits only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from treewright.data.schema import TIME_KINDS, ColumnSpec, Level
from treewright.errors import ExportError
from treewright.export.linear.excel_models import (
    model_sheet,
    number_formula,
    regressors_of,
    sum_formula,
    term_formula,
)
from treewright.export.program.plan import (
    FRACTIONAL,
    STOP_HERE,
    Plan,
    PlanStep,
    Question,
    level_type,
    plan_of,
    refuse_mixed,
    refuse_soft,
)
from treewright.export.xlsx_file import Cell, Formula, letters, xlsx
from treewright.tree.as_tree import TreeLike, as_tree

_MOST_COLUMNS, _MOST_FORMULA, _MOST_ARGUMENTS, _MOST_TEXT = 16_384, 8_192, 254, 32_767
_DAY = 86_400_000_000
_EPOCH = 25_569  # 1970-01-01, in days as spreadsheets count them
#: The cell formats of `xlsx_file`.
_FORMAT = {"date": 2, "datetime": 3, "time": 4, "duration": 4}


def excel(tree: TreeLike, rows: int | Sequence[Mapping[str, object]] = 100) -> bytes:
    """Return the tree as an Excel workbook (.xlsx) whose formulas predict the rows of its first sheet.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    rows : int or sequence of dict, default=100
        The number of empty rows with formulas (copy the formulas down for more), or rows to fill in, by column name.

    Returns
    -------
    bytes
        The content of an .xlsx file.

    Raises
    ------
    ExportError
        If a level or class cannot stand in a cell, or the tree is too large for a sheet.

    Notes
    -----
    An empty cell is a missing value. Spreadsheets compare numbers by 15 digits. A row that a missing value would send
    down several branches (`missing.Fractional`) has the prediction #N/A, as has a row that `predict` refuses.

    Examples
    --------
    >>> import treewright as tw
    >>> tree = tw.learn({"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}, "y", tw.SKLEARN)
    >>> tw.export.excel(tree)[:2]
    b'PK'
    """
    plan = plan_of(as_tree(tree))
    refuse_soft(plan, "a workbook")
    _refuse(plan)
    return xlsx(_Workbook(plan, rows).sheets())


def _refuse(plan: Plan) -> None:
    _refuse_value(plan.target.name, "name of the target")
    for spec in plan.inputs:
        _refuse_value(spec.name, "name of the column")
        refuse_mixed(spec.levels or (), f"column {spec.name!r}", "a spreadsheet formula")
        for level in spec.levels or ():
            _refuse_value(level, f"level of column {spec.name!r}")
            if level == "":
                raise ExportError(
                    f"column {spec.name!r} has the level '', which a spreadsheet takes for a missing value; "
                    "learn from a table where it has a name"
                )
    for name in plan.target.classes or ():
        _refuse_value(name, f"class of {plan.target.name!r}")
    n_questions = sum(len(step.questions) + 1 for step in plan.steps if step.children)
    n_terms = len(regressors_of(plan))
    for sheet, n in (
        ("Steps", n_questions + len(plan.inputs) + n_terms),
        ("Models", 4 + 2 * n_terms),
        ("Rows", len(plan.inputs) + plan.n_values + 2),
    ):
        if n > _MOST_COLUMNS:
            raise ExportError(
                f"the sheet {sheet!r} would have {n:,} columns and a spreadsheet has {_MOST_COLUMNS:,}; prune the tree"
            )


def _refuse_value(value: Level, what: str) -> None:
    if isinstance(value, str):
        if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", value) or len(value) > _MOST_TEXT:
            raise ExportError(f"the {what} {value[:40]!r} has characters that no spreadsheet holds, or too many")
    elif isinstance(value, int) and abs(value) >= 10**15:
        raise ExportError(f"the {what} {value!r} has more than the 15 digits of a spreadsheet; learn from text instead")


class _Workbook:
    """The cells of all sheets."""

    def __init__(self, plan: Plan, rows: int | Sequence[Mapping[str, object]]) -> None:
        self.plan = plan
        self.given = None if isinstance(rows, int) else list(rows)
        self.n_rows = rows if isinstance(rows, int) else len(rows)
        self.codes: dict[int, str] = {}  # of inputs with levels: the column of `Steps` with their codes
        self.steps: list[tuple[str, str]] = []  # the columns of `Steps`: title and formula, "#" for the number of a row
        self.splits: list[list[Cell]] = []  # the columns of `Splits`
        self.terms: list[str] = []  # the columns of `Steps` with the terms of linear models
        self.result: dict[int, str] = {}  # the column of `Steps` with the node where a row ends, for inner nodes

    def sheets(self) -> dict[str, list[list[Cell]]]:
        plan = self.plan
        levels = [[spec.name, *(spec.levels or ())] for spec in plan.inputs]
        for i, spec in enumerate(plan.inputs):
            if spec.levels is not None:
                self.codes[i] = self._add_step(f"code of {spec.name}", _code(i, spec))
        inner = [i for i, step in enumerate(plan.steps) if step.children]
        for node in reversed(inner):  # children first
            self.result[node] = self._add_step(f"node {node}", self._node(node, plan.steps[node]))
        self._add_terms()
        steps: list[list[Cell]] = [[title for title, _ in self.steps]]
        steps += [[Formula(formula).at(r) for _, formula in self.steps] for r in range(2, self.n_rows + 2)]
        return {
            "Rows": self._rows(),
            "Steps": steps,
            "Splits": _transposed(self.splits),
            "Levels": _transposed(levels),
            "Predictions": self._predictions(),
            **({"Models": model_sheet(plan)} if plan.models else {}),
        }

    def _add_terms(self) -> None:
        """Add a column for each term of the linear models."""
        node = f"Rows!{letters(len(self.plan.inputs) + 1)}#"
        for place, (i, levels) in enumerate(regressors_of(self.plan)):
            spec, cell = self.plan.inputs[i], f"Rows!{letters(i)}#"
            known, value = f"ISNUMBER({cell})", number_formula(spec.kind, cell, _EPOCH, _DAY)
            if levels is not None:
                members = [int(k in levels) for k in range(len(spec.levels or ()))]
                self.splits.append([f"levels of {spec.name} that count", *members])
                letter = letters(len(self.splits) - 1)
                known = f"{self.codes[i]}#>0"
                value = f"INDEX(Splits!${letter}$2:${letter}${len(members) + 1},{self.codes[i]}#)"
            formula = term_formula(self.plan, place, node, known, value)
            self.terms.append(self._add_step(f"term of {spec.name}", formula))

    def _add_step(self, title: str, formula: str) -> str:
        if len(formula) > _MOST_FORMULA or formula.count(",") > _MOST_ARGUMENTS:
            raise ExportError(f"{title} needs a formula longer than a spreadsheet takes; prune the tree")
        self.steps.append((title, formula))
        return letters(len(self.steps) - 1)

    def _node(self, node: int, step: PlanStep) -> str:
        """Return the formula of the node where a row ends that comes to this one."""
        name = self.plan.inputs[step.questions[0].input].name
        used = [self._add_step(f"child of node {node}: {name}", self._child(question)) for question in step.questions]
        ends = [self._end(child) for child in step.children]
        alone = [end for end, share in zip(ends, step.share, strict=True) if share > 0]
        several = alone[0] if len(alone) == 1 else "NA()"
        rest = {FRACTIONAL: several, STOP_HERE: str(node)}.get(step.missing) or ends[step.missing]
        for column in reversed(used[1:]):  # surrogates
            rest = f"IF({column}#>0,{_choice(f'{column}#', ends)},{rest})"
        if step.unseen >= 0 and step.questions[0].input in self.codes:
            rest = f"IF({used[0]}#=0,{ends[step.unseen]},{rest})"
        return f"IF({used[0]}#>0,{_choice(f'{used[0]}#', ends)},{rest})"

    def _end(self, node: int) -> str:
        return f"{self.result[node]}#" if node in self.result else str(node)

    def _child(self, question: Question) -> str:
        """Return the formula of the child of a value: 1 and up, 0 for a level of no child, -1 for no value."""
        self.splits.append([self.plan.inputs[question.input].name, *self._breaks(question)])
        letter, first = letters(len(self.splits) - 1), 2 + len(question.breaks)
        children = [child + 1 if child >= 0 else -int(bool(question.breaks)) for child in question.child_of_bin]
        self.splits[-1] += children
        table = f"Splits!${letter}${first}:${letter}${first + len(children) - 1}"
        if question.input in self.codes:
            code = f"{self.codes[question.input]}#"
            return f"IF({code}>0,INDEX({table},{code}),{code})"
        value, sign = f"Rows!{letters(question.input)}#", ">" if question.closed else ">="
        if len(question.breaks) == 1:
            bin_ = f"IF({value}{sign}Splits!${letter}$2,2,1)"
        else:
            bin_ = f"1+SUMPRODUCT(--({value}{sign}Splits!${letter}$2:${letter}${first - 1}))"
        return f"IF(ISNUMBER({value}),INDEX({table},{bin_}),-1)"

    def _breaks(self, question: Question) -> list[float]:
        kind = self.plan.inputs[question.input].kind
        return [_days(kind, x) if kind in TIME_KINDS else x for x in question.breaks]

    def _rows(self) -> list[list[Cell]]:
        plan, n = self.plan, len(self.plan.inputs)
        shares = [] if plan.target.classes is None else [f"probability of {name}" for name in plan.target.classes]
        table: list[list[Cell]] = [
            [*(spec.name for spec in plan.inputs), f"prediction of {plan.target.name}", *shares, "node"]
        ]
        node, last = letters(n + 1 + len(shares)), len(plan.steps) + 1
        refused = [f"ISBLANK({letters(i)}#)" for i in plan.required]
        refused += [f"Steps!{column}#=0" for column in self.codes.values()] if plan.strict else []
        for r in range(2, self.n_rows + 2):
            given = (
                [None] * n if self.given is None else [_value(s, self.given[r - 2].get(s.name)) for s in plan.inputs]
            )
            end = f"Steps!{self.result[0]}#" if self.result else "0"
            end = f"IF(OR({','.join(refused)}),NA(),{end})" if refused else end
            if self.given is None and n:
                end = f'IF(COUNTA(A#:{letters(n - 1)}#)=0,"",{end})'
            found = [
                f'IF({node}#="","",INDEX(Predictions!${letters(k + 1)}$2:${letters(k + 1)}${last},{node}#+1))'
                for k in range(1 + len(shares))
            ]
            if plan.models:
                found = [
                    sum_formula(plan, f"{node}#", f",Steps!{self.terms[0]}#:{self.terms[-1]}#" if self.terms else "")
                ]
            table.append([*given, *(Formula(formula).at(r) for formula in (*found, end))])
        return table

    def _predictions(self) -> list[list[Cell]]:
        classes = self.plan.target.classes
        if classes is None:
            return [["node", "prediction"], *([i, step.value[0]] for i, step in enumerate(self.plan.steps))]
        rows = ([i, classes[step.prediction], *step.value] for i, step in enumerate(self.plan.steps))
        return [["node", "prediction", *(f"probability of {name}" for name in classes)], *rows]


def _code(i: int, spec: ColumnSpec) -> str:
    """Return the formula of a level's place, from 1; 0 for an unknown level, -1 for no value."""
    value, letter = f"Rows!{letters(i)}#", letters(i)
    table = f"Levels!${letter}$2:${letter}${len(spec.levels or ()) + 1}"
    if level_type(spec.levels or ()) == "text":  # other ways to compare text ignore case
        found, test = f"SUMPRODUCT(EXACT({table},{value})*(ROW({table})-1))", "ISTEXT"
    else:
        truth = level_type(spec.levels or ()) == "truth"
        found, test = f"IFERROR(MATCH({value},{table},0),0)", "ISLOGICAL" if truth else "ISNUMBER"
    return f"IF(ISBLANK({value}),-1,IF({test}({value}),{found},0))"


def _choice(child: str, ends: Sequence[str]) -> str:
    return f"IF({child}=1,{ends[0]},{ends[1]})" if len(ends) == 2 else f"CHOOSE({child},{','.join(ends)})"


def _transposed(columns: Sequence[Sequence[Cell]]) -> list[list[Cell]]:
    height = max(map(len, columns), default=0)
    return [[column[r] if r < len(column) else None for column in columns] for r in range(height)]


def _days(kind: str, microseconds: float) -> float:
    return microseconds / _DAY + (_EPOCH if kind in ("date", "datetime") else 0)


def _value(spec: ColumnSpec, value: Any) -> Cell:
    """Return a value of a row as a cell holds it: moments as days, with the format of their kind."""
    if value is None or value != value:
        return None
    if isinstance(value, str):
        _refuse_value(value, f"value of column {spec.name!r}")
    if isinstance(value, datetime):
        value = value.replace(tzinfo=UTC) if value.tzinfo is None else value
        value = (value - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(days=1) + _EPOCH
    elif isinstance(value, date):
        value = (value - date(1970, 1, 1)).days + _EPOCH
    elif isinstance(value, time):
        value = ((value.hour * 60 + value.minute) * 60 + value.second + value.microsecond / 1e6) / 86_400
    elif isinstance(value, timedelta):
        value = value / timedelta(days=1)
    return (value, _FORMAT[spec.kind]) if spec.kind in _FORMAT else value
