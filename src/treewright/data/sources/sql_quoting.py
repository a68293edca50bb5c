"""Quote names and strings for SQL, and choose the table of a database."""

from __future__ import annotations

from collections.abc import Collection

from treewright.data.value_text import listed
from treewright.errors import DataError


def quoted_name(name: str) -> str:
    """Return a column or a table.

    >>> quoted_name('the "best" one')
    '"the ""best"" one"'
    """
    return '"' + name.replace('"', '""') + '"'


def quoted_text(text: str) -> str:
    """Return a value."""
    return "'" + text.replace("'", "''") + "'"


def quoted_texts(texts: Collection[str]) -> str:
    """Return values, with commas."""
    return ", ".join(quoted_text(text) for text in texts)


def the_table(tables: list[str], wanted: str | None, path: str) -> str:
    """Return the table that is meant: the one named, or the only one there is."""
    if wanted is None and len(tables) == 1:
        return tables[0]
    if wanted in tables:
        return str(wanted)
    if not tables:
        raise DataError(f"{path} has no tables")
    remedy = "name one with --table" if wanted is None else f"there is no table {wanted!r}"
    raise DataError(f"{path} has the tables {listed(tables)}; {remedy}")
