"""What wrong answers cost and how frequent classes are: said by the user, checked, turned into weights.

Comes in: costs, priors and class weights by class or in the order of the classes; the classes and weights of rows.
Goes out: plain tuples for the `TargetSpec`, and one factor per class.
Always holds: costs are not negative and right answers cost nothing; priors add up to one. What costs and priors mean is
rpart's: growing sees altered weights (prior x what errors on the class cost), answers and pruning see the priors and
the cheapest answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treewright.data.encoding import LARGEST, Encoded, encode_weight
from treewright.data.frame import RawColumn
from treewright.data.schema import Level, Schema, TargetSpec
from treewright.data.value_text import listed
from treewright.errors import DataError
from treewright.growing.exact_sums import Sums, as_floats, merged, sums_by

FloatArray = NDArray[np.float64]

#: The errors on one class may cost so many times what those on another cost: beyond it, weights lose their digits.
WIDEST = 1e9


def target_with(target: TargetSpec, costs: object = None, priors: object = None) -> TargetSpec:
    """The target with costs ([truth][answer]) and priors, checked."""
    if costs is None and priors is None:
        return target
    if target.classes is None:
        raise DataError(
            f"costs and priors are about classes, but the target {target.name!r} is learned as a number; leave them "
            "out, or learn classes with task='classification'"
        )
    return replace(
        target,
        costs=None if costs is None else _costs(costs, target.classes),
        priors=None if priors is None else _priors(priors, target.classes),
    )


def class_factors(class_weight: object, target: TargetSpec, found: FloatArray) -> FloatArray:
    """The weight of each class: by a mapping (one for those left out), or "balanced": all classes weigh the same.

    `found` is the weight of each class in the table: a row given twice is a row of weight two, here too.
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
        factors[_place(level, target.classes, "class_weight")] = _number(weight, f"class_weight[{level!r}]")
    return factors


def weighted(encoded: Encoded, schema: Schema, class_weight: object) -> Encoded:
    """The rows with their weights multiplied by their classes' weights."""
    if class_weight is None:
        return encoded
    require_classes(schema)
    rows = np.ones(encoded.n_rows) if encoded.weight is None else encoded.weight
    assert encoded.target is not None
    factors = class_factors(class_weight, schema.target, added_up([class_weights(encoded)], encoded.n_classes))
    column = RawColumn("class_weight", "numeric", rows * factors[encoded.target])
    return replace(encoded, weight=encode_weight(column, encoded.n_rows))


def require_classes(schema: Schema) -> None:
    """Only classes have class weights."""
    if schema.target.classes is None:
        name = schema.target.name
        raise DataError(
            f"class_weight is about classes, but the target {name!r} is learned as a number; leave class_weight out, "
            "or learn classes with task='classification'"
        )


def class_weights(rows: Encoded) -> Sums:
    """The weight of each class, to be added up (`added_up`) with those of other parts of the table."""
    assert rows.target is not None
    return sums_by(rows.target, np.ones(rows.n_rows) if rows.weight is None else rows.weight, rows.n_classes)


def added_up(parts: Iterable[Sums], n_classes: int) -> FloatArray:
    """The weight of each class in all parts: the same, however the rows are parted."""
    return as_floats(merged(parts), n_classes)


@dataclass(frozen=True, eq=False)
class Altered:
    """Row weights as growing sees them; per class what turns them into real ones; the costs as an array."""

    weight: FloatArray | None
    factor: FloatArray | None = None
    cost: FloatArray | None = None


def altered(target: TargetSpec, codes: NDArray[Any], weight: FloatArray | None) -> Altered:
    """rpart's altered priors: a class weighs its prior times all that errors on it cost; the whole weight stays.

    A class without rows (in a fold, say) has no weight, whatever its prior.
    """
    if target.classes is None or (target.costs is None and target.priors is None):
        return Altered(weight)
    rows = np.ones(len(codes)) if weight is None else weight
    n_classes = len(target.classes)
    by_class = altered_by(target, as_floats(sums_by(codes, rows, n_classes), n_classes))
    return Altered(rows * by_class.seen[codes], by_class.factor, by_class.cost)


