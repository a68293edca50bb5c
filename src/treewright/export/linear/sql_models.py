"""Linear models of leaves as SQL expressions.

Terms are added in order, as prediction does. A sum beyond the range of float64 is kept within the limits where the
database computes with infinity, and an error where it does not.
"""

from __future__ import annotations

from treewright.data.schema import TIME_KINDS
from treewright.errors import ExportError
from treewright.export.dialects import number_token
from treewright.export.program.plan import Plan
from treewright.export.sql_route import RouteWriter
from treewright.tree.models import LinearModel, Term


def model_expression(writer: RouteWriter, model: LinearModel) -> str:
    """Return the prediction of a model: the sum of its terms, not below `low` and not above `high`."""
    dialect = writer.dialect
    low, high = (number_token(dialect, limit) for limit in (model.low, model.high))
    total = " + ".join([number_token(dialect, model.intercept), *(_term(writer, term) for term in model.terms)])
    return f"{dialect.least}({dialect.greatest}({total}, {low}), {high})"


def _term(writer: RouteWriter, term: Term) -> str:
    dialect, name, spec = writer.dialect, writer.names[term.column], writer.plan.inputs[term.column]
    if spec.levels is None or term.levels is None:
        return f"{number_token(dialect, term.coefficient)} * COALESCE({name}, {number_token(dialect, term.fill)})"
    inside = [level for place, level in enumerate(spec.levels) if place in term.levels]
    outside = [level for place, level in enumerate(spec.levels) if place not in term.levels]
    arms = [(inside, term.coefficient), (outside, 0.0)]
    tests = " ".join(
        f"WHEN {writer.among(name, levels)} THEN {number_token(dialect, x)}" for levels, x in arms if levels
    )
    return f"CASE {tests} ELSE {number_token(dialect, term.coefficient * term.fill)} END"


def refuse_moments(plan: Plan) -> None:
    """Raise for dates and times among the terms of a model."""
    for model in plan.models:
        for term in model.terms:
            if plan.inputs[term.column].kind in TIME_KINDS:
                raise ExportError(
                    f"column {plan.inputs[term.column].name!r} is a term of a linear model, and databases differ in "
                    "how they compute with dates and times; learn from numbers, or with Linear(only=...) without it"
                )
