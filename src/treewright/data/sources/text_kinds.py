"""Convert texts of a file to values: the rules, as SQL expressions.

Whether a text is a value of a kind depends on that text and the options only, not on other rows. Numbers are rounded
correctly; times with an offset are converted to UTC.
"""

from __future__ import annotations

from treewright.data.schema import TextForm
from treewright.data.sources.sql_quoting import quoted_text, quoted_texts

#: The kinds that are looked for, the first that holds for all texts of a column is the column's.
GUESSED = ("boolean", "whole", "large", "number", "date", "datetime", "time")
#: Texts that would mean something under an option that was not given.
AMBIGUOUS = ("day and month", "decimal comma")

_TYPES = {
    "boolean": "BOOLEAN", "truth": "BOOLEAN", "whole": "BIGINT", "large": "HUGEINT", "time": "TIME",
    "duration": "INTERVAL",
}  # fmt: skip
_NUMBER_WORD = "(?i:[+-]?(inf|infinity|nan))"
_CLOCK = r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?"
_OFFSET = r"(Z|[+-]\d{2}(:?\d{2})?)"
_DATE = r"\d{4}[-/]\d{1,2}[-/]\d{1,2}"
_TURNED = r"\d{1,2}[-/.]\d{1,2}[-/.]\d{4}"


def is_kind(kind: str, x: str, form: TextForm) -> str:
    """Return whether the text is of this kind; `x` is not NULL there."""
    if kind == "text":
        return "true"
    if kind == "boolean":
        return f"lower({x}) IN ('true', 'false')"
    if kind == "truth":  # the tree has truth values, and so other words for them are understood
        return f"TRY_CAST({x} AS BOOLEAN) IS NOT NULL"
    if kind in {"whole", "large"}:
        return f"({_matches(x, '[+-]?[0-9]+')} AND TRY_CAST({x} AS {_TYPES[kind]}) IS NOT NULL)"
    if kind == "number":
        return _is_number(x, form.decimal or ".")
    if kind == "decimal comma":
        return f"({_is_number(x, ',')} OR {_is_number(x, '.')})"
    if kind == "time":
        return f"({_matches(x, _CLOCK)} AND TRY_CAST({x} AS TIME) IS NOT NULL)"
    if kind == "duration":
        return f"TRY_CAST({x} AS INTERVAL) IS NOT NULL"
    if kind == "day and month":
        turned = _matches(x, f"{_TURNED}( {_CLOCK})?")
        return f"({turned} AND coalesce({_turned(x, True)}, {_turned(x, False)}) IS NOT NULL)"
    return _is_moment(kind, x, form)


def could_be(kind: str, x: str, form: TextForm) -> str:
    """Return the same where the kind is not given: 007 and 01234 are codes then, not numbers."""
    found = is_kind(kind, x, form)
    if kind not in {"whole", "large", "number", "decimal comma"}:
        return found
    return f"({found} AND NOT {_matches(x, '[+-]?0[0-9].*')})"


def value(kind: str, x: str, form: TextForm) -> str:
    """Return the value of a text that is of this kind."""
    if kind == "number":
        return f"CAST({x if form.decimal in (None, '.') else _with_point(x)} AS DOUBLE)"
    if kind in {"date", "datetime"}:
        moment = _moment(x)
        if form.day_first is not None:
            moment = f"coalesce({_turned(x, form.day_first)}, {moment})"
        return f"CAST({moment} AS DATE)" if kind == "date" else moment
    return f"CAST({x} AS {_TYPES[kind]})" if kind in _TYPES else x


def _is_number(x: str, decimal: str) -> str:
    # DuckDB takes 1_000 for a number too. The words are no list with IN: DuckDB joins such a list to the rows, once for
    # every column, and 80 columns are then too many for the memory that prediction has.
    written = _matches(x, f"[-+0-9eE{decimal}]+|{_NUMBER_WORD}")
    point = x if decimal == "." else _with_point(x)
    return f"(TRY_CAST({point} AS DOUBLE) IS NOT NULL AND {written})"


def _with_point(x: str) -> str:
    return f"replace({x}, ',', '.')"


def _is_moment(kind: str, x: str, form: TextForm) -> str:
    clock = "" if kind == "date" else f"([ T]{_CLOCK}{_OFFSET}?)?"
    found = f"({_matches(x, _DATE + clock)} AND {_moment(x)} IS NOT NULL)"
    if form.day_first is None:
        return found
    turned = _matches(x, _TURNED + ("" if kind == "date" else f"( {_CLOCK})?"))
    return f"({found} OR ({turned} AND {_turned(x, form.day_first)} IS NOT NULL))"


def _moment(x: str) -> str:
    """Return a moment that begins with the year; with an offset it is taken to UTC."""
    zoned = f"make_timestamp(epoch_us(TRY_CAST({x} AS TIMESTAMPTZ)))"
    return f"CASE WHEN {_matches(x, f'.*:.*{_OFFSET}')} THEN {zoned} ELSE TRY_CAST({x} AS TIMESTAMP) END"


def _turned(x: str, day_first: bool) -> str:
    """Return a moment that ends with the year."""
    date = "%d-%m-%Y" if day_first else "%m-%d-%Y"
    forms = quoted_texts([date, *(f"{date} {clock}" for clock in ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f"))])
    plain = f"regexp_replace({x}, '^(\\d+)[/.](\\d+)[/.]', '\\1-\\2-')"
    return f"try_strptime({plain}, [{forms}])"


def _matches(x: str, pattern: str) -> str:
    return f"regexp_full_match({x}, {quoted_text(pattern)})"
