"""Numbers as they stand in a derivation.

Comes in: a number. Goes out: short text.
Always holds: whole numbers are whole; others have four digits after the point, or four digits in all where they are
too small for that; equal numbers read the same wherever they stand.
"""

from __future__ import annotations

import math


def figure(x: float) -> str:
    """A result, to four digits.

    >>> [figure(x) for x in (0.94028595867, 1.0, 0.5, 0.971, 123456.789, 1.25e-05, -0.0)]
    ['0.9403', '1', '0.5000', '0.9710', '123456.8', '1.25e-05', '0']
    """
    if not math.isfinite(x):
        return {math.inf: "∞", -math.inf: "-∞"}.get(x, "unknown")
    if x == int(x) and abs(x) < 1e15:
        return str(int(x))
    if abs(x) < 1e-2:
        return f"{x:.4g}"
    if abs(x) < 1e5:
        return f"{x:.4f}"
    return f"{x:.1f}" if abs(x) < 1e12 else f"{x:.6g}"


def amount(x: float) -> str:
    """A weight or count: whole where it is whole but for rounding.

    >>> [amount(x) for x in (14.0, 2.5, 4 + 4 / 13, 2.9999999999999996)]
    ['14', '2.5', '4.3077', '3']
    """
    near = round(x) if math.isfinite(x) else x
    if abs(x - near) <= 1e-9 * max(1.0, abs(x)):
        return f"{near:.0f}"
    text = figure(x)
    return text.rstrip("0") if "." in text and "e" not in text else text


def probability(log_p: float) -> str:
    """A p from its natural logarithm, also where the number itself would be zero.

    >>> probability(math.log(0.05)), probability(-2000.0)
    ('0.0500', '2.58e-869')
    """
    if log_p > -600:
        return figure(math.exp(min(0.0, log_p)))
    tens, rest = divmod(log_p / math.log(10), 1)
    return f"{10**rest:.3g}e{tens:.0f}"
