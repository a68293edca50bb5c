"""The lesson "missing": five policies for missing values."""

from __future__ import annotations

from dataclasses import replace

from treewright.data.grid import Grid
from treewright.data.number_text import percent
from treewright.errors import DataError
from treewright.inspection.explain_row import explain_row
from treewright.lessons.content import Code, Heading, Lesson, Listed, Note, Part, Printed, Text
from treewright.lessons.phrases import checked, data_source, four_digits, joined, n_rows, rows_grid, spelled
from treewright.lessons.tables import UNKNOWN, Columns
from treewright.prediction.predict import predict_proba
from treewright.recipes.missing import Fractional, Ignore, MajorityChild, Missing, OwnCategory, RandomChild
from treewright.recipes.named import ID3
from treewright.recipes.stopping import Stopping
from treewright.training.learn import learn
from treewright.tree.tree import Node, Tree

#: A day without Outlook.
NEW_DAY = {"Outlook": None, "Temperature": "Mild", "Humidity": "High", "Wind": "Strong"}

_POLICIES: dict[str, tuple[Missing, str]] = {
    "ignored while scoring": (
        Ignore(),
        "The row counts for other columns, not for this one, and stops at a split on it.",
    ),
    'own category "?"': (OwnCategory(), "Missing is a level like any other, with a child of its own."),
    "majority child": (MajorityChild(), "The row goes to the child with most rows."),
    "all children, with shares": (Fractional(), "The row goes to every child, with a fraction of its weight."),
    "random child": (RandomChild(), "The row goes to one child, drawn by the shares, the same every time."),
}


def missing(data: Columns = UNKNOWN) -> Lesson:
    """Ignore, own category, majority, all with shares, random: the probability of Yes by each."""
    checked(data, UNKNOWN, "Play", classes=("No", "Yes"))
    days = [i for i, value in enumerate(data["Outlook"], 1) if value is None]
    if not days:
        raise DataError("the lesson is about days without an Outlook, and every day has one; set one to None")
    whole = {name: _tree(data, policy, None) for name, (policy, _) in _POLICIES.items()}
    short = {name: _tree(data, policy, 1) for name, (policy, _) in _POLICIES.items()}
    known = n_rows(data) - len(days)
    return Lesson(
        "missing",
        f"Missing: {spelled(len(_POLICIES))} policies for a missing value",
        f"The Outlook of {spelled(len(days))} day{'' if len(days) == 1 else 's'} is missing, and a new day without "
        "one is to be predicted.",
        data,
        (
            rows_grid(data, f"Tennis; the Outlook of {joined([f'D{day}' for day in days])} is missing", "Day"),
            Text(
                f"{known} of {n_rows(data)} days have an Outlook. A split on it is scored by these days, and its "
                "gain is multiplied by their share. The rest is a matter of policy."
            ),
            Listed(tuple(f"**{name[:1].upper()}{name[1:]}.** {words}" for name, (_, words) in _POLICIES.items())),
            Heading(f"One day, {spelled(len(_POLICIES))} predictions"),
            Text(
                "The new day is "
                f"{joined([f'{column} {value}' for column, value in NEW_DAY.items() if value is not None])}, and the "
                "Outlook is unknown. The table shows the probability of Yes, from a tree with one split and from the "
                "whole tree:"
            ),
            Grid(
                "Probability of Yes (and of No)",
                ("policy", "one split", "whole tree"),
                tuple((name, _chances(short[name]), _chances(whole[name])) for name in _POLICIES),
            ),
            Text(
                "None of them is wrong. They make different assumptions: that the value has no influence, that its "
                "absence has a meaning, that it is the usual value, that it is distributed as in the training rows."
            ),
            *_weighted_paths(data, whole["all children, with shares"]),
            Note(
                "A tree stores with every split where missing values go. Prediction has no option for it: it follows "
                "the policy the tree was grown with."
            ),
        ),
    )


def _weighted_paths(data: Columns, tree: Tree) -> tuple[Part, ...]:
    explained = explain_row(tree, NEW_DAY)
    yes = _place(tree)
    paths = [(path.weight, path.value[yes]) for path in explained.paths]
    return (
        Heading("All children, with shares"),
        Text(f"{_shares(tree.root)}Every path ends in a probability, and the prediction is their weighted sum:"),
        Text(
            "probability of Yes = "
            + " + ".join(f"{four_digits(weight)} × {four_digits(chance)}" for weight, chance in paths)
            + f" = **{four_digits(explained.value[yes])}**"
        ),
        Code(
            "from dataclasses import replace\nimport treewright as tw\n\n"
            f"{data_source('missing', data, UNKNOWN)}\n"
            "recipe = replace(tw.ID3, missing=tw.missing.Fractional())\n"
            'tree = tw.learn(data, "Play", recipe)\n'
            f"day = {_row_source()}\n"
            "print(tw.explain_row(tree, day))"
        ),
        Printed(str(explained), "the paths of this day", explained.html()),
    )


def _shares(root: Node) -> str:
    """Describe the shares in which the day goes to the children of the root."""
    split = root.split
    if split is None:
        return ""
    if split.column != "Outlook":
        return (
            f"The root splits on {split.column}, which is known; below, a split on Outlook divides the day by shares. "
        )
    shares = zip(split.words(with_missing=False), split.share, strict=True)
    texts = joined([f"{percent(share)} where {words}" for words, share in shares])
    return f"The day goes to every child, by shares: {texts}. "


def _tree(data: Columns, policy: Missing, depth: int | None) -> Tree:
    return learn(data, "Play", replace(ID3, missing=policy, stopping=Stopping(max_depth=depth)))


def _place(tree: Tree) -> int:
    return (tree.schema.target.classes or ()).index("Yes")


def _chances(tree: Tree) -> str:
    chances = predict_proba(tree, {name: [value] for name, value in NEW_DAY.items()})[0].tolist()
    yes = chances[_place(tree)]
    return f"{four_digits(yes)} ({four_digits(1 - yes)})"


def _row_source() -> str:
    return repr(NEW_DAY).replace("'", '"')
