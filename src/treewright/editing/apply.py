"""Apply an edit: a pure function from a tree to a tree.

Nodes outside the edited subtree keep every bit. Splitting and growing go through the engine: rows are sent from the
root to the node by the tree's own splits, so statistics, missing values and draws are those of ordinary growing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from treewright.data.arrays import FloatArray
from treewright.data.encoding import Encoded
from treewright.data.finite_arithmetic import finite_arithmetic
from treewright.data.number_text import many
from treewright.data.value_text import listed
from treewright.editing.checks import check_columns, check_node, check_unlocked, core_split, forbidden_at
from treewright.editing.edits import Allow, Collapse, Edit, Forbid, Grow, Lock, Prune, SetPrediction, Split, Unlock
from treewright.editing.graft import graft
from treewright.editing.prune_below import prune_below
from treewright.editing.training_rows import rows_at, rows_for_edits
from treewright.errors import DataError
from treewright.growing.grow import grow_at
from treewright.growing.progress import Progress
from treewright.prediction.routing import missing_while_growing
from treewright.pruning.cut import cut
from treewright.recipes.recipe import Recipe
from treewright.tree.as_tree import TreeLike, constant_tree
from treewright.tree.edits import NodeEdit, moved
from treewright.tree.leaf_values import shrunk
from treewright.tree.shape import ends, leaves_below
from treewright.tree.tree import Node, Tree
from treewright.tree.validation import BY_HAND, STOP_REASONS

_DEPTH, _LEAF_LIMIT = 2, 7


@dataclass(frozen=True)
class Work:
    """How the engine works: its threads, and who follows."""

    n_threads: int
    progress: Progress | None = None

    def part(self, done: int, n: int) -> Work:
        """Return the work on one of several parts of equal size, of which some are done."""
        follow = self.progress
        return Work(self.n_threads, None if follow is None else lambda one: follow((done + one) / n))


def apply(
    tree: TreeLike, edit: Edit, data: object = None, target: object = None, weight: object = None, n_threads: int = 0
) -> Tree:
    """Apply an edit to a tree.

    Parameters
    ----------
    tree : Tree or fitted estimator
        The tree; it is not changed.
    edit : Edit
        What to do, such as `tw.edit.Split(0, "age", threshold=30)`.
    data : table, optional
        The rows that the tree was learned from; `Split` and `Grow` need them.
    target : str or array-like, optional
        The target column of `data`, by name or value; by default named as in training.
    weight : str or array-like, optional
        The weights of the rows of `data`.
    n_threads : int, default=0
        Number of threads; 0 means all processors. The tree is the same for any number.

    Returns
    -------
    Tree
        The edited tree; `tree.edits` lists what was done by hand. It has no certificate and is not calibrated.

    Raises
    ------
    DataError
        If the edit is impossible, with the reason: an empty child, a locked node, an unknown level, ...

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"age": [20, 25, 40, 60], "town": ["a", "b", "a", "b"], "buys": ["no", "no", "yes", "yes"]}
    >>> tree = tw.learn(table, "buys", tw.CART.with_(pruning=None))
    >>> edited = tw.edit.apply(tree, tw.edit.Split(0, "town", groups=[["a"]]), table)
    >>> edited.root.split.column, edited.root.edit.against
    ('town', 'no gain')
    >>> tw.edit.apply(edited, tw.edit.Grow(0), table) == tree
    True
    """
    tree = constant_tree(tree, "edit.apply")
    if not isinstance(edit, Edit):
        raise DataError(f"an edit is a value of tw.edit, such as tw.edit.Collapse(3), not {edit!r}")
    return apply_rows(tree, edit, rows_for_edits(tree, (edit,), data, target, weight, n_threads), n_threads)


@finite_arithmetic()
def apply_rows(
    tree: Tree, edit: Edit, rows: Encoded | None, n_threads: int = 0, progress: Progress | None = None
) -> Tree:
    """Apply an edit with rows that are encoded already; `progress` follows growing, and ends it by raising."""
    if tree.honest is not None:
        raise DataError(
            "the leaves of an honest tree are filled by rows that did not choose its splits; edit a tree that was "
            "learned without honest=True"
        )
    check_node(tree, edit.node)
    hard = tree if tree.soft is None else replace(tree, soft=None)
    return _BY_EDIT[type(edit)](hard, edit, rows, Work(n_threads, progress))


# --- through the engine -----------------------------------------------------------------------------------------------


def _split(tree: Tree, edit: Split, rows: Encoded, work: Work) -> Tree:
    check_unlocked(tree, edit.node)
    check_columns(tree, (edit.column,))
    forbidden = forbidden_at(tree, edit.node)
    if edit.column in forbidden:
        place = forbidden[edit.column]
        raise DataError(
            f"column {edit.column!r} is forbidden in node {place} and below; allow it first: "
            f"Allow({place}, {edit.column!r})"
        )
    here = rows_at(tree, rows, edit.node, work.n_threads)
    given = core_split(tree, edit, rows, here)
    grown, at, against = _grown(tree, edit.node, rows, tree.recipe, given, forbidden, work)
    done = {"split": True, "missing": edit.missing is not None}
    edited = _grafted(tree, edit.node, grown, at, tree.recipe, done)
    limit = tree.recipe.stopping.max_leaf_nodes
    if not against and limit is not None and edited.n_leaves > limit:
        against = _LEAF_LIMIT
    return _noted(edited, edit.node, against=STOP_REASONS[against]) if against else edited


def _grow(tree: Tree, edit: Grow, rows: Encoded, work: Work) -> Tree:
    if edit.keep and not tree[edit.node].is_leaf:
        return _grow_leaves(tree, edit, rows, work)
    check_unlocked(tree, edit.node)
    check_columns(tree, edit.without)
    recipe = edit.recipe if isinstance(edit.recipe, Recipe) else tree.recipe
    left_out = {**forbidden_at(tree, edit.node), **dict.fromkeys(edit.without, edit.node)}
    limited = _limited(tree, edit, recipe)
    grown, at, _ = _grown(tree, edit.node, rows, limited, None, left_out, work)
    if limited.stopping.max_depth != recipe.stopping.max_depth:
        stop = np.array(grown.arrays["stop"])
        stop[(stop == _DEPTH) & (grown.arrays["depth"] == limited.stopping.max_depth)] = BY_HAND
        grown = Tree.grown({**grown.arrays, "stop": stop}, tree.schema, recipe)
    node = tree[edit.node]
    if node.is_leaf and node.edit is None and node.recipe == recipe and node.stop == grown[at].stop:
        return tree
    return _grafted(tree, edit.node, grown, at, recipe, {})


def _grow_leaves(tree: Tree, edit: Grow, rows: Encoded, work: Work) -> Tree:
    """Grow the leaves below a node, the last first, so that those that wait keep their ids."""
    check_columns(tree, edit.without)
    waiting = [i for i in range(edit.node, ends(tree)[edit.node]) if _may_grow(tree[i], edit.recipe or tree.recipe)]
    for done, leaf in enumerate(reversed(waiting)):
        tree = _grow(tree, replace(edit, node=leaf), rows, work.part(done, len(waiting)))
    return tree


def _may_grow(leaf: Node, recipe: Recipe | str) -> bool:
    """Return whether this is a leaf that a recipe might split and nobody has fixed by hand."""
    fixed = leaf.edit is not None and (leaf.edit.locked or leaf.edit.prediction)
    small = leaf.stop == "too few rows" and leaf.recipe == recipe
    return leaf.is_leaf and not fixed and not small and leaf.stop not in {"pure", "empty"}


def _limited(tree: Tree, edit: Grow, recipe: Recipe) -> Recipe:
    """Return the recipe with the limits that are left: the levels wanted, the leaves that other nodes do not have."""
    stopping, node = recipe.stopping, tree[edit.node]
    simplify = recipe.simplify if edit.levels is None else None
    if edit.levels is not None and (stopping.max_depth is None or node.depth + edit.levels < stopping.max_depth):
        stopping = replace(stopping, max_depth=node.depth + edit.levels)
    if stopping.max_leaf_nodes is not None:
        # On the way to the node the engine sees leaves only, where the tree may have subtrees.
        elsewhere = tree.n_leaves - int(leaves_below(tree)[edit.node])
        beside = sum(len(tree[parent].children) - 1 for parent, _ in way_to(tree, edit.node))
        stopping = replace(stopping, max_leaf_nodes=max(2, stopping.max_leaf_nodes - elsewhere + beside))
    return replace(recipe, stopping=stopping, simplify=simplify)


def way_to(tree: Tree, node: int) -> list[tuple[int, int]]:
    """Return the nodes above a node, from the root, each with the number of the child that leads to it."""
    way = []
    while (parent := tree[node].parent) is not None:
        way.append((parent, tree[parent].children.index(node)))
        node = parent
    return way[::-1]


def _grown(
    tree: Tree,
    node: int,
    rows: Encoded,
    recipe: Recipe,
    split: dict[str, Any] | None,
    forbidden: Mapping[str, int],
    work: Work,
) -> tuple[Tree, int, int]:
    """Return the tree that the engine grows at a node, the node's id there, and what the recipe has against a split."""
    given = {
        "arrays": {**tree.arrays, "missing": missing_while_growing(tree)},
        "node": node,
        "split": split,
        "allowed": [name not in forbidden for name in tree.schema.names],
    }
    grown, against = grow_at(rows, tree.schema, recipe, given, work.n_threads, work.progress)
    at = 0
    for _, child in way_to(tree, node):
        at = grown[at].children[child]
    ours, theirs = np.asarray(tree.arrays["stats"][node]), np.asarray(grown.arrays["stats"][at])
    scale = max(1.0, float(np.abs(ours).max()))
    if tree[node].rows != grown[at].rows or np.abs(ours - theirs).max() > 1e-6 * scale:
        raise DataError(
            f"node {node} of the tree has {many(tree[node].rows, 'row')} of weight {tree[node].weight:g}, and of these "
            f"rows {grown[at].rows} of weight {grown[at].weight:g} come there: they are not the rows, or have not the "
            "weights, that the tree was learned from"
        )
    return grown, at, against


