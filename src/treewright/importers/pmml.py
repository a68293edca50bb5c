"""A PMML TreeModel, made into a `Tree`.

Each split is found by evaluating the children's predicates on every interval or level of the first column they name,
about a missing value and about one never seen: the split does the same. Further columns that decide where
the first is missing become surrogates. A model that does otherwise is refused. Where the model has no value (a null
prediction), the node itself predicts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal, cast
from xml.etree.ElementTree import Element, ParseError, XMLParser, fromstring

from treewright.data.schema import LEVEL_KINDS, TIME_KINDS, ColumnSpec, Kind, Level, Schema, TargetSpec
from treewright.errors import FileError
from treewright.importers.build import Draft, DraftSplit, assembled, probabilities_for
from treewright.importers.numbers import count, mean
from treewright.importers.pmml_predicates import Predicate, is_predicate, local_name, read_predicate
from treewright.recipes.missing import Fractional, Surrogates
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree
from treewright.tree.validation import AS_MISSING, FRACTIONAL, STOP_HERE

_SPREADING = ("weightedConfidence", "aggregateNodes")
_UNSEEN = "\0never seen"  # no document can hold this text


def from_pmml(text: str) -> Tree:
    """Return the tree of a PMML document.

    Parameters
    ----------
    text : str
        The document.

    Returns
    -------
    Tree
        The tree of the document.

    Raises
    ------
    FileError
        If the text is not of this form; the message names the line or element.
    """
    model, root = _model(text)
    fields = _fields(root)
    nodes = _nodes(model, fields)
    target = _target(model, fields, nodes)
    names = list(dict.fromkeys(p.field for node in nodes for p in node.predicate.simple()))
    foreign = [name for name in names if name not in fields]
    if foreign:
        raise FileError(
            f"the field {foreign[0][:40]!r} is computed inside the model; only fields of its dictionary can be read"
        )
    specs = {name: _column(name, fields[name], nodes) for name in names}
    schema = Schema(tuple(specs.values()) or (ColumnSpec("x0", "numeric"),), target)
    reader = _Reader(model, nodes, specs, target)
    missing = Fractional() if model.get("missingValueStrategy") in _SPREADING else Surrogates()
    return assembled(reader.drafts(), schema, Recipe(name="PMML", missing=missing))


# --- the document -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Field:
    kind: Kind
    data: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class _Node:
    """A node as it is written; `children` are places in the list of nodes."""

    element: Element
    predicate: Predicate
    children: list[int]


def _model(text: str) -> tuple[Element, Element]:
    if re.search(r"<!\s*(DOCTYPE|ENTITY)", text):
        raise FileError("not a PMML document: it declares a type or entities of its own")
    try:
        # The text has been decoded already: the encoding it declares is that of the file it was read from.
        root = fromstring(text.encode("utf-8", "surrogatepass"), XMLParser(encoding="utf-8"))  # noqa: S314
    except (ParseError, UnicodeError, ValueError, RecursionError) as error:
        raise FileError(f"not XML, or cut short: {str(error)[:200]}") from None
    if local_name(root) != "PMML":
        raise FileError(f"not a PMML document: its first element is {local_name(root)[:40]!r}")
    models = [part for part in root.iter() if local_name(part) == "TreeModel"]
    if len(models) != 1:
        raise FileError(f"the document has {len(models)} TreeModels; give one with exactly one")
    if sum(local_name(part) == "Segment" for part in root.iter()) > 1:
        raise FileError("the document chains the TreeModel with other models, which a Tree cannot hold; give one alone")
    return models[0], root


def _fields(root: Element) -> dict[str, _Field]:
    found = {}
    for part in root.iter():
        if local_name(part) != "DataField":
            continue
        data, form = part.get("dataType", "string"), part.get("optype", "categorical")
        shown = [e.get("value", "") for e in part if local_name(e) == "Extension" and e.get("name") == "kind"]
        values = [
            e.get("value", "") for e in part if local_name(e) == "Value" and e.get("property", "valid") == "valid"
        ]
        kind: str = "numeric" if form == "continuous" else "ordinal" if form == "ordinal" else "nominal"
        kind = "boolean" if data == "boolean" and kind == "nominal" else kind
        kind = shown[0] if shown and shown[0] in TIME_KINDS and kind == "numeric" else kind
        found[part.get("name", "")] = _Field(cast(Kind, kind), data, tuple(dict.fromkeys(values)))
    return found


def _typed(fields: Mapping[str, _Field], name: str, text: str) -> Level:
    """Return a value as the field has it."""
    field = fields.get(name)
    if field is None or (field.kind in LEVEL_KINDS and field.data in ("string", "date", "dateTime", "time")):
        return text
    if field.data == "boolean":
        return text in ("true", "1", "1.0", "TRUE", "True")
    try:
        if field.kind in LEVEL_KINDS and re.fullmatch(r"-?\d{1,20}", text) and -(2**63) <= int(text) < 2**64:
            return int(text)
        number = float(text)
    except ValueError:
        raise FileError(f"the field {name[:40]!r} is compared with {text[:40]!r}, which is no number") from None
    if not math.isfinite(number):
        raise FileError(f"the field {name[:40]!r} is compared with {text[:40]!r}, which is not finite")
    return number


def _nodes(model: Element, fields: Mapping[str, _Field]) -> list[_Node]:
    first = [part for part in model if local_name(part) == "Node"]
    if len(first) != 1:
        raise FileError(f"the TreeModel has {len(first)} first nodes; it must have one")
    found: list[_Node] = []
    pending: list[tuple[Element, int]] = [(first[0], -1)]
    while pending:
        element, parent = pending.pop()
        rules = [part for part in element if is_predicate(part)]
        if len(rules) != 1:
            raise FileError(f"node {element.get('id', '?')[:40]!r} must have one predicate, but has {len(rules)}")
        if parent >= 0:
            found[parent].children.append(len(found))
        predicate = read_predicate(rules[0], lambda name, text: _typed(fields, name, text))
        pending += [(part, len(found)) for part in reversed(element) if local_name(part) == "Node"]
        found.append(_Node(element, predicate, []))
    return found


def _target(model: Element, fields: Mapping[str, _Field], nodes: Sequence[_Node]) -> TargetSpec:
    mined = [part for part in model.iter() if local_name(part) == "MiningField"]
    wanted = [part.get("name", "") for part in mined if part.get("usageType") in ("target", "predicted")]
    name = wanted[0] if wanted else "y"
    if model.get("functionName") == "regression":
        return TargetSpec(name, "regression")
    found = list(fields[name].values) if name in fields else []
    scores = [node.element.get("score") for node in nodes]
    counted = [e.get("value", "") for node in nodes for e in node.element if local_name(e) == "ScoreDistribution"]
    texts = dict.fromkeys([*found, *counted, *(score for score in scores if score is not None)])
    labels = tuple(dict.fromkeys(_typed(fields, name, text) for text in texts))
    if not labels:
        raise FileError("the model names no class")
    return TargetSpec(name, "classification", labels)


def _column(name: str, field: _Field, nodes: Sequence[_Node]) -> ColumnSpec:
    if field.kind not in LEVEL_KINDS:
        return ColumnSpec(name, field.kind)
    used = [p for node in nodes for p in node.predicate.simple() if p.field == name]
    if field.kind == "boolean":
        return ColumnSpec(name, "boolean", (False, True))
    declared = [_typed({name: field}, name, text) for text in field.values]
    return ColumnSpec(name, field.kind, tuple(dict.fromkeys([*declared, *(value for p in used for value in p.values)])))


# --- the tree ---------------------------------------------------------------------------------------------------------

#: Where predicates send a row: a child's number, or nowhere; None where that depends on another column.
_Way = int | Literal["nowhere"] | None


class _Reader:
    """Nodes become drafts; where known values find no child, a leaf that predicts as the node does is added."""

    def __init__(
        self, model: Element, nodes: Sequence[_Node], specs: Mapping[str, ColumnSpec], target: TargetSpec
    ) -> None:
        self.nodes, self.specs, self.target = nodes, specs, target
        self.strategy = model.get("missingValueStrategy", "none")
        self.place = {name: i for i, name in enumerate(specs)}
        self.added: list[Draft] = []

    def drafts(self) -> list[Draft]:
        found = [self._draft(node) for node in self.nodes]
        return [*found, *self.added]

    def _draft(self, node: _Node) -> Draft:
        stats, value = self._numbers(node.element)
        weight = stats[0] if self.target.classes is None else sum(stats)
        if not node.children:
            return Draft(stats, value, round(weight))
        used = self._splits_of(node)
        children = list(node.children)
        if len(children) == 1 or len(children) in used[0].child_of_bin:
            children.append(len(self.nodes) + len(self.added))
            rest = tuple(0.0 if self.target.classes is not None or k != 1 else stats[1] for k in range(len(stats)))
            self.added.append(Draft(rest, value, 0))
        return Draft(stats, value, round(weight), used[0], tuple(children), tuple(used[1:]))

    def _splits_of(self, node: _Node) -> list[DraftSplit]:
        """Return the split and its surrogates."""
        rules = [self.nodes[child].predicate for child in node.children]
        names = list(dict.fromkeys(p.field for rule in rules for p in rule.simple()))
        label = node.element.get("id", "?")[:40]
        if not names:
            raise FileError(f"the children of node {label!r} test no column")
        missing = self._missing(node, rules)
        columns = [_Probed(rules, self.specs[name]) for name in names]
        # Known values that no child takes end here: by a leaf of their own, or as a missing value does.
        rest = -1 if missing == STOP_HERE and len(names) == 1 and len(rules) > 1 else len(rules)
        questions = []
        for k, column in enumerate(columns):
            ways = [_way_of(rules, column.name, value, columns[k + 1 :]) for value in column.values]
            bins = tuple((rest if k == 0 else -1) if way == "nowhere" else -1 if way is None else way for way in ways)
            unseen = AS_MISSING
            if k == 0 and self.specs[column.name].levels is not None:
                way = _way_of(rules, column.name, _UNSEEN, columns[1:])
                unseen = (
                    AS_MISSING if way is None or (way == "nowhere" and rest < 0) else rest if way == "nowhere" else way
                )
            if k == 0 or any(at >= 0 for at in bins):
                questions.append(
                    DraftSplit(self.place[column.name], bins, column.breaks, column.closed, missing, unseen)
                )
        self._refuse_entangled(rules, columns, questions, label)
        return questions

    def _refuse_entangled(
        self, rules: Sequence[Predicate], columns: Sequence[_Probed], questions: Sequence[DraftSplit], label: str
    ) -> None:
        """Raise unless two columns together do what the first with a value does alone."""
        for i, first in enumerate(columns):
            for second in columns[i + 1 :]:
                for (a, x), (b, y) in product(first.few, second.few):
                    wanted = self._follow(questions, {first.name: a, second.name: b})
                    found = _way(rules, {first.name: x, second.name: y})
                    found = found if isinstance(found, int) else None
                    if wanted is not None and wanted >= len(rules):
                        wanted = None
                    if found != wanted:
                        raise FileError(
                            f"node {label!r} chooses a child by {first.name[:40]!r} and {second.name[:40]!r} together, "
                            "which a split and its surrogates cannot express"
                        )

    def _follow(self, questions: Sequence[DraftSplit], bins: Mapping[str, int]) -> int | None:
        """Return the child by the bins of some columns, as the tree will do it; None: the node predicts."""
        places = {self.place[name]: at for name, at in bins.items()}
        for used in questions:
            if used.column in places and used.child_of_bin[places[used.column]] >= 0:
                return used.child_of_bin[places[used.column]]
        return questions[0].missing if questions[0].missing >= 0 else None

    def _missing(self, node: _Node, rules: Sequence[Predicate]) -> int:
        """Return what the node does when nothing is known."""
        unknown = any(rule.decide({}) is None for rule in rules)
        if unknown and self.strategy in _SPREADING:
            return FRACTIONAL
        if unknown and self.strategy == "defaultChild":
            wanted = node.element.get("defaultChild")
            ids = [self.nodes[child].element.get("id") for child in node.children]
            if wanted in ids:
                return ids.index(wanted)
        if unknown and self.strategy in ("lastPrediction", "nullPrediction"):
            return STOP_HERE
        way = _way(rules, {})
        return way if isinstance(way, int) else STOP_HERE

    def _numbers(self, element: Element) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Statistics and value of a node."""
        records, score = _amount(element.get("recordCount"), 0.0), element.get("score")
        if self.target.classes is None:
            number = mean(score or "0", "the score of a node")
            return (records, number, 0.0), (number,)
        fields = {"": _Field("nominal", _data_of(self.target.classes), ())}
        classes = self.target.classes
        stats, shares = [0.0] * len(classes), [0.0] * len(classes)
        found = [part for part in element if local_name(part) == "ScoreDistribution"]
        for part in found:
            at = classes.index(_typed(fields, "", part.get("value", "")))
            stats[at] = _amount(part.get("recordCount"), 0.0)
            shares[at] = _amount(part.get("probability"), -1.0)
        prediction = classes.index(_typed(fields, "", score)) if score is not None else stats.index(max(stats))
        if not found:
            stats[prediction] = records
        exact = found and all(share >= 0 for share in shares) and abs(sum(shares) - 1) < 1e-6
        if exact and shares[prediction] == max(shares) and shares.index(max(shares)) == prediction:
            return tuple(stats), tuple(shares)
        return tuple(stats), probabilities_for(shares if exact else stats, prediction)


