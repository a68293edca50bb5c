"""worked: the lessons' arithmetic, and on random trees steps that end in what the tree stores.

An expected number is printed in a lesson, stored by the tree, or the arithmetic shown is evaluated by Python itself.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from handmade_trees import random_tree
from hypothesis import HealthCheck, given, settings
from random_trees import grown_trees, has_missing, near

import treewright as tw
from treewright.inspection.derivation.explain_node import NodeExplanation
from treewright.lessons.tables import GOLF, HUMIDITY, TENNIS, TRADING

UNPRUNED = replace(tw.CART, pruning=None)


def result(worked: NodeExplanation, label: str) -> float:
    """The result of the step of that label."""
    (value,) = [step.result for step in worked.steps if step.label == label]
    assert value is not None
    return round(value, 4)


# --- the lessons ------------------------------------------------------------------------------------------------------

TENNIS_TEXT = """\
Node 0 splits on Outlook (14 rows)

Rows of each branch
                      No  Yes  rows
  Outlook = Overcast   0    4     4
  Outlook = Rain       2    3     5
  Outlook = Sunny      3    2     5
  together             5    9    14

By information gain
  1. Entropy of the node: minus the sum over classes of share × log2(share)
     entropy(5, 9) = -(5/14) log2(5/14) - (9/14) log2(9/14) = 0.9403
  2. Entropy where Outlook = Overcast
     entropy(0, 4) = -(4/4) log2(4/4) = 0
  3. Entropy where Outlook = Rain
     entropy(2, 3) = -(2/5) log2(2/5) - (3/5) log2(3/5) = 0.9710
  4. Entropy where Outlook = Sunny
     entropy(3, 2) = -(3/5) log2(3/5) - (2/5) log2(2/5) = 0.9710
  5. Entropy after the split: each branch by its share
     4/14 × 0 + 5/14 × 0.9710 + 5/14 × 0.9710 = 0.6935
  6. Information gain: before the split minus after it
     0.9403 - 0.6935 = 0.2467

What was compared here, best first
  column       question                  score
  Outlook      Outlook, 3 branches      0.2467  chosen
  Humidity     Humidity = High          0.1518
  Wind         Wind = Strong            0.0481
  Temperature  Temperature, 3 branches  0.0292