def _grafted(tree: Tree, node: int, grown: Tree, at: int, recipe: Recipe, done: Mapping[str, Any]) -> Tree:
    """Return the tree with the new subtree; of what was done at the node before, only forbidden columns stay."""
    arrays, new_id = graft(tree, node, grown, at)
    before, parent = tree[node].edit, tree[node].parent
    above = tree.recipe if parent is None else tree[parent].recipe
    ours = NodeEdit(
        node,
        forbidden=() if before is None else before.forbidden,
        recipe=None if recipe == above else recipe,
        **done,
    )
    edits = [*moved(tree.edits, new_id), *([ours] if ours.by_hand else [])]
    cuts = tuple(replace(one, node=new_id[one.node]) for one in tree.cuts if one.node in new_id)
    return shrunk(Tree(arrays, tree.schema, tree.recipe, cuts, edits=_in_order(edits)))


# --- without rows -----------------------------------------------------------------------------------------------------


def _collapse(tree: Tree, edit: Collapse, _rows: Encoded | None, _work: Work) -> Tree:
    check_unlocked(tree, edit.node)
    if tree[edit.node].is_leaf:
        raise DataError(f"node {edit.node} is a leaf already")
    return cut(tree, {edit.node: "by hand: collapsed"})


def _prune(tree: Tree, edit: Prune, rows: Encoded | None, work: Work) -> Tree:
    return prune_below(tree, edit, rows, work.n_threads, work.progress)