@dataclass(frozen=True, eq=False)
class AlteredClasses:
    """Per class what a row's weight is multiplied by for growing, and what undoes it; the costs as an array."""

    seen: FloatArray
    factor: FloatArray
    cost: FloatArray | None


def altered_by(target: TargetSpec, found: FloatArray) -> AlteredClasses:
    """The same from the weight of each class alone."""
    real = np.ones(len(found))
    if target.priors is not None:
        real = np.asarray(target.priors) * found.sum() / np.where(found > 0, found, 1.0)
    cost = None if target.costs is None else np.ascontiguousarray(target.costs, dtype=np.float64)
    seen = real if cost is None or len(cost) == 1 else real * cost.sum(axis=1)  # of one class nothing is ever wrong
    if not found @ seen > 0:  # a fold of classes that weigh nothing
        seen = real = np.ones(len(found))
    seen = seen * ((found @ real) / (found @ seen))
    return AlteredClasses(seen, np.divide(real, seen, out=np.ones_like(real), where=seen > 0), cost)


def refuse_weightless(target: TargetSpec, found: FloatArray) -> None:
    """Some class with rows (`found`: the weight of each) must have a prior above zero."""
    if target.priors is not None and not found @ np.asarray(target.priors) > 0:
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
    bad = np.argwhere(~np.isfinite(matrix) | (matrix < 0))
    if len(bad):
        i, j = bad[0]
        raise DataError(
            f"the cost of answering {classes[j]!r} where {classes[i]!r} is true is {matrix[i, j]:g}; costs are finite "
            "and not negative"
        )
    extreme = np.argwhere((matrix > LARGEST) | ((matrix > 0) & (matrix < 1 / LARGEST)))
    if len(extreme):
        i, j = extreme[0]
        raise DataError(
            f"the cost of answering {classes[j]!r} where {classes[i]!r} is true is {matrix[i, j]:g}; scale the costs "
            "to ordinary size: only their proportions matter"
        )
    wrong = np.flatnonzero(np.diagonal(matrix))
    if len(wrong):
        level = classes[wrong[0]]
        raise DataError(
            f"costs: answering {level!r} where {level!r} is true is right and must cost 0, not "
            f"{matrix[wrong[0], wrong[0]]:g}; rows are the truth, columns the answer"
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
    """From {truth: {answer: cost}}; a wrong answer that is left out costs one."""
    matrix = 1.0 - np.eye(len(classes))
    for truth, row in given.items():
        i = _place(truth, classes, "costs")
        if not isinstance(row, Mapping):
            raise DataError(f"costs[{truth!r}] must be a dict of costs by answer, not {row!r}")
        for answer, cost in row.items():
            matrix[i, _place(answer, classes, f"costs[{truth!r}]")] = _number(cost, f"costs[{truth!r}][{answer!r}]")
    return matrix


def _priors(given: object, classes: tuple[Level, ...]) -> tuple[float, ...]:
    if isinstance(given, Mapping):
        values = np.full(len(classes), np.nan)
        for level, prior in given.items():
            values[_place(level, classes, "priors")] = _number(prior, f"priors[{level!r}]")
        absent = [level for level, value in zip(classes, values, strict=True) if np.isnan(value)]
        if absent:
            raise DataError(f"priors leaves out the class {listed(absent)}; give every class its share")
    else:
        values = _array(given, "priors")
    if values.shape != (len(classes),):
        raise DataError(f"priors must have one share per class ({listed(classes)}), not the shape {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any() or abs(values.sum() - 1) > 1e-6:
        raise DataError(f"priors must be shares from 0 to 1 that add up to 1, not {values.tolist()}")
    return tuple((values / values.sum()).tolist())


def _array(given: object, name: str) -> FloatArray:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(f"{name} must be numbers in the order of the classes, or a dict by class: {error}") from error


def _place(level: object, classes: tuple[Level, ...], name: str) -> int:
    plain = level.item() if isinstance(level, np.generic) else level
    if plain not in classes:
        raise DataError(f"{name} names the class {plain!r}, which is not there; the classes are {listed(classes)}")
    return classes.index(plain)


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a number, not {value!r}") from None
