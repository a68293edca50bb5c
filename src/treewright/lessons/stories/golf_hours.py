"""The lesson "golf-hours": a regression tree."""

from __future__ import annotations

from dataclasses import replace

from treewright import criteria
from treewright.data.grid import Grid
from treewright.data.number_text import number_text
from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.ranking import Ranking, rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Printed, Shown, Text
from treewright.lessons.phrases import checked, data_source, derivation, four_digits, gains, rows_grid, split_column
from treewright.lessons.tables import GOLF, Columns
from treewright.recipes.criterion import AbsoluteError, RegressionCriterion, StandardDeviation, Variance
from treewright.recipes.named import ID3
from treewright.recipes.numeric import Threshold
from treewright.recipes.recipe import Recipe
from treewright.recipes.stopping import Stopping
from treewright.training.learn import learn

_MEASURES: dict[str, RegressionCriterion] = {
    "standard deviation": StandardDeviation(),
    "variance": Variance(),
    "absolute error": AbsoluteError(),
}


def golf_hours(data: Columns = GOLF) -> Lesson:
    """Compare standard deviation reduction with variance and absolute error."""
    hours = checked(data, GOLF, "Hours")["Hours"]
    trees = {name: learn(data, "Hours", _recipe(criterion)) for name, criterion in _MEASURES.items()}
    tree = trees["standard deviation"]
    ranked = rank_splits(data, "Hours", "standard_deviation", recipe=_recipe(StandardDeviation()))
    small = learn(data, "Hours", replace(_recipe(StandardDeviation()), stopping=Stopping(min_samples_split=4)))
    median = trees["absolute error"].root.prediction
    return Lesson(
        "golf-hours",
        "Golf hours: a regression tree",
        "The target is a number: the hours played. What is a good split now?",
        data,
        (
            rows_grid(data, "The days, and the hours played", "Day"),
            Text(
                f"The mean is {number_text(round(tree.root.mean or 0, 4))} hours. A constant prediction of the mean "
                f"is wrong by about the standard deviation, {four_digits(criteria.standard_deviation(hours))} hours. "
                "A good split gives children whose hours are closer together."
            ),
            Heading(f"{split_column(tree)}, worked out"),
            *derivation(explain_node(tree)),
            Heading("All columns side by side"),
            Code(
                "from dataclasses import replace\nimport treewright as tw\n\n"
                f"{data_source('golf-hours', data, GOLF)}\n"
                "recipe = replace(tw.ID3, numeric=tw.numeric.Threshold(), "
                "regression=tw.criterion.StandardDeviation())\n"
                'print(tw.rank_splits(data, "Hours", "standard_deviation", recipe=recipe))'
            ),
            Printed(str(ranked), "every column ranked"),
            Text(
                f"{split_column(tree)} reduces the standard deviation by {four_digits(tree.root.gain)} hours, "
                f"{_margin(ranked)}: the root splits on it."
            ),
            Heading("By other criteria"),
            Text(
                "Variance is the square of the deviation and is what CART uses. The absolute error measures from the "
                f"median ({number_text(float(median))} hours here), so that one outlier has less influence."
            ),
            Grid(
                "Reduction by each column, by each criterion",
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
            Text("Each leaf predicts the mean of its days; the tree shows their standard deviation beside it."),
        ),
    )


def _margin(ranked: Ranking) -> str:
    first, second = (ranked[i].gain or 0 for i in (0, 1))
    return "more than any other" if first > second + 1e-12 else f"as much as {ranked[1].column}"


def _recipe(criterion: RegressionCriterion) -> Recipe:
    return replace(ID3, numeric=Threshold(), regression=criterion)
