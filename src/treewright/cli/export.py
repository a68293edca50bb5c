"""`treewright export`: write a saved tree in another language or format.

Every function of `treewright.export` that returns text or bytes is a format.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable
from typing import Any

import click

from treewright import export as exports
from treewright.cli.console import echo_json, note
from treewright.cli.reading import read_tree, tree_argument
from treewright.cli.recipes import Json
from treewright.data.atomic_write import atomic_file
from treewright.errors import TreewrightError
from treewright.export.dialects import DIALECTS

#: Formats with a shorter name than their function.
_RENAMED = {"to_json": "json"}


def formats() -> dict[str, Callable[..., Any]]:
    """Return the formats and the function of each."""
    found = {}
    for name in exports.__all__:
        function = getattr(exports, name)
        parameters = list(inspect.signature(function).parameters)
        if parameters[:1] == ["tree"] and typing.get_type_hints(function).get("return") in {str, bytes}:
            found[_RENAMED.get(name, name)] = function
    return found


@click.command(short_help="Export a tree to SQL, C, Python, ...")
@tree_argument
@click.option("--to", "form", required=True, metavar="FORMAT", help=f"One of {', '.join(formats())}.")
@click.option("-o", "--output", metavar="FILE", help="Output file. [standard output]")
@click.option("--dialect", metavar="NAME", help=f"For SQL: {', '.join(DIALECTS)}. [duckdb]")
@click.option("--table", help="For SQL: the table with the rows.")
@click.option("--set", "extra", multiple=True, metavar="KEY=VALUE", help="Any other setting of the format.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def export(tree_file: str, **settings: Any) -> None:
    """Export the tree in TREE to another language or format; predictions are the same to the last bit."""
    known = formats()
    form = settings["form"].lower()
    if form not in known:
        raise click.UsageError(f"there is no format {settings['form']!r}; choose from {', '.join(known)}")
    tree = read_tree(tree_file)
    made = _made(form, known[form], tree, _chosen(form, known[form], settings))
    content = made.encode() if isinstance(made, str) else made
    if settings["output"] and settings["output"] != "-":
        with atomic_file(settings["output"]) as draft:
            draft.write_bytes(content)
        if settings["as_json"]:
            echo_json({"format": form, "output": settings["output"], "bytes": len(content)})
        else:
            note(f"written: {settings['output']}")
    elif settings["as_json"]:
        echo_json({"format": form, "content": content.decode("utf-8", errors="replace")})
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.write(b"" if content.endswith(b"\n") else b"\n")
        sys.stdout.buffer.flush()


def _chosen(form: str, function: Callable[..., Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings, each known to the format."""
    given = {name: settings[name] for name in ("dialect", "table") if settings[name] is not None}
    for entry in settings["extra"]:
        key, sign, value = entry.partition("=")
        if not sign:
            raise click.UsageError(f"--set {entry}: write KEY=VALUE")
        given[key] = Json().convert(value, None, None) if value[:1] in {"[", "{"} else value
    parameters = [name for name in inspect.signature(function).parameters if name != "tree"]
    for key in given:
        if key not in parameters:
            raise click.UsageError(f"{form} has no setting {key!r}; it has {', '.join(parameters) or 'none'}")
    return given


def _made(form: str, function: Callable[..., Any], tree: Any, given: dict[str, Any]) -> str | bytes:
    try:
        made: str | bytes = function(tree, **given)
    except TreewrightError:
        raise
    except (ValueError, TypeError) as error:
        raise click.UsageError(f"{form}: {error}") from error
    return made
