"""Every column's best split, ranked.

Every column appears; the splits and their order are the engine's (`search`), so the first is what it would choose; a
column that cannot split has a reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

from treewright.data.grid import Grid, Results
from treewright.data.kinds import KindChoice
from treewright.data.schema import Level, Task
from treewright.errors import DataError, RecipeError
from treewright.growing.checks import check_recipe
from treewright.inspection.derivation.best_splits import BestSplits, best_splits
from treewright.inspection.derivation.criterion_names import criterion_of, measure_of, shown_name
from treewright.inspection.derivation.node_rows import Entries, at_node, of_table
from treewright.inspection.derivation.split_counts import BranchCounts, Division, divided, scores_missing
from treewright.inspection.ranking_text import ranking_grid, rows_text
from treewright.recipes.branching import EachValue
from treewright.recipes.criterion import (
    CRITERION_NAMES,
    ChiSquare,
    Criterion,
    FTest,
    GainRatio,
    InformationGain,
    Variance,
)
from treewright.recipes.missing import Ignore
from treewright.recipes.named import named_recipe
from treewright.recipes.numeric import Threshold
from treewright.recipes.recipe import Recipe
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.split import Split
from treewright.tree.text import name_text

ONE_BRANCH_PER_LEVEL = Recipe(
    name="One branch per level",
    branching=EachValue(),
    criterion=InformationGain(),
    regression=Variance(),
    missing=Ignore(),
)

#: Longer lists of levels are cut in the words of a branch; the split has them all.
_MOST_LEVELS = 4


@dataclass(frozen=True)
class Candidate:
    """A column and its best split by `criterion`.

    `score` is what columns are compared by, `gain` the improvement; both are None, with a `reason`, where the
    column cannot split. `children` count the rows that were scored; `missing` rows lacked a value and were not.
    `scores`: the column's best score by each criterion requested. `chosen`: the engine would choose this.
    """

    column: str
    criterion: str
    score: float | None
    gain: float | None
    split: Split | None
    children: tuple[BranchCounts, ...]
    missing: int = 0
    missing_weight: float = 0.0
    reason: str | None = None
    chosen: bool = False
    scores: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Ranking(Results, Sequence[Candidate]):
    """Candidates, best first by the first of `criteria`; `by(name)` ranks them by another.

    `stop`: why the engine would not split here, None if it would.
    """

    candidates: tuple[Candidate, ...]
    criteria: tuple[str, ...]
    heading: str
    classes: tuple[Level, ...] | None
    stop: str | None = None
    others: tuple[Ranking, ...] = ()

    @overload
    def __getitem__(self, place: int) -> Candidate: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[Candidate, ...]: ...
    def __getitem__(self, place: int | slice) -> Candidate | tuple[Candidate, ...]:
        return self.candidates[place]

    def __len__(self) -> int:
        return len(self.candidates)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(candidate.column for candidate in self.candidates)

    def of(self, column: str) -> Candidate:
        """Return the candidate of a column."""
        for candidate in self.candidates:
            if candidate.column == column:
                return candidate
        raise KeyError(f"there is no column {column!r}; the columns are {', '.join(map(repr, self.columns))}")

    def by(self, criterion: str) -> Ranking:
        """Return the ranking by one of the criteria requested."""
        for ranking in (self, *self.others):
            if ranking.criteria[0] == criterion:
                return ranking
        raise KeyError(f"{criterion!r} was not requested; this ranks by {', '.join(map(repr, self.criteria))}")

    def __str__(self) -> str:
        return self.grid().text(indent="")

    def grid(self) -> Grid:
        """Return the table as it is read."""
        return ranking_grid(self.heading, self.criteria, self.candidates, self.classes, self.stop)

    def _columns(self) -> dict[str, list[Any]]:
        splits = [one.split for one in self.candidates]
        return {
            "column": list(self.columns),
            **{name: [one.scores[name] for one in self.candidates] for name in self.criteria},
            "gain": [one.gain for one in self.candidates],
            "chosen": [one.chosen for one in self.candidates],
            "branches": [None if split is None else " | ".join(split.conditions) for split in splits],
            "threshold": [None if split is None else split.threshold for split in splits],
            "missing": [one.missing for one in self.candidates],
            "reason": [one.reason for one in self.candidates],
        }


def rank_splits(
    data: object,
    target: object = None,
    criterion: str | Criterion | Sequence[str | Criterion] | None = None,
    *,
    recipe: Recipe | str | None = None,
    tree: TreeLike | None = None,
    node: int = 0,
    weight: object = None,
    kinds: Mapping[str, KindChoice] | None = None,
    task: Task | None = None,
) -> Ranking:
    """Return the best split of every column, ranked by one criterion or several side by side.

    Parameters
    ----------
    data : table
        The rows; with `tree`, those it was learned from.
    target : str or array, optional
        The column to predict.
    criterion : str, Criterion or sequence of these, optional
        The criteria; the first decides the order. By default the recipe's own.
    recipe : Recipe or str, optional
        How columns branch. By default one branch per level, thresholds for numbers, rows with a missing value left out,
        information gain or variance.
    tree : Tree or fitted estimator, optional
        Rank the rows that reach a node of this tree, by its recipe.
    node : int, default=0
        The node of `tree`.
    weight : str or array, optional
        The weights of the rows.
    kinds : dict, optional
        Kinds of columns, as for `learn`.
    task : {"classification", "regression"}, optional
        The task, where the target leaves it open.

    Returns
    -------
    Ranking
        One `Candidate` per column, best first.

    Examples
    --------
    >>> import treewright as tw
    >>> sky, wind = ["sun", "sun", "rain", "rain"], ["no", "yes", "no", "yes"]
    >>> days = {"sky": sky, "wind": wind, "day": [1, 2, 3, 4], "play": ["yes", "yes", "yes", "no"]}
    >>> print(tw.rank_splits(days, "play", ["information_gain", "gini"]))
    One branch per level on play: 4 rows, no 1, yes 3
       column  information_gain    gini  branches: no/yes
    1  day               0.8113  0.3750  <= 3.5: 0/3 | > 3.5: 1/0
    2  sky               0.3113  0.1250  rain: 1/1 | sun: 0/2
    3  wind              0.3113  0.1250  no: 0/2 | yes: 1/1
    """
    if tree is not None:
        tree = as_tree(tree)
        tree[node]  # a node that is not there is an error now, not after reading the table
        recipe = tree.recipe
        if kinds is not None or task is not None:
            raise DataError("kinds and task are what the tree already knows; leave them out, or leave out the tree")
        entries = at_node(tree, node, data, target, weight)
    else:
        recipe = ONE_BRANCH_PER_LEVEL if recipe is None else named_recipe(recipe)
        entries = of_table(data, target, recipe, weight, kinds, task)
    wanted = _criteria(criterion, recipe, entries)
    names = tuple(shown_name(one) for one in wanted)
    found = [best_splits(entries, _with_criterion(recipe, one)) for one in wanted]
    if tree is not None:
        own = criterion_of(recipe, tree.schema.target)
        found = [_as_grown(f, tree[node].split) if c == own else f for f, c in zip(found, wanted, strict=True)]
    place = f", node {node}," if tree is not None else ""
    heading = f"{name_text(recipe.name)}{place} on {rows_text(entries)}"
    rankings = [_ranking(entries, recipe, wanted, names, found, first, heading) for first in range(len(wanted))]
    return replace(rankings[0], others=tuple(rankings[1:]))


def _criteria(given: Any, recipe: Recipe, entries: Entries) -> tuple[Criterion, ...]:
    """Return the criteria requested, known and fit for the target."""
    target = entries.schema.target
    if given is None:
        check_recipe(recipe, entries.schema)
        return (criterion_of(recipe, target),)
    used = [given] if isinstance(given, str) or not isinstance(given, Sequence) else list(given)
    if not used:
        raise RecipeError("criterion must name at least one criterion, or be None for the recipe's own")
    chosen = []
    for one in used:
        if isinstance(one, str) and one not in CRITERION_NAMES:
            known = [name for name, c in CRITERION_NAMES.items() if c.task == target.task]
            raise RecipeError(f"criterion={one!r} is not known; for {target.task} choose from {', '.join(known)}")
        own = recipe.regression if target.task == "regression" else recipe.criterion
        resolved = CRITERION_NAMES[one] if isinstance(one, str) else one
        if isinstance(one, str) and own is not None and type(own) is type(resolved):
            resolved = own  # the recipe's own settings of it
        if not isinstance(resolved, Criterion):
            raise RecipeError(f"criterion must be a name or a criterion such as Gini(), not {one!r}")
        if resolved.task != target.task:
            raise RecipeError(
                f"{shown_name(resolved)} is a criterion for {resolved.task}, but the target {target.name!r} is for "
                f"{target.task}; choose another criterion, or give task={resolved.task!r}"
            )
        chosen.append(resolved)
    names = [shown_name(one) for one in chosen]
    if len(set(names)) < len(names):
        raise RecipeError(f"criterion names the same criterion twice: {', '.join(names)}")
    return tuple(chosen)


def _with_criterion(recipe: Recipe, criterion: Criterion) -> Recipe:
    """Return the recipe with another criterion; C4.5's rules in bits leave with bits."""
    numeric = recipe.numeric
    if isinstance(numeric, Threshold) and not isinstance(criterion, (InformationGain, GainRatio)):
        numeric = replace(numeric, mdl_penalty=False, min_tenth_per_class=False)
    role = "regression" if criterion.task == "regression" else "criterion"
    other = "criterion" if role == "regression" else "regression"
    changes: dict[str, Any] = {role: criterion, other: None}
    return replace(recipe, numeric=numeric, simplify=None, pruning=None, **changes)


