"""The interactive page: one file that holds the tree, its numbers and the module that shows them.

Comes in: a `Tree` and what rows there are, or a report that was made before. Goes out: HTML as text.
Always holds: the page needs no network and writes nothing; whatever names and levels contain stays text. The modules in
`page/` are plain JavaScript; joining them is all that is done to them: each starts its imports and exports at the
beginning of a line, and no two have a name in common.
"""

from __future__ import annotations

import base64
import html as markup
import json
import re
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from treewright.reporting.report import report
from treewright.tree.as_tree import TreeLike, as_tree

#: The modules in the order in which they are joined: a module stands after those it imports.
_MODULES = (
    "route", "words", "model", "layout", "packed", "viewport", "cards", "edges", "tabs", "tree", "inspector", "case",
    "pruning", "rules", "score", "search", "print", "main",
)  # fmt: skip

#: Lists of entries that are looked at one at a time are packed in chunks of this size.
_CHUNK = 200
#: Parts larger than this, in characters, are packed.
_LARGE = 100_000

_IMPORT = re.compile(r"^import [^;]*;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def html(
    tree: TreeLike | Mapping[str, Any], data: object = None, *, held_out: object = None, title: str | None = None
) -> str:
    """A page to explore the tree, as one self-contained text: `Path("tree.html").write_text(html(tree, data))`.

    `data` are the training rows and `held_out` rows the tree has not seen, both with the target under its own name;
    each adds to what the page shows. Instead of a tree, a report (`treewright.report`) may be given.
    """
    if isinstance(tree, Mapping):
        if data is not None or held_out is not None:
            raise TypeError("a report holds all there is to show; give data and held_out to report(), or give the tree")
        told = tree
    else:
        told = report(as_tree(tree), data, held_out=held_out)
    parts = {
        "title": markup.escape(title or f"Decision tree for {told['facts']['target']}"),
        "heading": _safe(title),
        "style": _text("page.css"),
        "report": _safe(packed(told)),
        "module": module(),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], _text("page.html"))


@cache
def module() -> str:
    """The page's one ES module; its entry is `mount(element, report)`."""
    joined = "\n".join(_EXPORT.sub("", _IMPORT.sub("", _text(f"{name}.js"))) for name in _MODULES)
    return f"{joined}\nexport {{ mount }};\n"


def packed(report: Mapping[str, Any]) -> dict[str, Any]:
    """The report with its large parts compressed, which the module unpacks when they are looked at."""
    made = dict(report)
    for name in ("details", "rules", "inner_rules", "pruned"):
        made[name] = None if report[name] is None else _packed_list(report[name], _CHUNK)
    for name in ("nodes", "splits", "rows"):
        small = _packed_list([report[name]], 1)
        made[name] = small if isinstance(small, dict) else report[name]
    return made


def _packed_list(entries: list[Any], size: int) -> Any:
    """The list itself if it is short when written, else its chunks, each compressed."""
    chunks = [_written(entries[i : i + size]).encode() for i in range(0, len(entries), size)]
    if sum(map(len, chunks)) <= _LARGE:
        return entries
    texts = [base64.b64encode(zlib.compress(chunk, 6)).decode("ascii") for chunk in chunks]
    return {"packed": texts, "size": size, "length": len(entries)}


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _safe(value: Any) -> str:
    """JSON that cannot end the element it stands in, nor break a line where JavaScript sees one."""
    text = _written(value).replace("<", "\\u003c")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@cache
def _text(name: str) -> str:
    return (files("treewright.reporting") / "page" / name).read_text(encoding="utf-8")
