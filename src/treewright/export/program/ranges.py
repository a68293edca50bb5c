"""Intervals and prediction sets of a calibrated tree, as functions of each language; nothing for other trees.

Every function takes the limit of the leaf (the heaviest of several) and the values that the prediction has, as
`predict_interval` and `predict_set` do.
"""

from __future__ import annotations

from typing import Literal

from treewright.export.program.plan import Plan
from treewright.export.program.tables import wrapped


def ranges(plan: Plan, language: Literal["python", "c", "rust", "javascript"]) -> str:
    """Return the function that gives the interval or the set of a row, and the limits of all nodes."""
    if plan.limits is None:
        return ""
    before, after, interval, classes = _FORMS[language]
    limits = wrapped([repr(float(limit)) for limit in plan.limits]) if before else ""
    return before + limits + after + (interval if plan.target.classes is None else classes)


_PYTHON_INTERVAL = '''def predict_interval(row):
    """The lower and the upper limit of a row."""
    value, limit = _value_of(row)[0], _LIMIT[leaf(row)]
    return value - limit, value + limit
'''

_PYTHON_SET = '''def predict_set(row):
    """The classes that a row may have."""
    limit = _LIMIT[leaf(row)]
    return [level for level, share in zip(CLASSES, _value_of(row)) if 1.0 - share <= limit]
'''

_C_INTERVAL = """/* The lower and the upper limit; returns 0, or -1 for a row that is refused. */
int @_predict_interval(const double row[], double limits[2])
{
    double values[@_n_values], limit;
    if (@_refuses(row)) return -1;
    limit = @_limit[@_follow(row, values)];
    limits[0] = values[0] - limit;
    limits[1] = values[0] + limit;
    return 0;
}
"""

_C_SET = """/* For each class whether the row may have it, 1 or 0; returns 0, or -1 for a row that is refused. */
int @_predict_set(const double row[], int inside[])
{
    double values[@_n_values], limit;
    int i;
    if (@_refuses(row)) return -1;
    limit = @_limit[@_follow(row, values)];
    for (i = 0; i < @_n_values; ++i) {
        /* volatile: rounded before it is compared, on every machine */
        const volatile double rest = 1.0 - values[i];
        inside[i] = rest <= limit;
    }
    return 0;
}
"""

_RUST_INTERVAL = """/// The lower and the upper limit of a row.
pub fn predict_interval(row: &Row) -> Option<(f64, f64)> {
    follow(row).map(|(sums, leaf)| (sums[0] - LIMIT[leaf as usize], sums[0] + LIMIT[leaf as usize]))
}
"""

_RUST_SET = """/// For each class whether the row may have it.
pub fn predict_set(row: &Row) -> Option<[bool; N_VALUES]> {
    follow(row).map(|(sums, leaf)| sums.map(|share| 1.0 - share <= LIMIT[leaf as usize]))
}
"""

_JAVASCRIPT_INTERVAL = """
/** The lower and the upper limit of a row. */
export function predictInterval(row) {
  const [value] = valuesOfRow(row);
  const limit = TREE.limits[leaf(row)];
  return [value - limit, value + limit];
}
"""

_JAVASCRIPT_SET = """
/** The classes that a row may have. */
export function predictSet(row) {
  const values = valuesOfRow(row);
  const limit = TREE.limits[leaf(row)];
  return classes.filter((_, i) => 1 - values[i] <= limit);
}
"""

#: What comes before and after the limits, the interval and the set. JavaScript has the limits in `TREE.limits`.
_FORMS = {
    "python": ("\n\n_LIMIT = (\n", "\n)\n\n\n", _PYTHON_INTERVAL, _PYTHON_SET),
    "c": ("static const double @_limit[] = {\n", "\n};\n\n", _C_INTERVAL, _C_SET),
    "rust": ("static LIMIT: &[f64] = &[\n", "\n];\n\n", _RUST_INTERVAL, _RUST_SET),
    "javascript": ("", "", _JAVASCRIPT_INTERVAL, _JAVASCRIPT_SET),
}
