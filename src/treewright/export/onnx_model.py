"""The tree as an ONNX model: strings and numbers in, labels and probabilities out.

The model predicts as `predict` does, to the last bit: numbers are compared as float64, shares of several paths are
multiplied and added in the same order. One input [rows, 1] per column that the tree splits on: float64 for numbers
(microseconds for moments; NaN is missing), strings for levels (a text of your choice is missing).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from treewright.data.schema import ColumnSpec
from treewright.errors import ExportError
from treewright.export.linear.onnx_values import end_values
from treewright.export.onnx_graph import Graph
from treewright.export.onnx_route import route_by_ensemble, route_by_forking_loop, route_by_loop
from treewright.export.program.plan import Plan, level_type, plan_of, refuse_soft
from treewright.export.program.state_machine import machine_of
from treewright.export.program.tables import has_surrogate, refuse_inexact, refuse_unwritable
from treewright.tree.as_tree import TreeLike, as_tree

_OUTPUT_KINDS = {"text": "STRING", "truth": "BOOL", "whole": "INT64", "number": "DOUBLE"}
_ARRAY_KINDS = {"text": object, "truth": np.bool_, "whole": np.int64, "number": np.float64}


def onnx(tree: TreeLike, *, missing: str = "") -> bytes:
    """Return the tree as an ONNX model.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    missing : str, default=""
        The text that stands for a missing value in columns of text.

    Returns
    -------
    bytes
        A model with the outputs `label` and `probabilities`, or `prediction` for a number. Rows that `predict` refuses
        have NaN probabilities and an empty label.

    Raises
    ------
    ExportError
        If the target format cannot represent the tree.
    """
    tree = as_tree(tree)
    plan = plan_of(tree)
    refuse_soft(plan, "ONNX")
    inputs = plan.inputs or tree.schema.columns[:1]  # a lone leaf has no split, but rows must be counted by something
    _refuse(replace(plan, inputs=inputs), missing)
    graph = Graph()
    coded = [_encoded(graph, spec, missing) for spec in inputs]
    rows = graph.put("Concat", *coded, axis=1)
    outputs = _outputs(graph, plan, rows, len(inputs), _refused(graph, plan, coded))
    described = [graph.described(s.name, "STRING" if _is_text(s) else "DOUBLE", ["rows", 1]) for s in inputs]
    target = tree.schema.target.name.encode("utf-8", "replace").decode()
    about = f"A decision tree for {target}: {tree.n_nodes} nodes"
    return graph.model(described, outputs, about)


def _is_text(spec: ColumnSpec) -> bool:
    return spec.levels is not None and level_type(spec.levels) == "text" and bool(spec.levels)


def _refuse(plan: Plan, missing: str) -> None:
    refuse_inexact(plan, "ONNX")
    refuse_unwritable(plan, "ONNX", nul=False)
    for spec in plan.inputs:
        if spec.name in ("", "label", "probabilities", "prediction") or has_surrogate(spec.name):
            raise ExportError(
                f"a column cannot have the name {spec.name!r} in ONNX, where inputs and outputs share their names and "
                "each has one, of valid Unicode; rename it and learn anew"
            )
        if _is_text(spec) and missing in (spec.levels or ()):
            raise ExportError(
                f"column {spec.name!r} has the level {missing!r}, which would mean a missing value in this model; "
                "choose another text for it with missing="
            )
    kind = level_type(plan.target.classes or ("",))
    if kind in ("truth", "whole") and (plan.required or plan.strict):
        raise ExportError(
            f"this tree refuses some rows, but the classes of {plan.target.name!r} have no value for that in ONNX; "
            "learn with a policy for missing values and unseen='missing', or from a target that is text"
        )


def _encoded(graph: Graph, spec: ColumnSpec, missing: str) -> str:
    """Return a column as float64 [rows, 1]; levels are codes, after them come the codes of missing and unseen."""
    if spec.levels is None:
        return spec.name
    n = len(spec.levels)
    if _is_text(spec):
        keys = np.array([*spec.levels, missing], dtype=object)
        codes, unseen = np.arange(n + 1, dtype=np.float64), np.array([n + 1.0])
        return str(graph.put("LabelEncoder", spec.name, keys_tensor=keys, values_tensor=codes, default_tensor=unseen))
    unseen, known = np.array([n + 1.0]), np.array([float(level) for level in spec.levels])
    codes = np.arange(n, dtype=np.float64)
    code = graph.put("LabelEncoder", spec.name, keys_tensor=known, values_tensor=codes, default_tensor=unseen)
    return str(graph.put("Where", graph.put("IsNaN", spec.name), graph.table(float(n)), code))


def _refused(graph: Graph, plan: Plan, coded: list[str]) -> str | None:
    """Return which rows `predict` refuses, [rows, 1]."""
    conditions = []
    for i, spec in enumerate(plan.inputs):
        n = None if spec.levels is None else float(len(spec.levels))
        if i in plan.required:
            conditions.append(
                graph.put("Equal", coded[i], graph.table(n)) if n is not None else graph.put("IsNaN", coded[i])
            )
        if plan.strict and n is not None:
            conditions.append(graph.put("Equal", coded[i], graph.table(n + 1)))
    found: str | None = None
    for condition in conditions:
        found = condition if found is None else graph.put("Or", found, condition)
    return found


def _outputs(graph: Graph, plan: Plan, rows: str, n_inputs: int, refused: str | None) -> list[Any]:
    machine = machine_of(plan)
    steps = [plan.steps[machine.states[end].step] for end in machine.ends]  # type: ignore[union-attr]
    place = None
    if machine.forks:
        row, end, weight = route_by_forking_loop(graph, machine, rows, n_inputs)
        column = graph.put("Unsqueeze", weight, graph.table([1], np.int64))
        parts = graph.put("Mul", column, end_values(graph, plan, steps, end, rows, row))
        to = graph.put("Expand", graph.put("Unsqueeze", row, graph.table([1], np.int64)), graph.put("Shape", parts))
        count = graph.put("Gather", graph.put("Shape", rows), graph.table([0], np.int64))
        shape = graph.put("Concat", count, graph.table([plan.n_values], np.int64), axis=0)
        zeros = graph.put("ConstantOfShape", shape, value=np.array([0.0]))
        shares = graph.put("ScatterElements", zeros, to, parts, axis=0, reduction="add")
    else:
        end = (
            route_by_ensemble(graph, machine, rows)
            if machine.is_tree
            else route_by_loop(graph, machine, rows, n_inputs)
        )
        shares = end_values(graph, plan, steps, end, rows, None)
        place = graph.put("Gather", graph.table([step.prediction for step in steps], np.int64), end)
    wanted = "prediction" if plan.target.classes is None else "probabilities"
    graph.put("Identity" if refused is None else "Where", *_unless(graph, refused, shares), outputs=[wanted])
    if plan.target.classes is None:
        return [graph.described("prediction", "DOUBLE", ["rows", 1])]
    place = _best(graph, plan, shares) if place is None else place
    return [_label(graph, plan, place, refused), graph.described("probabilities", "DOUBLE", ["rows", plan.n_values])]


def _unless(graph: Graph, refused: str | None, value: str) -> list[str]:
    return [value] if refused is None else [refused, graph.table(np.nan, np.float64), value]


def _best(graph: Graph, plan: Plan, shares: str) -> str:
    """Return the index of the most probable class or, with costs, of the cheapest."""
    if plan.target.costs is None:
        return str(graph.put("ArgMax", shares, axis=1, keepdims=0))
    expected = ""
    for i, row in enumerate(plan.target.costs):
        share = graph.put("Gather", shares, graph.table([i], np.int64), axis=1)
        part = graph.put("Mul", share, graph.table([row], np.float64))
        expected = graph.put("Add", expected, part) if expected else part
    return str(graph.put("ArgMin", expected, axis=1, keepdims=0))


def _label(graph: Graph, plan: Plan, place: str, refused: str | None) -> Any:
    classes = plan.target.classes or ()
    kind = level_type(classes)
    nothing = [] if refused is None else ["" if kind == "text" else np.nan]
    if refused is not None:
        flat = graph.put("Squeeze", refused, graph.table([1], np.int64))
        place = graph.put("Where", flat, graph.table(len(classes), np.int64), place)
    graph.put("Gather", graph.table([*classes, *nothing], _ARRAY_KINDS[kind]), place, outputs=["label"])
    return graph.described("label", _OUTPUT_KINDS[kind], ["rows"])
