"""The lesson "xor": two switches that mean nothing one by one, and the tree that greedy growth cannot find."""

from __future__ import annotations

from treewright.data.grid import Grid
from treewright.data.number_text import percent
from treewright.inspection.ranking import Ranking, rank_splits
from treewright.lessons.content import Code, Heading, Lesson, Note, Printed, Shown, Text
from treewright.lessons.phrases import checked, data_source, four_digits, joined, right, rows_grid
from treewright.lessons.tables import SWITCHES, Columns
from treewright.optimal.alternatives import Alternatives, alternatives
from treewright.optimal.learn_optimal import learn_optimal
from treewright.recipes.named import CART
from treewright.training.learn import learn
from treewright.tree.tree import Tree

_DEPTH = 2
_SWITCHES = ("Upstairs", "Downstairs")


def xor(data: Columns = SWITCHES) -> Lesson:
    """Tell the lesson of the exclusive or: greedy growth, the best tree, and why it is proven."""
    table = checked(data, SWITCHES, "Lamp", classes=("off", "on"))
    recipe = CART.with_(pruning=None, max_depth=_DEPTH)
    greedy = learn(table, "Lamp", recipe)
    best = learn_optimal(table, "Lamp", max_depth=_DEPTH)
    ranked = rank_splits(table, "Lamp", recipe=recipe)
    near = alternatives(table, "Lamp", max_depth=_DEPTH, epsilon=0.0)
    return Lesson(
        "xor",
        "Two switches: where greedy growth fails",
        "A lamp on the stairs has a switch at either end. Can a tree learn when it is on?",
        table,
        (
            rows_grid(table, "The lamp, looked at now and then", ""),
            Text(_rule(table)),
            Heading("What one column tells"),
            Text(
                "Greedy growth takes the split that gains most by itself and never looks back. Here is what each "
                f"column gains at the root. {_gains_of_switches(ranked)}"
            ),
            Grid(
                "Gini gain at the root",
                ("column", "gain"),
                tuple((each.column, "none" if each.gain is None else four_digits(each.gain)) for each in ranked),
            ),
            Code(
                f"import treewright as tw\n\n{data_source('xor', table, SWITCHES)}\n"
                f'greedy = tw.learn(data, "Lamp", tw.CART.with_(pruning=None, max_depth={_DEPTH}))\nprint(greedy)'
            ),
            Shown(greedy),
            Text(_greedy_words(greedy, table)),
            Heading("Compare whole trees"),
            Text(
                "`learn_optimal` compares all trees of a depth: every column and every cut at the root, with every "
                "column and cut below it."
            ),
            Code(f'best = tw.learn_optimal(data, "Lamp", max_depth={_DEPTH})\nprint(best)'),
            Shown(best),
            Text(_best_words(best, greedy, table)),
            Heading("How can it be proven?"),
            Text(
                "By bounds. Take a few rows away, and the best tree for the rest makes no more errors than before. So "
                "all cuts between two places of a column make at least as many errors as the best trees for the rows "
                "below the first and above the last of them. Where that is no better than the best tree known, no cut "
                "in between needs to be tried; elsewhere the interval is halved."
            ),
            Text("The certificate keeps both numbers: what the tree reaches, and what no tree can beat."),
            Code("print(best.certificate)"),
            Printed(str(best.certificate), "the certificate"),
            Heading("If the root were another column"),
            Text(_root_words(near)),
            Code(f'print(tw.alternatives(data, "Lamp", max_depth={_DEPTH}, epsilon=0.0))'),
            Printed(str(near), "the best tree for each root", near.grid().html()),
            Note(
                "The search takes longer with every level, and the best tree for these rows need not be the best for "
                "others: compare on rows that were held out."
            ),
        ),
    )


def _rule(table: Columns) -> str:
    rows = list(zip(*(table[name] for name in (*_SWITCHES, "Lamp")), strict=True))
    kept = sum((up != down) == (lamp == "on") for up, down, lamp in rows)
    if kept < len(rows):
        return f"In {kept} of {len(rows)} rows the lamp is on if and only if the two switches differ."
    return "The rule is short: **the lamp is on if and only if the two switches differ**. This is an exclusive or."


def _gains_of_switches(ranked: Ranking) -> str:
    gain = {each.column: each.gain or 0.0 for each in ranked}
    if all(gain[name] < 1e-12 for name in _SWITCHES):
        return "**Neither switch gains anything**: for each of its positions the lamp is on as often as off."
    first = max(gain, key=lambda name: gain[name])
    return "" if first in _SWITCHES else f"The switches gain less than {first}."


def _greedy_words(greedy: Tree, table: Columns) -> str:
    good, whole = right(greedy, table)
    if greedy.root.split is None:
        return f"No column gains anything, so the tree is a single leaf. It is right in {good} of {whole} rows."
    column = greedy.root.split.column
    why = "" if column in _SWITCHES else f" It begins with {column}, which only happens to agree with the lamp."
    return f"The greedy tree is right in {good} of {whole} rows, {percent(good / whole)}.{why}"


def _best_words(best: Tree, greedy: Tree, table: Columns) -> str:
    good, whole = right(best, table)
    more = good - right(greedy, table)[0]
    columns = list(dict.fromkeys(node.split.column for node in best.walk() if node.split is not None))
    uses = f"It splits on {joined(columns)}. " if columns else ""
    gain = f", {more} more than the greedy tree" if more else ", as many as the greedy tree"
    return f"{uses}It is right in {good} of {whole} rows{gain}, and no tree of this depth does better."


def _root_words(near: Alternatives) -> str:
    equal = [each.column for each in near.columns if each.lost == 0]
    words = "Each line has the best tree with one column at the root, and what it loses against the best of all."
    if len(equal) > 1:
        words += f" {joined(equal)} are equally good at the root: the rule has no first column."
    return words
