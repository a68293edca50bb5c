"""`treewright edit`: replay a log of edits on a saved tree and show the result.

The file read is not changed unless it is named with --save.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from treewright.cli.console import echo, echo_json, note, show_tree
from treewright.cli.help_sections import Command
from treewright.cli.reading import data_options, read_tree, table_for, tree_argument
from treewright.data.number_text import many
from treewright.editing.log import read_log
from treewright.editing.replay import replay
from treewright.editing.script import script
from treewright.errors import FileError
from treewright.tree.saved import save as save_tree


@click.command(cls=Command, short_help="Edit a tree by a log of edits.")
@tree_argument
@click.argument("log", metavar="LOG")
@click.option("--data", metavar="DATA", help="The rows the tree was learned from; splitting and growing need them.")
@click.option("--weight", metavar="COLUMN", help="Column with the weights of the rows.")
@click.option(
    "--holdout", type=click.FloatRange(0, 1, True, True), metavar="SHARE", help="Share of the rows that were held out."
)
@click.option("--first", type=click.IntRange(0), metavar="N", help="Replay the first N edits only (undo the others).")
@click.option("--script", "script_file", metavar="FILE", help="Write a Python script that does the same; needs --save.")
@data_options
@click.option("-s", "--save", metavar="FILE", help="Save the edited tree.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def edit(tree_file: str, log: str, **settings: Any) -> None:
    """Replay LOG, JSON lines with one edit each, on the tree in TREE and show the result."""
    tree = read_tree(tree_file)
    data = table_for(tree, settings)
    if not Path(log).is_file():
        raise FileError(f"there is no file {log!r}; a log is written by tw.edit.write_log")
    edits = read_log(log)[: settings["first"]]
    edited = replay(tree, edits, data, weight=settings["weight"], holdout=settings["holdout"])
    if settings["script_file"]:
        if not settings["save"] or not settings["data"]:
            raise click.UsageError("--script needs --data and --save, which the script reads and writes")
        named = {name: settings[name] for name in ("weight", "holdout")}
        text = script(edits, tree_file, settings["data"], settings["save"], **named)
        Path(settings["script_file"]).write_text(text, encoding="utf-8")
    if settings["save"]:
        save_tree(edited, settings["save"])
    if settings["as_json"]:
        sizes = {"before": tree.n_leaves, "after": edited.n_leaves}
        echo_json({"edits": len(edits), "leaves": sizes, "saved": settings["save"]})
        return
    show_tree(edited)
    echo()
    echo(f"{many(len(edits), 'edit')}; {many(tree.n_leaves, 'leaf')} before, {many(edited.n_leaves, 'leaf')} now")
    for written in filter(None, (settings["save"], settings["script_file"])):
        note(f"written: {written}")
