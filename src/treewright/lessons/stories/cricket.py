"""The lesson "cricket": four criteria side by side."""

from __future__ import annotations

from dataclasses import replace

from treewright import criteria
from treewright.data.grid import Grid
from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.ranking import Ranking, rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Listed, Note, Printed, Text
from treewright.lessons.phrases import (
    checked,
    counts_of,
    data_source,
    derivation,
    four_digits,
    gains,
    joined,
    n_rows,
    shares_grid,
    spelled,
    split_column,
)
from treewright.lessons.tables import CRICKET, Columns
from treewright.recipes.criterion import ClassificationCriterion, Gini, InformationGain, Misclassification, Variance
from treewright.recipes.named import ID3
from treewright.recipes.numeric import Threshold
from treewright.training.learn import learn
from treewright.tree.tree import Tree

_PLAIN = replace(ID3, name="PLAIN", numeric=Threshold(), regression=Variance())
_MEASURES: dict[str, ClassificationCriterion | Variance] = {
    "entropy": InformationGain(),
    "gini": Gini(),
    "variance": Variance(),
    "misclassification": Misclassification(),
}


def cricket(data: Columns = CRICKET) -> Lesson:
    """Entropy, gini, variance and misclassification on one table."""
    checked(data, CRICKET, "Plays", classes=("no", "yes"))
    made = {name: _tree(data, criterion) for name, criterion in _MEASURES.items()}
    columns = [name for name in data if name != "Plays"]
    plays, others = counts_of(data, "Plays")["all"][::-1]
    winners = {split_column(tree) for tree in made.values()}
    verdict = (
        f"All {spelled(len(made))} choose **{winners.pop()}**. The criteria rarely disagree."
        if len(winners) == 1
        else f"They differ: {joined([f'{name} chooses {split_column(tree)}' for name, tree in made.items()])}."
    )
    ranked = rank_splits(data, "Plays", ["information_gain", "gini", "misclassification"])
    return Lesson(
        "cricket",
        f"Cricket: {spelled(len(_MEASURES))} criteria",
        f"Of {n_rows(data)} students {plays} play cricket. Does the choice of split depend on the criterion?",
        data,
        (
            Text(f"There are {spelled(len(columns))} columns to choose from: {joined(columns)}."),
            shares_grid("Who plays", data, "Plays", ("students", "play", "share")),
            Heading("The criteria"),
            Listed(
                (
                    "**Entropy**: the average number of bits needed to encode who plays.",
                    "**Gini**: how often two students, drawn at random, differ.",
                    "**Variance**: write one for playing and zero for not; how far do the numbers lie from their mean?",
                    "**Misclassification**: how often the majority class is wrong.",
                )
            ),
            _comparison(made, columns),
            Text(verdict),
            Heading("One of them, step by step"),
            *derivation(explain_node(made["gini"])),
            Heading("By one call"),
            Code(
                f"import treewright as tw\n\n{data_source('cricket', data, CRICKET)}\n"
                'print(tw.rank_splits(data, "Plays", ["information_gain", "gini", "misclassification"]))'
            ),
            Printed(str(ranked), "every column ranked by three criteria"),
            *([_slip(columns, ranked, [plays, others])] if data == CRICKET else []),
        ),
    )


def _tree(data: Columns, criterion: ClassificationCriterion | Variance) -> Tree:
    """Learn a tree by a criterion; variance needs a numeric target."""
    if isinstance(criterion, Variance):
        numbers = {**data, "Plays": [int(value == "yes") for value in data["Plays"]]}
        return learn(numbers, "Plays", replace(_PLAIN, regression=criterion), task="regression")
    return learn(data, "Plays", replace(_PLAIN, criterion=criterion))


def _comparison(made: dict[str, Tree], columns: list[str]) -> Grid:
    rows = []
    for name, tree in made.items():
        before, gained = tree.root.impurity, gains(tree.root)
        rows.append((name, four_digits(before), *(four_digits(before - gained.get(column, 0.0)) for column in columns)))
    return Grid(
        "Before and after each split (smaller is better)", ("", "parent", *(f"after {c}" for c in columns)), tuple(rows)
    )


def _slip(columns: list[str], ranked: Ranking, counts: list[int]) -> Note:
    before = criteria.gini(counts)
    squares = {c: 1 - (before - (ranked.by("gini").of(c).gain or 0)) for c in columns}
    values = joined([f"{squares[c]:.2f} for {c}" for c in columns])
    return Note(
        f'**A slip worth finding.** The slide computes a "Gini" of {values}, and calls it better where it is larger. '
        "That "
        "is the sum of the squared shares: one minus the impurity. It is the chance that two students are alike, not "
        "that "
        "they differ. The choice is the same, the name is not."
    )