Outlook wins: 0.2467 against 0.1518 for Humidity.
Numbers are shown to four digits and computed with all of them."""


def test_tennis() -> None:
    tree = tw.learn(TENNIS, "Play", tw.ID3)
    worked = tw.explain_node(tree)
    assert str(worked) == TENNIS_TEXT
    assert str(tw.explain_node(tree, 0, TENNIS)) == TENNIS_TEXT
    assert (worked.gain, worked.score, worked.stored, worked.complete) == (*[tree.root.gain] * 3, True)


def test_tennis_gain_ratio() -> None:
    recipe = replace(tw.ID3, criterion=tw.criterion.GainRatio())
    worked = tw.explain_node(tw.learn(TENNIS, "Play", recipe))
    assert result(worked, "Information gain") == 0.2467
    assert worked.steps[-2].text == "-(4/14) log2(4/14) - (5/14) log2(5/14) - (5/14) log2(5/14) = 1.5774"
    assert worked.steps[-1].text == "0.2467/1.5774 = 0.1564"


def test_trading() -> None:
    worked = tw.explain_node(tw.learn(TRADING, "Return", UNPRUNED))
    assert worked.steps[0].text == "gini(6, 4) = 1 - (6/10)² - (4/10)² = 0.4800"
    assert result(worked, "Gini after the split") == 0.2667
    rival = tw.explain_node(tw.learn(TRADING, "Return", UNPRUNED), 0, TRADING, column="Trading Volume")
    assert result(rival, "Gini after the split") == 0.3429
    assert rival.heading == "Node 0 could split on Trading Volume (10 rows)"


def test_golf_hours() -> None:
    recipe = replace(tw.ID3, regression=tw.criterion.StandardDeviation())
    worked = tw.explain_node(tw.learn(GOLF, "Hours", recipe))
    assert worked.steps[0].text == "sqrt(1216.3571/14) = 9.3211"
    assert result(worked, "Reduction of standard deviation") == 1.6622


@pytest.mark.parametrize(("recipe", "stored"), [(UNPRUNED, (62.5, 89.5)), (replace(tw.C45, pruning=None), (62, 89))])
def test_humidity_curve(recipe: tw.Recipe, stored: tuple[float, float]) -> None:
    """Cut after 62: gain 0.3949; after 89: 0.6053, the best."""
    if recipe.name == "CART":
        recipe = replace(recipe, criterion=tw.criterion.InformationGain())
    worked = tw.explain_node(tw.learn(HUMIDITY, "Play", recipe), 0, HUMIDITY)
    curve = worked.curve
    assert curve is not None
    gains = dict(zip(curve.cuts.tolist(), curve.scores.round(4).tolist(), strict=True))
    assert (gains[stored[0]], gains[stored[1]]) == (0.3949, 0.6053)
    assert curve.cuts[curve.best] == stored[1]
    assert len(curve.cuts) == len(set(HUMIDITY["Humidity"])) - 1
    for writing in (worked.text(), worked.markdown(), worked.html()):
        assert f"best at {stored[1]:g}: 0.6053 (10 cuts" in writing
    assert "<polyline" in worked.html()
    assert "█" in worked.text()


def test_the_penalty_is_a_step_even_without_data() -> None:
    tree = tw.learn(HUMIDITY, "Play", replace(tw.C45, pruning=None))
    (step,) = [step for step in tw.explain_node(tree).steps if step.label == "Gain after the penalty"]
    assert step.text == "0.6053 - log2(8)/14 = 0.3910"
    assert step.result == pytest.approx(tree.root.gain)


# --- missing values ---------------------------------------------------------------------------------------------------

UNKNOWN = {**TENNIS, "Outlook": [None if day == 5 else o for day, o in enumerate(TENNIS["Outlook"], 1)]}


@pytest.mark.parametrize("missing", ["ignore", "majority", "fractional", "random"])
def test_what_a_tree_does_not_store_is_unknown(missing: str) -> None:
    tree = tw.learn(UNKNOWN, "Play", replace(tw.ID3, missing=missing))
    alone = tw.explain_node(tree)
    assert (alone.complete, alone.steps, alone.score, alone.gain) == (False, (), None, None)
    assert "unknown" in alone.remarks[0]
    assert "explain_node(tree, 0, data)" in alone.remarks[0]
    counted = tw.explain_node(tree, 0, UNKNOWN)
    assert counted.complete
    assert counted.gain == pytest.approx(tree.root.gain)
    assert any("13/14 × " in step.text for step in counted.steps)
    assert "No value of Outlook: 1 row of weight 1" in counted.remarks[0]


@pytest.mark.parametrize("missing", ["own", "learned"])
def test_missing_rows_that_are_scored_need_no_data(missing: str) -> None:
    tree = tw.learn(UNKNOWN, "Play", replace(tw.ID3, missing=missing))
    assert tw.explain_node(tree).complete
    assert tw.explain_node(tree, 0, UNKNOWN).complete


# --- other criteria ---------------------------------------------------------------------------------------------------


def test_chi_square_shows_observed_and_expected() -> None:
    table = {"x": ["a"] * 30 + ["b"] * 30, "y": ["u"] * 10 + ["v"] * 20 + ["u"] * 20 + ["v"] * 10}
    recipe = replace(tw.CHAID, branching=tw.branching.Merge(min_child=1), stopping=tw.stopping.Stopping())
    worked = tw.explain_node(tw.learn(table, "y", recipe))
    assert worked.expected is not None
    assert worked.expected.expected == ((15.0, 15.0), (15.0, 15.0))
    assert result(worked, "Chi-square") == 6.6667
    assert result(worked, "p") == 0.0098
    assert "10 (15)" in worked.text()
    assert [step.label for step in worked.steps[-2:]] == ["p, adjusted", "Score"]


def test_p_values_stand_beside_their_logarithms() -> None:
    recipe = tw.CHAID.with_(branching=tw.branching.Merge(), min_samples_split=2)
    worked = tw.explain_node(tw.learn(TENNIS, "Play", recipe)).text()
    ranked = str(tw.rank_splits(TENNIS, "Play", recipe=recipe))
    # Wind: 3/3 and 2/6, two levels, so p is not adjusted.
    p = tw.criteria.chi_square([[3, 3], [2, 6]]).p
    for text in (worked, ranked):
        (line,) = [line for line in text.splitlines() if re.search(r"^\W*\d*\W*Wind\b", line)]
        assert f"{-math.log(p):.4f}" in line
        assert f"{p:.4f}" in line


def test_significance_is_worked_out_where_the_recipe_needs_it() -> None:
    recipe = replace(tw.ID3, stopping=tw.stopping.Stopping(significance=0.5))
    tree = tw.learn(TENNIS, "Play", recipe)
    worked = tw.explain_node(tree)
    assert worked.significance[0].result == pytest.approx(tree.root.split.statistic)
    assert worked.significance[-1].result == pytest.approx(tree.root.split.p)
    assert "Significance of this split" in worked.text()


def test_a_users_formula_is_the_users() -> None:
    def balance(parent: Any, children: Any) -> Any:
        return children.sum(axis=2).min(axis=1) / parent.sum()

    tree = tw.learn(TENNIS, "Play", replace(UNPRUNED, criterion=tw.criterion.Custom(balance)))
    worked = tw.explain_node(tree)
    assert worked.score == tree.root.split.score
    assert "the formula is the user's own function balance" in worked.text()
    assert sum(branch.weight for branch in worked.branches) == 14


def test_costs_alter_the_weights() -> None:
    tree = tw.learn(TENNIS, "Play", tw.ID3, costs={"No": {"Yes": 5}})
    for node in tree.walk():
        if node.split is not None:
            assert tw.explain_node(tree, node.id).complete
            assert tw.explain_node(tree, node.id, TENNIS).complete
    assert "Weights are altered by costs or priors" in tw.explain_node(tree).text()


# --- leaves -----------------------------------------------------------------------------------------------------------


def leaf(table: dict[str, list[Any]], recipe: tw.Recipe, **more: Any) -> NodeExplanation:
    tree = tw.learn(table, "Play", replace(recipe, stopping=tw.stopping.Stopping(max_depth=0)), **more)
    return tw.explain_node(tree)


def test_a_leaf_derives_its_prediction() -> None:
    plain = leaf(TENNIS, UNPRUNED)
    assert [step.text for step in plain.steps] == ["5/14 = 0.3571", "9/14 = 0.6429", "Yes (0.6429)"]
    assert "it lies at depth 0, and max_depth=0 allows no deeper" in plain.text()
    laplace = leaf(TENNIS, replace(UNPRUNED, leaves=tw.stopping.Leaves("laplace")))
    assert laplace.steps[0].text == "(5 + 1)/(14 + 2) = 0.3750"
    estimate = leaf(TENNIS, replace(UNPRUNED, leaves=tw.stopping.Leaves("m_estimate", 2.0)))
    assert estimate.steps[0].text == "(5 + 2 × 5/14)/(14 + 2) = 0.3571"
    cheap = leaf(TENNIS, UNPRUNED, costs={"No": {"Yes": 5}})
    assert [step.text for step in cheap.steps[2:]] == ["0.6429 × 1 = 0.6429", "0.3571 × 5 = 1.7857", "No (0.6429)"]


def test_an_empty_leaf_and_a_pruned_one_say_so() -> None:
    tree = tw.learn(TENNIS, "Play", tw.ID3)
    empty = next(node for node in tree.walk() if node.stop == "empty")
    assert "no training row came here" in tw.explain_node(tree, empty.id).text()
    pruned = tw.prune(tree, tw.pruning.MaxDepth(1))
    cut = next(node for node in pruned.walk() if node.stop == "pruned")
    assert (
        "its split was Humidity" in tw.explain_node(pruned, cut.id).text()
        or "its split was Wind" in tw.explain_node(pruned, cut.id).text()
    )


def test_a_numeric_leaf_predicts_mean_or_median() -> None:
    table = {"x": [1, 1, 1, 1], "Play": [1.0, 2.0, 3.0, 10.0]}
    assert leaf(table, UNPRUNED).steps[0].text == "16/4 = 4"
    median = leaf(table, replace(UNPRUNED, regression=tw.criterion.AbsoluteError()))
    assert (median.steps[0].text, median.steps[0].formula[:10]) == ("2", "the median")


# --- writing ----------------------------------------------------------------------------------------------------------

EVIL = "<script>alert(1)</script>|$x_{1}$&\n"


class Balanced(HTMLParser):
    """Every element that is opened is closed, in order; scripts are refused."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        assert tag != "script"
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        assert tag in ("line", "circle", "polyline")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_names_are_escaped_everywhere() -> None:
    table = {EVIL: [1, 2, 3, 4, 5, 6], "level": [EVIL, "b"] * 3, "y": [EVIL, EVIL, "b", EVIL, "b", "b"]}
    tree = tw.learn(table, "y", UNPRUNED)
    for node in tree.walk():
        worked = tw.explain_node(tree, node.id, table)
        parser = Balanced()
        parser.feed(worked.html())
        parser.close()
        assert parser.open == []
        assert "<script>" not in worked.html()
        assert all("$x_" not in line for line in worked.markdown().splitlines())
        assert all(line.isprintable() for line in worked.text().splitlines())


