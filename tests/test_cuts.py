"""Cutting a tree, and its record: what is kept is kept bit for bit, what is cut is recorded, saved and read back.

The expected tree is found by walking nodes, never by the arrays that `cut` rearranges.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from handmade_trees import random_tree, tennis

import treewright as tw
from treewright.errors import FileError
from treewright.pruning.cut import cut
from treewright.tree.saved import from_json, to_json
from treewright.tree.shape import ends, leaves_below, topmost


def plain(tree: tw.Tree, node_id: int, made: frozenset[int]) -> tuple[Any, ...]:
    """Everything about a node and what is below it; nodes in `made` are leaves."""
    node = tree[node_id]
    values = (node.rows, node.weight, node.counts, node.mean, node.prediction, node.probabilities, node.impurity)
    if node_id in made and not node.is_leaf:
        assert node.split is not None
        return (*values, "pruned", 0.0, (), (), ((node.split, *node.rivals)[: tree.recipe.rivals]), ())
    below = tuple(plain(tree, child, made) for child in node.children)
    return (*values, node.stop, node.gain, node.split, node.surrogates, node.rivals, below)


def as_tuples(tree: tw.Tree) -> tuple[Any, ...]:
    def values(node_id: int) -> tuple[Any, ...]:
        node = tree[node_id]
        first = (node.rows, node.weight, node.counts, node.mean, node.prediction, node.probabilities, node.impurity)
        if node.stop == "pruned":
            return (*first, "pruned", 0.0, (), (), node.rivals, ())
        below = tuple(values(child) for child in node.children)
        return (*first, node.stop, node.gain, node.split, node.surrogates, node.rivals, below)

    return values(0)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_kept_is_as_it_was(seed: int) -> None:
    tree = random_tree(seed, depth=5)
    chosen = frozenset(i for i in range(tree.n_nodes) if random.Random(seed * 1000 + i).random() < 0.25)
    pruned = cut(tree, {node: f"reason {node}" for node in chosen})
    assert as_tuples(pruned) == plain(tree, 0, chosen)
    assert tree.n_leaves - pruned.n_leaves == sum(one.leaves for one in pruned.cuts)
    for one in pruned.cuts:
        assert pruned[one.node].stop == "pruned"
        node = tree[int(one.reason.split()[1])]
        assert node.split is not None
        assert one.question in (node.split.column, node.split.words(most=4, with_missing=False)[0])
    assert from_json(to_json(pruned)) == pruned


def test_nothing_to_cut_gives_the_tree_itself() -> None:
    tree = tennis()
    leaves = [node.id for node in tree.walk() if node.is_leaf]
    assert cut(tree, {}) is tree
    assert cut(tree, dict.fromkeys(leaves, "for nothing")) is tree


def test_a_cut_inside_a_later_one_has_its_place() -> None:
    tree = tennis()
    inner = max(node.id for node in tree.walk() if not node.is_leaf)
    once = cut(tree, {inner: "first"})
    whole = cut(once, {0: "second"})
    assert whole.n_nodes == 1
    assert [(one.node, one.reason) for one in whole.cuts] == [(0, "first"), (0, "second")]
    assert sum(one.leaves for one in whole.cuts) == tree.n_leaves - 1
    assert str(whole.cuts[1]).startswith("node 0 split on ")
    assert "2 leaves less" in str(once.cuts[0]) or "1 leaf less" in str(once.cuts[0])


@pytest.mark.parametrize("seed", range(10))
def test_the_shape_of_subtrees(seed: int) -> None:
    tree = random_tree(seed, depth=5)

    def below(node_id: int) -> list[int]:
        return [node_id, *(i for child in tree[node_id].children for i in below(child))]

    for node in tree.walk():
        inside = below(node.id)
        assert ends(tree)[node.id] == max(inside) + 1
        assert leaves_below(tree)[node.id] == sum(tree[i].is_leaf for i in inside)
    chosen = [random.Random(seed + i).random() < 0.3 for i in range(tree.n_nodes)]
    covered = {i for node in tree.walk() if chosen[node.id] for i in below(node.id)[1:]}
    expected = [i for i in range(tree.n_nodes) if chosen[i] and i not in covered]
    assert topmost(tree, np.array(chosen)).tolist() == expected


# --- values, saved and read -------------------------------------------------------------------------------------------


def pruned_tennis() -> tw.Tree:
    return tw.prune(tennis(), tw.pruning.MaxDepth(1))


def test_cuts_in_words() -> None:
    assert tw.render.cuts(tennis()) == "nothing was cut"
    lines = tw.render.cuts(pruned_tennis()).split("\n")
    assert len(lines) == len(pruned_tennis().cuts)
    assert all("split on" in line and "no path longer than 1" in line for line in lines)
    assert tw.render.cuts(tw.prune(tennis(), tw.pruning.MaxDepth(0))).startswith("the root: split on outlook")


def test_files_from_before_pruning_are_read() -> None:
    written = tennis().as_dict()
    assert "cuts" not in written
    del written["recipe"]["pruning"]
    assert tw.Tree.from_dict(written).recipe.pruning is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: 3, r"\$\.cuts must be a list, not a number"),
        (lambda _: [4], r"\$\.cuts\[0\] must be an object"),
        (lambda cuts: [cuts[0] | {"why": 1}], r"\$\.cuts\[0\] has the unknown key 'why'"),
        (lambda cuts: [{k: v for k, v in cuts[0].items() if k != "reason"}], r"\$\.cuts\[0\] has no 'reason'"),
        (lambda cuts: [cuts[0] | {"node": 99}], r"\$\.cuts\[0\]\.node must be the id of a node, 0 to 3"),
        (lambda cuts: [cuts[0] | {"node": -1}], r"\$\.cuts\[0\]\.node must be the id of a node"),
        (lambda cuts: [cuts[0] | {"node": 1.0}], r"\$\.cuts\[0\]\.node must be a whole number, not a number"),
        (lambda cuts: [cuts[0] | {"leaves": True}], r"\$\.cuts\[0\]\.leaves must be a whole number, not a boolean"),
        (lambda cuts: [cuts[0] | {"leaves": -2}], r"\$\.cuts\[0\]\.leaves must not be negative"),
        (lambda cuts: [cuts[0] | {"question": None}], r"\$\.cuts\[0\]\.question must be a string, not null"),
    ],
)
def test_wrong_cuts_are_refused(change: Any, message: str) -> None:
    written = pruned_tennis().as_dict()
    written["cuts"] = change(written["cuts"])
    with pytest.raises(FileError, match=message):
        tw.Tree.from_dict(written)
