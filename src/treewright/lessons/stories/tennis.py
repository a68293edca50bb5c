"""The lesson "tennis": which question comes first?

Comes in: the table of days. Goes out: a `Lesson`.
Always holds: every number is computed from the table.
"""

from __future__ import annotations

from treewright.choices import InformationGain
from treewright.explain.ranking import rank_splits
from treewright.explain.worked import worked
from treewright.learn import learn
from treewright.lessons.parts import Code, Heading, Lesson, Note, Printed, Shown, Text
from treewright.lessons.phrases import (
    branch_of,
    branch_words,
    counts_of,
    derivation,
    four,
    impurity,
    joined,
    right,
    rows_grid,
    spelled,
)
from treewright.lessons.tables import GOLF, SLIP_DAY, TENNIS, Columns
from treewright.recipe import ID3
from treewright.tree import Tree


def tennis(data: Columns = TENNIS) -> Lesson:
    """ID3 by hand: entropy, information gain, and the tree that follows."""
    tree = learn(data, "Play", ID3)
    ranked = rank_splits(data, "Play", ["information_gain", "gain_ratio"])
    best, second, worst = ranked[0], ranked[1], ranked[-1]
    counts, classes = counts_of(data, "Play")["all"], tree.schema.target.classes or ()
    sunny = branch_of(tree, "Sunny")
    below = rank_splits(data, "Play", tree=tree, node=sunny.id)
    good, whole = right(tree, data)
    return Lesson(
        "tennis",
        "Tennis: which question comes first?",
        f"{spelled(whole).capitalize()} days of weather, and whether anyone played. What should we ask first?",
        data,
        (
            rows_grid(data, "The days", "Day"),
            Text(
                "A decision tree plays a guessing game. It asks one column at a time, and it wants to know the answer "
                "after as few questions as possible. So everything turns on one thing: **which question is best?**"
            ),
            Heading("How unsure are we before we ask?"),
            Text(
                f"Of {whole} days, {counts[1]} are {classes[1]} and {counts[0]} are {classes[0]}. Entropy says how "
                "mixed that is, in bits: zero when all days agree, one when it is heads or tails."
            ),
            impurity("Entropy of all days", InformationGain(), counts[::-1], "Before any question"),
            Heading(f"What does {best.column} tell us?"),
            Text(
                f"Sort the days by {best.column}. Each pile is less mixed than the whole, and the average over the "
                "piles, "
                "each by its size, is what we still do not know. What has gone is the **information gain**."
            ),
            *derivation(worked(tree)),
            Heading("All questions side by side"),
            Code(
                'import treewright as tw\n\ndata = tw.lessons["tennis"].data\n'
                'print(tw.rank_splits(data, "Play", ["information_gain", "gain_ratio"]))'
            ),
            Printed(str(ranked), "every column ranked"),
            Text(
                f"{best.column} gains {four(best.gain or 0)} bits, {second.column} {four(second.gain or 0)}; "
                f"{worst.column} tells next to nothing, {four(worst.gain or 0)}. So the root asks **{best.column}**."
            ),
            Text(
                "The gain ratio divides by the entropy of the pile sizes, because a question with many answers gains "
                f"something by luck alone. Here {ranked.by('gain_ratio')[0].column} stays in front, with "
                f"{four(ranked.by('gain_ratio')[0].score or 0)}, but only just."
            ),
            Heading("The same game in each pile"),
            Text(
                _settled(tree)
                + f"Where {branch_words(sunny)}, {int((sunny.counts or (0, 0))[1])} of {sunny.rows} played, and the "
                f"entropy is {four(sunny.impurity)}. So we ask again, with these days only."
            ),
            Code(
                'tree = tw.learn(data, "Play", tw.ID3)\n'
                f'print(tw.rank_splits(data, "Play", tree=tree, node={sunny.id}))'
            ),
            Printed(str(below), "every column ranked among the sunny days"),
            Text(
                f"{below[0].column} gains {four(below[0].gain or 0)} of {four(sunny.impurity)} bits"
                + (": all of it. No doubt is left there." if (below[0].gain or 0) >= sunny.impurity - 1e-12 else ".")
            ),
            Heading("The tree"),
            Code("print(tree)"),
            Shown(tree),
            Text(
                f"It answers {good} of {whole} days rightly. Read a path from the root down, and you have read a rule; "
                "a branch that no day ever took answers like the node above it."
            ),
            *_slips(data, worst.gain or 0),
        ),
    )


def _settled(tree: Tree) -> str:
    """The piles that need no further question."""
    pure = [child for child in map(tree.__getitem__, tree.root.children) if child.rows and not child.impurity]
    told = [
        f"Where {branch_words(leaf)}, all {leaf.rows} days say {leaf.prediction}: nothing is left to ask. "
        for leaf in pure
    ]
    return "".join(told)


def _slips(data: Columns, printed: float) -> list[Note]:
    """What the sources print differently, and what that would change."""
    cold = ["Cold" if day == SLIP_DAY else value for day, value in enumerate(data["Temperature"], 1)]
    with_cold = rank_splits({**data, "Temperature": cold}, "Play").of("Temperature")
    notes = [
        Note(
            f"**A slip worth finding.** The slides print Cold for the Temperature of D{SLIP_DAY}. Then Temperature "
            "would "
            f"have {spelled(len(set(cold)))} values and gain {four(with_cold.gain or 0)}. But the gain they print is "
            "the one "
            f"for Cool, {four(printed)}: the arithmetic is right, and the table has a typing error."
        )
    ]
    book = {**data, "Wind": GOLF["Wind"]} if len(data["Wind"]) == len(GOLF["Wind"]) else data
    moved = [day for day, (a, b) in enumerate(zip(data["Wind"], book["Wind"], strict=True), 1) if a != b]
    if moved:
        ours, theirs = (rank_splits(table, "Play") for table in (data, book))
        same = all(abs((ours.of(c).gain or 0) - (theirs.of(c).gain or 0)) < 1e-12 for c in ours.columns)
        days = joined([f"D{day}" for day in moved])
        outcome = "the gains are the same to the last digit" if same else "the gains differ"
        notes.append(Note(f"In Mitchell's book {days} have their Wind the other way round; {outcome}."))
    return notes
