"""`treewright learn`: learn a tree from a table, show and score it.

The tree is learned from all rows but those set aside.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import click

from treewright.cli.certainty import (
    certainty_options,
    certainty_result,
    check_certainty,
    fitted,
    print_refits,
    refitted,
    with_bands,
    with_ranges,
)
from treewright.cli.class_table import print_classes
from treewright.cli.console import echo, echo_json, note, progress, score_text, show_tree, steps, table
from treewright.cli.help_sections import Command, add_options, section
from treewright.cli.reading import (
    InputTable,
    data_options,
    few_values,
    kinds_of,
    missing_text,
    print_columns,
    read_table,
    reading_of,
    some_frame_rows,
)
from treewright.cli.recipes import CHOICES, recipe_of, recipe_options
from treewright.data.atomic_write import write_atomic
from treewright.data.encoding import Encoded
from treewright.data.kinds import KindChoice
from treewright.data.number_text import many, number_text
from treewright.data.rows import take, total_weight
from treewright.data.schema import Schema
from treewright.data.sources import Reading, open_source
from treewright.errors import DataError
from treewright.growing.weights import weighted
from treewright.optimal.search import find_optimal
from treewright.optimal.settings import SearchSettings
from treewright.out_of_core.memory_limit import memory_size
from treewright.prediction.encode_rows import encode_labelled
from treewright.prediction.evaluation import score_on
from treewright.recipes.recipe import Recipe
from treewright.render.text_width import fit_cells
from treewright.training.cross_validation import Scores, cross_validated
from treewright.training.folds import random_folds, set_aside
from treewright.training.learn import FitOptions, training_table
from treewright.tree.saved import save as save_tree
from treewright.tree.text import level_text, name_text, printable
from treewright.tree.tree import Tree
from treewright.uncertainty.corrected_test import corrected_error
from treewright.uncertainty.stability_report import Stability

#: More columns than this are listed only with --verbose.
MOST_COLUMNS = 30


def learning_options(command: Any) -> Any:
    """Add the options that `learn` and `compare` share."""
    of_learning = section("Target and columns")
    options = (
        of_learning("-t", "--target", metavar="COLUMN", help="The column to predict."),
        of_learning("--task", type=click.Choice(("classification", "regression")), help="Override the inferred task."),
        of_learning("--kind", multiple=True, metavar="COLUMN=KIND", help="Kind of a column: age=numeric, size=s<m<l."),
        of_learning("--weight", metavar="COLUMN", help="Column with the weight of each row."),
        of_learning("--seed", type=click.IntRange(0), default=0, help="Seed of random choices."),
        of_learning("--threads", type=click.IntRange(0), default=0, help="Number of threads. [all processors]"),
    )
    return add_options(command, options)


@click.command(cls=Command, short_help="Learn a tree from a table.")
@click.argument("data")
@learning_options
@recipe_options
@data_options
@click.option("--optimal", is_flag=True, help="Find the best tree of --max-depth levels (3) instead of growing one.")
@click.option(
    "--leaf-penalty", type=click.FloatRange(0), help="With --optimal: price of a leaf, as an error rate or 1 - R2."
)
@click.option("--time-limit", type=click.FloatRange(0), metavar="SECONDS", help="With --optimal: end the search then.")
@click.option("--memory-limit", metavar="SIZE", help="With --optimal: end the search at this size, such as 2GB.")
@click.option("--test", metavar="FILE", help="Score the tree on these rows.")
@click.option(
    "--holdout",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Fraction of rows to hold out for scoring: 0.2.",
)
@click.option("--folds", type=click.IntRange(2), help="Number of cross-validation folds.")
@certainty_options
@click.option("-s", "--save", metavar="FILE", help="Save the tree as JSON.")
@click.option("--report", metavar="FILE", help="Write an interactive HTML report.")
@click.option("--title", help="Title of the report. [target and file]")
@click.option("--depth", type=click.IntRange(0), help="Maximum depth shown.")
@click.option("-v", "--verbose", is_flag=True, help="List all columns.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def learn(data: str, **settings: Any) -> None:
    """Learn a tree from DATA and show it.

    DATA is a CSV, TSV, Parquet, JSON lines, Arrow, ARFF or C4.5 file, a database file, or - for standard input; with
    --sql a query such as "SELECT * FROM 'rows.parquet' WHERE age > 17".
    """
    if sum(settings[name] is not None for name in ("test", "holdout", "folds")) > 1:
        raise click.UsageError("give one of --test, --holdout and --folds")
    _check_optimal(settings)
    check_certainty(settings)
    kinds = kinds_of(settings["kind"])
    reading = reading_of(settings)
    found = read_table(data, settings["target"], reading, kinds, settings["weight"])
    silent = settings["quiet"] or settings["as_json"]
    table_of = LearningTable.of(found, kinds, settings)
    if not silent:
        _print_table(found, table_of, settings["verbose"])
    aside = set_aside(table_of.rows, settings["holdout"], settings["seed"]) if settings["holdout"] else None
    training = table_of.training(None if aside is None else ~aside)
    recipe = table_of.recipe(training, settings)
    if settings["optimal"]:
        tree = _searched(training, table_of.schema, settings)
    else:
        tree = fitted(training, table_of.schema, recipe, settings)
    tree = with_bands(tree, training, settings)
    unseen = _unseen(tree, table_of, settings, reading, aside)
    tree = with_ranges(tree, training, unseen, settings)
    refits = refitted(tree, training, settings)
    scores = {"training": score_on(tree, training)}
    if unseen is not None:
        scores["held_out"] = score_on(tree, unseen)
    validated = _validated(table_of, recipe, settings) if settings["folds"] else None
    if settings["save"]:
        save_tree(tree, settings["save"])
    if settings["report"]:
        _write_report(tree, found, settings, reading, aside, refits)
    if settings["as_json"]:
        echo_json(_result(tree, found, table_of, scores, validated) | certainty_result(tree, refits))
    elif not settings["quiet"]:
        show_tree(tree, settings["depth"])
        _print_scores(tree, scores, validated, settings)
        print_refits(refits)
        for name in ("save", "report"):
            if settings[name]:
                note(f"written: {settings[name]}")


@dataclass(frozen=True, eq=False)
class LearningTable:
    """The encoded table, used for the tree and for every fold."""

    schema: Schema
    rows: Encoded
    class_weight: object

    @classmethod
    def of(cls, found: InputTable, kinds: dict[str, KindChoice], settings: dict[str, Any]) -> LearningTable:
        there = {*found.frame.names, found.target.name}
        options = FitOptions(
            settings["weight"],
            {name: kind for name, kind in kinds.items() if name in there or name not in found.left_out},
            settings["task"],
            costs=settings.get("costs"),
            priors=settings.get("priors"),
            keep_columns=True,
        )
        rows, schema = training_table(found.frame, found.target, options)
        return cls(schema, rows, settings.get("class_weight"))

    def training(self, chosen: Any = None) -> Encoded:
        """Return the chosen rows, weighted by class."""
        rows = self.rows if chosen is None else take(self.rows, chosen)
        return weighted(rows, self.schema, self.class_weight)

    def recipe(self, rows: Encoded, settings: dict[str, Any]) -> Recipe:
        task, n_columns = self.schema.target.task, len(self.schema.columns)
        return recipe_of(settings, task, rows.n_rows, n_columns, total_weight(rows), settings["seed"])


def _check_optimal(settings: dict[str, Any]) -> None:
    """Refuse options that the search for the best tree does not have."""
    if not settings["optimal"]:
        for name in ("leaf_penalty", "time_limit", "memory_limit"):
            if settings[name] is not None:
                raise click.UsageError(f"--{name.replace('_', '-')} needs --optimal: growing a tree does not have it")
        return
    if settings["folds"]:
        raise click.UsageError("--folds cross-validates recipes; score the tree of --optimal with --holdout or --test")
    used = {"max_depth", "min_samples_leaf", "max_leaf_nodes", "missing_policy"}
    given = [name for name in (*CHOICES, "missing_policy", "pruning") if settings.get(name) is not None]
    if settings["algorithm"] != "cart" or not used.issuperset(given):
        raise click.UsageError(
            "--optimal has no recipe: of its options only --max-depth, --min-leaf, --max-leaves, --missing-policy, "
            "--class-weight, --costs and --priors apply"
        )
    if settings["memory_limit"] is not None:
        memory_size(settings["memory_limit"])  # refused before the table is read
    if isinstance(settings["min_samples_leaf"], float):
        raise click.UsageError("--optimal takes --min-leaf as a number of rows, not as a fraction")


def _searched(rows: Encoded, schema: Schema, settings: dict[str, Any]) -> Tree:
    names = {"max_depth": "max_depth", "min_samples_leaf": "min_samples_leaf", "max_leaf_nodes": "max_leaves"}
    names |= {"missing_policy": "missing", "leaf_penalty": "leaf_penalty", "time_limit": "time_limit"}
    limits = {to: settings[name] for name, to in names.items() if settings[name] is not None}
    memory = None if settings["memory_limit"] is None else memory_size(settings["memory_limit"])
    search = SearchSettings(**limits, memory_limit=memory)
    with progress("searching: gap closed") as advance:
        return find_optimal(
            rows,
            schema,
            search,
            settings["threads"],
            lambda lower, loss: advance(lower / loss if loss > 0 else 1.0),
            balanced=settings["class_weight"] == "balanced",
        )


def _unseen(tree: Tree, table_of: LearningTable, settings: dict[str, Any], reading: Any, aside: Any) -> Encoded | None:
    if aside is not None:
        return take(table_of.rows, aside)
    if settings["test"] is None:
        return None
    source = open_source(settings["test"], _of_test(reading), tree.schema)
    return encode_labelled(tree, source, None, None)


def _of_test(reading: Reading) -> Reading:
    """Return how the file of --test is read: as DATA, with all columns, and never as a query."""
    return replace(reading, columns=(), drop=(), format=None, sql=False, database=None)


def _validated(table_of: LearningTable, recipe: Recipe, settings: dict[str, Any]) -> Scores:
    folds = random_folds(table_of.rows, settings["folds"], settings["seed"])
    with progress(f"{len(folds)} folds", len(folds)) as advance:
        rows = table_of.training()
        scores = cross_validated(
            rows, table_of.schema, recipe, [recipe.pruning], folds, settings["threads"], steps(advance)
        )[0]
    if scores.refused is not None:
        raise DataError(scores.refused)
    return scores


def _write_report(
    tree: Tree, found: InputTable, settings: dict[str, Any], reading: Any, aside: Any, refits: Stability | None
) -> None:
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
    made = report(tree, data, held_out=held_out, row_numbers=numbers, stability=refits)
    title = settings["title"] or f"{name_text(found.target.name)}, {fit_cells(printable(found.source.name), 60)}"
    write_atomic(settings["report"], html(made, title=title))


# --- output -----------------------------------------------------------------------------------------------------------


def _print_table(found: InputTable, table_of: LearningTable, verbose: bool) -> None:
    lines = print_columns(found, table_of.schema)
    echo(f"{found.source.name}: {many(found.frame.n_rows, 'row')}, {many(len(lines), 'column')}", bold=True)
    shown = lines if verbose or len(lines) <= MOST_COLUMNS else lines[:MOST_COLUMNS]
    rows = [(name_text(line["name"]), line["kind"], missing_text(line), line["holds"]) for line in shown]
    any_missing = any(row[2] for row in rows)
    keep = (0, 1, 2, 3) if any_missing else (0, 1, 3)
    table([("column", "kind", "missing", "holds")[i] for i in keep], [[row[i] for i in keep] for row in rows])
    if len(shown) < len(lines):
        note(f"… {len(lines) - len(shown)} more columns (--verbose lists all)")
    few = [name_text(name) for name in few_values(found, lines)]
    if few:
        note(f"few distinct whole numbers, used as numeric: {', '.join(few)} (--kind {few[0]}=nominal overrides)")
    for name, why in found.left_out.items():
        note(f"dropped: {name_text(name)} ({why}; --kind {name_text(name)}=nominal keeps it)")
    for name, range_ in found.numbering.items():
        note(f"{name_text(name)} seems to number the rows ({range_}); --drop {name_text(name)} leaves it out")
    if found.dropped_rows:
        note(f"dropped: {many(found.dropped_rows, 'row')} without a value of {name_text(found.target.name)}")
    target = table_of.schema.target
    if target.classes is not None:
        shown_classes = ", ".join(level_text(value) for value in target.classes[:6])
        more = ", …" if len(target.classes) > 6 else ""
        echo(f"target {name_text(target.name)}: {len(target.classes)} classes: {shown_classes}{more}")
    else:
        values = found.target.values
        low, high = number_text(float(values.min())), number_text(float(values.max()))
        echo(f"target {name_text(target.name)}: a number, {low} to {high}")
    echo()


def _print_scores(tree: Tree, scores: dict[str, Any], validated: Scores | None, settings: dict[str, Any]) -> None:
    head = scores["training"]["headline"]
    alone = "majority class" if tree.schema.target.classes is not None else "mean"
    rows = [("training rows", score_text(head["name"], head["value"]), score_text(head["name"], head["baseline"]))]
    if "held_out" in scores:
        where = settings["test"] or f"held-out rows ({settings['holdout']:.0%})"
        name, value, baseline = scores["held_out"]["headline"].values()
        rows.append((f"{where}, {scores['held_out']['n']:,} rows", score_text(name, value), score_text(name, baseline)))
    if validated is not None:
        error = corrected_error(validated.values, 1 / (len(validated.values) - 1))  # rows of a fold over all others
        spread = f" ± {score_text(validated.measure, error)}"
        found = score_text(validated.measure, validated.value) + spread
        rows.append(
            (f"{settings['folds']}-fold cross-validation", found, score_text(validated.measure, validated.baseline))
        )
    echo()
    table((head["name"], "tree", alone), rows)
    is_weighted = any(settings[name] is not None for name in ("class_weight", "priors"))
    _print_measures(tree, scores.get("held_out", scores["training"]), "held_out" in scores, is_weighted)
    if validated is not None:
        rest = [(name, score_text(name, value)) for name, value in validated.measures.items()]
        echo()
        table(("mean over the folds", ""), rest, right=(1,))


def _print_measures(tree: Tree, score: dict[str, Any], unseen: bool, weighted: bool) -> None:
    """Print all measures of the held-out rows, or of the training rows, and recall and precision of each class."""
    echo()
    rows = [
        (m["name"], score_text(m["name"], m["value"]), score_text(m["name"], m["baseline"])) for m in score["measures"]
    ]
    table(("held-out rows" if unseen else "training rows", "tree", "baseline"), rows, right=(1, 2))
    classes = score.get("classes")
    if classes is None:
        return
    echo()
    print_classes(tree.schema.target, classes, weighted)


def _result(
    tree: Tree, found: InputTable, table_of: LearningTable, scores: dict[str, Any], validated: Scores | None
) -> dict[str, Any]:
    def brief(score: dict[str, Any]) -> dict[str, Any]:
        head = score["headline"]
        result = {"measure": head["name"], "value": head["value"], "baseline": head["baseline"], "rows": score["n"]}
        classes = tree.schema.target.classes
        if "classes" in score and classes is not None:
            result["classes"] = [{"class": c} | entry for c, entry in zip(classes, score["classes"], strict=True)]
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