def _forbid(tree: Tree, edit: Forbid, _rows: Encoded | None, _work: Work) -> Tree:
    check_columns(tree, edit.columns)
    before = tree[edit.node].edit
    columns = (*(before.forbidden if before is not None else ()), *edit.columns)
    return _noted(tree, edit.node, forbidden=tuple(name for name in tree.schema.names if name in columns))


def _allow(tree: Tree, edit: Allow, _rows: Encoded | None, _work: Work) -> Tree:
    check_columns(tree, edit.columns)
    before = tree[edit.node].edit
    here = before.forbidden if before is not None else ()
    unknown = [column for column in edit.columns if column not in here]
    if unknown:
        places = forbidden_at(tree, edit.node)
        above = f"; it is forbidden in node {places[unknown[0]]}, above" if unknown[0] in places else ""
        raise DataError(f"column {unknown[0]!r} is not forbidden in node {edit.node}{above}")
    return _noted(tree, edit.node, forbidden=tuple(name for name in here if name not in edit.columns))


def _lock(tree: Tree, edit: Lock, _rows: Encoded | None, _work: Work) -> Tree:
    return _noted(tree, edit.node, locked=True)


def _unlock(tree: Tree, edit: Unlock, _rows: Encoded | None, _work: Work) -> Tree:
    return _noted(tree, edit.node, locked=False)


def _set_prediction(tree: Tree, edit: SetPrediction, _rows: Encoded | None, _work: Work) -> Tree:
    check_unlocked(tree, edit.node)
    node, classes = tree[edit.node], tree.schema.target.classes
    if not node.is_leaf:
        raise DataError(f"node {edit.node} has children; only leaves predict, so collapse it first")
    value: FloatArray = np.array(tree.arrays["value"])
    if classes is None:
        if isinstance(edit.prediction, (str, bool)):
            raise DataError(
                f"the target {tree.schema.target.name!r} is a number, so {edit.prediction!r} is no prediction"
            )
        value[edit.node] = float(edit.prediction)
    else:
        if edit.prediction not in classes:
            raise DataError(
                f"{edit.prediction!r} is no class of {tree.schema.target.name!r}; classes are {listed(classes)}"
            )
        value[edit.node] = np.arange(len(classes)) == classes.index(edit.prediction)
    edited = replace(_noted(tree, edit.node, prediction=True), arrays={**tree.arrays, "value": value})
    if classes is not None and edited[edit.node].prediction != edit.prediction:
        raise DataError(
            f"by the costs of the tree {edited[edit.node].prediction!r} is never dearer than {edit.prediction!r}"
        )
    return edited


def _noted(tree: Tree, node: int, **done: Any) -> Tree:
    """Return the tree with this done at the node."""
    others = [edit for edit in tree.edits if edit.node != node]
    ours = replace(tree[node].edit or NodeEdit(node), **done)
    edits = _in_order([*others, *([ours] if ours.by_hand else [])])
    return Tree(tree.arrays, tree.schema, tree.recipe, tree.cuts, edits=edits)


def _in_order(edits: list[NodeEdit]) -> tuple[NodeEdit, ...]:
    return tuple(sorted(edits, key=lambda edit: edit.node))


_BY_EDIT: dict[type[Edit], Callable[[Tree, Any, Any, Work], Tree]] = {
    Split: _split,
    Grow: _grow,
    Collapse: _collapse,
    Prune: _prune,
    Forbid: _forbid,
    Allow: _allow,
    Lock: _lock,
    Unlock: _unlock,
    SetPrediction: _set_prediction,
}
