"""The tree as Python source that imports nothing.

A small tree is nested ifs that read as the tree does; a large one, or one that sends a row down several branches, is
tables and one loop, without recursion. Both predict as prediction does.
"""

from __future__ import annotations

from collections.abc import Sequence
from keyword import kwlist

from treewright.data.schema import Level
from treewright.export.linear.source_models import python_models
from treewright.export.program.arms import ConditionSyntax, decided_arms, exclusive_arms
from treewright.export.program.plan import AS_MISSING, Plan, PlanStep, plan_of
from treewright.export.program.ranges import ranges
from treewright.export.program.tables import identifiers, table_items, wrapped
from treewright.tree.as_tree import TreeLike, as_tree

#: Python refuses more than a hundred levels of indentation, and so many are unreadable.
DEEPEST_IFS = 12
MOST_IFS = 300

_TAKEN = (*kwlist, "row", "child", "CLASSES", "predict", "predict_proba", "leaf", "True", "False", "None", "n")


def python(tree: TreeLike) -> str:
    """Return the tree as a Python module with `predict`, `predict_proba` and `leaf`; a row is a dict.

    A calibrated tree also has `predict_interval` or `predict_set`.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree.

    Returns
    -------
    str
        Source of a Python module without dependencies.

    Raises
    ------
    ExportError
        If the target format cannot represent the tree.
    """
    plan = plan_of(as_tree(tree))
    nested = not plan.spreads and plan.depth <= DEEPEST_IFS and len(plan.steps) <= MOST_IFS
    parts = [
        _head(plan),
        _readers(plan, nested),
        _ifs(plan) if nested else _TABLES_HEAD + _tables(plan) + _loop(plan),
    ]
    return "\n\n".join([*parts, _prediction_functions(plan, nested)]) + ranges(plan, "python")


def _head(plan: Plan) -> str:
    lines = [f'"""A decision tree for {_doc(plan.target.name)}: {len(plan.steps)} nodes.', ""]
    lines.append("A row is a dict with these columns; None and NaN are missing values:")
    lines += [f"  {_doc(spec.name)}: {_KINDS[spec.kind]}" for spec in plan.inputs]
    return "\n".join([*lines, '"""'])


_KINDS = {
    "numeric": "a number",
    "nominal": "a level",
    "ordinal": "a level",
    "boolean": "true or false",
    "date": "a date, or microseconds since 1970",
    "datetime": "a datetime, or microseconds since 1970 in UTC",
    "time": "a time, or microseconds since midnight",
    "duration": "a timedelta, or microseconds",
}


def _doc(text: str) -> str:
    return ascii(text).replace("\\", "\\\\").replace('"', "'")


def _readers(plan: Plan, nested: bool) -> str:
    """Return what reads a row: numbers as floats, missing ones as NaN; levels as they are, for tables as codes."""
    kinds = {"level" if spec.levels is not None else spec.kind for spec in plan.inputs}
    parts = [_MISSING, *([_NUMBER] if kinds - {"level"} else []), *([_MOMENT] if kinds - {"level", "numeric"} else [])]
    reads = []
    for i, spec in enumerate(plan.inputs):
        value = f"row[{spec.name!r}]"
        if spec.levels is None:
            reads.append(f"_number({value})" if spec.kind == "numeric" else f"_moment({value})")
        elif nested:
            reads.append(f"_level({value})")
        else:
            reads.append(f"_code({value}, _LEVELS_{i})")
            entries = [f"{level!r}: {code}" for code, level in enumerate(spec.levels)]
            parts.append(f"_LEVELS_{i} = {{\n{wrapped(entries)}\n}}")
    if "level" in kinds:
        parts.append(_LEVEL if nested else _CODE)
    body = "".join(f"        {read},\n" for read in reads)
    comment = '"""The row\'s values, in order; a missing number is NaN, a missing level None."""'
    parts.append(
        f"def _values(row):\n    {comment}\n    values = [\n{body}    ]\n{_refusals(plan, nested)}    return values"
    )
    return "\n\n\n".join(parts) + "\n"


