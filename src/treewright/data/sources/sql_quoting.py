"""Quote names and strings for SQL, and choose the table of a database."""

from __future__ import annotations

import glob
from collections.abc import Collection
from pathlib import Path

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


def plain_path(path: str) -> str:
    """Return the name of a file that DuckDB takes literally: `~`, `md:` and `file:` in front mean something to it."""
    whole = str(Path(path).absolute())
    try:
        whole.encode()
    except UnicodeEncodeError:
        raise DataError(f"{path!a}: the name of the file is not UTF-8, and DuckDB cannot open it; rename it") from None
    return whole


def quoted_paths(paths: Collection[str]) -> str:
    """Return names of files, with commas, even where they look like patterns."""
    return quoted_texts([glob.escape(plain_path(path)) for path in paths])


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
