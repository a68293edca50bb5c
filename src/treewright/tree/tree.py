"""The Tree: a plain value that holds what was learned, and the views through which it is read.

Comes in: the tree arrays of docs/boundary.md, the schema, the recipe, what was cut off.
Goes out: nodes and splits as small values.
Always holds: a `Tree` that exists is sound (see `tree_check`) and never changes; two trees are equal when every bit of
their arrays, their schema, their recipe and their cuts is. Nothing here computes a tree, and nothing here needs
the core.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, SupportsIndex, TypeVar

import numpy as np
from numpy.typing import NDArray

from treewright.data.schema import ColumnSpec, Level, Schema, TargetSpec, require_keys
from treewright.recipes.recipe import Recipe
from treewright.tree.cuts import Cut, read_cuts, write_cuts
from treewright.tree.json_form import read_arrays, read_recipe, write_arrays
from treewright.tree.text import bins_of_children, break_texts, conditions, name_text
from treewright.tree.validation import FRACTIONAL, RANDOM, STOP_HERE, STOP_REASONS, check

Made = TypeVar("Made")

_MISSING: dict[int, Literal["spread", "stop", "random"]] = {FRACTIONAL: "spread", STOP_HERE: "stop", RANDOM: "random"}


@dataclass(frozen=True)
class Split:
    """One question: which column, and which answer leads to which child.

    `missing` is the child for a missing value, or "spread" (every child, by share), "stop" (this node answers) or
    "random"; `unseen` the child for a level that no child holds, or "missing". `statistic`, `degrees` and `log_p` are
    None where no test was made, `agreement` and `adjusted` where the split is not a surrogate.
    """

    spec: ColumnSpec
    column_index: int
    breaks: tuple[float, ...]
    child_of_bin: tuple[int, ...]
    test: Literal["<=", "<"]
    share: tuple[float, ...]
    missing: int | Literal["spread", "stop", "random"]
    unseen: int | Literal["missing"]
    score: float
    gain: float
    statistic: float | None = None
    degrees: float | None = None
    log_p: float | None = None
    log_multiplier: float = 0.0
    agreement: float | None = None
    adjusted: float | None = None

    @property
    def column(self) -> str:
        return self.spec.name

    @property
    def n_children(self) -> int:
        return len(self.share)

    @property
    def threshold(self) -> float | None:
        """The one break of a split into two intervals; for times, in microseconds."""
        return self.breaks[0] if len(self.breaks) == 1 else None

    @property
    def threshold_text(self) -> str | None:
        return break_texts(self.spec, self.breaks, self.test == "<=")[0] if len(self.breaks) == 1 else None

    @property
    def groups(self) -> tuple[tuple[Level, ...], ...] | None:
        """The levels of each child."""
        if not self.spec.has_levels:
            return None
        levels, bins = self.spec.levels or (), bins_of_children(self.child_of_bin, self.n_children)
        return tuple(tuple(levels[i] for i in held) for held in bins)

    @property
    def p(self) -> float | None:
        return None if self.log_p is None else math.exp(min(0.0, self.log_p))

    @property
    def p_adjusted(self) -> float | None:
        """p times the Bonferroni multiplier, at most 1."""
        return None if self.log_p is None else math.exp(min(0.0, self.log_p + self.log_multiplier))

    @property
    def conditions(self) -> tuple[str, ...]:
        """One readable condition per child."""
        return self.words()

    def words(self, *, most: int | None = None, with_missing: bool = True) -> tuple[str, ...]:
        """The conditions; `most` cuts long lists of levels, `with_missing` says "or missing" where that leads."""
        name, closed = name_text(self.spec.name), self.test == "<="
        known = conditions(self.spec, self.breaks, self.child_of_bin, closed, self.n_children, most)
        texts = [text or f"no value of {name}" for text in known]
        if isinstance(self.missing, int):
            also = " or missing" if with_missing else ""
            texts[self.missing] = known[self.missing] + also if known[self.missing] else f"{name} is missing"
        return tuple(texts)


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """A decision tree: `Tree(arrays, schema, recipe)`; the arrays are copied, checked and frozen.

    `cuts`: what pruning took away, in the order it did; empty for a tree as it was grown.
    """

    arrays: Mapping[str, NDArray[Any]]
    schema: Schema
    recipe: Recipe
    cuts: tuple[Cut, ...] = ()
    _kept: dict[str, Any] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        frozen = {name: np.array(array, order="C") for name, array in self.arrays.items()}
        check(frozen, self.schema)
        for array in frozen.values():
            array.setflags(write=False)
        object.__setattr__(self, "arrays", MappingProxyType(frozen))

    @classmethod
    def grown(cls, arrays: dict[str, NDArray[Any]], schema: Schema, recipe: Recipe) -> Tree:
        """A tree straight from the core, whose arrays are nobody else's, cannot be written to and need no check."""
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
        """Every node, depth first, a parent before its children."""
        return (Node(self, i) for i in range(self.n_nodes))

    __iter__ = walk

    def keep(self, name: str, make: Callable[[], Made]) -> Made:
        """What `make` returned the first time: for things derived from the tree that are no part of its value."""
        if name not in self._kept:
            self._kept.setdefault(name, make())  # two threads may both make it; both then use the one that was kept
        kept: Made = self._kept[name]
        return kept

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
        same = same and self.cuts == other.cuts
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
        """The written form: recipe, schema and the arrays as plain lists."""
        parts = {"recipe": self.recipe.as_dict(), "schema": self.schema.as_dict(), **write_arrays(self.arrays)}
        return parts | ({"cuts": write_cuts(self.cuts)} if self.cuts else {})

    @staticmethod
    def from_dict(written: object) -> Tree:
        """The tree that `as_dict` wrote; anything else is a `FileError` that says where."""
        parts = require_keys(written, "$", ("recipe", "schema", "nodes", "splits"), ("cuts",))
        recipe, schema = read_recipe(parts["recipe"]), Schema.from_dict(parts["schema"])
        arrays = read_arrays(parts["nodes"], parts["splits"])
        return Tree(arrays, schema, recipe, read_cuts(parts.get("cuts", []), len(arrays["parent"])))

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
    """One node of a tree: a light view, made when asked for."""

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
        return tuple(self._slice("child_start", "children").tolist())

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
        """The most probable class (with costs, the cheapest answer), the first of equals; or the number."""
        value = self.tree.arrays["value"][self.id]
        if self._classes is None:
            return float(value[0])
        return self._classes[int(predicted_index(self.tree.schema.target, value[np.newaxis])[0])]

    @property
    def probabilities(self) -> tuple[float, ...] | None:
        """The probability of each class; None for a numeric target."""
        return None if self._classes is None else tuple(self.tree.arrays["value"][self.id].tolist())

    @property
    def split(self) -> Split | None:
        """The question the node asks; None for a leaf."""
        return None if self.is_leaf else _split(self.tree, self._splits.start)

    @property
    def surrogates(self) -> tuple[Split, ...]:
        """What is asked instead when the answer is missing, in order."""
        first = self._splits.start + (not self.is_leaf)
        last = first + int(self.tree.arrays["n_surrogates"][self.id])
        return tuple(_split(self.tree, i, surrogate=True) for i in range(first, last))

    @property
    def rivals(self) -> tuple[Split, ...]:
        """The splits that were beaten, best first."""
        first = self._splits.start + (not self.is_leaf) + int(self.tree.arrays["n_surrogates"][self.id])
        return tuple(_split(self.tree, i) for i in range(first, self._splits.stop))

    @property
    def _classes(self) -> tuple[Level, ...] | None:
        return self.tree.schema.target.classes

    @property
    def _splits(self) -> range:
        start = self.tree.arrays["split_start"]
        return range(int(start[self.id]), int(start[self.id + 1]))

    def _slice(self, start: str, items: str) -> NDArray[Any]:
        return _part(self.tree.arrays, start, items, self.id)

    def __repr__(self) -> str:
        what = f"answers {self.prediction!r}" if self.is_leaf else f"asks {self.split.column!r}"  # type: ignore[union-attr]
        return f"<Node {self.id}: {what}, {self.rows} rows, depth {self.depth}>"


