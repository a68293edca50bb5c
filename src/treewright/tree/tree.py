"""The Tree: a plain value that holds what was learned, and the views through which it is read.

A `Tree` that exists is sound (see `tree_check`) and never changes; two trees are equal when every bit of their arrays,
their schema, their recipe and their cuts is. Nothing here computes a tree, and nothing here needs the core.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, SupportsIndex, TypeVar

import numpy as np

from treewright.data.arrays import Array, FloatArray, IndexArray
from treewright.data.schema import Level, Schema, TargetSpec, require_keys
from treewright.data.sparse_rows import copied, from_core, frozen
from treewright.recipes.recipe import Recipe
from treewright.tree.calibration import Calibration
from treewright.tree.certificate import Certificate
from treewright.tree.cuts import Cut, read_cuts, write_cuts
from treewright.tree.edits import NodeEdit, read_edits, write_edits
from treewright.tree.honest import Honest
from treewright.tree.json_form import read_arrays, read_recipe, write_arrays
from treewright.tree.models import LinearModel, read_models, write_models
from treewright.tree.soft import Soft
from treewright.tree.split import Split, items_of, split_at
from treewright.tree.validation import STOP_REASONS, check

Made = TypeVar("Made")

#: The parts of the written form that a tree may lack.
OPTIONAL = ("cuts", "certificate", "calibration", "honest", "soft", "models", "edits")


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A decision tree: an immutable value that predicts, explains and draws itself.

    Parameters
    ----------
    arrays : mapping of str to ndarray
        Nodes and splits as docs/boundary.md lists them; they are copied, checked and frozen.
    schema : Schema
        The columns and the target.
    recipe : Recipe
        The choices the tree was grown by.
    cuts : tuple of Cut, default=()
        The subtrees that pruning removed, in order; empty for a tree as it was grown.
    certificate : Certificate, optional
        What a search for the best tree has proven; None for other trees.
    calibration : Calibration, optional
        Intervals or sets of classes for the nodes, as `calibrate` computes them; None for other trees.
    honest : Honest, optional
        Statistics of the rows that the predictions of an honest tree come from; None for other trees.
    soft : Soft, optional
        Bands of thresholds, as `soften` computes them; None for other trees.
    edits : tuple of NodeEdit, default=()
        What was done by hand, in order of nodes (`treewright.edit`); empty for other trees.
    models : tuple of LinearModel, default=()
        The linear model of every node, by which a leaf predicts; empty for trees whose leaves are constant.
    """

    arrays: Mapping[str, Array]
    schema: Schema
    recipe: Recipe
    cuts: tuple[Cut, ...] = ()
    certificate: Certificate | None = None
    calibration: Calibration | None = None
    honest: Honest | None = None
    soft: Soft | None = None
    edits: tuple[NodeEdit, ...] = ()
    models: tuple[LinearModel, ...] = ()
    _kept: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        arrays = {name: copied(array) for name, array in self.arrays.items()}
        check(arrays, self.schema)
        frozen_arrays = {name: frozen(array) for name, array in arrays.items()}
        object.__setattr__(self, "arrays", MappingProxyType(frozen_arrays))
        self._kept["checked"] = True

    @classmethod
    def grown(cls, arrays: dict[str, Any], schema: Schema, recipe: Recipe) -> Tree:
        """Create a tree from arrays of the core, which are not shared or writable and need no validation."""
        arrays = {**arrays, **{name: from_core(arrays[name]) for name in ("stats", "value")}}
        tree = object.__new__(cls)
        parts = {"arrays": MappingProxyType(arrays), "schema": schema, "recipe": recipe, "cuts": (), "_kept": {}}
        for name, part in parts.items():
            object.__setattr__(tree, name, part)
        return tree

    # --- reading ---

    @property
    def n_nodes(self) -> int:
        return len(self.arrays["parent"])

    @cached_property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.arrays["stop"]))

    @cached_property
    def depth(self) -> int:
        return int(self.arrays["depth"].max())

    @property
    def root(self) -> Node:
        return Node(self, 0)

    def __len__(self) -> int:
        return self.n_nodes

    def __getitem__(self, node_id: SupportsIndex) -> Node:
        i = operator.index(node_id)
        if not 0 <= i < self.n_nodes:
            raise IndexError(f"there is no node {i}; this tree has nodes 0 to {self.n_nodes - 1}")
        return Node(self, i)

    def walk(self) -> Iterator[Node]:
        """Return every node, depth first, a parent before its children."""
        return (Node(self, i) for i in range(self.n_nodes))

    __iter__ = walk

    def keep(self, name: str, make: Callable[[], Made]) -> Made:
        """Return what `make` returned first: cache for values derived from the tree."""
        kept: dict[str, Made] = self._kept
        if name in kept:
            return kept[name]
        return kept.setdefault(name, make())  # two threads may both make it; both then use the one that was kept

    def check(self) -> None:
        """Raise `FileError` unless the arrays are a tree; once, for they never change."""
        self.keep("checked", lambda: check(self.arrays, self.schema))

    # --- being a value ---

    @cached_property
    def _schema_text(self) -> str:
        return json.dumps(self.schema.as_dict(), sort_keys=True)  # as text, because the level 1 is not the level True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        if self is other:
            return True
        # The written form of a recipe has the name of a user's criterion, and that is what counts.
        same = self._schema_text == other._schema_text and self.recipe.as_dict() == other.recipe.as_dict()
        same = same and (self.cuts, self.certificate) == (other.cuts, other.certificate)
        added, others = ((t.calibration, t.honest, t.soft, t.edits, t.models) for t in (self, other))
        same = same and added == others
        pairs = [(array, other.arrays[name]) for name, array in self.arrays.items()]
        return same and all(a.shape == b.shape for a, b in pairs) and all(a.tobytes() == b.tobytes() for a, b in pairs)

    @cached_property
    def _hash(self) -> int:
        digest = hashlib.blake2b(f"{self.recipe.name!r} {self._schema_text}".encode(), digest_size=8)
        for name in sorted(self.arrays):
            digest.update(self.arrays[name].tobytes())
        return int.from_bytes(digest.digest(), "big", signed=True)

    def __hash__(self) -> int:
        return self._hash

    def __copy__(self) -> Tree:
        return self

    def __deepcopy__(self, memo: Any) -> Tree:
        return self

    # --- the written form ---

    def as_dict(self) -> dict[str, Any]:
        """Return the written form: recipe, schema and the arrays as plain lists."""
        parts: dict[str, Any] = {
            "recipe": self.recipe.as_dict(),
            "schema": self.schema.as_dict(),
            **write_arrays(self.arrays),
        }
        parts |= {"cuts": write_cuts(self.cuts)} if self.cuts else {}
        parts |= {} if self.certificate is None else {"certificate": self.certificate.as_dict()}
        parts |= {} if self.calibration is None else {"calibration": self.calibration.as_dict()}
        parts |= {} if self.honest is None else {"honest": self.honest.as_dict()}
        parts |= {} if self.soft is None else {"soft": self.soft.as_dict()}
        parts |= {"models": write_models(self.models)} if self.models else {}
        return parts | ({"edits": write_edits(self.edits)} if self.edits else {})

    @staticmethod
    def from_dict(written: object) -> Tree:
        """Return the tree that `as_dict` wrote; anything else is a `FileError` that names the place."""
        parts = require_keys(written, "$", ("recipe", "schema", "nodes", "splits"), OPTIONAL)
        recipe, schema = read_recipe(parts["recipe"]), Schema.from_dict(parts["schema"])
        arrays = read_arrays(parts["nodes"], parts["splits"])
        cuts = read_cuts(parts.get("cuts", []), n := len(arrays["parent"]))
        certificate = Certificate.from_dict(parts["certificate"]) if "certificate" in parts else None
        calibration = Calibration.from_dict(parts["calibration"], n) if "calibration" in parts else None
        width = len(schema.target.classes or ()) or 2
        honest = Honest.from_dict(parts["honest"], n, width) if "honest" in parts else None
        edits = read_edits(parts.get("edits", []), arrays["stop"], schema)
        models = read_models(parts["models"], n, schema) if "models" in parts else ()
        plain = Tree(arrays, schema, recipe, cuts, certificate, calibration, honest, edits=edits, models=models)
        if "soft" not in parts:
            return plain
        return replace(plain, soft=Soft.from_dict(parts["soft"], plain.arrays))  # bands belong to checked thresholds

    def __reduce__(self) -> tuple[Callable[[object], Tree], tuple[dict[str, Any]]]:
        return Tree.from_dict, (self.as_dict(),)  # a pickled tree holds plain lists and is checked when it comes back

    # --- being shown ---

    def __repr__(self) -> str:
        rows, leaves = int(self.arrays["rows"][0]), self.n_leaves
        return (
            f"<Tree {self.recipe.name!r} for {self.schema.target.name!r}: {rows} rows, {self.n_nodes} nodes, "
            f"{leaves} leaves, depth {self.depth}>"
        )

    def __str__(self) -> str:
        # The outward looks of this room, and only when a tree is shown: a Tree that prints as itself is worth it,
        # and at import time nothing points from here to render.
        from treewright.render.tree_text import text

        return text(self)

    def _repr_html_(self) -> str:
        from treewright.render.notebook import notebook

        return notebook(self)


