"""Values accepted wherever a table is: a text file with options (`csv`), and a query (`sql`).

Creating one reads nothing. A plain string is always a file name, never code.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass

from treewright.errors import DataError

_DECIMALS = (None, ".", ",")


@dataclass(frozen=True)
class TextFile:
    """A text file and how to read it, as made by `csv`."""

    path: str
    delimiter: str | None = None
    header: bool = True
    missing: tuple[str, ...] | None = None
    decimal: str | None = None
    day_first: bool | None = None


@dataclass(frozen=True)
class Query:
    """A query, and the database file it is for, as made by `sql`."""

    text: str
    database: str | None = None


def csv(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    header: bool = True,
    missing: Collection[str] | None = None,
    decimal: str | None = None,
    day_first: bool | None = None,
) -> TextFile:
    """Say how a text file is to be read, where its name alone does not.

    A tree keeps the `decimal` and `day_first` of the file it was learned from: they are the defaults for text files
    that are read for that tree later.

    Parameters
    ----------
    path : str or PathLike
        The file, or a pattern of several such as "parts/*.csv".
    delimiter : str, optional
        The sign between values. By default a tab in a .tsv file; elsewhere the one of comma, semicolon, tab and bar
        that the first line contains.
    header : bool, default=True
        Whether the first line has the names of the columns.
    missing : collection of str, optional
        The texts that stand for a missing value; by default the empty text, ?, NA, N/A, NaN and null.
    decimal : {".", ","}, optional
        The decimal sign. By default a point; a column that looks like numbers with a decimal comma is then an error,
        which "." turns off: such a column is text.
    day_first : bool, optional
        Whether 12/05/2020 is the 12th of May (True) or December 5th (False). By default such a column is an error.

    Returns
    -------
    TextFile
        A value that `learn`, `predict` and all others take as a table.

    Examples
    --------
    >>> import treewright as tw
    >>> tw.csv("rows.csv", decimal=",", day_first=True).decimal
    ','
    """
    if decimal not in _DECIMALS:
        raise DataError(f"decimal={decimal!r} is not known; choose '.' or ','")
    if delimiter is not None and delimiter == decimal:
        raise DataError(f"delimiter and decimal are both {decimal!r}; they must differ")
    marks = None if missing is None else (missing,) if isinstance(missing, str) else tuple(missing)
    return TextFile(os.fspath(path), delimiter, bool(header), marks, decimal, day_first)


def sql(query: str, database: str | os.PathLike[str] | None = None) -> Query:
    """Return a query as a table: one SELECT over files, or over a DuckDB or SQLite database.

    Text files that it names (FROM 'rows.csv') are read by the same rules as if they were given by name. The query
    can read files, so it must be trusted; it cannot write, and it loads no extensions.

    Parameters
    ----------
    query : str
        One SELECT statement; FROM, WITH and VALUES may begin it too.
    database : str or PathLike, optional
        The database file whose tables the query names.

    Returns
    -------
    Query
        A value that `learn`, `predict` and all others take as a table.

    Examples
    --------
    >>> import treewright as tw
    >>> tw.sql("SELECT * FROM 'rows.parquet' WHERE age > 17").database is None
    True
    """
    if not str(query).strip():
        raise DataError(f"a query is a text such as \"SELECT * FROM 'rows.csv'\", not {query!r}")
    return Query(query, None if database is None else os.fspath(database))