def _refusals(plan: Plan, nested: bool) -> str:
    lines = []
    for i in plan.required:
        message = f"{plan.inputs[i].name!r} is missing, and the tree refuses missing values"
        absent = "is None" if plan.inputs[i].levels is not None else f"!= values[{i}]"
        lines += [f"    if values[{i}] {absent}:", f"        raise ValueError({message!r})"]
    for i, spec in enumerate(plan.inputs):
        if plan.strict and spec.levels is not None:
            unknown = f"not in {(None, *spec.levels)!r}" if nested else "== -2"
            message = f"{spec.name!r} has a level the tree does not know"
            lines += [f"    if values[{i}] {unknown}:", f"        raise ValueError({message!r})"]
    return "".join(f"{line}\n" for line in lines)


_MISSING = '''def _is_missing(value):
    """None, NaN and the like."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value != value'''

_NUMBER = """def _number(value):
    if isinstance(value, str):
        raise TypeError(f"expected a number, not {value!r}")
    return float("nan") if _is_missing(value) else float(value)"""

_MOMENT = '''def _moment(value):
    """A date, datetime, time or timedelta in microseconds; numbers are taken as such."""
    if _is_missing(value):
        return float("nan")
    if hasattr(value, "seconds") and hasattr(value, "days"):
        return float((value.days * 86400 + value.seconds) * 1000000 + value.microseconds)
    if not hasattr(value, "toordinal") and not hasattr(value, "hour"):
        return _number(value)
    micro = (value.toordinal() - 719163) * 86400000000 if hasattr(value, "toordinal") else 0
    if not hasattr(value, "hour"):
        return float(micro)
    micro += ((value.hour * 60 + value.minute) * 60 + value.second) * 1000000 + value.microsecond
    shift = value.utcoffset()
    if shift is not None:
        micro -= (shift.days * 86400 + shift.seconds) * 1000000 + shift.microseconds
        if not hasattr(value, "toordinal"):
            micro %= 86400000000
    return float(micro)'''

_LEVEL = """def _level(value):
    return None if _is_missing(value) else value"""

_CODE = '''def _code(value, codes):
    """The code of a level; -2 for an unknown one."""
    return None if _is_missing(value) else codes.get(value, -2)'''


# --- nested ifs -------------------------------------------------------------------------------------------------------


def _ifs(plan: Plan) -> str:
    names = identifiers([spec.name for spec in plan.inputs], _TAKEN)
    unpacked = f"    {', '.join(names)}{',' if len(names) == 1 else ''} = _values(row)" if names else "    _values(row)"
    head = ["def leaf(row):", '    """The id of the node where the row ends."""', unpacked]
    return "\n".join([*head, *_node(plan, _words(plan, names), 0, "    ")])


def _words(plan: Plan, names: Sequence[str]) -> ConditionSyntax:
    def among(i: int, levels: Sequence[Level]) -> str:
        return f"{names[i]} == {levels[0]!r}" if len(levels) == 1 else f"{names[i]} in {tuple(levels)!r}"

    return ConditionSyntax(
        among=among,
        beside=lambda i, sign, at, _: f"{names[i]} {sign} {at!r}",  # false for NaN
        known=lambda i: f"{names[i]} == {names[i]}" if plan.inputs[i].levels is None else f"{names[i]} is not None",
        missing=lambda i: f"{names[i]} is None",  # for levels only
        both=" and ",
        either=" or ",
    )