@dataclass(frozen=True, repr=False)
class Node:
    """One node of a tree: a light view, made on access."""

    tree: Tree
    id: int

    @property
    def depth(self) -> int:
        return int(self.tree.arrays["depth"][self.id])

    @property
    def parent(self) -> int | None:
        parent = int(self.tree.arrays["parent"][self.id])
        return None if parent < 0 else parent

    @property
    def children(self) -> tuple[int, ...]:
        return tuple(items_of(self.tree.arrays, "child_start", "children", self.id).tolist())

    @property
    def is_leaf(self) -> bool:
        return bool(self.tree.arrays["stop"][self.id] != 0)

    @property
    def stop(self) -> str | None:
        """Why the node is a leaf, such as "pure"; None for a node with children."""
        return STOP_REASONS.get(int(self.tree.arrays["stop"][self.id]))

    @property
    def rows(self) -> int:
        return int(self.tree.arrays["rows"][self.id])

    @property
    def weight(self) -> float:
        return float(self.tree.arrays["weight"][self.id])

    @property
    def counts(self) -> tuple[float, ...] | None:
        """The weight of each class; None for a numeric target."""
        return None if self._classes is None else tuple(self.tree.arrays["stats"][self.id].tolist())

    @property
    def mean(self) -> float | None:
        """The mean of a numeric target; None for classes."""
        return float(self.tree.arrays["stats"][self.id, 1]) if self._classes is None else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of a numeric target; None for classes."""
        if self._classes is not None:
            return None
        weight, _, squares = self.tree.arrays["stats"][self.id].tolist()
        return math.sqrt(squares / weight) if weight > 0 else 0.0

    @property
    def impurity(self) -> float:
        return float(self.tree.arrays["impurity"][self.id])

    @property
    def gain(self) -> float:
        return float(self.tree.arrays["gain"][self.id])

    @property
    def prediction(self) -> Level:
        """The most probable class (with costs, the cheapest prediction), the first of equals; or the number.

        With linear models this is the mean of the node; `model` is what it predicts by.
        """
        value = self.tree.arrays["value"][self.id]
        if self._classes is None:
            return float(value[0])
        return self._classes[int(predicted_index(self.tree.schema.target, value[np.newaxis])[0])]

    @property
    def probabilities(self) -> tuple[float, ...] | None:
        """The probability of each class; None for a numeric target."""
        return None if self._classes is None else tuple(self.tree.arrays["value"][self.id].tolist())

    @property
    def model(self) -> LinearModel | None:
        """The linear model of the node; None in trees whose leaves are constant."""
        return self.tree.models[self.id] if self.tree.models else None

    @property
    def edit(self) -> NodeEdit | None:
        """What was done by hand at the node; None: nothing."""
        return self.tree.keep("edits", lambda: {edit.node: edit for edit in self.tree.edits}).get(self.id)

    @property
    def recipe(self) -> Recipe:
        """The recipe that made the node: the tree's, unless it was grown by another (`treewright.edit.Grow`)."""
        node: Node | None = self
        while node is not None:
            if node.edit is not None and node.edit.recipe is not None:
                return node.edit.recipe
            node = None if node.parent is None or not self.tree.edits else self.tree[node.parent]
        return self.tree.recipe

    @property
    def split(self) -> Split | None:
        """The split of the node; None for a leaf."""
        if self.is_leaf:
            return None
        split, soft = split_at(self.tree.arrays, self.tree.schema, self._splits.start), self.tree.soft
        return split if soft is None else replace(split, band=soft.band(self.id))

    @property
    def surrogates(self) -> tuple[Split, ...]:
        """The surrogate splits, used in order where the value of the split column is missing."""
        first = self._splits.start + (not self.is_leaf)
        last = first + int(self.tree.arrays["n_surrogates"][self.id])
        return tuple(split_at(self.tree.arrays, self.tree.schema, i, surrogate=True) for i in range(first, last))

    @property
    def rivals(self) -> tuple[Split, ...]:
        """The splits that were beaten, best first."""
        first = self._splits.start + (not self.is_leaf) + int(self.tree.arrays["n_surrogates"][self.id])
        return tuple(split_at(self.tree.arrays, self.tree.schema, i) for i in range(first, self._splits.stop))

    @property
    def _classes(self) -> tuple[Level, ...] | None:
        return self.tree.schema.target.classes

    @property
    def _splits(self) -> range:
        start = self.tree.arrays["split_start"]
        return range(int(start[self.id]), int(start[self.id + 1]))

    def __repr__(self) -> str:
        what = f"predicts {self.prediction!r}" if self.split is None else f"splits on {self.split.column!r}"
        return f"<Node {self.id}: {what}, {self.rows} rows, depth {self.depth}>"


def cost_array(target: TargetSpec) -> FloatArray:
    """Return what predicting class j costs where class i is true, at [i, j]."""
    n = len(target.classes or ())
    return 1.0 - np.eye(n) if target.costs is None else np.array(target.costs, dtype=np.float64)


def predicted_index(target: TargetSpec, probabilities: Array) -> IndexArray:
    """Return the class predicted for each row of probabilities: the most probable or, with costs, the cheapest."""
    if target.costs is None:
        best: IndexArray = probabilities.argmax(axis=1)
    else:
        # Added up class by class: a matrix product may round one row in another way than many, and exports add so too.
        expected = np.zeros_like(probabilities)
        for share, costs in zip(probabilities.T, cost_array(target), strict=True):
            expected += share[:, np.newaxis] * costs
        best = expected.argmin(axis=1)
    return best


def node_classes(tree: Tree) -> IndexArray:
    """Return the class that each node predicts."""
    return predicted_index(tree.schema.target, tree.arrays["value"])
