"""The tree as a fitted scikit-learn estimator, so that tools which read those work on it.

Nodes keep their numbers, so `apply` returns what the tree's does. scikit-learn rounds a table to float32 first:
predictions agree on every table of float32, and wherever rounding does not carry a value over a threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from treewright.data.arrays import Array
from treewright.errors import ExportError
from treewright.export.program.plan import Plan, PlanStep, level_type, plan_of, refuse_mixed, refuse_soft
from treewright.recipes.criterion import AbsoluteError, Gini, InformationGain, Poisson, Variance
from treewright.recipes.missing import RefuseMissing
from treewright.tree.as_tree import TreeLike, constant_tree
from treewright.tree.tree import Tree

_CRITERIA: dict[type, str] = {
    Gini: "gini", InformationGain: "entropy", Variance: "squared_error", AbsoluteError: "absolute_error",
    Poisson: "poisson",
}  # fmt: skip


def sklearn(tree: TreeLike) -> Any:
    """Return the tree as a fitted scikit-learn estimator.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.

    Returns
    -------
    DecisionTreeClassifier or DecisionTreeRegressor
        A fitted estimator that predicts as the tree does.

    Raises
    ------
    ExportError
        If the target format cannot represent the tree.

    Notes
    -----
    Every split must have one threshold and two children.
    """
    tree = constant_tree(tree, "export.sklearn", ExportError)
    plan = plan_of(tree)
    refuse_soft(plan, "scikit-learn")
    _refuse(tree, plan)
    classes = tree.schema.target.classes
    try:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
        from sklearn.tree._tree import Tree as Inner
    except ImportError as error:
        raise ExportError("export.sklearn needs scikit-learn: pip install scikit-learn") from error
    criterion = tree.recipe.regression if classes is None else tree.recipe.criterion
    name = _CRITERIA.get(type(criterion), "squared_error" if classes is None else "gini")
    estimator = (DecisionTreeRegressor if classes is None else DecisionTreeClassifier)(criterion=name)
    columns = tree.schema.columns
    inner = Inner(len(columns), np.array([len(classes or (0,))], dtype=np.intp), 1)
    inner.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": _nodes(tree, plan, inner),
            "values": np.ascontiguousarray(tree.arrays["value"][:, np.newaxis, :]),
        }
    )
    estimator.tree_ = inner
    estimator.n_features_in_ = len(columns)
    estimator.feature_names_in_ = np.array(tree.schema.names, dtype=object)
    estimator.n_outputs_ = 1
    estimator.max_features_ = len(columns)
    if classes is not None:
        kind = object if level_type(classes) == "text" else None
        estimator.classes_, estimator.n_classes_ = np.array(classes, dtype=kind), np.intp(len(classes))
    return estimator


def _nodes(tree: Tree, plan: Plan, inner: Any) -> Array:
    """Return the node table in the form of the scikit-learn that is installed."""
    arrays, kind = tree.arrays, inner.__getstate__()["nodes"].dtype
    table = np.zeros(tree.n_nodes, dtype=kind)
    table["left_child"] = table["right_child"] = -1
    table["feature"] = table["threshold"] = -2
    table["impurity"], table["n_node_samples"] = arrays["impurity"], arrays["rows"]
    table["weighted_n_node_samples"] = arrays["weight"]
    place = {name: i for i, name in enumerate(tree.schema.names)}
    for i, step in enumerate(plan.steps):
        if not step.is_leaf:
            below = step.questions[0].child_of_bin[0]
            left, right = step.children[below], step.children[1 - below]
            table["left_child"][i], table["right_child"][i] = left, right
            table["feature"][i] = place[plan.inputs[step.questions[0].input].name]
            table["threshold"][i] = _threshold(step)
            if "missing_go_to_left" in (kind.names or ()):
                table["missing_go_to_left"][i] = step.children[step.missing] == left
    return table


def _threshold(step: PlanStep) -> float:
    """scikit-learn tests whether a float32 is not above a float64: below t is not above what comes just below t."""
    question = step.questions[0]
    if not question.breaks:  # every known value goes one way
        return float("inf")
    return float(question.breaks[0] if question.closed else np.nextafter(question.breaks[0], -np.inf))


def _refuse(tree: Tree, plan: Plan) -> None:
    for spec in tree.schema.columns:
        if spec.kind != "numeric":
            raise ExportError(
                f"column {spec.name!r} is {spec.kind}, but a scikit-learn tree knows numbers only; learn from a table "
                "where it is encoded or left out"
            )
    target = tree.schema.target
    if target.costs is not None:
        raise ExportError(
            f"the target {target.name!r} has costs, but a scikit-learn tree predicts the most probable class; learn "
            "without costs, or with class_weight="
        )
    refuse_mixed(target.classes or (), f"the target {target.name!r}", "scikit-learn")
    if isinstance(tree.recipe.missing, RefuseMissing):
        raise ExportError(
            "this tree refuses missing values, but a scikit-learn tree predicts; learn with missing=MajorityChild()"
        )
    for i, step in enumerate(plan.steps):
        if not step.is_leaf:
            _refuse_step(i, step, [plan.inputs[question.input].name for question in step.questions])


def _refuse_step(i: int, step: PlanStep, columns: Sequence[str]) -> None:
    question = step.questions[0]
    two = sorted(question.child_of_bin) == [0, 1] or question.child_of_bin in ((0,), (1,))
    if not two or len(step.children) != 2:
        raise ExportError(
            f"node {i} divides {columns[0]!r} into {len(question.child_of_bin)} intervals for {len(step.children)} "
            "children, but a scikit-learn tree has one threshold and two children; learn with branching=Binary() and "
            "numeric=Threshold()"
        )
    if len(step.questions) > 1:
        raise ExportError(
            f"node {i} uses {columns[1]!r} where {columns[0]!r} is missing, but a scikit-learn tree has no surrogates; "
            "learn with missing=LearnedDirection() or MajorityChild()"
        )
    if step.missing < 0:
        raise ExportError(
            f"where {columns[0]!r} is missing, node {i} sends a row to no single child, as a scikit-learn tree would; "
            "learn with missing=LearnedDirection() or MajorityChild()"
        )
