"""The conditions of a split as values, and the texts made from them."""

from __future__ import annotations

import numpy as np
from handmade_trees import random_tree
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_conditions_hold_exactly_the_values_that_a_split_sends_to_a_child(seed: int) -> None:
    """`branches` and `child_of` are two readings of one split."""
    for node in random_tree(seed):
        for split in (*([node.split] if node.split else []), *node.surrogates):
            if split.spec.has_levels:
                values = np.arange(-2, len(split.spec.levels or ()))
            else:
                near = [np.nextafter(x, way) for x in split.breaks for way in (-np.inf, np.inf)]
                values = np.array([*split.breaks, *near, -1e300, 1e300, np.nan])
            child = split.child_of(values)
            known = values >= 0 if split.spec.has_levels else ~np.isnan(values)
            for i, branch in enumerate(split.branches):
                assert branch.holds(values)[known].tolist() == (child == i)[known].tolist()
            assert not (child[~known] >= 0).any()


def test_words_without_the_name_of_the_column() -> None:
    table = {"x": [1, 2, 3, 4, 5, 6], "y": list("aabbaa")}
    split = tw.learn(table, "y", tw.CART.with_(pruning=None)).root.split
    assert split is not None
    assert split.words(named=False) == tuple(text.removeprefix("x ") for text in split.conditions)
