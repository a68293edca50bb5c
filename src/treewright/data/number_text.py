"""Numbers as text. One function per purpose; every number that a person reads is written by one of them.

| function | purpose | 2/3 | 1234.5678 |
|---|---|---|---|
| `exact_number` | reads back as the same number | 0.6666666666666666 | 1234.5678 |
| `number_text` | thresholds, levels, predictions | 0.666667 | 1234.5678 |
| `amount` | at a glance: four digits | 0.6667 | 1234.6 |
| `figure` | results in columns and derivations: four decimals | 0.6667 | 1234.5678 |
| `count_text` | counts and weights in derivations | 0.6667 | 1234.5678 |
| `percent` | shares | 67 % | |
| `many` | a count and its noun: 2,000 leaves | | |
| `p_text` | p-values, from their logarithm | | |
"""

from __future__ import annotations

import math

MISSING = "missing"


def exact_number(x: float) -> str:
    """Return the shortest text that reads back as `x`.

    >>> [exact_number(x) for x in (89.5, 3.0, 1e300)]
    ['89.5', '3', '1e+300']
    """
    x = float(x)
    if math.isnan(x):
        return MISSING
    return str(int(x)) if _is_whole(x) else repr(x)


def number_text(x: float) -> str:
    """Return whole numbers in full, others with about six digits and never less than cents.

    >>> [number_text(x) for x in (2.4500000000000002, 5.0, 0.8166666666666667, 1000000.5, -1.5e-7)]
    ['2.45', '5', '0.816667', '1000000.5', '-1.5e-07']
    """
    if not math.isfinite(x):
        return str(x)
    if _is_whole(x):
        return str(int(x))
    exact = f"{x:.15g}"  # fifteen digits drop the noise of binary fractions
    if len(exact) <= 10:
        return exact
    if 1e4 <= abs(x) < 1e15:
        return f"{x:.2f}".rstrip("0").rstrip(".")
    return f"{x:.6g}"


def amount(x: float) -> str:
    """Return `x` with four significant digits; from 1000 on, one decimal.

    >>> amount(0.35714285714285715), amount(1234567.891)
    ('0.3571', '1234567.9')
    """
    return number_text(float(f"{x:.4g}") if abs(x) < 1000 else round(x, 1))


def figure(x: float) -> str:
    """Return `x` with four decimals, or four digits where it is too small for that; whole numbers are whole.

    >>> [figure(x) for x in (0.94028595867, 1.0, 0.5, 0.971, 123456.789, 1.25e-05, -0.0)]
    ['0.9403', '1', '0.5000', '0.9710', '123456.8', '1.25e-05', '0']
    """
    if not math.isfinite(x):
        return {math.inf: "∞", -math.inf: "-∞"}.get(x, "unknown")
    if _is_whole(x):
        return str(int(x))
    if abs(x) < 1e-2:
        return f"{x:.4g}"
    if abs(x) < 1e5:
        return f"{x:.4f}"
    return f"{x:.1f}" if abs(x) < 1e12 else f"{x:.6g}"


def count_text(x: float) -> str:
    """Return a count or weight: whole where it is whole but for rounding.

    >>> [count_text(x) for x in (14.0, 2.5, 4 + 4 / 13, 2.9999999999999996)]
    ['14', '2.5', '4.3077', '3']
    """
    near = round(x) if math.isfinite(x) else x
    if abs(x - near) <= 1e-9 * max(1.0, abs(x)):
        return f"{near:.0f}"
    text = figure(x)
    return text.rstrip("0") if "." in text and "e" not in text else text


def percent(share: float, decimals: int = 0) -> str:
    """Return a share as a percentage; only 1 reads as 100 % and only 0 as 0 %.

    >>> percent(0.643), percent(0.999), percent(0.001), percent(1.0), percent(0.0), percent(0.8443, 1)
    ('64 %', '>99 %', '<1 %', '100 %', '0 %', '84.4 %')
    """
    if decimals:
        return f"{100 * share:.{decimals}f} %"
    whole = round(100 * share)
    if whole == 100 and share < 1 - 1e-12:
        return ">99 %"
    return "<1 %" if whole == 0 and share > 1e-12 else f"{whole} %"


def p_text(log_p: float) -> str:
    """Return a p-value given by its natural logarithm, also where the number itself would be zero.

    >>> p_text(math.log(0.05)), p_text(-2000.0)
    ('0.0500', '2.58e-869')
    """
    if log_p > -600:
        return figure(math.exp(min(0.0, log_p)))
    tens, rest = divmod(log_p / math.log(10), 1)
    return f"{10**rest:.3g}e{tens:.0f}"


def many(count: int, what: str) -> str:
    """Return a count and its noun.

    >>> many(1, "leaf"), many(2000, "leaf"), many(0, "row")
    ('1 leaf', '2,000 leaves', '0 rows')
    """
    plural = {"leaf": "leaves", "branch": "branches"}.get(what, f"{what}s")
    return f"{count:,} {what if count == 1 else plural}"


def _is_whole(x: float) -> bool:
    return abs(x) < 1e15 and x == int(x)
