"""The tree as a program needs it: the steps that every language writes down in its own words.

A plan holds what routing (docs/boundary.md) needs and nothing more: rivals, statistics and columns that no split
uses are gone, inputs are numbered anew. Steps are in depth-first order, a node's id is its place. A plan that exists
can be followed without chance: a tree that draws children at random is refused here for all languages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from treewright.data.schema import ColumnSpec, Level, TargetSpec
from treewright.errors import ExportError
from treewright.recipes.missing import RefuseMissing
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.models import LinearModel
from treewright.tree.shape import columns_used, end_models
from treewright.tree.tree import Tree, node_classes
from treewright.tree.validation import AS_MISSING, BOTH_BINS, FRACTIONAL, RANDOM, STOP_HERE

__all__ = ["AS_MISSING", "BOTH_BINS", "FRACTIONAL", "STOP_HERE", "Plan", "PlanStep", "Question", "plan_of"]


@dataclass(frozen=True)
class Question:
    """One split or surrogate: the bins of an input and the child of each.

    A number's bin is the count of breaks below it (`closed`: breaks less than it, else not more than it); a level's bin
    is its place among the levels. Child -1: no child holds this bin. `band`: the ends between which a row follows both
    bins' children, of a soft threshold.
    """

    input: int
    closed: bool
    breaks: tuple[float, ...]
    child_of_bin: tuple[int, ...]
    band: tuple[float, float] | None = None


@dataclass(frozen=True)
class PlanStep:
    """A node. `questions` are its split and then its surrogates, in order; a leaf has none.

    `missing` is a child, `FRACTIONAL` or `STOP_HERE`; `unseen` a child or `AS_MISSING`. `prediction` is the
    index of the class that this node predicts by itself. `model` predicts instead of `value`; the columns of its terms
    are places among the inputs.
    """

    questions: tuple[Question, ...]
    children: tuple[int, ...]
    share: tuple[float, ...]
    missing: int
    unseen: int
    value: tuple[float, ...]
    prediction: int
    model: LinearModel | None = None

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @property
    def band(self) -> tuple[float, float] | None:
        """The band of a soft threshold."""
        return self.questions[0].band if self.questions else None

    @property
    def is_end(self) -> bool:
        """Whether a row may end here: at every leaf, and at nodes that predict when no value decides."""
        return not self.children or self.missing == STOP_HERE


@dataclass(frozen=True)
class Plan:
    """All steps, and what goes in and out.

    `required`: inputs without which `predict` refuses a row. `strict`: whether it refuses a level it does not know.
    `limits`: of a calibrated tree, the limit of each node (`Calibration.score`).
    """

    inputs: tuple[ColumnSpec, ...]
    target: TargetSpec
    steps: tuple[PlanStep, ...]
    required: tuple[int, ...]
    strict: bool
    limits: tuple[float, ...] | None = None

    @property
    def n_values(self) -> int:
        """Numbers per prediction: one per class, or one."""
        return len(self.target.classes or (0,))

    @cached_property
    def models(self) -> tuple[LinearModel, ...]:
        """The linear models of the steps where rows may end, in order; empty where these predict constants."""
        return tuple(step.model for step in self.steps if step.is_end and step.model is not None)

    @cached_property
    def spreads(self) -> bool:
        """Whether a row may go down several branches."""
        return self.soft or any(step.missing == FRACTIONAL for step in self.steps if step.children)

    @cached_property
    def soft(self) -> bool:
        """Whether a threshold has a band."""
        return any(step.band is not None for step in self.steps)

    @cached_property
    def most_pending(self) -> int:
        """The most branches that may wait while another is followed, and one."""
        waiting = [1] * len(self.steps)
        for i, step in enumerate(self.steps):
            more = sum(share > 0 for share in step.share) - 1 if step.missing == FRACTIONAL else 0
            more = max(more, int(step.band is not None))
            for child in step.children:
                waiting[child] = waiting[i] + more
        return max(waiting)

    @cached_property
    def depth(self) -> int:
        depth = [0] * len(self.steps)
        for i, step in enumerate(self.steps):
            for child in step.children:
                depth[child] = depth[i] + 1
        return max(depth)


def plan_of(given: TreeLike) -> Plan:
    """Return the plan of a tree; worked out once."""
    tree = as_tree(given)
    return tree.keep("plan", lambda: _plan(tree))


def _plan(tree: Tree) -> Plan:
    arrays, columns = tree.arrays, tree.schema.columns
    inner = np.flatnonzero(arrays["stop"] == 0)
    refuses = isinstance(tree.recipe.missing, RefuseMissing)
    own = arrays["split_start"][inner]
    _refuse_chance(tree, own)
    used = columns_used(tree)
    place = {column: i for i, column in enumerate(used)}
    return Plan(
        inputs=tuple(columns[i] for i in used),
        target=tree.schema.target,
        steps=_steps(tree, place),
        required=tuple(sorted({place[int(arrays["column"][s])] for s in own})) if refuses else (),
        strict=tree.recipe.unseen == "error",
        limits=None if tree.calibration is None else tree.calibration.score,
    )


def _refuse_chance(tree: Tree, own: np.ndarray) -> None:
    drawn = own[tree.arrays["missing"][own] == RANDOM]
    if len(drawn):
        name = tree.schema.columns[int(tree.arrays["column"][drawn[0]])].name
        raise ExportError(
            f"where {name!r} is missing this tree draws a child at random, by a hash of the whole row, which no export "
            "can repeat; learn with another missing policy, such as MajorityChild()"
        )


def _steps(tree: Tree, place: dict[int, int]) -> tuple[PlanStep, ...]:
    names = ("column", "closed", "missing", "unseen", "children", "n_surrogates", "breaks", "child_of_bin", "share")
    starts = ("child_start", "split_start", "break_start", "bin_start", "share_start")
    a = {name: tree.arrays[name].tolist() for name in (*names, *starts)}  # plain numbers are faster one by one

    def question(s: int) -> Question:
        breaks = a["breaks"][a["break_start"][s] : a["break_start"][s + 1]]
        bins = a["child_of_bin"][a["bin_start"][s] : a["bin_start"][s + 1]]
        return Question(place[a["column"][s]], bool(a["closed"][s]), tuple(breaks), tuple(bins))

    values = tree.arrays["value"].tolist()
    classes = tree.schema.target.classes is not None
    predictions = node_classes(tree).tolist() if classes else [0] * len(values)
    models = {node: _renumbered(model, place) for node, model in end_models(tree).items()}
    steps = []
    for i, (value, prediction) in enumerate(zip(values, predictions, strict=True)):
        children = tuple(a["children"][a["child_start"][i] : a["child_start"][i + 1]])
        if not children:
            steps.append(PlanStep((), (), (), STOP_HERE, AS_MISSING, tuple(value), prediction, models.get(i)))
            continue
        first = a["split_start"][i]
        questions = tuple(question(s) for s in range(first, first + 1 + a["n_surrogates"][i]))
        share = tuple(a["share"][a["share_start"][first] : a["share_start"][first + 1]])
        band = None if tree.soft is None else tree.soft.band(i)
        questions = (replace(questions[0], band=band), *questions[1:])
        goes = (a["missing"][first], a["unseen"][first])
        steps.append(PlanStep(questions, children, share, *goes, tuple(value), prediction, models.get(i)))
    return tuple(steps)


def _renumbered(model: LinearModel, place: dict[int, int]) -> LinearModel:
    return replace(model, terms=tuple(term._replace(column=place[term.column]) for term in model.terms))


def refuse_soft(plan: Plan, language: str) -> None:
    """Raise for soft thresholds, for formats in which a row follows one branch."""
    if plan.soft:
        soft = next(step.questions[0].input for step in plan.steps if step.band is not None)
        raise ExportError(
            f"this tree has soft thresholds (on {plan.inputs[soft].name!r}, for one), where a row follows both "
            f"branches, which {language} cannot express; export the tree as it was before soften, or choose "
            "sql, c, javascript, rust or python"
        )


def level_type(levels: tuple[Level, ...]) -> str:
    """Return the type of the levels: "text", "truth", "whole", "number", or "mixed" for text and numbers."""
    if all(isinstance(level, str) for level in levels):
        return "text"
    if any(isinstance(level, str) for level in levels):
        return "mixed"
    if all(isinstance(level, bool) for level in levels):
        return "truth"
    return "number" if any(isinstance(level, float) for level in levels) else "whole"


def refuse_mixed(levels: tuple[Level, ...], whose: str, language: str) -> None:
    """Raise for levels of mixed types, for languages where one variable has one type."""
    if level_type(levels) == "mixed":
        text = next(level for level in levels if isinstance(level, str))
        other = next(level for level in levels if not isinstance(level, str))
        raise ExportError(
            f"{whose} has both text ({text!r}) and numbers ({other!r}), which {language} cannot hold in one place; "
            "learn from a table where all are text"
        )