def _node(plan: Plan, words: ConditionSyntax, node: int, indent: str) -> list[str]:
    step, deeper = plan.steps[node], indent + "    "
    if step.is_leaf:
        return [f"{indent}return {node}"]
    lines: list[str] = []
    exclusive = exclusive_arms(plan, words, step)
    if exclusive is None:
        lines, fan = _child(plan, words, step, indent), len(step.children)
        exclusive = [(f"child == {c}", c) for c in range(fan)], None
        if step.missing >= 0:
            exclusive = exclusive[0][:-1], fan - 1
    arms, last = exclusive
    for i, (condition, c) in enumerate(arms):
        lines += [f"{indent}{'elif' if i else 'if'} {condition}:", *_node(plan, words, step.children[c], deeper)]
    below = deeper if arms else indent
    default = [f"{below}return {node}"] if last is None else _node(plan, words, step.children[last], below)
    return [*lines, *([f"{indent}else:"] if arms else []), *default]


def _child(plan: Plan, words: ConditionSyntax, step: PlanStep, indent: str) -> list[str]:
    """Return lines that try the split and its surrogates in order for the child of the row."""
    lines: list[str] = []
    for place, question in enumerate(step.questions):
        for condition, c in decided_arms(plan, words, question, step.unseen if place == 0 else AS_MISSING):
            lines += [f"{indent}{'elif' if lines else 'if'} {condition}:", f"{indent}    child = {c}"]
    default = f"child = {step.missing if step.missing >= 0 else None}"
    return [*lines, f"{indent}else:", f"{indent}    {default}"] if lines else [f"{indent}{default}"]


# --- tables -----------------------------------------------------------------------------------------------------------

_TABLES_HEAD = "# Item i of a list of parts lies between start[i] and start[i + 1].\n"


def _tables(plan: Plan) -> str:
    return "".join(
        f"_{name.upper()} = (\n{wrapped(items)}\n)\n" if items else f"_{name.upper()} = ()\n"
        for name, items in table_items(plan).items()
    )


def _loop(plan: Plan) -> str:
    """Return the loop over the tables."""
    route = _ROUTE.replace("#WITHIN", _WITHIN if plan.soft else "")
    return route + (_SECOND if plan.soft else "") + _FOLLOW.replace("#BOTH", _BOTH if plan.soft else "")


_ROUTE = '''

def _child(values, question):
    """The child of the row's value; -1 if it is missing, -2 for a level that no child holds."""
    place = _QUESTION_INPUT[question]
    value, first = values[place], _BIN_START[question]
    if value is None or value != value:
        return -1
    if _N_LEVELS[place] >= 0:
        return _CHILD_OF_BIN[first + value] if value >= 0 and _CHILD_OF_BIN[first + value] >= 0 else -2
    low, high, closed = _BREAK_START[question], _BREAK_START[question + 1], _CLOSED[question]
    while low < high:
        middle = (low + high) // 2
        if _BREAKS[middle] < value or (not closed and _BREAKS[middle] == value):
            low = middle + 1
        else:
            high = middle
    return _CHILD_OF_BIN[first + low - _BREAK_START[question]]


def _destination(values, node):
    """The child the row takes; -1: every child by its share, -2: none, -5: two, by the band of a soft threshold."""
    first, last = _QUESTION_START[node], _QUESTION_START[node + 1]
    if first == last:
        return -2
#WITHIN    child = _child(values, first)
    if child == -2 and _UNSEEN[node] >= 0:
        return _UNSEEN[node]
    for question in range(first + 1, last):
        if child >= 0:
            break
        child = _child(values, question)
    return child if child >= 0 else _MISSING[node]
'''

_WITHIN = """    value = values[_QUESTION_INPUT[first]]
    if value is not None and _BAND_LOW[node] < value < _BAND_HIGH[node]:
        return -5
"""

_SECOND = '''

def _second_bin(values, node):
    """Within the band of a soft threshold: the part of the row that goes to the second of its two bins."""
    question = _QUESTION_START[node]
    value, middle = values[_QUESTION_INPUT[question]], _BREAKS[_BREAK_START[question]]
    if value <= middle:
        return 0.5 * ((value - _BAND_LOW[node]) / (middle - _BAND_LOW[node]))
    return 1 - 0.5 * ((_BAND_HIGH[node] - value) / (_BAND_HIGH[node] - middle))
'''

