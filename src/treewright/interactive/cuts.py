"""A split tried out and not made: what its children would hold, its score, and the curve of all cuts."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from treewright.criteria.statistics import score_of
from treewright.data.arrays import Array, BoolArray, IndexArray
from treewright.data.schema import ColumnSpec
from treewright.editing.checks import bins_of, closed_below
from treewright.editing.edits import Split
from treewright.errors import DataError
from treewright.inspection.derivation.criterion_names import criterion_of, measure_of, shown_name
from treewright.inspection.derivation.node_rows import Entries
from treewright.inspection.derivation.split_counts import Division, divided_by, scores_missing, threshold_division
from treewright.inspection.derivation.threshold_curve import Curve, curve_of, cut_score, known_share
from treewright.interactive.plain import branch_dict, finite
from treewright.recipes.criterion import Criterion, Custom
from treewright.recipes.recipe import Recipe
from treewright.tree.split import child_of_values
from treewright.tree.text import break_text, level_text
from treewright.tree.tree import Tree

#: Bars of the picture below a curve.
_BARS = 48


@dataclass(frozen=True, eq=False)
class Trial:
    """A split of a node's rows as the criterion counts them."""

    division: Division
    score: float | None
    missing: int | None  # the child that rows without a value are counted in


def children_of(edit: Split, spec: ColumnSpec, values: Array, recipe: Recipe) -> tuple[IndexArray, int]:
    """Return the child of each value, -1 where it is missing, and the number of children."""
    child_of_bin, n = bins_of(edit, spec)
    breaks = None if spec.has_levels else edit.breaks
    return child_of_values(values, breaks, closed_below(recipe), child_of_bin), n


def tried(entries: Entries, edit: Split, recipe: Recipe) -> Trial:
    """Return the split of a node's rows; rows without a value are counted as the policy counts them."""
    column = entries.schema.names.index(edit.column)
    spec = entries.schema.columns[column]
    criterion = criterion_of(recipe, entries.schema.target)
    name = measure_of(criterion).name
    given = edit.missing if isinstance(edit.missing, int) else None
    if len(edit.breaks) == 1 and not spec.has_levels:
        quick = threshold_division(entries, column, edit.breaks[0], closed_below(recipe), recipe.missing)
        if quick is not None:
            return Trial(quick, _score(criterion, quick), given)
    child, n = children_of(edit, spec, entries.encoded.columns[column], recipe)
    if not scores_missing(recipe.missing) or not ((child < 0) & (entries.weight > 0)).any():
        division = divided_by(entries, child, n, name)
        return Trial(division, _score(criterion, division), given)
    ways = []
    for where in (given,) if given is not None else range(n):
        division = divided_by(entries, np.where(child < 0, where, child), n, name)
        ways.append((_score(criterion, division), -where, division))
    best = max(ways, key=lambda way: (-np.inf if way[0] is None else way[0], way[1]))
    return Trial(best[2], best[0], -best[1])


def _score(criterion: Criterion, division: Division) -> float | None:
    """Return the score by which cuts of one column are compared; None for a criterion of the user's own."""
    if isinstance(criterion, Custom) or (division.weights <= 0).any():
        return None
    measure = measure_of(criterion)
    share = 1.0 if measure.name in ("chi_square", "f") else known_share(division.missing, division.weight)
    return share * cut_score(criterion, measure, division.parent, np.ascontiguousarray(division.children))


