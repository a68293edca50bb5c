"""A log of edits: JSON lines, one edit each, in the order they were made."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike
from pathlib import Path

from treewright.data.atomic_write import write_atomic
from treewright.editing.edits import Edit
from treewright.errors import DataError, FileError, RecipeError


def log_text(log: Iterable[Edit]) -> str:
    """Return edits as JSON lines."""
    return "".join(json.dumps(edit.as_dict(), allow_nan=False) + "\n" for edit in log)


def edits_of_text(text: str, name: str = "log") -> tuple[Edit, ...]:
    """Return the edits of JSON lines; empty lines are skipped."""
    return tuple(_edit(line, f"{name}, line {i}") for i, line in enumerate(text.split("\n"), 1) if line.strip())


def _edit(line: str, place: str) -> Edit:
    try:
        return Edit.from_dict(json.loads(line))
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, (DataError, RecipeError)) else f"not JSON ({error})"
        raise FileError(f"{place}: {why}") from error


def write_log(log: Iterable[Edit], path: str | PathLike[str]) -> None:
    """Write a log of edits, whole or not at all.

    Parameters
    ----------
    log : iterable of Edit
        The edits, in order.
    path : str or PathLike
        The file; one line of JSON per edit.
    """
    write_atomic(path, log_text(log))


def read_log(path: str | PathLike[str]) -> tuple[Edit, ...]:
    """Read a log of edits.

    Parameters
    ----------
    path : str or PathLike
        A file that `write_log` wrote.

    Returns
    -------
    tuple of Edit
        The edits, in order.

    Raises
    ------
    FileError
        If a line is not an edit; the message names it.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FileError(f"{path} is not a text file in UTF-8: {error}") from error
    return edits_of_text(text, str(path))
