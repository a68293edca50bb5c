"""Describe a `Frame` as a `Schema`, and encode it as the arrays of docs/boundary.md.

Everything the core relies on is checked here. Columns are matched by name (by position for an array without names),
levels by value; columns that are not in the schema are ignored.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from treewright.data.arrays import Array, FloatArray, Int32Array, Int64Array
from treewright.data.frame import Frame, RawColumn
from treewright.data.infer_task import infer_task
from treewright.data.kinds import (
    KindChoice,
    check_kinds,
    finite_numbers_of,
    has_numbers,
    has_text,
    levels_of,
    misfit,
    numbers_of,
    specify,
    specify_columns,
)
from treewright.data.schema import LEVEL_KINDS, TIME_KINDS, ColumnSpec, Level, Schema, TargetSpec, Task
from treewright.data.value_text import listed
from treewright.errors import DataError

_log = logging.getLogger("treewright.learn")

Unseen = Literal["missing", "majority", "error"]

MISSING_CODE = -1
UNSEEN_CODE = -2

#: A nominal target with a class of its own for every row is an identifier once there are more rows than this.
FEW_ROWS = 20

#: Targets and weights beyond this, or all below its inverse, are refused: pruning adds up weighted fourth powers, for
#: the standard error of a mean squared error.
LARGEST = 1e50

#: A row that weighs less than this share of the whole weight would be rounded away.
SMALLEST_SHARE = 2.0**-52

_KIND_CODES = {"ordinal": 1, "nominal": 2, "boolean": 2}


@dataclass(frozen=True)
class UnseenLevels:
    """In how many rows a column has levels that the schema does not know, and one of them."""

    column: str
    count: int
    example: str


@dataclass(frozen=True, eq=False)
class Encoded:
    """What the core is given: one array per column of the schema, its kind code and its number of levels."""

    columns: tuple[FloatArray | Int32Array, ...]
    kinds: tuple[int, ...]
    levels: tuple[int, ...]
    n_rows: int
    target: FloatArray | Int32Array | None = None
    n_classes: int = 0
    weight: FloatArray | None = None
    dealt: Int64Array | None = None  # per row its first unit of weight and their number (pruning.folds)
    repeats: Int32Array | None = None  # of a resample: how often each row is in it; weights, if any, include it
    unseen: tuple[UnseenLevels, ...] = ()
    complete: bool = False  # known to have no missing value and no infinite number
    coded: Any = None  # the same columns binned (`_core.BinnedTable`), for many trees of one table

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Align arrays from another process, which may begin at any byte, as the core needs them."""
        self.__dict__.update({name: aligned(value) for name, value in state.items()})


def aligned(value: Any) -> Any:
    """Return an array, or a tuple of arrays, copied where its numbers are not aligned; anything else as it is."""
    if isinstance(value, tuple):
        return tuple(aligned(one) for one in value)
    return np.require(value, requirements="A") if isinstance(value, np.ndarray) else value


class ColumnCountError(DataError):
    """An array without names that has another number of columns than the tree was learned from."""

    def __init__(self, given: int, expected: int, owner: str = "the tree") -> None:
        super().__init__(column_count_message(given, expected, owner))
        self.given = given
        self.expected = expected


def column_count_message(given: int, expected: int, owner: str) -> str:
    """scikit-learn's words; estimators put in their own name."""
    return f"X has {given} features, but {owner} is expecting {expected} features as input."


# --- describing: training only --------------------------------------------------------------------------------------


def describe(
    frame: Frame,
    target: RawColumn,
    task: Task | None = None,
    kinds: Mapping[str, KindChoice] | None = None,
    n_rows: int | None = None,
    keep_empty: bool = False,
) -> Schema:
    """Return what the columns and the target are.

    `task` decides. Without it the kind given for the target in `kinds` decides (a list gives the classes in order), and
    without that its type: text, categories and truth values are classes, numbers are what `infer_task` finds. `n_rows`
    is the number of rows of the whole table where the frame stands for more rows than it has. `keep_empty`: a column of
    numbers may be all missing, as in scikit-learn.
    """
    check_rows(frame.n_rows, target, "target")
    check_table(len(frame.columns), frame.n_rows, target.name)
    chosen = check_kinds(kinds, (*frame.names, target.name))
    target_spec = describe_target(target, task, chosen.get(target.name), n_rows)
    for column in frame.columns:
        if not (keep_empty and column.kind == "numeric" and column.all_missing):
            _refuse_useless(column, target)
    return Schema(specify_columns(frame.columns, chosen), target_spec, frame.text_form)


