"""What can be taken away: the tree and its log in every form. Names of files are made here, never by the page."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from treewright import export
from treewright.editing.edits import Edit
from treewright.editing.log import log_text
from treewright.editing.script import script
from treewright.errors import DataError
from treewright.interactive.start import Start
from treewright.interactive.table import TableOrigin
from treewright.render import svg
from treewright.tree.saved import to_json
from treewright.tree.tree import Tree

_ENDINGS = {
    "c": ".c", "dot": ".dot", "excel": ".xlsx", "javascript": ".js", "mermaid": ".mmd", "onnx": ".onnx",
    "pmml": ".pmml", "python": ".py", "rust": ".rs", "sql": ".sql",
}  # fmt: skip


@dataclass(frozen=True)
class Taken:
    """One thing to take away: the name of its file and its content."""

    name: str
    content: bytes


def forms() -> list[str]:
    """Return the names of all forms."""
    return ["tree", "first", "log", "script", "page", "svg", *_languages()]


def _languages() -> dict[str, Callable[..., Any]]:
    found = {}
    for name in export.__all__:
        function = getattr(export, name)
        hints = typing.get_type_hints(function)
        if name in _ENDINGS and hints.get("return") in {str, bytes}:
            assert next(iter(inspect.signature(function).parameters)) == "tree"
            found[name] = function
    return found


def taken(
    form: str,
    tree: Tree,
    first: Tree,
    log: tuple[Edit, ...],
    start: Start,
    source: TableOrigin,
    page: Callable[[], str],
) -> Taken:
    """Return a form of the tree."""
    if form not in forms():
        raise DataError(f"there is no form {form!r}; choose from {', '.join(forms())}")
    stem = source.stem
    if form in (languages := _languages()):
        made = languages[form](tree)
        return Taken(f"{stem}-tree{_ENDINGS[form]}", made if isinstance(made, bytes) else made.encode())
    texts: dict[str, tuple[str, Callable[[], str]]] = {
        "tree": (f"{stem}-tree.json", lambda: to_json(tree)),
        "first": (f"{stem}-first.json", lambda: to_json(first)),
        "log": (f"{stem}-log.jsonl", lambda: log_text(log)),
        "script": (f"{stem}-replay.py", lambda: _script(log, start, source)),
        "page": (f"{stem}-report.html", page),
        "svg": (f"{stem}-tree.svg", lambda: svg(tree)),
    }
    name, make = texts[form]
    return Taken(name, make().encode())


def _script(log: tuple[Edit, ...], start: Start, source: TableOrigin) -> str:
    if source.path is None:
        raise DataError(
            "the rows came from memory, so a script would not find them; take the log, and use tw.edit.replay"
        )
    holdout = None if source.held_out is not None else start.holdout
    stem = source.stem
    return script(
        log,
        f"{stem}-first.json",
        source.path,
        f"{stem}-tree.json",
        weight=start.weight,
        holdout=holdout,
    )
