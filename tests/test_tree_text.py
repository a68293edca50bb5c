"""The tree as text: golden outputs for trees made by hand."""

from __future__ import annotations

import html
import io
import re
import time
from dataclasses import replace
from typing import Any

import pytest
from handmade_trees import HOURS, TENNIS, Plan, Question, fork, hours, leaf, random_tree, tennis, tennis_plan, tree
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.data.grid import cells
from treewright.data.number_text import number_text
from treewright.data.schema import ColumnSpec, Schema, TargetSpec
from treewright.recipes.named import CART, CHAID, SKLEARN
from treewright.render import show, text
from treewright.render.model_text import model_lines
from treewright.render.tree_text import has_colour
from treewright.tree.models import LinearModel, Term
from treewright.tree.text import model_parts, model_text


def expect(found: str, golden: str) -> None:
    """The golden text starts and ends with a line break, so that it stands in the test as it prints."""
    assert f"\n{found}\n" == golden


def test_tennis() -> None:
    expect(
        str(tennis()),
        """
C45 tree for play: 14 rows, 5 leaves, depth 2
├─ outlook = sunny
│  ├─ humidity <= 77.5: yes  (2 rows, 100 %)
│  └─ humidity > 77.5: no  (3 rows, 100 %)
├─ outlook = overcast: yes  (4 rows, 100 %)
└─ outlook = rain
   ├─ windy = False: yes  (3 rows, 100 %)
   └─ windy = True: no  (2 rows, 100 %)
""",
    )
    assert text(tennis()) == str(tennis())


def test_numbers() -> None:
    expect(
        str(hours()),
        """
CART tree for hours: 14 rows, 2 leaves, depth 1
├─ humidity <= 77.5: 44.25  (9 rows, ± 4.836)
└─ humidity > 77.5: 30  (5 rows, ± 0)
""",
    )


def test_a_single_leaf() -> None:
    expect(
        str(tree(leaf(5, 9))),
        """
C45 tree for play: 14 rows, 1 leaf, depth 0
└─ always: yes  (14 rows, 64 %)
""",
    )
    expect(
        str(tree(leaf(1.0, 3.5, 0.0, rows=1), HOURS)),
        """
C45 tree for hours: 1 row, 1 leaf, depth 0
└─ always: 3.5  (1 row)
""",
    )


def test_spread_rows_are_shown_as_fractions() -> None:
    third = 1 / 3
    plan = fork(
        Question(0, (0, 1, 2), missing=-1),
        leaf(3, 2 + third, rows=6),
        leaf(0, 4 + third, rows=5),
        leaf(2, 2 + third, rows=5),
        rows=14,
    )
    expect(
        str(tree(plan)),
        """
C45 tree for play: 14 rows, 3 leaves, depth 1
├─ outlook = sunny: no  (5.333 rows, 56 %)
├─ outlook = overcast: yes  (4.333 rows, 100 %)
├─ outlook = rain: yes  (4.333 rows, 54 %)
└─ outlook is missing: every branch, by share
""",
    )


def test_weights_are_shown_where_rows_have_them() -> None:
    plan = fork(Question(1, breaks=(77.5,), missing=0), leaf(2.5, 6, rows=5), leaf(4000.25, 2, rows=4))
    expect(
        str(tree(plan, recipe=CART)),
        """
CART tree for play: 9 rows of weight 4010.8, 2 leaves, depth 1
├─ humidity <= 77.5: yes  (weight 8.5, 71 %)
└─ humidity > 77.5: no  (weight 4002.2, >99 %)
""",
    )


def cut(missing: int, *, shares: tuple[float, float] = (0.6, 0.4), **more: object) -> Plan:
    """Fourteen rows cut in two; the shares say that some had no answer."""
    return fork(Question(1, breaks=(77.5,), missing=missing, share=shares), leaf(2, 6), leaf(4, 2), **more)


