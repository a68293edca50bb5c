"""`treewright prune`: prune a saved tree and show the result.

The file read is not changed unless it is named with --save.
"""

from __future__ import annotations

from typing import Any

import click

from treewright.cli.console import echo, echo_json, note, show_tree
from treewright.cli.help_sections import Command
from treewright.cli.reading import data_options, read_tree, table_for, tree_argument
from treewright.cli.recipes import PRUNER_NAMES, pruner_of
from treewright.data.number_text import many
from treewright.pruning.prune import prune as prune_tree
from treewright.tree.saved import save as save_tree


@click.command(cls=Command, short_help="Prune a tree.")
@tree_argument
@click.option(
    "-m", "--method", default="cost-complexity-cv", show_default=True, metavar="NAME[:KEY=VALUE,...]",
    help=f"{', '.join(PRUNER_NAMES)}.",
)  # fmt: skip
@click.option("--alpha", type=float, help="For cost-complexity: the penalty per leaf.")
@click.option("--confidence", type=float, help="For error-based: the confidence level (C4.5's -c).")
@click.option("--depth", type=int, help="For max-depth.")
@click.option("--leaves", type=int, help="For max-leaves.")
@click.option("--nodes", metavar="4,9", help="For collapse-nodes: ids of the nodes that become leaves.")
@click.option("--value", type=float, help="For critical-value.")
@click.option("--folds", type=int, help="For methods with cross-validation.")
@click.option("--rule", type=click.Choice(("1se", "min")), help="For methods with cross-validation.")
@click.option(
    "--data", metavar="DATA",
    help="Rows: the training rows for cross-validation and error-based, held-out rows for reduced-error.",
)  # fmt: skip
@data_options
@click.option("-s", "--save", metavar="FILE", help="Save the pruned tree.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def prune(tree_file: str, **settings: Any) -> None:
    """Prune the tree in TREE and show the result."""
    tree = read_tree(tree_file)
    data = table_for(tree, settings)
    given = {name: settings[name] for name in ("alpha", "confidence", "depth", "leaves", "value", "folds", "rule")}
    if settings["nodes"]:
        given["nodes"] = tuple(int(part) for part in settings["nodes"].split(",") if part.strip().isdigit())
    pruner = pruner_of(settings["method"], **given)
    if pruner is None:
        raise click.UsageError("--method none prunes nothing; choose another")
    smaller = prune_tree(tree, pruner, data)
    if settings["save"]:
        save_tree(smaller, settings["save"])
    if settings["as_json"]:
        sizes = {"before": tree.n_leaves, "after": smaller.n_leaves}
        echo_json({"leaves": sizes, "pruning": smaller.recipe.as_dict()["pruning"], "saved": settings["save"]})
        return
    show_tree(smaller)
    echo()
    before, after = many(tree.n_leaves, "leaf"), many(smaller.n_leaves, "leaf")
    echo(f"{before} before, {after} now" if smaller.n_leaves < tree.n_leaves else f"nothing to prune: {after}")
    if settings["save"]:
        note(f"written: {settings['save']}")
