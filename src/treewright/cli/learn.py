"""`treewright learn`: a tree from a table.

Comes in: DATA, --target and an option for every choice. Goes out: the tree on the screen, with its scores; the files
that were asked for.
Always holds: the tree that is saved has been learned from all rows but those set aside; a score on rows the tree has
not seen stands beside what the most frequent class, or the mean, would reach.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import click

from treewright.cli.console import note, progress, say, say_json, score_text, show_tree, steps, table
from treewright.cli.reading import (
    Found,
    data_options,
    few_values,
    find,
    kinds_of,
    missing_text,
    print_columns,
    reading_of,
    some_frame_rows,
)
from treewright.cli.recipes import recipe_of, recipe_options
from treewright.cli.sections import Command, section
from treewright.data.encoding import Encoded, describe, encode
from treewright.data.frame import pop_column
from treewright.data.kinds import KindChoice
from treewright.data.schema import Schema
from treewright.data.sources import Reading, open_source
from treewright.errors import DataError
from treewright.growing.weights import target_with, weighted
from treewright.prediction.class_scores import has_rare_class
from treewright.prediction.encode_rows import encode_labelled
from treewright.prediction.evaluation import score_on
from treewright.pruning.cross_validation import some_rows
from treewright.pruning.prune import grow_and_prune
from treewright.recipes.recipe import Recipe
from treewright.render.node_text import many
from treewright.render.text_width import fit_cells
from treewright.training.cross_validation import Scores, cross_validated, fold_masks, set_aside
from treewright.tree.atomic_write import write_whole
from treewright.tree.saved import save as save_tree
from treewright.tree.text import level_text, name_text, number_text, printable
from treewright.tree.tree import Tree

#: More columns than this are told only with --verbose.
MOST_COLUMNS = 30


def learning_options(command: Any) -> Any:
    """What `learn` and `compare` share: the target and the kinds."""
    of_learning = section("What to learn")
    options = (
        of_learning("-t", "--target", metavar="COLUMN", help="What to learn."),
        of_learning("--task", type=click.Choice(("classification", "regression")), help="Classes, or a number."),
        of_learning("--kind", multiple=True, metavar="COLUMN=KIND", help="What a column is: age=numeric, size=s<m<l."),
        of_learning("--weight", metavar="COLUMN", help="The column with the weights of the rows."),
        of_learning("--seed", type=click.IntRange(0), default=0, help="For everything that is left to chance."),
        of_learning("--threads", type=click.IntRange(0), default=0, help="How many threads. [all processors]"),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(cls=Command, short_help="Learn a tree from a table.")
@click.argument("data")
@learning_options
@recipe_options
@data_options
@click.option("--test", metavar="FILE", help="Score the tree on these rows.")
@click.option("--holdout", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Set a share aside: 0.2.")
@click.option("--folds", type=click.IntRange(2), help="Cross-validate: 10.")
@click.option("-s", "--save", metavar="FILE", help="Save the tree as JSON.")
@click.option("--report", metavar="FILE", help="Write a page to explore the tree with.")
@click.option("--title", help="The title of that page. [target and file]")
@click.option("--depth", type=click.IntRange(0), help="Show the tree to this depth only.")
@click.option("-v", "--verbose", is_flag=True, help="Tell every column.")
@click.option("-q", "--quiet", is_flag=True, help="Tell nothing but errors.")
@click.option("--json", "as_json", is_flag=True, help="Tell the result as JSON.")
def learn(data: str, **settings: Any) -> None:
    """Learn a tree from DATA and show it.

    DATA is a CSV, TSV, Parquet, JSON lines, Arrow, ARFF or C4.5 file, a database file, or - for standard input; with
    --sql a query such as "SELECT * FROM 'rows.parquet' WHERE age > 17".
    """
    if sum(settings[name] is not None for name in ("test", "holdout", "folds")) > 1:
        raise click.UsageError("give one of --test, --holdout and --folds")
    kinds = kinds_of(settings["kind"])
    reading = reading_of(settings)
    found = find(data, settings["target"], reading, kinds, settings["weight"])
    silent = settings["quiet"] or settings["as_json"]
    table_of = LearningTable.of(found, kinds, settings)
    if not silent:
        _tell_table(found, table_of, settings["verbose"])
    aside = set_aside(table_of.rows, settings["holdout"], settings["seed"]) if settings["holdout"] else None
    training = table_of.training(None if aside is None else ~aside)
    recipe = table_of.recipe(training, settings)
    tree = _grown(training, table_of.schema, recipe, settings["threads"])
    unseen = _unseen(tree, table_of, settings, reading, aside)
    scores = {"training": score_on(tree, training)}
    if unseen is not None:
        scores["held_out"] = score_on(tree, unseen)
    validated = _validated(table_of, recipe, settings) if settings["folds"] else None
    if settings["save"]:
        save_tree(tree, settings["save"])
    if settings["report"]:
        _write_report(tree, found, settings, reading, aside)
    if settings["as_json"]:
        say_json(_result(tree, found, table_of, scores, validated))
    elif not settings["quiet"]:
        show_tree(tree, settings["depth"])
        _tell_scores(tree, scores, validated, settings)
        for name in ("save", "report"):
            if settings[name]:
                note(f"written: {settings[name]}")


@dataclass(frozen=True, eq=False)
class LearningTable:
    """The table as the engine takes it: encoded once, for the tree and for every fold."""

    schema: Schema
    rows: Encoded
    class_weight: object

    @classmethod
    def of(cls, found: Found, kinds: dict[str, KindChoice], settings: dict[str, Any]) -> LearningTable:
        frame, weight = found.frame, None
        if settings["weight"] is not None:
            weight, frame = pop_column(frame, settings["weight"], "weight")
        there = {*frame.names, found.target.name}
        kinds = {name: kind for name, kind in kinds.items() if name in there or name not in found.left_out}
        schema = describe(frame, found.target, settings["task"], kinds)
        costs, priors = settings.get("costs"), settings.get("priors")
        schema = replace(schema, target=target_with(schema.target, costs, priors))
        rows = encode(frame, schema, training=True, target=found.target, weight=weight)
        return cls(schema, rows, settings.get("class_weight"))

    def training(self, chosen: Any = None) -> Encoded:
        """The chosen rows, with the weights of their classes."""
        rows = self.rows if chosen is None else some_rows(self.rows, chosen)
        return weighted(rows, self.schema, self.class_weight)

    def recipe(self, rows: Encoded, settings: dict[str, Any]) -> Recipe:
        whole = float(rows.n_rows if rows.weight is None else rows.weight.sum())
        task = self.schema.target.task
        return recipe_of(settings, task, rows.n_rows, len(self.schema.columns), whole, settings["seed"])


def _grown(rows: Encoded, schema: Schema, recipe: Recipe, threads: int) -> Tree:
    with progress("learning") as tell:
        return grow_and_prune(rows, schema, recipe, threads, tell)


def _unseen(tree: Tree, table_of: LearningTable, settings: dict[str, Any], reading: Any, aside: Any) -> Encoded | None:
    if aside is not None:
        return some_rows(table_of.rows, aside)
    if settings["test"] is None:
        return None
    source = open_source(settings["test"], _of_test(reading), tree.schema)
    return encode_labelled(tree, source, None, None)


def _of_test(reading: Reading) -> Reading:
    """How the file of --test is read: as DATA, but whole, and it is always a file."""
    return replace(reading, columns=(), drop=(), format=None, sql=False, database=None)


def _validated(table_of: LearningTable, recipe: Recipe, settings: dict[str, Any]) -> Scores:
    masks = fold_masks(table_of.rows, settings["folds"], settings["seed"])
    with progress(f"{len(masks)} folds", len(masks)) as tell:
        rows = table_of.training()
        scores = cross_validated(
            rows, table_of.schema, recipe, [recipe.pruning], masks, settings["threads"], steps(tell)
        )[0]
    if scores.refused is not None:
        raise DataError(scores.refused)
    return scores


def _write_report(tree: Tree, found: Found, settings: dict[str, Any], reading: Any, aside: Any) -> None:
    from treewright.render import html
    from treewright.reporting.report import report

    whole = found.whole
    data: object = whole
    held_out: object = None
    numbers = found.row_numbers
    if aside is not None:
        data, held_out = some_frame_rows(whole, ~aside), some_frame_rows(whole, aside)
        numbers = numbers[~aside]
    elif settings["test"] is not None:
        held_out = open_source(settings["test"], _of_test(reading), tree.schema)
    told = report(tree, data, held_out=held_out, row_numbers=numbers)
    title = settings["title"] or f"{name_text(found.target.name)}, {fit_cells(printable(found.source.name), 60)}"
    write_whole(settings["report"], html(told, title=title))


# --- output -----------------------------------------------------------------------------------------------------------


def _tell_table(found: Found, table_of: LearningTable, verbose: bool) -> None:
    lines = print_columns(found, table_of.schema)
    say(f"{found.source.name}: {many(found.frame.n_rows, 'row')}, {many(len(lines), 'column')}", bold=True)
    shown = lines if verbose or len(lines) <= MOST_COLUMNS else lines[:MOST_COLUMNS]
    rows = [(name_text(line["name"]), line["kind"], missing_text(line), line["holds"]) for line in shown]
    any_missing = any(row[2] for row in rows)
    keep = (0, 1, 2, 3) if any_missing else (0, 1, 3)
    table([("column", "kind", "missing", "holds")[i] for i in keep], [[row[i] for i in keep] for row in rows])
    if len(shown) < len(lines):
        note(f"… {len(lines) - len(shown)} more columns (--verbose tells all)")
    few = [name_text(name) for name in few_values(found, lines)]
    if few:
        note(f"few whole numbers, taken as numbers: {', '.join(few)} (--kind {few[0]}=nominal makes them names)")
    for name, why in found.left_out.items():
        note(f"left out: {name_text(name)} ({why}; --kind {name_text(name)}=nominal keeps it)")
    if found.dropped_rows:
        note(f"left out: {many(found.dropped_rows, 'row')} without {name_text(found.target.name)}")
    target = table_of.schema.target
    if target.classes is not None:
        shown_classes = ", ".join(level_text(value) for value in target.classes[:6])
        more = ", …" if len(target.classes) > 6 else ""
        say(f"target {name_text(target.name)}: {len(target.classes)} classes: {shown_classes}{more}")
    else:
        values = found.target.values
        low, high = number_text(float(values.min())), number_text(float(values.max()))
        say(f"target {name_text(target.name)}: a number, {low} to {high}")
    say()


def _tell_scores(tree: Tree, scores: dict[str, Any], validated: Scores | None, settings: dict[str, Any]) -> None:
    head = scores["training"]["headline"]
    alone = "most frequent class" if tree.schema.target.classes is not None else "mean"
    rows = [("training rows", score_text(head["name"], head["value"]), score_text(head["name"], head["baseline"]))]
    if "held_out" in scores:
        where = settings["test"] or f"rows set aside ({settings['holdout']:.0%})"
        name, value, baseline = scores["held_out"]["headline"].values()
        rows.append((f"{where}, {scores['held_out']['n']:,} rows", score_text(name, value), score_text(name, baseline)))
    if validated is not None:
        spread = f" ± {score_text(validated.measure, validated.error)}"
        found = score_text(validated.measure, validated.value) + spread
        rows.append(
            (f"{settings['folds']}-fold cross-validation", found, score_text(validated.measure, validated.baseline))
        )
    say()
    table((head["name"], "tree", alone), rows)
    _tell_measures(tree, scores.get("held_out", scores["training"]), "held_out" in scores)
    if validated is not None:
        rest = [(name, score_text(name, value)) for name, value in validated.measures.items()]
        say()
        table(("mean over the folds", ""), rest, right=(1,))


def _tell_measures(tree: Tree, score: dict[str, Any], unseen: bool) -> None:
    """All measures of the rows set aside, or of the training rows; for classes, how each of them fares."""
    say()
    rows = [
        (m["name"], score_text(m["name"], m["value"]), score_text(m["name"], m["baseline"])) for m in score["measures"]
    ]
    table(("rows not seen" if unseen else "training rows", "tree", "baseline"), rows, right=(1, 2))
    classes = score.get("classes")
    if classes is None:
        return
    rare = has_rare_class([entry["rows"] for entry in classes])
    names = ("recall", "precision", *(("average_precision",) if rare else ()))
    lines = [
        (
            level_text(level),
            f"{entry['rows']:,.0f}",
            *(score_text("accuracy", math.nan if entry[name] is None else entry[name]) for name in names),
        )
        for level, entry in zip(tree.schema.target.classes or (), classes, strict=True)
    ]
    say()
    heads = [name.replace("_", " ") for name in names]
    table(("class", "rows", *heads), lines[:MOST_COLUMNS], right=tuple(range(1, 2 + len(names))))
    if rare and not tree.schema.target.costs:
        note("a class is rare: accuracy hardly sees it; --class-weight balanced, --costs or --priors give it weight")


def _result(
    tree: Tree, found: Found, table_of: LearningTable, scores: dict[str, Any], validated: Scores | None
) -> dict[str, Any]:
    def brief(score: dict[str, Any]) -> dict[str, Any]:
        head = score["headline"]
        result = {"measure": head["name"], "value": head["value"], "baseline": head["baseline"], "rows": score["n"]}
        classes = tree.schema.target.classes
        if "classes" in score and classes is not None:
            result["classes"] = [{"class": c} | told for c, told in zip(classes, score["classes"], strict=True)]
        return result | {"measures": {m["name"]: m["value"] for m in score["measures"]}}

    result: dict[str, Any] = {
        "source": found.source.name,
        "rows": found.frame.n_rows,
        "columns": print_columns(found, table_of.schema),
        "left_out": dict(found.left_out),
        "rows_without_target": found.dropped_rows,
        "target": {
            "name": tree.schema.target.name,
            "task": tree.schema.target.task,
            "classes": tree.schema.target.classes,
        },
        "recipe": tree.recipe.as_dict(),
        "tree": {"nodes": tree.n_nodes, "leaves": tree.n_leaves, "depth": tree.depth},
        "scores": {name: brief(score) for name, score in scores.items()},
    }
    if validated is not None:
        result["scores"]["folds"] = {
            "measure": validated.measure, "value": validated.value, "error": validated.error,
            "baseline": validated.baseline, "measures": dict(validated.measures),
        }  # fmt: skip
    return result