@pytest.mark.parametrize(
    ("made", "first", "rest"),
    [
        (cut(0), "humidity <= 77.5 or missing", None),
        (cut(-3), "humidity <= 77.5", "humidity is missing: one branch, drawn by share"),
        (cut(-2, rows=16, stats=(7, 9)), "humidity <= 77.5", "humidity is missing: yes  (16 rows, 56 %)"),
        (
            cut(0, surrogates=(Question(0, (0, 1, 0)), Question(2))),
            "humidity <= 77.5",
            "humidity is missing: surrogates outlook, windy; else humidity <= 77.5",
        ),
        (
            cut(-2, rows=16, stats=(7, 9), surrogates=(Question(2),)),
            "humidity <= 77.5",
            "humidity is missing: surrogates windy; else yes  (16 rows, 56 %)",
        ),
        (cut(0, shares=(8 / 14, 6 / 14), surrogates=(Question(2),)), "humidity <= 77.5", None),  # nobody was missing
        (cut(-1, shares=(8 / 14, 6 / 14)), "humidity <= 77.5", None),
    ],
)
def test_missing_is_mentioned_where_it_was_met(made: Plan, first: str, rest: str | None) -> None:
    lines = str(tree(made, recipe=CART)).splitlines()
    assert lines[1] == f"├─ {first}: yes  (8 rows, 75 %)"
    assert lines[3:] == ([f"└─ {rest}"] if rest else [])


def test_a_child_of_missing_values_only() -> None:
    plan = fork(Question(1, (0, 1), (77.5,), missing=2), leaf(2, 6), leaf(4, 2), leaf(0, 3))
    expect(
        str(tree(plan, recipe=CHAID)),
        """
CHAID tree for play: 17 rows, 3 leaves, depth 1
├─ humidity <= 77.5: yes  (8 rows, 75 %)
├─ humidity > 77.5: no  (6 rows, 67 %)
└─ humidity is missing: yes  (3 rows, 100 %)
""",
    )


@pytest.mark.parametrize("missing", [0, 1])
def test_the_branch_that_missing_values_are_merged_with_is_named_everywhere(missing: int) -> None:
    made = tree(fork(Question(1, (0, 1), (77.5,), missing=missing), leaf(2, 6), leaf(4, 2)), recipe=CHAID)
    branch = ("humidity <= 77.5", "humidity > 77.5")[missing]
    assert f"─ {branch} or missing: " in str(made)
    assert "where missing is not mentioned" not in str(made)
    reported = tw.report(made)
    assert reported["nodes"]["condition"][1 + missing] == f"{branch} or missing"
    assert [rule["conditions"] for rule in reported["rules"] if rule["node"] == 1 + missing] == [
        [f"{branch} or missing"]
    ]
    assert f"{branch} or missing" in str(tw.rules(made))
    assert f"when {branch} or missing" in html.unescape(tw.render.svg(made))
    assert "or missing" in tw.export.dot(made)
    assert "or missing" in tw.export.mermaid(made)
    assert f"{branch} or missing" in str(tw.explain_node(made))


def test_a_learned_direction_is_shown_when_it_is_not_simply_the_largest_child() -> None:
    shares = (8 / 14, 6 / 14)  # scored with the missing values, so they do not betray them
    expect(
        str(tree(cut(0, shares=shares), recipe=SKLEARN)),
        """
SKLEARN tree for play: 14 rows, 2 leaves, depth 1
├─ humidity <= 77.5: yes  (8 rows, 75 %)
└─ humidity > 77.5: no  (6 rows, 67 %)
where missing is not mentioned, a missing value goes to the largest branch
""",
    )
    assert "humidity > 77.5 or missing: no" in str(tree(cut(1, shares=shares), recipe=SKLEARN))


def test_long_lists_are_cut_and_odd_names_escaped() -> None:
    schema = Schema(
        (ColumnSpec("state\nof residence", "nominal", tuple(f"S{i:02d}" for i in range(30))),),
        TargetSpec("buys\t?", "classification", ("no\x00", "", "may, be")),
    )
    plan = fork(Question(0, tuple(int(i % 3 == 0) for i in range(30))), leaf(9, 1, 1), leaf(1, 5, 2))
    expect(
        str(tree(plan, schema, CART)),
        r"""
CART tree for buys\t?: 19 rows, 2 leaves, depth 1
├─ state\nof residence in {S01, S02, S04, S05, S07, … 15 more}: no\x00  (11 rows, 82 %)
└─ state\nof residence in {S00, S03, S06, S09, S12, … 5 more}: ""  (8 rows, 62 %)
""",
    )


def test_an_empty_leaf_and_one_row() -> None:
    plan = fork(Question(0, (0, 1, 2)), leaf(3, 0), leaf(0, 0, stop=12), leaf(0, 1))
    expect(
        str(tree(plan)),
        """
C45 tree for play: 4 rows, 3 leaves, depth 1
├─ outlook = sunny: no  (3 rows, 100 %)
├─ outlook = overcast: no  (0 rows)
└─ outlook = rain: yes  (1 row, 100 %)
""",
    )


