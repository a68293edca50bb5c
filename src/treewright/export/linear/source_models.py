"""Linear models of leaves, as a function of each language; nothing for trees whose leaves are constant.

Every function adds the terms in order and rounds after each of them, as core/predict/leaf_models.hpp does, so that the
numbers agree bit for bit. A missing value or an unseen level counts as the mean of the leaf's rows.
"""

from __future__ import annotations

from treewright.export.program.plan import Plan
from treewright.tree.models import LinearModel


def python_models(plan: Plan, *, coded: bool) -> str:
    """Return `_modelled(node, values)`; `coded`: values of levels are their codes."""
    ends = [(node, step.model) for node, step in enumerate(plan.steps) if step.is_end and step.model is not None]
    entries = "".join(f"    {node}: {_python_model(plan, model, coded)},\n" for node, model in ends)
    return f"{_PYTHON_HEAD}_MODEL = {{\n{entries}}}\n\n\n{_PYTHON}"


def _python_model(plan: Plan, model: LinearModel, coded: bool) -> str:
    terms = ""
    for term in model.terms:
        values = None
        if term.levels is not None:
            levels = plan.inputs[term.column].levels or ()
            keys = range(len(levels)) if coded else levels
            values = {key: float(place in term.levels) for place, key in enumerate(keys)}
        terms += f"({term.column}, {term.coefficient!r}, {term.fill!r}, {values!r}), "
    return f"({model.intercept!r}, ({terms.rstrip()}), {model.low!r}, {model.high!r})"


def c_models(plan: Plan) -> str:
    """Return `@_modelled`, which reads the tables of models."""
    return _C if plan.models else ""


def rust_models(plan: Plan) -> str:
    """Return `modelled`, which reads the tables of models."""
    return _RUST if plan.models else ""


_PYTHON_HEAD = """
# Linear models: the intercept, terms, and the limits of the prediction. A term is the place of a column, a coefficient,
# the value where it is missing or unseen, and of levels the value of each.
"""

_PYTHON = '''def _modelled(node, values):
    """The linear model of a node."""
    total, terms, low, high = _MODEL[node]
    for place, coefficient, fill, levels in terms:
        value = values[place]
        if levels is not None:
            value = levels.get(value, fill)
        elif value != value:
            value = fill
        total += coefficient * value
    return (total if total <= high else high) if total >= low else low
'''

_C = """/* The linear model of an end, within its limits. Missing values and unseen levels count as their mean there. */
static double @_modelled(const double row[], int end)
{
    const double low = @_model_low[end], high = @_model_high[end];
    volatile double sum = @_model_intercept[end];
    int term;
    for (term = @_model_start[end]; term < @_model_start[end + 1]; ++term) {
        const int first = @_model_member_start[term], n = @_model_member_start[term + 1] - first;
        const int input = @_model_column[term];
        const double x = row[input];
        double value = @_model_fill[term];
        if (@_n_levels[input] < 0) {
            if (x == x) value = x;
        } else if (x >= 0.0 && x < n) {
            value = @_model_member[first + (int)x];
        }
        {
            /* volatile: rounded before it is added, on every machine */
            const volatile double part = @_model_coefficient[term] * value;
            sum += part;
        }
    }
    return sum >= low ? (sum <= high ? sum : high) : low;
}
"""

_RUST = """/// The linear model of an end, within its limits. Missing values and unseen levels count as their mean.
fn modelled(values: &[f64; N_INPUTS], end: usize) -> f64 {
    let mut sum = MODEL_INTERCEPT[end];
    for term in MODEL_START[end] as usize..MODEL_START[end + 1] as usize {
        let members = &MODEL_MEMBER[MODEL_MEMBER_START[term] as usize..MODEL_MEMBER_START[term + 1] as usize];
        let input = MODEL_COLUMN[term] as usize;
        let x = values[input];
        let value = if N_LEVELS[input] < 0 {
            if x.is_nan() { MODEL_FILL[term] } else { x }
        } else if x >= 0.0 {
            f64::from(members[x as usize])
        } else {
            MODEL_FILL[term]
        };
        sum += MODEL_COEFFICIENT[term] * value;
    }
    if sum >= MODEL_LOW[end] {
        if sum <= MODEL_HIGH[end] { sum } else { MODEL_HIGH[end] }
    } else {
        MODEL_LOW[end]
    }
}
"""
