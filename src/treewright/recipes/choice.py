"""Settings of choices: checked by their types when a choice is made, and choices by name."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, TypeGuard, get_args, get_origin, get_type_hints

from treewright.errors import RecipeError

#: Settings that count something are below this: the core could not hold others.
LARGEST_WHOLE = 2**63


@dataclass(frozen=True)
class Range:
    """The values that a numeric setting can have; `open_low` and `open_high` exclude the limits."""

    low: float
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high and not (
            (self.open_low and value == self.low) or (self.open_high and value == self.high)
        )

    def __str__(self) -> str:
        if not self.open_low:
            return f"from {self.low:g} to {self.high:g}"
        return f"above {self.low:g} and {'below' if self.open_high else 'up to'} {self.high:g}"


#: Types of settings.
Share = Annotated[float, Range(0, 1)]
NonNegative = Annotated[float, Range(0)]
Count = Annotated[int, Range(0)]
PositiveCount = Annotated[int, Range(1)]
AtLeastTwo = Annotated[int, Range(2)]


class Choice:
    """Base of every choice. Its settings are checked by their annotations.

    `names`: what the choice is called in a recipe and on the command line, if not its class name in snake case.
    """

    names: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_settings(self)


def require(condition: bool, message: str) -> None:
    """Raise `RecipeError` unless the condition holds."""
    if not condition:
        raise RecipeError(message)


def is_number(value: object) -> TypeGuard[float]:
    """Return whether this is a finite number, and no truth value."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max  # compared, not converted: a whole number may be too large for a float


def check_settings(owner: Any) -> None:
    """Raise `RecipeError` if a setting does not have the type and range of its annotation."""
    for name, fault in _checks(owner.__class__):
        wrong = fault(value := getattr(owner, name))
        if wrong is not None:
            too_long = isinstance(value, int) and abs(value) >= LARGEST_WHOLE  # to print
            raise RecipeError(f"{type(owner).__name__}.{name} must be {wrong}{'' if too_long else f', not {value!r}'}")


@cache
def _checks(kind: Any) -> tuple[tuple[str, Callable[[Any], str | None]], ...]:
    """Return a function for each setting that describes what a wrong value should have been."""
    hints = get_type_hints(kind, include_extras=True)
    found = ((field.name, _check(*split_optional(hints[field.name]))) for field in fields(kind))
    return tuple((name, check) for name, check in found if check is not None)


def split_optional(hint: Any) -> tuple[tuple[Any, ...], bool]:
    """Return the alternatives of a type without None, and whether None is one of them."""
    kinds = get_args(hint) if get_origin(hint) not in (Annotated, Literal, tuple) and get_args(hint) else (hint,)
    return tuple(kind for kind in kinds if kind is not type(None)), type(None) in kinds


def _check(kinds: tuple[Any, ...], optional: bool) -> Callable[[Any], str | None] | None:
    kind, origin = kinds[0], get_origin(kinds[0])
    if all(isinstance(one, type) and issubclass(one, Choice) for one in kinds):
        allowed = f"one of {', '.join(one.__name__ for one in kinds)}{' or None' if optional else ''}"
        return lambda value: None if isinstance(value, kinds) or (optional and value is None) else allowed
    if kind in (bool, str):
        what = "True or False" if kind is bool else "a string"
        return lambda value: None if isinstance(value, kind) else what
    if origin is Literal:
        listed = f"one of {', '.join(map(repr, get_args(kind)))}"
        return lambda value: None if value in get_args(kind) else listed
    if kind is float:
        return lambda value: None if is_number(value) else "a number"
    if origin is not Annotated:
        return None
    base, limits = get_args(kind)
    fault = count_fault if base is int else _number_fault
    return lambda value: None if optional and value is None else fault(value, limits)


def count_fault(value: Any, limits: Range) -> str | None:
    """Return what a wrong count should have been, or None."""
    if not (isinstance(value, int) and not isinstance(value, bool) and value >= limits.low):
        return f"a whole number of at least {limits.low:g}"
    return None if value < LARGEST_WHOLE else "below 2**63"


def _number_fault(value: Any, limits: Range) -> str | None:
    return None if is_number(value) and value in limits else f"a number {limits}"


def snake_case(kind: type) -> str:
    """Return the name of a class in snake case.

    >>> snake_case(type("OwnCategory", (), {}))
    'own_category'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower()


def name_of(choice: Choice) -> str:
    """Return the name of a choice, without its settings."""
    return choice.names[0] if choice.names else snake_case(type(choice))


def choices_by_name(union: Any) -> dict[str, Any]:
    """Return those choices of a union that need no setting, by name."""
    plain = (kind for kind in get_args(union) if all(_has_default(field) for field in fields(kind)))
    return {name: kind() for kind in plain for name in kind.names or (snake_case(kind),)}


def _has_default(field: Any) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING
