"""`treewright prune`: a tree cut back.

Comes in: a saved tree, a method and its settings; rows where the method looks at rows. Goes out: the smaller tree, and
what was cut.
Always holds: the file that came in is not changed unless it is named with --save.
"""

from __future__ import annotations

from typing import Any

import click

from treewright.cli.console import note, say, say_json, show_tree
from treewright.cli.reading import data_options, reading_of
from treewright.cli.recipes import PRUNER_NAMES, pruner_of
from treewright.cli.sections import Command
from treewright.cli.trees import read_tree, tree_argument
from treewright.data.sources import open_source
from treewright.pruning.prune import prune as prune_tree
from treewright.render.node_text import many
from treewright.tree.saved import save as save_tree


@click.command(cls=Command, short_help="Cut a tree back.")
@tree_argument
@click.option(
    "-m", "--method", default="cost-complexity-cv", show_default=True, metavar="NAME[:KEY=VALUE,...]",
    help=f"{', '.join(PRUNER_NAMES)}.",
)  # fmt: skip
@click.option("--alpha", type=float, help="For cost-complexity: the price of a leaf.")
@click.option("--confidence", type=float, help="For error-based: C4.5's -c.")
@click.option("--depth", type=int, help="For max-depth.")
@click.option("--leaves", type=int, help="For max-leaves.")
@click.option("--nodes", metavar="4,9", help="For collapse-nodes: what becomes a leaf.")
@click.option("--value", type=float, help="For critical-value.")
@click.option("--folds", type=int, help="For methods with cross-validation.")
@click.option("--rule", type=click.Choice(("1se", "min")), help="For methods with cross-validation.")
@click.option(
    "--data", metavar="DATA",
    help="Rows: those of training, for methods with cross-validation and error-based; others for reduced-error.",
)  # fmt: skip
@data_options
@click.option("-s", "--save", metavar="FILE", help="Save the smaller tree.")
@click.option("--json", "as_json", is_flag=True, help="Tell the result as JSON.")
def prune(tree_file: str, **settings: Any) -> None:
    """Cut the tree in TREE back and show what is left."""
    tree = read_tree(tree_file)
    reading = reading_of(settings)
    given = {name: settings[name] for name in ("alpha", "confidence", "depth", "leaves", "value", "folds", "rule")}
    if settings["nodes"]:
        given["nodes"] = tuple(int(part) for part in settings["nodes"].split(",") if part.strip().isdigit())
    pruner = pruner_of(settings["method"], **given)
    if pruner is None:
        raise click.UsageError("--method none cuts nothing")
    data = None if settings["data"] is None else open_source(settings["data"], reading, tree.schema)
    smaller = prune_tree(tree, pruner, data)
    if settings["save"]:
        save_tree(smaller, settings["save"])
    if settings["as_json"]:
        sizes = {"before": tree.n_leaves, "after": smaller.n_leaves}
        say_json({"leaves": sizes, "pruning": smaller.recipe.as_dict()["pruning"], "saved": settings["save"]})
        return
    show_tree(smaller)
    say()
    before, after = many(tree.n_leaves, "leaf"), many(smaller.n_leaves, "leaf")
    say(f"{before} before, {after} now" if smaller.n_leaves < tree.n_leaves else f"nothing to cut: {after}")
    if settings["save"]:
        note(f"written: {settings['save']}")
