"""Pruning in the studio, cross-validation of a tree by hand, and messages in the page's own words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from edit_cases import RECIPES, table
from studio_cases import people

import treewright as tw
from treewright.data.rows import take
from treewright.editing.apply import apply_rows
from treewright.editing.folds import replay_elsewhere
from treewright.errors import DataError
from treewright.interactive.page_words import with_page_words
from treewright.interactive.session import Session
from treewright.interactive.start import Start, pruner_choices
from treewright.interactive.table import first_tree, origin_of
from treewright.prediction.evaluation import score_on
from treewright.training.folds import random_folds


def session_of(data: Any, target: str = "y", recipe: tw.Recipe = tw.CART, **settings: Any) -> Session:
    folder = settings.pop("folder", None)
    return Session(origin_of(data), Start(target, recipe, **settings), folder)


# --- pruning ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pruner", [tw.pruning.CostComplexityCV(folds=4), tw.pruning.ErrorBased(confidence=0.1)])
def test_pruning_in_the_studio_replays_outside_it(pruner: Any, tmp_path: Path) -> None:
    data = table(400)
    session = session_of(data, recipe=RECIPES["cart"], folder=tmp_path)
    session.do(tw.edit.Grow(0))
    session.do(tw.edit.Prune(0, pruner))
    tree = session.snapshot.tree
    assert tree.cuts
    first = tw.export.from_json(session.taken("first").content.decode())
    assert tw.edit.replay(first, session.snapshot.log, data, holdout=0.25) == tree
    session.close()
    again = session_of(data, recipe=RECIPES["cart"], folder=tmp_path)
    assert again.continued == 2
    assert again.snapshot.tree == tree
    again.undo()
    assert again.snapshot.tree.cuts == ()
    again.close()


def test_pruning_that_cuts_nothing_is_no_step() -> None:
    session = session_of(table(), recipe=RECIPES["cart"])
    session.do(tw.edit.Grow(0, levels=1))
    with pytest.raises(DataError, match="MaxDepth finds nothing to prune below node 0"):
        session.do(tw.edit.Prune(0, tw.pruning.MaxDepth(5)))
    assert session.history.done == 2


def test_growing_that_splits_nothing_is_no_step() -> None:
    session = session_of(table(), recipe=tw.CART.with_(pruning=None, max_depth=1))
    session.do(tw.edit.Grow(0))
    with pytest.raises(DataError, match=r"does not split node 1 \(depth\); split it by hand"):
        session.do(tw.edit.Grow(1))
    with pytest.raises(DataError, match="grows none of the leaves below node 0"):
        session.do(tw.edit.Grow(0, keep=True))
    assert session.history.done == 2


@pytest.mark.parametrize("regression", [False, True])
def test_the_path_below_a_node_has_the_risks_of_the_pruned_trees(regression: bool) -> None:
    session = session_of(table(500, regression=regression), recipe=RECIPES["cart"])
    session.do(tw.edit.Grow(0))
    snapshot = session.snapshot
    held = snapshot.table.held_out
    assert held is not None
    for node in (0, *snapshot.tree.root.children):
        path = snapshot.pruning(node)
        row, _ = snapshot.held_ranges.at(node)
        here = take(held, np.sort(row))
        for alpha, leaves, risk in list(zip(path["alpha"], path["leaves"], path["held_out"], strict=True))[1::5]:
            pruned = apply_rows(snapshot.tree, tw.edit.Prune(node, tw.pruning.CostComplexity(alpha)), None)
            assert pruned.n_leaves - snapshot.tree.n_leaves == leaves - path["leaves"][0]
            head = score_on(pruned, here)["headline"]["value"]
            assert risk == pytest.approx(head**2 if regression else 1 - head, abs=1e-9)
    leaf = next(node.id for node in snapshot.tree.walk() if node.is_leaf)
    with pytest.raises(DataError, match="select a node with children"):
        snapshot.pruning(leaf)


@pytest.mark.parametrize("regression", [False, True])
def test_every_pruner_of_the_page_is_an_edit(regression: bool) -> None:
    data = table(300, regression=regression)
    tree = tw.learn(data, "y", RECIPES["cart"])
    smaller = []
    for one in pruner_choices():
        if not (regression and one["classes_only"]):
            edit = tw.edit.Edit.from_dict({"edit": "Prune", "node": 0, "pruner": one["pruner"]})
            smaller.append(tw.edit.apply(tree, edit, data).n_leaves < tree.n_leaves)
            assert one["setting"] is None or one["setting"] in one["pruner"]
    assert sum(smaller) >= 4


def test_leaves_that_were_pruned_by_hand_are_marked() -> None:
    session = session_of(table(), recipe=RECIPES["cart"])
    session.do(tw.edit.Grow(0))
    session.do(tw.edit.Prune(0, tw.pruning.MaxLeaves(3)))
    shown = session.state()["report"]
    tree = session.snapshot.tree
    marked = [i for i, text in enumerate(shown["nodes"]["by_hand"]) if "pruned by hand" in text]
    assert marked == sorted({cut.node for cut in tree.cuts})
    assert all(tree[i].is_leaf for i in marked)
    assert [node for node, _ in shown["cuts"]] == [cut.node for cut in tree.cuts]


# --- cross-validation -------------------------------------------------------------------------------------------------


def test_a_log_is_cross_validated_as_it_would_be_replayed_by_hand() -> None:
    data = table(300)
    log = [
        tw.edit.Split(0, "age", threshold=30.5),
        tw.edit.Split(1, "town", groups=[["oslo"]]),
        tw.edit.Grow(4, levels=2),
        tw.edit.SetPrediction(2, "yes"),
        tw.edit.Prune(0, tw.pruning.MergeEqualLeaves()),
    ]
    session = session_of(data, recipe=RECIPES["cart"])
    for edit in log:
        session.do(edit)
    found = session.cross_validated()
    assert (found["of"], found["steps"], found["passed_over"]) == ("your steps", 5, [0] * 5)
    start, rows = session.history.start, session.snapshot.table.all_rows()
    for fold, value in zip(random_folds(rows, 5, 0), found["values"], strict=True):
        training = take(replace(rows, coded=None), fold.training)
        tree = first_tree(replace(session.snapshot.table, training=training), start)
        for edit in log:
            tree = apply_rows(tree, edit, training)
        assert value == score_on(tree, take(rows, fold.test))["headline"]["value"]
    recipe = session.cross_validated("cart")
    assert recipe["of"] == "CART"
    assert recipe["baseline"] == found["baseline"]


def test_steps_that_do_not_fit_a_fold_are_passed_over_and_counted() -> None:
    data = people(400)
    session = session_of(data, "buys", RECIPES["cart"])
    session.do(tw.edit.Grow(0, levels=3))
    tree = session.snapshot.tree
    deep = max((node for node in tree.walk() if node.is_leaf and node.rows > 30), key=lambda node: node.depth)
    session.do(tw.edit.Split(deep.id, "noise", threshold=0.5))
    session.do(tw.edit.Lock(0))
    found = session.cross_validated()
    assert max(found["passed_over"]) <= 1
    other = {**data, "age": data["noise"], "noise": data["age"]}  # another column is best now
    rows = session_of(other, "buys", RECIPES["cart"]).snapshot.table
    done = session.history.done
    made = replay_elsewhere(
        first_tree(rows, session.history.start), session._trees[: done - 1], session.snapshot.log, rows.training
    )
    assert made.passed_over == (1,)
    assert made.tree.root.edit is not None
    assert made.tree.root.edit.locked


def test_all_rows_have_the_weights_they_came_with() -> None:
    data = table(200)
    data["w"] = np.linspace(0.5, 3, 200)
    session = session_of(data, recipe=RECIPES["cart"], weight="w")
    rows = session.snapshot.table.all_rows()
    assert rows.weight is not None
    np.testing.assert_array_equal(rows.weight, data["w"])
    assert rows.repeats is None
    assert session_of(table(200)).snapshot.table.all_rows().weight is None


# --- words ------------------------------------------------------------------------------------------------------------


def test_notes_name_the_buttons_of_the_page() -> None:
    data = people(300) | {"name": [f"person {i}" for i in range(300)], "number": list(range(300))}
    state = session_of(data, "buys").state()
    left, numbered = state["notes"]
    assert left == ("Left out: 'name' (text, 300 different in 300 rows). Take in, under Columns, keeps a column.")
    assert numbered.endswith("Leave out (under Columns) drops it, if that is all it does")
    shown = {one["name"]: one["left_out"] for one in state["columns"]}
    assert shown["name"] == "left out: text, 300 different in 300 rows"
    taken = session_of(data, "buys", kinds={"name": "nominal"}).state()
    assert "name" not in {one["name"] for one in taken["columns"] if one["left_out"]}


def test_no_message_of_the_page_names_a_python_argument() -> None:
    only_names = {"name": [f"person {i}" for i in range(300)], "buys": ["yes", "no"] * 150}
    big = people(300) | {"big": ["9007199254740993", *map(str, range(299))]}
    locked = session_of(people(), "buys", RECIPES["cart"])
    for edit in (tw.edit.Grow(0, levels=1), tw.edit.Lock(1), tw.edit.Forbid(2, "age")):
        locked.do(edit)
    tries = [
        lambda: session_of(only_names, "buys"),
        lambda: session_of(people(300), "buys", RECIPES["cart"], kinds={"big": "numeric"}),
        lambda: session_of(big, "buys", RECIPES["cart"], kinds={"big": "numeric"}),
        lambda: session_of(people(300), "buys", tw.ID3),
        lambda: session_of(people(300), "fare", tw.C45),
        lambda: session_of(people(300), "fare", tw.M5),
        lambda: locked.do(tw.edit.Collapse(0)),
        lambda: locked.do(tw.edit.Split(2, "age", threshold=30)),
    ]
    for make in tries:
        with pytest.raises((DataError, tw.RecipeError)) as caught:
            make()
        words = with_page_words(str(caught.value))
        assert not any(python in words for python in ("kinds=", "Unlock(", "Allow(", "numeric=", "task=", "edit")), (
            words
        )
