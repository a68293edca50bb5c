"""Saved trees: they come back bit for bit, and a spoilt file ends in one FileError."""

from __future__ import annotations

import copy
import dataclasses
import enum
import json
import os
import random
import subprocess
import sys
import typing
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from handmade_trees import TENNIS, Question, fork, hours, leaf, random_tree, tennis, tree
from hypothesis import given
from hypothesis import strategies as st

import treewright.tree
from treewright import recipes as r
from treewright.data.schema import KINDS, ColumnSpec, Schema, TargetSpec, TextForm
from treewright.errors import FileError
from treewright.export import from_json, load, save, to_json
from treewright.recipes.saved_names import ADDED_SETTINGS, saved_name, saved_setting
from treewright.tree.tree import Tree
from treewright.tree.validation import NODE_ARRAYS, SPLIT_ARRAYS, STOP_REASONS

FORM = json.loads((Path(treewright.tree.__file__).parent / "tree.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(FORM)
NAMED = (r.ID3, r.C45, r.J48, r.CART, r.RPART, r.SKLEARN, r.CHAID, r.EXHAUSTIVE_CHAID)


def trees() -> list[Tree]:
    odd = Schema(
        (
            ColumnSpec("größe\n\ud800", "ordinal", ("klein", "gro\u00df", "\ud83c\udf33")),
            ColumnSpec("", "nominal", (1, 2.5, "1", np.int64(7), np.float64(0.1), np.str_("s"))),
            ColumnSpec("none", "nominal", ()),
            ColumnSpec("when", "datetime"),
        ),
        TargetSpec("y", "classification", (np.False_, np.True_)),
    )
    cut = Question(3, (0, 1), (1.7e15 + 0.5,), missing=-1)
    return [
        tennis(),
        hours(),
        tree(leaf(1, 2), odd),
        tree(fork(cut, leaf(0.1 + 0.2, 1e-300), leaf(5e-324, 1.7e308, rows=2)), odd, r.CHAID),
        *(random_tree(seed) for seed in range(20)),
    ]


# --- coming back ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("t", trees())
def test_a_tree_comes_back_bit_for_bit(t: Tree, tmp_path: Path) -> None:
    text = to_json(t)
    assert from_json(text) == t
    assert to_json(from_json(text)) == text
    save(t, tmp_path / "tree.json")
    assert load(tmp_path / "tree.json") == t
    assert load(str(tmp_path / "tree.json")).arrays.keys() == t.arrays.keys()


@pytest.mark.parametrize("t", trees())
def test_the_file_follows_its_schema(t: Tree) -> None:
    VALIDATOR.validate(json.loads(to_json(t)))


@pytest.mark.parametrize("named", NAMED)
def test_every_named_recipe_comes_back(named: r.Recipe) -> None:
    t = tree(leaf(1, 2), recipe=named)
    VALIDATOR.validate(json.loads(to_json(t)))
    assert from_json(to_json(t)).recipe == named


CHOICES = [r.Branching, r.Numeric, r.ClassificationCriterion, r.RegressionCriterion, r.Missing, r.Simplify, r.Pruner]
KNOWN = {saved_name(c): c for union in CHOICES for c in typing.get_args(union)} | {
    "Stopping": r.Stopping,
    "Leaves": r.Leaves,
    "Linear": r.Linear,
    "Pieces": r.Pieces,
}


def test_the_schema_says_what_the_choices_say() -> None:
    script = Path(__file__).parents[1] / "tools" / "tree_schema.py"
    found = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_the_schema_refuses_what_a_choice_refuses() -> None:
    leaf_only = json.loads(to_json(tree(leaf(1, 2), recipe=r.CART)))
    for field, setting, value in (
        ("stopping", "max_depth", -1),
        ("stopping", "significance", 1.5),
        ("pruning", "folds", 1),
        ("pruning", "rule", "2se"),
        ("missing", "maximum", True),
    ):
        wrong = json.loads(json.dumps(leaf_only))
        wrong["recipe"][field][setting] = value
        assert not VALIDATOR.is_valid(wrong)


def test_the_schema_is_a_schema_and_complete() -> None:
    jsonschema.Draft202012Validator.check_schema(FORM)
    assert set(FORM["$defs"]) == set(KNOWN) | {"levels", "matrix", "term", "int32", "int64"}
    parts = FORM["properties"]
    fields = [saved_setting(r.Recipe, f.name) for f in dataclasses.fields(r.Recipe)]
    assert list(parts["recipe"]["properties"]) == fields
    assert parts["recipe"]["required"] == [name for name in fields if name not in ADDED_SETTINGS["Recipe"]]
    assert parts["nodes"]["required"] == list(NODE_ARRAYS)
    assert parts["splits"]["required"] == list(SPLIT_ARRAYS)
    assert parts["nodes"]["properties"]["stop"]["items"]["maximum"] == max(STOP_REASONS)
    assert parts["schema"]["properties"]["columns"]["items"]["properties"]["kind"]["enum"] == list(KINDS)


def test_a_users_criterion_is_saved_by_name() -> None:
    def purity(parent: Any, children: Any) -> Any: ...

    t = tree(leaf(1, 2), recipe=dataclasses.replace(r.CART, criterion=r.Custom(purity)))
    again = from_json(to_json(t))
    VALIDATOR.validate(json.loads(to_json(t)))
    assert again == t
    assert isinstance(again.recipe.criterion, r.Custom)
    with pytest.raises(r.RecipeError, match="purity"):
        again.recipe.criterion.function(None, None)


def test_the_text_is_standard_and_readable() -> None:
    text = to_json(tennis())
    assert text.isascii()
    written = json.loads(text, parse_constant=pytest.fail)
    assert list(written) == ["format", "version", "treewright", "recipe", "schema", "nodes", "splits"]
    assert (written["format"], written["version"]) == ("treewright tree", 1)
    assert written["nodes"]["parent"] == [-1, 0, 1, 1, 0, 0, 5, 5]
    assert '\n  "parent": [-1, 0, 1, 1, 0, 0, 5, 5],\n' in text  # one array per line: a change shows where it is
    assert written["schema"]["columns"][0] == {
        "name": "outlook",
        "kind": "nominal",
        "levels": ["sunny", "overcast", "rain"],
    }


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, unique=True))
def test_every_finite_float_survives(breaks: list[float]) -> None:
    rising = np.unique(np.array(breaks))
    bins = tuple(i % 2 for i in range(len(rising) + 1))
    t = tree(fork(Question(1, bins, tuple(rising.tolist())), leaf(1, 0), leaf(0, 1)))
    assert from_json(to_json(t)) == t


