"""The saved tree: one JSON file, versioned, described by `tree.schema.json` beside this module.

Comes in: a `Tree`, or text and files trusted in nothing. Goes out: the file, or the same tree bit for bit.
Always holds: saving is whole or not at all; reading runs no code and ends in a sound tree or in one `FileError` that
says what is wrong and where, as in `$.nodes.parent[3]`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

from treewright.data.schema import Schema
from treewright.errors import FileError
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.atomic_write import write_whole
from treewright.tree.cuts import read_cuts
from treewright.tree.json_form import read_recipe
from treewright.tree.tree import Tree
from treewright.tree.validation import check

FORMAT = "treewright tree"
VERSION = 1


def save(tree: TreeLike, path: str | os.PathLike[str]) -> None:
    """Writes the tree to a file; if anything goes wrong, what was there before is untouched."""
    tree = as_tree(tree)
    write_whole(path, to_json(tree))


def load(path: str | os.PathLike[str]) -> Tree:
    """The tree in a file that `save` wrote."""
    data = Path(path).read_bytes()
    try:
        return from_json(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileError(f"{os.fspath(path)}: not a saved tree: not UTF-8 text at byte {error.start}") from error
    except FileError as error:
        raise FileError(f"{os.fspath(path)}: {error}") from error


def to_json(tree: TreeLike) -> str:
    """The tree as JSON text, one array per line; every float is written so that it reads back exactly."""
    tree = as_tree(tree)
    check(tree.arrays, tree.schema)  # what could not be read again is not written
    parts = tree.as_dict()
    _refuse_unreadable(parts, tree.n_nodes)
    head = {"format": FORMAT, "version": VERSION, "treewright": _package_version()}
    lines = [f"{_json(key)}: {_json(value)}" for key, value in head.items()]
    lines += [f"{_json(key)}: {_json(parts[key])}" for key in ("recipe", "schema")]
    for table in ("nodes", "splits"):
        arrays = ",\n  ".join(f"{_json(name)}: {_json(values)}" for name, values in parts[table].items())
        lines.append(f"{_json(table)}: {{\n  {arrays}\n }}")
    lines += [f"{_json(key)}: {_json(parts[key])}" for key in ("cuts",) if key in parts]
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _refuse_unreadable(parts: dict[str, Any], n_nodes: int) -> None:
    """What `from_json` would refuse is never written. The arrays are sound in every `Tree`."""
    for key, read in (
        ("schema", Schema.from_dict),
        ("recipe", read_recipe),
        ("cuts", lambda cuts: read_cuts(cuts, n_nodes)),
    ):
        try:
            if key in parts:
                read(_parse(_json(parts[key])))
        except (FileError, TypeError, ValueError) as error:
            raise FileError(f"this tree cannot be saved: {error}") from error


def from_json(text: str) -> Tree:
    """The tree that `to_json` wrote."""
    written = _parse(text)
    if type(written) is not dict or written.get("format") != FORMAT:
        raise FileError(f'not a saved tree: $.format must be "{FORMAT}"')
    version = written.get("version")
    if type(version) is not int or version < 1:
        raise FileError(f"$.version must be a whole number from 1 to {VERSION}")
    if version > VERSION:
        raise FileError(
            f"$.version is {version}, but this treewright reads up to version {VERSION}; install a newer treewright"
        )
    if type(written.get("treewright")) is not str:
        raise FileError("$.treewright must be a string: the version of the package that wrote the tree")
    head = ("format", "version", "treewright")
    return Tree.from_dict({key: value for key, value in written.items() if key not in head})


def _json(value: object) -> str:
    # ASCII only, so that every string, even one that is not valid Unicode, survives any file.
    return json.dumps(value, allow_nan=False, ensure_ascii=True)


def _parse(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_object)
    except FileError:
        raise
    except RecursionError:
        raise FileError("not a saved tree: nested too deeply") from None
    except json.JSONDecodeError as error:
        raise FileError(f"not JSON, or cut short: {error.msg} at line {error.lineno}, column {error.colno}") from error
    except ValueError as error:  # a whole number of thousands of digits
        raise FileError(f"not a saved tree: {error}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise FileError(f"not a saved tree: {name} is no number in standard JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counted = Counter(key for key, _ in pairs)
        twice = counted.most_common(1)[0][0]
        raise FileError(f"not a saved tree: the key {twice[:40]!r} occurs twice in one object")
    return found


def _package_version() -> str:
    try:
        return metadata.version("treewright")
    except metadata.PackageNotFoundError:  # run from a source folder
        return "unknown"