def test_markdown_is_latex_that_can_be_read() -> None:
    mathtext = pytest.importorskip("matplotlib.mathtext")
    parser = mathtext.MathTextParser("agg")
    trees = [
        tw.learn(TENNIS, "Play", replace(UNPRUNED, criterion=c))
        for c in ("gini", "twoing", "hellinger", "chi_square", "entropy")
    ]
    trees += [
        tw.learn(GOLF, "Hours", replace(UNPRUNED, regression=c)) for c in ("variance", "poisson", "f", "absolute_error")
    ]
    for tree in trees:
        for node in (tree.root, tree[tree.n_nodes - 1]):
            formulas = re.findall(r"\$(.+)\$", tw.explain_node(tree, node.id).markdown())
            assert len(formulas) == len(tw.explain_node(tree, node.id).steps)
            for formula in formulas:
                parser.parse(f"${formula}$")


def test_long_tables_are_cut() -> None:
    n = 40
    table = {"x": [f"level {i}" for i in range(n)] * 3, "y": [f"class {i % 20}" for i in range(3 * n)]}
    worked = tw.explain_node(tw.learn(table, "y", replace(tw.ID3)))
    text = worked.text()
    assert len(worked.branches) == n
    assert "… 29 more" in text
    assert "… 13 more" in text
    assert len(text.splitlines()) < 60
    assert max(map(len, text.splitlines())) < 160


