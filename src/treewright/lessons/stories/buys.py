"""The lesson "buys": a first table for C4.5."""

from __future__ import annotations

from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.ranking import rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Printed, Shown, Text
from treewright.lessons.phrases import (
    checked,
    counts_of,
    data_source,
    derivation,
    four_digits,
    impurity,
    rows_grid,
    split_column,
)
from treewright.lessons.tables import BUYS, Columns
from treewright.recipes.criterion import InformationGain
from treewright.recipes.named import ID3
from treewright.training.learn import learn


def buys(data: Columns = BUYS) -> Lesson:
    """Information gain and gain ratio of two columns."""
    tree = learn(checked(data, BUYS, "Buys", classes=("no", "yes")), "Buys", ID3)
    best, other = rank_splits(data, "Buys")[:2]
    ranked = rank_splits(data, "Buys", ["information_gain", "gain_ratio"])
    by_ratio = ranked.by("gain_ratio")[0].column
    also = "too" if by_ratio == best.column else "instead"
    no, yes = counts_of(data, "Buys")["all"]
    return Lesson(
        "buys",
        "Buys: a first table for C4.5",
        "Which customers buy? Their age and income are known.",
        data,
        (
            rows_grid(data, "The customers"),
            Text(f"{yes} of {yes + no} buy. The entropy before any split:"),
            impurity("Entropy of all customers", InformationGain(), [yes, no], "Before the split"),
            Heading(f"First {other.column}"),
            *derivation(explain_node(tree, 0, data, column=other.column)),
            Heading(f"Then {best.column}"),
            *derivation(explain_node(tree)),
            Text(
                f"{other.column} gains {four_digits(other.gain or 0)} bits, {best.column} "
                f"{four_digits(best.gain or 0)}: the tree splits on **{split_column(tree)}**."
            ),
            Heading("What C4.5 adds"),
            Code(
                f"import treewright as tw\n\n{data_source('buys', data, BUYS)}\n"
                'print(tw.rank_splits(data, "Buys", ["information_gain", "gain_ratio"]))'
            ),
            Printed(str(ranked), "both columns ranked"),
            Text(
                "C4.5 divides each gain by the split information, the entropy of the children's sizes, so that a "
                f"column with many levels has no advantage. By that ratio {by_ratio} comes first, {also}."
            ),
            Heading("The tree"),
            Code('print(tw.learn(data, "Buys", tw.ID3))'),
            Shown(tree),
        ),
    )
