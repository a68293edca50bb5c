"""The tree as one Rust file, without the standard library and without allocation.

It compiles without a warning; static tables and one loop, so that large trees compile fast. `None` is the prediction of
a row that the recipe refuses.
"""

from __future__ import annotations

from treewright.data.schema import ColumnSpec, Level
from treewright.export.linear.source_models import rust_models
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

_KEYWORDS = (
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match",
    "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait",
    "true", "try", "type", "typeof", "union", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
)  # fmt: skip
_CLASS_TYPES = {"text": "&'static str", "truth": "bool", "whole": "i64", "number": "f64"}


def rust(tree: TreeLike) -> str:
    """Return the tree as a Rust module with `predict`, `predict_proba` and `leaf`.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.

    Returns
    -------
    str
        Source of a Rust module without dependencies.

    Raises
    ------
    ExportError
        If the target format cannot represent the tree.
    """
    plan = plan_of(as_tree(tree))
    refuse_inexact(plan, "Rust")
    refuse_unwritable(plan, "Rust", nul=False)
    refuse_many_paths(plan)
    route = _ROUTE.replace("#WITHIN", _WITHIN if plan.soft else "")
    follow = (_SECOND if plan.soft else "") + _FOLLOW.replace("#BOTH", _BOTH if plan.soft else "")
    follow = follow.replace("#VALUE", _MODELLED if plan.models else _CONSTANT)
    predict = [_prediction_functions(plan), ranges(plan, "rust")]
    parts = [_head(plan), _row(plan), _tables(plan), route, rust_models(plan), follow, *predict]
    return "\n".join(part for part in parts if part)


def _head(plan: Plan) -> str:
    return (
        f"// A decision tree for {_text(plan.target.name)}: {len(plan.steps)} nodes.\n"
        "// It needs neither std nor an allocator.\n\n"
        f"const N_INPUTS: usize = {len(plan.inputs)};\nconst N_VALUES: usize = {plan.n_values};\n"
        f"const MOST_PATHS: usize = {plan.most_pending};\n"
    )


def _text(text: str) -> str:
    shown = (c if c.isascii() and c.isprintable() and c not in '"\\' else f"\\u{{{ord(c):x}}}" for c in text)
    return '"' + "".join(shown) + '"'


def _number(x: float) -> str:
    return repr(float(x))


def _level(level: Level) -> str:
    if isinstance(level, str):
        return _text(level)
    if isinstance(level, bool):
        return "true" if level else "false"
    return str(level) if isinstance(level, int) else _number(level)


# --- rows -------------------------------------------------------------------------------------------------------------


def _row(plan: Plan) -> str:
    """Return the struct of inputs, and how it becomes numbers."""
    names = identifiers([spec.name for spec in plan.inputs], _KEYWORDS, lower=True)
    fields, reads = "", ""
    for name, spec in zip(names, plan.inputs, strict=True):
        fields += f"    /// Column {_text(spec.name)}: {_says(spec)}\n    pub {name}: {_type(spec)},\n"
        reads += _read(name, spec)
    life = "<'a>" if any(_type(spec).startswith("Option<&") for spec in plan.inputs) else ""
    given = "row" if plan.inputs else "_row"
    refused = _refusal(plan)
    return (
        "/// The columns that the tree uses.\n#[derive(Clone, Copy, Debug)]\n"
        f"pub struct Row{life} {{\n{fields}}}\n\n"
        "/// Numbers as they are, levels as codes: -1 for a missing one, -2 for an unknown one. None: refused.\n"
        f"fn values_of({given}: &Row) -> Option<[f64; N_INPUTS]> {{\n"
        f"    let values = [\n{reads}    ];\n{refused}    Some(values)\n}}\n"
    )


def _says(spec: ColumnSpec) -> str:
    if spec.levels is not None:
        return "a level; None is missing."
    return (
        "a number; NaN is missing."
        if spec.kind == "numeric"
        else "microseconds (of a moment: since 1970); NaN is missing."
    )


def _type(spec: ColumnSpec) -> str:
    if spec.levels is None:
        return "f64"
    return {"text": "Option<&'a str>", "truth": "Option<bool>"}.get(level_type(spec.levels), "Option<f64>")