def check_table(n_columns: int, n_rows: int, target_name: str) -> None:
    """Raise unless there are columns and at least two rows."""
    if not n_columns:
        raise DataError(f"the table has no columns besides the target {target_name!r}; there is nothing to learn from")
    if n_rows < 2:
        raise DataError("Found array with 1 sample(s) while a minimum of 2 is required: one row cannot be split")


def describe_target(
    target: RawColumn, task: Task | None = None, choice: KindChoice | None = None, n_rows: int | None = None
) -> TargetSpec:
    """Return the target's task and classes. Classes are declared levels in their order, or the values found, sorted."""
    refuse_missing_target(target.name, int(np.count_nonzero(target.missing)), target.n_rows)
    kind = choice if isinstance(choice, str) else "ordinal" if choice is not None else target.kind
    if task not in (None, "classification", "regression"):
        raise DataError(f"task must be 'classification' or 'regression', not {task!r}")
    if task is None and kind in TIME_KINDS:
        raise DataError(
            f"the target {target.name!r} holds moments or durations ({kind}); turn it into a number, or give "
            "task='classification'"
        )
    doubtful = False
    if task is None and choice is None and kind == "numeric":
        inferred = infer_task(target, n_rows or target.n_rows)
        task, doubtful = inferred.task, inferred.doubtful
        _log.info("the target %r is learned as %s, inferred from its numbers", target.name, task)
    if task == "regression" or (task is None and kind not in LEVEL_KINDS):
        check_reach(target.name, _target_numbers(target))
        return TargetSpec(target.name, "regression", inferred=doubtful)
    wish = choice if isinstance(choice, (list, tuple)) or choice in LEVEL_KINDS else None
    classes = specify(target, wish if wish is not None or target.kind in LEVEL_KINDS else "nominal").levels or ()
    codes, levels = levels_of(target)
    if len(levels) >= target.n_rows > FEW_ROWS and len(np.unique(codes)) == target.n_rows:
        raise DataError(
            f"every row has its own class in the target {target.name!r} ({target.n_rows} classes in {target.n_rows} "
            f"rows, for example {target.text(0)}); choose another target, or task='regression' if it is a number"
        )
    return TargetSpec(target.name, "classification", classes, inferred=doubtful)


def _refuse_useless(column: RawColumn, target: RawColumn) -> None:
    if column.all_missing:
        raise DataError(f"column {column.name!r} has no values, they are all missing; drop it")
    if column.name == target.name and np.array_equal(column.values, target.values, equal_nan=column.levels is None):
        raise DataError(
            f"the target {target.name!r} is also a column of the table, so the prediction would be trivial; "
            f"name it (target={target.name!r}) or drop it from the table"
        )


# --- encoding -------------------------------------------------------------------------------------------------------


def encode(
    frame: Frame,
    schema: Schema,
    *,
    training: bool,
    unseen: Unseen = "missing",
    target: RawColumn | None = None,
    weight: RawColumn | None = None,
) -> Encoded:
    """Return the frame's columns in the schema's order, coded.

    A level that the schema does not have becomes -2, or an error if `training` or `unseen="error"`; whether -2 means
    missing or majority is written in the tree itself.
    """
    encoded = encode_rows(frame, schema, training=training, unseen=unseen, target=target, weight=weight)
    if encoded.target is not None and schema.target.classes is None:
        check_reach(schema.target.name, encoded.target)
    if weight is not None and encoded.weight is not None:
        check_weights(weight.name, encoded.weight)
    return encoded


