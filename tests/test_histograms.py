"""Histograms of nodes: counted again by hand, whatever the column is."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.inspection.histograms import histograms

TABLE = {
    "size": [1.0, 2.0, 3.0, 4.0, None, 6.0, 7.0, 8.0],
    "colour": ["red", "red", "blue", "blue", "green", "green", "red", None],
    "day": np.array(["2020-01-01", "2020-01-02", "2020-01-03", "2020-02-01"] * 2, "datetime64[D]"),
    "answer": ["a", "a", "a", "a", "b", "b", "b", "b"],
}


def test_levels_stand_child_by_child() -> None:
    tree = tw.learn({name: TABLE[name] for name in ("colour", "answer")}, "answer", replace(tw.CART, pruning=None))
    found = histograms(tree, TABLE)[0]
    assert tree.root.split is not None
    groups = tree.root.split.groups
    assert groups is not None
    assert found.labels == tuple(level for group in groups for level in group)
    assert found.cuts == (float(len(groups[0])),)
    counted = Counter(zip(TABLE["colour"], TABLE["answer"], strict=True))
    assert found.counts == tuple((float(counted[level, "a"]), float(counted[level, "b"])) for level in found.labels)
    assert found.means is None


def test_numbers_and_their_cut() -> None:
    tree = tw.learn({name: TABLE[name] for name in ("size", "answer")}, "answer", replace(tw.CART, pruning=None))
    found = histograms(tree, TABLE, bars=7)[0]
    assert (found.low, found.high, found.ends, found.cuts) == (1.0, 8.0, ("1", "8"), (5.0,))
    assert found.counts == ((1.0, 0.0),) * 4 + ((0.0, 0.0),) + (
        (0.0, 1.0),
        (0.0, 2.0),
    )  # the largest is in the last bar
    assert set(histograms(tree, TABLE)) == {0}  # leaves have their classes to show


def test_days_have_words() -> None:
    rows = {"day": TABLE["day"], "y": [1.0, 1.0, 1.0, 9.0] * 2}
    tree = tw.learn(rows, "y", replace(tw.CART, pruning=None), task="regression")
    found = histograms(tree, rows)
    assert found[0].ends == ("2020-01-01", "2020-02-01")
    assert found[1].means is not None
    assert found[1].of == "y"


def test_a_few_far_values_do_not_take_all_the_room() -> None:
    x = np.append(np.arange(1000.0), 1e9)
    rows = {"x": x, "y": np.where(x < 500, "a", "b")}
    tree = tw.learn(rows, "y", tw.CART)
    found = histograms(tree, rows)[0]
    assert found.high < 1000
    assert found.ends[1].endswith(" …")
    assert sum(sum(bar) for bar in found.counts) == 1001


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=6, max_size=30),
    st.sampled_from(["classification", "regression"]),
    st.integers(1, 9),
)
@settings(deadline=None, max_examples=60)
def test_every_row_is_in_one_bar_of_each_node_on_its_way(values: list[float], task: str, bars: int) -> None:
    weight = np.arange(1.0, len(values) + 1)
    rows = {"x": values, "y": [float(i % 3) for i in range(len(values))]}
    tree = tw.learn(rows, "y", replace(tw.CART, pruning=None), weight=weight, task=task)
    found = histograms(tree, rows, weight=weight, bars=bars)
    for node in tree.walk():
        if node.id in found:
            one = found[node.id]
            assert len(one.counts) == bars
            assert sum(sum(bar) for bar in one.counts) == pytest.approx(node.weight)
            assert all(one.low <= cut <= one.high for cut in one.cuts)
            assert one.cuts == (node.split.breaks if node.split else ())
            if task == "classification":
                assert np.sum(one.counts, axis=0) == pytest.approx(node.counts)
        else:
            assert task == "classification"
            assert node.is_leaf


def test_mistakes_are_named() -> None:
    tree = tw.learn({name: TABLE[name] for name in ("size", "answer")}, "answer", tw.CART)
    with pytest.raises(tw.DataError, match="answer"):
        histograms(tree, {"size": [1.0, 2.0]})
    with pytest.raises(tw.DataError, match="give a table"):
        histograms(tree, None)
    with pytest.raises(ValueError, match="bars"):
        histograms(tree, TABLE, bars=0)
