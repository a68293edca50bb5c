"""How choices and settings are called in saved files, and by the core.

A saved tree loads for ever, so a class or setting that is renamed here keeps its first name there, and a setting that
is added here has an entry in `ADDED_SETTINGS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Class -> its name in a file.
_CHOICES = {
    "CategoricalOnly": "Refused",
    "Constant": "Leaves",
    "Fractional": "Spread",
    "CollapseNodes": "ByNodes",
    "MergeEqualLeaves": "SameAnswer",
    "MaxDepth": "ToDepth",
    "MaxLeaves": "BestLeaves",
}

#: Class -> setting -> its name in a file.
_SETTINGS = {
    "Recipe": {"tie_tolerance": "slack"},
    "Threshold": {"min_gap": "gap", "min_tenth_per_class": "tenth", "mdl_penalty": "penalised"},
    "Surrogates": {"search": "sought"},
    "CostComplexity": {"weakest_link": "links"},
    "CostComplexityCV": {"weakest_link": "links"},
}

#: Settings added after the first files of version 1: choice (or "Recipe") -> setting -> the value that means what
#: treewright did before the setting existed, which need not be today's default. All as they stand in a file.
ADDED_SETTINGS: dict[str, dict[str, Any]] = {
    "Recipe": {"pruning": None},
    "Stopping": {"min_deviation": 0.0},
    "Linear": {"ridge_rows": 0.0},
    "PiecewiseLinear": {"price": "pilot"},
}


def saved_name(choice: type) -> str:
    """Return the name of a choice in a saved file."""
    return _CHOICES.get(choice.__name__, choice.__name__)


def saved_setting(choice: type, name: str) -> str:
    """Return the name of a setting in a saved file."""
    return _SETTINGS.get(choice.__name__, {}).get(name, name)


def with_added_settings(choice: object, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a choice in a saved file, with those that did not exist when the file was written.

    Parameters
    ----------
    choice : object
        The name of the choice in the file, or "Recipe" for the fields of the recipe itself. A name that is not known,
        or no name at all, has no added settings.
    settings : mapping
        The settings in the file. They are not changed.
    """
    added = ADDED_SETTINGS.get(choice, {}) if isinstance(choice, str) else {}
    return {**settings, **{name: value for name, value in added.items() if name not in settings}}
