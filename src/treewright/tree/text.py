"""How splits and linear models are put into words: values, levels, conditions, sums.

The text is printable and has no line break, whatever names and levels contain; two different breaks of one split never
read the same. Words are for people: the exact numbers are in the split.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from treewright.data.number_text import amount, number_text
from treewright.data.schema import TIME_KINDS, ColumnSpec, Level, Schema
from treewright.data.value_text import moment
from treewright.tree.models import LinearModel, Term

_DAY = 86_400_000_000


def printable(text: str) -> str:
    """Return the text with line breaks, control characters and the like written as escapes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def name_text(name: str) -> str:
    """Return a column's or target's name; quoted when it would otherwise not be seen."""
    shown = printable(name)
    return shown if shown.strip() else f'"{shown}"'


def level_text(level: Level) -> str:
    """Return a level or class; quoted when it could be misread inside a list."""
    if isinstance(level, str):
        shown = printable(level)
        plain = shown and shown == shown.strip() and not any(c in ',{}"' for c in shown)
        return shown if plain else '"' + shown.replace('"', '\\"') + '"'
    return number_text(level) if isinstance(level, float) else str(level)


def joined(texts: Sequence[str], last: str = ", ", most: int | None = None) -> str:
    """Join texts by commas and, before the last, `last`; only the first `most` where there are more."""
    if most is not None and len(texts) > most:
        texts = [*texts[: most - 1], f"… {len(texts) - most + 1} more"]
    return last.join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else "".join(texts)


def break_text(spec: ColumnSpec, x: float, closed: bool) -> str:
    """Return a breakpoint as text: a number, or a date or time; `closed` if a value equal to it lies below."""
    if spec.kind == "date" and abs(x) < 1e18:  # beyond that there is no calendar
        # Dates are whole days, so a break at noon divides them as its own day does for <=, the next day for <.
        x = (math.floor(x / _DAY) if closed else math.ceil(x / _DAY)) * _DAY
    return moment(spec.kind, x) if spec.kind in TIME_KINDS else number_text(x)


def model_text(schema: Schema, model: LinearModel) -> str:
    """Return a linear model as a sum, its numbers rounded for reading."""
    return " ".join(model_parts(schema, model))


def model_parts(schema: Schema, model: LinearModel, most: int | None = None) -> list[str]:
    """Return the intercept of a linear model and its terms with their signs; lists of levels hold `most` at most."""
    terms = (
        f"{'-' if term.coefficient < 0 else '+'} {amount(abs(term.coefficient))} * {term_name(schema, term, most)}"
        for term in model.terms
    )
    return [amount(model.intercept), *terms]


def term_name(schema: Schema, term: Term, most: int | None = None) -> str:
    """Return what the coefficient is multiplied with: a column, or a question that is 1 where it holds and 0 elsewhere.

    >>> import treewright as tw
    >>> table = {"cut": ["a", "b", "c"] * 4, "y": [1.0, 2.0, 3.0] * 4}
    >>> recipe = tw.CART.with_(leaves="linear", max_depth=0, pruning=None)
    >>> tree = tw.learn(table, "y", recipe, task="regression")
    >>> [term_name(tree.schema, term) for term in tree.root.model.terms]
    ['[cut = a]']
    """
    column = schema.columns[term.column]
    if term.levels is None:
        return name_text(column.name)
    held = [level_text((column.levels or ())[place]) for place in term.levels]
    sign = "=" if len(held) == 1 else "in"
    return f"[{name_text(column.name)} {sign} {joined(held, most=most)}]"
