"""What all choices and pruners have in common: settings are checked when they are made.

Comes in: the settings of a choice. Goes out: nothing, or a `RecipeError` that names the setting, the value and what it
must be.
Always holds: a message is worded only when there is something to say, for small fits make many choices.
"""

from __future__ import annotations

import sys
from typing import TypeGuard

from treewright.errors import RecipeError

#: Settings that count something are below this: the core could not hold others.
LARGEST_WHOLE = 2**63


def require(condition: bool, message: str) -> None:
    if not condition:
        raise RecipeError(message)


def is_number(value: object) -> TypeGuard[float]:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) <= sys.float_info.max  # compared, not converted: a whole number may be too large for a float


def require_count(owner: str, name: str, value: object, least: int, optional: bool = False) -> None:
    if optional and value is None:
        return
    if not (isinstance(value, int) and not isinstance(value, bool) and value >= least):
        raise RecipeError(f"{owner}.{name} must be a whole number of at least {least}, not {value!r}")
    if value >= LARGEST_WHOLE:
        raise RecipeError(f"{owner}.{name} must be below 2**63")


def require_within(owner: str, name: str, value: object, low: float, high: float, optional: bool = False) -> None:
    if optional and value is None:
        return
    if not (is_number(value) and low <= value <= high):
        raise RecipeError(f"{owner}.{name} must be a number from {low:g} to {high:g}, not {value!r}")


def require_one_of(owner: str, name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        raise RecipeError(f"{owner}.{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}")


class Choice:
    """Base of every choice: a setting declared as bool holds a bool."""

    def __post_init__(self) -> None:
        for name, kind in type(self).__annotations__.items():
            if kind == "bool" and not isinstance(value := getattr(self, name), bool):
                raise RecipeError(f"{type(self).__name__}.{name} must be True or False, not {value!r}")
