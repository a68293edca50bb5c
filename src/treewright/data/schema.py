"""The `Schema`: frozen descriptions of the columns and the target; `as_dict` and `from_dict` are its JSON form.

A level's code is its index in the declared order. `from_dict` validates: names and levels are unique, levels are finite
and exist exactly where the kind has them.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, cast, get_args

from treewright.errors import FileError

Kind = Literal["numeric", "nominal", "ordinal", "boolean", "date", "datetime", "time", "duration"]
Task = Literal["classification", "regression"]
Level = str | int | float | bool

KINDS: tuple[str, ...] = get_args(Kind)
TASKS: tuple[str, ...] = get_args(Task)
#: Kinds whose values come from a list; all other kinds are numbers on a line.
LEVEL_KINDS = frozenset({"nominal", "ordinal", "boolean"})
#: Moments and durations are numbers of microseconds, so every one up to the year 2255 is exact in a float64.
TIME_KINDS = frozenset({"date", "datetime", "time", "duration"})
#: Whole numbers that are levels stay below this: longer ones cannot be written and read everywhere.
LARGEST_LEVEL = 10**1000


@dataclass(frozen=True)
class ColumnSpec:
    """Description of one column.

    Parameters
    ----------
    name : str
        The name of the column.
    kind : str
        "numeric", "nominal", "ordinal", "boolean", "date", "datetime", "time" or "duration".
    levels : tuple, optional
        The levels in code order; None for numbers and times.
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] | None = None

    @property
    def has_levels(self) -> bool:
        return self.kind in LEVEL_KINDS


@dataclass(frozen=True)
class TargetSpec:
    """Description of the target.

    Parameters
    ----------
    name : str
        The name of the target.
    task : {"classification", "regression"}
        What is learned.
    classes : tuple, optional
        The classes in code order; None for a number.
    costs : tuple of tuple of float, optional
        `costs[i][j]` is the cost of predicting class j where class i is true; None means 1 for every error.
    priors : tuple of float, optional
        Class probabilities outside the table; None means as in it.
    inferred : bool, default=False
        Whether the task was inferred from whole numbers that could mean either task; not part of the saved form.
    """

    name: str
    task: Task
    classes: tuple[Level, ...] | None = None
    costs: tuple[tuple[float, ...], ...] | None = None
    priors: tuple[float, ...] | None = None
    inferred: bool = field(default=False, compare=False)


@dataclass(frozen=True)
class TextForm:
    """How a text file writes numbers and dates: the decimal sign, and whether the day comes before the month.

    None where the user did not say.
    """

    decimal: str | None = None
    day_first: bool | None = None


#: Nothing was given.
NO_TEXT_FORM = TextForm()


@dataclass(frozen=True)
class Schema:
    """Description of the columns and the target of a table.

    Parameters
    ----------
    columns : tuple of ColumnSpec
        The columns in order.
    target : TargetSpec
        The target.
    text_form : TextForm, optional
        How the text file of the training rows was read.
    """

    columns: tuple[ColumnSpec, ...]
    target: TargetSpec
    text_form: TextForm = NO_TEXT_FORM

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    def as_dict(self) -> dict[str, Any]:
        """Return the written form, used by the saved file."""
        form = {key: value for key, value in asdict(self.text_form).items() if value is not None}
        return {
            "columns": [
                {"name": c.name, "kind": c.kind, **({"levels": _plain(c.levels)} if c.levels is not None else {})}
                for c in self.columns
            ],
            "target": {
                "name": self.target.name,
                "task": self.target.task,
                **({"classes": _plain(self.target.classes)} if self.target.classes is not None else {}),
                **({"costs": [list(row) for row in self.target.costs]} if self.target.costs is not None else {}),
                **({"priors": list(self.target.priors)} if self.target.priors is not None else {}),
            },
            **({"text_form": form} if form else {}),
        }

    @staticmethod
    def from_dict(written: object, place: str = "$.schema") -> Schema:
        """Return the schema that `as_dict` wrote; anything else is a `FileError` that names the place."""
        schema = require_keys(written, place, ("columns", "target"), ("text_form",))
        columns = schema["columns"]
        if type(columns) is not list:
            raise FileError(f"{place}.columns must be a list, not {json_kind(columns)}")
        specs = tuple(_column(column, f"{place}.columns[{i}]") for i, column in enumerate(columns))
        _refuse_twice([spec.name for spec in specs], f"{place}.columns", "column name")
        form = _text_form(schema["text_form"], f"{place}.text_form") if "text_form" in schema else NO_TEXT_FORM
        return Schema(specs, _target(schema["target"], f"{place}.target"), form)


def _plain(levels: Sequence[Any]) -> list[Level]:
    """Numpy scalars become the plain Python value they hold, so that a level has one written form."""
    plain = [level.item() if hasattr(level, "item") else level for level in levels]
    for level in plain:
        if not isinstance(level, (str, int, float, bool)):
            raise FileError(f"the level {level!r} cannot be written; levels are strings, numbers or booleans")
    return plain


def _column(written: object, place: str) -> ColumnSpec:
    column = require_keys(written, place, ("name", "kind"), ("levels",))
    kind = cast(Kind, _one_of(column["kind"], f"{place}.kind", KINDS))
    levels = _levels(column, "levels", place, wanted=kind in LEVEL_KINDS, why=f"a {kind} column")
    return ColumnSpec(_text(column["name"], f"{place}.name"), kind, levels)


def _target(written: object, place: str) -> TargetSpec:
    target = require_keys(written, place, ("name", "task"), ("classes", "costs", "priors"))
    task = cast(Task, _one_of(target["task"], f"{place}.task", TASKS))
    classes = _levels(target, "classes", place, wanted=task == "classification", why=f"a target for {task}")
    if classes == ():
        raise FileError(f"{place}.classes is empty; a target for classification has at least one class")
    costs, priors = target.get("costs"), target.get("priors")
    if "costs" in target:
        if type(costs) is not list or classes is None or len(costs) != len(classes):
            raise FileError(f"{place}.costs must be a list with one row per class")
        costs = tuple(_shares(row, f"{place}.costs[{i}]", len(costs)) for i, row in enumerate(costs))
        if any(row[i] != 0 for i, row in enumerate(costs)):
            raise FileError(f"{place}.costs must be 0 where the prediction is the truth")
    if "priors" in target:
        priors = _shares(priors, f"{place}.priors", len(classes or ()))
    return TargetSpec(_text(target["name"], f"{place}.name"), task, classes, costs, priors)


def _text_form(written: object, place: str) -> TextForm:
    form = require_keys(written, place, (), ("decimal", "day_first"))
    if "decimal" in form:
        _one_of(form["decimal"], f"{place}.decimal", (".", ","))
    if "day_first" in form and type(form["day_first"]) is not bool:
        raise FileError(f"{place}.day_first must be a boolean, not {json_kind(form['day_first'])}")
    return TextForm(**form)


def _shares(written: object, place: str, length: int) -> tuple[float, ...]:
    """Return a number from zero up for each class."""
    if type(written) is not list or len(written) != length:
        raise FileError(f"{place} must be a list with one number per class")
    for i, number in enumerate(written):
        if type(number) not in (int, float) or not 0 <= number < math.inf:
            raise FileError(f"{place}[{i}] must be a finite number from zero up")
    return tuple(written)


def _levels(owner: dict[str, Any], key: str, place: str, *, wanted: bool, why: str) -> tuple[Level, ...] | None:
    if (key in owner) != wanted:
        raise FileError(f"{place}: {why} {'needs' if wanted else 'has no'} {key!r}")
    if not wanted:
        return None
    place, levels = f"{place}.{key}", owner[key]
    if type(levels) is not list:
        raise FileError(f"{place} must be a list, not {json_kind(levels)}")
    for i, level in enumerate(levels):
        if type(level) not in (str, int, float, bool):
            raise FileError(f"{place}[{i}] must be a string, number or boolean, not {json_kind(level)}")
        fault = level_fault(level)
        if fault is not None:
            raise FileError(f"{place}[{i}] is {fault}")
    _refuse_twice(levels, place, "level")
    return tuple(levels)


def level_fault(level: Level) -> str | None:
    """Return what a level must not be: a number that a saved tree cannot hold."""
    if isinstance(level, float) and not math.isfinite(level):
        return "no finite number"
    if isinstance(level, int) and abs(level) >= LARGEST_LEVEL:
        return "a whole number of more than a thousand digits"
    return None


def _refuse_twice(values: Sequence[Any], place: str, what: str) -> None:
    # Python's equality on purpose: 1, 1.0 and True would share one code when a table is encoded.
    seen = set()
    for i, value in enumerate(values):
        if value in seen:
            raise FileError(f"{place}[{i}] repeats the {what} {_short(value)}; each may occur once")
        seen.add(value)


def require_keys(
    written: object, place: str, wanted: Collection[str], optional: Collection[str] = ()
) -> dict[str, Any]:
    """Return the object at `place`, which must have every wanted key and no unknown one."""
    if type(written) is not dict:
        raise FileError(f"{place} must be an object, not {json_kind(written)}")
    missing = [key for key in wanted if key not in written]
    unknown = [key for key in written if key not in wanted and key not in optional]
    if missing:
        raise FileError(f"{place} has no {missing[0]!r}")
    if unknown:
        raise FileError(f"{place} has the unknown key {_short(unknown[0])}")
    return written


@dataclass(frozen=True)
class Parts:
    """The written form of a dataclass: an object at `place` with its fields as keys, of which some are optional."""

    values: dict[str, Any]
    place: str

    @staticmethod
    def of(kind: Any, written: object, place: str, optional: Collection[str] = ()) -> Parts:
        """Return the parts in the order of the fields."""
        names = [each.name for each in fields(kind)]
        found = require_keys(written, place, [name for name in names if name not in optional], optional)
        return Parts({name: found[name] for name in names if name in found}, place)

    def require(self, fine: bool, name: str) -> None:
        """Raise `FileError` for a part that is not fine."""
        if not fine:
            raise FileError(f"{self.place}.{name}: {str(self.values[name])[:60]} is not a valid value")


def as_parts(owner: Any) -> dict[str, Any]:
    """Return the written form of a dataclass that `Parts.of` reads."""
    return {each.name: as_list(getattr(owner, each.name)) for each in fields(owner)}


def as_list(part: Any) -> Any:
    """Return tuples as lists, those inside of them too."""
    return [as_list(each) for each in part] if isinstance(part, tuple) else part


def is_whole(x: object, low: int = 0) -> bool:
    """Return whether this is a whole number of at least `low`, and no truth value."""
    return type(x) is int and x >= low


def _one_of(value: object, place: str, allowed: Sequence[str]) -> str:
    if type(value) is not str or value not in allowed:
        raise FileError(f"{place} must be one of {', '.join(map(repr, allowed))}, not {_short(value)}")
    return value


def _text(value: object, place: str) -> str:
    if type(value) is not str:
        raise FileError(f"{place} must be a string, not {json_kind(value)}")
    return value


def _short(value: object) -> str:
    """Shorten a value for a message, which must never print a whole hostile file."""
    return repr(value)[:60] if isinstance(value, (str, int, float)) else json_kind(value)


def json_kind(value: object) -> str:
    """Return the JSON word for a value."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return "null" if value is None else names.get(type(value), type(value).__name__)
