"""The tree as one C file, also C++: static tables and one loop, no allocation.

It compiles without a warning, in time that grows with the tree and not faster; numbers are written with all their
digits. Columns of text are given as codes, which `<prefix>_code_<column>` looks up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from treewright.data.schema import Level
from treewright.errors import ExportError
from treewright.export.linear.source_models import c_models
from treewright.export.program.plan import Plan, level_type, plan_of
from treewright.export.program.ranges import ranges
from treewright.export.program.tables import (
    NUMBER_TABLES,
    identifiers,
    refuse_inexact,
    refuse_many_paths,
    refuse_unwritable,
    table_items,
    wrapped,
)
from treewright.tree.as_tree import TreeLike, as_tree

_CLASS_TYPES = {"text": "const char *const", "truth": "const int", "whole": "const long long", "number": "const double"}


def c(tree: TreeLike, *, prefix: str = "tree") -> str:
    """Return the tree as a C file.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.
    prefix : str, default="tree"
        The start of all its names.

    Returns
    -------
    str
        Source of a C99 file without dependencies.

    Raises
    ------
    ExportError
        If the target format cannot represent the tree.
    """
    tree = as_tree(tree)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", prefix):
        raise ExportError(f"prefix={prefix!r} cannot begin a name in C; use letters, digits and underscores")
    plan = plan_of(tree)
    refuse_inexact(plan, "C")
    refuse_unwritable(plan, "C", nul=True)
    refuse_many_paths(plan)
    route = _ROUTE.replace("#WITHIN", _WITHIN if plan.soft else "")
    follow = (_SECOND if plan.soft else "") + _FOLLOW.replace("#BOTH", _BOTH if plan.soft else "")
    value = "@_modelled(row, @_end[node])" if plan.models else "@_value[@_end[node] * @_n_values + i]"
    follow = follow.replace("#VALUE", value)
    parts = [
        _head(plan),
        _tables(plan),
        _codes(plan),
        route,
        _refusal(plan),
        c_models(plan),
        follow,
        _prediction_functions(plan),
        ranges(plan, "c"),
    ]
    return "\n".join(part for part in parts if part).replace("@", prefix).replace("\x1a", "@")


def _head(plan: Plan) -> str:
    inputs = identifiers([spec.name for spec in plan.inputs])
    lines = [
        f"/* A decision tree for {_comment(plan.target.name)}: {len(plan.steps)} nodes.",
        " *",
        " * A row is an array of @_n_inputs numbers, in the order of enum @_input:",
    ]
    for name, spec in zip(inputs, plan.inputs, strict=True):
        what = (
            "microseconds (of a moment: since 1970)"
            if spec.kind not in ("numeric", "nominal", "ordinal", "boolean")
            else ""
        )
        what = f"the result of @_code_{name}" if spec.levels is not None else what or "a number"
        lines.append(f" *   @_input_{name}: column {_comment(spec.name)}, {what}")
    missing = " * NaN is a missing value; so is the code -1. The code -2 is a level the tree does not know."
    members = "".join(f"    @_input_{name},\n" for name in inputs)
    return "\n".join([*lines, missing, " */"]) + (
        f"\n#include <math.h>\n#include <stddef.h>\n#include <string.h>\n\n"
        f"enum @_input {{\n{members}    @_n_inputs\n}};\n\n"
        f"enum {{ @_n_values = {plan.n_values}, @_most_paths = {plan.most_pending} }};\n"
    )


def _comment(text: str) -> str:
    """Return text in a comment: compilers warn of the beginning of another one in it."""
    return _text(text).replace("/", "\\/").replace("*", "\\052").replace("@", "\x1a")


def _text(text: str) -> str:
    """Return a string constant of UTF-8 bytes; octal escapes never run into the next character, as others do."""
    plain = (chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in text.encode("utf-8", "replace"))
    return '"' + "".join(plain).replace("@", "\x1a") + '"'


def _number(x: float) -> str:
    return repr(float(x))


def _array(kind: str, name: str, items: Sequence[object]) -> str:
    """Return an array; C knows none without items."""
    return f"static {kind} @_{name}[] = {{\n{wrapped(items or ['0'])}\n}};\n"


def _tables(plan: Plan) -> str:
    return "".join(
        _array("const double", name, [_number(x) for x in items])
        if name in NUMBER_TABLES
        else _array("const int", name, items)
        for name, items in table_items(plan).items()
    )


def _codes(plan: Plan) -> str:
    """Return a function per column of levels that turns a value into its code."""
    parts = []
    for name, spec in zip(identifiers([spec.name for spec in plan.inputs]), plan.inputs, strict=True):
        if spec.levels is None:
            continue
        kind = level_type(spec.levels)
        given, missing, same = ("const char *value", "value == NULL", "strcmp(value, level[i]) == 0")
        items: list[str] = [_level(level) for level in spec.levels]
        if kind != "text":
            given, missing, same = "double value", "value != value", "value == level[i]"
            items = [_number(float(level)) for level in spec.levels]  # a truth value is 0 or 1
        array = "const char *const" if kind == "text" else "const double"
        nothing = "NULL" if kind == "text" else "NaN"
        parts.append(
            f"/* The code of a level of column {_comment(spec.name)}; {nothing} is missing. */\n"
            f"int @_code_{name}({given})\n{{\n"
            f"    static {array} level[] = {{\n{wrapped(items or ['0'], '        ', 108)}\n    }};\n"
            f"    int i;\n    if ({missing}) return -1;\n    for (i = 0; i < {len(spec.levels)}; ++i) {{\n"
            f"        if ({same}) return i;\n    }}\n    return -2;\n}}\n"
        )
    return "\n".join(parts)


def _level(level: Level) -> str:
    if isinstance(level, str):
        return _text(level)
    if isinstance(level, bool):
        return str(int(level))
    if isinstance(level, int):
        return f"{level}LL" if level != -(2**63) else "(-9223372036854775807LL - 1)"
    return _number(level)


_ROUTE = """/* The child of the row's value; -1 if it is missing, -2 for a level that no child holds. */
static int @_child(const double row[], int question)
{
    const int n_levels = @_n_levels[@_question_input[question]];
    const double x = row[@_question_input[question]];
    const int *child = @_child_of_bin + @_bin_start[question];
    int low = @_break_start[question];
    int high = @_break_start[question + 1];
    if (x != x) return -1;
    if (n_levels >= 0) {
        if (x == -1.0) return -1;
        return x >= 0.0 && x < n_levels && child[(int)x] >= 0 ? child[(int)x] : -2;
    }
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (@_closed[question] ? @_breaks[middle] < x : @_breaks[middle] <= x) low = middle + 1;
        else high = middle;
    }
    return child[low - @_break_start[question]];
}

