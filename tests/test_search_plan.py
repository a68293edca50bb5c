"""The plan of the search: which column is searched how, for which recipe, and why value by value."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from oracle_table import NOMINAL, NUMBER

import treewright as tw
from treewright import _core
from treewright import recipes as r


def plan(
    recipe: r.Recipe, classes: int = 2, missing: bool = False, weighted: bool = False, remote: bool = False
) -> str:
    """The plan of a column of numbers and one of levels."""
    return _core.search_plan([NUMBER, NOMINAL], classes, weighted, recipe.as_dict(), [missing, False], remote)


def test_cart() -> None:
    columns = "column 0: histogram\ncolumn 1: by value (nominal)"
    assert plan(r.CART) == f"counter: two classes; levels scanned before they are candidates\n{columns}"
    assert plan(r.CART, classes=0, weighted=True) == f"counter: weighted sums; sides are rated\n{columns}"
    assert plan(r.CART, remote=True) == f"counter: two classes\n{columns}"


def test_c45() -> None:
    assert plan(r.C45, classes=3) == (
        "counter: classes; ranks of values; candidates of all columns; sides are rated\n"
        "column 0: histogram, in order of values\ncolumn 1: by value (nominal)"
    )
    assert plan(r.C45, remote=True).splitlines()[1] == "column 0: by value (numeric)"


def test_chaid() -> None:
    assert plan(r.CHAID) == (
        "counter: weighted classes; missing values on either side; sides are rated\n"
        "column 0: by value (numeric)\ncolumn 1: by value (nominal)"
    )


@pytest.mark.parametrize(
    ("recipe", "missing", "expected"),
    [
        (replace(r.CART, criterion=r.Twoing()), False, "histogram"),
        (replace(r.CART, criterion=r.ChiSquare(), tie_tolerance=0.1), False, "by value (tie_tolerance)"),
        (replace(r.C45, missing=r.OwnCategory()), False, "histogram, in order of values"),
        (replace(r.C45, missing=r.OwnCategory()), True, "by value (missing)"),
        (replace(r.CART, missing=r.OwnCategory()), True, "histogram"),
        (replace(r.CART, branching=r.EachValue(), missing=r.OwnCategory()), False, "histogram"),
        (replace(r.CART, branching=r.EachValue(), missing=r.OwnCategory()), True, "by value (missing)"),
        (replace(r.SKLEARN, stopping=r.Stopping(max_features=1)), False, "histogram"),
    ],
)
def test_why_by_value(recipe: r.Recipe, missing: bool, expected: str) -> None:
    assert plan(recipe, missing=missing).splitlines()[1] == f"column 0: {expected}"


def test_medians_are_not_followed_where_missing_values_are_tried_on_either_side() -> None:
    absolute = replace(r.CART, regression=r.AbsoluteError())
    own = replace(absolute, missing=r.OwnCategory())
    assert plan(absolute, classes=0, missing=True).splitlines()[1] == "column 0: histogram"
    assert plan(own, classes=0).splitlines()[1] == "column 0: histogram"
    assert plan(own, classes=0, missing=True).splitlines()[1] == "column 0: by value (missing)"
    tolerant = replace(absolute, tie_tolerance=0.1)
    assert plan(tolerant, classes=0).splitlines()[1] == "column 0: by value (tie_tolerance)"


def test_what_partitions_search_by_value() -> None:
    drawn = replace(r.SKLEARN, stopping=r.Stopping(max_features=1))
    assert plan(drawn, remote=True).splitlines()[1] == "column 0: by value (stopping.max_features)"
    absolute = replace(r.CART, regression=r.AbsoluteError())
    assert plan(absolute, classes=0, remote=True).splitlines()[1] == "column 0: by value (criterion)"
    assert "candidates of all columns" in plan(replace(r.CART, criterion=r.ChiSquare()), missing=True)
    assert "candidates of all columns" not in plan(replace(r.CART, criterion=r.ChiSquare()))


def test_the_plan_is_logged_for_debugging(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "treewright"):
        tw.learn({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "b"]}, "y", tw.CART)
    assert "search plan: counter: two classes; column 0: histogram" in caplog.messages
