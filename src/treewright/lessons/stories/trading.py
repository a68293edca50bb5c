"""The lesson "trading": gini by hand."""

from __future__ import annotations

from dataclasses import replace

from treewright.data.grid import Grid
from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.ranking import rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Printed, Shown, Text
from treewright.lessons.phrases import (
    checked,
    counts_of,
    data_source,
    derivation,
    four_digits,
    rows_grid,
    spelled,
    split_column,
)
from treewright.lessons.tables import TRADING, Columns
from treewright.recipes.named import CART
from treewright.training.learn import learn


def trading(data: Columns = TRADING) -> Lesson:
    """CART's first choice, by weighted gini."""
    recipe = replace(CART, pruning=None)
    tree = learn(checked(data, TRADING, "Return", classes=("Down", "Up")), "Return", recipe)
    ranked = rank_splits(data, "Return", recipe=recipe)
    before = tree.root.impurity
    counts = counts_of(data, "Return")["all"]
    whole = sum(counts)
    return Lesson(
        "trading",
        "Trading: gini by hand",
        f"Will the price go up? {spelled(len(data) - 1).capitalize()} columns describe each day. CART compares "
        "splits by gini: which comes first?",
        data,
        (
            rows_grid(data, "The days at the exchange", "Day"),
            Heading("What gini measures"),
            Text(
                f"Draw two days at random. Gini is the probability that their classes differ. With {counts[1]} days "
                f"up and {counts[0]} down it is {four_digits(before)}; in a pure node it is zero."
            ),
            Heading(f"{ranked[0].column}, worked out"),
            *derivation(explain_node(tree)),
            Heading("The columns side by side"),
            Text(
                "Textbooks compare what is left after the split: **the weighted gini, smaller is better**. The "
                "library compares the gain, larger is better. The order is the same."
            ),
            Grid(
                f"Gini before is {four_digits(before)}",
                ("column", "weighted gini after", "gain"),
                tuple((c.column, four_digits(before - (c.gain or 0)), four_digits(c.gain or 0)) for c in ranked),
            ),
            Text(
                f"**{split_column(tree)}** leaves the least, {four_digits(before - tree.root.gain)}, and becomes the "
                "root."
                if tree.root.split is not None
                else "No column gains anything, so the tree is a single leaf."
            ),
            Code(
                "from dataclasses import replace\nimport treewright as tw\n\n"
                f"{data_source('trading', data, TRADING)}\nrecipe = replace(tw.CART, pruning=None)\n"
                'print(tw.rank_splits(data, "Return", recipe=recipe))'
            ),
            Printed(str(ranked), "every column ranked"),
            Heading("The tree"),
            Code('print(tw.learn(data, "Return", recipe))'),
            Shown(tree),
            Text(
                f"{whole} days are far too few to trade by. The table is small so that each number can be checked by "
                "hand."
            ),
        ),
    )
