"""The core's tree held against the oracle, node by node.

At every node the oracle decides anew from the entries that reach it, then follows the core's own choice if that is
one of the choices rounding allows. So a tie does not end the comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import oracle_walk as walk
import pytest
from oracle import (
    LIMIT,
    Decision,
    all_clear,
    decide,
    fate_for_prediction,
    grow_problem,
    leaf_value,
    node_impurity,
    node_stats,
    predict_row,
)
from oracle_candidates import Candidate
from oracle_missing import divide, shares, surrogates_of
from oracle_table import NOMINAL, NUMBER, Node, Problem, Split, route, weigh
from oracle_tables import Table, strange_rows
from oracle_walk import draw, mix

from treewright import _core
from treewright import recipes as r

Tree = dict[str, Any]


#: What the core writes for an infinite number: the logarithm of p = 0.
ENDLESS = 1e300


def close(expected: Any) -> Any:
    if isinstance(expected, float):
        expected = min(max(expected, -ENDLESS), ENDLESS)
    return pytest.approx(expected, rel=1e-9, abs=1e-9)


# --- one case ---------------------------------------------------------------------------------------------------------


def check_case(table: Table, recipe: r.Recipe) -> None:
    """Everything that can be said of one table and one recipe."""
    p = table.problem(recipe)
    if not p.root:
        return
    arrays = table.grow(recipe)
    tree = walk.decode(arrays)
    check_tree(p, tree)
    if not isinstance(recipe.missing, r.RandomChild):
        expected = grow_problem(p)
        assert signature(tree) == signature(expected) or not all_clear(expected)
    check_arrays(arrays, tree, recipe)
    check_predictions(table, recipe, arrays, tree)
    check_partition(table, recipe, arrays, tree)


def signature(tree: dict[str, Any]) -> Any:
    """A tree's shape: children as a set, since two sets of levels have no order."""
    column = tree["split"].column if tree["split"] else None
    below = sorted((signature(child) for child in tree["children"]), key=repr)
    return tree["stop"], column, tree["rows"], round(tree["weight"], 6), below


def check_arrays(arrays: dict[str, np.ndarray], tree: dict[str, Any], recipe: r.Recipe) -> None:
    """The form that docs/boundary.md promises."""
    nodes = walk.nodes_of(tree)
    assert [node["id"] for node in nodes] == list(range(len(arrays["parent"])))
    for node in nodes:
        assert (node["stop"] == 0) == bool(node["children"])
        assert all(arrays["parent"][child["id"]] == node["id"] for child in node["children"])
        untaken = node["stop"] == LIMIT  # such a leaf keeps the split it was not given room for in front
        scores = [rival["score"] for rival in node["rivals"][untaken:]]
        # Scores that differ by rounding alone are equal and stand in column order.
        assert all(better >= worse - 1e-9 * max(1.0, abs(better)) for better, worse in pairwise(scores))
        assert len(scores) <= recipe.rivals
        assert node["split"] is None or node["split"].column not in {x["split"].column for x in node["rivals"]}
        assert sum(node["share"]) == close(1.0 if node["children"] else 0.0)
    stopping = recipe.stopping
    leaves = [node for node in nodes if not node["children"]]
    assert stopping.max_leaf_nodes is None or len(leaves) <= stopping.max_leaf_nodes
    assert stopping.max_depth is None or max(node["depth"] for node in nodes) <= stopping.max_depth
    if not isinstance(recipe.missing, (r.Fractional, r.Surrogates, r.Ignore)):
        assert all(n["rows"] == 0 or n["rows"] >= stopping.min_samples_leaf for n in leaves if len(nodes) > 1)


