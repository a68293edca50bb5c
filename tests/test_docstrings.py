"""Every public name has a numpydoc docstring: a summary line, and every parameter and result with its type."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator

import pytest
from numpydoc.validate import validate

import treewright as tw

#: What is checked: https://numpydoc.readthedocs.io/en/latest/validation.html
CHECKED = {
    *("GL06", "GL07", "GL08"),  # sections: known, in order, and there is a docstring
    *("SS02", "SS03", "SS04", "SS05"),  # the summary
    *("PR01", "PR02", "PR03", "PR04", "PR05", "PR07"),  # parameters: all, in order, with type and description
    *("RT01", "RT02", "RT03", "YD01"),  # results
}


def public_names() -> Iterator[str]:
    """Functions and classes at the top level and in the namespaces, by where they are defined."""
    for name in tw.__all__:
        value = getattr(tw, name)
        owned = [getattr(value, inner) for inner in value.__all__] if isinstance(value, types.ModuleType) else [value]
        yield from (f"{one.__module__}.{one.__qualname__}" for one in owned if callable(one))


def methods() -> Iterator[str]:
    """The methods that the estimators and recipes define themselves."""
    for owner in (tw.TreeClassifier, tw.TreeRegressor, tw.Recipe, tw.PruningPath):
        for name, value in inspect.getmembers(owner, inspect.isfunction):
            if not name.startswith("_") and value.__module__.startswith("treewright"):
                yield f"{value.__module__}.{value.__qualname__}"


@pytest.mark.parametrize("name", sorted({*public_names(), *methods()}))
def test_a_public_name_is_documented(name: str) -> None:
    faults = [f"{code} {text}" for code, text in validate(name)["errors"] if code in CHECKED]
    assert not faults
