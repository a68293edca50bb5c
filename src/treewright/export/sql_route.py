"""Routing as SQL expressions: where a row goes at one node, and down several levels at once.

Inputs have NULL for every missing value, NaN included, so that IS NULL means missing. An expression names each child
once, so that nesting never multiplies a subtree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treewright.data.schema import Level
from treewright.export.dialects import Dialect, break_token, level_token, number_token
from treewright.export.program.arms import Arm, ConditionSyntax, decided_arms, exclusive_arms, known_arms
from treewright.export.program.plan import AS_MISSING, BOTH_BINS, FRACTIONAL, Plan, PlanStep, Question

#: Writes the end of a path: of a node where the row stays, or of None where it goes down several branches.
End = Callable[[int | None], str]


@dataclass(frozen=True)
class RouteWriter:
    """Writes the questions of a plan; `names` are the inputs as this statement calls them."""

    dialect: Dialect
    plan: Plan
    names: tuple[str, ...]

    def nested(self, node: int, levels: int, end: End, frontier: list[int], indent: str = "") -> str:
        """Return the prediction below a node, `levels` deep; nodes where it stops early go into `frontier`."""
        step = self.plan.steps[node]
        if step.is_leaf:
            return end(node)
        if levels == 0:
            frontier.append(node)
            return end(node)
        deeper = indent + "  "

        def child(c: int) -> str:
            return self.nested(step.children[c], levels - 1, end, frontier, deeper)

        otherwise = child if step.missing >= 0 else lambda _: end(None if step.missing == FRACTIONAL else node)
        operand, arms, last = self._arms(step)
        within = self.within(step)
        lines = [] if within is None else [f"{deeper}WHEN {BOTH_BINS if operand else within} THEN {end(None)}"]
        lines += [f"{deeper}WHEN {condition} THEN {child(c)}" for condition, c in arms]
        default = child(last) if last is not None else otherwise(step.missing)
        return "\n".join([f"CASE{operand}", *lines, f"{deeper}ELSE {default}", f"{indent}END"]) if lines else default

    def destination(self, step: PlanStep) -> str:
        """Return the number of the child, or that of `missing`."""
        parts = [self._child(step.questions[0], step.unseen)]
        parts += [self._child(question, AS_MISSING) for question in step.questions[1:]]
        found, within = f"COALESCE({', '.join(parts)}, {step.missing})", self.within(step)
        return found if within is None else f"CASE WHEN {within} THEN {BOTH_BINS} ELSE {found} END"

    def within(self, step: PlanStep) -> str | None:
        """When a value lies within the band of a soft threshold; None without one."""
        if step.band is None:
            return None
        i, (low, high) = step.questions[0].input, step.band
        return f"{self.words.beside(i, '>', low, True)} AND {self.words.beside(i, '<', high, True)}"

    def second_bin(self, step: PlanStep) -> str:
        """Return the part of a row within the band that goes to the second bin."""
        assert step.band is not None
        question, (low, high) = step.questions[0], step.band
        x, middle, half, one = self.names[question.input], question.breaks[0], self._number(0.5), self._number(1.0)
        below = f"{half} * (({x} - {self._number(low)}) / {self._number(middle - low)})"
        above = f"{one} - {half} * (({self._number(high)} - {x}) / {self._number(high - middle)})"
        if middle in (low, high):
            return above if low == middle else below
        return f"CASE WHEN {x} <= {self._number(middle)} THEN {below} ELSE {above} END"

    def _number(self, x: float) -> str:
        return number_token(self.dialect, x)

    def refused(self) -> str | None:
        """When `predict` would refuse the row; None if it never does."""
        conditions = [f"{self.names[i]} IS NULL" for i in self.plan.required]
        if self.plan.strict:
            for name, spec in zip(self.names, self.plan.inputs, strict=True):
                if spec.levels is not None:
                    conditions.append(f"{name} IS NOT NULL AND NOT ({self.among(name, spec.levels)})")
        return " OR ".join(conditions) or None

    # --- one node ---

    def _arms(self, step: PlanStep) -> tuple[str, list[Arm], int | None]:
        """Return the operand of CASE, its arms, and the child of ELSE (None: that of `missing`)."""
        exclusive, fan = exclusive_arms(self.plan, self.words, step), len(step.children)
        if exclusive is not None:
            return "", *exclusive
        if step.missing >= 0 and fan == 2:
            parts = [self._left(step.questions[0], step.unseen)]
            parts += [self._left(question, AS_MISSING) for question in step.questions[1:]]
            return "", [(f"COALESCE({', '.join(parts)}, {truth(step.missing == 0)})", 0)], 1
        last = fan - 1 if step.missing >= 0 else None
        return f" {self.destination(step)}", [(str(c), c) for c in range(fan if last is None else last)], last

    def _child(self, question: Question, unseen: int) -> str:
        """Return the child of a known value that some child holds, otherwise NULL."""
        return self._case(question, unseen, str)

    def _left(self, question: Question, unseen: int) -> str:
        """Return whether a known value goes to the first of two children, otherwise NULL."""
        if len(question.breaks) == 1 and sorted(question.child_of_bin) == [0, 1]:
            return next(condition for condition, c in known_arms(self.plan, self.words, question) if c == 0)
        return self._case(question, unseen, lambda c: truth(c == 0))

    def _case(self, question: Question, unseen: int, say: Callable[[int], str]) -> str:
        arms = decided_arms(self.plan, self.words, question, unseen)
        return f"CASE {' '.join(f'WHEN {condition} THEN {say(c)}' for condition, c in arms)} END" if arms else "NULL"

    @property
    def words(self) -> ConditionSyntax:
        names, plan = self.names, self.plan

        def beside(i: int, sign: str, at: float, closed: bool) -> str:
            spec = plan.inputs[i]
            return f"{names[i]} {sign} {break_token(self.dialect, spec.kind, at, closed, spec.name)}"

        return ConditionSyntax(
            among=lambda i, levels: self.among(names[i], levels),
            beside=beside,
            known=lambda i: f"{names[i]} IS NOT NULL",
            missing=lambda i: f"{names[i]} IS NULL",
            both=" AND ",
            either=" OR ",
        )

    def among(self, name: str, levels: Sequence[Level]) -> str:
        """Return whether a value is one of some levels; not true where it is missing."""
        tokens = [level_token(self.dialect, level) for level in levels]
        if len(tokens) == 1:
            return f"{name} = {tokens[0]}"
        if self.dialect.longest_in is None or len(tokens) <= self.dialect.longest_in:
            return f"{name} IN ({', '.join(tokens)})"
        return f"CASE {name} {' '.join(f'WHEN {token} THEN TRUE' for token in tokens)} ELSE FALSE END"


def truth(value: bool) -> str:
    """Return a truth value, which every dialect writes alike."""
    return "TRUE" if value else "FALSE"
