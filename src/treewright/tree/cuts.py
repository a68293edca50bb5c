"""What was cut off a tree, and why: one small value per place.

A cut names a node of the tree it belongs to, so its path can be shown as long as the tree exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from treewright.data.schema import json_kind, require_keys
from treewright.errors import FileError


@dataclass(frozen=True)
class Cut:
    """One subtree that is no more: `node` stands in its place, `question` is the condition of its split.

    `leaves`: how many leaves are gone for good. `reason`: the pruner's, with its numbers.
    """

    node: int
    question: str
    leaves: int
    reason: str

    def __str__(self) -> str:
        leaves = f"{self.leaves} {'leaf' if self.leaves == 1 else 'leaves'} less"
        return f"node {self.node} split on {self.question}; {leaves}: {self.reason}"


def write_cuts(cuts: Sequence[Cut]) -> list[dict[str, Any]]:
    """Return the written form, one object per cut."""
    return [{"node": c.node, "question": c.question, "leaves": c.leaves, "reason": c.reason} for c in cuts]


def read_cuts(written: object, n_nodes: int) -> tuple[Cut, ...]:
    """Return the cuts that `write_cuts` wrote, of a tree with so many nodes."""
    if type(written) is not list:
        raise FileError(f"$.cuts must be a list, not {json_kind(written)}")
    return tuple(_read_cut(entry, n_nodes, f"$.cuts[{i}]") for i, entry in enumerate(written))


def _read_cut(written: object, n_nodes: int, place: str) -> Cut:
    entry = require_keys(written, place, ("node", "question", "leaves", "reason"))
    for name, kind, what in (
        ("node", int, "a whole number"),
        ("leaves", int, "a whole number"),
        ("question", str, "a string"),
        ("reason", str, "a string"),
    ):
        if type(entry[name]) is not kind:
            raise FileError(f"{place}.{name} must be {what}, not {json_kind(entry[name])}")
    if not 0 <= entry["node"] < n_nodes:
        raise FileError(f"{place}.node must be the id of a node, 0 to {n_nodes - 1}")
    if entry["leaves"] < 0:
        raise FileError(f"{place}.leaves must not be negative")
    return Cut(entry["node"], entry["question"], entry["leaves"], entry["reason"])
