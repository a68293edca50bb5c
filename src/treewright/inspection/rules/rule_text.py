"""Rules as text, as a table for documents and as a table for pages.

One line per rule, whatever names and levels contain; what is left out is mentioned, and so is what happens to rows with
missing values where some were met.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from treewright.data.grid import Grid
from treewright.data.number_text import amount, many, percent
from treewright.data.schema import Level
from treewright.render.node_text import met_missing, missing_remarks, rows_text
from treewright.tree.conditions import Style
from treewright.tree.text import level_text, name_text, printable
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.inspection.rules.rules import Rule, Rules


# --- one rule ---------------------------------------------------------------------------------------------------------


def rule_text(rule: Rule, style: Style, most: int | None) -> str:
    """Write a rule: "if humidity <= 75 then play = yes  (2 rows, 100 %)"; plain: "If the humidity is at most ..."."""
    if style == "plain":
        return (
            f"{_plain_start(rule, most)} {_plain_name(rule.target)} is {_plain_value(rule)} ({_plain_figures(rule)})."
        )
    conditions = _joined([test.words(most=most) for test in rule.tests])
    start = f"if {conditions} then " if conditions else "otherwise " if rule.node is None else "always "
    return f"{start}{name_text(rule.target)} = {_predicted(rule)}  ({_figures(rule)})"


def _joined(words: list[str]) -> str:
    """Return all conditions; in brackets those whose "or" would be misread between two "and"."""
    several = len(words) > 1
    return " and ".join(f"({one})" if several and " or " in one else one for one in words)


def _predicted(rule: Rule) -> str:
    return rule.model or _value(rule.prediction)


def _value(prediction: Level) -> str:
    if isinstance(prediction, float):
        return amount(prediction)
    return name_text(prediction) if isinstance(prediction, str) else level_text(prediction)


def _figures(rule: Rule) -> str:
    return ", ".join(filter(None, (rows_text(rule.support, rule.rows, rule.weighted), _certainty(rule), rule.covered)))


def _certainty(rule: Rule) -> str:
    if rule.confidence is not None:
        return percent(rule.confidence)
    return "" if rule.model or rule.deviation is None or rule.rows < 2 else f"± {amount(rule.deviation)}"


def _plain_start(rule: Rule, most: int | None) -> str:
    words = [test.words("plain", most) for test in rule.tests]
    if not words:
        return "Otherwise" if rule.node is None else "Always"
    comma = ", and " if len(words) > 2 or any(" and " in one or " or " in one for one in words) else " and "
    return "If " + (", ".join(words[:-1]) + comma + words[-1] if len(words) > 1 else words[0]) + ", then"


def _plain_name(name: str) -> str:
    return f"the {name_text(name).replace('_', ' ').strip()}"


def _plain_value(rule: Rule) -> str:
    if rule.mean is not None:
        return f"about {_predicted(rule)}"
    return str(rule.prediction).lower() if isinstance(rule.prediction, bool) else _value(rule.prediction)


def _plain_figures(rule: Rule) -> str:
    size = rows_text(rule.support, rule.rows, rule.weighted)
    covered = f"; of new rows {rule.covered}" if rule.covered else ""
    if rule.confidence is None:
        return f"{size}, give or take {amount(rule.deviation or 0.0)}{covered}"
    return f"true of {percent(rule.confidence).replace('>', 'over ')} of {size}{covered}"


# --- all of them ------------------------------------------------------------------------------------------------------


def listing(found: Rules, style: Style, most: int | None, max_rules: int) -> str:
    """Return a header, one line per rule, the default, what is left out, and a word on missing values."""
    shown = found.rules[:max_rules]
    lines = [_numbered(place, rule_text(rule, style, most), found) for place, rule in enumerate(shown, 1)]
    left_out = len(found) - len(shown)
    if left_out:
        lines.append(f"… {many(left_out, 'rule')} not shown; text(max_rules=…) shows more")
    if found.default is not None and not found.part:
        lines.append(rule_text(found.default, style, most))
    return "\n".join([header(found), *lines, *missing_text(found)])


def header(found: Rules) -> str:
    """Return how many rules there are, how to read them, and how often they are right."""
    target = name_text(found.tree.schema.target.name)
    if found.part:
        return f"{len(found)} of the rules for {target}"  # what all of them get right would not hold for these
    what = f"{many(len(found), 'rule')} for {target}"
    if found.kind == "list":
        assert found.accuracy is not None
        assert found.tree_accuracy is not None
        rules, tree = percent(found.accuracy, 1), percent(found.tree_accuracy, 1)
        return (
            f"{what}, {many(found.n_conditions, 'condition')}; the first that applies predicts\n"
            f"right for {rules} of the training rows, the tree for {tree}"
        )
    right = "" if found.accuracy is None else f"; right for {percent(found.accuracy, 1)} of the rows"
    return f"{what}, one per leaf of the {printable(found.tree.recipe.name)} tree{right}"


def missing_text(found: Rules) -> list[str]:
    """Return what happens to a row without a value, if such rows were met."""
    if found.kind == "list":
        return [_LIST_REMARK] if found.missing_met else []
    ways = _missing_ways(found.tree)
    shown = [f"a row without {_names(columns)} {what}" for what, columns in ways.items() if what]
    return [*shown, *missing_remarks(found.tree)]


_LIST_REMARK = "a row without a value does not meet a condition on it, unless that ends in “or missing”"


def _missing_ways(tree: Tree) -> dict[str, list[str]]:
    """Return what is done with rows without a value, by column; "" where the rules themselves show it."""
    predictions = {
        "spread": "goes down every branch, by share",
        "random": "goes down one branch, drawn by share",
        "stop": "is predicted by the node where it is missing",
    }
    ways: dict[str, list[str]] = {}
    for node in tree.walk():
        split = node.split
        if split is None or not met_missing(node, split, [tree[child] for child in node.children]):
            continue
        if node.surrogates:
            what = "is sent on by other columns with much the same split (surrogates)"
        else:
            what = predictions.get(split.missing, "") if isinstance(split.missing, str) else ""
        known = ways.setdefault(what, [])
        if split.column not in known:
            known.append(split.column)
    return ways


def _names(columns: list[str]) -> str:
    texts = [name_text(column) for column in columns]
    if len(texts) > 4:
        texts = [*texts[:3], f"{len(texts) - 3} others"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"


def _numbered(place: int, words: str, found: Rules) -> str:
    width = len(str(min(len(found), 999)))
    return f"{place:>{width}}. {words}" if found.kind == "list" else words


# --- tables -----------------------------------------------------------------------------------------------------------


def rules_grid(found: Rules, style: Style) -> Grid:
    """Return a row per rule: conditions, prediction, size, certainty, lift."""
    rows = []
    for rule in (*found.rules, *([found.default] if found.default is not None and not found.part else [])):
        start = _joined([test.words(style) for test in rule.tests]) or ("otherwise" if rule.node is None else "always")
        size = rows_text(rule.support, rule.rows, rule.weighted)
        lift = [] if rule.mean is not None else ["" if rule.lift is None else f"{rule.lift:.2f}"]
        covered = [rule.covered] if found.tree.calibration is not None else []
        rows.append((start, _predicted(rule), size, _certainty(rule), *lift, *covered))
    figures = ["deviation"] if found.tree.schema.target.classes is None else ["right", "lift"]
    figures += ["new rows"] if found.tree.calibration is not None else []
    head = ("if", name_text(found.tree.schema.target.name), "support", *figures)
    return Grid(header(found), head, tuple(rows), words=2, notes=tuple(missing_text(found)))


def markdown_table(found: Rules, style: Style) -> str:
    """Return a table of the rules; the header stands before it."""
    grid = rules_grid(found, style)
    head, *body = ([_in_markdown(str(cell)) for cell in cells] for cells in (grid.header, *grid.rows))
    lines = [head, ["---", "---", *["---:"] * (len(head) - 2)], *body]
    written = ["| " + " | ".join(cells) + " |" for cells in lines]
    notes = [_in_markdown(words) for words in grid.notes]
    return "\n".join([_in_markdown(grid.caption.replace("\n", "; ")), "", *written, *(["", *notes] if notes else [])])


def _in_markdown(text: str) -> str:
    """Without anything that would be read as a tag, a link, emphasis or the end of a cell."""
    return re.sub(r"([\\`*\[\]|]|<(?=[A-Za-z/!?]))", r"\\\1", text)