def test_max_depth() -> None:
    expect(
        text(tennis(), max_depth=1),
        """
C45 tree for play: 14 rows, 5 leaves, depth 2
├─ outlook = sunny: no  (5 rows, 60 %, 2 nodes below)
├─ outlook = overcast: yes  (4 rows, 100 %)
└─ outlook = rain: yes  (5 rows, 60 %, 2 nodes below)
… 4 nodes not shown; text(tree, max_depth=…, max_lines=…) shows more
""",
    )
    assert text(tennis(), max_depth=0).splitlines()[1:] == [
        "└─ any row: yes  (14 rows, 64 %, 7 nodes below)",
        "… 7 nodes not shown; text(tree, max_depth=…, max_lines=…) shows more",
    ]
    assert text(tennis(), max_depth=9) == text(tennis(), max_depth=2) == text(tennis())
    with pytest.raises(ValueError, match="max_depth"):
        text(tennis(), max_depth=-1)
    with pytest.raises(ValueError, match="max_lines"):
        text(tennis(), max_lines=0)


def balanced(depth: int) -> Plan:
    question = Question(1, breaks=(float(depth),))
    return fork(question, balanced(depth - 1), balanced(depth - 1)) if depth else leaf(1, 2)


def test_a_large_tree_stops_at_a_whole_level() -> None:
    lines = text(tree(balanced(10))).splitlines()
    assert len(lines) == 1 + 126 + 1  # levels 1 to 6 are 126 nodes, with level 7 there would be 254
    assert lines[-1] == "… 1,920 nodes not shown; text(tree, max_depth=…, max_lines=…) shows more"
    assert len(text(tree(balanced(10)), max_lines=5000).splitlines()) == 1 + 2046


def test_a_wide_tree_stops_in_the_middle() -> None:
    schema = Schema((ColumnSpec("id", "nominal", tuple(range(1000))),), TENNIS.target)
    lines = text(tree(fork(Question(0, tuple(range(1000))), *[leaf(1, 0) for _ in range(1000)]), schema)).splitlines()
    assert len(lines) == 202
    assert lines[-1] == "… 800 nodes not shown; text(tree, max_depth=…, max_lines=…) shows more"


def test_a_column_of_very_many_levels_prints_at_once() -> None:
    n = 50_000
    schema = Schema((ColumnSpec("id", "nominal", tuple(range(n))),), TENNIS.target)
    start = time.process_time()
    str(tree(fork(Question(0, tuple(range(n))), *[leaf(1, 0) for _ in range(n)]), schema))
    str(tree(fork(Question(0, tuple(i % 2 for i in range(n))), leaf(1, 0), leaf(0, 1)), schema))
    assert time.process_time() - start < 10


def test_texts_of_numbers() -> None:
    numbers = (2.4500000000000002, 5.0, -0.0, 0.8166666666666667, 1000000.5, 123456.789123, 1e22, -1.5e-7, 1e-300)
    assert [number_text(x) for x in numbers] == [
        "2.45", "5", "0", "0.816667", "1000000.5", "123456.79", "1e+22", "-1.5e-07", "1e-300",
    ]  # fmt: skip


def test_a_printed_tree_needs_no_names_from_outside() -> None:
    assert str(tree(tennis_plan())) == f"{tennis()}"


# --- width and colour ---


def test_width() -> None:
    levels = tuple(f"a rather long level {i}" for i in range(9))
    schema = Schema((ColumnSpec("a column", "nominal", levels),), TENNIS.target)
    made = tree(fork(Question(0, tuple(i % 2 for i in range(9))), leaf(9, 1), leaf(1, 5)), schema, CART)
    expect(
        text(made, width=80),
        """
CART tree for play: 16 rows, 2 leaves, depth 1
├─ a column in {a rather long level 0, … 4 more}: no  (10 rows, 90 %)
└─ a column in {a rather long level 1, … 3 more}: yes  (6 rows, 83 %)
""",
    )
    expect(
        text(made, width=40),
        """
CART tree for play:…s, 2 leaves, depth 1
├─ a colum… 4 more}: no  (10 rows, 90 %)
└─ a colum… 3 more}: yes  (6 rows, 83 %)
""",
    )
    assert text(made, width=200) == text(made)
    with pytest.raises(ValueError, match="width"):
        text(made, width=10)


@given(st.integers(0, 10_000), st.integers(20, 120))
@settings(deadline=None, max_examples=40)
def test_no_line_is_wider_than_requested(seed: int, width: int) -> None:
    made = random_tree(seed, depth=4)
    lines = text(made, width=width).splitlines()
    assert max(map(cells, lines)) <= width
    assert len(lines) == len(text(made).splitlines())


