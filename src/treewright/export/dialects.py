"""What differs between databases: one row per dialect, and how a value is written by it.

Whatever a name or a level contains, it stays inside its quotes; a number reads back as the same float64. What a dialect
cannot express is an `ExportError` that names it. How a statement is built is in `sql`, not here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from treewright.data.schema import Kind, Level
from treewright.data.value_text import listed
from treewright.errors import ExportError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400_000_000
_DOUBLED = {"'": "''"}
_BACKSLASH = {"\\": "\\\\"}
_DAY_TO_SECOND = "INTERVAL '{}' DAY TO SECOND"


@dataclass(frozen=True)
class Dialect:
    """One kind of database. Templates have one place, `{}`.

    `text_escapes`: what characters of a text become between single quotes; `escape_mark` goes before a text that has a
    backslash. `number` writes a float64; where `digits` is given, a number of more digits, or one that a reader by way
    of a long double gets wrong, is written as a quotient. `known` makes NaN a NULL. `column` is how a column of a kind
    is read and `moment` how a moment is written; a kind without an entry is a number of microseconds. `deepest` is how
    deep CASE may be nested, `most_columns` how many columns a step may have, `longest_in` how many items a list after
    IN (None: any number). `fence` keeps a database from merging steps. `folds_case`: names that differ in case only are
    one name, quoted or not.
    """

    name: str
    quote: str = '"'
    name_escapes: Mapping[str, str] = field(default_factory=lambda: {'"': '""'})
    text_escapes: Mapping[str, str] = field(default_factory=lambda: _DOUBLED)
    escape_mark: str = ""
    number: str = "{}"
    digits: int | None = None
    known: str = "{}"
    column: Mapping[str, str] = field(default_factory=dict)
    moment: Mapping[str, str] = field(default_factory=dict)
    greatest: str = "GREATEST"
    least: str = "LEAST"
    longest_in: int | None = None
    fence: str = ""
    deepest: int = 30
    most_columns: int = 1500
    folds_case: bool = False


_TIMES = {"date": "DATE '{}'", "datetime": "TIMESTAMP '{}'", "time": "TIME '{}'"}
_BACKTICKS = {"`": "``"}

DIALECTS: dict[str, Dialect] = {
    dialect.name: dialect
    for dialect in (
        Dialect(
            "standard",
            column={"numeric": "CAST({} AS DOUBLE PRECISION)"},
            moment=_TIMES | {"duration": _DAY_TO_SECOND},
        ),
        Dialect(
            "duckdb",
            known="NULLIF({}, CAST('NaN' AS DOUBLE))",
            column={
                "numeric": "CAST({} AS DOUBLE)",
                "datetime": "CAST({} AS TIMESTAMP)",
                "text": "CAST({} AS VARCHAR) COLLATE C",
            },
            moment=_TIMES | {"duration": "INTERVAL '{} microseconds'"},
            folds_case=True,
            longest_in=3,  # it makes a join of a longer one, which is slow and loses the order of the rows
        ),
        Dialect(
            "postgresql",
            text_escapes=_DOUBLED | _BACKSLASH,
            escape_mark="E",
            number="FLOAT8 '{}'",
            known="NULLIF({}, FLOAT8 'NaN')",
            column={"numeric": "CAST({} AS DOUBLE PRECISION)", "text": 'CAST({} AS TEXT) COLLATE "C"'},
            moment=_TIMES | {"duration": "INTERVAL '{} microseconds'"},
            fence="MATERIALIZED ",
        ),
        Dialect(
            "sqlite",
            digits=15,
            column={"numeric": "CAST({} AS REAL)", "text": "{} COLLATE BINARY"},
            moment={"date": "'{}'", "datetime": "'{}'", "time": "'{}'"},
            greatest="MAX",
            least="MIN",
            fence="MATERIALIZED ",
            folds_case=True,
            deepest=12,  # its parser keeps a stack of a hundred symbols
        ),
        Dialect(
            "mysql",
            quote="`",
            name_escapes=_BACKTICKS,
            text_escapes=_DOUBLED | _BACKSLASH,
            # Its default collation takes A for a, and blanks at the end for nothing.
            column={"numeric": "CAST({} AS DOUBLE)", "text": "CONVERT({} USING utf8mb4) COLLATE utf8mb4_0900_bin"},
            moment=_TIMES,
            folds_case=True,
        ),
        Dialect(
            "bigquery",
            quote="`",
            name_escapes={"`": "\\`"} | _BACKSLASH,
            text_escapes={"'": "\\'", "\n": "\\n", "\r": "\\r"} | _BACKSLASH,
            known="IF(IS_NAN({0}), NULL, {0})",
            column={"numeric": "CAST({} AS FLOAT64)"},
            moment=_TIMES | {"datetime": "DATETIME '{}'", "duration": _DAY_TO_SECOND},
            folds_case=True,
        ),
        Dialect(
            "snowflake",
            text_escapes=_DOUBLED | _BACKSLASH,
            number="CAST('{}' AS DOUBLE)",
            known="NULLIF({}, CAST('NaN' AS DOUBLE))",
            column={"numeric": "CAST({} AS DOUBLE)"},
            moment=_TIMES | {"datetime": "CAST('{}' AS TIMESTAMP_NTZ)"},
        ),
        Dialect(
            "spark",
            quote="`",
            name_escapes=_BACKTICKS,
            text_escapes={"'": "\\'"} | _BACKSLASH,
            number="{}D",
            known="NULLIF({}, CAST('NaN' AS DOUBLE))",
            column={"numeric": "CAST({} AS DOUBLE)"},
            moment={"date": "DATE '{}'", "datetime": "TIMESTAMP_NTZ '{}'", "duration": _DAY_TO_SECOND},
            folds_case=True,
        ),
    )
}


#: Other names of a dialect.
ALIASES = {"postgres": "postgresql"}


def dialect_of(name: str) -> Dialect:
    """Return the dialect of a name."""
    found = DIALECTS.get(ALIASES.get(name, name))
    if found is None:
        raise ExportError(f"there is no SQL dialect {name!r}; choose from {listed(list(DIALECTS))}")
    return found


def name_token(dialect: Dialect, name: str) -> str:
    """Return a column's or table's name in quotes."""
    if not name:
        raise ExportError(f"a column without a name cannot be written in SQL ({dialect.name}); give it a name")
    _refuse_unwritable(dialect, name, "the name")
    return dialect.quote + _escaped(name, dialect.name_escapes) + dialect.quote


def text_token(dialect: Dialect, text: str) -> str:
    """Return a text in quotes."""
    _refuse_unwritable(dialect, text, "the level")
    mark = dialect.escape_mark if "\\" in text else ""
    return f"{mark}'{_escaped(text, dialect.text_escapes if mark or not dialect.escape_mark else _DOUBLED)}'"


def number_token(dialect: Dialect, x: float) -> str:
    """Return a float64, read back as the same bits and never as a decimal."""
    text = repr(float(x))
    digits = len(text.split("e")[0].replace("-", "").replace(".", "").strip("0"))
    if dialect.digits is not None and x != 0:
        is_short = digits <= dialect.digits and 1e-5 < abs(x) < 1e15
        if not is_short or not _survives_long_double(text):
            return _quotient(x)
    token = dialect.number.format(text if "e" in text else f"{text}e0")
    return f"({token})" if text.startswith("-") and token.startswith("-") else token


def level_token(dialect: Dialect, level: Level) -> str:
    """Return a level or class."""
    if isinstance(level, str):
        return text_token(dialect, level)
    if isinstance(level, bool):
        return "TRUE" if level else "FALSE"
    return str(level) if isinstance(level, int) else number_token(dialect, level)


def break_token(dialect: Dialect, kind: Kind, at: float, closed: bool, column: str) -> str:
    """Return what a column of numbers or moments is compared with.

    Moments are whole microseconds (dates whole days), so a break between two of them divides them as the one below it
    does for <=, as the one above it for <.
    """
    template = dialect.moment.get(kind)
    if kind == "numeric" or template is None:
        return number_token(dialect, at)
    unit = _DAY if kind == "date" else 1
    whole = (math.floor(at / unit) if closed else math.ceil(at / unit)) * unit
    if abs(whole) > 2**53 and kind != "date":
        whole = _last_that_rounds(at) if closed else -_last_that_rounds(-at)
    if kind == "duration":
        return template.format(whole if "microseconds" in template else _day_to_second(whole))
    try:
        moment = _EPOCH + timedelta(microseconds=whole)
    except OverflowError:
        moment = None
    if moment is None or (kind == "time" and not 0 <= whole < _DAY):
        raise ExportError(
            f"column {column!r} is compared with {at!r} microseconds, which is no {kind} that SQL ({dialect.name}) can "
            "write; give the column as a number"
        ) from None
    text = {
        "date": moment.date().isoformat(),
        "datetime": moment.replace(tzinfo=None).isoformat(" "),
        "time": moment.time().isoformat(),
    }[kind]
    return template.format(text)


def _last_that_rounds(at: float) -> int:
    """Return the largest whole number whose float64 is at most `at`, itself a whole number.

    A tree knows moments as float64, which beyond 2**53 microseconds (from the year 2255 on) are multiples of 2, 4, ...
    """
    middle = (int(at) + int(math.nextafter(at, math.inf))) // 2
    return middle if float(middle) <= at else middle - 1


def _escaped(text: str, escapes: Mapping[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)


def _refuse_unwritable(dialect: Dialect, text: str, what: str) -> None:
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise ExportError(
            f"{what} {text!r} has a character that SQL ({dialect.name}) cannot hold; rename it and learn anew"
        )


def _survives_long_double(text: str) -> bool:
    """Return whether a decimal is the same float64 if it is first rounded to the 64 bits of a long double."""
    exact = Fraction(text)
    places = 64 - exact.numerator.bit_length() + exact.denominator.bit_length()  # or one less: the quotient may carry
    twice = (float(Fraction(round(exact * 2**bits), 2**bits)) for bits in (places - 1, places))
    return all(x == float(text) for x in twice)


def _quotient(x: float) -> str:
    """Return a number as whole numbers that any reader reads exactly, divided or multiplied by powers of two."""
    above, below = x.as_integer_ratio()
    factor = 2**52
    shift = max(0, abs(above).bit_length() - 53)
    terms, above = [], above >> shift
    while shift or below > 1:
        power = min(factor, max(below, 2**shift))
        terms.append(f" {'*' if shift else '/'} {power}.0")
        shift, below = (shift - power.bit_length() + 1, 1) if shift else (0, below // power)
    return f"({above}.0{''.join(terms)})"


def _day_to_second(microseconds: int) -> str:
    days, rest = divmod(abs(microseconds), _DAY)
    seconds, micro = divmod(rest, 1_000_000)
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{micro:06d}"
    return f"{'-' if microseconds < 0 else ''}{days} {clock}"
