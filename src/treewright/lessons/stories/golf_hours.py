"""The lesson "golf-hours": a tree that answers with a number.

Comes in: days and the hours played. Goes out: a `Lesson`.
Always holds: every number is computed from the table.
"""

from __future__ import annotations

from dataclasses import replace

from treewright import criteria
from treewright.inspection.derivation.blocks import Grid
from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.ranking import Ranking, rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Printed, Shown, Text
from treewright.lessons.phrases import asked, checked, data_source, derivation, four_digits, gains, rows_grid
from treewright.lessons.tables import GOLF, Columns
from treewright.recipes.criterion import AbsoluteError, RegressionCriterion, StandardDeviation, Variance
from treewright.recipes.named import ID3
from treewright.recipes.numeric import Threshold
from treewright.recipes.recipe import Recipe
from treewright.recipes.stopping import Stopping
from treewright.training.learn import learn
from treewright.tree.text import number_text

_MEASURES: dict[str, RegressionCriterion] = {
    "standard deviation": StandardDeviation(),
    "variance": Variance(),
    "absolute error": AbsoluteError(),
}


def golf_hours(data: Columns = GOLF) -> Lesson:
    """Standard deviation reduction, and what variance and medians make of it."""
    hours = checked(data, GOLF, "Hours")["Hours"]
    trees = {name: learn(data, "Hours", _recipe(criterion)) for name, criterion in _MEASURES.items()}
    tree = trees["standard deviation"]
    ranked = rank_splits(data, "Hours", "standard_deviation", recipe=_recipe(StandardDeviation()))
    small = learn(data, "Hours", replace(_recipe(StandardDeviation()), stopping=Stopping(min_samples_split=4)))
    median = trees["absolute error"].root.prediction
    return Lesson(
        "golf-hours",
        "Golf hours: a tree that answers with a number",
        "Not whether they will play, but for how long. What is a good question now?",
        data,
        (
            rows_grid(data, "The days, and the hours played", "Day"),
            Text(
                f"The mean is {number_text(round(tree.root.mean or 0, 4))} hours. To answer it every day would be "
                "wrong by "
                f"about the standard deviation, {four_digits(criteria.standard_deviation(hours))} hours. A good "
                f"question "
                "makes "
                "piles in which the hours lie closer together."
            ),
            Heading(f"{asked(tree)}, worked out"),
            *derivation(explain_node(tree)),
            Heading("All questions side by side"),
            Code(
                "from dataclasses import replace\nimport treewright as tw\n\n"
                f"{data_source('golf-hours', data, GOLF)}\n"
                "recipe = replace(tw.ID3, numeric=tw.numeric.Threshold(), "
                "regression=tw.criterion.StandardDeviation())\n"
                'print(tw.rank_splits(data, "Hours", "standard_deviation", recipe=recipe))'
            ),
            Printed(str(ranked), "every column ranked"),
            Text(
                f"{asked(tree)} takes {four_digits(tree.root.gain)} hours off the deviation, {_margin(ranked)}: it "
                f"is asked "
                "first."
            ),
            Heading("By other measures"),
            Text(
                "Variance is the square of the deviation and is what CART uses. The absolute error measures from the "
                "median "
                f"({number_text(float(median))} hours here), so that one wild day counts no more than it should."
            ),
            Grid(
                "What each column takes away, by each measure",
                ("", *_MEASURES),
                (
                    ("before", *(four_digits(one.root.impurity) for one in trees.values())),
                    *(
                        (c.column, *(four_digits(gains(trees[name].root).get(c.column, 0.0)) for name in _MEASURES))
                        for c in ranked
                    ),
                ),
            ),
            Heading("A small tree"),
            Code(
                "small = replace(recipe, stopping=tw.stopping.Stopping(min_samples_split=4))\n"
                'print(tw.learn(data, "Hours", small))'
            ),
            Shown(small),
            Text("Each leaf answers with the mean of its days, and says how far they lie from it."),
        ),
    )


def _margin(ranked: Ranking) -> str:
    first, second = (ranked[i].gain or 0 for i in (0, 1))
    return "more than any other" if first > second + 1e-12 else f"as much as {ranked[1].column}"


def _recipe(criterion: RegressionCriterion) -> Recipe:
    return replace(ID3, numeric=Threshold(), regression=criterion)
