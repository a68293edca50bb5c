"""How choices and settings are called in saved files, and by the core.

A saved tree loads for ever, so a class or setting that is renamed here keeps its first name there.
"""

from __future__ import annotations

#: Class -> its name in a file.
_CHOICES = {
    "CategoricalOnly": "Refused",
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


def written_name(choice: type) -> str:
    """Return the name of a choice in a saved file."""
    return _CHOICES.get(choice.__name__, choice.__name__)


def written_setting(choice: type, name: str) -> str:
    """Return the name of a setting in a saved file."""
    return _SETTINGS.get(choice.__name__, {}).get(name, name)
