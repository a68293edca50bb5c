"""The lesson "missing": five answers to one question.

Comes in: tennis with an Outlook that nobody wrote down. Goes out: a `Lesson`.
Always holds: every number is computed from the table.
"""

from __future__ import annotations

from dataclasses import replace

from treewright.errors import DataError
from treewright.inspection.derivation.blocks import Grid
from treewright.inspection.explain_row import explain_row
from treewright.lessons.content import Code, Heading, Lesson, Listed, Note, Printed, Text
from treewright.lessons.phrases import checked, data_source, four_digits, joined, n_rows, rows_grid, spelled
from treewright.lessons.tables import UNKNOWN, Columns
from treewright.prediction.predict import predict_proba
from treewright.recipes.missing import Fractional, Ignore, MajorityChild, Missing, OwnCategory, RandomChild
from treewright.recipes.named import ID3
from treewright.recipes.stopping import Stopping
from treewright.training.learn import learn
from treewright.tree.text import percent
from treewright.tree.tree import Node, Tree

#: A day without Outlook, as dreary as can be.
ASKED = {"Outlook": None, "Temperature": "Mild", "Humidity": "High", "Wind": "Strong"}

_POLICIES: dict[str, tuple[Missing, str]] = {
    "ignored while scoring": (
        Ignore(),
        "The row helps to judge other columns, not this one, and stops where it is asked.",
    ),
    'own category "?"': (OwnCategory(), "Not knowing is an answer like any other, with a branch of its own."),
    "majority child": (MajorityChild(), "The row goes where most rows go."),
    "all children, with shares": (Fractional(), "The row goes everywhere, a part of it down each branch."),
    "random child": (RandomChild(), "The row goes one way, drawn by the shares; the same way every time."),
}


def missing(data: Columns = UNKNOWN) -> Lesson:
    """Ignore, own category, majority, all with shares, random: and the chance of Yes that each gives."""
    checked(data, UNKNOWN, "Play", classes=("No", "Yes"))
    days = [i for i, value in enumerate(data["Outlook"], 1) if value is None]
    if not days:
        raise DataError("the lesson is about days without an Outlook, and every day has one; set one to None")
    whole = {name: _tree(data, policy, None) for name, (policy, _) in _POLICIES.items()}
    short = {name: _tree(data, policy, 1) for name, (policy, _) in _POLICIES.items()}
    spread = whole["all children, with shares"]
    told = explain_row(spread, ASKED)
    root = spread.root
    known = n_rows(data) - len(days)
    yes = _place(spread)
    paths = [(path.weight, path.value[yes]) for path in told.paths]
    return Lesson(
        "missing",
        f"Missing: {spelled(len(_POLICIES))} answers to one question",
        f"Nobody wrote down the Outlook of {spelled(len(days))} day{'' if len(days) == 1 else 's'}. And today you are "
        "asked about a day without one. What now?",
        data,
        (
            rows_grid(data, f"Tennis; the Outlook of {joined([f'D{day}' for day in days])} is missing", "Day"),
            Text(
                f"{known} of {n_rows(data)} days have an Outlook. While questions are compared, a question is judged "
                "by the days "
                "that can answer it, and its gain is discounted by their share. The rest is a matter of policy."
            ),
            Listed(tuple(f"**{name[:1].upper()}{name[1:]}.** {words}" for name, (_, words) in _POLICIES.items())),
            Heading(f"The same day, asked {spelled(len(_POLICIES))} times"),
            Text(
                f"Today is {joined([f'{column} {value}' for column, value in ASKED.items() if value is not None])}, "
                "and the "
                "Outlook is unknown. This is the chance that they play, from a tree of a single question, and from "
                "the whole "
                "tree:"
            ),
            Grid(
                "Chance of Yes (and of No)",
                ("policy", "one question", "whole tree"),
                tuple((name, _chances(short[name]), _chances(whole[name])) for name in _POLICIES),
            ),
            Text(
                "None of them is wrong. They answer different questions: what do we know without asking, what does "
                "it mean "
                "not to know, what is usual, what is to be expected on average."
            ),
            Heading("All ways at once"),
            Text(f"{_shares(root)}Every path ends in a probability, and the answer is their weighted sum:"),
            Text(
                "chance of Yes = "
                + " + ".join(f"{four_digits(weight)} × {four_digits(chance)}" for weight, chance in paths)
                + f" = **{four_digits(told.value[yes])}**"
            ),
            Code(
                "from dataclasses import replace\nimport treewright as tw\n\n"
                f"{data_source('missing', data, UNKNOWN)}\n"
                "recipe = replace(tw.ID3, missing=tw.missing.Fractional())\n"
                'tree = tw.learn(data, "Play", recipe)\n'
                f"day = {_row_source()}\n"
                "print(tw.explain_row(tree, day))"
            ),
            Printed(str(told), "the way of this day through the tree", told.html()),
            Note(
                "A tree decides while it is grown what happens to a missing value, and writes it into every split. "
                "There is no "
                "option for it when it answers: it always answers in the way it was grown."
            ),
        ),
    )


def _shares(root: Node) -> str:
    """In what parts the day goes down the branches of the root, if that is where it divides."""
    split = root.split
    if split is None:
        return ""
    if split.column != "Outlook":
        return f"The root asks {split.column}, which is known; the day divides where Outlook is asked, by shares. "
    parts = zip(split.words(with_missing=False), split.share, strict=True)
    told = joined([f"{percent(share)} where {words}" for words, share in parts])
    return f"With shares, the day goes down every branch, in parts: {told}. "


def _tree(data: Columns, policy: Missing, depth: int | None) -> Tree:
    return learn(data, "Play", replace(ID3, missing=policy, stopping=Stopping(max_depth=depth)))


def _place(tree: Tree) -> int:
    return (tree.schema.target.classes or ()).index("Yes")


def _chances(tree: Tree) -> str:
    chances = predict_proba(tree, {name: [value] for name, value in ASKED.items()})[0].tolist()
    yes = chances[_place(tree)]
    return f"{four_digits(yes)} ({four_digits(1 - yes)})"


def _row_source() -> str:
    return repr(ASKED).replace("'", '"')
