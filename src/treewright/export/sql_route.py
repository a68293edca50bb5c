"""Routing as SQL expressions: where a row goes at one node, and down several levels at once.

Comes in: a plan, a dialect and what its inputs are called. Goes out: expressions over one row.
Always holds: inputs have NULL for every missing value, NaN included, so that IS NULL means missing. An expression names
each child once, so that nesting never multiplies a subtree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from treewright.export.dialects import Dialect, break_token, level_token
from treewright.export.plan import AS_MISSING, SPREAD, Plan, Question, Step

#: Writes the end of a path: of a node where the row stays, or of None where it goes down several branches.
End = Callable[[int | None], str]


@dataclass(frozen=True)
class RouteWriter:
    """Writes the questions of a plan; `names` are the inputs as this statement calls them."""

    dialect: Dialect
    plan: Plan
    names: tuple[str, ...]

    def nested(self, node: int, levels: int, end: End, frontier: list[int], indent: str = "") -> str:
        """The answer below a node, `levels` deep; nodes at which it stopped too early are put into `frontier`."""
        step = self.plan.steps[node]
        if step.is_leaf:
            return end(node)
        if levels == 0:
            frontier.append(node)
            return end(node)
        deeper = indent + "  "

        def child(c: int) -> str:
            return self.nested(step.children[c], levels - 1, end, frontier, deeper)

        otherwise = child if step.missing >= 0 else lambda _: end(None if step.missing == SPREAD else node)
        operand, arms, last = self._arms(step)
        lines = [f"{deeper}WHEN {condition} THEN {child(c)}" for condition, c in arms]
        default = child(last) if last is not None else otherwise(step.missing)
        return "\n".join([f"CASE{operand}", *lines, f"{deeper}ELSE {default}", f"{indent}END"]) if lines else default

    def destination(self, step: Step) -> str:
        """The number of the child, or what `missing` says."""
        parts = [self._child(step.questions[0], step.unseen)]
        parts += [self._child(question, AS_MISSING) for question in step.questions[1:]]
        return f"COALESCE({', '.join(parts)}, {step.missing})"

    def refused(self) -> str | None:
        """When `predict` would refuse the row; None if it never does."""
        conditions = [f"{self.names[i]} IS NULL" for i in self.plan.required]
        if self.plan.strict:
            for name, spec in zip(self.names, self.plan.inputs, strict=True):
                if spec.levels is not None:
                    conditions.append(f"NOT {self._among(name, spec.levels)}")
        return " OR ".join(conditions) or None

    # --- one node ---

    def _arms(self, step: Step) -> tuple[str, list[tuple[str, int]], int | None]:
        """The operand of CASE, its arms, and the child of ELSE (None: what `missing` says)."""
        own, fan = step.questions[0], len(step.children)
        known = self._known(own)
        once = len({c for _, c in known}) == len(known) and all(c >= 0 for _, c in known)
        if len(step.questions) == 1 and once:
            return "", *self._plain_arms(step, known)
        if step.missing >= 0 and fan == 2:
            parts = [self._left(own, step.unseen), *(self._left(q, AS_MISSING) for q in step.questions[1:])]
            return "", [(f"COALESCE({', '.join(parts)}, {_truth(step.missing == 0)})", 0)], 1
        last = fan - 1 if step.missing >= 0 else None
        return f" {self.destination(step)}", [(str(c), c) for c in range(fan if last is None else last)], last

    def _plain_arms(self, step: Step, known: list[tuple[str, int]]) -> tuple[list[tuple[str, int]], int | None]:
        """Without surrogates and with one condition per child, which exclude each other."""
        unseen, missing = step.unseen, step.missing
        if self.plan.inputs[step.questions[0].input].levels is None or unseen in (AS_MISSING, missing):
            arms = [(condition, c) for condition, c in known if c != missing]
            return (arms, missing) if missing >= 0 else (arms, None)
        name = self.names[step.questions[0].input]
        arms = [(condition, c) for condition, c in known if c not in (unseen, missing)]
        if missing < 0:
            return [*arms, (f"{name} IS NOT NULL", unseen)], None
        held = "".join(f" OR {condition}" for condition, c in known if c == missing)
        return [*arms, (f"{name} IS NULL{held}", missing)], unseen

    def _child(self, question: Question, unseen: int) -> str:
        """The child of a known value that some child holds, otherwise NULL."""
        arms = [f"WHEN {condition} THEN {c}" for condition, c in self._answers(question, unseen)]
        return f"CASE {' '.join(arms)} END" if arms else "NULL"

    def _left(self, question: Question, unseen: int) -> str:
        """Whether a known value goes to the first of two children, otherwise NULL."""
        if len(question.breaks) == 1 and sorted(question.child_of_bin) == [0, 1]:
            return next(condition for condition, c in self._known(question) if c == 0)
        arms = [f"WHEN {condition} THEN {_truth(c == 0)}" for condition, c in self._answers(question, unseen)]
        return f"CASE {' '.join(arms)} END" if arms else "NULL"

    def _answers(self, question: Question, unseen: int) -> list[tuple[str, int]]:
        arms = [(condition, c) for condition, c in self._known(question) if c >= 0]
        if unseen != AS_MISSING and self.plan.inputs[question.input].levels is not None:
            arms.append((f"{self.names[question.input]} IS NOT NULL", unseen))
        return arms

    def _known(self, question: Question) -> list[tuple[str, int]]:
        """Conditions on a known value, each for one child (or -1, for numbers nobody holds); they exclude each other."""
        spec, name = self.plan.inputs[question.input], self.names[question.input]
        if spec.levels is not None:
            held: dict[int, list[str | int | float | bool]] = {}
            for level, c in zip(spec.levels, question.child_of_bin, strict=True):
                held.setdefault(c, []).append(level)
            return [(self._among(name, held[c]), c) for c in sorted(held) if c >= 0]
        below, above = ("<=", ">") if question.closed else ("<", ">=")
        at = [break_token(self.dialect, spec.kind, x, question.closed, spec.name) for x in question.breaks]
        arms = []
        for first, last, c in _runs(question.child_of_bin):
            low = [f"{name} {above} {at[first - 1]}"] if first > 0 else []
            high = [f"{name} {below} {at[last]}"] if last < len(at) else []
            arms.append((" AND ".join(low + high) or f"{name} IS NOT NULL", c))
        return arms

    def _among(self, name: str, levels: Sequence[str | int | float | bool]) -> str:
        tokens = [level_token(self.dialect, level) for level in levels]
        return f"{name} = {tokens[0]}" if len(tokens) == 1 else f"{name} IN ({', '.join(tokens)})"


def _runs(child_of_bin: Sequence[int]) -> list[tuple[int, int, int]]:
    """Neighbouring bins of one child as (first, last, child)."""
    runs: list[tuple[int, int, int]] = []
    for i, c in enumerate(child_of_bin):
        if runs and runs[-1][2] == c:
            runs[-1] = (runs[-1][0], i, c)
        else:
            runs.append((i, i, c))
    return runs


def _truth(value: bool) -> str:
    return "TRUE" if value else "FALSE"
