"""The interactive page: one file that holds the report and the modules of `page/` that show it.

The page loads nothing and writes nothing; names and levels stay text. Its modules are joined into one, each in a
function of its own; an import or export starts a line.
"""

from __future__ import annotations

import base64
import html as markup
import json
import os
import posixpath
import re
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from treewright.export.javascript_source import router_source
from treewright.reporting.report import report
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.uncertainty.stability_report import Stability

#: Lists of entries that are looked at one at a time are packed in chunks of this size.
_CHUNK = 200
#: Values larger than this, in characters, are packed.
_LARGE = 100_000

_IMPORT = re.compile(r'^import (\{[^;]*?\}) from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|const|class) (\w+))", re.MULTILINE)
_ROUTER = "../../export/route.js"
_SURROGATE = re.compile("[\ud800-\udfff]")


def html(
    tree: TreeLike | Mapping[str, Any],
    data: object = None,
    *,
    held_out: object = None,
    title: str | None = None,
    stability: Stability | None = None,
) -> str:
    """Return a page to explore the tree, as one self-contained text.

    Parameters
    ----------
    tree : Tree, fitted estimator or report
        The tree to show, or a report that `treewright.report` made of it.
    data : table, optional
        The training rows, with the target under its own name: they add histograms, scores, rows to try and the
        arithmetic of splits on columns with missing values.
    held_out : table, optional
        Rows the tree has not seen, with the target: scores and importances are then theirs.
    title : str, optional
        The title of the page. By default the target, and the file where `data` is one.
    stability : Stability, optional
        What `treewright.stability` found of the tree: the tab "How sure" then shows how often each split stays.

    Returns
    -------
    str
        HTML that needs no network.

    Raises
    ------
    TypeError
        If `data`, `held_out` or `stability` is given with a report, which has them already.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"x": [1, 2, 3, 4], "y": ["a", "a", "b", "b"]}
    >>> page = tw.render.html(tw.learn(table, "y"), table, title="Four rows")
    >>> "<title>Four rows</title>" in page
    True
    """
    if isinstance(tree, Mapping):
        if data is not None or held_out is not None or stability is not None:
            raise TypeError(
                "a report holds all there is to show; give data, held_out and stability to report(), or give the tree"
            )
        shown = tree
    else:
        shown = report(as_tree(tree), data, held_out=held_out, stability=stability)
        if title is None and isinstance(data, (str, os.PathLike)) and Path(data).suffix:
            title = f"{shown['facts']['target']}, {Path(data).name}"
    parts = {
        "title": _SURROGATE.sub("\ufffd", markup.escape(title or f"Decision tree for {shown['facts']['target']}")),
        "heading": _safe(title),
        "style": _text("page.css"),
        "report": _safe(packed(shown)),
        "module": module(),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], _text("page.html"))


@cache
def module(main: str = "main.js") -> str:
    """Return a module of the page, with all it imports, as one ES module; `mount(element, report)` is the entry."""
    texts = _modules(main)
    names = {path: f"MODULE_{i}" for i, path in enumerate(texts)}
    joined = []
    for path, text in texts.items():
        exports = ", ".join(name for _, name in _EXPORT.findall(text))
        body = _EXPORT.sub(r"\1", text)
        for imports, name in _IMPORT.findall(text):
            body = body.replace(
                f'import {imports} from "{name}";', f"const {imports} = {names[_imported(path, name)]};"
            )
        joined.append(f"const {names[path]} = (() => {{\n{body}return {{ {exports} }};\n}})();\n")
    return "".join(joined) + f"export const {{ {exports} }} = {names[main]};\n"


def _modules(path: str) -> dict[str, str]:
    """Return the texts of a module and of all it imports, each after those it imports itself."""
    text = router_source() if path == _ROUTER else _text(path)
    found: dict[str, str] = {}
    for _, imported in _IMPORT.findall(text):
        found |= {name: other for name, other in _modules(_imported(path, imported)).items() if name not in found}
    return found | {path: text}


def _imported(path: str, name: str) -> str:
    """Return the path of a module that the module at `path` imports as `name`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name))


def packed(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the report with its large values compressed, which the page unpacks when it needs them."""
    made = dict(report)
    for name in ("details", "histograms", "rules", "inner_rules", "pruned"):
        made[name] = None if report[name] is None else _packed_list(report[name], _CHUNK)
    for name in (name for name in ("nodes", "splits", "rows", "models") if name in report):
        small = _packed_list([report[name]], 1)
        made[name] = small if isinstance(small, dict) else report[name]
    return made


def _packed_list(entries: list[Any], size: int) -> Any:
    """Return the list itself if it is short when written, else its chunks, each compressed."""
    chunks = [_written(entries[i : i + size]).encode() for i in range(0, len(entries), size)]
    if sum(map(len, chunks)) <= _LARGE:
        return entries
    texts = [base64.b64encode(zlib.compress(chunk, 6)).decode("ascii") for chunk in chunks]
    return {"packed": texts, "size": size, "length": len(entries)}


def _written(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)  # no file could hold half a character


def _safe(value: Any) -> str:
    """Return JSON that cannot end the element it stands in, nor break a line where JavaScript sees one."""
    text = _written(value).replace("<", "\\u003c")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def _text(path: str) -> str:
    return files("treewright.reporting").joinpath("page", *path.split("/")).read_text(encoding="utf-8")
