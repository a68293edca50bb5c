"""Every column's best split, ranked.

Comes in: a table and a target, or a tree and one of its nodes with the rows it was learned from; one criterion or
several. Goes out: a `Ranking`, a sequence of `Candidate` values, best first, that prints as a table.
Always holds: every column appears; the splits and their order are the engine's (`search`), so the first is what it
would ask; a column that cannot split says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

from treewright.data.kinds import KindChoice
from treewright.data.schema import Level, Task
from treewright.errors import DataError, RecipeError
from treewright.growing.checks import check_recipe
from treewright.inspection.derivation.best_splits import Found, best_splits
from treewright.inspection.derivation.criterion_names import criterion_of, measure_of, shown_name
from treewright.inspection.derivation.node_rows import Entries, at_node, of_table
from treewright.inspection.derivation.split_counts import Branch, divided, scores_missing
from treewright.inspection.ranking_text import rows_text, table
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
from treewright.tree.text import name_text
from treewright.tree.tree import Split

BLACKBOARD = Recipe(
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

    `score` is what columns are compared by, `gain` the improvement; both are None, and `reason` says why, where the
    column cannot split. `children` count the rows that were scored; `missing` rows lacked a value and were not.
    `scores`: the column's best score by each criterion asked for. `chosen`: the engine would ask this.
    """

    column: str
    criterion: str
    score: float | None
    gain: float | None
    split: Split | None
    children: tuple[Branch, ...]
    missing: int = 0
    missing_weight: float = 0.0
    reason: str | None = None
    chosen: bool = False
    scores: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Ranking(Sequence[Candidate]):
    """Candidates, best first by the first of `criteria`; `by(name)` ranks them by another.

    `stop`: why the engine would ask nothing here, None if it would.
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
        """The candidate of a column."""
        for candidate in self.candidates:
            if candidate.column == column:
                return candidate
        raise KeyError(f"there is no column {column!r}; the columns are {', '.join(map(repr, self.columns))}")

    def by(self, criterion: str) -> Ranking:
        """The ranking by one of the criteria asked for."""
        for ranking in (self, *self.others):
            if ranking.criteria[0] == criterion:
                return ranking
        raise KeyError(f"{criterion!r} was not asked for; this ranks by {', '.join(map(repr, self.criteria))}")

    def __str__(self) -> str:
        return table(self.heading, self.criteria, self.candidates, self.classes, self.stop)


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
    """Every column's best split, ranked by a criterion, or by several side by side.

    Without a tree the rows are a whole table and `recipe` (or its name, "c45") says how columns branch; its criterion
    is used if none is given. Without a recipe it is done as on a blackboard: one branch per level, two sides of a limit
    for numbers, rows without an answer left out; by information gain, or variance for a numeric target. With a tree
    (`data` is then what it was learned from) the rows are those that reach `node`, weighed as they were, and the recipe
    is the tree's.

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
        recipe = BLACKBOARD if recipe is None else named_recipe(recipe)
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
    """The criteria asked for, known and fit for the target."""
    target = entries.schema.target
    if given is None:
        check_recipe(recipe, entries.schema)
        return (criterion_of(recipe, target),)
    asked = [given] if isinstance(given, str) or not isinstance(given, Sequence) else list(given)
    if not asked:
        raise RecipeError("criterion must name at least one criterion, or be None for the recipe's own")
    chosen = []
    for one in asked:
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
    """The recipe with another criterion; C4.5's rules in bits leave with bits."""
    numeric = recipe.numeric
    if isinstance(numeric, Threshold) and not isinstance(criterion, (InformationGain, GainRatio)):
        numeric = replace(numeric, mdl_penalty=False, min_tenth_per_class=False)
    role = "regression" if criterion.task == "regression" else "criterion"
    other = "criterion" if role == "regression" else "regression"
    return replace(recipe, numeric=numeric, simplify=None, pruning=None, **{role: criterion, other: None})  # type: ignore[arg-type]


def _as_grown(found: Found, chosen: Split | None) -> Found:
    """The tree's own choice first: C4.5's average leaves out columns by the size of the whole table, unknown here."""
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
    found: Sequence[Found],
    first: int,
    heading: str,
) -> Ranking:
    """Ranked by the criterion at place `first`; the others keep their order after it."""
    order = [first, *(i for i in range(len(names)) if i != first)]
    own = found[first]
    scores = [{split.column_index: split.score for split in each.splits} for each in found]
    name = measure_of(criteria[first]).name
    candidates = []

    def side_by_side(column: int) -> dict[str, float | None]:
        return {names[i]: scores[i].get(column) for i in order}

    for place, split in enumerate(own.splits):
        counted = divided(entries, split, recipe.missing, name)
        placed = scores_missing(recipe.missing) and bool(
            (entries.missing(split.column_index) & (entries.weight > 0)).any()
        )
        beaten = place > 0 and own.chosen and split.score > own.splits[0].score + recipe.tie_tolerance
        candidates.append(
            Candidate(
                split.column,
                names[first],
                split.score,
                split.gain,
                split,
                counted.branches(split.words(most=_MOST_LEVELS, with_missing=placed)),
                counted.missing_rows,
                counted.missing,
                _why_beaten(criteria[first]) if beaten else None,
                place == 0 and own.chosen,
                side_by_side(split.column_index),
            )
        )
    for column, reason in own.reasons.items():
        absent = entries.missing(column) & (entries.weight > 0)
        candidates.append(
            Candidate(
                entries.schema.columns[column].name,
                names[first],
                None,
                None,
                None,
                (),
                int(absent.sum()),
                float(entries.weight[absent].sum()),
                reason,
                False,
                side_by_side(column),
            )
        )
    return Ranking(tuple(candidates), tuple(names[i] for i in order), heading, entries.schema.target.classes, own.stop)


def _why_beaten(criterion: Criterion) -> str:
    """Why a candidate with a larger score is not the choice."""
    if isinstance(criterion, GainRatio) and criterion.average_rule:
        return "its gain is below the average of all columns, so its ratio does not count"
    if isinstance(criterion, (ChiSquare, FTest)):
        return "branches of the choice were enlarged after it had won"
    return "the engine compares with a margin"
