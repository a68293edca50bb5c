"""Rules as text, as a table for documents and as a table for pages.

Comes in: `Rules`. Goes out: text. Always holds: one line per rule, whatever names and levels contain; what is left out
is said, and so is what happens to rows with missing values where some were met.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from treewright.data.schema import Level
from treewright.render.node_text import many, met_missing, missing_remarks, rows_text
from treewright.tree.text import amount, level_text, name_text, percent, printable
from treewright.tree.tree import Tree

if TYPE_CHECKING:
    from treewright.inspection.rules.rules import Rule, Rules


# --- one rule ---------------------------------------------------------------------------------------------------------


def rule_text(rule: Rule, style: str, most: int | None) -> str:
    """ "if humidity <= 75 then play = yes  (2 rows, 100 %)"; plainly "If the humidity is at most 75, then ..."."""
    if style == "plain":
        return (
            f"{_plain_start(rule, most)} {_plain_name(rule.target)} is {_plain_answer(rule)} ({_plain_figures(rule)})."
        )
    conditions = _joined([test.words(most=most) for test in rule.tests])
    start = f"if {conditions} then " if conditions else "otherwise " if rule.node is None else "always "
    return f"{start}{name_text(rule.target)} = {_answer(rule.answer)}  ({_figures(rule)})"


def _joined(words: list[str]) -> str:
    """All conditions; in brackets those whose "or" would be misread between two "and"."""
    several = len(words) > 1
    return " and ".join(f"({one})" if several and " or " in one else one for one in words)


def _answer(answer: Level) -> str:
    if isinstance(answer, float):
        return amount(answer)
    return name_text(answer) if isinstance(answer, str) else level_text(answer)


def _figures(rule: Rule) -> str:
    return ", ".join(filter(None, (rows_text(rule.support, rule.rows, rule.weighted), _certainty(rule))))


def _certainty(rule: Rule) -> str:
    if rule.confidence is not None:
        return percent(rule.confidence)
    return "" if rule.deviation is None or rule.rows < 2 else f"± {amount(rule.deviation)}"


def _plain_start(rule: Rule, most: int | None) -> str:
    words = [test.words("plain", most) for test in rule.tests]
    if not words:
        return "Otherwise" if rule.node is None else "Always"
    comma = ", and " if len(words) > 2 or any(" and " in one or " or " in one for one in words) else " and "
    return "If " + (", ".join(words[:-1]) + comma + words[-1] if len(words) > 1 else words[0]) + ", then"


def _plain_name(name: str) -> str:
    return f"the {name_text(name).replace('_', ' ').strip()}"


def _plain_answer(rule: Rule) -> str:
    if rule.mean is not None:
        return f"about {_answer(rule.answer)}"
    return str(rule.answer).lower() if isinstance(rule.answer, bool) else _answer(rule.answer)


def _plain_figures(rule: Rule) -> str:
    size = rows_text(rule.support, rule.rows, rule.weighted)
    if rule.confidence is None:
        return f"{size}, give or take {amount(rule.deviation or 0.0)}"
    return f"true of {percent(rule.confidence).replace(' %', '%').replace('>', 'over ')} of {size}"


# --- all of them ------------------------------------------------------------------------------------------------------


def listing(found: Rules, style: str, most: int | None, max_rules: int) -> str:
    """A header, one line per rule, the default, what is left out, and a word on missing values."""
    shown = found.rules[:max_rules]
    lines = [_numbered(place, rule_text(rule, style, most), found) for place, rule in enumerate(shown, 1)]
    left_out = len(found) - len(shown)
    if left_out:
        lines.append(f"… {many(left_out, 'rule')} not shown; text(max_rules=…) shows more")
    if found.default is not None and not found.part:
        lines.append(rule_text(found.default, style, most))
    return "\n".join([header(found), *lines, *missing_text(found)])


def header(found: Rules) -> str:
    """How many rules there are, how to read them, and how often they are right."""
    target = name_text(found.tree.schema.target.name)
    if found.part:
        return f"{len(found)} of the rules for {target}"  # what all of them get right would not be said of these
    what = f"{many(len(found), 'rule')} for {target}"
    if found.kind == "list":
        assert found.accuracy is not None
        assert found.tree_accuracy is not None
        return (
            f"{what}, {many(found.n_conditions, 'condition')}; the first that applies answers\n"
            f"right for {_tenths(found.accuracy)} of the training rows, the tree for {_tenths(found.tree_accuracy)}"
        )
    right = "" if found.accuracy is None else f"; right for {_tenths(found.accuracy)} of the rows"
    return f"{what}, one per leaf of the {printable(found.tree.recipe.name)} tree{right}"


def missing_text(found: Rules) -> list[str]:
    """What happens to a row without a value, if such rows were met."""
    if found.kind == "list":
        return [_LIST_REMARK] if found.missing_met else []
    ways = _missing_ways(found.tree)
    told = [f"a row without {_names(columns)} {what}" for what, columns in ways.items() if what]
    return [*told, *missing_remarks(found.tree)]


_LIST_REMARK = "a row without a value does not meet a condition on it, unless that says “or missing”"


def _missing_ways(tree: Tree) -> dict[str, list[str]]:
    """What is done with rows without a value, by column; "" where the rules themselves say it."""
    answers = {
        "spread": "goes down every branch, by share",
        "random": "goes down one branch, drawn by share",
        "stop": "is answered where the question is asked",
    }
    ways: dict[str, list[str]] = {}
    for node in tree.walk():
        split = node.split
        if split is None or not met_missing(node, split, [tree[child] for child in node.children]):
            continue
        if node.surrogates:
            what = "is sent on by other columns that tell much the same (surrogates)"
        else:
            what = answers.get(split.missing, "") if isinstance(split.missing, str) else ""
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


def _tenths(share: float) -> str:
    return f"{100 * share:.1f} %"


# --- tables -----------------------------------------------------------------------------------------------------------


def _cells(found: Rules, style: str) -> list[list[str]]:
    """A row per rule: conditions, answer, size, certainty, lift."""
    lines = []
    for rule in (*found.rules, *([found.default] if found.default is not None and not found.part else [])):
        start = _joined([test.words(style) for test in rule.tests]) or ("otherwise" if rule.node is None else "always")
        size = rows_text(rule.support, rule.rows, rule.weighted)
        lift = [] if rule.mean is not None else ["" if rule.lift is None else f"{rule.lift:.2f}"]
        lines.append([start, _answer(rule.answer), size, _certainty(rule), *lift])
    return lines


def _heads(found: Rules) -> list[str]:
    figures = ["deviation"] if found.tree.schema.target.classes is None else ["right", "lift"]
    return ["if", name_text(found.tree.schema.target.name), "support", *figures]


def markdown_table(found: Rules, style: str) -> str:
    """A table of the rules; the header stands before it."""
    body = [[_in_markdown(cell) for cell in cells] for cells in (_heads(found), *_cells(found, style))]
    lines = [body[0], ["---", "---", *["---:"] * (len(body[0]) - 2)], *body[1:]]
    written = ["| " + " | ".join(cells) + " |" for cells in lines]
    notes = [_in_markdown(words) for words in missing_text(found)]
    return "\n".join([_in_markdown(header(found).replace("\n", "; ")), "", *written, *(["", *notes] if notes else [])])


def _in_markdown(text: str) -> str:
    """Without anything that would be read as a tag, a link, emphasis or the end of a cell."""
    return re.sub(r"([\\`*\[\]|]|<(?=[A-Za-z/!?]))", r"\\\1", text)


def web_table(found: Rules, style: str) -> str:
    """The same as a fragment of a page."""
    head = _web_line("th", _heads(found))
    body = "".join(_web_line("td", cells) for cells in _cells(found, style))
    note = "".join(f"<p>{escape(words)}</p>" for words in missing_text(found))
    caption = escape(header(found)).replace("\n", "<br>")
    return (
        f'<table class="treewright-rules"><caption>{caption}</caption><thead>{head}</thead>'
        f"<tbody>{body}</tbody></table>{note}"
    )


def _web_line(tag: str, cells: list[str]) -> str:
    """Words to the left, figures to the right and unbroken."""
    ways = ["text-align:left", "text-align:left", *["text-align:right;white-space:nowrap"] * (len(cells) - 2)]
    made = (f'<{tag} style="{way}">{escape(cell)}</{tag}>' for way, cell in zip(ways, cells, strict=True))
    return f"<tr>{''.join(made)}</tr>"