def test_errors() -> None:
    tree = tw.learn(TENNIS, "Play", replace(tw.ID3, rivals=0))
    with pytest.raises(tw.DataError, match="no column 'Sky'"):
        tw.explain_node(tree, column="Sky")
    with pytest.raises(tw.DataError, match="remembers no split by 'Wind'; give data="):
        tw.explain_node(tree, column="Wind")
    with pytest.raises(tw.DataError, match="'Outlook' cannot split node 1: constant"):
        tw.explain_node(tree, 1, TENNIS, column="Outlook")
    with pytest.raises(TypeError, match="expected a Tree"):
        tw.explain_node("tree")
    with pytest.raises(IndexError, match="no node 99"):
        tw.explain_node(tree, 99)


def test_a_rival_without_data_tells_what_is_stored() -> None:
    worked = tw.explain_node(tw.learn(TENNIS, "Play", tw.ID3), column="Wind")
    assert (worked.steps, worked.complete, round(worked.stored or 0, 4)) == ((), False, 0.0481)
    assert "no counts" in worked.remarks[0]


def test_other_rows_are_distinguished() -> None:
    tree = tw.learn(TENNIS, "Play", tw.ID3)
    half = {name: values[::2] for name, values in TENNIS.items()}
    worked = tw.explain_node(tree, 0, half)
    assert not worked.complete
    assert "The rows given lead to" in worked.remarks[0]
    assert sum(branch.weight for branch in worked.branches) == 7


@pytest.mark.parametrize("seed", range(40))
def test_any_sound_tree_is_shown(seed: int) -> None:
    """Numbers made up by hand lead to no score; that is said, and nothing fails."""
    tree = random_tree(seed, depth=3)
    for node in tree.walk():
        worked = tw.explain_node(tree, node.id)
        assert worked.complete == (node.split is None)
        assert worked.text()
        assert worked.markdown()
        assert worked.html()


# --- every recipe -----------------------------------------------------------------------------------------------------


#: Their numbers may be too small for Python's own.
BY_LOGARITHM = ("p", "p, adjusted", "Score")


def evaluated(arithmetic: str) -> float:
    """What Python makes of the arithmetic as it is shown."""
    python = re.sub(r"\|([^|]*)\|", r"abs(\1)", arithmetic).replace("×", "*").replace("²", "**2")
    python = re.sub(r"([\d)]) (log2|ln)\(", r"\1*\2(", python)
    names = {"log2": math.log2, "ln": math.log, "sqrt": math.sqrt, "abs": abs}
    return float(eval(python, {"__builtins__": {}}, names))


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(case=grown_trees())
def test_steps_end_in_what_the_tree_stores(case: Any) -> None:
    """At every inner node of every tree; without data as far as the tree stores enough, with data always."""
    tree, rows, table, recipe = case
    close = {"rel": 1e-9, "abs": near(recipe)}
    for node in tree.walk():
        alone = tw.explain_node(tree, node.id)
        if node.split is None:
            assert alone.steps
            continue
        assert alone.complete or (has_missing(rows) and alone.remarks and not alone.steps and alone.score is None)
        counted = tw.explain_node(tree, node.id, rows, weight=table.weight)
        assert counted.complete, counted.remarks
        for each in (alone, counted) if alone.complete else (counted,):
            assert each.score == pytest.approx(node.split.score, **close)
            assert each.gain == pytest.approx(node.gain, **close)
            assert each.steps[-1].result == pytest.approx(each.score, **close)
        if counted.curve is not None and counted.curve.best is not None and node.split.threshold is not None:
            assert counted.curve.cuts[counted.curve.best] == pytest.approx(node.split.threshold)
            top = counted.curve.scores[counted.curve.allowed].max()
            assert np.isclose(counted.curve.scores[counted.curve.best], top)
        for step in counted.steps:
            shown = step.text.split(" = ")[-2:]
            if len(shown) == 2 and "…" not in step.text and "∞" not in step.text and step.label not in BY_LOGARITHM:
                assert evaluated(shown[0]) == pytest.approx(step.result, rel=0.02, abs=0.02)
        assert str(counted)
        assert counted.markdown()
        assert counted.html()
