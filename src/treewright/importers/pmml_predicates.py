"""PMML's predicates: read from XML, and decided by its logic of three values.

A predicate that exists is one this module can decide; anything else is a `FileError` that names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from treewright.data.schema import Level
from treewright.errors import FileError

#: More predicates in each other than this no program writes.
DEEPEST = 200

_COMPOUND = ("and", "or", "xor", "surrogate")
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    "equal": lambda a, b: a == b,
    "notEqual": lambda a, b: a != b,
    "lessThan": lambda a, b: a < b,
    "lessOrEqual": lambda a, b: a <= b,
    "greaterThan": lambda a, b: a > b,
    "greaterOrEqual": lambda a, b: a >= b,
}


@dataclass(frozen=True)
class Predicate:
    """`operator` is PMML's word; `field` and `values` for those that split on a field, `parts` for compounds."""

    operator: str
    field: str = ""
    values: tuple[Level, ...] = ()
    parts: tuple[Predicate, ...] = ()

    @property
    def splits(self) -> bool:
        """Whether it splits on a field, whose name may be empty."""
        return self.operator not in ("true", "false", *_COMPOUND)

    def simple(self) -> Iterator[Predicate]:
        """Yield the predicates in it that split on a field, in order."""
        if self.splits:
            yield self
        for part in self.parts:
            yield from part.simple()

    def decide(self, row: Mapping[str, Level]) -> bool | None:
        """Return whether it holds; None where a field that it needs is not in the row."""
        if self.operator in ("true", "false"):
            return self.operator == "true"
        if self.splits:
            return self._decide_field(row)
        predictions = (part.decide(row) for part in self.parts)
        if self.operator == "surrogate":
            return next((prediction for prediction in predictions if prediction is not None), None)
        found = list(predictions)
        if self.operator == "xor":
            return None if None in found else sum(map(bool, found)) % 2 == 1
        decisive = self.operator == "or"
        return decisive if decisive in found else None if None in found else not decisive

    def _decide_field(self, row: Mapping[str, Level]) -> bool | None:
        known = self.field in row
        if self.operator in ("isMissing", "isNotMissing"):
            return known == (self.operator == "isNotMissing")
        if not known:
            return None
        value = row[self.field]
        if self.operator in ("isIn", "isNotIn"):
            return (value in self.values) == (self.operator == "isIn")
        return _ORDER[self.operator](value, self.values[0])


def read_predicate(element: Element, typed: Callable[[str, str], Level], depth: int = 0) -> Predicate:
    """Return the predicate in an element; `typed` turns a field's text into its value."""
    kind = local_name(element)
    if depth > DEEPEST:
        raise FileError("predicates are nested too deeply")
    if kind in ("True", "False"):
        return Predicate(kind.lower())
    if kind == "CompoundPredicate":
        operator = element.get("booleanOperator", "")
        if operator not in _COMPOUND:
            raise FileError(f"CompoundPredicate has the unknown operator {operator[:40]!r}")
        parts = tuple(read_predicate(part, typed, depth + 1) for part in element if local_name(part) != "Extension")
        return Predicate(operator, parts=parts)
    field = element.get("field", "")
    if kind == "SimplePredicate":
        operator = element.get("operator", "")
        if operator in ("isMissing", "isNotMissing"):
            return Predicate(operator, field)
        if operator not in _ORDER:
            raise FileError(f"SimplePredicate has the unknown operator {operator[:40]!r}")
        return Predicate(operator, field, (typed(field, element.get("value", "")),))
    if kind == "SimpleSetPredicate":
        operator = element.get("booleanOperator", "")
        array = next((part for part in element if local_name(part) == "Array"), None)
        if array is None or operator not in ("isIn", "isNotIn"):
            raise FileError(f"SimpleSetPredicate about {field[:40]!r} has no Array, or an unknown operator")
        return Predicate(operator, field, tuple(typed(field, text) for text in _items(array.text or "")))
    raise FileError(f"{kind[:40]} is no predicate that can be read")


def is_predicate(element: Element) -> bool:
    return local_name(element) in ("True", "False", "SimplePredicate", "SimpleSetPredicate", "CompoundPredicate")


def local_name(element: Element) -> str:
    """Return the element's name without its namespace."""
    return str(element.tag).rsplit("}", 1)[-1]


def _items(text: str) -> list[str]:
    """Return the items of an array: divided by white space, in quotes where they hold some."""
    found = re.findall(r'"((?:\\"|[^"])*)"|(\S+)', text)
    return [plain or quoted.replace('\\"', '"') for quoted, plain in found]
