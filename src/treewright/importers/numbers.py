"""Numbers in the text of other programs.

The number is finite and small enough for a node's sums of squares; anything else is a `FileError` that names its place.
`DECIMAL` and `AMOUNT` read a text in one pass: no digit can belong to two parts of them.
"""

from __future__ import annotations

import math

from treewright.errors import FileError

#: A number of records, as a regular expression.
AMOUNT = r"\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
#: Any number.
DECIMAL = r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"

#: More records no program counts: beyond this, not every whole number is a float64.
MOST_RECORDS = 1e15
#: The largest mean whose square, times so many records, is still a number.
LARGEST_MEAN = 1e120


def finite(text: str, place: str) -> float:
    """Return a number that is neither infinite nor NaN, such as a threshold."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise FileError(f"{place}: {text[:40]!r} is no finite number")
    return number


def count(text: str, place: str) -> float:
    """Return a number of records."""
    amount = finite(text, place)
    if not 0 <= amount <= MOST_RECORDS:
        raise FileError(f"{place}: {text[:40]!r} is no number of records")
    return amount


def mean(text: str, place: str) -> float:
    """Return what a node of a numeric target predicts."""
    number = finite(text, place)
    if abs(number) > LARGEST_MEAN:
        raise FileError(f"{place}: {text[:40]!r} is too large to compute with; measure the target in larger units")
    return number


def squares(text: str, place: str) -> float:
    """Return a sum of squared errors."""
    number = finite(text, place)
    if abs(number) > MOST_RECORDS * LARGEST_MEAN**2:
        raise FileError(f"{place}: {text[:40]!r} is too large to compute with; measure the target in larger units")
    return max(0.0, number)