/* The child the row takes; -1: every child by its share, -2: none, -5: two, by the band of a soft threshold. */
static int @_destination(const double row[], int node)
{
    int question = @_question_start[node];
    int child = -2;
    if (question == @_question_start[node + 1]) return child;
#WITHIN    child = @_child(row, question);
    if (child == -2 && @_unseen[node] >= 0) return @_unseen[node];
    while (child < 0 && ++question < @_question_start[node + 1]) child = @_child(row, question);
    return child >= 0 ? child : @_missing[node];
}
"""

_WITHIN = """    if (row[@_question_input[question]] > @_band_low[node] &&
        row[@_question_input[question]] < @_band_high[node]) return -5;
"""

_SECOND = """/* Within the band of a soft threshold: the part of the row that goes to the second of its two bins. */
static double @_second_bin(const double row[], int node)
{
    const int question = @_question_start[node];
    const double x = row[@_question_input[question]];
    const double low = @_band_low[node], middle = @_breaks[@_break_start[question]], high = @_band_high[node];
    return x <= middle ? 0.5 * ((x - low) / (middle - low)) : 1.0 - 0.5 * ((high - x) / (high - middle));
}

"""

_BOTH = """        if (child == -5) {
            const int *bin = @_child_of_bin + @_bin_start[@_question_start[node]];
            const double second = @_second_bin(row, node);
            for (i = @_child_start[node + 1] - @_child_start[node] - 1; i >= 0; --i) {
                const double part = i == bin[0] ? 1.0 - second : i == bin[1] ? second : 0.0;
                if (part <= 0.0) continue;
                waiting[n].node = @_children[@_child_start[node] + i];
                waiting[n++].weight = weight * part;
            }
            continue;
        }
