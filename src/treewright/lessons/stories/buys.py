"""The lesson "buys": a first C4.5 table.

Comes in: customers. Goes out: a `Lesson`.
Always holds: every number is computed from the table.
"""

from __future__ import annotations

from dataclasses import replace

from treewright.choices import InformationGain, Stopping
from treewright.explain.ranking import rank_splits
from treewright.explain.worked import worked
from treewright.learn import learn
from treewright.lessons.parts import Code, Heading, Lesson, Printed, Shown, Text
from treewright.lessons.phrases import asked, counts_of, derivation, four, impurity, rows_grid
from treewright.lessons.tables import BUYS, Columns
from treewright.recipe import C45, ID3


def buys(data: Columns = BUYS) -> Lesson:
    """Nine customers, two columns, two gains."""
    tree = learn(data, "Buys", ID3)
    best, other = rank_splits(data, "Buys")[:2]
    ratio = learn(data, "Buys", replace(C45, stopping=Stopping(), simplify=None, pruning=None))
    ranked = rank_splits(data, "Buys", ["information_gain", "gain_ratio"])
    no, yes = counts_of(data, "Buys")["all"]
    return Lesson(
        "buys",
        "Buys: a first table for C4.5",
        "Who buys? We know the age and the income of a few customers.",
        data,
        (
            rows_grid(data, "The customers"),
            Text(f"{yes} of {yes + no} buy. This is how much there is to find out:"),
            impurity("Entropy of all customers", InformationGain(), [yes, no], "Before any question"),
            Heading(f"First {other.column}"),
            *derivation(worked(tree, 0, data, column=other.column)),
            Heading(f"Then {best.column}"),
            *derivation(worked(tree)),
            Text(
                f"{other.column} gains {four(other.gain or 0)} bits, {best.column} {four(best.gain or 0)}: the tree "
                "asks "
                f"**{best.column}**."
            ),
            Heading("What C4.5 adds"),
            Code(
                'import treewright as tw\n\ndata = tw.lessons["buys"].data\n'
                'print(tw.rank_splits(data, "Buys", ["information_gain", "gain_ratio"]))'
            ),
            Printed(str(ranked), "both columns ranked"),
            Text(
                "C4.5 divides each gain by what it costs to name the branch, so that a column with many values has no "
                f"unfair start. By that ratio it asks {asked(ratio)}, too."
            ),
            Heading("The tree"),
            Code('print(tw.learn(data, "Buys", tw.ID3))'),
            Shown(tree),
        ),
    )
