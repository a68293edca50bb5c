"""What was done to a tree by hand, node by node: one small value per node.

Like cuts, edits name nodes of the tree they belong to; renumbering nodes moves them along.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

from treewright.data.schema import Schema, json_kind, require_keys
from treewright.errors import DataError, FileError
from treewright.recipes.recipe import Recipe
from treewright.tree.json_form import read_recipe
from treewright.tree.validation import STOP_REASONS


class LockedError(DataError):
    """A locked node would be cut off."""

    def __init__(self, node: int) -> None:
        super().__init__(f"node {node} is locked and would be cut off; unlock it first: Unlock({node})")
        self.node = node


@dataclass(frozen=True)
class NodeEdit:
    """What was done by hand at one node.

    Attributes
    ----------
    node : int
        The node.
    split : bool
        Its split was given, not searched.
    against : str, optional
        Why the recipe would not have chosen that split, such as "no gain"; None: it might have.
    missing : bool
        Where missing values go was given with the split.
    forbidden : tuple of str
        Columns that may not be used in this node and below it; splits made before stay.
    locked : bool
        Edits may neither change nor remove the node.
    prediction : bool
        Its prediction was set.
    recipe : Recipe, optional
        The recipe that made this node and those below it; None: that of the node above, for the root the tree's.
    """

    node: int
    split: bool = False
    against: str | None = None
    missing: bool = False
    forbidden: tuple[str, ...] = ()
    locked: bool = False
    prediction: bool = False
    recipe: Recipe | None = None

    @property
    def by_hand(self) -> bool:
        """Whether anything was done by hand."""
        return self != NodeEdit(self.node)


def moved(
    edits: Iterable[NodeEdit], new_id: Mapping[int, int], leaves: Collection[int] = frozenset()
) -> tuple[NodeEdit, ...]:
    """Return the edits of the nodes that are left, under their new ids.

    `leaves`: old ids of nodes that lose their subtree and become leaves. A locked node that would be lost or lose its
    split raises `DataError`.
    """
    found = []
    for edit in edits:
        if edit.locked and (edit.node not in new_id or edit.node in leaves):
            raise LockedError(edit.node)
        if edit.node not in new_id:
            continue
        kept = replace(edit, split=False, against=None, missing=False) if edit.node in leaves else edit
        found.append(replace(kept, node=new_id[edit.node]))
    return tuple(edit for edit in found if edit.by_hand)


def write_edits(edits: Sequence[NodeEdit]) -> list[dict[str, Any]]:
    """Return the written form, one object per node with what was done there."""
    return [_written(edit) for edit in edits]


def _written(edit: NodeEdit) -> dict[str, Any]:
    parts: dict[str, Any] = {"node": edit.node}
    parts |= {name: True for name in ("split", "missing", "locked", "prediction") if getattr(edit, name)}
    parts |= {} if edit.against is None else {"against": edit.against}
    parts |= {"forbidden": list(edit.forbidden)} if edit.forbidden else {}
    return parts | ({} if edit.recipe is None else {"recipe": edit.recipe.as_dict()})


def read_edits(written: object, stop: Sequence[int], schema: Schema) -> tuple[NodeEdit, ...]:
    """Return the edits that `write_edits` wrote, of a tree whose nodes stop for these reasons."""
    if type(written) is not list:
        raise FileError(f"$.edits must be a list, not {json_kind(written)}")
    found = tuple(_read(entry, stop, schema, f"$.edits[{i}]") for i, entry in enumerate(written))
    if any(a.node >= b.node for a, b in pairwise(found)):
        raise FileError("$.edits must have each node once, in rising order")
    return found


def _read(written: object, stop: Sequence[int], schema: Schema, place: str) -> NodeEdit:
    entry = dict(require_keys(written, place, ("node",), [one.name for one in fields(NodeEdit)]))
    for name in ("split", "missing", "locked", "prediction"):
        if entry.get(name, True) is not True:
            raise FileError(f"{place}.{name} must be true, or left out, not {json_kind(entry[name])}")
    node = entry["node"]
    if type(node) is not int or not 0 <= node < len(stop):
        raise FileError(f"{place}.node must be the id of a node, 0 to {len(stop) - 1}")
    if "split" in entry and stop[node] != 0:
        raise FileError(f"{place}.split: node {node} is a leaf")
    if "against" in entry and ("split" not in entry or entry["against"] not in STOP_REASONS.values()):
        raise FileError(f"{place}.against must be a reason to stop, of a node whose split was given")
    if "forbidden" in entry:
        columns = entry["forbidden"]
        if type(columns) is not list or not columns or not all(one in schema.names for one in columns):
            raise FileError(f"{place}.forbidden must be a list of names of columns")
        entry["forbidden"] = tuple(columns)
    if "recipe" in entry:
        entry["recipe"] = read_recipe(entry["recipe"])
    edit = NodeEdit(**entry)
    if not edit.by_hand:
        raise FileError(f"{place} has no edit of node {node}")
    return edit
