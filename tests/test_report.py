"""The report: plain values, and each of them what the library itself says."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pytest
from handmade_trees import hours, random_tree, tennis
from test_page_route import KINDS, table, target

import treewright as tw
from treewright.reporting.report import report
from treewright.tree.text import level_text

WHOLE = dataclasses.replace(tw.CART, pruning=None)


@pytest.fixture(scope="module", params=["class", "number"])
def known(request: pytest.FixtureRequest) -> tuple[tw.Tree, dict[str, list[Any]], dict[str, list[Any]]]:
    rows, unseen = table(11, 240), table(12, 160)
    rows["y"], unseen["y"] = target(rows, request.param), target(unseen, request.param)
    return tw.learn(rows, "y", WHOLE, kinds=KINDS), rows, unseen


@pytest.mark.parametrize("seed", range(12))
def test_all_values_are_plain(seed: int) -> None:
    made = report(random_tree(seed, 4))
    assert json.loads(json.dumps(made, allow_nan=False)) == made


def test_without_rows_the_report_has_what_the_tree_determines() -> None:
    made = report(tennis())
    assert made["rows"] is None
    assert made["scores"]["held_out"] is None
    assert made["scores"]["training"]["headline"] == {"name": "accuracy", "value": 1.0, "baseline": 9 / 14}
    assert made["scores"]["training"]["matrix"] == [[5, 0], [0, 9]]
    assert made["nodes"]["edge"] == ["", "sunny", "<= 77.5", "> 77.5", "overcast", "rain", "False", "True"]
    assert made["nodes"]["condition"][2] == "humidity <= 77.5"
    assert made["facts"]["leaves"] == 5
    errors = report(hours())["scores"]["training"]["headline"]
    assert errors["value"] == pytest.approx((210.5 / 14) ** 0.5)
    assert errors["baseline"] == pytest.approx((870 / 14) ** 0.5)


def test_scores_are_those_of_predict(known: Any) -> None:
    tree, rows, unseen = known
    made = report(tree, rows, held_out=unseen)["scores"]
    for part, data in (("training", rows), ("held_out", unseen)):
        predictions, truth = tw.predict(tree, data), np.array(data["y"])
        headline = made[part]["headline"]
        if tree.schema.target.classes is None:
            assert headline["value"] == pytest.approx(np.sqrt(np.mean((truth - predictions) ** 2)))
            assert headline["baseline"] == pytest.approx(np.sqrt(np.mean((truth - tree.root.prediction) ** 2)))
            assert sum(made[part]["histogram"]["counts"]) == len(truth)
        else:
            assert headline["value"] == pytest.approx(np.mean(predictions == truth))
            assert headline["baseline"] == pytest.approx(np.mean(truth == tree.root.prediction))
            classes = tree.schema.target.classes
            counted = [[int(sum((truth == a) & (predictions == b))) for b in classes] for a in classes]
            assert made[part]["matrix"] == counted
    alone = report(tree)["scores"]["training"]["headline"]
    assert alone["value"] == pytest.approx(made["training"]["headline"]["value"], abs=1e-6)


def test_every_step_of_the_path_is_that_pruned_tree(known: Any) -> None:
    tree, rows, unseen = known
    path = report(tree, rows, held_out=unseen)["pruning"]
    assert path["leaves"][0] == tree.n_leaves
    assert path["leaves"][-1] == 1
    truth = np.array(unseen["y"])
    last = len(path["alpha"]) - 1
    for step in {0, 1, last // 2, last - 1, last}:
        alpha = path["alpha"][step]
        small = tree if alpha < 0 else tw.prune(tree, tw.pruning.CostComplexity(alpha))
        assert small.n_leaves == path["leaves"][step]
        predictions = tw.predict(small, unseen)
        wrong = (truth - predictions) ** 2 if tree.schema.target.classes is None else predictions != truth
        assert path["held_out"][step] == pytest.approx(np.mean(wrong))
        cut = {i for i, price in enumerate(path["price"]) if not tree[i].is_leaf and price <= alpha}
        tops = [i for i in cut if not any(above in cut for above in above_of(tree, i))]
        lost = sum(leaves_below(tree, i) - 1 for i in tops)
        assert tree.n_leaves - lost == small.n_leaves


def above_of(tree: tw.Tree, i: int) -> list[int]:
    found = []
    parent = tree[i].parent
    while parent is not None:
        found.append(parent)
        parent = tree[parent].parent
    return found


def leaves_below(tree: tw.Tree, i: int) -> int:
    node = tree[i]
    return 1 if node.is_leaf else sum(leaves_below(tree, child) for child in node.children)


def test_sampled_rows_are_rows_of_their_leaf(known: Any) -> None:
    tree, rows, _ = known
    made = report(tree, rows)
    sample, columns = made["rows"], made["schema"]["columns"]
    nodes = tw.apply(tree, rows)
    assert sample["node"] == sorted(sample["node"])
    assert set(sample["node"]) == set(nodes.tolist())  # every leaf shows some
    for at, row in zip(sample["node"], sample["row"], strict=True):
        assert nodes[row] == at
    for column, values in zip(sample["columns"], sample["values"], strict=True):
        name, levels = tree.schema.columns[column].name, columns[column]["levels"]
        for value, row in zip(values, sample["row"], strict=True):
            if levels is not None:
                assert levels[value] == level_text(rows[name][row])
            elif name != "day":
                assert value == rows[name][row]


def test_a_large_tree_has_details_of_its_heaviest_nodes() -> None:
    from test_page import many_leaves

    tree = many_leaves(1200)
    made = report(tree)["details"]
    detailed = [i for i, entry in enumerate(made) if "derivation" in entry]
    assert len(detailed) == 1000
    least = min(tree[i].weight for i in detailed)
    assert all(tree[i].weight <= least for i in range(tree.n_nodes) if i not in set(detailed))


def test_expected_errors() -> None:
    with pytest.raises(TypeError, match="expected a Tree"):
        report([])
    with pytest.raises(tw.DataError, match="play"):
        report(tennis(), {"outlook": ["sunny"]})