def _read(name: str, spec: ColumnSpec) -> str:
    if spec.levels is None:
        return f"        row.{name},\n"
    kind = level_type(spec.levels)
    exact = kind in ("text", "truth")
    items = wrapped([_level(x) if exact else _number(float(x)) for x in spec.levels], "            ", 104)
    known = {"text": "&str", "truth": "bool"}.get(kind, "f64")
    return (
        f"        {{\n            const LEVELS: &[{known}] = &[\n{items}\n            ];\n"
        f"            code_of(row.{name}, LEVELS)\n        }},\n"
    )


def _refusal(plan: Plan) -> str:
    conditions = [
        f"values[{i}] == -1.0" if plan.inputs[i].levels is not None else f"values[{i}].is_nan()" for i in plan.required
    ]
    if plan.strict:
        conditions += [f"values[{i}] == -2.0" for i, spec in enumerate(plan.inputs) if spec.levels is not None]
    return f"    if {' || '.join(conditions)} {{\n        return None;\n    }}\n" if conditions else ""


# --- tables and routing -----------------------------------------------------------------------------------------------


def _tables(plan: Plan) -> str:
    parts = []
    for name, items in table_items(plan).items():
        numbers = name in NUMBER_TABLES
        listing = wrapped([_number(x) for x in items] if numbers else items)
        inside = f"\n{listing}\n" if items else ""
        parts.append(f"static {name.upper()}: &[{'f64' if numbers else 'i32'}] = &[{inside}];\n")
    return "".join(parts)


_ROUTE = """/// The place of a level; -1 for a missing one, -2 for an unknown one.
#[allow(dead_code)]
fn code_of<T: PartialEq + Copy>(value: Option<T>, levels: &[T]) -> f64 {
    match value {
        Some(level) if level == level => {
            levels.iter().position(|known| *known == level).map_or(-2.0, |code| code as f64)
        }
        _ => -1.0,
    }
}

/// The child of the row's value; -1 if it is missing, -2 for a level that no child holds.
fn child_of(values: &[f64; N_INPUTS], question: usize) -> i32 {
    let input = QUESTION_INPUT[question] as usize;
    let x = values[input];
    let bins = &CHILD_OF_BIN[BIN_START[question] as usize..BIN_START[question + 1] as usize];
    if x.is_nan() {
        return -1;
    }
    if N_LEVELS[input] >= 0 {
        if x < 0.0 {
            return x as i32;
        }
        let child = bins[x as usize];
        return if child >= 0 { child } else { -2 };
    }
    let breaks = &BREAKS[BREAK_START[question] as usize..BREAK_START[question + 1] as usize];
    let closed = CLOSED[question] == 1;
    bins[breaks.partition_point(|at| if closed { *at < x } else { *at <= x })]
}

/// The child the row takes; -1: every child by its share, -2: none, -5: two, by the band of a soft threshold.
fn destination(values: &[f64; N_INPUTS], node: usize) -> i32 {
    let (first, last) = (QUESTION_START[node] as usize, QUESTION_START[node + 1] as usize);
    if first == last {
        return -2;
    }
#WITHIN    let child = child_of(values, first);
    if child >= 0 {
        return child;
    }
    if child == -2 && UNSEEN[node] >= 0 {
        return UNSEEN[node];
    }
    let mut others = (first + 1..last).map(|question| child_of(values, question));
    others.find(|child| *child >= 0).unwrap_or(MISSING[node])
}
"""

_WITHIN = """    let x = values[QUESTION_INPUT[first] as usize];
    if BAND_LOW[node] < x && x < BAND_HIGH[node] {
        return -5;
    }
"""

_SECOND = """/// Within the band of a soft threshold: the part of the row that goes to the second of its two bins.
fn second_bin(values: &[f64; N_INPUTS], node: usize) -> f64 {
    let question = QUESTION_START[node] as usize;
    let x = values[QUESTION_INPUT[question] as usize];
    let middle = BREAKS[BREAK_START[question] as usize];
    if x <= middle {
        0.5 * ((x - BAND_LOW[node]) / (middle - BAND_LOW[node]))
    } else {
        1.0 - 0.5 * ((BAND_HIGH[node] - x) / (BAND_HIGH[node] - middle))
    }
}

"""