_BOTH = """        if child == -5:
            second, first = _second_bin(values, node), _BIN_START[_QUESTION_START[node]]
            parts = {_CHILD_OF_BIN[first]: 1 - second, _CHILD_OF_BIN[first + 1]: second}
            for i in sorted(parts, reverse=True):
                if parts[i] > 0:
                    waiting.append((_CHILDREN[_CHILD_START[node] + i], weight * parts[i]))
            continue
"""

_FOLLOW = '''

def _ends(row):
    """Every node where a path of the row ends, with its weight, in order."""
    values, waiting, ends = _values(row), [(0, 1.0)], []
    while waiting:
        node, weight = waiting.pop()
        child = _destination(values, node)
        while child >= 0:
            node = _CHILDREN[_CHILD_START[node] + child]
            child = _destination(values, node)
        if child == -2:
            ends.append((node, weight))
            continue
#BOTH        for i in range(_CHILD_START[node + 1] - 1, _CHILD_START[node] - 1, -1):
            if _SHARE[i] > 0:
                waiting.append((_CHILDREN[i], weight * _SHARE[i]))
    return ends


def leaf(row):
    """The id of the node where the row ends, the heaviest of several."""
    return max(_ends(row), key=lambda end: end[1])[0]
'''


# --- predictions ------------------------------------------------------------------------------------------------------


_VALUE_OF_ROW = '''
def _value_of(row):
    """The weighted sum over all paths."""
    values = [0.0] * #N
    for node, weight in _ends(row):
        first = _END[node] * #N
        for i in range(#N):
            values[i] += weight * _VALUE[first + i]
    return values
'''


_MODELLED_LEAF = """

def _value_of(row):
    return (_modelled(leaf(row), _values(row)),)
"""

_MODELLED_PATHS = '''

def _value_of(row):
    """The weighted sum over all paths."""
    values, total = _values(row), 0.0
    for node, weight in _ends(row):
        total += weight * _modelled(node, values)
    return (total,)
'''


def _prediction_functions(plan: Plan, nested: bool) -> str:
    n = plan.n_values
    if plan.models:
        source = python_models(plan, coded=not nested)
        source += _MODELLED_LEAF if nested else _MODELLED_PATHS
    elif nested:
        entries = [f"{i}: {step.value!r}" for i, step in enumerate(plan.steps) if step.is_end]
        source = f"_VALUE = {{\n{wrapped(entries)}\n}}\n\n\ndef _value_of(row):\n    return _VALUE[leaf(row)]\n"
    else:
        source = _VALUE_OF_ROW.replace("#N", str(n))
    if plan.target.classes is None:
        return f'{source}\n\ndef predict(row):\n    """The prediction of a row."""\n    return _value_of(row)[0]\n'
    classes = f"\n\nCLASSES = (\n{wrapped([repr(value) for value in plan.target.classes])}\n)\n"
    if plan.target.costs is None:
        decide = "    values = _value_of(row)\n    return CLASSES[max(range(len(CLASSES)), key=values.__getitem__)]\n"
        costs = ""
    else:
        table = wrapped(list(plan.target.costs))
        costs = f"_COSTS = (  # of predicting the second class where the first is true\n{table}\n)\n"
        decide = (
            "    expected = [0.0] * len(CLASSES)\n    for share, costs in zip(_value_of(row), _COSTS):\n"
            "        for i, cost in enumerate(costs):\n            expected[i] += share * cost\n"
            "    return CLASSES[min(range(len(CLASSES)), key=expected.__getitem__)]\n"
        )
    return (
        f"{source}{classes}{costs}\n\ndef predict_proba(row):\n"
        '    """The probability of each class, in the order of CLASSES."""\n    return list(_value_of(row))\n\n\n'
        f'def predict(row):\n    """The class of a row."""\n{decide}'
    )
