"""Arithmetic with its numbers put in: one small value, three ways to write it.

What is written is only shown, never computed; names are escaped for the form they stand in; the same value reads alike
in all three.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple


class Number(NamedTuple):
    """A number as it is shown (see `figures`)."""

    text: str


class Name(NamedTuple):
    """A word in place of a number."""

    text: str


class Fraction(NamedTuple):
    top: Expression
    bottom: Expression


class Product(NamedTuple):
    parts: tuple[Expression, ...]


class Sum(NamedTuple):
    """Terms added up, or taken away where their sign is "-"."""

    terms: tuple[tuple[str, Expression], ...]


class Function(NamedTuple):
    """log2, ln, sqrt, abs, or any name, of its arguments."""

    name: str
    arguments: tuple[Expression, ...]


class Power(NamedTuple):
    base: Expression
    exponent: int


class Dots(NamedTuple):
    """Terms left out."""

    more: int


Expression = Number | Name | Fraction | Product | Sum | Function | Power | Dots


def total(parts: Sequence[Expression], sign: str = "+") -> Expression:
    """Return the sum of these, or with "-" all of them taken away."""
    if len(parts) == 1 and sign == "+":
        return parts[0]
    return Sum(tuple((sign, part) for part in parts))


# --- plain text -------------------------------------------------------------------------------------------------------


def plain(expression: Expression) -> str:
    """Write on one line: -(9/14) log2(9/14) - (5/14) log2(5/14).

    >>> share = Fraction(Number("9"), Number("14"))
    >>> plain(Sum((("-", Product((share, Function("log2", (share,))))), ("-", Power(share, 2)))))
    '-(9/14) log2(9/14) - (9/14)²'
    """
    match expression:
        case Number(text) | Name(text):
            return text
        case Fraction(top, bottom):
            return f"{_part(top)}/{_part(bottom)}"
        case Product(parts):
            return _plain_product(parts)
        case Sum(terms):
            return _terms([(sign, plain(term)) for sign, term in terms])
        case Function("abs", (argument,)):
            return f"|{plain(argument)}|"
        case Function(name, arguments):
            return f"{name}({', '.join(map(plain, arguments))})"
        case Power(base, exponent):
            return _part(base) + {2: "²", 3: "³"}.get(exponent, f"^{exponent}")
        case Dots(count):
            return f"… {count} more"


def _has_function(parts: Sequence[Expression]) -> bool:
    return any(isinstance(part, Function) and part.name != "abs" for part in parts)


def _plain_product(parts: Sequence[Expression]) -> str:
    if _has_function(parts):  # as in a book: a factor stands before a function without a sign
        return " ".join(plain(part) if isinstance(part, (Function, Number)) else _part(part) for part in parts)
    return " × ".join(_part(part) if isinstance(part, Sum) else plain(part) for part in parts)


def _part(expression: Expression) -> str:
    """Add brackets where it would otherwise be read differently."""
    text = plain(expression)
    bare = isinstance(expression, (Number, Name, Function, Power)) and not text.startswith("-")
    return text if bare else f"({text})"


def _terms(terms: Sequence[tuple[str, str]]) -> str:
    written = ""
    for sign, text in terms:
        if text.startswith("-") and written:
            written += f" {'-' if sign == '+' else '+'} {text[1:]}"
        elif not written:
            written = text if sign == "+" else f"-{text}"
        else:
            written += f" {sign} {text}"
    return written or "0"


# --- LaTeX ------------------------------------------------------------------------------------------------------------

_LATEX_NAMES = {"log2": r"\log_2", "ln": r"\ln"}
_LATEX_ESCAPES = {
    "\\": r"\backslash ",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "%": r"\%",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "^": r"\hat{}",
    "~": r"\sim ",
}


def latex(expression: Expression) -> str:
    r"""Write as LaTeX for $...$: \frac{9}{14}\log_2\frac{9}{14}."""
    match expression:
        case Number(text):
            return _latex_number(text)
        case Name(text):
            return latex_name(text)
        case Fraction(top, bottom):
            return rf"\frac{{{latex(top)}}}{{{latex(bottom)}}}"
        case Product(parts):
            return _latex_product(parts)
        case Sum(terms):
            return _terms([(sign, latex(term)) for sign, term in terms])
        case Function("abs", (argument,)):
            return rf"\left|{latex(argument)}\right|"
        case Function("sqrt", (argument,)):
            return rf"\sqrt{{{latex(argument)}}}"
        case Function(name, arguments):
            head = _LATEX_NAMES.get(name) or latex_name(name)
            return rf"{head}\left({', '.join(map(latex, arguments))}\right)"
        case Power(base, exponent):
            return rf"\left({latex(base)}\right)^{{{exponent}}}"
        case Dots(count):
            return rf"\ldots \mathrm{{{count}\ more}}"


def latex_name(text: str) -> str:
    escaped = "".join(_LATEX_ESCAPES.get(c, c) for c in text)
    return rf"\mathrm{{{escaped.replace(' ', chr(92) + ' ')}}}"


def _latex_number(text: str) -> str:
    if text in ("∞", "-∞"):
        return text.replace("∞", r"\infty")
    if "e" in text and text[-1].isdigit():
        mantissa, exponent = text.split("e")
        return rf"{mantissa} \times 10^{{{int(exponent)}}}"
    return text if text[-1:].isdigit() else latex_name(text)


def _latex_product(parts: Sequence[Expression]) -> str:
    written = [rf"\left({latex(part)}\right)" if isinstance(part, Sum) else latex(part) for part in parts]
    return (r"\," if _has_function(parts) else r" \times ").join(written)


# --- MathML -----------------------------------------------------------------------------------------------------------


def mathml(expression: Expression) -> str:
    """Return the inside of a <math> element."""
    match expression:
        case Number(text):
            return _mathml_number(text)
        case Name(text):
            return f"<mtext>{escape(text)}</mtext>"
        case Fraction(top, bottom):
            return f"<mfrac>{_row(mathml(top))}{_row(mathml(bottom))}</mfrac>"
        case Product(parts):
            return _mathml_product(parts)
        case Sum(terms):
            return _mathml_sum(terms)
        case Function("abs", (argument,)):
            return f"<mrow><mo>|</mo>{mathml(argument)}<mo>|</mo></mrow>"
        case Function("sqrt", (argument,)):
            return f"<msqrt>{mathml(argument)}</msqrt>"
        case Function(name, arguments):
            head = "<msub><mi>log</mi><mn>2</mn></msub>" if name == "log2" else f"<mi>{escape(name)}</mi>"
            return head + _bracketed("<mo>,</mo>".join(map(mathml, arguments)))
        case Power(base, exponent):
            return f"<msup>{_bracketed(mathml(base))}<mn>{exponent}</mn></msup>"
        case Dots(count):
            return f"<mtext>… {count} more</mtext>"


def _mathml_number(text: str) -> str:
    sign = "<mo>&minus;</mo>" if text.startswith("-") else ""
    text = text.removeprefix("-")
    if "e" in text and text[-1].isdigit():
        mantissa, exponent = text.split("e")
        power = f"<msup><mn>10</mn><mn>{int(exponent)}</mn></msup>"
        return _row(f"{sign}<mn>{mantissa}</mn><mo>×</mo>{power}")
    return _row(f"{sign}<mn>{escape(text)}</mn>") if sign else f"<mn>{escape(text)}</mn>"


def _mathml_product(parts: Sequence[Expression]) -> str:
    written = [_bracketed(mathml(part)) if isinstance(part, Sum) else mathml(part) for part in parts]
    return _row(("" if _has_function(parts) else "<mo>×</mo>").join(written))


def mathml_terms(expression: Expression) -> list[str]:
    """Return the same in pieces between which a line may break: the terms of a sum, each with its sign."""
    if not isinstance(expression, Sum) or not expression.terms:
        return [mathml(expression)]
    written: list[str] = []
    for sign, term in expression.terms:
        # At the beginning of a piece a sign would be set as a prefix, without room behind it.
        form = ' form="infix"' if written else ""
        sign_text = {"-": "&minus;"}.get(sign, "+")
        operator = "" if not written and sign == "+" else f"<mo{form}>{sign_text}</mo>"
        body = mathml(term)
        negative = isinstance(term, Number) and term.text.startswith("-") and bool(written)
        written.append(operator + (_bracketed(body) if negative else body))
    return written


def _mathml_sum(terms: tuple[tuple[str, Expression], ...]) -> str:
    return _row("".join(mathml_terms(Sum(terms))) if terms else "<mn>0</mn>")


def _row(inside: str) -> str:
    return f"<mrow>{inside}</mrow>"


def _bracketed(inside: str) -> str:
    return f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"