def encode_rows(
    frame: Frame,
    schema: Schema,
    *,
    training: bool,
    unseen: Unseen = "missing",
    target: RawColumn | None = None,
    weight: RawColumn | None = None,
) -> Encoded:
    """Encode some rows of a table, possibly none, without checks that need all rows."""
    strict = training or unseen == "error"
    matched = _matched(frame, schema)
    columns = tuple(_encode_column(*pair, strict) for pair in zip(matched, schema.columns, strict=True))
    return Encoded(
        columns=columns,
        kinds=tuple(_KIND_CODES.get(spec.kind, 0) for spec in schema.columns),
        levels=tuple(len(spec.levels or ()) for spec in schema.columns),
        n_rows=frame.n_rows,
        target=None if target is None else encode_target(target, schema.target, frame.n_rows),
        n_classes=len(schema.target.classes or ()),
        weight=None if weight is None else _weight_numbers(weight, frame.n_rows),
        unseen=() if strict else tuple(filter(None, map(_unseen, matched, schema.columns, columns))),
    )


def encode_target(target: RawColumn, spec: TargetSpec, n_rows: int) -> FloatArray | Int32Array:
    """Return the target as class codes or as numbers; no value may be missing or foreign."""
    check_rows(n_rows, target, "target")
    refuse_missing_target(target.name, int(np.count_nonzero(target.missing)), n_rows)
    if spec.classes is None:
        return _target_numbers(target)
    codes = _recoded(target, spec.classes)
    if (codes == UNSEEN_CODE).any():
        value = target.text(int(np.argmax(codes == UNSEEN_CODE)))
        raise DataError(f"the target {target.name!r} has the class {value}; known are {listed(spec.classes)}")
    return codes


def encode_weight(weight: RawColumn, n_rows: int) -> FloatArray:
    """Return weights: numbers from zero up, not all zero."""
    values = _weight_numbers(weight, n_rows)
    check_weights(weight.name, values)
    return values


def _weight_numbers(weight: RawColumn, n_rows: int) -> FloatArray:
    check_rows(n_rows, weight, "weight")
    row = misfit(weight, "numeric")
    if row is not None:
        raise DataError(f"the weight {weight.name!r} must hold numbers, but has {weight.text(row)}{weight.place(row)}")
    values = np.ascontiguousarray(finite_numbers_of(weight, "weight", "sample_weight"), np.float64)
    refuse_missing_weight(weight.name, int(np.isnan(values).sum()))
    if (values < 0).any():
        row = int(np.argmax(values < 0))
        raise DataError(
            f"Negative values in data passed to `sample_weight`: the weight {weight.name!r} is {weight.text(row)}"
            f"{weight.place(row)}; weights start at zero"
        )
    return values


def refuse_missing_weight(name: str, n_missing: int) -> None:
    """Raise if a row has no weight."""
    if n_missing:
        raise DataError(f"Input sample_weight contains NaN. The weight {name!r} is missing in {n_missing} rows")


def check_weights(name: str, values: FloatArray) -> None:
    """Raise if all weights are zero or the largest is not of ordinary size."""
    if not values.any():
        raise DataError(f"the weight {name!r} is zero in every row; at least one weight must not be zero")
    if not 1 / LARGEST < values.max() < LARGEST:
        raise DataError(
            f"the largest weight of {name!r} is {values.max():g}; scale the weights to ordinary size: "
            "only their proportions matter"
        )
    least = values[values > 0].min()
    if least < values.sum() * SMALLEST_SHARE:
        raise DataError(
            f"the weight {name!r} is {least:g} somewhere and {values.max():g} elsewhere: beside all others the "
            "lightest rows would not count; give them the weight 0, or weights nearer to the others"
        )


def check_rows(n_rows: int, column: RawColumn, role: str) -> None:
    """Raise unless the column has as many rows as the table."""
    if column.n_rows != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {column.n_rows}]: the table has "
            f"{n_rows} rows, the {role} {column.name!r} has {column.n_rows}"
        )


