"""`treewright show`: show a saved tree as text, as a picture or as a page."""

from __future__ import annotations

from typing import Any

import click

from treewright.cli.console import echo, echo_json, note, show_tree
from treewright.cli.help_sections import Command
from treewright.cli.reading import data_options, read_tree, table_for, tree_argument
from treewright.data.atomic_write import write_atomic
from treewright.render.svg_writer import svg


@click.command(cls=Command, short_help="Show a tree as text, a picture or a page.")
@tree_argument
@click.option("--depth", type=click.IntRange(0), help="Maximum depth shown.")
@click.option("--lines", type=click.IntRange(1), default=200, show_default=True, help="Maximum number of lines.")
@click.option("--svg", "picture", metavar="FILE", help="Write a picture.")
@click.option("--html", "page", metavar="FILE", help="Write an interactive HTML report.")
@click.option("--growth", metavar="FILE", help="Write a page on which the tree grows level by level.")
@click.option("--data", metavar="DATA", help="The training rows, shown in the report.")
@click.option("--importance", is_flag=True, help="Print the importance of each column.")
@data_options
@click.option("--json", "as_json", is_flag=True, help="Print the tree as JSON.")
def show(tree_file: str, **settings: Any) -> None:
    """Show the tree in TREE."""
    tree = read_tree(tree_file)
    data = table_for(tree, settings)
    written = {}
    if settings["picture"]:
        written[settings["picture"]] = svg(tree, max_depth=settings["depth"])
    if settings["page"]:
        from treewright.render import html

        written[settings["page"]] = html(tree, data)
    if settings["growth"]:
        from treewright.render import growth

        written[settings["growth"]] = growth(tree, max_depth=settings["depth"]).page()
    for path, content in written.items():
        write_atomic(path, content)
    if settings["as_json"]:
        echo_json({"written": list(written)} if written else tree.as_dict())
        return
    for path in written:
        note(f"written: {path}")
    if settings["importance"]:
        from treewright.inspection.importance import importance

        echo(str(importance(tree)))
    elif not written:
        show_tree(tree, settings["depth"], settings["lines"])
