"""Honest trees: splits of one half, predictions of the other, by brute force."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import treewright as tw
from treewright.data.rows import take
from treewright.growing.memory_partitions import MemoryPartitions
from treewright.training.folds import set_aside
from treewright.training.honest import learn_honestly
from treewright.training.learn import training_table

FULL = tw.CART.with_(pruning=None, max_depth=3)


def table(n: int, seed: int, *, numeric: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.choice(["a", "b", "c"], n)
    x[rng.random(n) < 0.1] = np.nan
    y = np.nan_to_num(x) * 2 + rng.normal(scale=1 + (z == "a"))
    return {"x": x, "z": z, "y": y if numeric else np.array(["low", "mid", "high"])[np.digitize(y, [-1, 1])]}


def weight_at(tree: tw.Tree, node: int, row: dict[str, Any], at: int = 0) -> float:
    """Return how much of a row comes to a node, by the conditions of the splits alone."""
    if at == node:
        return 1.0
    split = tree[at].split
    if split is None:
        return 0.0
    value = row[split.column]
    missing = isinstance(value, float) and np.isnan(value)
    if split.spec.levels is not None:
        value = split.spec.levels.index(value)
    total = 0.0
    for place, child in enumerate(tree[at].children):
        share = split.share[place] if missing else float(split.child_of(np.array([value]))[0] == place)
        total += share * weight_at(tree, node, row, child) if share else 0.0
    return total


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("smoothing", ["none", "laplace", "m_estimate", "shrinkage"])
def test_predictions_are_those_of_the_half_that_chose_no_split(numeric: bool, smoothing: str) -> None:
    data, recipe = table(120, 0, numeric=numeric), FULL.with_(missing="fractional", smoothing=smoothing)
    tree = tw.learn(data, "y", recipe, honest=True)
    rows, schema = training_table(data, "y")
    filling = set_aside(rows, 0.5, 0)
    halves = [{name: values[mask] for name, values in data.items()} for mask in (~filling, filling)]
    plain = tw.learn(halves[0], "y", recipe)
    for name in set(plain.arrays) - {"value"}:
        assert plain.arrays[name].tobytes() == tree.arrays[name].tobytes()
    assert tree.honest is not None
    assert tree.honest.rows == 60
    assert schema.target.classes == tree.schema.target.classes
    for node in range(tree.n_nodes):
        weight = [weight_at(tree, node, {k: v[i] for k, v in halves[1].items()}) for i in range(60)]
        if numeric:
            expected = [sum(weight), np.average(halves[1]["y"], weights=weight) if sum(weight) else 0.0]
        else:
            expected = [np.sum(weight, where=halves[1]["y"] == level) for level in tree.schema.target.classes or ()]
        assert tree.honest.stats[node] == pytest.approx(expected)
        if smoothing in ("none", "laplace") and sum(weight) > 0:
            more = 1 if smoothing == "laplace" else 0
            shares = [(w + more) / (sum(expected) + 3 * more) for w in expected]
            assert tree.arrays["value"][node] == pytest.approx(expected[1:] if numeric else shares)
        if tree[node].is_leaf:
            assert tw.explain_node(tree, node).complete


def test_the_halves_depend_neither_on_threads_nor_on_the_order_of_rows(tmp_path: Path) -> None:
    data = table(150, 1)
    tree = tw.learn(data, "y", tw.CART, honest=True, n_threads=1)
    order = np.random.default_rng(0).permutation(150)
    again = tw.learn({name: values[order] for name, values in data.items()}, "y", tw.CART, honest=True, n_threads=2)
    assert tree == again
    assert tree != tw.learn(data, "y", tw.CART.with_(seed=1), honest=True)
    tw.save(tree, tmp_path / "tree.json")
    assert tw.load(tmp_path / "tree.json") == tree
    assert tw.load(tmp_path / "tree.json").honest == tree.honest


def test_the_text_shows_both_estimates() -> None:
    tree = tw.learn(table(150, 2), "y", FULL.with_(max_depth=1), honest=True)
    assert tree.honest is not None
    text = str(tree)
    assert "honest: predictions come from 75 rows that chose no split" in text
    counts = tree.honest.stats[1]
    share = counts[(tree.schema.target.classes or ()).index(tree[1].prediction)] / sum(counts)
    assert f"{tree[1].rows} rows" in text
    assert f"{share:.0%}".replace("%", " %") + f" of {sum(counts):g} other rows" in text
    assert "of the rows that chose no split" in tw.explain_node(tree, 1).text()


def test_a_leaf_that_no_row_fills_predicts_as_its_parent() -> None:
    data = {"x": np.arange(8.0), "y": list("abababab")}
    tree = tw.learn(data, "y", tw.CART.with_(pruning=None), honest=True)
    assert tree.honest is not None
    empty = [i for i, counts in enumerate(tree.honest.stats) if sum(counts) == 0]
    assert empty
    for node in empty:
        parent = tree[node].parent
        assert parent is not None
        assert tree[node].probabilities == tree[parent].probabilities


def test_estimators_learn_honestly() -> None:
    data = table(150, 3)
    x = {name: data[name] for name in ("x", "z")}
    fitted = tw.CARTClassifier(honest=True).fit(pd.DataFrame(x), data["y"])
    assert fitted.tree_.honest is not None
    assert fitted.tree_.honest.rows == 75


def test_bad_input_is_refused() -> None:
    data = table(50, 4)
    with pytest.raises(tw.DataError, match=r"honest must be True or False, not 0\.5"):
        tw.learn(data, "y", honest=0.5)
    with pytest.raises(tw.DataError, match=r"median of 'y'.*Variance"):
        tw.learn(table(50, 4, numeric=True), "y", FULL.with_(regression="absolute_error"), honest=True)
    with pytest.raises(tw.DataError, match="put the pruner into the recipe"):
        tw.prune(tw.learn(data, "y", FULL, honest=True), tw.pruning.MaxDepth(1))
    rows, _ = training_table(data, "y")
    with pytest.raises(tw.DataError, match="must be in memory"):
        learn_honestly(MemoryPartitions([take(rows, slice(0, 9))]), lambda _: pytest.fail("not reached"), 0)
    written = tw.learn(data, "y", FULL, honest=True).as_dict()
    with pytest.raises(tw.FileError, match=r"\$\.honest\.stats"):
        tw.Tree.from_dict(written | {"honest": written["honest"] | {"stats": [[1.0]]}})
