"""What the ends of a tree predict, in ONNX: constants, or linear models as tables of their terms.

A model is computed for one path per row of the input: term by term in order, as prediction does, so that the numbers
agree bit for bit. Models with fewer terms than the longest have terms of coefficient zero at their end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treewright.export.onnx_graph import Graph
from treewright.export.program.plan import Plan, PlanStep
from treewright.tree.models import LinearModel


def end_values(graph: Graph, plan: Plan, steps: Sequence[PlanStep], end: str, rows: str, row: str | None) -> str:
    """Return the values of each path, float64 [paths, values].

    `end` has the place of a path's end among `steps`, int64 [paths]; `row` the path's row, None where rows are paths;
    `rows` the coded table, [rows, inputs].
    """
    models = [step.model for step in steps if step.model is not None]
    if not models:
        return str(graph.put("Gather", graph.table([step.value for step in steps], np.float64), end))
    given = rows if row is None else graph.put("Gather", rows, row)
    total = _gathered(graph, [model.intercept for model in models], end)
    for k in range(max(len(model.terms) for model in models)):
        total = str(graph.put("Add", total, _term(graph, plan, models, k, end, given)))
    low, high = (_gathered(graph, [getattr(model, name) for model in models], end) for name in ("low", "high"))
    # A sum that is no number is set to the lower limit, as by prediction.
    within = graph.put("Where", graph.put("GreaterOrEqual", total, low), graph.put("Min", total, high), low)
    return str(graph.put("Unsqueeze", within, graph.table([1], np.int64)))


def _term(graph: Graph, plan: Plan, models: Sequence[LinearModel], k: int, end: str, given: str) -> str:
    """Return the k-th term of each path's model, [paths]."""
    terms = [model.terms[k] if k < len(model.terms) else None for model in models]
    column = graph.table([[0 if term is None else term.column] for term in terms], np.int64)
    picked = graph.put("GatherElements", given, graph.put("Gather", column, end), axis=1)
    x = graph.put("Squeeze", picked, graph.table([1], np.int64))
    fill = _gathered(graph, [0.0 if term is None else term.fill for term in terms], end)
    number = graph.put("Where", graph.put("IsNaN", x), fill, x)
    # Per term the value of each code of a level, of missing and of unseen: rows of one table. Numbers look up nothing.
    width = max((len(spec.levels or ()) for spec in plan.inputs), default=0) + 2
    table, by_level = np.zeros((len(terms), width)), np.zeros(len(terms), dtype=bool)
    for i, term in enumerate(terms):
        if term is not None and term.levels is not None:
            by_level[i] = True
            n = len(plan.inputs[term.column].levels or ())
            table[i, list(term.levels)] = 1.0
            table[i, n : n + 2] = term.fill
    levels = _gathered(graph, by_level, end)
    code = graph.cast(graph.put("Where", levels, number, graph.table(0.0, np.float64)), "INT64")
    coded = graph.put("GatherElements", graph.put("Gather", graph.table(table), end), _column(graph, code), axis=1)
    value = graph.put("Where", levels, graph.put("Squeeze", coded, graph.table([1], np.int64)), number)
    coefficient = _gathered(graph, [0.0 if term is None else term.coefficient for term in terms], end)
    return str(graph.put("Mul", coefficient, value))


def _column(graph: Graph, values: str) -> str:
    return str(graph.put("Unsqueeze", values, graph.table([1], np.int64)))


def _gathered(graph: Graph, values: object, end: str) -> str:
    kind = np.bool_ if isinstance(values, np.ndarray) else np.float64
    return str(graph.put("Gather", graph.table(values, kind), end))