_BOTH = """        if child == -5 {
            let bins = &CHILD_OF_BIN[BIN_START[QUESTION_START[node] as usize] as usize..];
            let second = second_bin(&values, node);
            let first_child = CHILD_START[node] as usize;
            for i in (0..CHILD_START[node + 1] as usize - first_child).rev() {
                let part = if i as i32 == bins[0] {
                    1.0 - second
                } else if i as i32 == bins[1] {
                    second
                } else {
                    0.0
                };
                if part > 0.0 {
                    waiting[n] = (CHILDREN[first_child + i] as usize, weight * part);
                    n += 1;
                }
            }
            continue;
        }
"""

_FOLLOW = """/// Sums the weighted leaf values of every path of the row; also returns the node where the heaviest ends.
fn follow(row: &Row) -> Option<([f64; N_VALUES], u32)> {
    let values = values_of(row)?;
    let mut waiting = [(0usize, 1.0f64); MOST_PATHS + 1];
    let mut n = 1;
    let mut sums = [0.0; N_VALUES];
    let (mut leaf, mut heaviest) = (0, -1.0);
    while n > 0 {
        n -= 1;
        let (mut node, weight) = waiting[n];
        let mut child = destination(&values, node);
        while child >= 0 {
            node = CHILDREN[CHILD_START[node] as usize + child as usize] as usize;
            child = destination(&values, node);
        }
#BOTH        if child == -1 {
            for i in (CHILD_START[node] as usize..CHILD_START[node + 1] as usize).rev() {
                if SHARE[i] > 0.0 {
                    waiting[n] = (CHILDREN[i] as usize, weight * SHARE[i]);
                    n += 1;
                }
            }
            continue;
        }
        if weight > heaviest {
            heaviest = weight;
            leaf = node as u32;
        }
#VALUE    }
    Some((sums, leaf))
}

/// The id of the node where the row ends; with several paths, the heaviest.
pub fn leaf(row: &Row) -> Option<u32> {
    follow(row).map(|(_, leaf)| leaf)
}
"""

_CONSTANT = """        let first = END[node] as usize * N_VALUES;
        for (sum, value) in sums.iter_mut().zip(&VALUE[first..first + N_VALUES]) {
            *sum += weight * value;
        }
"""

_MODELLED = """        sums[0] += weight * modelled(&values, END[node] as usize);
"""


def _prediction_functions(plan: Plan) -> str:
    if plan.target.classes is None:
        return _NUMBER
    kind = _CLASS_TYPES[level_type(plan.target.classes)]
    number = kind == "f64"
    items = wrapped([_number(float(value)) if number else _level(value) for value in plan.target.classes])
    comment = "/// The classes, in the order of the probabilities."
    classes = f"{comment}\npub static CLASSES: [{kind}; N_VALUES] = [\n{items}\n];\n\n"
    decide = _MOST_PROBABLE
    if plan.target.costs is not None:
        rows = [f"[{', '.join(map(_number, row))}]" for row in plan.target.costs]
        decide = _CHEAPEST.replace("#COSTS", wrapped(rows, "        ", 108))
    return classes + _CLASSES.replace("#KIND", kind).replace("#DECIDE", decide)


_NUMBER = """/// The prediction of a row.
pub fn predict(row: &Row) -> Option<f64> {
    follow(row).map(|(sums, _)| sums[0])
}
"""

_CLASSES = """/// The probability of each class.
pub fn predict_proba(row: &Row) -> Option<[f64; N_VALUES]> {
    follow(row).map(|(sums, _)| sums)
}

/// The class of a row.
pub fn predict(row: &Row) -> Option<#KIND> {
    let probabilities = predict_proba(row)?;
#DECIDE    Some(CLASSES[best])
}
"""

_MOST_PROBABLE = """    let mut best = 0;
    for i in 1..N_VALUES {
        if probabilities[i] > probabilities[best] {
            best = i;
        }
    }
"""

_CHEAPEST = """    // The cost of predicting the second class where the first is true.
    static COSTS: [[f64; N_VALUES]; N_VALUES] = [
#COSTS
    ];
    let mut expected = [0.0; N_VALUES];
    for (share, costs) in probabilities.iter().zip(&COSTS) {
        for (sum, cost) in expected.iter_mut().zip(costs) {
            *sum += share * cost;
        }
    }
    let mut best = 0;
    for i in 1..N_VALUES {
        if expected[i] < expected[best] {
            best = i;
        }
    }
"""
