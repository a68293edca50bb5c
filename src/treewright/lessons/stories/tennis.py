"""The lesson "tennis": which question comes first?

Comes in: the table of days. Goes out: a `Lesson`.
Always holds: every number is computed from the table.
"""

from __future__ import annotations

from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.ranking import Ranking, rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Note, Part, Printed, Shown, Text
from treewright.lessons.phrases import (
    asked,
    branch_of,
    branch_words,
    checked,
    counts_of,
    data_source,
    derivation,
    four_digits,
    impurity,
    is_close,
    joined,
    right,
    rows_grid,
    spelled,
)
from treewright.lessons.tables import GOLF, SLIP_DAY, TENNIS, Columns
from treewright.recipes.criterion import InformationGain
from treewright.recipes.named import ID3
from treewright.training.learn import learn
from treewright.tree.tree import Tree


def tennis(data: Columns = TENNIS) -> Lesson:
    """ID3 by hand: entropy, information gain, and the tree that follows."""
    tree = learn(checked(data, TENNIS, "Play", classes=("No", "Yes")), "Play", ID3)
    ranked = rank_splits(data, "Play", ["information_gain", "gain_ratio"])
    best, second, worst = ranked[0], ranked[1], ranked[-1]
    counts, classes = counts_of(data, "Play")["all"], tree.schema.target.classes or ()
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
                f"Sort the days by {best.column}. Each pile has an entropy of its own, and the average over the piles, "
                "each by its size, is what we still do not know. What has gone is the **information gain**."
            ),
            *derivation(explain_node(tree)),
            Heading("All questions side by side"),
            Code(
                f"import treewright as tw\n\n{data_source('tennis', data, TENNIS)}\n"
                'print(tw.rank_splits(data, "Play", ["information_gain", "gain_ratio"]))'
            ),
            Printed(str(ranked), "every column ranked"),
            Text(
                f"{best.column} gains {four_digits(best.gain or 0)} bits, {second.column} "
                f"{four_digits(second.gain or 0)}; "
                f"the least, {four_digits(worst.gain or 0)}, has {worst.column}. So the root asks **{asked(tree)}**."
            ),
            Text(
                "The gain ratio divides by the entropy of the pile sizes, because a question with many answers gains "
                f"something by luck alone. {_by_ratio(ranked)}"
            ),
            *_below(data, tree),
            Heading("The tree"),
            Code(("" if branch_of(tree, "Sunny") else 'tree = tw.learn(data, "Play", tw.ID3)\n') + "print(tree)"),
            Shown(tree),
            Text(
                f"It answers {good} of {whole} days rightly. Read a path from the root down, and you have read a rule; "
                "a branch that no day ever took answers like the node above it."
            ),
            *(_slips(data) if data == TENNIS else []),
        ),
    )


def _by_ratio(ranked: Ranking) -> str:
    """Whether the gain ratio puts the same column first, and how clearly."""
    first, second = ranked.by("gain_ratio")[:2]
    ahead, behind = first.score or 0, second.score or 0
    stays = "stays in front" if first.column == ranked[0].column else "comes first then"
    clearly = ", but only just" if is_close(ahead, behind) else ""
    return (
        f"Here {first.column} {stays}, with {four_digits(ahead)} against {second.column}'s "
        f"{four_digits(behind)}{clearly}."
    )


def _below(data: Columns, tree: Tree) -> list[Part]:
    """The next question in one of the piles, where a pile needs one."""
    pile = branch_of(tree, "Sunny")
    settled = _settled(tree)
    head = Heading("The same game in each pile")
    if pile is None:
        return [head, Text(settled)] if settled else []
    below = rank_splits(data, "Play", tree=tree, node=pile.id)
    gain = below[0].gain or 0
    all_of_it = ": all of it. No doubt is left there." if gain >= pile.impurity - 1e-12 else "."
    return [
        head,
        Text(
            f"{settled}Where {branch_words(pile)}, {int((pile.counts or (0, 0))[1])} of {pile.rows} days say Yes, and "
            f"the entropy is {four_digits(pile.impurity)}. So we ask again, with these days only."
        ),
        Code(f'tree = tw.learn(data, "Play", tw.ID3)\nprint(tw.rank_splits(data, "Play", tree=tree, node={pile.id}))'),
        Printed(str(below), f"every column ranked where {branch_words(pile)}"),
        Text(f"{below[0].column} gains {four_digits(gain)} of {four_digits(pile.impurity)} bits{all_of_it}"),
    ]


def _settled(tree: Tree) -> str:
    """The piles that need no further question."""
    pure = [child for child in map(tree.__getitem__, tree.root.children) if child.rows and not child.impurity]
    told = [
        f"Where {branch_words(leaf)}, {_all_of(leaf.rows)} {leaf.prediction}: nothing is left to ask. " for leaf in pure
    ]
    return "".join(told)


def _all_of(rows: int) -> str:
    return "the one day says" if rows == 1 else f"all {rows} days say"


def _slips(data: Columns) -> list[Note]:
    """What the sources print differently, and what that would change: it is about their table alone."""
    printed = rank_splits(data, "Play").of("Temperature").gain or 0
    cold = ["Cold" if day == SLIP_DAY else value for day, value in enumerate(data["Temperature"], 1)]
    with_cold = rank_splits({**data, "Temperature": cold}, "Play").of("Temperature")
    notes = [
        Note(
            f"**A slip worth finding.** The slides print Cold for the Temperature of D{SLIP_DAY}. Then Temperature "
            "would "
            f"have {spelled(len(set(cold)))} values and gain {four_digits(with_cold.gain or 0)}. But the gain they "
            f"print is "
            "the one "
            f"for Cool, {four_digits(printed)}: the arithmetic is right, and the table has a typing error."
        )
    ]
    book = {**data, "Wind": GOLF["Wind"]}
    moved = [day for day, (a, b) in enumerate(zip(data["Wind"], book["Wind"], strict=True), 1) if a != b]
    if moved:
        ours, theirs = (rank_splits(table, "Play") for table in (data, book))
        same = all(abs((ours.of(c).gain or 0) - (theirs.of(c).gain or 0)) < 1e-12 for c in ours.columns)
        days = joined([f"D{day}" for day in moved])
        outcome = "the gains are the same to the last digit" if same else "the gains differ"
        notes.append(Note(f"In Mitchell's book {days} have their Wind the other way round; {outcome}."))
    return notes
