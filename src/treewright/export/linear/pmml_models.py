"""Linear models of leaves in PMML: a chain of the tree, which names the node, and one RegressionModel per node.

The range guard is the model's target, with its least and largest value. Terms are derived fields that say what a
missing value or an unseen level counts as.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from treewright.data.schema import Level
from treewright.export.program.plan import Plan
from treewright.tree.models import LinearModel, Term

#: How a value and a text of an attribute are written.
Write = Callable[[Level], str]


def node_field(plan: Plan) -> str:
    """Return the name of the field with the node's id; no column has it."""
    taken, name = {plan.target.name, *(spec.name for spec in plan.inputs)}, "node"
    while name in taken:
        name += "_"
    return name


def chained(plan: Plan, tree_model: Sequence[str], schema: Sequence[str], text: Write, attribute: Write) -> list[str]:
    """Return a MiningModel: the tree, then the models, of which the one of the row's node predicts."""
    node = attribute(node_field(plan))
    lines = ['  <MiningModel functionName="regression">', *schema, '  <Segmentation multipleModelMethod="modelChain">']
    lines += ['  <Segment id="tree"><True/>', *tree_model, "  </Segment>"]
    for i, step in enumerate(plan.steps):
        if step.is_end and step.model is not None:
            test = f'<SimplePredicate field={node} operator="equal" value="{i}"/>'
            lines += [f'  <Segment id="{i}">{test}', *_regression(plan, step.model, schema, text, attribute)]
            lines.append("  </Segment>")
    return [*lines, "  </Segmentation>", "  </MiningModel>"]


def _regression(plan: Plan, model: LinearModel, schema: Sequence[str], text: Write, attribute: Write) -> list[str]:
    target = f'<Target field={attribute(plan.target.name)} min="{model.low!r}" max="{model.high!r}"/>'
    names = [attribute(f"{node_field(plan)} term {k}") for k in range(len(model.terms))]
    derived = [
        f'    <DerivedField name={name} optype="continuous" dataType="double">{_value(plan, term, text, attribute)}'
        "</DerivedField>"
        for name, term in zip(names, model.terms, strict=True)
    ]
    predictors = [
        f'    <NumericPredictor name={name} coefficient="{term.coefficient!r}"/>'
        for name, term in zip(names, model.terms, strict=True)
    ]
    return [
        '  <RegressionModel functionName="regression">',
        *schema,
        f"    <Targets>{target}</Targets>",
        *(["    <LocalTransformations>", *derived, "    </LocalTransformations>"] if derived else []),
        f'    <RegressionTable intercept="{model.intercept!r}">',
        *predictors,
        "    </RegressionTable>",
        "  </RegressionModel>",
    ]


def _value(plan: Plan, term: Term, text: Write, attribute: Write) -> str:
    """Return the expression of what a term multiplies."""
    spec = plan.inputs[term.column]
    given, fill = f"<FieldRef field={attribute(spec.name)}/>", _constant(term.fill)
    if spec.levels is None or term.levels is None:
        known = given
    else:
        known = fill
        for counts in (False, True):
            levels = [level for place, level in enumerate(spec.levels) if (place in term.levels) == counts]
            for level in reversed(levels):
                same = f'<Apply function="equal">{given}{_level(level, text)}</Apply>'
                known = f'<Apply function="if">{same}{_constant(float(counts))}{known}</Apply>'
    return f'<Apply function="if"><Apply function="isMissing">{given}</Apply>{fill}{known}</Apply>'


def _constant(x: float) -> str:
    return f'<Constant dataType="double">{x!r}</Constant>'


def _level(level: Level, text: Write) -> str:
    kind = "string" if isinstance(level, str) else "boolean" if isinstance(level, bool) else "double"
    return f'<Constant dataType="{kind}">{text(level)}</Constant>'
