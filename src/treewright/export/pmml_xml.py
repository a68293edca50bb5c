"""The tree as PMML 4.4: a TreeModel whose predicates cover every value, missing and unseen ones included.

No strategy of the model guesses: a child's predicate is true for exactly the rows that `predict` sends there, by PMML's
logic of three values; where no predicate is true, the node itself predicts. Moments and durations are numbers of
microseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from treewright.data.schema import LEVEL_KINDS, ColumnSpec, Level
from treewright.errors import ExportError
from treewright.export.linear.pmml_models import chained, node_field
from treewright.export.program.arms import runs
from treewright.export.program.plan import (
    AS_MISSING,
    FRACTIONAL,
    STOP_HERE,
    Plan,
    PlanStep,
    Question,
    level_type,
    plan_of,
    refuse_soft,
)
from treewright.export.program.tables import refuse_inexact, refuse_unwritable
from treewright.tree.as_tree import TreeLike, as_tree
from treewright.tree.tree import Tree

_DATA_TYPES = {"text": "string", "truth": "boolean", "whole": "integer", "number": "double"}
_NEVER, _ALWAYS = "<False/>", "<True/>"


def pmml(tree: TreeLike, *, several_paths: Literal["refuse", "null"] = "refuse") -> str:
    """Return the tree as a PMML document.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    several_paths : {"refuse", "null"}, default="refuse"
        A tree that sends a row down several branches (`Fractional`) is refused, or exported so that such rows, and no
        others, have no prediction.

    Returns
    -------
    str
        A PMML 4.4 document.

    Raises
    ------
    ExportError
        If the target format cannot represent the tree.
    """
    tree = as_tree(tree)
    plan = plan_of(tree)
    refuse_soft(plan, "PMML")
    _refuse(plan, several_paths)
    classes = plan.target.classes
    function = "regression" if classes is None else "classification"
    ends = any(step.missing == STOP_HERE for step in plan.steps if not step.is_leaf)
    strategies = f'missingValueStrategy="none" noTrueChildStrategy="return{"Last" if ends else "Null"}Prediction"'
    strategies += ' splitCharacteristic="multiSplit"'
    schema = [
        "    <MiningSchema>",
        f'      <MiningField name={_attribute(plan.target.name)} usageType="target"/>',
        *(_mined(plan, i) for i in range(len(plan.inputs))),
        "    </MiningSchema>",
    ]
    model = [
        f'  <TreeModel modelName={_attribute(tree.recipe.name)} functionName="{function}" {strategies}>',
        *schema,
        *(_outputs(classes) if not plan.models else _node_output(plan)),
        *_nodes(tree, plan),
        "  </TreeModel>",
    ]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<PMML xmlns="http://www.dmg.org/PMML-4_4" version="4.4">',
        '  <Header><Application name="treewright"/></Header>',
        f'  <DataDictionary numberOfFields="{len(plan.inputs) + 1}">',
        *(_field(spec.name, spec.levels, spec) for spec in plan.inputs),
        _field(plan.target.name, classes, None),
        "  </DataDictionary>",
        *(chained(plan, model, schema, _content, _attribute) if plan.models else model),
        "</PMML>",
        "",
    ]
    return "\n".join(lines)


def _refuse(plan: Plan, several_paths: str) -> None:
    if several_paths not in ("refuse", "null"):
        raise ExportError(f"several_paths must be 'refuse' or 'null', not {several_paths!r}")
    refuse_inexact(plan, "PMML")
    refuse_unwritable(plan, "PMML", nul=True)
    names = [spec.name for spec in plan.inputs]
    texts = [
        *names,
        plan.target.name,
        *(v for spec in plan.inputs for v in spec.levels or ()),
        *(plan.target.classes or ()),
    ]
    for text in texts:
        if isinstance(text, str) and re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", text):
            raise ExportError(
                f"the name or level {text!r} has a character that XML cannot hold; rename it and learn anew"
            )
    if plan.target.name in names:
        raise ExportError(f"a column has the target's name {plan.target.name!r}, which PMML does not allow; rename it")
    for step in plan.steps:
        if step.missing == FRACTIONAL and not step.is_leaf:
            column = plan.inputs[step.questions[0].input].name
            if several_paths == "refuse":
                raise ExportError(
                    f"where {column!r} is missing this tree goes down every branch, which PMML cannot express exactly; "
                    "learn with another missing policy, such as Surrogates(), or use several_paths='null': such rows "
                    "then have no prediction"
                )
            if any(other.missing == STOP_HERE and not other.is_leaf for other in plan.steps):
                raise ExportError(
                    "nodes that spread a row and nodes that predict themselves cannot be in one PMML model"
                )


# --- fields -----------------------------------------------------------------------------------------------------------


def _attribute(value: object) -> str:
    """Return a value in quotes, so that every character comes back."""
    return quoteattr(str(value), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def _text(value: Level) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _content(value: Level) -> str:
    """Return a level between tags; control characters as references, so that every character comes back."""
    return escape(_text(value), {"\r": "&#13;"})


def _field(name: str, levels: Sequence[Level] | None, spec: ColumnSpec | None) -> str:
    kind = "" if spec is None or spec.kind in LEVEL_KINDS or spec.kind == "numeric" else spec.kind
    inside = [f'<Extension extender="treewright" name="kind" value="{kind}"/>'] if kind else []
    if levels is None:
        head, data = "continuous", "double"
    else:
        head = "ordinal" if spec is not None and spec.kind == "ordinal" else "categorical"
        data = _DATA_TYPES[level_type(tuple(levels))]
        # PMML's integers have 32 bits in places, and a larger one must be unseen, not an error.
        data = "double" if data == "integer" and spec is not None else data
        inside += [f"<Value value={_attribute(_text(level))}/>" for level in levels]
    return f'    <DataField name={_attribute(name)} optype="{head}" dataType="{data}">{"".join(inside)}</DataField>'


def _mined(plan: Plan, i: int) -> str:
    """Return what a model does with values before the tree sees them: nothing, or refuse them as `predict` does."""
    spec = plan.inputs[i]
    foreign = "returnInvalid" if plan.strict and spec.levels is not None else "asIs"
    missing = ' missingValueTreatment="returnInvalid"' if i in plan.required else ""
    return f'      <MiningField name={_attribute(spec.name)} invalidValueTreatment="{foreign}"{missing}/>'


def _outputs(classes: Sequence[Level] | None) -> list[str]:
    if classes is None:
        return []
    form = '      <OutputField name={} optype="continuous" dataType="double" feature="probability" value={}/>'
    fields = [form.format(_attribute(f"probability({_text(c)})"), _attribute(_text(c))) for c in classes]
    return ["    <Output>", *fields, "    </Output>"]


def _node_output(plan: Plan) -> list[str]:
    """Return the output that has the id of the node where a row ends."""
    name = _attribute(node_field(plan))
    field = f'<OutputField name={name} optype="categorical" dataType="string" feature="entityId"/>'
    return [f"    <Output>{field}</Output>"]


# --- nodes ------------------------------------------------------------------------------------------------------------


def _nodes(tree: Tree, plan: Plan) -> Iterator[str]:
    """Yield the nodes, nested; without recursion, for trees may be deep."""
    weights, stats = tree.arrays["weight"].tolist(), tree.arrays["stats"].tolist()
    classes = plan.target.classes
    pending: list[tuple[int, str, int] | str] = [(0, _ALWAYS, 2)]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
            continue
        i, predicate, depth = item
        step, indent = plan.steps[i], "  " * min(depth, 30)
        score = step.value[0] if classes is None else classes[step.prediction]
        yield f'{indent}<Node id="{i}" score={_attribute(_text(score))} recordCount="{weights[i]!r}">{predicate}'
        for label, count, share in zip(classes or (), stats[i], step.value, strict=False):
            value = _attribute(_text(label))
            yield f'{indent}  <ScoreDistribution value={value} recordCount="{count!r}" probability="{share!r}"/>'
        pending.append(f"{indent}</Node>")
        ways = [(child, _predicate(plan, step, k), depth + 1) for k, child in enumerate(step.children)]
        pending += reversed(ways)


def _predicate(plan: Plan, step: PlanStep, child: int) -> str:
    """Return True for the rows that go to the child: by a value, or, where there is none, by the next question."""
    rest = _ALWAYS if step.missing == child else _NEVER
    for k in reversed(range(len(step.questions))):
        question = step.questions[k]
        unseen = step.unseen if k == 0 else AS_MISSING
        held = _held(plan, question, child, unseen == child)
        if rest == _NEVER:
            rest = held
        else:
            rest = _compound("or", [held, _compound("and", [_without(plan, question, unseen), rest])])
    return rest


def _held(plan: Plan, question: Question, child: int, takes_unseen: bool) -> str:
    """Return True for the known values of the child; unknown where the value is missing."""
    name, levels = plan.inputs[question.input].name, plan.inputs[question.input].levels
    if levels is not None:
        pairs = list(zip(levels, question.child_of_bin, strict=True))
        if takes_unseen:  # all but the levels of others
            return _among(name, [level for level, at in pairs if at >= 0 and at != child], False)
        return _among(name, [level for level, at in pairs if at == child], True)
    below, above = ("lessOrEqual", "greaterThan") if question.closed else ("lessThan", "greaterOrEqual")
    parts = []
    for first, last, at in runs(question.child_of_bin):
        if at != child:
            continue
        low = [_simple(name, above, question.breaks[first - 1])] if first > 0 else []
        high = [_simple(name, below, question.breaks[last])] if last < len(question.breaks) else []
        known = [] if low or high else [_simple(name, "isNotMissing")]
        parts.append(_compound("and", [*low, *high, *known]))
    return _compound("or", parts)


def _without(plan: Plan, question: Question, unseen: int) -> str:
    """Return True where the question has no value."""
    name, levels = plan.inputs[question.input].name, plan.inputs[question.input].levels
    missing = _simple(name, "isMissing")
    if levels is None:
        gaps = _held(plan, question, -1, False)
        return missing if gaps == _NEVER else _compound("or", [missing, gaps])
    if unseen != AS_MISSING:
        return missing
    held = [level for level, at in zip(levels, question.child_of_bin, strict=True) if at >= 0]
    return _compound("or", [missing, _among(name, held, False)])


def _simple(name: str, operator: str, value: Level | None = None) -> str:
    more = "" if value is None else f" value={_attribute(_text(value))}"
    return f'<SimplePredicate field={_attribute(name)} operator="{operator}"{more}/>'


def _among(name: str, levels: Sequence[Level], inside: bool) -> str:
    """Return the predicate: the value is one of the levels, or is known and none of them."""
    if not levels:
        return _NEVER if inside else _simple(name, "isNotMissing")
    plain = all(
        not isinstance(level, str) or re.fullmatch(r"[^\s\"\\]([^\n\r\t\"\\]*[^\s\"\\])?", level) for level in levels
    )
    if len(levels) == 1 or not plain:  # sets are lists in a text, which cannot hold every text
        return _compound(
            "or" if inside else "and", [_simple(name, "equal" if inside else "notEqual", v) for v in levels]
        )
    kind = {"whole": "real", "number": "real"}.get(level_type(tuple(levels)), "string")
    items = " ".join(f'"{_text(level)}"' if kind == "string" else _text(level) for level in levels)
    array = f'<Array type="{kind}" n="{len(levels)}">{escape(items)}</Array>'
    operator = "isIn" if inside else "isNotIn"
    return f'<SimpleSetPredicate field={_attribute(name)} booleanOperator="{operator}">{array}</SimpleSetPredicate>'


def _compound(operator: str, parts: Sequence[str]) -> str:
    neutral, decisive = (_NEVER, _ALWAYS) if operator == "or" else (_ALWAYS, _NEVER)
    kept = [part for part in parts if part != neutral]
    if decisive in kept:
        return decisive
    if len(kept) < 2:
        return kept[0] if kept else neutral
    return f'<CompoundPredicate booleanOperator="{operator}">{"".join(kept)}</CompoundPredicate>'
