"""`treewright rules`: a saved tree as rules, as text, Markdown or JSON."""

from __future__ import annotations

from typing import Any

import click

from treewright.cli.console import echo, echo_json
from treewright.cli.help_sections import Command
from treewright.cli.reading import data_options, read_tree, table_for, tree_argument
from treewright.data.value_text import listed
from treewright.inspection.rules.rules import rules as rules_of
from treewright.tree.text import level_text


@click.command(cls=Command, short_help="Show a tree as rules.")
@tree_argument
@click.option("--list", "short", is_flag=True, help="Simplify to an ordered rule list (C4.5rules); needs --data.")
@click.option("--data", metavar="DATA", help="The training rows.")
@click.option("--class", "only_class", metavar="CLASS", help="Show only the rules for this class.")
@click.option("--most", type=click.IntRange(1), default=50, show_default=True, help="Maximum number of rules.")
@click.option("--markdown", is_flag=True, help="Print a Markdown table.")
@data_options
@click.option("--json", "as_json", is_flag=True, help="Print the rules as JSON.")
def rules(tree_file: str, **settings: Any) -> None:
    """Show the tree in TREE as rules: if ... then ..."""
    tree = read_tree(tree_file)
    data = table_for(tree, settings)
    if settings["short"] and settings["data"] is None:
        raise click.UsageError("--list needs the training rows; give them with --data")
    found = rules_of(tree, data, kind="list" if settings["short"] else "leaves")
    if settings["only_class"] is not None:
        classes = tree.schema.target.classes or ()
        named = {level_text(value): value for value in classes} | {str(value): value for value in classes}
        if settings["only_class"] not in named:
            raise click.UsageError(f"there is no class {settings['only_class']!r}; the tree has {listed(classes)}")
        found = found.for_class(named[settings["only_class"]])
    if settings["as_json"]:
        echo_json(found.as_dict())
    elif settings["markdown"]:
        echo(found.markdown())
    else:
        echo(found.text(max_rules=settings["most"]).replace("text(max_rules=…) shows more", "--most shows more"))