def preview(entries: Entries, edit: Split, recipe: Recipe) -> tuple[Trial, dict[str, Any]]:
    """Return a split tried out, also as plain values."""
    trial = tried(entries, edit, recipe)
    criterion = criterion_of(recipe, entries.schema.target)
    spec = entries.schema.columns[entries.schema.names.index(edit.column)]
    found: dict[str, Any] = {
        "children": [branch_dict(one) for one in trial.division.branches(_words(edit, spec, recipe))],
        "missing": trial.division.missing_rows,
        "score": finite(trial.score),
        "measure": _measure_name(criterion),
    }
    if measure_of(criterion).name == "gain_ratio" and trial.score is not None:
        division = trial.division
        share = known_share(division.missing, division.weight)
        found["ratio"] = finite(
            share * score_of("gain_ratio", division.parent, np.ascontiguousarray(division.children))
        )
    empty = [i for i, one in enumerate(found["children"]) if not one["rows"]]
    if empty:
        found["impossible"] = f"no row would come to {found['children'][empty[0]]['words']}; move the cut"
    return trial, found


def _measure_name(criterion: Criterion) -> str:
    measure = measure_of(criterion)
    return "information gain" if measure.name == "gain_ratio" else measure.score or shown_name(criterion)


def _words(edit: Split, spec: ColumnSpec, recipe: Recipe) -> list[str]:
    if edit.groups is not None:
        named = [", ".join(level_text(level) for level in group) for group in edit.groups]
        return named if len(named) > 1 else [*named, "any other level"]
    closed = closed_below(recipe)
    below, above = ("<=", ">") if closed else ("<", ">=")
    texts = [break_text(spec, x, closed) for x in edit.breaks]
    middle = [f"{above} {a} and {below} {b}" for a, b in itertools.pairwise(texts)]
    return [f"{below} {texts[0]}", *middle, f"{above} {texts[-1]}"]


def curve_dict(tree: Tree, entries: Entries, column: int, recipe: Recipe, chosen: float | None) -> dict[str, Any]:
    """Return the score of every cut of a numeric column at a node, and the distribution of its values."""
    criterion = criterion_of(recipe, tree.schema.target)
    spec = tree.schema.columns[column]
    if spec.has_levels:
        raise DataError(f"column {spec.name!r} has levels, which are put into groups; only numbers have cuts")
    values, known = entries.encoded.columns[column], entries.weight > 0
    known = known & ~np.isnan(values)
    if not known.any():
        raise DataError(f"column {spec.name!r} has no value in this node; choose another column")
    low, high = float(values[known].min()), float(values[known].max())
    curve = curve_of(entries, column, recipe, criterion, chosen)
    return {
        "column": spec.name,
        "kind": spec.kind,
        "low": low,
        "high": high,
        "measure": _measure_name(criterion),
        "bars": _bars(entries, values, known, low, high),
        **_points(curve),
    }


def _points(curve: Curve | None) -> dict[str, Any]:
    if curve is None:
        return {"cuts": [], "scores": [], "allowed": [], "best": None, "thinned": False}
    scores = [finite(x) for x in curve.scores.tolist()]
    found = {"cuts": curve.cuts.tolist(), "scores": scores, "allowed": curve.allowed.tolist()}
    return found | {"best": curve.best, "thinned": curve.thinned}


def _bars(entries: Entries, values: Array, known: BoolArray, low: float, high: float) -> dict[str, Any]:
    """Return counts per bar: of each class, or the rows and their mean."""
    edges = np.linspace(low, high if high > low else low + 1.0, _BARS + 1)
    place = np.clip(((values[known] - low) / (edges[-1] - low) * _BARS).astype(np.intp), 0, _BARS - 1)
    weight = entries.weight[known]
    assert entries.encoded.target is not None
    target = entries.encoded.target[known]
    classes = entries.schema.target.classes
    if classes is not None:
        counts = np.bincount(place * len(classes) + target, weight, _BARS * len(classes))
        return {"edges": edges.tolist(), "counts": counts.reshape(_BARS, len(classes)).tolist()}
    total = np.bincount(place, weight, _BARS)
    sums = np.bincount(place, weight * target, _BARS)
    means = np.divide(sums, total, out=np.full(_BARS, np.nan), where=total > 0)
    return {"edges": edges.tolist(), "weight": total.tolist(), "mean": [finite(x) for x in means.tolist()]}
