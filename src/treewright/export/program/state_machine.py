"""A plan as a machine of single looks: in each state one value of the row decides which state comes next.

Following the states does what following the plan does: surrogates, several breaks and levels that no child holds have
become states and arcs of their own, so there is one rule for all. States never lead back. Ends are numbered in the
order of the plan's steps, which is the order in which several paths are added up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from treewright.export.program.plan import AS_MISSING, FRACTIONAL, STOP_HERE, Plan, PlanStep, Question


@dataclass(frozen=True)
class Look:
    """A state in which one value decides.

    A number goes to `arcs[0]`, above `above` to `arcs[1]`, missing to `arcs[2]`; a level to the arc of its index,
    missing to the one after all levels, unseen to the last.
    """

    input: int
    above: float | None
    arcs: tuple[int, ...]


@dataclass(frozen=True)
class End:
    """The row is predicted by a step of the plan."""

    step: int


@dataclass(frozen=True)
class Fork:
    """The row goes on in several states, by their shares."""

    arcs: tuple[int, ...]
    share: tuple[float, ...]


State = Look | End | Fork


@dataclass(frozen=True)
class Machine:
    """All states; the first state is where a row begins."""

    states: tuple[State, ...]
    first: int

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """The states that predict, in the order of the plan's steps."""
        ends = [(state.step, i) for i, state in enumerate(self.states) if isinstance(state, End)]
        return tuple(i for _, i in sorted(ends))

    @property
    def forks(self) -> bool:
        return any(isinstance(state, Fork) for state in self.states)

    @cached_property
    def longest(self) -> int:
        """The most looks that a row takes."""
        looks = [0] * len(self.states)
        for i, state in enumerate(self.states):  # arcs lead to earlier states
            if not isinstance(state, End):
                looks[i] = max(looks[arc] for arc in state.arcs) + isinstance(state, Look)
        return looks[self.first]

    @property
    def is_tree(self) -> bool:
        """Whether no look is reached in two ways, so that the machine can be written as a tree of looks."""
        reached = [arc for state in self.states if isinstance(state, Look) for arc in set(state.arcs)]
        looks = [arc for arc in reached if isinstance(self.states[arc], Look)]
        return not self.forks and len(set(looks)) == len(looks)


def machine_of(plan: Plan) -> Machine:
    """Return the machine of a plan. Children are made before their parents, so arcs lead to earlier states."""
    states: list[State] = []
    entry = [-1] * len(plan.steps)

    def add(state: State) -> int:
        states.append(state)
        return len(states) - 1

    for i in reversed(range(len(plan.steps))):
        step = plan.steps[i]
        at = _missing_value(step, i, entry, add)
        for k in reversed(range(len(step.questions))):
            question = step.questions[k]
            children = [entry[child] for child in step.children]
            unseen = children[step.unseen] if k == 0 and step.unseen != AS_MISSING else at
            if plan.inputs[question.input].levels is not None:
                held = [children[child] if child >= 0 else unseen for child in question.child_of_bin]
                at = add(Look(question.input, None, (*held, at, unseen)))
            else:
                held = [children[child] if child >= 0 else at for child in question.child_of_bin]
                at = _halves(question, held, at, add)
        entry[i] = at
    return Machine(tuple(states), entry[0])


def _missing_value(step: PlanStep, i: int, entry: list[int], add: Callable[[State], int]) -> int:
    """Return the state where no question has a value."""
    if step.is_leaf or step.missing == STOP_HERE:
        return add(End(i))
    if step.missing == FRACTIONAL:
        taken = [(entry[child], share) for child, share in zip(step.children, step.share, strict=True) if share > 0]
        return add(Fork(tuple(arc for arc, _ in taken), tuple(share for _, share in taken)))
    return entry[step.children[step.missing]]


def _halves(question: Question, held: list[int], missing: int, add: Callable[[State], int]) -> int:
    """Add looks that find a number's bin by halving; only the first can meet a missing value."""
    # "Not above" stands for both tests: below t is not above the largest number below t.
    breaks = [at if question.closed else math.nextafter(at, -math.inf) for at in question.breaks]

    def between(first: int, last: int, missing: int | None) -> int:
        if len(set(held[first : last + 1])) == 1:
            same = held[first]
            return same if missing is None else add(Look(question.input, math.inf, (same, same, missing)))
        middle = (first + last) // 2
        low, high = between(first, middle, None), between(middle + 1, last, None)
        return add(Look(question.input, breaks[middle], (low, high, low if missing is None else missing)))

    return between(0, len(breaks), missing)
