"""`treewright compare`: cross-validate all algorithms and pruning methods on the same folds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import click

from treewright.cli.class_table import print_classes
from treewright.cli.console import echo, echo_json, note, progress, score_text, steps, table
from treewright.cli.error_text import with_cli_options
from treewright.cli.help_sections import Command
from treewright.cli.learn import LearningTable, learning_options
from treewright.cli.reading import data_options, kinds_of, names_of, read_table, reading_of
from treewright.cli.recipes import ALGORITHMS, OneOf, algorithm_name, class_options, pruner_of, recipe_of
from treewright.data.number_text import figure
from treewright.data.rows import total_weight
from treewright.data.schema import Level
from treewright.errors import RecipeError
from treewright.recipes.missing import MISSING_NAMES
from treewright.recipes.pruners import PRUNING_NAMES, Pruner
from treewright.training.cross_validation import Scores, cross_validated, impossible
from treewright.training.folds import Fold, random_folds
from treewright.tree.text import name_text
from treewright.uncertainty.cross_validate import CrossValidation

#: An algorithm, a pruning method and their scores.
Result = tuple[str, str, Scores]

_FOUR = ("id3", "c4.5", "cart", "chaid")
_CONSTANT = [name for name, pruner in PRUNING_NAMES.items() if not pruner.models_only]
_ALL_PRUNINGS = ("none", *(name.replace("_", "-") for name in _CONSTANT))


@click.command(cls=Command, short_help="Cross-validate all algorithms and pruning methods.")
@click.argument("data")
@learning_options
@class_options
@click.option("--algorithms", metavar="A,B", default=",".join(_FOUR), show_default=True, help="Algorithms to compare.")
@click.option(
    "--prunings", metavar="A,B", default=",".join(_ALL_PRUNINGS), show_default=True, help="Pruning methods to compare."
)
@click.option("--folds", type=click.IntRange(2), default=10, show_default=True, help="Number of folds.")
@click.option("--missing-policy", type=OneOf(MISSING_NAMES), help="Missing-value policy.")
@click.option("--most", type=click.IntRange(1), help="Maximum number of results shown.")
@data_options
@click.option("--json", "as_json", is_flag=True, help="Print the table as JSON.")
def compare(data: str, **settings: Any) -> None:
    """Cross-validate algorithms and pruning methods on DATA, on the same folds."""
    kinds = kinds_of(settings["kind"])
    found = read_table(data, settings["target"], reading_of(settings), kinds, settings["weight"])
    table_of = LearningTable.of(found, kinds, settings)
    algorithms = [algorithm_name(name) for name in names_of(settings["algorithms"])]
    for name in algorithms:
        if name not in ALGORITHMS:
            raise click.UsageError(f"there is no algorithm {name!r}; choose from {', '.join(ALGORITHMS)}")
    prunings = {name: pruner_of(name) for name in names_of(settings["prunings"])}
    folds = random_folds(table_of.rows, settings["folds"], settings["seed"])
    results = _compared(table_of, algorithms, prunings, folds, settings)
    good = [result for result in results if result[2].refused is None]
    good.sort(key=lambda result: (-result[2].merit, result[2].leaves, result[0], result[1]))
    refused = [result for result in results if result[2].refused is not None]
    honest = CrossValidation({_name(*result): result[2] for result in good}, tuple(folds))
    if settings["as_json"]:
        classes = table_of.schema.target.classes or ()
        lines = [_as_dict(*result, honest, classes) for result in (*good, *refused)]
        echo_json({"folds": settings["folds"], "results": lines})
        return
    if good:
        _print_results(good, honest, settings["most"], found.frame.n_rows, table_of)
        _print_best_classes(good[0], table_of, settings)
    _print_refused(refused, good)


def _compared(
    table_of: LearningTable,
    algorithms: list[str],
    prunings: dict[str, Pruner | None],
    folds: list[Fold],
    settings: dict[str, Any],
) -> list[Result]:
    rows, schema = table_of.training(), table_of.schema
    results = []
    with progress("comparing", len(folds) * len(prunings) * len(algorithms)) as advance:
        step = steps(advance)
        for algorithm in algorithms:
            try:
                whole = total_weight(rows)
                choices = {**settings, "algorithm": algorithm, "pruning": None}
                recipe = recipe_of(
                    choices, schema.target.task, rows.n_rows, len(schema.columns), whole, settings["seed"]
                )
                pruners = list(prunings.values())
                scores = cross_validated(rows, schema, recipe, pruners, folds, settings["threads"], step)
            except RecipeError as error:
                scores = [impossible(str(error))] * len(prunings)
            results += [(algorithm, name, score) for name, score in zip(prunings, scores, strict=True)]
    return results


def _name(algorithm: str, pruning: str, _: Scores) -> str:
    return f"{algorithm} {pruning}"


def _print_results(
    good: list[Result], honest: CrossValidation, most: int | None, n_rows: int, table_of: LearningTable
) -> None:
    best, first = good[0][2], _name(*good[0])
    simplest = min(
        (result for result in good if result[2].merit >= best.merit - honest.error(first)),
        key=lambda result: (result[2].leaves, -result[2].merit),
    )
    target = table_of.schema.target
    others = [name for name in best.measures if name != best.measure]
    echo(f"{name_text(target.name)} from {n_rows:,} rows, {len(honest.folds)} folds, the same for all", bold=True)
    rows = []
    for result in good[:most]:
        algorithm, pruning, scores = result
        mark = "best" if scores is best else ""
        mark = ", ".join(filter(None, (mark, "simplest as good" if scores is simplest[2] else "")))
        value, error = (score_text(scores.measure, x) for x in (scores.value, honest.error(_name(*result))))
        also = [score_text(name, scores.measures.get(name, math.nan)) for name in others]
        size = f"{scores.leaves:.1f}", f"{scores.depth:.1f}"
        p = "" if scores is best else figure(honest.p_value(_name(*result), first))
        rows.append((algorithm, pruning, value, f"± {error}", p, *also, *size, mark))
    alone = "majority class" if target.classes is not None else "mean"
    rows.append((alone, "", score_text(best.measure, best.baseline), "", "", *("" for _ in others), "1.0", "0.0", ""))
    head = ("algorithm", "pruning", best.measure, "", "p", *others, "leaves", "depth", "")
    table(head, rows, right=tuple(range(2, len(head) - 1)), bold=0)
    note("simplest as good: fewest leaves within one standard error of the best")
    note("errors and p (of the difference from the best): corrected for shared training rows (Nadeau and Bengio 2003)")


def _print_best_classes(best: Result, table_of: LearningTable, settings: dict[str, Any]) -> None:
    """Print how each class fares in the held-out rows of all folds, for the best line."""
    algorithm, pruning, scores = best
    if scores.classes:
        echo()
        echo(f"{algorithm}, {pruning}: held-out rows of all folds")
        weighted = any(settings[name] is not None for name in ("class_weight", "priors"))
        print_classes(table_of.schema.target, scores.classes, weighted)


def _print_refused(refused: list[Result], good: list[Result]) -> None:
    reasons: dict[str, list[str]] = {}
    for algorithm, pruning, scores in refused:
        reasons.setdefault(str(scores.refused), []).append(f"{algorithm} {pruning}")
    for reason, who in reasons.items():
        names = who[0].split()[0] if len({name.split()[0] for name in who}) == 1 and len(who) > 1 else ", ".join(who)
        note(f"not possible: {names}: {with_cli_options(reason)}")
    if not good and not refused:
        note("nothing to compare")


def _as_dict(
    algorithm: str, pruning: str, scores: Scores, honest: CrossValidation, classes: Sequence[Level]
) -> dict[str, Any]:
    result: dict[str, Any] = {"algorithm": algorithm, "pruning": pruning}
    if scores.refused is not None:
        return {**result, "refused": scores.refused}
    name = _name(algorithm, pruning, scores)
    result |= {
        "measure": scores.measure, "value": scores.value, "error": honest.error(name),
        "p": honest.p_value(name, next(iter(honest.scores))),
        "baseline": scores.baseline, "leaves": scores.leaves, "depth": scores.depth, "measures": dict(scores.measures),
    }  # fmt: skip
    if scores.classes:
        result["classes"] = [{"class": c} | dict(entry) for c, entry in zip(classes, scores.classes, strict=True)]
    return result
