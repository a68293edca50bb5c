"""`treewright compare`: all algorithms and all prunings on one table, cross-validated.

Comes in: DATA and --target. Goes out: one table, best first.
Always holds: all are tested on the same folds; what cannot be done with this table is said and not hidden.
"""

from __future__ import annotations

import math
from typing import Any

import click

from treewright.cli.console import note, progress, say, say_json, score_text, steps, table
from treewright.cli.learn import LearningTable, learning_options
from treewright.cli.reading import data_options, find, kinds_of, names_of, reading_of
from treewright.cli.recipes import ALGORITHMS, Name, algorithm_name, pruner_of, recipe_of
from treewright.cli.remedies import on_the_command_line
from treewright.cli.sections import Command
from treewright.errors import RecipeError
from treewright.recipes.missing import MISSING_NAMES
from treewright.recipes.pruners import PRUNING_NAMES, Pruner
from treewright.training.cross_validation import Scores, cross_validated, fold_masks, impossible
from treewright.tree.text import name_text

_FOUR = ("id3", "c4.5", "cart", "chaid")
_ALL_PRUNINGS = ("none", *(name.replace("_", "-") for name in PRUNING_NAMES))


@click.command(cls=Command, short_help="Cross-validate all algorithms and prunings.")
@click.argument("data")
@learning_options
@click.option("--algorithms", metavar="A,B", default=",".join(_FOUR), show_default=True, help="What to compare.")
@click.option("--prunings", metavar="A,B", default=",".join(_ALL_PRUNINGS), show_default=True, help="Cut back how.")
@click.option("--folds", type=click.IntRange(2), default=10, show_default=True, help="How many folds.")
@click.option("--missing-policy", type=Name(MISSING_NAMES), help="Where a row with a missing value goes.")
@click.option("--most", type=click.IntRange(1), help="Show only so many.")
@data_options
@click.option("--json", "as_json", is_flag=True, help="Tell the table as JSON.")
def compare(data: str, **settings: Any) -> None:
    """Cross-validate algorithms and prunings on DATA, all on the same folds."""
    kinds = kinds_of(settings["kind"])
    found = find(data, settings["target"], reading_of(settings), kinds, settings["weight"])
    table_of = LearningTable.of(found, kinds, settings)
    algorithms = [algorithm_name(name) for name in names_of(settings["algorithms"])]
    for name in algorithms:
        if name not in ALGORITHMS:
            raise click.UsageError(f"there is no algorithm {name!r}; choose from {', '.join(ALGORITHMS)}")
    prunings = {name: pruner_of(name) for name in names_of(settings["prunings"])}
    results = _compared(table_of, algorithms, prunings, settings)
    good = [result for result in results if result[2].refused is None]
    good.sort(key=lambda result: (-_merit(result[2]), result[2].leaves, result[0], result[1]))
    refused = [result for result in results if result[2].refused is not None]
    if settings["as_json"]:
        say_json({"folds": settings["folds"], "results": [_as_dict(*result) for result in (*good, *refused)]})
        return
    if good:
        _tell(good, settings["most"], found.frame.n_rows, table_of, settings["folds"])
    _tell_refused(refused, good)


def _compared(
    table_of: LearningTable, algorithms: list[str], prunings: dict[str, Pruner | None], settings: dict[str, Any]
) -> list[tuple[str, str, Scores]]:
    masks = fold_masks(table_of.rows, settings["folds"], settings["seed"])
    rows, schema = table_of.training(), table_of.schema
    results = []
    with progress("comparing", len(masks) * len(prunings) * len(algorithms)) as tell:
        step = steps(tell)
        for algorithm in algorithms:
            try:
                whole = float(rows.n_rows if rows.weight is None else rows.weight.sum())
                choices = {**settings, "algorithm": algorithm, "pruning": None}
                recipe = recipe_of(
                    choices, schema.target.task, rows.n_rows, len(schema.columns), whole, settings["seed"]
                )
                pruners = list(prunings.values())
                scores = cross_validated(rows, schema, recipe, pruners, masks, settings["threads"], step)
            except RecipeError as error:
                scores = [impossible(str(error))] * len(prunings)
            results += [(algorithm, name, score) for name, score in zip(prunings, scores, strict=True)]
    return results


def _merit(scores: Scores) -> float:
    return scores.value if scores.higher_is_better else -scores.value


def _tell(
    good: list[tuple[str, str, Scores]], most: int | None, n_rows: int, table_of: LearningTable, folds: int
) -> None:
    best = good[0][2]
    simplest = min(
        (result for result in good if _merit(result[2]) >= _merit(best) - best.error),
        key=lambda result: (result[2].leaves, -_merit(result[2])),
    )
    target = table_of.schema.target
    others = [name for name in best.measures if name != best.measure]
    say(f"{name_text(target.name)} from {n_rows:,} rows, {folds} folds, the same for all", bold=True)
    rows = []
    for algorithm, pruning, scores in good[:most]:
        mark = "best" if scores is best else ""
        mark = ", ".join(filter(None, (mark, "simplest as good" if scores is simplest[2] else "")))
        value, error = (score_text(scores.measure, x) for x in (scores.value, scores.error))
        also = [score_text(name, scores.measures.get(name, math.nan)) for name in others]
        size = f"{scores.leaves:.1f}", f"{scores.depth:.1f}"
        rows.append((algorithm, pruning, value, f"± {error}", *also, *size, mark))
    alone = "most frequent class" if target.classes is not None else "mean"
    rows.append((alone, "", score_text(best.measure, best.baseline), "", *("" for _ in others), "1.0", "0.0", ""))
    head = ("algorithm", "pruning", best.measure, "", *others, "leaves", "depth", "")
    table(head, rows, right=tuple(range(2, len(head) - 1)), bold=0)
    note("simplest as good: the fewest leaves within one standard error of the best")


def _tell_refused(refused: list[tuple[str, str, Scores]], good: list[tuple[str, str, Scores]]) -> None:
    reasons: dict[str, list[str]] = {}
    for algorithm, pruning, scores in refused:
        reasons.setdefault(str(scores.refused), []).append(f"{algorithm} {pruning}")
    for reason, who in reasons.items():
        names = who[0].split()[0] if len({name.split()[0] for name in who}) == 1 and len(who) > 1 else ", ".join(who)
        note(f"not possible: {names}: {on_the_command_line(reason)}")
    if not good and not refused:
        note("nothing to compare")


def _as_dict(algorithm: str, pruning: str, scores: Scores) -> dict[str, Any]:
    result = {"algorithm": algorithm, "pruning": pruning}
    if scores.refused is not None:
        return {**result, "refused": scores.refused}
    return {
        **result, "measure": scores.measure, "value": scores.value, "error": scores.error,
        "baseline": scores.baseline, "leaves": scores.leaves, "depth": scores.depth, "measures": dict(scores.measures),
    }  # fmt: skip