@given(st.text(), st.text(), st.lists(st.text() | st.integers(-(2**63), 2**64 - 1) | st.booleans(), unique=True))
def test_every_name_and_level_survives(name: str, target: str, levels: list[Any]) -> None:
    schema = Schema(
        (ColumnSpec(name, "nominal", tuple(levels)),), TargetSpec(target, "classification", tuple(levels) or (0,))
    )
    t = tree(leaf(*[1.0] * max(1, len(levels))), schema)
    assert from_json(to_json(t)) == t
    str(t)


@pytest.mark.parametrize("form", [{"decimal": ","}, {"day_first": False}, {"decimal": ".", "day_first": True}])
def test_how_a_text_file_was_read_is_written_only_where_it_was_said(form: dict[str, Any]) -> None:
    assert "text_form" not in json.loads(to_json(tennis()))["schema"]
    t = tree(leaf(1, 2), dataclasses.replace(TENNIS, text_form=TextForm(**form)))
    written = json.loads(to_json(t))
    VALIDATOR.validate(written)
    assert written["schema"]["text_form"] == form
    assert from_json(to_json(t)) == t


def test_levels_that_cannot_be_written_are_refused() -> None:
    schema = Schema((ColumnSpec("when", "nominal", (dataclasses,)),), TENNIS.target)
    with pytest.raises(FileError, match="levels are strings, numbers or booleans"):
        to_json(tree(leaf(1, 2), schema))


# --- whole or not at all ----------------------------------------------------------------------------------------------


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tree.json"
    save(tennis(), path)

    def fail(*_: object) -> None:
        raise OSError("disk full")

    for owner, name in ((os, "fsync"), (Path, "replace")):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, fail)
            with pytest.raises(OSError, match="disk full"):
                save(hours(), path)
        assert load(path) == tennis()
        assert list(tmp_path.iterdir()) == [path]
    save(hours(), path)
    assert load(path) == hours()
    assert list(tmp_path.iterdir()) == [path]