def _encode_column(column: RawColumn, spec: ColumnSpec, strict: bool) -> FloatArray | Int32Array:
    if column.all_missing:  # without values there is no kind to disagree about
        return np.full(column.n_rows, *((MISSING_CODE, np.int32) if spec.has_levels else (np.nan, np.float64)))
    if spec.levels is None:
        row = misfit(column, spec.kind)
        if row is not None:
            raise _changed(column, spec, column.text(row))
        return numbers_of(column)
    codes, found = levels_of(column)
    if found is spec.levels:  # of the very table that was described
        return codes
    if not (has_text(found) and has_text(spec.levels)) and not (has_numbers(found) and has_numbers(spec.levels)):
        raise _changed(column, spec, column.example())
    codes = _recoded(column, spec.levels)
    foreign = codes == UNSEEN_CODE
    if column.kind in TIME_KINDS and not (codes >= 0).any():
        raise _changed(column, spec, column.example())
    if strict and foreign.any():
        raise DataError(
            f"column {column.name!r} has the level {column.text(int(np.argmax(foreign)))}, which was not there when "
            f"the tree was learned (known are {listed(spec.levels)}); correct it, or choose unseen='missing' or "
            "'majority'"
        )
    return codes


def _unseen(column: RawColumn, spec: ColumnSpec, codes: Array) -> UnseenLevels | None:
    if spec.levels is None or column.levels == spec.levels:
        return None
    foreign = codes == UNSEEN_CODE
    count = int(np.count_nonzero(foreign))
    return UnseenLevels(spec.name, count, column.text(int(np.argmax(foreign)))) if count else None


def _recoded(column: RawColumn, levels: tuple[Level, ...]) -> Int32Array:
    """Return codes into `levels`, by value; -1 missing, -2 a level that is not among them."""
    codes, found = levels_of(column)
    if found == levels:
        return np.ascontiguousarray(codes)
    place = {value: code for code, value in enumerate(levels)}
    lookup = np.array([*(place.get(value, UNSEEN_CODE) for value in found), MISSING_CODE], dtype=np.int32)
    return lookup[codes]  # code -1 finds the last entry


def _matched(frame: Frame, schema: Schema) -> list[RawColumn]:
    """Return the frame's columns in the schema's order: by name, or by place if it has no names."""
    if not frame.named:
        if len(frame.columns) != len(schema.columns):
            raise ColumnCountError(len(frame.columns), len(schema.columns))
        return list(frame.columns)
    there = {column.name: column for column in frame.columns}
    absent = [name for name in schema.names if name not in there]
    if absent:
        has = (*there, *frame.skipped)
        raise DataError(
            f"the table lacks the column{'s' if len(absent) > 1 else ''} {listed(absent, len(absent))}, which the tree "
            f"was learned from; it has {listed(has)}"
        )
    return [there[name] for name in schema.names]


def _changed(column: RawColumn, spec: ColumnSpec, example: str) -> DataError:
    before = f" (for example {spec.levels[0]!r})" if spec.levels else ""
    return DataError(
        f"column {spec.name!r} was {spec.kind}{before} when the tree was learned but is {column.kind} now, for example "
        f"{example}; give it as it was"
    )


def refuse_missing_target(name: str, n_missing: int, n_rows: int) -> None:
    """Raise `DataError` if a target value is missing."""
    if n_missing:
        raise DataError(
            f"Input y contains NaN. The target {name!r} is missing in {n_missing} of {n_rows} rows; drop those rows "
            "first"
        )


def _target_numbers(target: RawColumn) -> FloatArray:
    row = misfit(target, "numeric")
    if row is not None:
        raise DataError(
            f"the target {target.name!r} cannot be a number: it has {target.text(row)}{target.place(row)}; learn "
            "classes (task='classification', or a classifier), or convert it first"
        )
    return np.ascontiguousarray(finite_numbers_of(target, "target", "y"), np.float64)


def check_reach(name: str, values: Array) -> None:
    """Raise for numbers too large or too small to be squared and compared."""
    reach = float(values.max() / 2 - values.min() / 2)
    if np.abs(values).max() > LARGEST or (values.min() < values.max() and reach < 1 / LARGEST):
        raise DataError(
            f"the target {name!r} goes from {values.min():g} to {values.max():g}; learning squares its numbers, and "
            f"their squares, so they must lie within {LARGEST:g} and spread over more than {1 / LARGEST:g}; scale it"
        )
