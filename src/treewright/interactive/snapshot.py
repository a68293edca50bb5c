"""A moment of a session: one tree over one table, and what is worked out from the two, each thing once."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from treewright.data.encoding import Encoded
from treewright.data.rows import take
from treewright.editing.edits import Edit, Split
from treewright.editing.prune_below import subtree
from treewright.errors import DataError
from treewright.export.javascript_source import split_lists
from treewright.inspection.derivation.explain_node import explain_node
from treewright.inspection.derivation.node_rows import Entries
from treewright.interactive.cuts import curve_dict, preview
from treewright.interactive.held_out import Losses, losses_of, trial_score
from treewright.interactive.node_columns import MOST_ROWS, column_dicts
from treewright.interactive.node_table import boundary, rows_page, scatter
from treewright.interactive.plain import summed
from treewright.interactive.ranges import (
    Ranges,
    entries_at,
    entries_of_rows,
    ranges_of,
    root_entries,
    weighed,
)
from treewright.interactive.ranked import ranked_splits
from treewright.interactive.start import Start
from treewright.interactive.table import Table
from treewright.prediction.evaluation import score_of_leaves, score_on
from treewright.recipes.recipe import Recipe
from treewright.reporting.pruning_steps import pruning_steps
from treewright.reporting.report import colours
from treewright.reporting.rows import sample
from treewright.reporting.structure import facts, nodes, schema
from treewright.tree.tree import Tree

Made = TypeVar("Made")

#: The rows to try are chosen from so many, evenly.
_MOST_SAMPLED = 20_000

#: Cuts that are shown.
_MOST_CUTS = 500

#: A held-out row that goes several ways is scored below a node where this much of it comes.
_MOSTLY = 0.5

#: Styles written into derivations, which the page's policy forbids; its style sheet has them.
_STYLE = re.compile(r' style="[^"]*"')


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A tree, its table and its log. Nothing of it changes; what was worked out is kept."""

    start: Start
    table: Table
    tree: Tree
    log: tuple[Edit, ...]
    _kept: dict[Any, Any] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.RLock)

    def _once(self, key: Any, make: Callable[[], Made]) -> Made:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = make()
            found: Made = self._kept[key]
            return found

    # --- rows ---------------------------------------------------------------------------------------------------------

    @cached_property
    def _whole(self) -> Entries:
        return root_entries(self.tree, self.table.training)

    @cached_property
    def ranges(self) -> Ranges:
        """The training rows of each node."""
        return ranges_of(self.tree, self.table.training, growing=True)

    @cached_property
    def held_ranges(self) -> Ranges:
        """The held-out rows of each node."""
        assert self.table.held_out is not None
        return ranges_of(self.tree, self.table.held_out, growing=False)

    @cached_property
    def losses(self) -> Losses | None:
        """The losses of held-out rows; None where no row is held out."""
        return None if self.table.held_out is None else losses_of(self.tree, self.table.held_out)

    def entries(self, node: int) -> Entries:
        """Return the rows of a node; those of the last node are kept."""
        self.check(node)
        with self._lock:
            if self._kept.get("entries", (None,))[0] != node:
                made = entries_at(self.ranges, node, self._whole)
                self._kept["entries"] = (node, made)
            entries: Entries = self._kept["entries"][1]
            return entries

    def _weighed(self, node: int) -> Entries:
        self.check(node)
        with self._lock:
            self._kept.pop("entries", None)
        return weighed(self.ranges, node, self._whole)

    def forget_rows(self) -> None:
        """Give back what is as long as the table, before work that needs the memory; it is made again when needed."""
        with self._lock:
            self._kept.pop("entries", None)
            for name in ("_whole", "ranges", "held_ranges", "losses"):
                vars(self).pop(name, None)

    def check(self, node: int) -> None:
        """Raise unless the tree has the node."""
        if not 0 <= node < self.tree.n_nodes:
            raise DataError(f"there is no node {node}; this tree has nodes 0 to {self.tree.n_nodes - 1}")

    def recipe_at(self, node: int) -> Recipe:
        """Return the recipe that splits of a node are made by: that of the tree."""
        self.check(node)
        return self.tree.recipe

    # --- the tree -----------------------------------------------------------------------------------------------------

    @cached_property
    def shown(self) -> dict[str, Any]:
        """The tree as the page draws it: a report without what only the whole page needs."""
        tree = self.tree
        return {
            "form": 2,
            "facts": facts(tree),
            "schema": schema(tree),
            "colours": colours(tree),
            "nodes": _marked(tree, nodes(tree)),
            "splits": split_lists(tree),
            "edits": [_edit_dict(edit) for edit in tree.edits],
            "cuts": [[cut.node, str(cut)] for cut in tree.cuts[:_MOST_CUTS]],
            "rows": self._sample(),
            "scores": self.scores,
            **dict.fromkeys(("details", "histograms", "rules", "inner_rules", "pruning", "pruned")),
            "importances": [],
        }

    def _sample(self) -> dict[str, Any]:
        """Return rows of each leaf to try, of a few thousand rows of the table."""
        row, _ = self.ranges.at(0)
        rows = np.sort(row[_spread(len(row), _MOST_SAMPLED)])
        return sample(self.tree, take(self.table.training, rows), rows)

    @cached_property
    def scores(self) -> dict[str, Any]:
        """The scores on training and held-out rows."""
        held = self.table.held_out
        return {"training": score_of_leaves(self.tree), "held_out": None if held is None else score_on(self.tree, held)}

    # --- a node -------------------------------------------------------------------------------------------------------

    def ranked(self, node: int, recipe: Recipe | None = None) -> dict[str, Any]:
        """Return every column's best split at a node."""
        used = recipe or self.recipe_at(node)
        entries = self.entries(node)

        def make() -> dict[str, Any]:
            return ranked_splits(self.tree, node, self.table.training, entries, lambda: self._weighed(node), used)

        return self._once(("ranked", node, used), make)

    def curve(self, node: int, column: str) -> dict[str, Any]:
        """Return the score of every cut of a column."""
        place = self._place(column)
        split = self.tree[node].split
        own = split is not None and split.column_index == place and len(split.breaks) == 1
        chosen = split.breaks[0] if own and split is not None else None

        def make() -> dict[str, Any]:
            return curve_dict(self.tree, self._weighed(node), place, self.recipe_at(node), chosen)

        return self._once(("curve", node, place), make)

    def tried(self, edit: Split) -> dict[str, Any]:
        """Return what a split would do: its children, its score, the held-out score, and what it costs."""
        self._place(edit.column)
        recipe = self.recipe_at(edit.node)
        trial, found = preview(self.entries(edit.node), edit, recipe)
        held = self.table.held_out
        if held is not None and self.losses is not None:
            found["held_out"] = trial_score(
                self.tree, edit.node, edit, trial, held, self.held_ranges, self.losses, recipe
            )
        return found

    def levels(self, node: int, column: str) -> dict[str, Any]:
        """Return the levels of a column at a node with what each holds."""
        place = self._place(column)
        spec = self.tree.schema.columns[place]
        if spec.levels is None:
            raise DataError(f"column {column!r} has no levels; it is cut at a threshold")
        entries = self.entries(node)
        codes = entries.encoded.columns[place]
        weight, target = entries.weight, entries.encoded.target
        assert target is not None
        n_classes = entries.encoded.n_classes
        found: dict[str, Any] = {"column": column, "levels": list(spec.levels), "ordered": spec.kind == "ordinal"}
        known = codes >= 0
        found["missing"] = int(np.count_nonzero(~known & (weight > 0)))
        found["rows"] = np.bincount(codes[known], weight[known] > 0, len(spec.levels)).astype(int).tolist()
        if n_classes:
            flat = np.bincount(codes[known] * n_classes + target[known], weight[known], len(spec.levels) * n_classes)
            return found | {"counts": flat.reshape(-1, n_classes).tolist()}
        total = np.bincount(codes[known], weight[known], len(spec.levels))
        sums = np.bincount(codes[known], weight[known] * target[known], len(spec.levels))
        return found | {"mean": [s / t if t > 0 else None for s, t in zip(sums.tolist(), total.tolist(), strict=True)]}

    def columns(self, node: int) -> list[dict[str, Any]]:
        """Return the columns at a node."""
        self.check(node)
        row, fraction = self.ranges.at(node)
        chosen = _spread(len(row), MOST_ROWS)
        some = entries_of_rows(row[chosen], None if fraction is None else fraction[chosen], self._whole)
        return self._once(("columns", node), lambda: column_dicts(some))

    def pruning(self, node: int) -> dict[str, Any]:
        """Return the pruning path of what lies below a node, with the risk of its held-out rows."""
        self.check(node)
        if self.tree[node].is_leaf:
            raise DataError(f"node {node} is a leaf, so nothing lies below it to prune; select a node with children")

        def make() -> dict[str, Any]:
            held = self.table.held_out
            if held is not None and node > 0:
                row, fraction = self.held_ranges.at(node)
                whole = row if fraction is None else row[fraction >= _MOSTLY]
                held = take(held, np.sort(whole)) if len(whole) else None
            return pruning_steps(subtree(self.tree, node), held)

        return self._once(("pruning", node), make)

    def arithmetic(self, node: int, column: str | None) -> dict[str, Any]:
        """Return the derivation of a node as HTML, every name escaped."""
        self.check(node)
        if column is not None:
            self._place(column)
        entries = None if self.tree[node].is_leaf and column is None else self._weighed(node)
        found = explain_node(self.tree, node, entries, column=column)
        return {"heading": found.heading, "html": _STYLE.sub("", found.html())}

    def rows(self, node: int, *, unseen: bool, sort: str | None, down: bool, first: int, n: int) -> dict[str, Any]:
        """Return a page of the rows of a node."""
        rows, numbers, ranges = self._side(unseen)
        self.check(node)
        return rows_page(self.tree, rows, numbers, ranges.at(node)[0], sort, down, first, n)

    def scatter(self, node: int, names: tuple[str, str], *, unseen: bool) -> dict[str, Any]:
        """Return points of two columns at a node, the cuts below it, and of held-out rows which are mistakes."""
        rows, numbers, ranges = self._side(unseen)
        self.check(node)
        loss = self.losses.loss if unseen and self.losses is not None else None
        found = scatter(self.tree, rows, numbers, ranges.at(node)[0], names, loss)
        return found | {"cuts": boundary(self.tree, node, names)}

    def mistakes(self) -> dict[str, Any]:
        """Return the held-out loss of every node: where mistakes lie."""
        if self.losses is None:
            raise DataError("no rows are held out; start with a share of the rows held out to see where mistakes lie")
        found = []
        for node in range(self.tree.n_nodes):
            row, fraction = self.held_ranges.at(node)
            weight = self.losses.weight[row] * (1.0 if fraction is None else fraction)
            found.append([float(weight.sum()), summed(weight, self.losses.loss[row])])
        return {"measure": self.losses.measure, "nodes": found}

    def _side(self, unseen: bool) -> tuple[Encoded, Any, Ranges]:
        if not unseen:
            return self.table.training, np.arange(self.table.training.n_rows), self.ranges
        if self.table.held_out is None:
            raise DataError("no rows are held out; start with a share of the rows held out")
        return self.table.held_out, self.table.held_number, self.held_ranges

    def _place(self, column: str) -> int:
        if column not in self.tree.schema.names:
            raise DataError(f"the tree has no column {column!r}")
        return self.tree.schema.names.index(column)


def _spread(n: int, most: int) -> Any:
    """Return at most so many places of n, evenly chosen."""
    return slice(None) if n <= most else np.linspace(0, n - 1, most).astype(np.intp)


def _marked(tree: Tree, lists: dict[str, Any]) -> dict[str, Any]:
    """Return the lists of nodes, where those that were pruned by hand are marked as well."""
    pruned = {cut.node for cut in tree.cuts if cut.reason.startswith("by hand: ") and tree[cut.node].stop == "pruned"}
    if not pruned:
        return lists
    marks = lists["by_hand"] or [""] * tree.n_nodes
    both = ("; ".join(filter(None, (mark, "pruned by hand" * (i in pruned)))) for i, mark in enumerate(marks))
    return lists | {"by_hand": list(both)}


def _edit_dict(edit: Any) -> dict[str, Any]:
    return {
        "node": edit.node,
        "split": edit.split,
        "against": edit.against,
        "forbidden": list(edit.forbidden),
        "locked": edit.locked,
        "prediction": edit.prediction,
        "recipe": None if edit.recipe is None else edit.recipe.name,
    }
