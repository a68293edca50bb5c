"""`treewright show`: a tree as text, as a picture, as a page.

Comes in: a saved tree. Goes out: lines on the screen, or files.
Always holds: the text is coloured, and as wide as the screen, on a terminal only.
"""

from __future__ import annotations

from typing import Any

import click

from treewright.cli.console import note, say, say_json, show_tree
from treewright.cli.reading import data_options, reading_of
from treewright.cli.sections import Command
from treewright.cli.trees import read_tree, tree_argument
from treewright.data.sources import open_source
from treewright.render.svg_writer import svg
from treewright.tree.atomic_write import write_whole


@click.command(cls=Command, short_help="Show a tree as text, a picture or a page.")
@tree_argument
@click.option("--depth", type=click.IntRange(0), help="Only to this depth.")
@click.option("--lines", type=click.IntRange(1), default=200, show_default=True, help="Most lines of text.")
@click.option("--svg", "picture", metavar="FILE", help="Draw it.")
@click.option("--html", "page", metavar="FILE", help="Write a page to explore it with.")
@click.option("--data", metavar="DATA", help="The training rows, which the page can show.")
@click.option("--importance", is_flag=True, help="How much each column matters.")
@data_options
@click.option("--json", "as_json", is_flag=True, help="Tell the tree as JSON.")
def show(tree_file: str, **settings: Any) -> None:
    """Show the tree in TREE."""
    tree = read_tree(tree_file)
    reading = reading_of(settings)
    data = None if settings["data"] is None else open_source(settings["data"], reading, tree.schema)
    written = {}
    if settings["picture"]:
        written[settings["picture"]] = svg(tree, max_depth=settings["depth"])
    if settings["page"]:
        from treewright.render import html

        written[settings["page"]] = html(tree, data)
    for path, content in written.items():
        write_whole(path, content)
    if settings["as_json"]:
        say_json({"written": list(written)} if written else tree.as_dict())
        return
    for path in written:
        note(f"written: {path}")
    if settings["importance"]:
        from treewright.inspection.importance import importance

        say(str(importance(tree)))
    elif not written:
        show_tree(tree, settings["depth"], settings["lines"])
