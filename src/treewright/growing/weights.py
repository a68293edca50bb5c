"""Misclassification costs, priors and class weights: checked, and turned into row weights.

As in rpart, growing sees altered weights (prior times the cost of errors on the class); predictions and pruning see the
priors and the least expected cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.encoding import LARGEST, Encoded, encode_weight
from treewright.data.frame import RawColumn
from treewright.data.rows import blank_rows, weights_of
from treewright.data.schema import Level, Schema, TargetSpec
from treewright.data.value_text import listed
from treewright.errors import DataError
from treewright.growing.exact_sums import Sums, as_floats, merged, sums_by
from treewright.growing.memory_partitions import as_partitions
from treewright.growing.partitions import Partitions
from treewright.recipes.recipe import Recipe

#: Limit of the ratio of two classes' error costs: beyond it, weights lose their digits.
WIDEST = 1e9


def with_costs(schema: Schema, costs: object = None, priors: object = None) -> Schema:
    """Return the schema with misclassification costs ([truth][prediction]) and priors, checked."""
    if costs is None and priors is None:
        return schema
    target = schema.target
    if target.classes is None:
        raise DataError(
            f"costs and priors are about classes, but the target {target.name!r} is learned as a number; leave them "
            "out, or learn classes with task='classification'"
        )
    checked = replace(
        target,
        costs=None if costs is None else _costs(costs, target.classes),
        priors=None if priors is None else _priors(priors, target.classes),
    )
    return replace(schema, target=checked)


def class_factors(class_weight: object, target: TargetSpec, found: FloatArray) -> FloatArray:
    """Return the factor of each class: from a mapping (one where left out), or "balanced".

    `found` is the weight of each class in the table.
    """
    assert target.classes is not None
    if isinstance(class_weight, str) and class_weight == "balanced":
        balanced: FloatArray = found.sum() / (np.count_nonzero(found) * np.where(found > 0, found, 1.0))
        return balanced
    if not isinstance(class_weight, Mapping):
        raise DataError(f"class_weight must be a dict of weights by class, 'balanced' or None, not {class_weight!r}")
    known = {level: weight for level, weight in class_weight.items() if level in target.classes}
    if len(known) < min(len(class_weight), len(target.classes)):
        foreign = [level for level in class_weight if level not in known]
        raise DataError(
            f"class_weight names {listed(foreign)}, which is no class of the target {target.name!r}; the classes "
            f"{listed(target.classes)} are not in class_weight"
        )
    factors = np.ones(len(target.classes))
    for level, weight in known.items():
        factors[_index(level, target.classes, "class_weight")] = _number(weight, f"class_weight[{level!r}]")
    return factors


@overload
def weighted(rows: Encoded, schema: Schema, class_weight: object) -> Encoded: ...
@overload
def weighted(rows: Encoded | Partitions, schema: Schema, class_weight: object) -> Encoded | Partitions: ...
def weighted(rows: Encoded | Partitions, schema: Schema, class_weight: object) -> Encoded | Partitions:
    """Multiply the weight of each row by the weight of its class."""
    if class_weight is None:
        return rows
    if schema.target.classes is None:
        raise DataError(
            f"class_weight is about classes, but the target {schema.target.name!r} is learned as a number; leave "
            "class_weight out, or learn classes with task='classification'"
        )
    factors = class_factors(class_weight, schema.target, class_totals(rows))
    if not isinstance(rows, Encoded):
        return rows.changed(_reweighted, factors)
    column = RawColumn("class_weight", "numeric", weights_of(rows) * factors[rows.target])
    return replace(rows, weight=encode_weight(column, rows.n_rows))


def class_totals(rows: Encoded | Partitions) -> FloatArray:
    """Return the total weight of each class; it does not depend on the partitions."""
    parts = as_partitions(rows)
    return as_floats(merged(parts.map(_class_sums)), parts.n_classes)


def _class_sums(rows: Encoded) -> Sums:
    assert rows.target is not None
    return sums_by(rows.target, weights_of(rows), rows.n_classes)


def _reweighted(rows: Encoded, by_class: FloatArray) -> Encoded:
    return replace(rows, weight=weights_of(rows) * by_class[rows.target])


@dataclass(frozen=True, eq=False)
class Altered:
    """Row weights as growing sees them; the factor per class that undoes them; the costs as an array."""

    weight: FloatArray | None
    factor: FloatArray | None = None
    cost: FloatArray | None = None


def altered(rows: Encoded, target: TargetSpec) -> Altered:
    """Alter row weights as rpart does: a class weighs its prior times the cost of errors on it; the total stays.

    A class without rows (in a fold, say) has no weight, whatever its prior.
    """
    if target.classes is None or (target.costs is None and target.priors is None):
        return Altered(rows.weight)
    by_class = altered_by(target, class_totals(rows))
    return Altered(weights_of(rows) * by_class.seen[rows.target], by_class.factor, by_class.cost)


def growing_weights(rows: Encoded, schema: Schema, recipe: Recipe) -> FloatArray:
    """Return the weight of each row as growing sees it: altered, and zero for rows that the recipe leaves out."""
    weight = altered(rows, schema.target).weight
    weight = np.ones(rows.n_rows) if weight is None else weight
    return np.where(blank_rows(rows), 0.0, weight) if recipe.drop_blank_rows else weight


def altered_partitions(parts: Partitions, target: TargetSpec) -> tuple[Partitions, Altered]:
    """Return the partitions with altered weights, and what undoes them."""
    if target.classes is None or (target.costs is None and target.priors is None):
        return parts, Altered(None)
    by_class = altered_by(target, class_totals(parts))
    return parts.changed(_reweighted, by_class.seen), Altered(None, by_class.factor, by_class.cost)


@dataclass(frozen=True, eq=False)
class AlteredClasses:
    """The factor of row weights per class for growing, and what undoes it; the costs as an array."""

    seen: FloatArray
    factor: FloatArray
    cost: FloatArray | None


def altered_by(target: TargetSpec, found: FloatArray) -> AlteredClasses:
    """Compute the altered factors from the weight of each class."""
    real = np.ones(len(found))
    if target.priors is not None:
        real = np.asarray(target.priors) * found.sum() / np.where(found > 0, found, 1.0)
    cost = None if target.costs is None else np.ascontiguousarray(target.costs, dtype=np.float64)
    seen = real if cost is None or len(cost) == 1 else real * cost.sum(axis=1)  # with one class there are no errors
    if not found @ seen > 0:  # a fold of classes that weigh nothing
        seen = real = np.ones(len(found))
    seen = seen * ((found @ real) / (found @ seen))
    return AlteredClasses(seen, np.divide(real, seen, out=np.ones_like(real), where=seen > 0), cost)


def check_priors(rows: Encoded | Partitions, target: TargetSpec) -> None:
    """Raise `DataError` if every class that has rows has a prior of zero."""
    if target.priors is not None and not class_totals(rows) @ np.asarray(target.priors) > 0:
        raise DataError(
            f"priors: every class with rows has the prior 0, so no row of the target {target.name!r} has weight; give "
            "at least one of the classes that occur a prior above zero"
        )


def _costs(given: object, classes: tuple[Level, ...]) -> tuple[tuple[float, ...], ...]:
    matrix = _cost_table(given, classes) if isinstance(given, Mapping) else _array(given, "costs")
    n = len(classes)
    if matrix.shape != (n, n):
        raise DataError(
            f"costs must have one row and one column per class ({n}: {listed(classes)}), not the shape {matrix.shape}"
        )
    faults = {
        "costs are finite and not negative": ~np.isfinite(matrix) | (matrix < 0),
        "scale the costs to ordinary size: only their proportions matter": (matrix > LARGEST)
        | ((matrix > 0) & (matrix < 1 / LARGEST)),
    }
    for remedy, bad in faults.items():
        for i, j in np.argwhere(bad):
            cost = f"the cost of predicting {classes[j]!r} where {classes[i]!r} is true is {matrix[i, j]:g}"
            raise DataError(f"{cost}; {remedy}")
    wrong = np.flatnonzero(np.diagonal(matrix))
    if len(wrong):
        level = classes[wrong[0]]
        raise DataError(
            f"costs: predicting {level!r} where {level!r} is true is right and must cost 0, not "
            f"{matrix[wrong[0], wrong[0]]:g}; rows are the truth, columns the prediction"
        )
    free = np.flatnonzero(matrix.sum(axis=1) == 0)
    if len(free) and n > 1:
        raise DataError(
            f"costs: no error on the class {classes[free[0]]!r} costs anything, so it could never matter; give at "
            "least one cost above zero in its row"
        )
    each = matrix.sum(axis=1)
    if n > 1 and each.max() > WIDEST * each.min():
        raise DataError(
            f"costs: errors on the class {classes[each.argmax()]!r} cost {each.max() / each.min():g} times what errors "
            f"on {classes[each.argmin()]!r} cost; up to {WIDEST:g} times can be weighed against each other"
        )
    return tuple(tuple(row) for row in matrix.tolist())


def _cost_table(given: Mapping[Any, Any], classes: tuple[Level, ...]) -> FloatArray:
    """Return the array for {truth: {prediction: cost}}; an error that is left out costs one."""
    matrix = 1.0 - np.eye(len(classes))
    for truth, row in given.items():
        i = _index(truth, classes, "costs")
        if not isinstance(row, Mapping):
            raise DataError(f"costs[{truth!r}] must be a dict of costs by prediction, not {row!r}")
        for guess, cost in row.items():
            matrix[i, _index(guess, classes, f"costs[{truth!r}]")] = _number(cost, f"costs[{truth!r}][{guess!r}]")
    return matrix


def _priors(given: object, classes: tuple[Level, ...]) -> tuple[float, ...]:
    if isinstance(given, Mapping):
        values = np.zeros(len(classes))
        named = {
            _index(level, classes, "priors"): _number(prior, f"priors[{level!r}]") for level, prior in given.items()
        }
        values[list(named)] = list(named.values())
        absent = [level for place, level in enumerate(classes) if place not in named]
        if absent:
            raise DataError(f"priors leaves out the class {listed(absent)}; give every class its share")
    else:
        values = _array(given, "priors")
    if values.shape != (len(classes),):
        raise DataError(f"priors must have one share per class ({listed(classes)}), not the shape {values.shape}")
    if not ((values >= 0) & (values <= 1)).all() or abs(values.sum() - 1) > 1e-6:
        raise DataError(f"priors must be shares from 0 to 1 that add up to 1, not {values.tolist()}")
    return tuple((values / values.sum()).tolist())


def _array(given: object, name: str) -> FloatArray:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers in the order of the classes, or a dict by class: {error}") from error


def _index(level: object, classes: tuple[Level, ...], name: str) -> int:
    plain = level.item() if isinstance(level, np.generic) else level
    if plain not in classes:
        raise DataError(f"{name} names the class {plain!r}, which is not there; the classes are {listed(classes)}")
    return classes.index(plain)


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a number, not {value!r}") from None
