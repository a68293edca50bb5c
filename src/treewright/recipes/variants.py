"""Variants of a recipe: choices by name, settings by name, and the short text that shows what differs."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Literal

from treewright.errors import RecipeError
from treewright.recipes.branching import BRANCHING_NAMES
from treewright.recipes.choice import snake_case
from treewright.recipes.criterion import CRITERION_NAMES, Custom
from treewright.recipes.leaves import LEAF_NAMES
from treewright.recipes.missing import MISSING_NAMES
from treewright.recipes.numeric import NUMERIC_NAMES
from treewright.recipes.pruners import PRUNING_NAMES
from treewright.recipes.stopping import SIMPLIFY_NAMES

#: The choices that have names, by the field of the recipe.
CHOICE_NAMES: dict[str, Mapping[str, Any]] = {
    "branching": BRANCHING_NAMES,
    "numeric": NUMERIC_NAMES,
    "criterion": CRITERION_NAMES,
    "regression": CRITERION_NAMES,
    "missing": MISSING_NAMES,
    "simplify": SIMPLIFY_NAMES,
    "pruning": PRUNING_NAMES,
    "leaves": LEAF_NAMES,
}

#: The fields whose settings can be given by themselves: max_depth=5 changes `stopping` and keeps its other limits.
_OPENED = ("stopping", "leaves")

_TASKS: dict[str, Literal["classification", "regression"]] = {"criterion": "classification", "regression": "regression"}


def named_choice(parameter: str, value: Any, names: Mapping[str, Any], current: Any = None) -> Any:
    """Return the choice a name stands for; whatever is not a string is returned as it is.

    A choice is known by its names in the table and by its class name in lower case (`own_category`). The name of what
    the recipe has already (`current`) keeps the recipe's settings.
    """
    if not isinstance(value, str):
        return value
    classes = {snake_case(type(one)): one for one in names.values()}
    chosen = names.get(value, classes.get(value))
    if chosen is None:
        raise RecipeError(f"{parameter}={value!r} is not known; choose from {', '.join(map(repr, names))}")
    return current if type(current) is type(chosen) else chosen


def field_choice(field: str, value: Any, current: Any, parameter: str | None = None) -> Any:
    """Return the choice for a field of a recipe: by name, as it is, or for a criterion from a function."""
    names, task = CHOICE_NAMES.get(field), _TASKS.get(field)
    if task is not None and names is not None:
        if callable(value) and not isinstance(value, type):
            return Custom(value, task)
        names = {name: criterion for name, criterion in names.items() if criterion.task == task}
    return value if names is None else named_choice(parameter or field, value, names, current)


def changed_fields(recipe: Any, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the recipe that the changes replace, with their new values."""
    if not changes:
        return {}
    own = [one.name for one in fields(recipe)]
    changed = {name: field_choice(name, changes[name], getattr(recipe, name)) for name in own if name in changes}
    owners = [(owner, each) for owner in _OPENED for each in (getattr(recipe, owner), changed.get(owner))]
    opened = {name: owner for owner, each in owners for name in _settings(each)}
    for name in changes:
        if name not in own and name not in opened:
            close = difflib.get_close_matches(name, [*own, *opened], n=3)
            hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"known: {', '.join([*own, *opened])}"
            raise RecipeError(f"a recipe has no choice or setting {name!r}; {hint}")
    for owner in _OPENED:
        settings = {name: value for name, value in changes.items() if opened.get(name) == owner}
        if settings:
            changed[owner] = _with_settings(owner, changed.get(owner, getattr(recipe, owner)), settings)
    return changed


def _settings(choice: Any) -> list[str]:
    return [one.name for one in fields(choice)] if hasattr(choice, "__dataclass_fields__") else []


def _with_settings(owner: str, choice: Any, settings: dict[str, Any]) -> Any:
    if not settings.keys() <= set(_settings(choice)):
        raise RecipeError(f"Recipe.{owner}={choice!r} cannot take {', '.join(settings)}; leave out {owner}")
    return replace(choice, **settings)


def differences(recipe: Any, base: Any) -> str:
    """Return the keywords that make the recipe from the base, as `with_` takes them."""
    parts = []
    for one in fields(recipe):
        ours, theirs = getattr(recipe, one.name), getattr(base, one.name)
        if ours == theirs:
            continue
        if one.name in _OPENED and type(ours) is type(theirs):
            settings = [(s.name, getattr(ours, s.name), getattr(theirs, s.name)) for s in fields(ours)]
            parts += [f"{name}={new!r}" for name, new, old in settings if new != old]
        else:
            parts.append(f"{one.name}={ours!r}")
    return ", ".join(parts)
