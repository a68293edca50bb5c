"""The lesson "fluke": which of two correlated columns a tree shows, and what stays when it is learned again."""

from __future__ import annotations

from collections import Counter

import numpy as np

from treewright.data.grid import Grid
from treewright.data.number_text import percent
from treewright.errors import DataError
from treewright.inspection.ranking import rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Listed, Note, Printed, Shown, Text
from treewright.lessons.phrases import checked, data_source, four_digits, n_rows, rows_grid, split_column
from treewright.lessons.tables import PRESSURES, Columns
from treewright.recipes.named import CART
from treewright.training.learn import learn
from treewright.uncertainty.stability import stability
from treewright.uncertainty.stability_report import SplitStability, Stability

_RECIPE = CART.with_(pruning=None, max_depth=2, min_samples_leaf=5)
_REFITS = 100
_RECIPE_CODE = "recipe = tw.CART.with_(pruning=None, max_depth=2, min_samples_leaf=5)"


def fluke(data: Columns = PRESSURES) -> Lesson:
    """Tell the lesson of instability: rivals, one row less, bootstrap samples, and what to report."""
    tree = learn(checked(data, PRESSURES, "Treated", classes=("no", "yes")), "Treated", _RECIPE)
    if tree.root.split is None:
        raise DataError("no column splits these patients; the lesson needs a tree")
    ranked = rank_splits(data, "Treated", recipe=_RECIPE)
    found = stability(tree, data, resamples=_REFITS)
    return Lesson(
        "fluke",
        "Fluke: which of two columns?",
        "A tree is printed as if carved in stone. How much of it would stay if the rows were slightly different ones?",
        data,
        (
            rows_grid(data, "The patients: upper and lower blood pressure, age, and whether they are treated"),
            Text(_alike(data)),
            Code(
                f"import treewright as tw\n\n{data_source('fluke', data, PRESSURES)}\n{_RECIPE_CODE}\n"
                'tree = tw.learn(data, "Treated", recipe)\nprint(tree)'
            ),
            Shown(tree),
            Text(
                f"The tree begins with {split_column(tree)}. It is easy to read this as “{split_column(tree)} is what "
                "matters”. The documents warn of that: of two highly correlated columns only one may appear in the "
                "tree, “and which one it is will be a bit of a fluke”."
            ),
            Heading("The rivals of the root"),
            Code('print(tw.rank_splits(data, "Treated", recipe=recipe))'),
            Printed(str(ranked), "every column at the root"),
            Text(
                f"{ranked[0].column} gains {four_digits(ranked[0].gain or 0.0)}, {ranked[1].column} "
                f"{four_digits(ranked[1].gain or 0.0)}."
            ),
            Heading("Leave out one patient"),
            Text("Learn the tree again without one patient, for each in turn, and count the columns at the root."),
            _without_one(data),
            Heading("Draw the patients again"),
            Text(
                "A bootstrap sample draws as many rows as the table has, with replacement: a table that might as well "
                f"have been collected. `stability` learns the tree again on {_REFITS} of them. It looks up each split "
                "of our tree in the new tree, at the node that shares most of its rows."
            ),
            Code(f"found = tw.stability(tree, data, resamples={_REFITS})\nprint(found)"),
            Printed(str(found), "the splits in the refits", found.grid().html()),
            Text(_root_words(found.splits[0])),
            Text(_prediction_words(found)),
            Heading("What to report"),
            Listed(
                (
                    "The share of refits that keep a split, beside the split.",
                    "The band of its cuts instead of one number.",
                    "The columns that take its place: “one of these” is the honest answer.",
                    "The prediction with its own stability, which is what a patient is told.",
                )
            ),
            Note(
                "A split that every refit keeps is stable, and still no cause: stability says what other samples of "
                "the same kind would show, not what a treatment would do."
            ),
        ),
    )


def _alike(data: Columns) -> str:
    correlation = float(np.corrcoef(data["Upper"], data["Lower"])[0, 1])
    return (
        f"The two pressures of these {n_rows(data)} patients have a correlation of {correlation:.2f}: who has a high "
        "upper pressure has a high lower one, and either of them tells much the same."
    )


def _without_one(data: Columns) -> Grid:
    roots: Counter[str] = Counter()
    for i in range(n_rows(data)):
        rest = {name: values[:i] + values[i + 1 :] for name, values in data.items()}
        split = learn(rest, "Treated", _RECIPE).root.split
        roots["no split" if split is None else split.column] += 1
    rows = tuple((name, str(count)) for name, count in roots.most_common())
    return Grid("The root without one patient", ("column", "patients"), rows)


def _root_words(root: SplitStability) -> str:
    if not root.instead:
        return f"Every refit begins with {root.split.column}: this split is no fluke."
    other = next(iter(root.instead))
    place = "does not split at all" if other is None else f"begins with {other}"
    fluke = " **Which of them we saw first was a fluke.**" if root.kept < 0.8 else ""
    return (
        f"{percent(root.kept)} of the refits begin with {root.split.column}; the most frequent other tree, in "
        f"{percent(root.instead[other])} of them, {place}.{fluke}"
    )


def _prediction_words(found: Stability) -> str:
    stay, root = float(found.rows.mean()), found.splits[0].kept
    kept = f"on average a patient keeps the predicted class in {percent(stay)} of the refits."
    if stay <= root:
        return f"The predictions change too: {kept}"
    return (
        f"The predictions are steadier than the first split: {kept} Columns that tell the same lead to trees that look "
        "different and predict alike."
    )