def test_wide_characters_count_twice() -> None:
    schema = Schema((ColumnSpec("天気" * 10, "numeric"),), TargetSpec("決定", "classification", ("はい" * 8, "いいえ")))
    made = tree(fork(Question(0, breaks=(1.0,)), leaf(2, 0), leaf(0, 2)), schema, CART)
    assert max(map(cells, text(made, width=50).splitlines())) <= 50


def test_a_deep_tree_in_a_narrow_terminal() -> None:
    plan = leaf(1, 2)
    for i in range(60):
        plan = fork(Question(1, breaks=(float(i),)), leaf(1, 0), plan)
    lines = text(tree(plan), width=60).splitlines()
    assert max(map(cells, lines)) <= 60
    assert "60… " in lines[-1]


def test_colour_is_only_added() -> None:
    for made in (tennis(), hours(), tree(leaf(5, 9))):
        coloured = text(made, colour=True)
        assert "\x1b[" in coloured
        assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == text(made) == str(made)
    no, yes = (f"\x1b[1;38;5;{code}m{word}\x1b[0m" for code, word in ((25, "no"), (178, "yes")))
    assert no in text(tennis(), colour=True)
    assert yes in text(tennis(), colour=True)


@pytest.mark.parametrize(
    ("terminal", "environment", "coloured"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"FORCE_COLOR": "0"}, False),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colour_where_the_terminal_has_it(terminal: bool, environment: dict[str, str], coloured: bool) -> None:
    assert has_colour(terminal, environment) == coloured


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_show(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    plain = io.StringIO()
    show(tennis(), plain)
    assert plain.getvalue() == f"{tennis()}\n"
    monkeypatch.setenv("COLUMNS", "30")
    terminal = Terminal()
    show(tennis(), terminal, max_depth=1)
    assert "\x1b[" in terminal.getvalue()
    assert max(cells(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in terminal.getvalue().splitlines()) <= 30


def test_costs_do_not_look_like_missing_values() -> None:
    table = {"age": [1, 2, 3, 4, 5, 6, 7, 8], "ill": list("nnnynyyy")}
    recipe = replace(tw.CART, pruning=None, stopping=tw.stopping.Stopping(max_depth=1))
    assert "missing" not in str(tw.learn(table, "ill", recipe, costs={"y": {"n": 5}}))


def tree_of_long_models() -> tw.Tree:
    """Two leaves, each a sum over eight columns and sets of levels."""
    rows = range(240)
    table: dict[str, Any] = {f"column{c}": [(r * (c + 3)) % 17 for r in rows] for c in range(8)}
    table["made in"] = [f"town {r % 9}" for r in rows]
    table["y"] = [sum((c + 1) * table[f"column{c}"][r] for c in range(8)) + (r % 9) ** 2 for r in rows]
    recipe = tw.CART.with_(leaves=tw.leaves.Linear(max_terms=12), max_depth=1, pruning=None)
    return tw.learn(table, "y", recipe, task="regression")


def test_long_models_stand_below_the_tree() -> None:
    sloped = tree_of_long_models()
    lines = text(sloped).splitlines()
    leaves = [node for node in sloped.walk() if node.is_leaf]
    for leaf_node, line in zip(leaves, lines[1:], strict=False):
        assert f": model {leaf_node.id}  (" in line
    below = " ".join(line.strip() for line in lines[1 + len(leaves) :])
    assert below == " ".join(
        f"model {node.id}: {' '.join(model_parts(sloped.schema, node.model, 6))}" for node in leaves if node.model
    )
    assert max(map(cells, lines[1 + len(leaves) :])) <= 100
    for width in (20, 60):
        assert all(cells(line) <= width for line in text(sloped, width=width).splitlines())
    assert model_lines(leaves, None, 1, 6)[-1] == "… 1 model not shown; tree[2].model is the next"


def test_a_term_names_six_levels_and_counts_the_others() -> None:
    spec = ColumnSpec("town", "nominal", tuple("abcdefghi"))
    schema = Schema((spec,), TargetSpec("y", None))
    model = LinearModel(1.0, (Term(0, -2.0, 0.0, tuple(range(8))),))
    assert model_parts(schema, model, 6) == ["1", "- 2 * [town in a, b, c, d, e, … 3 more]"]
    assert model_text(schema, model) == "1 - 2 * [town in a, b, c, d, e, f, g, h]"