def check_predictions(table: Table, recipe: r.Recipe, arrays: dict[str, np.ndarray], tree: dict[str, Any]) -> None:
    """The router's answers are those of the plainest walk, for training rows and for strange ones."""
    router = _core.Predictor(arrays, recipe.seed)
    for part in (table, strange_rows(table)):
        predicted = router.predict(part.columns, part.kinds, part.n_rows, 1)[0]
        applied = router.apply(part.columns, part.kinds, part.n_rows, 1)[0]
        for row, values, leaf in zip(part.rows, predicted, applied, strict=True):
            assert values.tolist() == close(walk.predict(tree, row, part.kinds, recipe.seed))
            assert leaf in walk.heaviest(tree, row, part.kinds, recipe.seed)
            if not isinstance(recipe.missing, r.RandomChild):
                assert values.tolist() == close(predict_row(tree, row, part.kinds, recipe.unseen))


def check_partition(table: Table, recipe: r.Recipe, arrays: dict[str, np.ndarray], tree: dict[str, Any]) -> None:
    """Children share out the rows and weights of their parent, and rows are predicted where they were grown."""
    spread, behind = isinstance(recipe.missing, r.Fractional), isinstance(recipe.missing, (r.Ignore, r.Surrogates))
    for node in walk.nodes_of(tree):
        if node["children"] and not behind:
            assert sum(child["weight"] for child in node["children"]) == close(node["weight"])
            if not spread:
                assert sum(child["rows"] for child in node["children"]) == node["rows"]
    if spread or (isinstance(recipe.missing, r.Surrogates) and recipe.missing.majority == "all"):
        return
    used = [row for row, _ in table.problem(recipe).root]
    grown = table.take(used)
    applied = _core.Predictor(arrays, recipe.seed).apply(grown.columns, grown.kinds, grown.n_rows, 1)[0]
    reached = np.zeros(len(arrays["parent"]), dtype=int)
    for leaf in applied.tolist():
        while leaf >= 0:
            reached[leaf] += 1
            leaf = arrays["parent"][leaf]  # noqa: PLW2901
    assert reached.tolist() == arrays["rows"].tolist()


# --- one node ---------------------------------------------------------------------------------------------------------


def check_tree(p: Problem, tree: Tree) -> list[Decision]:
    """Every node of the tree; the decisions the oracle took on the way."""
    return check_node(p, tree, p.root, None, [], mix(p.recipe.seed, 0))


def check_node(
    p: Problem, tree: Tree, node: Node, parent_value: list[float] | None, parent: Node, key: int
) -> list[Decision]:
    where = f"node {tree['id']}"
    assert tree["rows"] == len(node), where
    assert tree["weight"] == close(weigh(node)), where
    assert tree["stats"] == close(node_stats(p, node)), where
    if not (isinstance(p.criterion, r.AbsoluteError) and isinstance(p.recipe.missing, r.Fractional)):
        # (Rounded parts of spread rows may reach half the weight at either of two medians.)
        assert tree["value"] == close(leaf_value(p, node, parent_value, parent)), where
    assert tree["impurity"] == close(node_impurity(p, node) if node else 0.0), where
    decision = decide(p, node, tree["depth"])
    if not tree["children"]:
        limit = tree["stop"] == LIMIT and p.recipe.stopping.max_leaf_nodes is not None and bool(decision.options)
        assert tree["stop"] in decision.stops or limit or decision.unclear, (where, tree["stop"], decision)
        assert tree["gain"] == 0, where
        return [decision]
    assert tree["stop"] == 0, where
    split = check_split(p, tree, node, decision, where)
    check_surrogates(p, tree, node, split, where)
    row = lambda i: [column[i] for column in p.columns]  # noqa: E731
    parts = divide(
        p, split, [s.split for s in tree["surrogates"]], node, lambda i: draw(tree["share"], key, row(i), p.kinds)
    )
    assert tree["share"] == close(shares(p, split, node)), where
    assert tree["missing"] == fate_for_prediction(p, split, node, parts), where
    decisions = [decision]
    for i, (child, part) in enumerate(zip(tree["children"], parts, strict=True)):
        assert child["depth"] == tree["depth"] + 1
        decisions += check_node(p, child, part, tree["value"], node, mix(key, i + 1))
    return decisions


