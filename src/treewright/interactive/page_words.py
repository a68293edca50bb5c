"""Messages of the library, with Python arguments replaced by what the page has for them."""

from __future__ import annotations

import re

_WORDS = (
    (
        r"; leave it out if that is all it does, or give kinds=\{'.*?': 'numeric'\}",
        "; Leave out (under Columns) drops it, if that is all it does",
    ),
    (r"give columns that describe rows, or keep one with kinds=\{'(.*?)': '\w+'\}", "take one in (under Columns)"),
    (r"declare it (nominal )?with kinds=\{'.*?': '(\w+)'\}", r"choose the kind \2 (under Columns)"),
    (r"or give kinds=\{'.*?': '(\w+)'\}", r"or choose the kind \1 (under Columns)"),
    (r"declare the column nominal with kinds=", "choose the kind nominal for the column (under Columns)"),
    (r"use C45 or CART, give the recipe numeric=Binned\(\d+\), or", "choose C4.5 or CART in the recipe bar, or"),
    (r"use another recipe(?: for the edit|, such as CART or M5)",
     "choose another one in the recipe bar, or Compare, which learns its whole tree"),
    (r", or task='\w+' if its (numbers are names|classes are numbers)", " in the recipe bar"),
    (r"missing=Fractional\(\)|missing='fractional'", "the missing policy fractional"),
    (r"prune with CostComplexityCV\(\) or ReducedError\(\), or learn with pruning=None",
     "choose another rule, or no pruning, in the recipe bar"),
    (r"\bAllow\((\d+), '(.*?)'\)", r"allow again, under Splits of node \1"),
    (r"\bUnlock\((\d+)\)", r"select node \1 and press Unlock"),
)  # fmt: skip


def with_page_words(message: str) -> str:
    """Replace Python arguments in a message by buttons and fields of the page.

    >>> with_page_words("if it holds numbers, declare it with kinds={'zip': 'numeric'}")
    'if it holds numbers, choose the kind numeric (under Columns)'
    """
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message
