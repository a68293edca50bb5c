"""`treewright rules`: a tree told as rules.

Comes in: a saved tree; for a short list, the rows it was learned from. Goes out: rules as text, Markdown or JSON.
Always holds: without data there is one rule for each leaf.
"""

from __future__ import annotations

from typing import Any

import click

from treewright.cli.console import say, say_json
from treewright.cli.reading import data_options, reading_of
from treewright.cli.sections import Command
from treewright.cli.trees import read_tree, tree_argument
from treewright.data.sources import open_source
from treewright.data.value_text import listed
from treewright.inspection.rules.rules import rules as rules_of
from treewright.tree.text import level_text


@click.command(cls=Command, short_help="Tell a tree as rules.")
@tree_argument
@click.option("--list", "short", is_flag=True, help="A shorter, ordered list (C4.5rules); needs --data.")
@click.option("--data", metavar="DATA", help="The rows the tree was learned from.")
@click.option("--class", "answer", metavar="CLASS", help="Only the rules for this class.")
@click.option("--most", type=click.IntRange(1), default=50, show_default=True, help="Most rules to show.")
@click.option("--markdown", is_flag=True, help="As a Markdown table.")
@data_options
@click.option("--json", "as_json", is_flag=True, help="Tell the rules as JSON.")
def rules(tree_file: str, **settings: Any) -> None:
    """Tell the tree in TREE as rules: if ... then ..."""
    tree = read_tree(tree_file)
    reading = reading_of(settings)
    if settings["short"] and settings["data"] is None:
        raise click.UsageError("--list looks at the rows the tree was learned from; give them with --data")
    data = None if settings["data"] is None else open_source(settings["data"], reading, tree.schema)
    found = rules_of(tree, data, kind="list" if settings["short"] else "leaves")
    if settings["answer"] is not None:
        classes = tree.schema.target.classes or ()
        named = {level_text(value): value for value in classes} | {str(value): value for value in classes}
        if settings["answer"] not in named:
            raise click.UsageError(f"there is no class {settings['answer']!r}; the tree has {listed(classes)}")
        found = found.for_class(named[settings["answer"]])
    if settings["as_json"]:
        say_json(found.as_dict())
    elif settings["markdown"]:
        say(found.markdown())
    else:
        say(found.text(max_rules=settings["most"]).replace("text(max_rules=…) shows more", "--most shows more"))