def _as_grown(found: BestSplits, chosen: Split | None) -> BestSplits:
    """Put the tree's own choice first: C4.5's average depends on the size of the whole table, unknown here."""
    if chosen is None or not found.splits or found.splits[0].column_index == chosen.column_index:
        return found
    first = [split for split in found.splits if split.column_index == chosen.column_index]
    rest = [split for split in found.splits if split.column_index != chosen.column_index]
    rest.sort(key=lambda split: -split.score)  # stable: equal ones stay in the engine's order
    return replace(found, splits=(*first, *rest), chosen=bool(first))


def _ranking(
    entries: Entries,
    recipe: Recipe,
    criteria: Sequence[Criterion],
    names: tuple[str, ...],
    found: Sequence[BestSplits],
    first: int,
    heading: str,
) -> Ranking:
    """Ranked by the criterion at place `first`; the others keep their order after it."""
    order = [first, *(i for i in range(len(names)) if i != first)]
    own, criterion = found[first], criteria[first]
    scores = [{split.column_index: split.score for split in each.splits} for each in found]
    splits = {split.column_index: split for split in own.splits}
    candidates = []
    for column in (*splits, *own.reasons):
        scored = {names[i]: scores[i].get(column) for i in order}
        absent = entries.missing(column) & (entries.weight > 0)
        split = splits.get(column)
        if split is None:
            n_missing, weight = int(absent.sum()), float(entries.weight[absent].sum())
            name, reason = entries.schema.columns[column].name, own.reasons[column]
            made = Candidate(name, names[first], None, None, None, (), n_missing, weight, reason, scores=scored)
        else:
            counted = divided(entries, split, recipe.missing, measure_of(criterion).name)
            best = own.splits[0]
            beaten = own.chosen and split is not best and split.score > best.score + recipe.tie_tolerance
            made = Candidate(
                split.column,
                names[first],
                split.score,
                split.gain,
                split,
                _labelled(counted, split, scores_missing(recipe.missing) and bool(absent.any())),
                counted.missing_rows,
                counted.missing,
                _why_beaten(criterion) if beaten else None,
                own.chosen and split is best,
                scored,
            )
        candidates.append(made)
    return Ranking(tuple(candidates), tuple(names[i] for i in order), heading, entries.schema.target.classes, own.stop)


def _labelled(counted: Division, split: Split, with_missing: bool) -> tuple[BranchCounts, ...]:
    """Return the branches of a split with short labels."""
    words = [split.words(most=_MOST_LEVELS, with_missing=with_missing, named=named) for named in (True, False)]
    pairs = zip(counted.branches(words[0]), words[1], strict=True)
    return tuple(replace(branch, label=label) for branch, label in pairs)


def _why_beaten(criterion: Criterion) -> str:
    """Return why a candidate with a larger score is not the choice."""
    if isinstance(criterion, GainRatio) and criterion.average_rule:
        return "its gain is below the average of all columns, so its ratio does not count"
    if isinstance(criterion, (ChiSquare, FTest)):
        return "branches of the choice were enlarged after it had won"
    return "the engine compares with a margin"
