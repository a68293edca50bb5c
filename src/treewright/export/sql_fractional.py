"""Rows that go down several branches at once, as steps of SQL.

Weights are multiplied from the root down and predictions added from the first end to the last, as prediction does, so
that the numbers agree bit for bit. Rows with one path are not computed here: for them every column is NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from treewright.errors import ExportError
from treewright.export.dialects import Dialect, number_token
from treewright.export.linear.sql_models import model_expression
from treewright.export.program.plan import BOTH_BINS, FRACTIONAL, STOP_HERE, Plan, PlanStep
from treewright.export.sql_route import RouteWriter

#: Levels of the tree whose weights are multiplied in one step: each weight is written as so many factors.
LEVELS_AT_ONCE = 4
#: Ends whose predictions are added in one step; functions of more arguments are refused by SQLite.
ENDS_AT_ONCE = 100

#: The place of `leaf` for a row with several paths.
SEVERAL = -1

#: A step: every column it has besides those carried on, by name.
Columns = dict[str, str]


@dataclass(frozen=True)
class FractionalNames:
    """What the columns of these steps are called; no input is called so."""

    leaf: str
    weight: str
    fork: str
    prediction: str
    heaviest: str
    heaviest_leaf: str


def fractional_steps(
    writer: RouteWriter, names: FractionalNames, carried: tuple[str, ...]
) -> Iterator[tuple[list[str], Columns]]:
    """Yield steps as (columns carried on, columns made); the last has the predictions and the heaviest end.

    `carried` are columns that the statement needs afterwards, besides the inputs.
    """
    plan, dialect = writer.plan, writer.dialect
    level: list[int] = [0]  # nodes whose weight is known; the root's is one
    ready: list[str] = []  # columns of weights that are still needed
    while level:
        piece = _piece(plan, level)
        _refuse_wide(dialect, len(carried) + len(writer.names) + len(ready) + len(piece.inner))
        forks = {f"{names.fork}{i}": _only(names, writer.destination(plan.steps[i])) for i in piece.inner}
        yield [*carried, *writer.names, *ready], forks
        weights = {f"{names.weight}{i}": _weight(writer, names, path) for i, path in piece.outs.items()}
        stopped = {
            f"{names.weight}{i}_stop": _weight(writer, names, (*path, (i, STOP_HERE)))
            for i, path in piece.stops.items()
        }
        used = {f"{names.weight}{i}" for i in level}
        ready = [column for column in ready if column not in used]
        _refuse_wide(dialect, len(carried) + len(writer.names) + len(ready) + len(weights) + len(stopped))
        yield [*carried, *writer.names, *ready], weights | stopped
        ready += [*weights, *stopped]
        level = [i for i in piece.outs if not plan.steps[i].is_leaf]
    yield from _added(writer, names, carried)


@dataclass(frozen=True)
class _Piece:
    """A few levels of the tree: forks within, and the way (node, child) to each node below or stopping within."""

    inner: list[int]
    outs: dict[int, tuple[tuple[int, int], ...]]
    stops: dict[int, tuple[tuple[int, int], ...]]


def _piece(plan: Plan, level: list[int]) -> _Piece:
    inner: list[int] = []
    outs: dict[int, tuple[tuple[int, int], ...]] = {}
    stops: dict[int, tuple[tuple[int, int], ...]] = {}
    waiting: list[tuple[int, tuple[tuple[int, int], ...], int]] = [(i, (), i) for i in reversed(level)]
    while waiting:
        node, path, top = waiting.pop()
        step = plan.steps[node]
        start = path or ((top, -1),)  # the first entry names the node whose weight is known
        if path and (step.is_leaf or len(path) > LEVELS_AT_ONCE):
            outs[node] = path
            continue
        inner.append(node)
        if step.missing == STOP_HERE:
            stops[node] = start
        waiting += [(child, (*start, (node, c)), top) for c, child in reversed(list(enumerate(step.children)))]
    return _Piece(inner, outs, stops)


def _only(names: FractionalNames, expression: str) -> str:
    """For rows with several paths; the others need not wait for it."""
    return f"CASE WHEN {names.leaf} = {SEVERAL} THEN {expression} END"


def _weight(writer: RouteWriter, names: FractionalNames, path: tuple[tuple[int, int], ...]) -> str:
    (top, _), *edges = path
    factors = [_factor(writer, names, node, writer.plan.steps[node], child) for node, child in edges]
    return _only(names, " * ".join([*([f"{names.weight}{top}"] if top else []), *factors]))


def _factor(writer: RouteWriter, names: FractionalNames, node: int, step: PlanStep, child: int) -> str:
    dialect = writer.dialect
    one, zero = number_token(dialect, 1.0), number_token(dialect, 0.0)
    spread = (
        f" WHEN {FRACTIONAL} THEN {number_token(dialect, step.share[child])}"
        if child >= 0 and step.missing == FRACTIONAL
        else ""
    )
    if step.band is not None and child in step.questions[0].child_of_bin:
        second = writer.second_bin(step)
        part = second if step.questions[0].child_of_bin[1] == child else f"{one} - ({second})"
        spread += f" WHEN {BOTH_BINS} THEN {part}"
    return f"CASE {names.fork}{node} WHEN {child} THEN {one}{spread} ELSE {zero} END"


def _added(
    writer: RouteWriter, names: FractionalNames, carried: tuple[str, ...]
) -> Iterator[tuple[list[str], Columns]]:
    plan, dialect = writer.plan, writer.dialect
    ends = [(i, f"{names.weight}{i}" + ("" if plan.steps[i].is_leaf else "_stop")) for i in ends_of(plan)]
    predictions = [f"{names.prediction}{k}" for k in range(plan.n_values)]
    before: list[str] = []
    for first in range(0, len(ends), ENDS_AT_ONCE):
        some, later = ends[first : first + ENDS_AT_ONCE], ends[first + ENDS_AT_ONCE :]
        made: Columns = {}
        for k, prediction in enumerate(predictions):
            terms = [f"{weight} * {value}" for i, weight in some if (value := _value(writer, plan.steps[i], k))]
            made[prediction] = " + ".join([*([prediction] if before else []), *terms]) or number_token(dialect, 0.0)
        weights = [weight for _, weight in some]
        heaviest = extreme(dialect.greatest, [*([names.heaviest] if before else []), *weights])
        arms = [f"WHEN {names.heaviest} THEN {names.heaviest_leaf}"] if before else []
        arms += [f"WHEN {weight} THEN {i}" for i, weight in some]
        made[names.heaviest] = heaviest
        made[names.heaviest_leaf] = _only(names, f"CASE {heaviest} {' '.join(arms)} END")
        yield [*carried, *(writer.names if plan.models else ()), *(weight for _, weight in later)], made
        before = [*made]


def _value(writer: RouteWriter, step: PlanStep, place: int) -> str | None:
    """Return what an end adds, times its weight; None for nothing."""
    if step.model is not None:
        return model_expression(writer, step.model)
    return number_token(writer.dialect, step.value[place]) if step.value[place] != 0 else None


def ends_of(plan: Plan) -> list[int]:
    """Return where rows may end, in the order prediction visits them."""
    return [i for i, step in enumerate(plan.steps) if step.is_end]


def extreme(function: str, expressions: list[str]) -> str:
    """GREATEST or LEAST of any number of expressions."""
    while len(expressions) > 1:
        parts = [expressions[i : i + 50] for i in range(0, len(expressions), 50)]
        expressions = [f"{function}({', '.join(part)})" if len(part) > 1 else part[0] for part in parts]
    return expressions[0]


def _refuse_wide(dialect: Dialect, columns: int) -> None:
    if columns > dialect.most_columns:
        raise ExportError(
            f"this tree sends rows down several branches at so many nodes that SQL ({dialect.name}) would "
            f"need {columns} columns in one step, and {dialect.most_columns} are possible; prune the tree, or learn "
            "with another missing policy, such as Surrogates()"
        )