def cost_array(target: TargetSpec) -> NDArray[np.float64]:
    """What answering class j costs where class i is true, at [i, j]."""
    n = len(target.classes or ())
    return 1.0 - np.eye(n) if target.costs is None else np.array(target.costs, dtype=np.float64)


def predicted_index(target: TargetSpec, probabilities: NDArray[Any]) -> NDArray[np.intp]:
    """The class answered for each row of probabilities: the most probable or, with costs, the cheapest."""
    if target.costs is None:
        best: NDArray[np.intp] = probabilities.argmax(axis=1)
    else:
        # Added up class by class: a matrix product may round one row in another way than many, and exports add so too.
        expected = np.zeros_like(probabilities)
        for share, costs in zip(probabilities.T, cost_array(target), strict=True):
            expected += share[:, np.newaxis] * costs
        best = expected.argmin(axis=1)
    return best


def _part(arrays: Mapping[str, NDArray[Any]], start: str, items: str, i: int) -> NDArray[Any]:
    return arrays[items][arrays[start][i] : arrays[start][i + 1]]


def _split(tree: Tree, i: int, surrogate: bool = False) -> Split:
    """Row i of the split table."""
    arrays = tree.arrays
    column, missing, unseen = (int(arrays[name][i]) for name in ("column", "missing", "unseen"))
    score, degrees = float(arrays["score"][i]), float(arrays["degrees"][i])
    tested = degrees > 0
    return Split(
        spec=tree.schema.columns[column],
        column_index=column,
        breaks=tuple(_part(arrays, "break_start", "breaks", i).tolist()),
        child_of_bin=tuple(_part(arrays, "bin_start", "child_of_bin", i).tolist()),
        test="<=" if arrays["closed"][i] else "<",
        share=tuple(_part(arrays, "share_start", "share", i).tolist()),
        missing=missing if missing >= 0 else _MISSING[missing],
        unseen=unseen if unseen >= 0 else "missing",
        score=score,
        gain=float(arrays["split_gain"][i]),
        statistic=float(arrays["statistic"][i]) if tested else None,
        degrees=degrees if tested else None,
        log_p=float(arrays["log_p"][i]) if tested else None,
        log_multiplier=float(arrays["log_multiplier"][i]),
        agreement=score if surrogate else None,
        adjusted=float(arrays["adjusted"][i]) if surrogate else None,
    )