def check_split(p: Problem, tree: Tree, node: Node, decision: Decision, where: str) -> Split:
    """The core's split is one the oracle would take too. Returned: that split, with its place for missing entries."""
    own = tree["own"]
    for option in decision.options:
        if same_division(p, node, option.split, own["split"], own["missing"]):
            check_numbers(p, option, own, where)
            assert tree["gain"] == own["split_gain"], where
            return replace(own["split"], missing=own["missing"] if option.split.missing is not None else None)
    assert decision.unclear, (where, own, decision)
    places_missing = own["missing"] >= 0 and isinstance(p.recipe.missing, (r.OwnCategory, r.LearnedDirection))
    return replace(
        own["split"], missing=own["missing"] if places_missing and p.absent(node, own["split"].column) else None
    )


def check_numbers(p: Problem, option: Candidate, own: Tree, where: str) -> None:
    if isinstance(p.criterion, r.StandardDeviation) and isinstance(p.recipe.missing, r.Fractional):
        # The weights of spread rows are rounded, and the root of what is left of a zero variance is not small.
        assert own["score"] == pytest.approx(option.score, rel=1e-6, abs=1e-6), where
        return
    assert own["score"] == close(option.score), where
    assert own["split_gain"] == close(option.gain), where
    if isinstance(p.criterion, (r.ChiSquare, r.FTest)):
        assert own["statistic"] == close(option.statistic), where
        assert own["degrees"] == close(option.degrees), where
        assert own["log_p"] == close(option.log_p), where
        assert own["log_multiplier"] == close(option.log_multiplier), where


def same_division(p: Problem, node: Node, expected: Split, found: Split, missing: int) -> bool:
    """Do both send every value to the same child? Children may be named in another order where sets have none."""
    if expected.column != found.column or expected.n_children != found.n_children:
        return False
    name: dict[int, int] = {}

    def agree(a: int, b: int) -> bool:
        return name.setdefault(a, b) == b

    kind = p.kinds[expected.column]
    values = {p.columns[expected.column][row] for row, _ in node} - {None}
    if not all(agree(route(expected, kind, v), route(found, kind, v)) for v in values):
        return False
    if expected.missing is not None and not agree(expected.missing, missing):
        return False
    if len(set(name.values())) < len(name):
        return False
    if kind != NOMINAL and any(a != b for a, b in name.items()):
        return False
    return same_elsewhere(p, expected, found, name)


def same_elsewhere(p: Problem, expected: Split, found: Split, name: dict[int, int]) -> bool:
    """The same for values that are not at the node: between the breaks, and levels nobody has here."""
    if p.kinds[expected.column] == NUMBER:
        points = sorted({*expected.breaks, *found.breaks})
        return all(route(expected, NUMBER, x) == route(found, NUMBER, x) for x in points)
    return [name.get(c, c) for c in expected.child_of_bin] == list(found.child_of_bin)


def check_surrogates(p: Problem, tree: Tree, node: Node, split: Split, where: str) -> None:
    expected = surrogates_of(p, split, node)
    found = tree["surrogates"]
    assert [s.split.column for s in found] == [s.split.column for s in expected], (where, found, expected)
    assert [s.agreement for s in found] == close([s.agreement for s in expected]), where
    assert [s.adjusted for s in found] == close([s.adjusted for s in expected]), where
    for a, b in zip(found, expected, strict=True):
        assert same_answers(p, node, a.split, b.split), (where, a, b)


def same_answers(p: Problem, node: Node, a: Split, b: Split) -> bool:
    kind = p.kinds[a.column]
    values: Sequence[Any] = [p.columns[a.column][row] for row, _ in node]
    return all(route(a, kind, v) == route(b, kind, v) for v in values if v is not None)
