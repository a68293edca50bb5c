"""One table of every way in which a number is printed for people; a change of any output shows here."""

from __future__ import annotations

import math

import pytest

import treewright as tw
from treewright.data.grid import Bar, Grid
from treewright.data.number_text import amount, count_text, exact_number, figure, many, number_text, p_text, percent

#              exact                  number_text      amount       figure       count_text
TABLE = {
    0.0: ("0", "0", "0", "0", "0"),
    1.0: ("1", "1", "1", "1", "1"),
    0.5: ("0.5", "0.5", "0.5", "0.5000", "0.5"),
    2 / 3: ("0.6666666666666666", "0.666667", "0.6667", "0.6667", "0.6667"),
    2.9999999999999996: ("2.9999999999999996", "3", "3", "3.0000", "3"),
    0.1 + 0.2: ("0.30000000000000004", "0.3", "0.3", "0.3000", "0.3"),
    1.25e-05: ("1.25e-05", "1.25e-05", "1.25e-05", "1.25e-05", "1.25e-05"),
    -1 / 3: ("-0.3333333333333333", "-0.333333", "-0.3333", "-0.3333", "-0.3333"),
    1234.5678: ("1234.5678", "1234.5678", "1234.6", "1234.5678", "1234.5678"),
    14840.234567: ("14840.234567", "14840.23", "14840.2", "14840.2346", "14840.2346"),
    1234567.891234: ("1234567.891234", "1234567.89", "1234567.9", "1234567.9", "1234567.9"),
    1e15: ("1000000000000000.0", "1e+15", "1e+15", "1e+15", "1000000000000000"),
    math.inf: ("inf", "inf", "inf", "∞", "∞"),
}


@pytest.mark.parametrize("x", TABLE)
def test_numbers(x: float) -> None:
    assert tuple(f(x) for f in (exact_number, number_text, amount, figure, count_text)) == TABLE[x]


def test_no_number() -> None:
    assert (exact_number(math.nan), number_text(math.nan), figure(math.nan)) == ("missing", "nan", "unknown")


def test_shares_and_probabilities() -> None:
    shares = (0, 1e-9, 0.004, 0.5, 2 / 3, 0.996, 1)
    assert [percent(x) for x in shares] == ["0 %", "<1 %", "<1 %", "50 %", "67 %", ">99 %", "100 %"]
    assert percent(0.84449, 1) == "84.4 %"
    assert [p_text(x) for x in (0.0, math.log(0.05), math.log(1e-5), -2000.0)] == ["1", "0.0500", "1e-05", "2.58e-869"]
    assert [many(1, "leaf"), many(2000, "leaf"), many(2, "branch")] == ["1 leaf", "2,000 leaves", "2 branches"]


def test_one_share_reads_the_same_everywhere() -> None:
    """Text, picture, diagram, rules and explanation of one leaf with two thirds of its rows in a class."""
    table = {"x": [1, 1, 1, 2, 2, 2], "y": ["a", "a", "b", "b", "b", "b"]}
    tree = tw.learn(table, "y", "sklearn")
    forms = [str(tree), tw.render.svg(tree), tw.export.dot(tree), str(tw.rules(tree)), str(tw.explain_row(tree, [1]))]
    assert all("67 %" in form and "67%" not in form for form in forms)


def test_a_mean_reads_the_same_on_a_card_and_in_rules() -> None:
    tree = tw.learn({"x": [1, 2, 3], "y": [14840.234567, 14840.234567, 20000.5]}, "y", "sklearn")
    assert ">14840.2<" in tw.render.svg(tree)
    assert "y = 14840.2 " in str(tw.rules(tree))


def test_a_grid_lines_up_wide_characters_and_bars() -> None:
    grid = Grid(
        "caption", ("", "n", ""), (("天気", "10", Bar(1.0)), ("ab", "9", Bar(0.5))), align="<><", notes=("note",)
    )
    assert grid.text(indent="").splitlines() == [
        "caption",
        "       n",
        "天気  10  " + "█" * 24,
        "ab     9  " + "█" * 12,
        "note",
    ]
