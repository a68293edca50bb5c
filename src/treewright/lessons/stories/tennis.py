"""The lesson "tennis": ID3 by hand: entropy, information gain, and the tree that follows."""

from __future__ import annotations

from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.ranking import Ranking, rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Note, Part, Printed, Shown, Text
from treewright.lessons.phrases import (
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
    split_column,
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
        "Tennis: which split comes first?",
        f"{spelled(whole).capitalize()} days of weather, and whether tennis was played. Which column should the "
        "tree split on first?",
        data,
        (
            rows_grid(data, "The days", "Day"),
            Text(
                "A decision tree tests one column at a time and should reach a prediction after few tests. So "
                "everything depends on one thing: **which split is best?**"
            ),
            Heading("Entropy before the split"),
            Text(
                f"Of {whole} days, {counts[1]} are {classes[1]} and {counts[0]} are {classes[0]}. Entropy measures "
                "how mixed that is, in bits: zero when all days have one class, one when both classes are equally "
                "frequent."
            ),
            impurity("Entropy of all days", InformationGain(), counts[::-1], "Before the split"),
            Heading(f"The split on {best.column}"),
            Text(
                f"Divide the days by {best.column}. Each child has its own entropy; their average, weighted by size, "
                "is the entropy that remains. The difference is the **information gain**."
            ),
            *derivation(explain_node(tree)),
            Heading("All columns side by side"),
            Code(
                f"import treewright as tw\n\n{data_source('tennis', data, TENNIS)}\n"
                'print(tw.rank_splits(data, "Play", ["information_gain", "gain_ratio"]))'
            ),
            Printed(str(ranked), "every column ranked"),
            Text(
                f"{best.column} gains {four_digits(best.gain or 0)} bits, {second.column} "
                f"{four_digits(second.gain or 0)}; the least, {four_digits(worst.gain or 0)}, has {worst.column}. So "
                f"the root splits on **{split_column(tree)}**."
            ),
            Text(
                "The gain ratio divides the gain by the entropy of the children's sizes, because a column with many "
                f"levels gains something by chance alone. {_by_ratio(ranked)}"
            ),
            *_below(data, tree),
            Heading("The tree"),
            Code(("" if branch_of(tree, "Sunny") else 'tree = tw.learn(data, "Play", tw.ID3)\n') + "print(tree)"),
            Shown(tree),
            Text(
                f"It predicts {good} of {whole} days correctly. Each path from the root to a leaf is a rule. A leaf "
                "without training rows predicts the majority class of its parent."
            ),
            *(_slips(data) if data == TENNIS else []),
        ),
    )


def _by_ratio(ranked: Ranking) -> str:
    """Return whether the gain ratio ranks the same column first, and how clearly."""
    first, second = ranked.by("gain_ratio")[:2]
    ahead, behind = first.score or 0, second.score or 0
    stays = "remains first" if first.column == ranked[0].column else "comes first"
    clearly = ", but only just" if is_close(ahead, behind) else ""
    return (
        f"Here {first.column} {stays}, with {four_digits(ahead)} against {second.column}'s "
        f"{four_digits(behind)}{clearly}."
    )


def _below(data: Columns, tree: Tree) -> list[Part]:
    """Return the next split in one of the children, where a child is split."""
    child = branch_of(tree, "Sunny")
    settled = _settled(tree)
    head = Heading("The same in each child")
    if child is None:
        return [head, Text(settled)] if settled else []
    below = rank_splits(data, "Play", tree=tree, node=child.id)
    gain = below[0].gain or 0
    all_of_it = ": all of it. Its children are pure." if gain >= child.impurity - 1e-12 else "."
    return [
        head,
        Text(
            f"{settled}Where {branch_words(child)}, {int((child.counts or (0, 0))[1])} of {child.rows} days are Yes, "
            f"and the entropy is {four_digits(child.impurity)}. The same search is repeated with these days only."
        ),
        Code(f'tree = tw.learn(data, "Play", tw.ID3)\nprint(tw.rank_splits(data, "Play", tree=tree, node={child.id}))'),
        Printed(str(below), f"every column ranked where {branch_words(child)}"),
        Text(f"{below[0].column} gains {four_digits(gain)} of {four_digits(child.impurity)} bits{all_of_it}"),
    ]


def _settled(tree: Tree) -> str:
    """Return sentences about the children that are pure."""
    pure = [child for child in map(tree.__getitem__, tree.root.children) if child.rows and not child.impurity]
    sentences = [
        f"Where {branch_words(leaf)}, {_all_of(leaf.rows)} {leaf.prediction}: the child is a leaf. " for leaf in pure
    ]
    return "".join(sentences)


def _all_of(rows: int) -> str:
    return "the one day is" if rows == 1 else f"all {rows} days are"


def _slips(data: Columns) -> list[Note]:
    """Return notes on what the sources print differently; they are about their table alone."""
    printed = rank_splits(data, "Play").of("Temperature").gain or 0
    cold = ["Cold" if day == SLIP_DAY else value for day, value in enumerate(data["Temperature"], 1)]
    with_cold = rank_splits({**data, "Temperature": cold}, "Play").of("Temperature")
    notes = [
        Note(
            f"**A slip worth finding.** The slides print Cold for the Temperature of D{SLIP_DAY}. Then Temperature "
            f"would have {spelled(len(set(cold)))} values and gain {four_digits(with_cold.gain or 0)}. But the gain "
            f"they print is the one for Cool, {four_digits(printed)}: the arithmetic is right, and the table has a "
            "typing error."
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