def _data_of(classes: Sequence[Level]) -> str:
    kinds: set[Any] = {type(label) for label in classes}
    return "string" if str in kinds else "boolean" if kinds == {bool} else "double"


def _amount(text: str | None, otherwise: float) -> float:
    return otherwise if text is None else count(text, "the count of a node")


class _Probed:
    """A column and the values that can make a difference: its levels, or one number of each interval."""

    def __init__(self, rules: Sequence[Predicate], spec: ColumnSpec) -> None:
        self.name = spec.name
        self.breaks, self.closed = _breaks(rules, spec.name) if spec.levels is None else ((), True)
        self.values: Sequence[Level] = _samples(self.breaks, self.closed) if spec.levels is None else spec.levels
        step = max(1, len(self.values) // 5)
        self.few = list(enumerate(self.values))[::step]


def _way(rules: Sequence[Predicate], row: Mapping[str, Level]) -> _Way:
    """Return the first child whose predicate is true, or nowhere; None where none is and some are unknown."""
    unknown = False
    for i, rule in enumerate(rules):
        try:
            prediction = rule.decide(row)
        except TypeError:  # a text never seen, compared by size
            prediction = False
        if prediction:
            return i
        unknown = unknown or prediction is None
    return None if unknown else "nowhere"


def _way_of(rules: Sequence[Predicate], name: str, value: Level, later: Sequence[_Probed]) -> _Way:
    """Return where a value sends a row; None where later columns decide as if it were missing."""
    way = _way(rules, {name: value})
    if way is not None and (alone := _way(rules, {})) != way and not (alone is None and way == "nowhere" and later):
        return way
    for other in later:
        for _, seen in other.few:
            without = _way(rules, {other.name: seen})
            if isinstance(without, int) and without != way:
                return None if _way(rules, {name: value, other.name: seen}) == without else way
    return way


def _breaks(rules: Sequence[Predicate], name: str) -> tuple[tuple[float, ...], bool]:
    """Return the numbers a column is compared with, and whether each belongs to the interval below it."""
    used = [p for rule in rules for p in rule.simple() if p.field == name and p.values]
    opened = {"lessThan", "greaterOrEqual"}
    if used and all(p.operator in opened for p in used):
        return tuple(sorted({float(p.values[0]) for p in used})), False
    found = set()
    for p in used:
        for value in map(float, p.values):
            if p.operator in (*opened, "equal", "notEqual", "isIn", "isNotIn"):
                found.add(math.nextafter(value, -math.inf))
            if p.operator not in opened:
                found.add(value)
    return tuple(sorted(found)), True


def _samples(breaks: Sequence[float], closed: bool) -> list[float]:
    """Return one number of each interval."""
    if not breaks:
        return [0.0]
    if closed:
        return [*breaks, math.nextafter(breaks[-1], math.inf)]
    return [math.nextafter(breaks[0], -math.inf), *breaks]
