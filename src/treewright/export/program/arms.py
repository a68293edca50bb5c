"""The conditions of a step, in any language that has them: which values lead to which child.

Conditions of one question exclude each other. `exclusive_arms` names each child once, so that what lies below it is
written once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treewright.data.schema import Level
from treewright.export.program.plan import AS_MISSING, Plan, PlanStep, Question

#: A condition and the child that it leads to.
Arm = tuple[str, int]


@dataclass(frozen=True)
class ConditionSyntax:
    """How a language writes conditions on input i.

    It is among levels, on one side of a break (sign, break, whether the break is closed), known, or missing.
    """

    among: Callable[[int, Sequence[Level]], str]
    beside: Callable[[int, str, float, bool], str]
    known: Callable[[int], str]
    missing: Callable[[int], str]
    both: str
    either: str


def known_arms(plan: Plan, words: ConditionSyntax, question: Question) -> list[Arm]:
    """Return conditions on a known value, each for one child (or -1, for numbers that no child holds)."""
    i, levels = question.input, plan.inputs[question.input].levels
    if levels is not None:
        held: dict[int, list[Level]] = {}
        for level, child in zip(levels, question.child_of_bin, strict=True):
            held.setdefault(child, []).append(level)
        return [(words.among(i, held[child]), child) for child in sorted(held) if child >= 0]
    below, above = ("<=", ">") if question.closed else ("<", ">=")
    arms = []
    for first, last, child in runs(question.child_of_bin):
        low = [words.beside(i, above, question.breaks[first - 1], question.closed)] if first > 0 else []
        high = [words.beside(i, below, question.breaks[last], question.closed)] if last < len(question.breaks) else []
        arms.append((words.both.join(low + high) or words.known(i), child))
    return arms


def decided_arms(plan: Plan, words: ConditionSyntax, question: Question, unseen: int) -> list[Arm]:
    """Return conditions under which a question has a value, in order: a level that no child holds comes last."""
    arms = [(condition, child) for condition, child in known_arms(plan, words, question) if child >= 0]
    if unseen != AS_MISSING and plan.inputs[question.input].levels is not None:
        arms.append((words.known(question.input), unseen))
    return arms


def exclusive_arms(plan: Plan, words: ConditionSyntax, step: PlanStep) -> tuple[list[Arm], int | None] | None:
    """Arms to be tried in order and the child of all other rows (None: that of `missing`).

    There are none (None) for a step with surrogates, or where one child needs several conditions.
    """
    question, unseen, missing = step.questions[0], step.unseen, step.missing
    known = known_arms(plan, words, question)
    children = [child for _, child in known]
    if len(step.questions) > 1 or len(set(children)) < len(children) or -1 in children:
        return None
    if plan.inputs[question.input].levels is None or unseen in (AS_MISSING, missing):
        arms = [(condition, child) for condition, child in known if child != missing]
        return arms, missing if missing >= 0 else None
    arms = [(condition, child) for condition, child in known if child not in (unseen, missing)]
    if missing < 0:
        return [*arms, (words.known(question.input), unseen)], None
    held = [condition for condition, child in known if child == missing]
    return [*arms, (words.either.join([words.missing(question.input), *held]), missing)], unseen


def runs(child_of_bin: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return neighbouring bins of one child as (first, last, child)."""
    found: list[tuple[int, int, int]] = []
    for i, child in enumerate(child_of_bin):
        if found and found[-1][2] == child:
            found[-1] = (found[-1][0], i, child)
        else:
            found.append((i, i, child))
    return found
