"""A plan as flat lists of numbers, for languages where one loop over tables beats a thousand nested ifs.

Lists are in the order of the steps; item i of a list of parts lies between `start[i]` and `start[i + 1]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from treewright.data.schema import Level, Schema
from treewright.errors import ExportError
from treewright.export.program.plan import Plan, Question, refuse_mixed
from treewright.tree.models import model_arrays

#: Tables of numbers; all others are of whole numbers.
NUMBER_TABLES = frozenset(
    {"share", "value", "breaks", "band_low", "band_high"}
    | {f"model_{name}" for name in ("coefficient", "fill", "intercept", "low", "high")}
)


def table_items(plan: Plan) -> dict[str, list[Any]]:
    """Return the tables of a plan by name.

    Per node: questions, children and shares, destinations of missing and unseen values, the index of its value (-1:
    none), and the band of a soft threshold (equal ends: none), if any threshold has one. Per question: the input, its
    breaks and the children of its bins. `value`: one row of numbers per end, or the tables of its linear models.
    `n_levels`: per input, -1 for numbers.
    """
    steps = plan.steps
    questions: list[Question] = [question for step in steps for question in step.questions]
    is_end = [step.is_end for step in steps]
    bands = [step.band or (0.0, 0.0) for step in steps] if plan.soft else []
    return {
        "question_start": _starts(len(step.questions) for step in steps),
        "child_start": _starts(len(step.children) for step in steps),
        "children": [child for step in steps for child in step.children],
        "share": [share for step in steps for share in step.share],
        "missing": [step.missing for step in steps],
        "unseen": [step.unseen for step in steps],
        "end": [place - 1 if end else -1 for place, end in zip(accumulate(is_end), is_end, strict=True)],
        **(_model_tables(plan) or {"value": [number for step in steps if step.is_end for number in step.value]}),
        "question_input": [question.input for question in questions],
        "closed": [int(question.closed) for question in questions],
        "break_start": _starts(len(question.breaks) for question in questions),
        "breaks": [at for question in questions for at in question.breaks],
        "bin_start": _starts(len(question.child_of_bin) for question in questions),
        "child_of_bin": [child for question in questions for child in question.child_of_bin],
        "n_levels": [-1 if spec.levels is None else len(spec.levels) for spec in plan.inputs],
        **({"band_low": [low for low, _ in bands], "band_high": [high for _, high in bands]} if bands else {}),
    }


def _model_tables(plan: Plan) -> dict[str, list[Any]]:
    """Return the linear models of the ends as docs/boundary.md lists those of nodes; nothing without models."""
    if not plan.models:
        return {}
    return {name: array.tolist() for name, array in model_arrays(plan.models, Schema(plan.inputs, plan.target)).items()}


def _starts(lengths: Iterable[int]) -> list[int]:
    return [0, *accumulate(lengths)]


def identifiers(names: Sequence[str], keywords: Iterable[str] = (), *, lower: bool = False) -> list[str]:
    """Return each name as letters, digits and underscores, all different and none a keyword.

    >>> identifiers(["age", "Age?", "class", "größe", "1st", "", "age"], ["class"])
    ['age', 'Age', 'class_', 'gr_e', 'n_1st', 'n', 'age_2']
    """
    taken, found = set(keywords), []
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        plain = plain.lower() if lower else plain
        plain = plain if plain[:1].isalpha() else f"n_{plain}".rstrip("_")
        free, n = (f"{plain}_" if plain in taken and plain not in found else plain), 1
        while free in taken:
            n += 1
            free = f"{plain}_{n}"
        taken.add(free)
        found.append(free)
    return found


def wrapped(items: Sequence[object], indent: str = "    ", width: int = 116) -> str:
    """Items divided by commas, in lines."""
    lines, line = [], ""
    for item in items:
        text = f"{item}, "
        if line and len(line) + len(text) > width:
            lines.append(line.rstrip())
            line = ""
        line += text
    return "\n".join(f"{indent}{text}" for text in [*lines, line.rstrip()] if text)


def refuse_inexact(plan: Plan, language: str) -> None:
    """Languages with one type for all values of a column: no text among numbers, and no number that is no float64."""
    owners = [(f"column {spec.name!r}", spec.levels or ()) for spec in plan.inputs]
    classes = plan.target.classes or ()
    refuse_mixed(classes, f"the target {plan.target.name!r}", language)
    for value in classes:
        if isinstance(value, int) and value >= 2**63:
            raise ExportError(
                f"the target {plan.target.name!r} has the class {value}, beyond the whole numbers of {language}; learn "
                "from a table where it is text"
            )
    for whose, levels in owners:
        refuse_mixed(levels, whose, language)
        refuse_large(levels, whose, language)


def refuse_large(levels: Sequence[Level], whose: str, language: str) -> None:
    """Raise for an integer that float64 does not hold."""
    for level in levels:
        if isinstance(level, int) and abs(level) > 2**53:
            raise ExportError(
                f"{whose} has the level {level}, a whole number beyond 2**53, which {language} cannot compare exactly; "
                "learn from a table where it is text"
            )


def has_surrogate(text: str) -> bool:
    """Return whether text has half a character, which no file can hold."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def refuse_unwritable(plan: Plan, language: str, *, nul: bool) -> None:
    """Raise for text that is not Unicode, or that contains a zero where a zero ends text."""
    for whose, levels in [(f"column {spec.name!r}", spec.levels or ()) for spec in plan.inputs] + [
        (f"the target {plan.target.name!r}", plan.target.classes or ())
    ]:
        for level in levels:
            if isinstance(level, str) and ((nul and "\0" in level) or has_surrogate(level)):
                raise ExportError(
                    f"{whose} has the level {level!r} with a character that text in {language} cannot hold; rename it "
                    "and learn anew"
                )


#: More branches at once than this would not fit on a small stack.
MOST_PATHS = 10_000


def refuse_many_paths(plan: Plan) -> None:
    """Languages without allocation keep the branches that wait on their stack."""
    if plan.most_pending > MOST_PATHS:
        raise ExportError(
            f"a row of this tree may go down {plan.most_pending} branches at once, more than fit on a stack "
            f"({MOST_PATHS}); prune the tree, or learn with another missing policy, such as Surrogates()"
        )