"""

_FOLLOW = """/* Sums the weighted leaf values of every path of the row; returns the node where the heaviest ends. */
static int @_follow(const double row[], double values[])
{
    struct { int node; double weight; } waiting[@_most_paths + 1];
    double heaviest = -1.0;
    int n = 1, leaf = -1, i;
    for (i = 0; i < @_n_values; ++i) values[i] = 0.0;
    waiting[0].node = 0;
    waiting[0].weight = 1.0;
    while (n > 0) {
        int node = waiting[--n].node;
        const double weight = waiting[n].weight;
        int child = @_destination(row, node);
        while (child >= 0) {
            node = @_children[@_child_start[node] + child];
            child = @_destination(row, node);
        }
#BOTH        if (child == -1) {
            for (i = @_child_start[node + 1] - 1; i >= @_child_start[node]; --i) {
                if (@_share[i] <= 0.0) continue;
                waiting[n].node = @_children[i];
                waiting[n++].weight = weight * @_share[i];
            }
            continue;
        }
        if (weight > heaviest) {
            heaviest = weight;
            leaf = node;
        }
        for (i = 0; i < @_n_values; ++i) {
            /* volatile: rounded before it is added, on every machine */
            const volatile double part = weight * #VALUE;
            values[i] += part;
        }
    }
    return leaf;
}

/* The id of the node where the row ends, the heaviest of several; -1 for a row that is refused. */
int @_leaf(const double row[])
{
    double values[@_n_values];
    return @_refuses(row) ? -1 : @_follow(row, values);
}
"""


def _refusal(plan: Plan) -> str:
    """Return whether the recipe refuses a row: a missing value it must have, a level it does not know."""
    conditions = [
        f"row[{i}] != row[{i}]" + (f" || row[{i}] == -1.0" if plan.inputs[i].levels else "") for i in plan.required
    ]
    if plan.strict:
        conditions += [f"row[{i}] == -2.0" for i, spec in enumerate(plan.inputs) if spec.levels is not None]
    body = " ||\n        ".join(conditions)
    body = f"    return {body};" if body else "    (void)row;\n    return 0;"
    comment = "/* Whether the row lacks what the tree must have, or has a level it must know. */"
    return f"{comment}\nstatic int @_refuses(const double row[])\n{{\n{body}\n}}\n"


def _prediction_functions(plan: Plan) -> str:
    if plan.target.classes is None:
        return _NUMBER
    kind = _CLASS_TYPES[level_type(plan.target.classes)]
    items = wrapped([_level(value) for value in plan.target.classes])
    classes = f"/* The classes; @_predict gives a place among them. */\n{kind} @_classes[] = {{\n{items}\n}};\n\n"
    if plan.target.costs is None:
        return classes + _CLASSES.replace("#DECIDE", _MOST_PROBABLE)
    costs = wrapped([_number(cost) for row in plan.target.costs for cost in row], "        ", 108)
    return classes + _CLASSES.replace("#DECIDE", _CHEAPEST.replace("#COSTS", costs))


_NUMBER = """/* The prediction; NaN for a row that is refused. */
double @_predict(const double row[])
{
    double values[@_n_values];
    if (@_refuses(row)) return (double)NAN;
    @_follow(row, values);
    return values[0];
}
"""

_CLASSES = """/* The probability of each class; returns 0, or -1 for a row that is refused. */
int @_predict_proba(const double row[], double probabilities[])
{
    if (@_refuses(row)) return -1;
    @_follow(row, probabilities);
    return 0;
}

/* The index of the predicted class; -1 for a row that is refused. */
int @_predict(const double row[])
{
#DECIDE    return best;
}
"""

_MOST_PROBABLE = """    double probabilities[@_n_values];
    int best = 0, i;
    if (@_predict_proba(row, probabilities) < 0) return -1;
    for (i = 1; i < @_n_values; ++i) {
        if (probabilities[i] > probabilities[best]) best = i;
    }
"""

_CHEAPEST = """    /* The cost of predicting class j where class i is true. */
    static const double cost[] = {
#COSTS
    };
    double probabilities[@_n_values], expected[@_n_values];
    int best = 0, i, j;
    if (@_predict_proba(row, probabilities) < 0) return -1;
    for (j = 0; j < @_n_values; ++j) {
        expected[j] = 0.0;
        for (i = 0; i < @_n_values; ++i) {
            const volatile double part = probabilities[i] * cost[i * @_n_values + j];
            expected[j] += part;
        }
        if (expected[j] < expected[best]) best = j;
    }
"""