def test_saving_through_a_link_replaces_what_it_points_to(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link = tmp_path / "link.json"
    try:
        link.symlink_to(tmp_path / "there" / "tree.json")
    except OSError:
        pytest.skip("no links here")
    save(tennis(), link)
    assert link.is_symlink()
    assert load(tmp_path / "there" / "tree.json") == tennis()


def test_no_file_and_no_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing.json")
    with pytest.raises(FileNotFoundError):
        save(tennis(), tmp_path / "no folder" / "tree.json")


# --- refusing ---------------------------------------------------------------------------------------------------------

Path_ = tuple[Any, ...]
NOTHING = enum.Enum("Nothing", ["NOTHING"]).NOTHING  # named, so that parallel runs agree on the tests' names


def changed(path: Path_, value: Any, t: Tree | None = None) -> str:
    """A saved tree with the value at the path replaced, added, or (NOTHING) removed."""
    written = json.loads(to_json(t or tennis()))
    at = written
    for key in path[:-1]:
        at = at[key]
    if value is NOTHING:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return json.dumps(written)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format",), "onnx", r"\$\.format"),
        (("format",), NOTHING, r"\$\.format"),
        (("version",), 3, "install a newer treewright"),
        (("version",), 0, r"\$\.version"),
        (("version",), "1", r"\$\.version"),
        (("version",), True, r"\$\.version"),
        (("version",), NOTHING, r"\$\.version"),
        (("treewright",), None, r"\$\.treewright"),
        (("extra",), 1, r"\$ has the unknown key 'extra'"),
        (("x" * 9999,), 1, r"^\$ has the unknown key 'x{59}$"),
        (("schema", "columns", 0, "levels"), ["x" * 9999] * 2, r"repeats the level 'x{59}; each may occur once$"),
        (("recipe", "branching"), "x" * 9999, r"^.{10,330}$"),
        (("nodes",), NOTHING, r"\$ has no 'nodes'"),
        (("nodes",), [], r"\$\.nodes must be an object"),
        (("nodes", "extra"), [], r"\$\.nodes has the unknown key 'extra'"),
        (("nodes", "parent"), NOTHING, r"\$\.nodes has no 'parent'"),
        (("nodes", "parent"), {}, r"\$\.nodes\.parent must be a list"),
        (("nodes", "parent", 3), "1", r"\$\.nodes\.parent\[3\] must be a whole number, not a string"),
        (("nodes", "parent", 3), 1.0, r"\$\.nodes\.parent\[3\] must be a whole number"),
        (("nodes", "parent", 3), True, r"\$\.nodes\.parent\[3\] must be a whole number"),
        (("nodes", "parent", 3), 2**31, r"\$\.nodes\.parent\[3\] does not fit"),
        (("nodes", "parent", 3), -(10**400), r"\$\.nodes\.parent\[3\] does not fit"),
        (("nodes", "parent", 3), 7, r"\$\.nodes\.parent\[3\] must be the id of an earlier node"),
        (("nodes", "weight", 3), 10**400, r"\$\.nodes\.weight\[3\] does not fit"),
        (("nodes", "weight", 3), None, r"\$\.nodes\.weight\[3\] must be a number"),
        (("nodes", "stats", 3), [1.0], r"\$\.nodes\.stats\[3\] must be a list of numbers, as long as"),
        (("nodes", "stats", 3, 1), "x", r"\$\.nodes\.stats\[3\]\[1\] must be a number"),
        (("nodes", "stats"), [[]] * 8, r"\$\.nodes\.stats\[0\]"),
        (("splits", "breaks", 0), [], r"\$\.splits\.breaks\[0\] must be a number"),
        (("splits", "column", 0), 99, r"\$\.splits\.column\[0\]"),
        (("schema",), None, r"\$\.schema must be an object, not null"),
        (("schema", "extra"), 1, r"\$\.schema has the unknown key 'extra'"),
        (("schema", "columns"), {}, r"\$\.schema\.columns must be a list"),
        (("schema", "columns", 1), 5, r"\$\.schema\.columns\[1\] must be an object, not a number"),
        (("schema", "columns", 1, "name"), 5, r"\$\.schema\.columns\[1\]\.name must be a string"),
        (("schema", "columns", 1, "name"), "outlook", r"\$\.schema\.columns\[1\] repeats the column name 'outlook'"),
        (("schema", "columns", 1, "kind"), "real", r"\$\.schema\.columns\[1\]\.kind must be one of"),
        (("schema", "columns", 1, "kind"), [], r"\$\.schema\.columns\[1\]\.kind must be one of"),
        (("schema", "columns", 1, "levels"), ["a"], r"\$\.schema\.columns\[1\]: a numeric column has no 'levels'"),
        (("schema", "columns", 0, "levels"), NOTHING, r"\$\.schema\.columns\[0\]: a nominal column needs 'levels'"),
        (("schema", "columns", 0, "levels"), "abc", r"\$\.schema\.columns\[0\]\.levels must be a list"),
        (("schema", "columns", 0, "levels", 1), None, r"\$\.schema\.columns\[0\]\.levels\[1\] must be a string"),
        (("schema", "columns", 0, "levels", 1), ["x"], r"\$\.schema\.columns\[0\]\.levels\[1\] must be a string"),
        (("schema", "columns", 0, "levels", 1), "sunny", r"\$\.schema\.columns\[0\]\.levels\[1\] repeats the level"),
        (("schema", "columns", 0, "levels", 1), 10**1000, r"\$\.schema\.columns\[0\]\.levels\[1\] is a whole number"),
        (("schema", "columns", 0, "levels"), ["a", "b"], r"\$\.splits\.column\[0\] needs a split with one bin per"),
        (("schema", "target", "task"), "guess", r"\$\.schema\.target\.task must be one of"),
        (("schema", "target", "task"), "regression", r"\$\.schema\.target: a target for regression has no 'classes'"),
        (("schema", "target", "classes"), [], r"\$\.schema\.target\.classes is empty"),
        (("schema", "target", "classes"), ["a", "b", "c"], r"\$\.nodes\.stats has 2 numbers per node"),
        (("schema", "text_form"), None, r"\$\.schema\.text_form must be an object, not null"),
        (("schema", "text_form"), {"thousands": " "}, r"\$\.schema\.text_form has the unknown key 'thousands'"),
        (("schema", "text_form"), {"decimal": ";"}, r"\$\.schema\.text_form\.decimal must be one of '\.', ','"),
        (("schema", "text_form"), {"day_first": 1}, r"\$\.schema\.text_form\.day_first must be a boolean"),
        (("recipe",), [], r"\$\.recipe must be an object"),
        (("recipe", "extra"), 1, r"\$\.recipe has the unknown key 'extra'"),
        (("recipe", "slack"), NOTHING, r"\$\.recipe has no 'slack'"),
        (("recipe", "slack"), 10**400, r"\$\.recipe"),
        (("recipe", "slack"), "0", r"\$\.recipe: Recipe\.tie_tolerance must be a number"),
        (("recipe", "seed"), -1, r"\$\.recipe: Recipe\.seed"),
        (("recipe", "branching"), "binary", r"\$\.recipe\.branching is written in a form"),
        (("recipe", "branching"), {"choice": ["x"]}, r"\$\.recipe"),
        (("recipe", "branching", "choice"), "Random", r"\$\.recipe: Recipe\.branching has the unknown choice"),
        (("recipe", "numeric", "gap"), NOTHING, r"\$\.recipe\.numeric has no 'gap'"),
        (("recipe", "numeric", "deep"), 1, r"\$\.recipe: Threshold has no setting 'deep'"),
        (("recipe", "numeric", "tenth"), "yes", r"\$\.recipe: Threshold\.min_tenth_per_class must be True or False"),
        (("recipe", "drop_blank_rows"), 1, r"\$\.recipe: Recipe\.drop_blank_rows must be True or False"),
        (("recipe", "criterion"), {"choice": "Custom", "function": 5, "task": "classification"}, r"\$\.recipe"),
    ],
    ids=lambda case: str(case)[:40],  # some values are long on purpose
)
def test_what_is_wrong_is_said_with_its_place(path: Path_, value: Any, message: str) -> None:
    with pytest.raises(FileError, match=message):
        from_json(changed(path, value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON, or cut short"),
        ("{", "not JSON, or cut short"),
        ("null", r"\$\.format"),
        ("[1, 2]", r"\$\.format"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        (to_json(tennis())[:-100], "not JSON, or cut short"),
        (to_json(tennis()) + "x", "not JSON, or cut short"),
        (to_json(tennis()).replace("77.5", "NaN"), "NaN is no number in standard JSON"),
        (to_json(tennis()).replace("77.5", "-Infinity"), "-Infinity is no number"),
        (to_json(tennis()).replace("77.5", "1e999"), r"\$\.splits\.breaks\[1\] does not fit"),
        (to_json(tennis()).replace("77.5", "9" * 5000), "not a saved tree"),
        (to_json(tennis()).replace('"version": 1', '"version": 1, "version": 1'), "'version' occurs twice"),
        (to_json(tennis()).replace("outlook", "out\nlook", 1), "not JSON"),
    ],
)
def test_text_that_is_no_saved_tree(text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        from_json(text)


def test_load_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tree.json"
    path.write_text(changed(("nodes", "parent", 3), 7))
    with pytest.raises(FileError, match=r"tree\.json: \$\.nodes\.parent\[3\]"):
        load(path)
    path.write_bytes(b"\xff\xfe{}")
    with pytest.raises(FileError, match=r"tree\.json: not a saved tree: not UTF-8 text at byte 0"):
        load(path)


def test_whole_numbers_are_numbers() -> None:
    """Another program may write 4 where we write 4.0."""
    text = to_json(tennis()).replace("4.0", "4")
    assert "4.0" not in text
    assert from_json(text) == tennis()
    assert hash(from_json(text)) == hash(tennis())


# --- mutations --------------------------------------------------------------------------------------------------------

VALUES = [
    None, True, False, 0, 1, -1, 2, 3, -2, -4, 8, 2**31 - 1, -(2**31), 2**63, 10**400, 0.5, -0.0, 1e308, 5e-324, "",
    "x", "sunny", "classification", "regression", "numeric", "Merge", [], {}, [0], [[0.5, 0.5]], {"choice": "Custom"},
]  # fmt: skip


def places(value: Any, path: Path_ = ()) -> list[Path_]:
    """Every place in a parsed file."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, inner in items for place in places(inner, (*path, key)))]


def mutated(rng: random.Random, text: str) -> str:
    """The text with something wrong in its values, or in its characters."""
    if rng.random() < 0.3:
        at, length = rng.randrange(len(text)), rng.choice([0, 1, 1, 2, 20, 500])
        insert = rng.choice(["", "0", "9", "-", ".", "e", '"', "{", "}", "[", "]", ",", ":", "\x00", "NaN", " null "])
        return text[:at] + insert + text[at + length :]
    written = json.loads(text)
    for _ in range(rng.choice([1, 1, 1, 2, 5])):
        path = rng.choice(places(written)[1:])
        at = written
        for key in path[:-1]:
            at = at[key]
        action, last = rng.random(), path[-1]
        if action < 0.15:
            del at[last]
        elif action < 0.25 and isinstance(at, list):
            at.insert(last, copy.deepcopy(at[last]))
        elif action < 0.35 and isinstance(at, list):
            other = rng.randrange(len(at))
            at[last], at[other] = at[other], at[last]
        elif action < 0.4 and isinstance(at, dict):
            at[rng.choice(["extra", "levels", "choice", *at])] = copy.deepcopy(at[last])
        else:
            at[last] = copy.deepcopy(rng.choice(VALUES))
    return json.dumps(written)


@pytest.mark.parametrize("seed", range(20))
def test_a_mutated_file_is_refused_or_a_sound_tree(seed: int) -> None:
    rng = random.Random(seed)
    texts = [to_json(t) for t in (tennis(), hours(), random_tree(seed, 3))]
    longest = 0
    for _ in range(100):
        text = mutated(rng, rng.choice(texts))
        try:
            t = from_json(text)
        except FileError as error:
            longest = max(longest, len(str(error)))
            continue
        assert from_json(to_json(t)) == t
        hash(t)
        for node in t.walk():
            assert node.is_leaf or node.split is not None
            for split in (*node.surrogates, *node.rivals, *([node.split] if node.split else [])):
                assert len(split.conditions) == split.n_children
                _ = split.groups, split.threshold_text, split.p_adjusted
            _ = node.prediction, node.probabilities, node.deviation
        assert str(t)
        assert "\n" not in repr(t)
    assert longest < 500  # a message never prints the file
