"""Numbers as explanations tell them.

Comes in: a share or a number. Goes out: short text.
Always holds: what is not quite certain is never told as 100 %, what is not quite impossible never as 0 %.
"""

from __future__ import annotations

from treewright.tree_words import number_text


def percent(share: float) -> str:
    """
    >>> percent(0.643), percent(0.999), percent(0.001), percent(1.0), percent(0.0)
    ('64 %', '>99 %', '<1 %', '100 %', '0 %')
    """
    whole = round(100 * share)
    if whole == 100 and share < 1 - 1e-12:
        return ">99 %"
    return "<1 %" if whole == 0 and share > 1e-12 else f"{whole} %"


def amount(x: float) -> str:
    """
    >>> amount(0.35714285714285715), amount(1234567.891)
    ('0.3571', '1234567.9')
    """
    return number_text(float(f"{x:.4g}") if abs(x) < 1000 else round(x, 1))
