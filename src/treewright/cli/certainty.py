"""How sure the learned tree is: `--stability`, `--intervals`, `--honest` and `--soften` of `treewright learn`."""

from __future__ import annotations

from typing import Any, get_args

import click

from treewright.cli.console import echo, note, progress
from treewright.cli.help_sections import add_options, section
from treewright.data.encoding import Encoded
from treewright.data.schema import Schema
from treewright.recipes.recipe import Recipe
from treewright.training.honest import learn_honestly
from treewright.training.learn import grow_and_prune
from treewright.tree.tree import Tree
from treewright.uncertainty.calibrate import calibrated_on
from treewright.uncertainty.soften import Method, softened_on
from treewright.uncertainty.stability import stability_on
from treewright.uncertainty.stability_report import Stability

#: Folds of the calibration where no rows are set aside.
_FOLDS = 10


def certainty_options(command: Any) -> Any:
    """Add the options."""
    of_certainty = section("How sure")
    options = (
        of_certainty(
            "--stability",
            type=click.IntRange(2),
            metavar="N",
            help="Learn the tree again on N bootstrap samples and report which splits stay.",
        ),
        of_certainty(
            "--intervals",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            metavar="COVERAGE",
            help="Give each leaf an interval, or a set of classes, that covers new rows with this probability: 0.9.",
        ),
        of_certainty(
            "--honest", is_flag=True, help="Choose the splits by one half of the rows, predict by the other half."
        ),
        of_certainty(
            "--soften",
            type=click.Choice(get_args(Method)),
            help="Give every threshold a band: by C4.5's standard error, or by bootstrap samples.",
        ),
    )
    return add_options(command, options)


def check_certainty(settings: dict[str, Any]) -> None:
    """Refuse what cannot be had together, before anything is read."""
    if settings["optimal"]:
        _check_searched(settings)
    for name in ("honest", "soften"):
        if settings[name] and settings["folds"]:
            raise click.UsageError(
                f"--folds cross-validates the recipe; score the tree of --{name} with --holdout or --test"
            )
    if settings["soften"] and settings["intervals"] and not _has_unseen(settings):
        raise click.UsageError(
            "--intervals of a tree with soft thresholds need rows it has not seen: --holdout or --test"
        )


def _check_searched(settings: dict[str, Any]) -> None:
    """Refuse what a tree that was searched for cannot have: it has no recipe to be learned again by."""
    if settings["stability"]:
        raise click.UsageError("--stability learns the tree again by its recipe; the tree of --optimal has none")
    if settings["soften"] == "bootstrap":
        raise click.UsageError("--soften bootstrap learns the tree again by its recipe; the tree of --optimal has none")
    if settings["honest"]:
        raise click.UsageError("--honest needs a recipe; the tree of --optimal has none")
    if settings["intervals"] and not _has_unseen(settings):
        raise click.UsageError("--intervals of the tree of --optimal need rows it has not seen: --holdout or --test")


def _has_unseen(settings: dict[str, Any]) -> bool:
    return settings["holdout"] is not None or settings["test"] is not None


def fitted(rows: Encoded, schema: Schema, recipe: Recipe, settings: dict[str, Any]) -> Tree:
    """Learn the tree by its recipe, with honest leaves if asked for."""

    def grown(some: Encoded) -> Tree:
        with progress("learning") as advance:
            return grow_and_prune(some, schema, recipe, settings["threads"], advance)

    return learn_honestly(rows, grown, recipe.seed, settings["threads"]) if settings["honest"] else grown(rows)


def with_bands(tree: Tree, training: Encoded, settings: dict[str, Any]) -> Tree:
    """Soften the thresholds, if asked for."""
    method = settings["soften"]
    if not method:
        return tree
    with progress("softening") as advance:
        return softened_on(
            tree, training, method, seed=settings["seed"], n_threads=settings["threads"], progress=advance
        )


def with_ranges(tree: Tree, training: Encoded, unseen: Encoded | None, settings: dict[str, Any]) -> Tree:
    """Calibrate the tree on the rows held out; without them, by cross-validation on the training rows."""
    if not settings["intervals"]:
        return tree
    rows, folds = (training, _FOLDS) if unseen is None else (unseen, None)
    return calibrated_on(tree, rows, settings["intervals"], folds, settings["seed"], settings["threads"])


def refitted(tree: Tree, training: Encoded, settings: dict[str, Any]) -> Stability | None:
    """Refit the tree on bootstrap samples, if `--stability` is given."""
    if not settings["stability"]:
        return None
    with progress(f"{settings['stability']} refits") as advance:
        return stability_on(
            tree,
            training,
            resamples=settings["stability"],
            seed=settings["seed"],
            n_threads=settings["threads"],
            progress=advance,
        )


def print_refits(found: Stability | None) -> None:
    """Print the sentence, the table of splits, and the rest as remarks."""
    if found is None:
        return
    echo()
    grid = found.grid()
    caption, *lines = grid.text().splitlines()
    echo(caption, bold=True)
    for line in lines[: len(lines) - len(grid.notes)]:
        echo(line)
    for remark in grid.notes:
        note(remark)


def certainty_result(tree: Tree, found: Stability | None) -> dict[str, Any]:
    """Return the same for JSON."""
    result: dict[str, Any] = {}
    if tree.honest is not None:
        result["honest"] = {"rows": tree.honest.rows}
    if tree.soft is not None:
        result["soft"] = {"method": tree.soft.method, "thresholds": len(tree.soft.node)}
    if tree.calibration is not None:
        result["calibration"] = tree.calibration.as_dict()
    if found is not None:
        result["stability"] = {
            "summary": found.summary,
            "refits": found.resamples,
            "splits": [
                {"node": one.node, "column": one.split.column, "kept": one.kept, "cuts": one.cut_range}
                for one in found.splits
            ],
            "columns": dict(found.columns),
            "adjusted_rand": sum(found.rand) / len(found.rand),
        }
    return result
