"""A log of edits replays to the same tree, bit for bit: from Python, from the shell, and as a script."""

from __future__ import annotations

import csv
import random
import subprocess
import sys

import pytest
from edit_cases import RECIPES, random_log, table
from hypothesis import given, settings
from hypothesis import strategies as st

import treewright as tw
from treewright.editing.log import edits_of_text, log_text


def written(data, path):
    with path.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(data)
        lines.writerows(zip(*([_text(x) for x in values] for values in data.values()), strict=True))
    return path


def _text(value):
    return "" if value is None or value != value else value


@pytest.mark.parametrize("name", ["cart", pytest.param("c45", marks=pytest.mark.slow)])
def test_200_random_edits_replay_through_python_shell_and_script(name, tmp_path) -> None:
    data = written(table(rows=160), tmp_path / "rows.csv")
    first = tw.learn(str(data), "y", RECIPES[name])
    log, trees = random_log(random.Random(7), first, str(data), 200)
    assert {type(edit).__name__ for edit in log} >= {
        "Split",
        "Grow",
        "Collapse",
        "Prune",
        "Forbid",
        "Lock",
        "SetPrediction",
    }
    tw.save(first, tmp_path / "first.json")
    tw.save(trees[-1], tmp_path / "expected.json")
    expected = (tmp_path / "expected.json").read_bytes()
    tw.edit.write_log(log, tmp_path / "log.jsonl")
    assert tw.edit.read_log(tmp_path / "log.jsonl") == tuple(log)

    from_python = tw.edit.replay(tw.load(tmp_path / "first.json"), tmp_path / "log.jsonl", str(data), n_threads=2)
    assert from_python == trees[-1]

    shell = [sys.executable, "-m", "treewright", "edit", "first.json", "log.jsonl", "--data", "rows.csv"]
    subprocess.run(
        [*shell, "--save", "shell.json", "--script", "again.py"], cwd=tmp_path, check=True, capture_output=True
    )
    assert (tmp_path / "shell.json").read_bytes() == expected
    subprocess.run([*shell, "--first", "0", "--save", "none.json"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "none.json").read_bytes() == (tmp_path / "first.json").read_bytes()

    (tmp_path / "shell.json").unlink()
    subprocess.run([sys.executable, "again.py"], cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "shell.json").read_bytes() == expected

    assert tw.edit.replay(first, log[:0]) == first
    assert tw.edit.replay(first, log[:50], str(data)) == trees[50]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(RECIPES)), st.booleans())
def test_random_logs_of_any_recipe_replay_and_are_trees(seed, name, regression) -> None:
    regression = regression and RECIPES[name].regression is not None
    data = table(rows=80, seed=seed % 1000, regression=regression)
    first = tw.learn(data, "y", RECIPES[name])
    log, trees = random_log(random.Random(seed), first, data, 12)
    again = tw.edit.replay(first, edits_of_text(log_text(log)), data)
    assert again == trees[-1]
    assert tw.export.from_json(tw.export.to_json(again)) == again
    assert all(node.edit is None or node.edit.by_hand for node in again.walk())
    features = {column: values for column, values in data.items() if column != "y"}
    assert len(tw.predict(again, features)) == 80


def test_hostile_names_stay_text_in_the_script(tmp_path) -> None:
    name = "x'); raise SystemExit('harm')  # \"\"\"\n"
    data = {name: [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "b", "b'''\\"]}
    tree = tw.learn(data, "y", tw.CART.with_(pruning=None))
    log = [tw.edit.Split(0, name, threshold=1.5), tw.edit.SetPrediction(1, "b'''\\"), tw.edit.Grow(2, recipe=tw.C45)]
    text = tw.edit.script(log, 'tree """ \'.json', "rows.csv", tmp_path / "out.json")
    namespace: dict = {}
    before = text[: text.index("\ntree = ")]
    exec(before, namespace)
    assert namespace["LOG"] == log
    compile(text, "script", "exec")
    assert tw.edit.replay(tree, namespace["LOG"], data)[1].prediction == "b'''\\"


def test_a_log_that_is_none_says_which_line(tmp_path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"edit": "Lock", "node": 0}\n\n{"edit": "Lock", "node": -1}\n')
    with pytest.raises(tw.FileError, match=r"line 3: node must be a whole number"):
        tw.edit.read_log(path)
    path.write_text("{")
    with pytest.raises(tw.FileError, match=r"line 1: not JSON"):
        tw.edit.read_log(path)
    tree = tw.learn(table(), "y", RECIPES["cart"])
    with pytest.raises(tw.DataError, match=r"edit 2, Collapse of node 99: there is no node 99"):
        tw.edit.replay(tree, [tw.edit.Lock(0), tw.edit.Collapse(99)])


@pytest.mark.parametrize(
    "edit",
    [
        tw.edit.Split(3, "a", threshold=0.1),
        tw.edit.Split(3, "a", threshold=(0.1, 0.30000000000000004), missing="stop"),
        tw.edit.Split(3, "a", groups=[["x", True, 2, 0.5]], missing=1),
        tw.edit.Grow(0),
        tw.edit.Grow(1, 3, "c45", ["a"]),
        tw.edit.Grow(1, recipe=tw.CART.with_(max_depth=3)),
        tw.edit.Collapse(4),
        tw.edit.Prune(0, tw.pruning.CostComplexity(0.1 + 0.2, "impurity")),
        tw.edit.Prune(0, tw.pruning.ImpurityThresholdCV(thresholds=(0.1, 0.2))),
        tw.edit.Prune(5, "merge_equal_leaves"),
        tw.edit.Forbid(0, ["a", "b"]),
        tw.edit.Allow(0, "a"),
        tw.edit.Lock(2),
        tw.edit.Unlock(2),
        tw.edit.SetPrediction(2, 0.1),
    ],
    ids=lambda edit: type(edit).__name__,
)
def test_edits_are_values_with_a_written_form(edit) -> None:
    (again,) = edits_of_text(log_text([edit]))
    assert again == edit
    assert repr(again) == repr(edit)
    assert hash(again) == hash(edit)
