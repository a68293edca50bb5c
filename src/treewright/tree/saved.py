"""The saved tree: one JSON file, versioned, described by `tree.schema.json` beside this module.

Saving is whole or not at all; reading runs no code and ends in a valid tree or in one `FileError` that names what is
wrong and where, as in `$.nodes.parent[3]`.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

from treewright.data.atomic_write import write_atomic
from treewright.data.schema import Schema
from treewright.errors import FileError
from treewright.recipes.recipe import Recipe
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.calibration import Calibration
from treewright.tree.certificate import Certificate
from treewright.tree.cuts import read_cuts
from treewright.tree.honest import Honest
from treewright.tree.json_form import read_recipe
from treewright.tree.models import read_models
from treewright.tree.soft import Soft
from treewright.tree.tree import OPTIONAL, Tree

FORMAT = "treewright tree"
#: The newest version that is read. Version 2 is written only where it is needed, so that older readers get most trees:
#: it has matrices without zeros.
VERSION = 2


def save(tree: TreeLike, path: str | os.PathLike[str]) -> None:
    """Save a tree to a file; on any error an existing file stays as it was.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    path : str or path
        The file, by convention .json.
    """
    tree = as_tree(tree)
    write_atomic(path, to_json(tree))


def load(path: str | os.PathLike[str]) -> Tree:
    """Load a tree that `save` wrote.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    Tree
        The tree that `save` wrote.

    Raises
    ------
    FileError
        If the file is not a valid tree; the message names the place.
    """
    data = Path(path).read_bytes()
    try:
        return from_json(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileError(f"{os.fspath(path)}: not a saved tree: not UTF-8 text at byte {error.start}") from error
    except FileError as error:
        raise FileError(f"{os.fspath(path)}: {error}") from error


def to_json(tree: TreeLike) -> str:
    """Return the tree as JSON text; every float reads back exactly.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.

    Returns
    -------
    str
        JSON text, as docs/format.md describes it.
    """
    tree = as_tree(tree)
    tree.check()  # what could not be read again is not written
    parts = tree.as_dict()
    _refuse_unreadable(parts, tree)
    version = 2 if any(type(array) is dict for array in parts["nodes"].values()) else 1
    head = {"format": FORMAT, "version": version, "treewright": _package_version()}
    lines = [f"{_json(key)}: {_json(value)}" for key, value in head.items()]
    lines += [f"{_json(key)}: {_json(parts[key])}" for key in ("recipe", "schema")]
    for table in ("nodes", "splits"):
        arrays = ",\n  ".join(f"{_json(name)}: {_json(values)}" for name, values in parts[table].items())
        lines.append(f"{_json(table)}: {{\n  {arrays}\n }}")
    lines += [f"{_json(key)}: {_json(parts[key])}" for key in OPTIONAL if key in parts]
    return "{\n " + ",\n ".join(lines) + "\n}\n"


def _refuse_unreadable(parts: dict[str, Any], tree: Tree) -> None:
    """Raise for what `from_json` would reject. The arrays of a `Tree` are valid."""
    n_nodes = tree.n_nodes
    for key, read in (
        ("schema", lambda text: Schema.from_dict(_parse(text))),
        ("recipe", _read_recipe_text),
        ("cuts", lambda text: read_cuts(_parse(text), n_nodes)),
        ("certificate", lambda text: Certificate.from_dict(_parse(text))),
        ("calibration", lambda text: Calibration.from_dict(_parse(text), n_nodes)),
        ("soft", lambda text: Soft.from_dict(_parse(text), tree.arrays)),
        ("honest", lambda text: Honest.from_dict(_parse(text), n_nodes, len(_parse(text)["stats"][0]))),
        ("models", lambda text: read_models(_parse(text), n_nodes, tree.schema)),
        ("edits", lambda text: [_read_recipe_text(_json(one["recipe"])) for one in _parse(text) if "recipe" in one]),
    ):
        try:
            if key in parts:
                read(_json(parts[key]))
        except (FileError, TypeError, ValueError) as error:
            raise FileError(f"this tree cannot be saved: {error}") from error


@lru_cache(maxsize=64)
def _read_recipe_text(text: str) -> Recipe:
    return read_recipe(_parse(text))


def from_json(text: str) -> Tree:
    """Return the tree that `to_json` wrote.

    Parameters
    ----------
    text : str
        The JSON text.

    Returns
    -------
    Tree
        The tree that `to_json` wrote.

    Raises
    ------
    FileError
        If the text is not a valid tree; the message names the place.
    """
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


# ASCII only, so that every string, even one that is not valid Unicode, survives any file.
_json = json.JSONEncoder(allow_nan=False, ensure_ascii=True).encode


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


@cache
def _package_version() -> str:
    try:
        return metadata.version("treewright")
    except metadata.PackageNotFoundError:  # run from a source folder
        return "unknown"
